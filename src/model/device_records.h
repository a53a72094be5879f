// What a device tells of itself in a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace model {

struct Setting {
  std::string name, value;
};

/// A limit of a device, of a kind that has no field of its own in DeviceRecord.
struct CeilingRecord {
  enum class Limits : uint8_t { memory, cache, compute } limits = Limits::memory;
  std::string name;  ///< memory: what was moved; cache: "L1 read", "L1 copy", …; compute: types, as a step's precision begins
  double per_s = 0;  ///< bytes, of compute FLOP
  enum class Provenance : uint8_t { measured, published } provenance = Provenance::measured;
  std::string source;  ///< how it was measured, or where it is published
};
std::string_view text(CeilingRecord::Limits limits);
std::string_view text(CeilingRecord::Provenance provenance);

struct DeviceRecord {
  std::string name;       ///< "cpu", "null", "reference", "cuda"
  std::string model;      ///< "AMD EPYC 7543, 2 threads"
  std::string driver;     ///< runtime or driver version
  std::string libraries;  ///< "oneDNN 2.6.3, LLVM 19.1.7, libgomp"
  int threads = 0;
  double triad_bytes_per_s = 0;  ///< measured in the run: ordinary stores, 12 bytes an element of f32
  double triad_streaming_bytes_per_s = 0;
  double product_flops_per_s = 0;  ///< measured in the run: a large f32 product
  /// The same of other operand types, by how a step's precision begins: {"f16×f16→f32", 3e11}.
  std::vector<std::pair<std::string, double>> products;
  std::vector<Setting> details;           ///< cache sizes, governor, load, cgroup quota, …
  std::vector<CeilingRecord> ceilings{};  ///< beside the measured ones above: of caches, and published ones
};

/// What a device says of itself at one moment; what it does not tell is empty.
struct Clocks {
  std::optional<int64_t> multiprocessor_mhz{}, memory_mhz{}, power_mw{}, temperature_c{};
  std::optional<int64_t> slowed_by{};  ///< bits, as NVML numbers its throttle reasons
};

}  // namespace model
