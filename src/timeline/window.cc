// Records narrower than a pixel are added up in the pixel where they begin, so that a frame draws at most one rectangle a pixel and lane,
// however many slices there are.
#include "src/timeline/window.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace timeline {
namespace {

/// Collects what is narrower than a pixel.
class Columns {
 public:
  explicit Columns(const Scale& scale) : scale_(scale) {}

  /// `covered`: pixels of it that are busy; `longest`: of these, by `name` alone.
  void add(const Mark& mark, float covered, float longest) {
    if (mark.x1 <= 0 || mark.x0 >= scale_.pixels) return;
    if (mark.x1 - mark.x0 >= 1) {
      flush();
      marks_.push_back(mark);
      return;
    }
    const float column = std::floor(std::max(0.f, mark.x0));
    if (!open_ || column_.x0 != column) {
      flush();
      open_ = true;
      longest_ = -1;
      column_ = {column, column + 1, 0, mark.name, 0, mark.record};
    } else {
      column_.record = -1;
    }
    column_.busy += covered;
    column_.count += mark.count;
    if (longest > longest_) longest_ = longest, column_.name = mark.name;
  }

  std::vector<Mark> take() {
    flush();
    return std::move(marks_);
  }

 private:
  void flush() {
    if (!open_) return;
    column_.busy = std::min(1.f, column_.busy);
    marks_.push_back(column_);
    open_ = false;
  }

  const Scale& scale_;
  std::vector<Mark> marks_;
  Mark column_;
  float longest_ = -1;
  bool open_ = false;
};

double begin_of(const Bucket& bucket, int shift) { return std::ldexp(static_cast<double>(bucket.index), shift); }
double end_of(const Slice& slice) { return static_cast<double>(slice.begin_ns) + static_cast<double>(slice.duration_ns); }

/// A float that is far outside draws as well as the exact place, and does not overflow.
float pixel(const Scale& scale, double ns) { return static_cast<float>(std::clamp(scale.x(ns), -1e6, 1e6)); }

Mark mark_of(const Slice& slice, size_t i, const Scale& scale) {
  return {pixel(scale, static_cast<double>(slice.begin_ns)), pixel(scale, end_of(slice)), 1, slice.name, 1, static_cast<int64_t>(i)};
}

Mark mark_of(const Bucket& bucket, size_t i, int shift, const Scale& scale) {
  const double begin_ns = begin_of(bucket, shift);
  return {pixel(scale, begin_ns),
          pixel(scale, begin_ns + std::ldexp(1, shift)),
          static_cast<float>(bucket.busy) / 65535.f,
          bucket.longest,
          bucket.count,
          static_cast<int64_t>(i)};
}

/// A mark that grows while records of one group follow each other.
struct Growing {
  Mark mark;
  float covered = 0;
  int32_t last_name = 0;
};

}  // namespace

int level_for(Levels levels, double ns_per_pixel) {
  if (levels.finest < 0 || !(ns_per_pixel >= std::ldexp(1, levels.finest))) return kSliceLevel;
  int level = levels.finest;
  while (level + 2 <= levels.coarsest && std::ldexp(1, level + 2) <= ns_per_pixel) level += 2;
  return level;
}

void trim(Window& window, int64_t begin_ns, int64_t end_ns) {
  const auto begin = static_cast<double>(begin_ns), end = static_cast<double>(end_ns);
  std::erase_if(window.slices, [&](const Slice& s) { return end_of(s) < begin || s.begin_ns > end_ns; });
  const double width = window.level >= 0 ? std::ldexp(1, window.level) : 0;
  std::erase_if(window.buckets, [&](const Bucket& b) {
    const double at = begin_of(b, window.level);
    return at + width < begin || at > end;
  });
}

Folded::Folded(std::vector<Slice> slices) : slices_(std::move(slices)), levels_(fold(slices_)) {}

Levels Folded::levels() const { return levels_.empty() ? Levels() : Levels{levels_.front().shift, levels_.back().shift}; }

