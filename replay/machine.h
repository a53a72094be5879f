// Descriptions of machines that need not be here: what a prediction rests on, and the published limits beside measured ones. One file each
// in devices/, compiled in; a user's own file has the same form.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"
#include "src/ir/shape.h"
#include "src/model/records.h"

namespace replay {

/// A number and where it is from: a document, a measurement of others, or an assumption, in words.
struct Figure {
  double value = 0;
  std::string source;
};

/// A large product of one type of operands.
struct ProductFigures {
  Figure flops_per_s;          ///< published, without sparsity
  Figure efficiency{1.0, {}};  ///< share of it that large products reach
};

/// What a description leaves out costs nothing: no latency, no start, efficiency 1.
struct Machine {
  std::string name;                      ///< "h100": what --as takes
  std::vector<std::string> also;         ///< other words for it
  std::string model;                     ///< "NVIDIA H100 SXM5 80 GB"
  std::vector<std::string> reported_as;  ///< as drivers and the system call it
  std::string architecture;
  Figure multiprocessors{1.0, {}}, clock_hz, memory_bytes, l2_bytes, l2_bytes_per_s;
  Figure memory_bytes_per_s;                                    ///< published; required
  Figure memory_efficiency{1.0, {}};                            ///< share of it that a copy reaches
  Figure memory_latency_cycles;                                 ///< of a load that misses all caches
  Figure vector_f32_flops_per_s;                                ///< published, a multiply-add as 2; required
  Figure vector_f64_flops_per_s;                                ///< 0: as of f32
  Figure functions_per_clock;                                   ///< exp, tanh, … of a multiprocessor; 0: as other operations
  Figure launch_ns;                                             ///< from the end of a kernel to the begin of the next one of the stream
  std::map<std::string, ProductFigures, std::less<>> products;  ///< by "f16", "bf16", "tf32", "f64", "f8", "s8"

  double latency_ns() const { return clock_hz.value > 0 ? memory_latency_cycles.value / clock_hz.value * 1e9 : 0; }
};

/// The rates of products of `type`; f32 runs as tf32 where a machine has it, which is what XLA allows by default. nullptr: the machine has
/// no such unit, its vectors compute them.
const ProductFigures* product_figures(const Machine& machine, ir::Type type);

/// Errors: "mycard.json: figures.memory_bytes_per_s: …; give …".
base::Result<Machine> parse_machine(std::string_view json, std::string_view path);
/// The file that parse_machine reads, indented.
std::string json_of(const Machine& machine);
/// Those of devices/, in the order of their names.
std::span<const Machine> known_machines();
std::vector<std::string_view> names(std::span<const Machine> machines);
/// By its name, or another word for it; or the file, where `name` ends with ".json". The Error names what is near.
base::Result<Machine> machine_named(const std::string& name);
/// The one whose `reported_as` is `model`, or begins it before a comma; nullptr: none is known.
const Machine* machine_reported_as(std::string_view model);

/// Every figure with its name and source, in the order of the files: what is stored of a run's device, and what `profile devices` prints.
struct NamedFigure {
  std::string name;
  Figure figure;
};
std::vector<NamedFigure> figures_of(const Machine& machine);
/// The precision of steps without a product, and the name of their limit.
inline constexpr std::string_view kVectorPrecision = "vector f32";
/// As limits of a device, named like the measured ones.
std::vector<model::CeilingRecord> published_ceilings(const Machine& machine);

}  // namespace replay
