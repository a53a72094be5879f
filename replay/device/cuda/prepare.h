// A plan made ready for a GPU: kernels compiled and loaded, memory allocated, addresses resolved.
#pragma once

#include <memory>
#include <vector>

#include "replay/device.h"
#include "replay/device/cuda/gpu.h"
#include "replay/device/cuda/launch.h"
#include "replay/device/cuda/modules.h"
#include "replay/layout.h"

namespace replay::cuda {

inline constexpr int64_t kGuard = 256;           ///< bytes: alignment of parameters, and what lies between them
inline constexpr int64_t kReserved = 1LL << 30;  ///< bytes of the device that a plan leaves to the driver

class Libraries;

struct Prepared {
  Prepared(const Driver& driver) : modules(driver), parameters(driver), arena(driver), workspace(driver) {}
  Modules modules;
  Memory parameters, arena;
  Memory workspace;  ///< of library calls, which run one after another
  Layout layout;
  std::vector<ReadyStep> steps;  ///< by StepId
  std::vector<model::KernelRecord>
      records;  ///< one a kernel of the plan, then one a distinct product or copy of our own, then one a distinct call
  PrepareTimes times;

  Address address(BufferId buffer) const;
  int64_t bytes(BufferId buffer) const { return layout.places[static_cast<size_t>(buffer)].bytes; }
};

/// A kernel that NVRTC refuses leaves its steps with a reason (ReadyStep::why), and no more. Errors: more memory needed than is free less
/// kReserved, before anything is compiled; what the driver refuses. The libraries outlive what is prepared.
base::Result<std::unique_ptr<Prepared>> prepare(const Plan& plan, const Gpu& gpu, const Workshop& workshop, Libraries& libraries);

}  // namespace replay::cuda
