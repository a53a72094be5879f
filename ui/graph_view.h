// Draws a graph of boxes in levels, with zoom and pan. What stands in the boxes and what a click means is the panel's.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ui/graph_layout.h"
#include "ui/theme.h"

namespace ui {

struct GraphBox {
  std::string title;
  std::vector<std::string> lines = {};  ///< below the title, in smaller weight
  ImU32 color = 0;                      ///< of the ground; 0: a plain frame
  bool small = false;                   ///< does no work: drawn narrow, its title alone
};
struct GraphPick {
  int hovered = -1, clicked = -1, opened = -1;  ///< opened: clicked twice
};

/// Wheel zooms to the cursor, dragging moves, a click picks.
class GraphView {
 public:
  /// Lays out again where `revision` (of boxes and edges) or the font has changed. Texts should be short_text: they are measured.
  GraphPick draw(const char* id, std::span<const GraphBox> boxes, std::span<const GraphEdge> edges, int revision, int selected, ImVec2 size,
                 const Theme& theme);
  /// In the next frame: all in view, but not smaller than can be read; then around the selected box.
  void fit() { fitted_ = false; }
  void zoom_by(float factor);  ///< around the middle
  void pan_by(float ems_x, float ems_y);
  float zoom() const { return zoom_; }

 private:
  struct Canvas;
  void arrange(std::span<const GraphBox> boxes, std::span<const GraphEdge> edges, int revision);
  void fit_into(ImVec2 size, int selected);
  void pointer(ImVec2 min, bool hovered, bool active);
  int box_at(ImVec2 min, ImVec2 mouse) const;
  void draw_route(const Canvas& canvas, const Route& route, ImU32 color, float thickness) const;
  void draw_box(const Canvas& canvas, const GraphBox& box, size_t index, bool selected, bool hovered) const;

  Layout layout_;
  std::vector<NodeSize> sizes_;
  int revision_ = -1;
  float font_ = 0, zoom_ = 1, x_ = 0, y_ = 0;   ///< x_, y_: the place of the layout's corner, in pixels
  float wide_ = 0, high_ = 0;                   ///< of the canvas when it was last drawn
  float fit_zoom_ = 0, fit_x_ = 0, fit_y_ = 0;  ///< as fit_into() left them
  bool fitted_ = false, moved_ = false;
};

}  // namespace ui
