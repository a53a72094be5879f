// Everything is drawn on the window's list and clipped to the item.
#include "ui/plot_widgets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ui/plot.h"
#include "ui/text.h"

namespace ui {
namespace {

struct Space {
  ImVec2 min, max;
  bool visible = false;
};
/// Takes the room of an item; never smaller than a pixel.
Space take(ImVec2 size) {
  Space out;
  out.min = ImGui::GetCursorScreenPos();
  out.max = {out.min.x + std::max(1.f, size.x), out.min.y + std::max(1.f, size.y)};
  ImGui::Dummy({out.max.x - out.min.x, out.max.y - out.min.y});
  out.visible = ImGui::IsRectVisible(out.min, out.max);
  return out;
}

void put(ImDrawList& draw, ImVec2 at, ImU32 ink, std::string_view text) { draw.AddText(at, ink, text.data(), text.data() + text.size()); }

float width_of(std::string_view text) { return ImGui::CalcTextSize(text.data(), text.data() + text.size()).x; }

std::string sample_line(const Bins& bins, const SampleMarks& marks) {
  std::string text = fmt::format("{} {}", bins.used, bins.used == 1 ? "sample" : "samples");
  if (std::isfinite(marks.median_ns)) text += fmt::format(" · median {}", human(marks.median_ns, "_ns"));
  if (std::isfinite(marks.ci_low_ns) && std::isfinite(marks.ci_high_ns))
    text += fmt::format(" · 95 % {} … {}", human(marks.ci_low_ns, "_ns"), human(marks.ci_high_ns, "_ns"));
  if (bins.below > 0) text += fmt::format(" · {} below", bins.below);
  if (bins.above > 0) text += fmt::format(" · {} above", bins.above);
  if (!marks.flags.empty()) text += " · " + short_text(marks.flags, 80);
  return text;
}

void bars(ImDrawList& draw, const Frame& frame, const Bins& bins, ImU32 color) {
  const double width = (bins.hi - bins.lo) / static_cast<double>(bins.counts.size());
  for (size_t i = 0; i < bins.counts.size(); ++i) {
    if (bins.counts[i] == 0) continue;
    const bool single = !(width > 0);  // all values the same: a bar of some pixels
    const float x0 = frame.x.pixel(bins.lo + width * static_cast<double>(i));
    const float x1 = frame.x.pixel(bins.lo + width * static_cast<double>(i + 1));
    const float y = frame.y.pixel(bins.counts[i]);
    draw.AddRectFilled({single ? x0 - 4 : x0, y}, {single ? x0 + 4 : std::max(x0 + 1, x1 - 1), frame.max.y}, color);
  }
}

void hover_bin(const Frame& frame, const Bins& bins, ImVec2 mouse) {
  if (bins.counts.empty() || mouse.x < frame.min.x || mouse.x >= frame.max.x) return;
  const double width = (bins.hi - bins.lo) / static_cast<double>(bins.counts.size());
  const double at = width > 0 ? (frame.x.value(mouse.x) - bins.lo) / width : 0;
  if (at < 0 || at >= static_cast<double>(bins.counts.size())) return;
  const auto i = static_cast<size_t>(at);
  const double lo = bins.lo + width * static_cast<double>(i);
  const std::string text = fmt::format("{} of {}: {} … {}", bins.counts[i], bins.used, human(lo, "_ns"), human(lo + width, "_ns"));
  ImGui::SetTooltip("%s", text.c_str());
}

}  // namespace

void text_with_ground(ImDrawList& draw, ImVec2 at, std::string_view text, ImU32 ground, ImU32 ink) {
  const ImVec2 size = ImGui::CalcTextSize(text.data(), text.data() + text.size());
  draw.AddRectFilled({at.x - 2, at.y}, {at.x + size.x + 2, at.y + size.y}, ground);
  put(draw, at, ink, text);
}

void histogram(const char* id, const Bins& bins, const SampleMarks& marks, ImVec2 size, const Theme& theme) {
  const float em = ImGui::GetFontSize();
  const Space space = take({std::max(size.x, em * 10), std::max(size.y, em * 7)});
  if (!space.visible) return;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  ImGui::PushID(id);
  draw.PushClipRect(space.min, space.max, true);
  const ImU32 ink = ImGui::GetColorU32(ImGuiCol_Text);
  if (bins.used == 0) {
    put(draw, space.min, ImGui::GetColorU32(ImGuiCol_TextDisabled), "No samples.");
  } else {
    Axis x{bins.lo, bins.hi}, y{0, std::max(1.0, bins.most() * 1.05)};
    if (marks.shows_zero) x.lo = std::min(0.0, x.lo);
    if (!(x.hi > x.lo)) x = {x.lo - std::max(1.0, std::abs(x.lo) * 0.01), x.hi + std::max(1.0, std::abs(x.hi) * 0.01)};
    const Frame f = frame({sample_line(bins, marks), "_ns", "_count", "", ""}, space.min, {space.max.x, space.max.y + em * 1.4f}, x, y);
    draw.PushClipRect(f.min, f.max, true);
    if (std::isfinite(marks.ci_low_ns) && std::isfinite(marks.ci_high_ns)) {
      const float x0 = f.x.pixel(marks.ci_low_ns), x1 = f.x.pixel(marks.ci_high_ns);
      draw.AddRectFilled({x0, f.min.y}, {std::max(x1, x0 + 1), f.max.y}, with_alpha(bad_color(theme), 0.25f));
    }
    bars(draw, f, bins, with_alpha(good_color(theme), 0.85f));
    if (std::isfinite(marks.median_ns)) {
      const float m = f.x.pixel(marks.median_ns);
      draw.AddLine({m, f.min.y}, {m, f.max.y}, ink, std::max(1.f, em / 8));
    }
    draw.PopClipRect();
    if (ImGui::IsItemHovered()) hover_bin(f, bins, ImGui::GetIO().MousePos);
  }
  draw.PopClipRect();
  ImGui::PopID();
}

void sparkline(std::span<const double> values, ImVec2 size, ImU32 color) {
  const Space space = take(size);
  const float width = space.max.x - space.min.x, height = space.max.y - space.min.y;
  if (!space.visible || values.size() < 2 || width < 4) return;
  const std::vector<Extent> columns = extents(values, static_cast<size_t>(width));
  float lo = 0, hi = 0;
  bool any = false;
  for (const Extent& e : columns) {
    if (e.lo > e.hi) continue;
    lo = any ? std::min(lo, e.lo) : e.lo, hi = any ? std::max(hi, e.hi) : e.hi, any = true;
  }
  if (!any) return;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const auto y = [&](float v) { return hi > lo ? space.max.y - 1 - (v - lo) / (hi - lo) * (height - 2) : space.min.y + height / 2; };
  float before = -1;
  for (size_t c = 0; c < columns.size(); ++c) {
    const Extent& e = columns[c];
    if (e.lo > e.hi) continue;
    float top = y(e.hi), bottom = y(e.lo);
    if (before >= 0) top = std::min(top, before), bottom = std::max(bottom, before);  // joined to the column before
    const float x = space.min.x + static_cast<float>(c);
    draw.AddRectFilled({x, top}, {x + 1, std::max(bottom, top + 1)}, color);
    before = y((e.lo + e.hi) / 2);
  }
}

namespace {

constexpr float kValueWidth = 7;  ///< em behind the longest bar, for its value

/// One bar of a waterfall, with its name before it and its value behind it.
struct WaterfallBar {
  std::string_view name;
  double begin = 0, end = 0, low = 0, high = 0;
  ImU32 color = 0;
  bool selected = false;
};

void draw_bar(const WaterfallBar& bar, ImVec2 at, float row_height, float name_width, const Axis& axis, std::string_view unit) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImU32 ink = ImGui::GetColorU32(ImGuiCol_Text);
  const float em = ImGui::GetFontSize(), pad = row_height * 0.15f;
  const auto fits = static_cast<size_t>(std::max(4.f, name_width / (em * 0.55f)));
  draw.PushClipRect({at.x, at.y}, {at.x + name_width, at.y + row_height}, true);
  put(draw, {at.x, at.y + (row_height - em) / 2}, ink, short_text(bar.name, fits));
  draw.PopClipRect();
  const bool real = std::isfinite(bar.begin) && std::isfinite(bar.end);
  const float x0 = axis.pixel(real ? bar.begin : axis.lo), x1 = std::max(x0 + 1, axis.pixel(real ? bar.end : axis.lo));
  if (real) draw.AddRectFilled({x0, at.y + pad}, {x1, at.y + row_height - pad}, bar.color);
  float text_at = real ? x1 : x0;
  if (bar.high > bar.low && std::isfinite(bar.high) && std::isfinite(bar.low)) {
    const float l = axis.pixel(bar.low), h = axis.pixel(bar.high), y = at.y + row_height / 2;
    draw.AddLine({l, y}, {h, y}, ink);
    draw.AddLine({l, y - pad}, {l, y + pad}, ink);
    draw.AddLine({h, y - pad}, {h, y + pad}, ink);
    text_at = std::max(text_at, h);
  }
  put(draw, {text_at + em * 0.4f, at.y + (row_height - em) / 2}, ink, human(real ? bar.end - bar.begin : std::nan(""), unit));
}

double sum_of(std::span<const WaterfallPart> parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0,
                         [](double sum, const WaterfallPart& p) { return std::isfinite(p.value) && p.value > 0 ? sum + p.value : sum; });
}

