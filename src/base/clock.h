// The clock that durations are measured by.
#pragma once

#include <chrono>
#include <cstdint>

namespace base {

using Clock = std::chrono::steady_clock;

inline int64_t since_ns(Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
}

}  // namespace base
