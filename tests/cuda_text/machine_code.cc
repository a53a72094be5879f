// Programs of some kernels, each for one architecture, compiled by a few threads.
#include "tests/cuda_text/machine_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace cuda_text {
namespace {

constexpr size_t kOfProgram = 24;  ///< kernels of one program: what NVRTC does once a program takes as long as one or two kernels

std::string symbol_of(const kernel::Kernel& kernel, size_t part) { return fmt::format("kernel_{}_{}", kernel.key, part); }

std::string program(std::span<const Distinct* const> kernels) {
  std::string all;
  for (const Distinct* one : kernels) {
    const kernel::Kernel& kernel = one->kernel;
    for (size_t i = 0; i < kernel.parts.size(); ++i) all += fmt::format("#define {} {}\n", kernel.parts[i].symbol, symbol_of(kernel, i));
    all += kernel.code;
    for (const kernel::Part& part : kernel.parts) all += fmt::format("#undef {}\n", part.symbol);
  }
  return all;
}

void judge(const kernel::Kernel& kernel, const replay::cuda::Machine& machine, int architecture, Machine& all) {
  const auto fault = [&](const kernel::Part& part, const std::string& what) {
    all.fault += fmt::format("{}{} sm_{}: {}", all.fault.empty() ? "" : "; ", part.symbol, architecture, what);
  };
  for (size_t i = 0; i < kernel.parts.size(); ++i) {
    const auto usage = std::ranges::find(machine.usage, symbol_of(kernel, i), &replay::cuda::Usage::function);
    if (usage == machine.usage.end()) {
      fault(kernel.parts[i], "ptxas says nothing of it");
      continue;
    }
    const int64_t spilled = usage->spill_store_bytes + usage->spill_load_bytes;
    ++all.functions;
    all.registers = std::max(all.registers, usage->registers);
    all.spilled_bytes = std::max(all.spilled_bytes, spilled);
    all.stack_bytes = std::max(all.stack_bytes, usage->stack_bytes);
    if (spilled + usage->stack_bytes > 0)
      fault(kernel.parts[i], fmt::format("{} registers, {} bytes of stack, {} spilled", usage->registers, usage->stack_bytes, spilled));
  }
}

}  // namespace

std::map<std::string, Machine> machine_code(const replay::cuda::Compiler& compiler, std::span<const Distinct* const> kernels,
                                            std::span<const int> architectures, int threads) {
  std::map<std::string, Machine> all;
  const size_t programs = (kernels.size() + kOfProgram - 1) / kOfProgram * architectures.size();
  std::atomic<size_t> next{0};
  std::mutex mutex;
  const auto work = [&] {
    for (size_t k = next++; k < programs; k = next++) {
      const size_t first = k / architectures.size() * kOfProgram;
      const int architecture = architectures[k % architectures.size()];
      const auto some = kernels.subspan(first, std::min(kOfProgram, kernels.size() - first));
      const auto made = compiler.compile(program(some), {architecture});
      const std::lock_guard lock(mutex);
      for (const Distinct* one : some) {
        Machine& machine = all[one->kernel.key];
        if (made.ok())
          judge(one->kernel, *made, architecture, machine);
        else
          machine.fault += fmt::format("sm_{}: {}", architecture, made.error().message);
      }
    }
  };
  std::vector<std::thread> others;
  for (int k = 1; k < threads; ++k) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();
  return all;
}

}  // namespace cuda_text
