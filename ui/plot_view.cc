// An axis is moved in the space in which it is drawn (the logarithm, for log axes): then zoom and pan are the same for both.
#include "ui/plot_view.h"

#include <algorithm>
#include <cmath>

namespace ui {
namespace {

constexpr double kMostZoom = 1e9;

struct Span {
  double lo, hi;
};
Span shown(const Axis& axis) { return axis.log ? Span{std::log(axis.lo), std::log(axis.hi)} : Span{axis.lo, axis.hi}; }

void show(Axis& axis, Span span) {
  axis.lo = axis.log ? std::exp(span.lo) : span.lo;
  axis.hi = axis.log ? std::exp(span.hi) : span.hi;
}

/// What can be drawn: finite, not empty, above zero for a logarithm.
Axis drawable(Axis axis) {
  if (!std::isfinite(axis.lo) || !std::isfinite(axis.hi) || axis.hi < axis.lo) axis.lo = axis.log ? 1 : 0, axis.hi = axis.log ? 10 : 1;
  if (axis.log) {
    axis.lo = std::clamp(axis.lo, 1e-30, 1e30);  // zoomed out and panned, it is still a number
    axis.hi = std::clamp(axis.hi, axis.lo, 1e31);
    if (axis.hi < axis.lo * 1.01) axis.hi = axis.lo * 10;
  } else {
    axis.lo = std::clamp(axis.lo, -1e100, 1e100);
    axis.hi = std::clamp(axis.hi, axis.lo, 1e101);
    if (!(axis.hi - axis.lo > std::abs(axis.hi) * 1e-12)) axis.hi = axis.lo + std::max(1.0, std::abs(axis.lo) * 0.01);
  }
  return axis;
}

void limit(Axis& axis, const Axis& full, Span wanted) {
  const Span whole = shown(full);
  const double size = whole.hi - whole.lo;
  const double width = std::clamp(wanted.hi - wanted.lo, size / kMostZoom, size * 2);
  const double middle = std::clamp((wanted.lo + wanted.hi) / 2, whole.lo - size / 2, whole.hi + size / 2);
  const Span next = {middle - width / 2, middle + width / 2};
  if (next.hi - next.lo > std::max(std::abs(next.lo), std::abs(next.hi)) * 1e-12) show(axis, next);
}

void zoom(Axis& axis, const Axis& full, double f, double factor) {
  if (!std::isfinite(factor) || factor <= 0) return;
  const Span now = shown(axis);
  const double at = now.lo + (now.hi - now.lo) * f;
  limit(axis, full, {at - (at - now.lo) * factor, at + (now.hi - at) * factor});
}

float share(float v, float p0, float p1) { return p1 == p0 ? 0.f : (v - p0) / (p1 - p0); }

bool same(const Axis& a, const Axis& b) { return a.lo == b.lo && a.hi == b.hi && a.log == b.log; }

}  // namespace

void PlotView::set_full(const Axis& x, const Axis& y) {
  const Axis next_x = drawable(x), next_y = drawable(y);
  if (same(next_x, full_x_) && same(next_y, full_y_)) return;
  full_x_ = next_x, full_y_ = next_y;
  show_all();
}

void PlotView::show_all() {
  x_ = full_x_, y_ = full_y_;
  moved_ = false;
}

void PlotView::zoom_x(double fx, double factor) { zoom(x_, full_x_, fx, factor), moved_ = true; }
void PlotView::zoom_y(double fy, double factor) { zoom(y_, full_y_, fy, factor), moved_ = true; }

void PlotView::pan(double dx, double dy) {
  const Span x = shown(x_), y = shown(y_);
  limit(x_, full_x_, {x.lo + dx * (x.hi - x.lo), x.hi + dx * (x.hi - x.lo)});
  limit(y_, full_y_, {y.lo + dy * (y.hi - y.lo), y.hi + dy * (y.hi - y.lo)});
  moved_ = true;
}

void PlotView::zoom_to(double x0, double x1, double y0, double y1) {
  const Span x = shown(x_), y = shown(y_);
  limit(x_, full_x_, {x.lo + std::min(x0, x1) * (x.hi - x.lo), x.lo + std::max(x0, x1) * (x.hi - x.lo)});
  limit(y_, full_y_, {y.lo + std::min(y0, y1) * (y.hi - y.lo), y.lo + std::max(y0, y1) * (y.hi - y.lo)});
  moved_ = true;
}

void PlotView::keys(const Session& session, Zooms zooms) {
  constexpr double kZoom = 0.7, kPan = 0.15;
  const int in = session.pressed('W') + session.pressed('=') + session.pressed('+') - session.pressed('S') - session.pressed('-');
  const int right = session.pressed('D') - session.pressed('A');
  if (in != 0) zoom_x(0.5, std::pow(kZoom, in));
  if (in != 0 && zooms == Zooms::both) zoom_y(0.5, std::pow(kZoom, in));
  if (right != 0) pan(kPan * right, 0);
  if (session.pressed('F') > 0) show_all();
}

void PlotView::wheel(const Frame& frame, ImVec2 mouse) {
  const ImGuiIO& io = ImGui::GetIO();
  if (io.MouseWheel == 0) return;
  const double factor = std::pow(1.2, -std::clamp(io.MouseWheel, -20.f, 20.f));
  if (!io.KeyShift) zoom_x(share(mouse.x, frame.x.p0, frame.x.p1), factor);
  if (!io.KeyCtrl) zoom_y(share(mouse.y, frame.y.p0, frame.y.p1), factor);
}

void PlotView::drag(const Frame& frame, ImVec2 mouse, Action& action) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float em = ImGui::GetFontSize();
  const ImU32 line = ImGui::GetColorU32(ImGuiCol_Text), ground = ImGui::GetColorU32(ImGuiCol_TextSelectedBg, 0.5f);
  const bool held = ImGui::IsMouseDown(ImGuiMouseButton_Left);
  const ImVec2 at = {std::clamp(mouse.x, frame.min.x, frame.max.x), std::clamp(mouse.y, frame.min.y, frame.max.y)};
  const bool far = std::abs(at.x - from_.x) > em * 0.4f || std::abs(at.y - from_.y) > em * 0.4f;
  if (drag_ == Drag::box) {
    if (held && far) {
      draw.AddRectFilled(from_, at, ground);
      draw.AddRect({std::min(from_.x, at.x), std::min(from_.y, at.y)}, {std::max(from_.x, at.x), std::max(from_.y, at.y)}, line);
    }
    if (!held) {
      action.clicked = !far && !ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
      if (far) {
        zoom_to(share(from_.x, frame.x.p0, frame.x.p1), share(at.x, frame.x.p0, frame.x.p1), share(from_.y, frame.y.p0, frame.y.p1),
                share(at.y, frame.y.p0, frame.y.p1));
      }
    }
  }
  if (drag_ == Drag::lasso) {
    const ImVec2 last = lasso_.back();
    if (std::abs(at.x - last.x) + std::abs(at.y - last.y) > 2 && lasso_.size() < 10'000) lasso_.push_back(at);
    draw.AddPolyline(lasso_.data(), static_cast<int>(lasso_.size()), line, held ? ImDrawFlags_None : ImDrawFlags_Closed, em / 8);
    if (!held && lasso_.size() > 2) action.lasso = std::move(lasso_);
  }
  if (!held) drag_ = Drag::none;
}

PlotView::Action PlotView::interact(const char* id, const Frame& frame) {
  constexpr ImGuiButtonFlags kButtons =
      ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight | ImGuiButtonFlags_MouseButtonMiddle;
  ImGui::SetCursorScreenPos(frame.min);
  ImGui::InvisibleButton(id, {std::max(1.f, frame.max.x - frame.min.x), std::max(1.f, frame.max.y - frame.min.y)}, kButtons);
  Action action;
  action.mouse = ImGui::GetIO().MousePos;
  action.hovered = ImGui::IsItemHovered();
  if (action.hovered) {
    wheel(frame, action.mouse);
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) show_all();
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
      drag_ = ImGui::GetIO().KeyShift ? Drag::lasso : Drag::box;
      from_ = action.mouse;
      lasso_ = {from_};
    }
  }
  const bool pans = ImGui::IsMouseDragging(ImGuiMouseButton_Right) || ImGui::IsMouseDragging(ImGuiMouseButton_Middle);
  if (ImGui::IsItemActive() && pans) {
    const ImVec2 by = ImGui::GetIO().MouseDelta;
    pan(-by.x / (frame.x.p1 - frame.x.p0), -by.y / (frame.y.p1 - frame.y.p0));
  }
  if (drag_ == Drag::box || drag_ == Drag::lasso) drag(frame, action.mouse, action);
  return action;
}

}  // namespace ui
