// Launches with every address resolved: what a step's start walks.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "replay/device/cuda/gpu.h"
#include "replay/device/cuda/routine.h"
#include "replay/step.h"

namespace replay::cuda {

struct KernelLaunch {
  void* function = nullptr;
  unsigned blocks = 1, threads = 1;
  std::vector<Address> args;
};
struct CopyLaunch {
  Address to = 0, from = 0;
  size_t bytes = 0;
};
struct FillLaunch {
  Address to = 0;
  unsigned char byte = 0;
  size_t bytes = 0;
};
struct RoutineLaunch {
  std::shared_ptr<const Routine> routine;
  Address workspace = 0;
  int64_t operations = 1;  ///< of the GPU that the call makes
};
using ReadyLaunch = std::variant<KernelLaunch, CopyLaunch, FillLaunch, RoutineLaunch>;

struct ReadyStep {
  std::string name;
  std::vector<ReadyLaunch> launches;  ///< none of no blocks or bytes
  std::vector<int32_t> records;       ///< into Prepared::records, in launch order
  std::string precision;              ///< of the step's first product: "f16×f16→f32→f16"
  Class cls = Class::kernel;          ///< library: a library runs a launch of it at least
  std::string why;                    ///< not empty: this device does not run the step
};

base::Status run(const Gpu& gpu, const ReadyStep& step);
/// Of the GPU, which its records tell of one by one.
int64_t operations_of(const ReadyStep& step);

}  // namespace replay::cuda
