// Generated kernels on arrays larger than the caches, as a share of the triads that run between their repeats: on a shared host only
// such ratios repeat. JSON on stdout, a line a kernel on stderr.
//
//   bench_kernels [--mib 256] [--rounds 7] [--threads 0] [--cpu haswell] [--lanes 0] [--only REGEX] [--list] [--ir]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "importers/hlo/hlo.h"
#include "replay/device/cpu/arena.h"
#include "replay/device/cpu/ceilings.h"
#include "replay/device/cpu/cpu.h"

namespace {

using base::Error;
using base::Result;
using replay::cpu::Entry;
using replay::cpu::Stores;

struct Options {
  int64_t mib = 256;  ///< of the largest array
  int rounds = 7;
  replay::DeviceOptions device;
  std::string only = ".*";
  bool list = false, ir = false;
};

/// An entry computation whose root is measured. {T}: type; {N}: elements; {R}: N / 768 rows; {S}: side of a square; {H}: N / (512·768).
struct Snippet {
  const char* name;
  const char* types;  ///< separated by spaces
  double target;      ///< wanted share of the triad with ordinary stores; 0: reported only
  const char* text;
  double target_small = -1;  ///< the same for f16 and bf16, where it differs
};

const Snippet kSnippets[] = {
    {"negate", "f32 f16 bf16", 0.85, "  x = {T}[{N}] parameter(0)\n  ROOT r = {T}[{N}] negate(x)\n"},
    {"add", "f32 f16 bf16 s32", 0.85, "  x = {T}[{N}] parameter(0)\n  y = {T}[{N}] parameter(1)\n  ROOT r = {T}[{N}] add(x, y)\n"},
    {"maximum", "f32 f16", 0.85, "  x = {T}[{N}] parameter(0)\n  y = {T}[{N}] parameter(1)\n  ROOT r = {T}[{N}] maximum(x, y)\n"},
    {"divide", "f32", 0.85, "  x = {T}[{N}] parameter(0)\n  y = {T}[{N}] parameter(1)\n  ROOT r = {T}[{N}] divide(x, y)\n"},
    {"rsqrt", "f32", 0.85, "  x = {T}[{N}] parameter(0)\n  ROOT r = {T}[{N}] rsqrt(x)\n"},
    {"compare", "f32", 0.85,
     "  x = {T}[{N}] parameter(0)\n  y = {T}[{N}] parameter(1)\n  ROOT r = pred[{N}] compare(x, y), direction=LT\n"},
    {"widen", "f16 bf16", 0.85, "  x = {T}[{N}] parameter(0)\n  ROOT r = f32[{N}] convert(x)\n"},
    {"narrow", "f16 bf16", 0.85, "  x = f32[{N}] parameter(0)\n  ROOT r = {T}[{N}] convert(x)\n"},
    {"broadcast_row", "f32 f16", 0.85, "  v = {T}[768] parameter(0)\n  ROOT r = {T}[{R},768] broadcast(v), dimensions={1}\n"},
    {"broadcast_column", "f32 f16", 0.85, "  v = {T}[{R}] parameter(0)\n  ROOT r = {T}[{R},768] broadcast(v), dimensions={0}\n"},
    {"row_sum", "f32 f16", 0.80,
     "  x = {T}[{R},768] parameter(0)\n  z = {T}[] constant(0)\n  ROOT r = {T}[{R}] reduce(x, z), dimensions={1}, to_apply=sum\n"},
    {"row_max", "f32 f16", 0.80,
     "  x = {T}[{R},768] parameter(0)\n  z = {T}[] constant(0)\n  ROOT r = {T}[{R}] reduce(x, z), dimensions={1}, to_apply=most\n"},
    {"column_sum", "f32 f16", 0.80,
     "  x = {T}[{R},768] parameter(0)\n  z = {T}[] constant(0)\n  ROOT r = {T}[768] reduce(x, z), dimensions={0}, to_apply=sum\n"},
    {"sum", "f32 f16", 0.80,
     "  x = {T}[{R},768] parameter(0)\n  z = {T}[] constant(0)\n  ROOT r = {T}[] reduce(x, z), dimensions={0,1}, to_apply=sum\n"},
    {"permute_heads", "f32 f16", 0.85,
     "  x = {T}[{H},512,12,64] parameter(0)\n  ROOT r = {T}[{H},12,512,64] transpose(x), dimensions={0,2,1,3}\n"},
    {"transpose", "f32 f16", 0.60, "  x = {T}[{R},768] parameter(0)\n  ROOT r = {T}[768,{R}] transpose(x), dimensions={1,0}\n"},
    {"transpose_square", "f32 f16", 0.60, "  x = {T}[{S},{S}] parameter(0)\n  ROOT r = {T}[{S},{S}] transpose(x), dimensions={1,0}\n"},
    {"concatenate", "f32 f16", 0.85,
     "  x = {T}[{H},512,256] parameter(0)\n  y = {T}[{H},512,512] parameter(1)\n  ROOT r = {T}[{H},512,768] concatenate(x, y), "
     "dimensions={2}\n"},
    {"slice", "f32 f16", 0.85, "  x = {T}[{R},768] parameter(0)\n  ROOT r = {T}[{R},512] slice(x), slice={[0:{R}], [128:640]}\n"},
    {"pad", "f32 f16", 0.85,
     "  x = {T}[{R},704] parameter(0)\n  z = {T}[] constant(0)\n  ROOT r = {T}[{R},768] pad(x, z), padding=0_0x32_32\n"},
    {"exp", "f32 f16", 0.70, "  x = {T}[{N}] parameter(0)\n  ROOT r = {T}[{N}] exponential(x)\n", 0.50},
    {"tanh", "f32 f16", 0.70, "  x = {T}[{N}] parameter(0)\n  ROOT r = {T}[{N}] tanh(x)\n", 0.50},
    {"log", "f32 f16", 0, "  x = {T}[{N}] parameter(0)\n  ROOT r = {T}[{N}] log(x)\n"},
    {"logistic", "f32 f16", 0, "  x = {T}[{N}] parameter(0)\n  ROOT r = {T}[{N}] logistic(x)\n"},
    {"erf", "f32", 0, "  x = {T}[{N}] parameter(0)\n  ROOT r = {T}[{N}] erf(x)\n"},
    {"power", "f32", 0, "  x = {T}[{N}] parameter(0)\n  y = {T}[{N}] parameter(1)\n  ROOT r = {T}[{N}] power(x, y)\n"},
    {"fused_scale_shift", "f32 f16", 0.85,
     "  x = {T}[{R},768] parameter(0)\n  s = {T}[768] parameter(1)\n  t = {T}[768] parameter(2)\n"
     "  ROOT r = {T}[{R},768] fusion(x, s, t), kind=kLoop, calls=scale_shift\n"},
    {"fused_softmax", "f32 f16", 0, "  x = {T}[{R},768] parameter(0)\n  ROOT r = {T}[{R},768] fusion(x), kind=kInput, calls=softmax\n"},
};

/// Computations that snippets call.
const char* kCalled = R"(
sum {
  a = {T}[] parameter(0)
  b = {T}[] parameter(1)
  ROOT c = {T}[] add(a, b)
}

most {
  a = {T}[] parameter(0)
  b = {T}[] parameter(1)
  ROOT c = {T}[] maximum(a, b)
}

scale_shift {
  x = {T}[{R},768] parameter(0)
  s = {T}[768] parameter(1)
  t = {T}[768] parameter(2)
  bs = {T}[{R},768] broadcast(s), dimensions={1}
  bt = {T}[{R},768] broadcast(t), dimensions={1}
  m = {T}[{R},768] multiply(x, bs)
  ROOT r = {T}[{R},768] add(m, bt)
}

softmax {
  x = {T}[{R},768] parameter(0)
  low = {T}[] constant(-60000)
  m = {T}[{R}] reduce(x, low), dimensions={1}, to_apply=most
  bm = {T}[{R},768] broadcast(m), dimensions={0}
  d = {T}[{R},768] subtract(x, bm)
  e = {T}[{R},768] exponential(d)
  zero = {T}[] constant(0)
  s = {T}[{R}] reduce(e, zero), dimensions={1}, to_apply=sum
  bs = {T}[{R},768] broadcast(s), dimensions={0}
  ROOT r = {T}[{R},768] divide(e, bs)
}
)";

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
}

