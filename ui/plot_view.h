// A plot that is zoomed and panned: which part of the data is seen, and what the mouse does to it.
#pragma once

#include <optional>
#include <vector>

#include "ui/plot.h"
#include "ui/plot_data.h"
#include "ui/session.h"

namespace ui {

/// Wheel zooms to the cursor (Ctrl: x alone, Shift: y alone), left drag zooms to a box, Shift + left drag draws a lasso, right or middle
/// drag pans, double click shows all.
class PlotView {
 public:
  /// The whole of the data. Where nothing was zoomed, it is what is seen. A range that is empty or not finite is made one that is not.
  void set_full(const Axis& x, const Axis& y);
  void show_all();
  bool moved() const { return moved_; }
  const Axis& x() const { return x_; }
  const Axis& y() const { return y_; }

  /// `fx`, `fy`: where in the view, 0 to 1, stays in place. factor < 1 zooms in; at most 1e9-fold, out to twice the whole.
  void zoom_x(double fx, double factor);
  void zoom_y(double fy, double factor);
  /// W and S zoom, A and D move, F shows all, as in the timeline; + and − zoom too.
  enum class Zooms : uint8_t { x, both };
  void keys(const Session& session, Zooms zooms);
  /// By shares of the view.
  void pan(double dx, double dy);
  /// To a part of the view, shares from 0 to 1.
  void zoom_to(double x0, double x1, double y0, double y1);

  struct Action {
    bool hovered = false;
    ImVec2 mouse = {};
    bool clicked = false;       ///< pressed and let go at the same place
    std::vector<ImVec2> lasso;  ///< closed in this frame; empty: none
  };
  /// An item over the area of `frame`; changes the view for the next frame and draws box or lasso as they grow.
  Action interact(const char* id, const Frame& frame);

 private:
  void drag(const Frame& frame, ImVec2 mouse, Action& action);
  void wheel(const Frame& frame, ImVec2 mouse);

  Axis x_, y_, full_x_, full_y_;
  bool moved_ = false;
  enum class Drag : uint8_t { none, box, lasso, pan } drag_ = Drag::none;
  ImVec2 from_ = {};
  std::vector<ImVec2> lasso_;
};

}  // namespace ui
