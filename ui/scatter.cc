// What is seen is found again only where the data or the view has changed: a million points cost nothing while the mouse moves over them.
#include "ui/scatter.h"

#include <algorithm>
#include <cmath>

namespace ui {

Scatter::Event Scatter::draw(const char* id, const Look& look, std::span<const Dot> dots, int revision, int64_t selected, ImVec2 size) {
  view_.set_full(look.axis, look.axis);
  const float em = ImGui::GetFontSize();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Frame plot = frame(look.text, at, {at.x + size.x, at.y + size.y}, view_.x(), view_.y());
  const PlotView::Action action = view_.interact(id, plot);
  const auto place = [&](double value) { return look.axis.log ? std::log10(value) : value; };
  const DotArea area{place(plot.x.lo),        place(plot.x.hi),        place(plot.y.lo),        place(plot.y.hi),
                     plot.max.x - plot.min.x, plot.max.y - plot.min.y, std::max(1.f, em * 0.2f)};
  if (area != area_ || revision != revision_) seen_ = seen_dots(dots, area), area_ = area, revision_ = revision;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.PushClipRect(plot.min, plot.max, true);
  const ImU32 pale = ImGui::GetColorU32(ImGuiCol_TextDisabled);
  const double lo = std::min(plot.x.lo, plot.y.lo), hi = std::max(plot.x.hi, plot.y.hi);
  draw.AddLine({plot.x.pixel(lo), plot.y.pixel(lo)}, {plot.x.pixel(hi), plot.y.pixel(hi)}, pale);
  if (!look.axis.log) {
    draw.AddLine({plot.min.x, plot.y.pixel(0)}, {plot.max.x, plot.y.pixel(0)}, pale);
    draw.AddLine({plot.x.pixel(0), plot.min.y}, {plot.x.pixel(0), plot.max.y}, pale);
  }
  Event event;
  float best = em * em;
  const float r = std::max(1.f, std::round(em * 0.18f));
  for (const Dot& dot : seen_) {
    const ImVec2 p = {plot.min.x + dot.x, plot.min.y + dot.y};
    draw.AddRectFilled({p.x - r, p.y - r}, {p.x + r, p.y + r}, look.colors[std::min<size_t>(dot.rank, 2)]);
    const float distance = (p.x - action.mouse.x) * (p.x - action.mouse.x) + (p.y - action.mouse.y) * (p.y - action.mouse.y);
    if (action.hovered && distance < best) best = distance, event.hovered = dot.index;
  }
  const auto ring = selected < 0 ? dots.end() : std::ranges::find(dots, selected, [](const Dot& dot) { return int64_t{dot.index}; });
  if (ring != dots.end()) {
    const auto value = [&](float v) { return look.axis.log ? std::pow(10.0, static_cast<double>(v)) : static_cast<double>(v); };
    draw.AddCircle({plot.x.pixel(value(ring->x)), plot.y.pixel(value(ring->y))}, em * 0.55f, ImGui::GetColorU32(ImGuiCol_Text), 0, 2);
  }
  draw.PopClipRect();
  event.clicked = action.clicked && event.hovered >= 0;
  return event;
}

}  // namespace ui
