// Many points on few pixels: of those that fall on one place a single one is drawn. No ImGui in here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ui {

struct Dot {
  float x = 0, y = 0;
  uint8_t rank = 0;    ///< a higher one covers a lower one
  uint32_t index = 0;  ///< of what it stands for
};
/// What is seen: x0 is at the left edge, y0 at the lower one.
struct DotArea {
  double x0 = 0, x1 = 1, y0 = 0, y1 = 1;
  float width = 0, height = 0;  ///< in pixels
  float cell = 3;               ///< pixels that a place takes
  bool operator==(const DotArea&) const = default;
};
/// The dots that are seen, with x and y in pixels from the upper left corner, lower ranks first. Linear; what is not finite is left out.
std::vector<Dot> seen_dots(std::span<const Dot> dots, const DotArea& area);

}  // namespace ui
