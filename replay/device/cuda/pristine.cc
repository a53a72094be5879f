// One piece of memory for all copies. They run in the stream of the steps but under no id, so that no step's time has them.
#include "replay/device/cuda/pristine.h"

namespace replay::cuda {

base::Result<bool> Pristine::keep(std::span<const BufferId> buffers) {
  const Driver& d = gpu_.driver();
  pieces_.clear();
  int64_t bytes = 0;
  for (const BufferId buffer : buffers) {
    if (ready_.bytes(buffer) == 0) continue;
    pieces_.push_back({static_cast<Address>(bytes), ready_.address(buffer), static_cast<size_t>(ready_.bytes(buffer))});
    bytes += (ready_.bytes(buffer) + kGuard - 1) / kGuard * kGuard;
  }
  size_t free = 0, total = 0;
  RETURN_IF_ERROR(d.call(d.memory, &free, &total));
  if (bytes > static_cast<int64_t>(free) - kReserved) return false;
  RETURN_IF_ERROR(memory_.allocate(bytes));
  for (Piece& piece : pieces_) piece.kept += memory_.address();
  RETURN_IF_ERROR(copy(&Piece::kept, &Piece::at));
  return true;
}

base::Status Pristine::restore() const { return copy(&Piece::at, &Piece::kept); }

base::Status Pristine::copy(Address Piece::*to, Address Piece::*from) const {
  const Driver& d = gpu_.driver();
  for (const Piece& piece : pieces_) RETURN_IF_ERROR(d.call(d.copy, piece.*to, piece.*from, piece.bytes, gpu_.stream()));
  return pieces_.empty() ? base::Status() : gpu_.wait();
}

}  // namespace replay::cuda
