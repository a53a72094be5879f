// A cloud of points over two like axes, with the diagonal where both are equal: zoomed, hovered and clicked.
#pragma once

#include <array>
#include <span>

#include "ui/dots.h"
#include "ui/plot.h"
#include "ui/plot_view.h"

namespace ui {

class Scatter {
 public:
  struct Look {
    FrameText text;
    Axis axis;                      ///< of both directions, with all dots in it
    std::array<ImU32, 3> colors{};  ///< by Dot::rank
  };
  struct Event {
    int64_t hovered = -1;  ///< Dot::index; −1: none
    bool clicked = false;
  };
  /// Dots are values, of a logarithmic axis their decimal logarithms. `revision` changes where they do. `selected` as Dot::index has a
  /// ring.
  Event draw(const char* id, const Look& look, std::span<const Dot> dots, int revision, int64_t selected, ImVec2 size);

 private:
  PlotView view_;
  std::vector<Dot> seen_;
  DotArea area_;
  int revision_ = -1;
};

}  // namespace ui
