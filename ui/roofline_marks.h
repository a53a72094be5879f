// Where the steps of a roofline stand in pixels, and which of them are drawn: made again when view, size or colours change, so that a frame
// costs what can be seen and not what the run holds; many points in slices over several frames. No ImGui in here.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <vector>

#include "ui/plot_data.h"
#include "ui/roofline_data.h"

namespace ui {

/// Pixels of decimal logarithms.
struct LogScale {
  double at_zero = 0, per_decade = 1;
  double pixel(double log10) const { return at_zero + per_decade * log10; }
  bool operator==(const LogScale&) const = default;
};
struct RoofView {
  Box main, strip;  ///< areas; strip, of steps without flops: empty where there is none
  LogScale x, y, strip_y;
  float em = 13;
  bool has_strip() const { return strip.x1 > strip.x0; }
};

/// Radius, in em, of marks that are drawn as dots: they cover the cell that they stand in.
inline constexpr float kDot_em = 0.2f;

struct RoofMark {
  float x = 0, y = 0, radius = 0;
  uint32_t point = 0;  ///< in Roofline::points
  uint16_t word = 0;   ///< in ColorWords::words
};

/// The colours of the marks that stand in the cells of one size.
class RoofCells {
 public:
  RoofCells(const Box& area, float cell);
  uint16_t& at(float x, float y);  ///< a bit for each colour

 private:
  Box area_;
  float per_pixel_;
  size_t across_ = 1;
  std::vector<uint16_t> words_;
};

class RoofMarks {
 public:
  static constexpr size_t kAll = SIZE_MAX;
  /// Begins anew with the `first` points of most time. Of marks that cover nearly the same place only the one of most time is drawn: of
  /// those no larger than a place one, of larger ones one of each colour.
  void place(const Roofline& roof, const ColorWords& colors, const std::set<size_t>& hidden, const RoofView& view, size_t first = kAll);
  /// The next `count` points of what place() was given: linear in them. What comes of it does not depend on the slices.
  void place_more(const Roofline& roof, const ColorWords& colors, size_t count);
  bool is_complete(const Roofline& roof) const { return points() == roof.points.size(); }

  /// In the order of drawing: most time first, so that small ones lie over large ones.
  std::span<const RoofMark> main() const { return main_; }
  std::span<const RoofMark> strip() const { return strip_; }
  /// Position of a point, whether a mark was drawn for it or not; `shown` is false outside the view, of hidden colours, and of those that
  /// are not yet placed.
  struct Position {
    float x = 0, y = 0, radius = 0;
    bool shown = false;
  };
  Position position(size_t point) const;
  size_t points() const { return x_.size(); }  ///< that are placed
  /// The smallest drawn mark under a place, or the nearest one by a finger's width, as its point; −1: none.
  int64_t at(float x, float y);

 private:
  void take(size_t point, uint16_t word, bool strip);
  void make_grid();
  static constexpr float kNowhere = std::numeric_limits<float>::lowest();
  std::vector<float> x_, y_, r_;                 ///< by point; kNowhere: not shown
  std::vector<bool> seen_;                       ///< by word: its points are not hidden
  std::array<std::vector<RoofCells>, 2> cells_;  ///< of main and strip, by size; none where there is no area
  std::vector<RoofMark> main_, strip_;
  std::vector<float> mark_x_, mark_y_;  ///< of both, main first, as the grid numbers them
  PointGrid grid_;                      ///< made when it is first asked
  bool has_grid_ = false;
  RoofView view_;
};

/// The points whose position is inside a closed line, by the even-odd rule at the centre of their pixel's row. Linear in points + rows of
/// the line's height × its corners.
std::vector<uint32_t> points_inside(const RoofMarks& marks, std::span<const float> xs, std::span<const float> ys);

}  // namespace ui
