// The GPU as a device.
#pragma once

#include <string>

#include "replay/device.h"
#include "replay/device/cuda/libraries.h"
#include "replay/device/cuda/runner.h"

namespace replay::cuda {

/// "": a GPU could be used; else why not, in one sentence: "no NVIDIA driver (libcuda.so.1: …)".
std::string why_no_gpu();
/// Error, with exit status 6: no driver, no GPU, or no compiler for its kernels.
base::Result<std::unique_ptr<Device>> open(const DeviceOptions& options);
/// The same with libraries of a test's.
base::Result<std::unique_ptr<Device>> open_with(const DeviceOptions& options, const Opener& opener);

}  // namespace replay::cuda
