// One pass over the points into a grid of places, one pass over the grid.
#include "ui/dots.h"

#include <algorithm>
#include <cmath>

namespace ui {

std::vector<Dot> seen_dots(std::span<const Dot> dots, const DotArea& area) {
  std::vector<Dot> seen;
  constexpr float kMostPixels = 20'000;
  if (!(area.width >= 1 && area.height >= 1 && area.cell >= 1 && area.x1 > area.x0 && area.y1 > area.y0)) return seen;
  if (area.width > kMostPixels || area.height > kMostPixels) return seen;
  const auto columns = static_cast<size_t>(area.width / area.cell) + 1, rows = static_cast<size_t>(area.height / area.cell) + 1;
  std::vector<int32_t> at(columns * rows, -1);  // index in seen
  const double per_x = area.width / (area.x1 - area.x0), per_y = area.height / (area.y1 - area.y0);
  for (const Dot& dot : dots) {
    const double x = (dot.x - area.x0) * per_x, y = area.height - (dot.y - area.y0) * per_y;
    if (!(x >= 0 && x < area.width && y >= 0 && y < area.height)) continue;
    const Dot here{static_cast<float>(x), static_cast<float>(y), dot.rank, dot.index};
    int32_t& place = at[static_cast<size_t>(here.y / area.cell) * columns + static_cast<size_t>(here.x / area.cell)];
    if (place < 0) {
      place = static_cast<int32_t>(seen.size());
      seen.push_back(here);
    } else if (seen[static_cast<size_t>(place)].rank < dot.rank) {
      seen[static_cast<size_t>(place)] = here;
    }
  }
  std::ranges::stable_sort(seen, {}, &Dot::rank);
  return seen;
}

}  // namespace ui
