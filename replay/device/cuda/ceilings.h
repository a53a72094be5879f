// What the card does at best, measured on it in the run.
#pragma once

#include "replay/device/cuda/gpu.h"
#include "src/base/result.h"

namespace replay::cuda {

inline constexpr size_t kCopiedBytes = size_t{128} << 20;  ///< read, and as many written: more than the caches hold

/// Bytes read and written in a second by a copy within the device's memory, the best of several; 0 where there is no room for it.
base::Result<double> copy_bytes_per_s(const Gpu& gpu);

}  // namespace replay::cuda
