// Copies of what a pass overwrites, on the device, so that every pass begins with the same values without a way over the bus.
#pragma once

#include <span>
#include <vector>

#include "replay/device/cuda/prepare.h"

namespace replay::cuda {

class Pristine {
 public:
  Pristine(const Gpu& gpu, const Prepared& ready) : gpu_(gpu), ready_(ready), memory_(gpu.driver()) {}
  /// Copies what the buffers hold. False: there is no room for it.
  base::Result<bool> keep(std::span<const BufferId> buffers);
  /// Brings it back, and waits until it is there.
  base::Status restore() const;

 private:
  struct Piece {
    Address kept, at;
    size_t bytes;
  };
  base::Status copy(Address Piece::*to, Address Piece::*from) const;

  const Gpu& gpu_;
  const Prepared& ready_;
  Memory memory_;
  std::vector<Piece> pieces_;
};

}  // namespace replay::cuda
