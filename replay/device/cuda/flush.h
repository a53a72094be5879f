// Cold caches: the GPU's L2 emptied of what steps have left there.
#pragma once

#include "replay/device/cuda/gpu.h"

namespace replay::cuda {

/// Fills memory of twice the L2's size. In the stream of the steps but under no id, and before a step's first event, so that no step's time
/// has it. What is left to write back of it, at most an L2 full, the next step may pay for.
class Flush {
 public:
  explicit Flush(const Gpu& gpu) : gpu_(gpu), memory_(gpu.driver()) {}
  /// Error: the driver does not tell the cache's size, or has no memory left.
  base::Status allocate();
  base::Status run() const;
  int64_t bytes() const { return bytes_; }

 private:
  const Gpu& gpu_;
  Memory memory_;
  int64_t bytes_ = 0;
};

}  // namespace replay::cuda
