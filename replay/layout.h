// Where the buffers of a plan lie: parameters and constants in one piece of memory, everything that lives for a part of a pass in another.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/plan.h"
#include "src/base/result.h"

namespace replay {

/// Where a buffer lies, in bytes from the start of its piece.
struct Place {
  enum class Area : uint8_t { parameters, arena } area = Area::arena;
  int64_t offset = 0, bytes = 0;
};

struct Layout {
  std::vector<Place> places;  ///< by BufferId; an alias has the place of the buffer that it lives in
  int64_t parameter_bytes = 0, arena_bytes = 0;
};

/// Parameters and constants stand one after another on multiples of `alignment`, with that many bytes of guard between; the rest stands
/// where the plan put it. An Error: the plan places a buffer outside its arena, or aliases in a circle.
base::Result<Layout> lay_out(const Plan& plan, int64_t alignment = 64);

/// "needs 6.9 GB, 3.1 GB free; try --isolated (each step alone), --computation NAME or --instruction NAME".
base::Status check_fits(int64_t needed_bytes, int64_t free_bytes);

}  // namespace replay
