// What a window of time shows: which level is read for it, and what of that a pixel can show.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/timeline/timeline.h"

namespace timeline {

/// Shifts of a lane's levels of buckets; −1: it has none, only slices.
struct Levels {
  int finest = -1, coarsest = -1;
};
/// The coarsest level whose buckets are no wider than a pixel; kSliceLevel where even the finest are wider.
int level_for(Levels levels, double ns_per_pixel);

/// A part of one level of a lane.
struct Window {
  int level = kSliceLevel;
  std::vector<Slice> slices;    ///< of level kSliceLevel, by begin
  std::vector<Bucket> buckets;  ///< of the others
  size_t size() const { return level == kSliceLevel ? slices.size() : buckets.size(); }
  size_t bytes() const { return slices.size() * sizeof(Slice) + buckets.size() * sizeof(Bucket); }
  /// Name of record i.
  int32_t name(size_t i) const { return level == kSliceLevel ? slices[i].name : buckets[i].longest; }
};
/// Leaves only what overlaps begin_ns … end_ns.
void trim(Window& window, int64_t begin_ns, int64_t end_ns);

/// A lane in memory, with its levels. `slices` must be as lanes() makes them.
class Folded {
 public:
  explicit Folded(std::vector<Slice> slices);
  Levels levels() const;
  Window window(int level, int64_t begin_ns, int64_t end_ns) const;
  const std::vector<Slice>& slices() const { return slices_; }

 private:
  std::vector<Slice> slices_;
  std::vector<Level> levels_;
};

/// Time on pixels 0 … pixels.
struct Scale {
  double begin_ns = 0, ns_per_pixel = 1, pixels = 0;
  double x(double ns) const { return (ns - begin_ns) / ns_per_pixel; }
};

/// A rectangle to draw: one record, or all that fall onto one pixel.
struct Mark {
  float x0 = 0, x1 = 0;  ///< pixels; may lie outside the scale by at most one record
  float busy = 1;        ///< covered share of it
  int32_t name = 0;      ///< of the longest in it
  uint32_t count = 1;    ///< slices that begin in it
  int64_t record = -1;   ///< index into the window where it shows one record alone, else −1
};
/// From left to right, at most one mark a pixel and one for each record wider than a pixel.
std::vector<Mark> marks(const Window& window, const Scale& scale);
/// The same for records in groups: neighbours of one group become one mark, with the group as name and the first of them as record.
/// groups[i] is that of record i; −1: not shown. A step back in plan order (the next pass) begins a new mark, unless no
/// eye sees the gap.
std::vector<Mark> spans(const Window& window, std::span<const int32_t> groups, const Scale& scale);

/// What lies in begin_ns … end_ns: slices that overlap it, the part of their time inside, and their whole time.
struct Sums {
  int64_t count = 0;
  double inside_ns = 0, whole_ns = 0;
};
Sums& operator+=(Sums& sums, const Sums& other);
Sums sums(std::span<const Slice> slices, int64_t begin_ns, int64_t end_ns);

}  // namespace timeline
