// The layout is made in pixels at zoom 1 and drawn scaled; the font is scaled with it. Text below a readable size is left out.
#include "ui/graph_view.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

namespace ui {
namespace {

constexpr float kLeastFont = 6;  ///< pixels; smaller text is not drawn
constexpr float kLeastScale = 0.05f, kMostScale = 8;
constexpr float kReadable = 0.6f;  ///< zoom below which fit() shows a part rather than all
constexpr float kPad = 0.4f;       ///< around the text of a box, em
constexpr float kSmall = 0.85f;    ///< font of small boxes and of lines below the title

float width_of(const std::string& text, float scale) { return ImGui::CalcTextSize(text.data(), text.data() + text.size()).x * scale; }

}  // namespace

struct GraphView::Canvas {
  ImDrawList& draw;
  ImVec2 min, max;
  float em, zoom, x, y;
  const Theme& theme;
  ImVec2 at(float lx, float ly) const { return {min.x + x + lx * zoom, min.y + y + ly * zoom}; }
};

void GraphView::zoom_by(float factor) {
  const float next = std::clamp(zoom_ * factor, kLeastScale, kMostScale), f = next / zoom_;
  x_ = wide_ / 2 - (wide_ / 2 - x_) * f;
  y_ = high_ / 2 - (high_ / 2 - y_) * f;
  zoom_ = next;
}

void GraphView::pan_by(float ems_x, float ems_y) { x_ += ems_x * font_, y_ += ems_y * font_; }

void GraphView::arrange(std::span<const GraphBox> boxes, std::span<const GraphEdge> edges, int revision) {
  const float em = ImGui::GetFontSize();
  if (revision == revision_ && em == font_ && boxes.size() == sizes_.size()) return;
  revision_ = revision, font_ = em, fitted_ = false;
  sizes_.clear();
  for (const GraphBox& box : boxes) {
    float width = width_of(box.title, box.small ? kSmall : 1.f), height = em * (box.small ? kSmall : 1.f);
    if (!box.small) {
      for (const std::string& line : box.lines) width = std::max(width, width_of(line, kSmall)), height += em * kSmall * 1.1f;
    }
    sizes_.push_back({width + 2 * kPad * em, height + kPad * em});
  }
  layout_ = layout(sizes_, edges, {em * 1.6f, em * 2.2f});
}

void GraphView::fit_into(ImVec2 size, int selected) {
  const float margin = font_ * 1.5f;
  const float all = std::min((size.x - margin) / std::max(1.f, layout_.width), (size.y - margin) / std::max(1.f, layout_.height));
  zoom_ = std::clamp(all, kReadable, 1.f);
  float middle_x = layout_.width / 2, middle_y = layout_.height / 2;
  if (all < kReadable && selected >= 0 && static_cast<size_t>(selected) < layout_.nodes.size()) {
    const Placed& node = layout_.nodes[static_cast<size_t>(selected)];
    middle_x = node.x, middle_y = node.y;
  }
  // Along a side that fits, everything is seen; along the other one the selected box stands in the middle.
  if (layout_.width * zoom_ <= size.x) middle_x = layout_.width / 2;
  if (layout_.height * zoom_ <= size.y) middle_y = layout_.height / 2;
  x_ = size.x / 2 - middle_x * zoom_;
  y_ = size.y / 2 - middle_y * zoom_;
  fit_zoom_ = zoom_, fit_x_ = x_, fit_y_ = y_;
  fitted_ = true;
}

void GraphView::pointer(ImVec2 min, bool hovered, bool active) {
  const ImGuiIO& io = ImGui::GetIO();
  if (hovered && io.MouseWheel != 0) {
    const float next = std::clamp(zoom_ * std::pow(1.15f, std::clamp(io.MouseWheel, -20.f, 20.f)), kLeastScale, kMostScale),
                f = next / zoom_;
    x_ = io.MousePos.x - min.x - (io.MousePos.x - min.x - x_) * f;
    y_ = io.MousePos.y - min.y - (io.MousePos.y - min.y - y_) * f;
    zoom_ = next;
  }
  if (!active) return;
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) moved_ = false;
  if (ImGui::IsMouseDragging(ImGuiMouseButton_Left) || ImGui::IsMouseDragging(ImGuiMouseButton_Right) ||
      ImGui::IsMouseDragging(ImGuiMouseButton_Middle)) {
    x_ += io.MouseDelta.x, y_ += io.MouseDelta.y;
    moved_ = true;
  }
}

int GraphView::box_at(ImVec2 min, ImVec2 mouse) const {
  const float x = (mouse.x - min.x - x_) / zoom_, y = (mouse.y - min.y - y_) / zoom_;
  for (size_t i = 0; i < layout_.nodes.size(); ++i) {
    const Placed& p = layout_.nodes[i];
    if (std::abs(x - p.x) <= sizes_[i].width / 2 && std::abs(y - p.y) <= sizes_[i].height / 2) return static_cast<int>(i);
  }
  return -1;
}

