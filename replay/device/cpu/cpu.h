// The embedded default device: generated kernels through LLVM in the process, products through oneDNN or the packed kernels.
#pragma once

#include <memory>

#include "replay/device.h"

namespace replay::cpu {

/// Errors: a processor without AVX2, FMA and F16C; options that this processor cannot meet. All calls to one device must come from one
/// thread (OpenMP keeps a pool for each thread that opens regions).
base::Result<std::unique_ptr<Device>> open(const DeviceOptions& options);

}  // namespace replay::cpu
