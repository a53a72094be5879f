// Memory around parameters and constants that nobody may write to.
#pragma once

#include <string>
#include <vector>

#include "replay/device/cuda/prepare.h"

namespace replay::cuda {

/// What lies behind each parameter and constant of a plan, kGuard bytes or more, and the arena before its first use.
class Guards {
 public:
  Guards(const Plan& plan, const Prepared& ready, const Gpu& gpu);
  /// Fills the guards with a pattern, and the arena with what is no number in any type of floats.
  base::Status set() const;
  /// Error: the first guard that no longer holds its pattern, and the buffer before it. The GPU has been waited for.
  base::Status check() const;

 private:
  struct Zone {
    Address address;
    size_t bytes;  ///< less than twice kGuard
    std::string after;
  };
  const Gpu& gpu_;
  std::vector<Zone> zones_;
  Address arena_;
  size_t arena_bytes_;
};

}  // namespace replay::cuda
