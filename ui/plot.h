// Plots on a draw list: axes linear or logarithmic, ticks with units, and the frame around them. Pure but for frame().
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>
#include <vector>

namespace ui {

/// Values lo…hi on pixels p0…p1 (p0 > p1 for an axis that goes up).
struct Axis {
  double lo = 0, hi = 1;
  float p0 = 0, p1 = 1;
  bool log = false;
  float pixel(double value) const;
  double value(float pixel) const;
};

/// `decimals` of a label follow from the distance of two ticks, so that neighbours differ.
struct Tick {
  double value = 0;
  std::string label;
};
/// Round values, at least `gap` pixels apart; of a log axis powers of ten. `unit` is a suffix as in report::human ("_ns", "_bytes");
/// "_count": whole numbers.
std::vector<Tick> ticks(const Axis& axis, float gap, std::string_view unit);

/// Grid, labels and title of a plot; `area` is what is left for the data.
struct Frame {
  Axis x, y;
  ImVec2 min, max;  ///< the area
};
struct FrameText {
  std::string_view title, x_unit, y_unit, x_label, y_label;
};
Frame frame(const FrameText& text, ImVec2 min, ImVec2 max, Axis x, Axis y);

}  // namespace ui
