// What plots compute before they draw: bins, pixel columns, places for labels. No ImGui in here; values that are not finite are left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ui {

/// Equal bins over lo…hi. Values far from the middle half of all are counted beside it, so that one outlier does not flatten the rest.
struct Bins {
  double lo = 0, hi = 0;
  std::vector<int> counts;
  int below = 0, above = 0;  ///< finite values outside lo…hi
  int used = 0;              ///< finite values
  int most() const;          ///< of a bin
};
/// Freedman–Diaconis: a bin is 2·IQR/∛n wide; at most `most` of them.
Bins bins_of(std::span<const double> values, size_t most = 60);

/// Median of the finite values, NaN of none.
double median_of(std::span<const double> values);

/// Least and largest value of the samples that fall on a pixel column; lo > hi: none do.
struct Extent {
  float lo = 1, hi = 0;
};
/// Values in order, spread over `columns` of equal width; finite floats only.
std::vector<Extent> extents(std::span<const double> values, size_t columns);

/// A layer of an area plot: one value a position, stacked in the order of the layers.
struct StackColumn {
  int64_t index = -1;  ///< the position with the largest sum among those of this column; −1: none
  double sum = 0;
};
/// For each of `columns` pixel columns over positions first…last (both may be fractions and lie outside): the position whose sum is
/// largest. Where a position covers several columns, it stands in each.
std::vector<StackColumn> stack_columns(std::span<const double> sums, double first, double last, size_t columns);

/// A rectangle in pixels.
struct Box {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  bool overlaps(const Box& other) const { return x0 < other.x1 && other.x0 < x1 && y0 < other.y1 && other.y0 < y1; }
  bool contains(float x, float y) const { return x >= x0 && x < x1 && y >= y0 && y < y1; }
};
/// A label wants to stand beside a point.
struct LabelWish {
  float x = 0, y = 0, radius = 0;
  float width = 0, height = 0;
};
/// Places labels one after another around their points, as near as there is room, inside `area`, none over another; those that find no
/// place get a box without size. Nothing is put over `taken`.
std::vector<Box> place_labels(std::span<const LabelWish> wishes, const Box& area, std::span<const Box> taken = {});

/// Points on a grid of cells, to find those near a place without looking at all.
class PointGrid {
 public:
  PointGrid() = default;
  /// Points outside `area` are left out.
  PointGrid(std::span<const float> x, std::span<const float> y, const Box& area, float cell);
  /// Indices of the points in the cells that touch the box, in no order.
  std::vector<uint32_t> near(const Box& box) const;

 private:
  Box area_;
  float cell_ = 1;
  int columns_ = 0, rows_ = 0;
  std::vector<uint32_t> begin_, points_;  ///< of a cell: points_[begin_[c]…begin_[c + 1]]
  int column(float x) const;
  int row(float y) const;
};

/// Whether a point lies within a polygon (even-odd rule).
bool inside(std::span<const float> xs, std::span<const float> ys, float x, float y);

/// For one line of a picture: valid UTF-8 without controls, at most `most` characters, cut in the middle.
std::string short_text(std::string_view text, size_t most);

}  // namespace ui
