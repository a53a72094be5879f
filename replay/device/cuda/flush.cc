// A fill is the driver's own kernel or engine, whichever it takes; either way what it writes goes through the L2.
#include "replay/device/cuda/flush.h"

namespace replay::cuda {

base::Status Flush::allocate() {
  bytes_ = 2 * static_cast<int64_t>(gpu_.properties().l2_bytes);
  if (bytes_ == 0) return base::Error{"the driver does not tell how large the L2 cache is"};
  return memory_.allocate(bytes_);
}

base::Status Flush::run() const {
  const Driver& d = gpu_.driver();
  return d.call(d.fill, memory_.address(), static_cast<unsigned char>(0), static_cast<size_t>(bytes_), gpu_.stream());
}

}  // namespace replay::cuda
