// Launches with every address resolved: what a step's start walks.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "replay/device/cuda/gpu.h"

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
using ReadyLaunch = std::variant<KernelLaunch, CopyLaunch, FillLaunch>;

struct ReadyStep {
  std::string name;
  std::vector<ReadyLaunch> launches;  ///< none of no blocks or bytes
  std::vector<int32_t> records;       ///< into Prepared::records, in launch order
  std::string precision;              ///< of the step's first product: "f16×f16→f32→f16"
  std::string why;                    ///< not empty: this device does not run the step
};

base::Status run(const Gpu& gpu, const ReadyStep& step);

}  // namespace replay::cuda
