// Every distinct kernel of some programs as machine code of GPUs, without a GPU:
//
//   cuda_text [--architecture 90]… [--every N] [--from K] [--random N --seed S] [--dump FOLDER] FILE…
//
// A file is of any format that profile imports; --random adds the differential tests' modules of seeds S … S + N - 1. Kernels are those of
// the plans and the device's own. Prints what spills registers or needs a stack, and sums. Exit 1: a text that NVRTC refuses, a spill, or a
// stack frame; 77: there is no NVRTC.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <span>

#include "importers/hlo/hlo.h"
#include "importers/importer.h"
#include "replay/device/cuda/compiler.h"
#include "replay/device/cuda/cudnn_plan.h"
#include "replay/device/cuda/own_kernels.h"
#include "replay/plan.h"
#include "src/base/file.h"
#include "tests/differential/generate.h"

namespace {

constexpr int kSkipped = 77;
constexpr size_t kTogether = 24;  ///< kernels of one program: what NVRTC does once a program takes as long as one or two kernels

struct Text {
  std::string name, key, code;
  std::vector<std::string> symbols;
};

std::string symbol_of(const Text& text, size_t part) { return fmt::format("kernel_{}_{}", text.key, part); }

/// Distinct kernels, in the order in which they are met.
class Texts {
 public:
  /// Every module of a file. The caller decides what an Error means.
  base::Status add_file(const std::string& file) {
    ASSIGN_OR_RETURN(const std::string bytes, base::read_file(file));
    ASSIGN_OR_RETURN(const model::Imported imported, importers::import({file, bytes}));
    for (const ir::Module& module : imported.modules) RETURN_IF_ERROR(add_module(module, std::filesystem::path(file).stem().string()));
    return {};
  }
  base::Status add_random(uint64_t seed) {
    const std::string name = fmt::format("seed {}", seed);
    ASSIGN_OR_RETURN(const ir::Module module, importers::hlo::parse(differential::random_module(seed), name));
    return add_module(module, name);
  }
  const std::vector<Text>& all() const { return all_; }

 private:
  base::Status add_module(const ir::Module& module, const std::string& name) {
    replay::PlanOptions options;
    options.rounding = replay::Rounding::each;
    options.target.language = kernel::Language::cuda;
    options.device_class = "cuda";
    options.accepts = replay::cuda::accepts;
    options.arranges = replay::cuda::arranged;
    ASSIGN_OR_RETURN(const replay::Plan plan, replay::make_plan(module, options));
    for (const kernel::Kernel& kernel : plan.kernels) add(kernel, name);
    for (const replay::Step* step : replay::startable(plan))
      for (const replay::Launch& launch : step->launches)
        if (const auto own = replay::cuda::own_kernel(launch); own.ok()) add(*own, name);
    return {};
  }
  void add(const kernel::Kernel& kernel, const std::string& name) {
    if (kernel.parts.empty() || !seen_.insert(kernel.key).second) return;
    all_.push_back({name + ": " + kernel.name, kernel.key, kernel.code, {}});
    for (const kernel::Part& part : kernel.parts) all_.back().symbols.push_back(part.symbol);
  }

  std::vector<Text> all_;
  std::set<std::string> seen_;  ///< keys
};

/// Several kernels as one program.
std::string program(std::span<const Text> texts) {
  std::string all;
  for (const Text& text : texts) {
    for (size_t i = 0; i < text.symbols.size(); ++i) all += fmt::format("#define {} {}\n", text.symbols[i], symbol_of(text, i));
    all += text.code;
    for (const std::string& symbol : text.symbols) all += fmt::format("#undef {}\n", symbol);
  }
  return all;
}

struct Sums {
  int functions = 0, registers = 0, failed = 0;
  int64_t compile_ns = 0;
};

void judge(std::span<const Text> texts, const replay::cuda::Machine& machine, int architecture, Sums& sums) {
  std::map<std::string, const replay::cuda::Usage*> by_function;
  for (const auto& usage : machine.usage) by_function[usage.function] = &usage;
  sums.compile_ns += machine.compile_ns;
  for (const Text& text : texts) {
    for (size_t i = 0; i < text.symbols.size(); ++i) {
      const auto found = by_function.find(symbol_of(text, i));
      if (found == by_function.end()) {
        fmt::print("{} {}: ptxas says nothing of it\n", text.name, text.symbols[i]);
        ++sums.failed;
        continue;
      }
      const auto& usage = *found->second;
      ++sums.functions;
      sums.registers = std::max(sums.registers, usage.registers);
      const bool spills = usage.spill_store_bytes + usage.spill_load_bytes > 0;
      if (!spills && usage.stack_bytes == 0) continue;
      fmt::print("{} {} sm_{}: {} registers, {} bytes of stack, {} spilled\n", text.name, text.symbols[i], architecture, usage.registers,
                 usage.stack_bytes, usage.spill_store_bytes);
      ++sums.failed;
    }
  }
}

void dump(const std::string& folder, std::span<const Text> texts) {
  std::filesystem::create_directories(folder);
  for (const Text& text : texts) std::ofstream(fmt::format("{}/{}.cu", folder, text.key)) << "// " << text.name << "\n" << text.code;
}

/// Every `every`-th of the texts, in programs of kTogether.
Sums compile(const replay::cuda::Compiler& compiler, std::span<const Text> texts, const std::vector<int>& architectures) {
  Sums sums;
  for (size_t first = 0; first < texts.size(); first += kTogether) {
    const auto some = texts.subspan(first, std::min(kTogether, texts.size() - first));
    for (const int architecture : architectures) {
      const auto made = compiler.compile(program(some), {architecture});
      if (made.ok()) {
        judge(some, *made, architecture, sums);
        continue;
      }
      ++sums.failed;
      fmt::print("{} …: {}\n", some[0].name, made.error().message);
    }
  }
  return sums;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"kernels as machine code of GPUs"};
  std::vector<int> architectures{90};
  std::vector<std::string> files;
  std::string folder;
  size_t every = 1, from = 0;
  uint64_t random = 0, seed = 1;
  app.add_option("--architecture", architectures)->capture_default_str();
  app.add_option("--every", every, "of the kernels, this many-th");
  app.add_option("--from", from);
  app.add_option("--random", random, "random modules");
  app.add_option("--seed", seed, "of the first of them");
  app.add_option("--dump", folder, "write each text there");
  app.add_option("FILE", files);
  CLI11_PARSE(app, argc, argv);
  const auto compiler = replay::cuda::Compiler::open(replay::cuda::system_opener());
  if (!compiler.ok()) {
    fmt::print("skipped: {}\n", compiler.error().message);
    return kSkipped;
  }
  Texts found;
  const auto tell = [](const base::Status& status, const std::string& what) {  // what can't be planned is for other tests to judge
    if (!status.ok()) fmt::print("{}: {}\n", what, status.error().message);
  };
  for (const std::string& file : files) tell(found.add_file(file), file);
  for (uint64_t k = seed; k < seed + random; ++k) tell(found.add_random(k), fmt::format("seed {}", k));
  std::vector<Text> texts;
  for (size_t k = from; k < found.all().size(); k += every) texts.push_back(found.all()[k]);
  if (!folder.empty()) dump(folder, texts);
  const Sums sums = compile(**compiler, texts, architectures);
  fmt::print("{} of {} kernels, {} functions, at most {} registers, {} failed, {:.1f} s\n", texts.size(), found.all().size(),
             sums.functions, sums.registers, sums.failed, static_cast<double>(sums.compile_ns) / 1e9);
  return sums.failed == 0 ? 0 : 1;
}