std::string hlo(const Snippet& snippet, const std::string& type, int64_t bytes) {
  const int64_t element = type == "f16" || type == "bf16" ? 2 : 4, rows = bytes / element / (512 * 768) * 512, n = rows * 768;
  int64_t side = 64;
  while ((side + 64) * (side + 64) * element <= bytes) side += 64;
  std::string text = fmt::format("HloModule {}\n{}\nENTRY main {{\n{}}}\n", snippet.name, kCalled, snippet.text);
  const std::pair<std::string, std::string> values[] = {{"{T}", type},
                                                        {"{N}", std::to_string(n)},
                                                        {"{R}", std::to_string(rows)},
                                                        {"{S}", std::to_string(side)},
                                                        {"{H}", std::to_string(rows / 512)}};
  for (const auto& [from, to] : values) replace_all(text, from, to);
  return text;
}

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// Ordinary numbers of 0.5 to 2 (integers: any), so that no function leaves its usual path.
void fill(std::span<std::byte> memory, ir::Type type) {
  uint32_t random = 12345;
  const auto next = [&] { return random = random * 1664525 + 1013904223; };
  const auto put = [&]<typename T>(T mask, T bits) {
    for (auto& value : std::span(reinterpret_cast<T*>(memory.data()), memory.size() / sizeof(T)))
      value = static_cast<T>((next() >> 8 & mask) | bits);
  };
  if (type == ir::Type::f16) return put(uint16_t{0x07ff}, uint16_t{0x3800});
  if (type == ir::Type::bf16) return put(uint16_t{0x00ff}, uint16_t{0x3f00});
  put(uint32_t{0x00ffffff}, uint32_t{0x3f000000});
}

