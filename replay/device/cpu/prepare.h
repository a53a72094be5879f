// A plan made ready for this machine: kernels compiled, products created, memory allocated, addresses resolved.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/device.h"
#include "replay/device/cpu/arena.h"
#include "replay/device/cpu/jit.h"
#include "replay/device/cpu/launch.h"
#include "replay/plan.h"
#include "src/model/records.h"

namespace replay::cpu {

struct ReadyStep {
  std::vector<ReadyLaunch> launches;
  std::vector<int32_t> records;  ///< into Prepared::records, in launch order
  std::string precision;         ///< of the step's first product: "f16×f16→f32→f16"; "" if it has none
  std::string why;               ///< not empty: this device does not run the step
};

struct Prepared {
  std::vector<ReadyStep> steps;  ///< by StepId
  std::vector<std::unique_ptr<Product>> products;
  std::vector<std::unique_ptr<Native>> natives;
  std::unique_ptr<std::pmr::monotonic_buffer_resource> lists = std::make_unique<std::pmr::monotonic_buffer_resource>();  ///< of launches
  std::vector<model::KernelRecord> records;  ///< one a kernel of the plan, then one a distinct product
  Arena arena;
  Pages thread_scratch;
  PrepareTimes times;
};

/// Errors: more memory needed than `free_bytes` (before anything is compiled or allocated); a kernel that LLVM refuses or that was made for
/// wider vectors than the Jit's; a product that has no implementation. `plan` may go afterwards.
base::Result<Prepared> prepare(const Plan& plan, Jit& jit, int threads, int64_t free_bytes);

}  // namespace replay::cpu
