// The driver's own copy: what streams through memory can't be quicker.
#include "replay/device/cuda/ceilings.h"

#include <algorithm>

#include "replay/device/cuda/timer.h"

namespace replay::cuda {
namespace {

constexpr int kCopies = 6;  ///< the first warms up

base::Result<double> copy_ms(const Gpu& gpu, const Memory& memory) {
  const Driver& d = gpu.driver();
  Event begin(d), end(d);
  RETURN_IF_ERROR(begin.record(gpu.stream()));
  RETURN_IF_ERROR(d.call(d.copy, memory.address() + kCopiedBytes, memory.address(), kCopiedBytes, gpu.stream()));
  RETURN_IF_ERROR(end.record(gpu.stream()));
  RETURN_IF_ERROR(gpu.wait());
  float ms = 0;
  RETURN_IF_ERROR(d.call(d.elapsed_ms, &ms, begin.handle(), end.handle()));
  return ms;
}

}  // namespace

base::Result<double> copy_bytes_per_s(const Gpu& gpu) {
  size_t free = 0, total = 0;
  RETURN_IF_ERROR(gpu.driver().call(gpu.driver().memory, &free, &total));
  if (free < 4 * kCopiedBytes) return 0.0;
  Memory memory(gpu.driver());
  RETURN_IF_ERROR(memory.allocate(2 * kCopiedBytes));
  double best_ms = 0;
  for (int i = 0; i < kCopies; ++i) {
    ASSIGN_OR_RETURN(const double ms, copy_ms(gpu, memory));
    if (i > 0) best_ms = i == 1 ? ms : std::min(best_ms, ms);
  }
  return best_ms > 0 ? 2.0 * static_cast<double>(kCopiedBytes) / (best_ms * 1e-3) : 0.0;
}

}  // namespace replay::cuda