/// What lies between the end of the parts and the end of the total.
void draw_difference(double sum, double total, const WaterfallText& text, ImVec2 at, float row_height, const Axis& axis,
                     const Theme& theme) {
  if (!std::isfinite(total) || sum == total) return;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float em = ImGui::GetFontSize();
  const bool saves = total < sum;
  const ImU32 color = saves ? good_color(theme) : bad_color(theme);
  const float x0 = axis.pixel(std::min(sum, total)), x1 = axis.pixel(std::max(sum, total)), y = at.y + row_height / 2;
  draw.AddRectFilled({x0, at.y + row_height * 0.15f}, {std::max(x1, x0 + 1), at.y + row_height * 0.85f}, with_alpha(color, 0.35f));
  const bool told = std::isfinite(text.difference) && std::isfinite(text.percent);
  const double difference = told ? text.difference : sum - total;
  const double percent = told ? text.percent : sum > 0 ? 100 * difference / sum : 0.0;
  const std::string line = fmt::format("{} {} {} ({:.1f} %)", difference > 0 ? "▲" : "▼", difference > 0 ? text.saved : text.lost,
                                       human(std::abs(difference), text.unit), std::abs(percent));
  const float w = width_of(line), gap = em * 0.4f, top = at.y + (row_height - em) / 2;
  const bool right = x1 + gap + w <= axis.p1 + kValueWidth * em, left = x0 - w - gap >= at.x;  // nothing has its name there
  if (!right && !left) return put(draw, {std::max(axis.p0, (x0 + x1 - w) / 2), top}, ImGui::GetColorU32(ImGuiCol_Text), line);
  draw.AddLine({x0, y}, {x1, y}, color, std::max(1.f, em / 10));
  put(draw, {right ? x1 + gap : x0 - w - gap, top}, color, line);
}

}  // namespace

