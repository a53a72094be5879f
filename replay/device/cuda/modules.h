// Kernels as they are launched: compiled by NVRTC on several threads, loaded by the driver.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "replay/device/cuda/cache.h"
#include "replay/device/cuda/compiler.h"
#include "replay/device/cuda/driver.h"
#include "replay/kernel/kernel.h"
#include "src/base/result.h"
#include "src/model/records.h"

namespace replay::cuda {

/// What it takes to compile.
struct Workshop {
  const Compiler* compiler = nullptr;
  Architecture architecture;
  int threads = 1;
  Cache cache{""};
};

struct Loaded {
  std::vector<void*> functions;  ///< by part
  model::KernelRecord record;    ///< what it takes of a multiprocessor stands in `implementation`
  std::string why;               ///< not empty: the compiler refuses it, and these are its words
};

/// Goes with everything that it has loaded. The driver outlives it.
class Modules {
 public:
  explicit Modules(const Driver& driver) : driver_(driver) {}
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;
  ~Modules();
  /// In the order of `kernels`; one that the compiler refuses is no reason to do without the others. Error: the driver's word, and the
  /// kernel.
  base::Result<std::vector<Loaded>> load(std::span<const kernel::Kernel* const> kernels, const Workshop& workshop);

 private:
  base::Result<Loaded> load(const kernel::Kernel& kernel, const Machine& machine, const Architecture& architecture);

  const Driver& driver_;
  std::vector<void*> modules_;
};

/// The text with functions that a profiler shows by a name that says something: "row_reduce_f16_8192x768_0" for part 0.
std::string named_text(const kernel::Kernel& kernel);
std::string symbol_of(const kernel::Kernel& kernel, size_t part);

}  // namespace replay::cuda
