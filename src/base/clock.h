// The clock that durations are measured by.
#pragma once

#include <chrono>
#include <cstdint>

namespace base {

using Clock = std::chrono::steady_clock;

/// Of the steady clock, since its own beginning.
inline double now_s() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }
inline int64_t since_ns(Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
}

}  // namespace base