WaterfallPick waterfall(const char* id, std::span<const WaterfallPart> parts, double total, const WaterfallText& text, ImVec2 size,
                        const Theme& theme) {
  WaterfallPick pick;
  const float em = ImGui::GetFontSize(), row = em * 1.4f;
  if (ImGui::BeginChild(id, size)) {
    const double sum = sum_of(parts);
    const float width = ImGui::GetContentRegionAvail().x, name_width = std::min(width * 0.35f, em * 18);
    Axis axis{0, std::max({sum, std::isfinite(total) ? total : 0.0, 1e-9}), 0, 1};
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    axis.p0 = origin.x + name_width + em * 0.5f;
    axis.p1 = std::max(axis.p0 + em, origin.x + width - kValueWidth * em);
    std::vector<double> ends(parts.size());
    double end = 0;
    for (size_t i = 0; i < parts.size(); ++i) ends[i] = end += std::isfinite(parts[i].value) && parts[i].value > 0 ? parts[i].value : 0;
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(parts.size()) + 2, row);
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const auto p = static_cast<size_t>(i);
        const ImVec2 at = {origin.x, origin.y + row * static_cast<float>(i)};
        if (p > parts.size()) {
          draw_difference(sum, total, text, at, row, axis, theme);
          continue;
        }
        const ImVec2 end_of_row = {at.x + width, at.y + row};
        if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(at, end_of_row)) {
          pick.hovered = i;
          if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) pick.clicked = i;
          ImGui::GetWindowDrawList()->AddRectFilled(at, end_of_row, ImGui::GetColorU32(ImGuiCol_HeaderHovered, 0.4f));
        }
        if (p == parts.size()) {
          draw_bar({text.total_name, 0, std::max(0.0, total), 0, 0, total <= sum ? good_color(theme) : bad_color(theme)}, at, row,
                   name_width, axis, text.unit);
        } else {
          const double begin = p == 0 ? 0 : ends[p - 1];
          const bool real = std::isfinite(parts[p].value) && parts[p].value >= 0;
          draw_bar({parts[p].name, begin, real ? ends[p] : std::nan(""), begin + parts[p].low, begin + parts[p].high, parts[p].color}, at,
                   row, name_width, axis, text.unit);
        }
      }
    }
    clipper.End();
  }
  ImGui::EndChild();
  return pick;
}

