// The GPU as a device.
#pragma once

#include "replay/device.h"

namespace replay::cuda {

/// "": a GPU could be used; else why not, in one sentence: "no NVIDIA driver (libcuda.so.1: …)".
std::string why_no_gpu();
/// Error, always so far, with exit status 6: kernels are made for GPUs and checked on the host, but nothing runs on one yet.
base::Result<std::unique_ptr<Device>> open(const DeviceOptions& options);

}  // namespace replay::cuda
