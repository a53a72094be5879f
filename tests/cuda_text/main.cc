// Every distinct kernel of some programs as machine code of GPUs, and on the host, without a GPU:
//
//   cuda_text [--architecture 90]… [--host] [--every N] [--from K] [--random N --seed S] [--types] [--threads N] [--dump FOLDER] FILE…
//
// A file is of any format that profile imports; --random adds the differential tests' modules of seeds S … S + N - 1, --types
// every opcode on every type. Kernels are those of the plans and the device's own. --host runs each kernel's step at a smaller size on the
// host. Prints what is wrong with a kernel, and a line for each program. Exit 1: a text that NVRTC refuses, a spill, a stack frame, a
// result that differs; 77: there is no NVRTC, and what
// --host says is right.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "src/base/clock.h"
#include "tests/cuda_text/distinct.h"
#include "tests/cuda_text/host_run.h"
#include "tests/cuda_text/machine_code.h"

namespace {

using cuda_text::Distinct;
constexpr int kSkipped = 77;

struct Options {
  std::vector<int> architectures;
  std::vector<std::string> files;
  std::string folder;
  size_t every = 1, from = 0;
  uint64_t random = 0, seed = 1;
  int threads = 1;
  bool host = false, types = false;
};

void declare(CLI::App& app, Options& options) {
  app.add_option("--architecture", options.architectures, "to compile for; none with --host: machine code is not asked for");
  app.add_flag("--host", options.host, "run the kernels on the host");
  app.add_option("--every", options.every, "of the kernels, this many-th")->check(CLI::PositiveNumber);
  app.add_option("--from", options.from);
  app.add_option("--random", options.random, "random modules");
  app.add_option("--seed", options.seed, "of the first of them");
  app.add_flag("--types", options.types, "every opcode on every type of element");
  app.add_option("--threads", options.threads, "that compile")->check(CLI::PositiveNumber);
  app.add_option("--dump", options.folder, "write each text there");
  app.add_option("FILE", options.files);
}

cuda_text::Kernels kernels_of(const Options& options) {
  cuda_text::Kernels kernels;
  const auto tell = [](const base::Status& status, const std::string& what) {  // what can't be planned is for other tests to judge
    if (!status.ok()) fmt::print("{}: {}\n", what, status.error().message);
  };
  for (const std::string& file : options.files) tell(kernels.add_file(file), file);
  for (uint64_t k = options.seed; k < options.seed + options.random; ++k) tell(kernels.add_random(k), fmt::format("seed {}", k));
  if (options.types) tell(kernels.add_opcodes_and_types(), "opcodes and types");
  return kernels;
}

void dump(const std::string& folder, std::span<const Distinct* const> kernels) {
  std::filesystem::create_directories(folder);
  for (const Distinct* one : kernels)
    std::ofstream(fmt::format("{}/{}.cu", folder, one->kernel.key)) << "// " << one->name << "\n" << one->kernel.code;
}

struct Results {
  std::map<std::string, cuda_text::Machine> machine;
  std::map<std::string, cuda_text::Shown> host;
};

/// How many kernels have a fault; prints each.
int print_faults(std::span<const Distinct* const> kernels, const Results& results) {
  int failed = 0;
  for (const Distinct* one : kernels) {
    const auto machine = results.machine.find(one->kernel.key);
    const auto host = results.host.find(one->kernel.key);
    const std::string by_ptxas = machine == results.machine.end() ? "" : machine->second.fault;
    const std::string on_host = host == results.host.end() ? "" : host->second.fault;
    if (!by_ptxas.empty()) fmt::print("{}: {}\n", one->name, by_ptxas);
    if (!on_host.empty()) fmt::print("{}: on the host: {}\n", one->name, on_host);
    failed += by_ptxas.empty() && on_host.empty() ? 0 : 1;
  }
  return failed;
}

/// The kernels that took longest on the host.
void print_slowest(std::span<const Distinct* const> kernels, const Results& results) {
  constexpr size_t kSlowest = 5;
  std::vector<std::pair<double, const Distinct*>> slow;
  for (const Distinct* one : kernels)
    if (const auto host = results.host.find(one->kernel.key); host != results.host.end()) slow.emplace_back(-host->second.seconds, one);
  std::ranges::sort(slow);
  for (size_t k = 0; k < std::min(slow.size(), kSlowest); ++k) fmt::print("{:.2f} s {}\n", -slow[k].first, slow[k].second->name);
}

constexpr size_t kMostRows = 12;  ///< of the table; more programs are one row

/// Launches and distinct kernels of a program; of those that were taken: what the worst needs, and how many agree on the host.
void print_row(const cuda_text::Program& program, const Results& results) {
  int64_t compiled = 0, registers = 0, spilled = 0, stack = 0, ran = 0, agree = 0, same_class = 0, largest = 0;
  for (const std::string& key : program.keys) {
    if (const auto machine = results.machine.find(key); machine != results.machine.end()) {
      ++compiled;
      registers = std::max<int64_t>(registers, machine->second.registers);
      spilled = std::max(spilled, machine->second.spilled_bytes);
      stack = std::max(stack, machine->second.stack_bytes);
    }
    if (const auto host = results.host.find(key); host != results.host.end()) {
      ++ran;
      agree += host->second.fault.empty() ? 1 : 0;
      same_class += host->second.same_class ? 1 : 0;
      largest = std::max(largest, host->second.elements);
    }
  }
  fmt::print("{:<24}{:>9}{:>9}{:>10}{:>10}{:>8}{:>7}{:>8}{:>7}{:>7}{:>10}\n", program.name, program.launches, program.keys.size(), compiled,
             registers, spilled, stack, ran, agree, same_class, largest);
}

int report(const cuda_text::Kernels& kernels, std::span<const Distinct* const> taken, const Results& results) {
  const int failed = print_faults(taken, results);
  print_slowest(taken, results);
  fmt::print("{:<24}{:>9}{:>9}{:>10}{:>10}{:>8}{:>7}{:>8}{:>7}{:>7}{:>10}\n", "program", "launches", "distinct", "compiled", "registers",
             "spilled", "stack", "on host", "agree", "alike", "elements");
  cuda_text::Program all{"all", 0, {}};
  for (const cuda_text::Program& program : kernels.programs()) {
    if (kernels.programs().size() <= kMostRows) print_row(program, results);
    all.launches += program.launches;
    all.keys.insert(program.keys.begin(), program.keys.end());
  }
  print_row(all, results);
  return failed;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"kernels as machine code of GPUs, and on the host"};
  Options options;
  declare(app, options);
  CLI11_PARSE(app, argc, argv);
  if (!options.host && options.architectures.empty()) options.architectures = {90};
  const auto compiler = replay::cuda::Compiler::open(replay::cuda::system_opener());
  const bool compiles = !options.architectures.empty() && compiler.ok();
  if (!compiler.ok()) fmt::print("no machine code: {}\n", compiler.error().message);
  if (!compiles && !options.host) return kSkipped;

  const cuda_text::Kernels kernels = kernels_of(options);
  std::vector<const Distinct*> taken;
  for (size_t k = options.from; k < kernels.all().size(); k += options.every) taken.push_back(&kernels.all()[k]);
  if (!options.folder.empty()) dump(options.folder, taken);
  Results results;
  const auto begin = base::Clock::now();
  if (compiles) results.machine = cuda_text::machine_code(**compiler, taken, options.architectures, options.threads);
  const auto middle = base::Clock::now();
  if (options.host) results.host = cuda_text::on_host(taken);
  const int failed = report(kernels, taken, results);
  fmt::print("{} of {} kernels, {} failed; {:.1f} s to compile, {:.1f} s on the host\n", taken.size(), kernels.all().size(), failed,
             std::chrono::duration<double>(middle - begin).count(), static_cast<double>(base::since_ns(middle)) / 1e9);
  if (failed > 0) return 1;
  return !options.architectures.empty() && !compiles ? kSkipped : 0;
}