void share_bar(double share, std::string_view text, ImU32 color) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = ImGui::GetTextLineHeight();
  if (std::isfinite(share) && share > 0) {
    const float filled = width * static_cast<float>(std::clamp(share, 0.0, 1.0));
    ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + std::max(1.f, filled), at.y + height}, with_alpha(color, 0.45f));
  }
  const float room = width - width_of(text);
  if (room > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room);
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
}

int legend(const char* id, std::span<const LegendWord> entries) {
  const float em = ImGui::GetFontSize();
  const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  int clicked = -1;
  ImGui::PushID(id);
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::string word = short_text(entries[i].word.empty() ? "(none)" : entries[i].word, 28);
    const ImVec2 size = {width_of(word) + em * 1.3f, ImGui::GetTextLineHeight()};
    if (i > 0) {
      ImGui::SameLine(0, em);
      if (ImGui::GetCursorScreenPos().x + size.x > right) ImGui::NewLine();
    }
    ImGui::PushID(static_cast<int>(i));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (ImGui::InvisibleButton("word", size)) clicked = static_cast<int>(i);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImU32 ink = ImGui::GetColorU32(entries[i].hidden ? ImGuiCol_TextDisabled : ImGuiCol_Text);
    const ImVec2 box = {at.x + em * 0.9f, at.y + size.y * 0.5f + em * 0.4f};
    if (entries[i].hidden) {
      draw.AddRect({at.x + em * 0.1f, box.y - em * 0.8f}, box, ink);
      draw.AddLine({at.x + em * 1.2f, at.y + size.y / 2}, {at.x + size.x, at.y + size.y / 2}, ink);
    } else {
      draw.AddRectFilled({at.x + em * 0.1f, box.y - em * 0.8f}, box, entries[i].color);
    }
    put(draw, {at.x + em * 1.2f, at.y}, ink, word);
    if (ImGui::IsItemHovered()) draw.AddLine({at.x + em * 1.2f, at.y + size.y}, {at.x + size.x, at.y + size.y}, ink);
    ImGui::PopID();
  }
  ImGui::PopID();
  return clicked;
}

}  // namespace ui