void GraphView::draw_route(const Canvas& c, const Route& route, ImU32 color, float thickness) const {
  for (size_t i = 1; i < route.points.size(); ++i) {
    const ImVec2 a = c.at(route.points[i - 1].x, route.points[i - 1].y);
    ImVec2 b = c.at(route.points[i].x, route.points[i].y);
    const bool last = i + 1 == route.points.size();
    const float head = c.em * 0.45f * std::min(1.f, c.zoom * 1.2f);
    if (!ImGui::IsRectVisible({std::min(a.x, b.x) - head, a.y}, {std::max(a.x, b.x) + head, std::max(b.y, a.y + 1)})) continue;
    if (last) b.y -= head;
    if (i % 2 == 0 || std::abs(a.x - b.x) < 1) {
      c.draw.AddLine(a, b, color, thickness);
    } else {
      const float bend = (b.y - a.y) * 0.5f;
      c.draw.AddBezierCubic(a, {a.x, a.y + bend}, {b.x, b.y - bend}, b, color, thickness, 16);
    }
    if (last) c.draw.AddTriangleFilled({b.x - head * 0.5f, b.y}, {b.x + head * 0.5f, b.y}, {b.x, b.y + head}, color);
  }
}

void GraphView::draw_box(const Canvas& c, const GraphBox& box, size_t index, bool selected, bool hovered) const {
  const Placed& p = layout_.nodes[index];
  const NodeSize& s = sizes_[index];
  const ImVec2 a = c.at(p.x - s.width / 2, p.y - s.height / 2), b = c.at(p.x + s.width / 2, p.y + s.height / 2);
  if (!ImGui::IsRectVisible(a, b)) return;
  const ImU32 ground = box.color != 0 ? box.color : ImGui::GetColorU32(ImGuiCol_FrameBg);
  const ImU32 ink = box.color != 0 ? text_on(ground) : ImGui::GetColorU32(ImGuiCol_Text);
  c.draw.AddRectFilled(a, b, ImGui::GetColorU32(ImGuiCol_WindowBg));
  c.draw.AddRectFilled(a, b, ground);
  const bool strong = selected || hovered;
  c.draw.AddRect(a, b, ImGui::GetColorU32(strong ? ImGuiCol_Text : ImGuiCol_Border), 0, 0, selected ? std::max(2.f, c.em / 5) : 1.f);
  const float title = c.em * c.zoom * (box.small ? kSmall : 1.f), small = c.em * c.zoom * kSmall;
  if (title < kLeastFont) return;
  ImFont* font = ImGui::GetFont();
  const float x = a.x + kPad * c.em * c.zoom;
  float y = a.y + kPad * c.em * c.zoom / 2;
  c.draw.AddText(font, title, {x, y}, ink, box.title.data(), box.title.data() + box.title.size());
  y += title;
  if (box.small || small < kLeastFont) return;
  for (const std::string& line : box.lines) {
    c.draw.AddText(font, small, {x, y}, with_alpha(ink, 0.85f), line.data(), line.data() + line.size());
    y += small * 1.1f;
  }
}

GraphPick GraphView::draw(const char* id, std::span<const GraphBox> boxes, std::span<const GraphEdge> edges, int revision, int selected,
                          ImVec2 size, const Theme& theme) {
  arrange(boxes, edges, revision);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  size = {std::max(1.f, size.x > 0 ? size.x : room.x + size.x), std::max(1.f, size.y > 0 ? size.y : room.y + size.y)};
  const ImVec2 min = ImGui::GetCursorScreenPos(), max = {min.x + size.x, min.y + size.y};
  ImGui::InvisibleButton(id, size,
                         ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight | ImGuiButtonFlags_MouseButtonMiddle);
  const bool hovered = ImGui::IsItemHovered(), let_go = ImGui::IsItemDeactivated();
  const bool fits = fitted_ && zoom_ == fit_zoom_ && x_ == fit_x_ && y_ == fit_y_;  // nobody has zoomed or moved
  if (fits && (size.x != wide_ || size.y != high_)) fitted_ = false;
  wide_ = size.x, high_ = size.y;
  if (!fitted_) fit_into(size, selected);
  pointer(min, hovered, ImGui::IsItemActive());
  GraphPick pick;
  if (hovered) pick.hovered = box_at(min, ImGui::GetIO().MousePos);
  if (let_go && !moved_) pick.clicked = pick.hovered;
  if (hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) pick.opened = pick.hovered;

  const Canvas canvas{*ImGui::GetWindowDrawList(), min, max, font_, zoom_, x_, y_, theme};
  canvas.draw.PushClipRect(min, max, true);
  const ImU32 ink = ImGui::GetColorU32(ImGuiCol_Text);
  const float thick = std::max(1.f, font_ / 12);
  const auto touches = [](const Route& r, int node) {
    return node >= 0 && (r.edge.from == static_cast<uint32_t>(node) || r.edge.to == static_cast<uint32_t>(node));
  };
  for (const bool strong : {false, true}) {  // those of the selected and hovered boxes over the others
    for (const Route& route : layout_.routes) {
      if ((touches(route, selected) || touches(route, pick.hovered)) == strong)
        draw_route(canvas, route, with_alpha(ink, strong ? 0.9f : 0.4f), strong ? thick * 1.5f : thick);
    }
  }
  for (size_t i = 0; i < boxes.size() && i < sizes_.size(); ++i)
    draw_box(canvas, boxes[i], i, static_cast<int>(i) == selected, static_cast<int>(i) == pick.hovered);
  canvas.draw.PopClipRect();
  return pick;
}

}  // namespace ui
