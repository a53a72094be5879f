// One program a kernel: what was compiled before is found again whatever else a plan holds, and threads share the rest.
#include "replay/device/cuda/modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

namespace replay::cuda {
namespace {

using base::Error;
using base::Result;

Result<Machine> machine_for(const kernel::Kernel& kernel, const Workshop& workshop, const std::string& identity) {
  if (kernel.parts.empty()) return Machine();
  const std::string text = named_text(kernel), key = cache_key(text, workshop.architecture.text(), identity);
  if (auto kept = workshop.cache.find(key)) return *std::move(kept);
  ASSIGN_OR_RETURN(Machine made, workshop.compiler->compile(text, workshop.architecture));
  workshop.cache.keep(key, made);
  return made;
}

/// By kernel; every one is tried.
std::vector<std::optional<Result<Machine>>> compile(std::span<const kernel::Kernel* const> kernels, const Workshop& workshop) {
  std::vector<std::optional<Result<Machine>>> made(kernels.size());
  const std::string identity = workshop.compiler->identity();
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t k = next++; k < kernels.size(); k = next++) made[k] = machine_for(*kernels[k], workshop, identity);
  };
  std::vector<std::jthread> others;
  for (int t = 1; t < std::min(workshop.threads, static_cast<int>(kernels.size())); ++t) others.emplace_back(work);
  work();
  others.clear();  // waits for them
  return made;
}

model::KernelRecord record_of(const kernel::Kernel& kernel, std::string implementation) {
  return {kernel.key, kernel.name, std::string(text(kernel.language)), std::move(implementation), kernel.code, 0, 0};
}

}  // namespace

std::string symbol_of(const kernel::Kernel& kernel, size_t part) {
  std::string name = kernel.name;
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!plain) c = '_';
  }
  return fmt::format("k_{}_{}", name, part);
}

std::string named_text(const kernel::Kernel& kernel) {
  std::string text;
  for (size_t i = 0; i < kernel.parts.size(); ++i) text += fmt::format("#define {} {}\n", kernel.parts[i].symbol, symbol_of(kernel, i));
  return text + kernel.code;
}

Modules::~Modules() {
  for (void* module : modules_) driver_.unload_module.address(module);  // nothing can be done where it fails
}

Result<Loaded> Modules::load(const kernel::Kernel& kernel, const Machine& machine, const Architecture& architecture) {
  Loaded loaded{{}, record_of(kernel, "nothing to compute"), ""};
  if (kernel.parts.empty()) return loaded;
  void* module = nullptr;
  RETURN_IF_ERROR(driver_.call(driver_.load_module, &module, static_cast<const void*>(machine.code.data())));
  modules_.push_back(module);
  std::string use;
  for (size_t i = 0; i < kernel.parts.size(); ++i) {
    void* function = nullptr;
    RETURN_IF_ERROR(driver_.call(driver_.find_function, &function, module, symbol_of(kernel, i).c_str()));
    int registers = 0, shared_bytes = 0, local_bytes = 0, blocks = 0;
    const auto ask = [&](int& to, FunctionAttribute which) {
      return driver_.call(driver_.function_attribute, &to, static_cast<int>(which), function);
    };
    RETURN_IF_ERROR(ask(registers, FunctionAttribute::registers));
    RETURN_IF_ERROR(ask(shared_bytes, FunctionAttribute::shared_bytes));
    RETURN_IF_ERROR(ask(local_bytes, FunctionAttribute::local_bytes));
    RETURN_IF_ERROR(driver_.call(driver_.occupancy, &blocks, function, kernel.parts[i].block_threads, size_t{0}));
    use += fmt::format("; {} blocks of {}: {} registers, {} B shared, {} B local, {} a multiprocessor", kernel.parts[i].count,
                       kernel.parts[i].block_threads, registers, shared_bytes, local_bytes, blocks);
    loaded.functions.push_back(function);
  }
  loaded.record.implementation = fmt::format("nvrtc {}{}", architecture.text(), use);
  loaded.record.compile_ns = machine.compile_ns;
  loaded.record.code_bytes = static_cast<int64_t>(machine.code.size());
  return loaded;
}

Result<std::vector<Loaded>> Modules::load(std::span<const kernel::Kernel* const> kernels, const Workshop& workshop) {
  const auto machines = compile(kernels, workshop);
  std::vector<Loaded> all;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const Result<Machine>& machine = *machines[k];
    if (!machine.ok()) {
      all.push_back({{}, record_of(*kernels[k], "not compiled: " + machine.error().message), machine.error().message});
      continue;
    }
    auto loaded = load(*kernels[k], *machine, workshop.architecture);
    if (!loaded.ok()) return Error{fmt::format("kernel {}: {}", kernels[k]->name, loaded.error().message)};
    all.push_back(*std::move(loaded));
  }
  return all;
}

}  // namespace replay::cuda