Window Folded::window(int level, int64_t begin_ns, int64_t end_ns) const {
  Window window;
  window.level = level;
  const auto before = [&](int64_t t, const Slice& slice) { return t < slice.begin_ns; };
  if (level == kSliceLevel) {
    auto from = std::upper_bound(slices_.begin(), slices_.end(), begin_ns, before);
    if (from != slices_.begin()) --from;
    window.slices.assign(from, std::upper_bound(from, slices_.end(), end_ns, before));
  }
  for (const Level& held : levels_) {
    if (held.shift != level) continue;
    const auto first = static_cast<uint32_t>(std::max<int64_t>(0, begin_ns) >> level);
    const auto last = static_cast<uint32_t>(std::max<int64_t>(0, end_ns) >> level);
    const auto from = std::ranges::lower_bound(held.buckets, first, {}, &Bucket::index);
    window.buckets.assign(from, std::ranges::upper_bound(held.buckets, last, {}, &Bucket::index));
  }
  return window;
}

std::vector<Mark> marks(const Window& window, const Scale& scale) {
  Columns columns(scale);
  if (window.level == kSliceLevel) {
    for (size_t i = 0; i < window.slices.size(); ++i) {
      const Mark mark = mark_of(window.slices[i], i, scale);
      columns.add(mark, mark.x1 - mark.x0, mark.x1 - mark.x0);
    }
    return columns.take();
  }
  for (size_t i = 0; i < window.buckets.size(); ++i) {
    const Mark mark = mark_of(window.buckets[i], i, window.level, scale);
    const float width = mark.x1 - mark.x0;
    columns.add(mark, mark.busy * width, static_cast<float>(window.buckets[i].share) / 65535.f * width);
  }
  return columns.take();
}

namespace {

/// Marks of one name with a gap that no eye sees are one.
std::vector<Mark> joined(std::vector<Mark> marks) {
  constexpr float kGap = 1.5f;
  size_t kept = 0;
  for (const Mark& mark : marks) {
    Mark* before = kept == 0 ? nullptr : &marks[kept - 1];
    const bool joins =
        before != nullptr && before->name == mark.name && mark.x0 - before->x1 < kGap && before->busy > 0.99f && mark.busy > 0.99f;
    if (!joins) {
      marks[kept++] = mark;
      continue;
    }
    before->x1 = std::max(before->x1, mark.x1);
    before->count += mark.count;
  }
  marks.resize(kept);
  return marks;
}

}  // namespace

std::vector<Mark> spans(const Window& window, std::span<const int32_t> groups, const Scale& scale) {
  Columns columns(scale);
  std::optional<Growing> open;
  const bool exact = window.level == kSliceLevel;
  const auto flush = [&] {
    if (!open) return;
    open->mark.busy = exact ? 1 : std::min(1.f, open->covered / std::max(1e-6f, open->mark.x1 - open->mark.x0));
    columns.add(open->mark, open->covered, open->covered);
    open.reset();
  };
  for (size_t i = 0; i < window.size(); ++i) {
    const Mark mark = exact ? mark_of(window.slices[i], i, scale) : mark_of(window.buckets[i], i, window.level, scale);
    const float covered = (mark.x1 - mark.x0) * mark.busy;
    const bool follows = open && groups[i] == open->mark.name &&
                         (exact ? window.name(i) > open->last_name : mark.x0 - open->mark.x1 < 0.5f * (mark.x1 - mark.x0));
    if (!follows) {
      flush();
      if (groups[i] < 0) continue;
      open = Growing{mark, covered, window.name(i)};
      open->mark.name = groups[i];
      continue;
    }
    open->mark.x1 = std::max(open->mark.x1, mark.x1);
    open->mark.count += mark.count;
    open->covered += covered;
    open->last_name = window.name(i);
  }
  flush();
  return joined(columns.take());
}

Sums& operator+=(Sums& sums, const Sums& other) {
  sums.count += other.count;
  sums.inside_ns += other.inside_ns;
  sums.whole_ns += other.whole_ns;
  return sums;
}

Sums sums(std::span<const Slice> slices, int64_t begin_ns, int64_t end_ns) {
  Sums sums;
  const auto begin = static_cast<double>(begin_ns), end = static_cast<double>(end_ns);
  for (const Slice& slice : slices) {
    const auto from = static_cast<double>(slice.begin_ns);
    if (end_of(slice) <= begin || from >= end) continue;
    ++sums.count;
    sums.whole_ns += static_cast<double>(slice.duration_ns);
    sums.inside_ns += std::min(end, end_of(slice)) - std::max(begin, from);
  }
  return sums;
}

}  // namespace timeline
