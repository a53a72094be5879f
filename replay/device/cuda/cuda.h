// The GPU as a device.
#pragma once

#include <string>

#include "replay/device.h"
#include "replay/device/cuda/libraries.h"
#include "replay/device/cuda/runner.h"

namespace replay::cuda {

/// "": a GPU could be used; else why not, in one sentence: "no NVIDIA driver (libcuda.so.1: …)".
std::string why_no_gpu(const Opener& opener = system_opener());
/// The same, and a compiler for its kernels.
std::string why_not_usable(const Opener& opener = system_opener());
/// "": the GPU could be used and lets this user read counters; else why not, in one sentence with what to do.
std::string why_no_counters(const Opener& opener = system_opener());
/// CUPTI traces what this process runs on the GPU, and what is traced can't be counted. Once begun it does not end.
bool traces();
/// Error, with exit status 6: no driver, no GPU, or no compiler for its kernels.
base::Result<std::unique_ptr<Device>> open(const DeviceOptions& options);
/// The same with libraries of a test's.
base::Result<std::unique_ptr<Device>> open_with(const DeviceOptions& options, const Opener& opener);

}  // namespace replay::cuda
