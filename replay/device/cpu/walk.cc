// Twice the size, because caches do not replace strictly what is oldest.
#include "replay/device/cpu/walk.h"

#include <algorithm>
#include <atomic>

#include "replay/device/cpu/host.h"

namespace replay::cpu {
namespace {

constexpr int64_t kUnknown = 32 << 20;  ///< bytes, where the system does not tell the last level's size
constexpr int64_t kMost = 256 << 20;    ///< bytes: what a guest is told is shared by many machines
constexpr int64_t kLine = 64;

size_t walked_bytes() {
  const Caches sizes = caches();
  const int64_t last = sizes.l3_bytes > 0 ? sizes.l3_bytes : std::max(sizes.l2_bytes, kUnknown);
  return static_cast<size_t>(std::min(2 * last, kMost));
}

}  // namespace

CacheWalk::CacheWalk(int threads) : threads_(threads), memory_(walked_bytes(), 1) {}

void CacheWalk::run() const {
  const auto lines = static_cast<int64_t>(memory_.size()) / kLine;
  int64_t sum = 0;
#pragma omp parallel for num_threads(threads_) reduction(+ : sum) schedule(static)
  for (int64_t line = 0; line < lines; ++line) sum += memory_[static_cast<size_t>(line * kLine)];
  static std::atomic<int64_t> read{0};
  read.store(sum, std::memory_order_relaxed);  // the loop may not be left out
}

}  // namespace replay::cpu