/// Triads on arrays of their own, of the same size as the kernels'.
class Triads {
 public:
  static Result<Triads> make(const Options& options, int threads) {
    Triads triads;
    triads.threads_ = threads;
    triads.bytes_ = options.mib << 20;
    ASSIGN_OR_RETURN(triads.jit_, replay::cpu::Jit::make({.cpu = options.device.cpu, .lanes = options.device.lanes}));
    for (const Stores stores : {Stores::ordinary, Stores::streaming}) {
      ASSIGN_OR_RETURN(const auto code, triads.jit_->compile({replay::cpu::triad_ir(triads.jit_->lanes(), stores), {"triad"}}));
      triads.entries_[static_cast<size_t>(stores)] = reinterpret_cast<Entry>(code.entries[0]);
    }
    ASSIGN_OR_RETURN(triads.pages_, replay::cpu::Pages::make(3 * triads.bytes_, threads));
    return triads;
  }
  double gb_per_s(Stores stores) {
    void* args[] = {pages_.data(), pages_.data() + bytes_, pages_.data() + 2 * bytes_};
    const double begin = seconds();
    replay::cpu::run_triad(entries_[static_cast<size_t>(stores)], args, bytes_ / 4, threads_);
    return 3e-9 * static_cast<double>(bytes_) / (seconds() - begin);
  }

 private:
  std::unique_ptr<replay::cpu::Jit> jit_;
  Entry entries_[2] = {};
  replay::cpu::Pages pages_;
  int64_t bytes_ = 0;
  int threads_ = 1;
};

/// A module with one step, ready to run.
struct Case {
  ir::Module module;
  replay::Plan plan;
  double bytes = 0;  ///< read and written once
};

Result<std::unique_ptr<Case>> prepare(const std::string& text, replay::Device& device) {
  auto made = std::make_unique<Case>();
  ASSIGN_OR_RETURN(made->module, importers::hlo::parse(text, "snippet"));
  ASSIGN_OR_RETURN(made->plan, replay::make_plan(made->module, {.target = device.target()}));
  if (made->plan.steps.empty()) return Error{"no step to measure"};
  for (const auto* step : made->plan.steps)
    if (step->cls == replay::Class::skip || step->cls == replay::Class::reference) return Error{fmt::format("no kernel: {}", step->why)};
  RETURN_IF_ERROR(device.prepare(made->plan));
  for (const auto& parameter : made->plan.parameters) {
    const auto& buffer = made->plan.buffers[static_cast<size_t>(parameter.buffer)];
    fill(device.memory(parameter.buffer), buffer.shape.type);
    made->bytes += static_cast<double>(buffer.bytes);
  }
  for (const auto& output : made->plan.outputs)
    made->bytes += static_cast<double>(made->plan.buffers[static_cast<size_t>(output.buffer)].bytes);
  return made;
}

Result<double> run_once(replay::Device& device, const replay::Plan& plan) {
  for (const auto* step : plan.steps) RETURN_IF_ERROR(device.start(step->id, 1));
  ASSIGN_OR_RETURN(const auto samples, device.finish());
  double ns = 0;
  for (const auto& sample : samples) ns += static_cast<double>(sample.duration_ns);
  return ns;
}

