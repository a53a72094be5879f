// Every distinct kernel of some programs as machine code of GPUs, without a GPU:
//
//   cuda_text [--architecture 90]… [--every N] [--from K] [--full-size] [--dump FOLDER] FILE…
//
// Prints what spills registers or needs a stack, and sums. Exit 1: a text that NVRTC refuses, a spill, or a stack frame that no function of
// kSlowFunctions explains; 77: there is no NVRTC.
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
#include "replay/device/cuda/compiler.h"
#include "replay/plan.h"
#include "src/base/file.h"

namespace {

constexpr int kSkipped = 77;
constexpr size_t kTogether = 24;  ///< kernels of one program: what NVRTC does once a program takes as long as one or two kernels

/// CUDA's functions that keep an array for large arguments (Payne and Hanek's reduction) or call a routine with a frame.
constexpr std::string_view kSlowFunctions[] = {"sin", "cos", "tan"};

struct Text {
  std::string name, key, code;
  std::vector<std::string> symbols;
};

std::string symbol_of(const Text& text, size_t part) { return fmt::format("kernel_{}_{}", text.key, part); }

/// Errors are the caller's: a file that is no HLO is passed over with a word.
base::Status collect(const std::string& file, std::vector<Text>& texts, std::set<std::string>& seen) {
  ASSIGN_OR_RETURN(const std::string bytes, base::read_file(file));
  ASSIGN_OR_RETURN(const ir::Module module, importers::hlo::parse(bytes, file));
  replay::PlanOptions options;
  options.rounding = replay::Rounding::each;
  options.target.language = kernel::Language::cuda;
  ASSIGN_OR_RETURN(const replay::Plan plan, replay::make_plan(module, options));
  for (const kernel::Kernel& kernel : plan.kernels) {
    if (kernel.parts.empty() || !seen.insert(kernel.key).second) continue;
    texts.push_back({std::filesystem::path(file).stem().string() + ": " + kernel.name, kernel.key, kernel.code, {}});
    for (const kernel::Part& part : kernel.parts) texts.back().symbols.push_back(part.symbol);
  }
  return {};
}

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

bool is_explained(const Text& text) {
  return std::ranges::any_of(kSlowFunctions, [&](std::string_view function) {
    return text.code.find(fmt::format(" {}f(", function)) != std::string::npos ||
           text.code.find(fmt::format(" {}(", function)) != std::string::npos;
  });
}

struct Sums {
  int functions = 0, registers = 0, failed = 0, stacks = 0;
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
      const bool explained = !spills && is_explained(text);
      fmt::print("{} {} sm_{}: {} registers, {} bytes of stack, {} spilled{}\n", text.name, text.symbols[i], architecture, usage.registers,
                 usage.stack_bytes, usage.spill_store_bytes, explained ? " (sin, cos, tan of large arguments)" : "");
      ++(explained ? sums.stacks : sums.failed);
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
      const auto made = compiler.compile(program(some), architecture);
      if (made.ok()) {
        judge(some, *made, architecture, sums);
        continue;
      }
      ++sums.failed;
      fmt::print("{} …: {}\n", some[0].name, made.error().message.substr(0, 4000));
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
  app.add_option("--architecture", architectures)->capture_default_str();
  app.add_option("--every", every, "of the kernels, this many-th");
  app.add_option("--from", from);
  app.add_option("--dump", folder, "write each text there");
  app.add_option("FILE", files)->required();
  CLI11_PARSE(app, argc, argv);
  const auto compiler = replay::cuda::Compiler::open(replay::cuda::system_opener());
  if (!compiler.ok()) {
    fmt::print("skipped: {}\n", compiler.error().message);
    return kSkipped;
  }
  std::vector<Text> all, texts;
  std::set<std::string> seen;
  for (const std::string& file : files)
    if (const base::Status status = collect(file, all, seen); !status.ok()) fmt::print("{}: {}\n", file, status.error().message);
  for (size_t k = from; k < all.size(); k += every) texts.push_back(all[k]);
  if (!folder.empty()) dump(folder, texts);
  const Sums sums = compile(**compiler, texts, architectures);
  fmt::print("{} of {} kernels, {} functions, at most {} registers, {} with a stack frame that is explained, {} failed, {:.1f} s\n",
             texts.size(), all.size(), sums.functions, sums.registers, sums.stacks, sums.failed,
             static_cast<double>(sums.compile_ns) / 1e9);
  return sums.failed == 0 ? 0 : 1;
}