/// Rounds of ordinary triad, kernel, streaming triad, kernel; shares are medians of the rounds' ratios.
Result<nlohmann::json> measure(const Case& made, replay::Device& device, Triads& triads, int rounds) {
  std::vector<double> times, ordinary, streaming;
  RETURN_IF_ERROR(run_once(device, made.plan));
  for (int round = 0; round < rounds; ++round) {
    const double first_roof = triads.gb_per_s(Stores::ordinary);
    ASSIGN_OR_RETURN(const double first, run_once(device, made.plan));
    const double second_roof = triads.gb_per_s(Stores::streaming);
    ASSIGN_OR_RETURN(const double second, run_once(device, made.plan));
    const double ns = std::min(first, second);
    times.push_back(ns);
    ordinary.push_back(made.bytes / ns / first_roof);
    streaming.push_back(made.bytes / ns / second_roof);
  }
  const double ns = median(times);
  return nlohmann::json{{"ns", ns},
                        {"bytes", made.bytes},
                        {"gb_per_s", made.bytes / ns},
                        {"share_ordinary", median(ordinary)},
                        {"share_streaming", median(streaming)}};
}

void report(nlohmann::json& rows, const Snippet& snippet, const std::string& type, Result<nlohmann::json> measured) {
  const std::string name = fmt::format("{}_{}", snippet.name, type);
  if (!measured.ok()) {
    rows.push_back({{"name", name}, {"error", measured.error().message}});
    fmt::print(stderr, "{:<24} {}\n", name, measured.error().message);
    return;
  }
  const bool small = type == "f16" || type == "bf16";
  const double target = small && snippet.target_small >= 0 ? snippet.target_small : snippet.target, share = (*measured)["share_ordinary"];
  nlohmann::json row = *measured;
  row["name"] = name;
  row["target"] = target;
  row["met"] = share >= target;
  fmt::print(stderr, "{:<24} {:8.2f} ms {:6.2f} GB/s  {:4.0f} % of ordinary, {:4.0f} % of streaming triad{}\n", name,
             row["ns"].get<double>() / 1e6, row["gb_per_s"].get<double>(), 100 * share, 100 * row["share_streaming"].get<double>(),
             target == 0       ? ""
             : share >= target ? "  met"
                               : fmt::format("  below {:.0f} %", 100 * target));
  rows.push_back(std::move(row));
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> found;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    found.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return found;
}

Result<nlohmann::json> measure_all(const Options& options) {
  ASSIGN_OR_RETURN(auto device, replay::cpu::open(options.device));
  const auto record = device->describe();
  ASSIGN_OR_RETURN(auto triads, Triads::make(options, record.threads));
  nlohmann::json rows = nlohmann::json::array();
  const std::regex only(options.only);
  for (const Snippet& snippet : kSnippets) {
    for (const std::string& type : words(snippet.types)) {
      if (!std::regex_search(fmt::format("{}_{}", snippet.name, type), only)) continue;
      const std::string text = hlo(snippet, type, options.mib << 20);
      if (options.list) fmt::print("{}\n", text);
      if (options.list) continue;
      auto made = prepare(text, *device);
      if (options.ir && made.ok())
        for (const auto& kernel : device->kernels()) fmt::print(stderr, "{}\n", kernel.source);
      report(rows, snippet, type, made.ok() ? measure(**made, *device, triads, options.rounds) : Result<nlohmann::json>(made.error()));
    }
  }
  return nlohmann::json{{"model", record.model}, {"driver", record.driver}, {"mib", options.mib}, {"kernels", rows}};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Generated kernels as a share of the triad"};
  app.add_option("--mib", options.mib)->check(CLI::Range(1, 4096));
  app.add_option("--rounds", options.rounds)->check(CLI::Range(1, 1000));
  app.add_option("--threads", options.device.threads);
  app.add_option("--cpu", options.device.cpu);
  app.add_option("--lanes", options.device.lanes);
  app.add_option("--only", options.only);
  app.add_flag("--list", options.list, "print the HLO texts");
  app.add_flag("--ir", options.ir, "print the kernels");
  CLI11_PARSE(app, argc, argv);
  auto result = measure_all(options);
  if (!result.ok()) {
    fmt::print(stderr, "bench_kernels: {}\n", result.error().message);
    return 1;
  }
  if (!options.list) fmt::print("{}\n", result->dump(2));
  return 0;
}
