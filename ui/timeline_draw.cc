// Rectangles without rounding, text only where it fits: what a frame costs is bounded by the pixels of a row.
#include "ui/timeline_draw.h"

#include <algorithm>
#include <cmath>

#include "src/base/text.h"
#include "src/report/display.h"
#include "ui/plot.h"
#include "ui/text.h"

namespace ui {
namespace {

constexpr size_t kMostBytes = 160;    ///< of a name on the screen
constexpr float kLeastHeight = 0.1f;  ///< of a row, for what hardly covers its pixel

/// Rectangles that continue each other are one.
class Bars {
 public:
  explicit Bars(ImDrawList& draw) : draw_(draw) {}
  ~Bars() { flush(); }
  Bars(const Bars&) = delete;
  Bars& operator=(const Bars&) = delete;
  void add(ImVec2 min, ImVec2 max, ImU32 color) {
    if (open_ && color == color_ && min.y == min_.y && std::abs(min.x - max_.x) < 0.01f) {
      max_.x = max.x;
      return;
    }
    flush();
    min_ = min, max_ = max, color_ = color, open_ = true;
  }
  void flush() {
    if (open_) draw_.AddRectFilled(min_, max_, color_);
    open_ = false;
  }

 private:
  ImDrawList& draw_;
  ImVec2 min_, max_;
  ImU32 color_ = 0;
  bool open_ = false;
};

/// Without so many of the first scopes that the rest fits; the last part where nothing does.
std::string_view last_scopes(std::string_view text, float width) {
  const auto width_of = [](std::string_view part) { return ImGui::CalcTextSize(part.data(), part.data() + part.size()).x; };
  while (width_of(text) > width) {
    const size_t next = text.find_first_of("/.");
    if (next == std::string_view::npos || next + 1 == text.size()) break;
    text.remove_prefix(next + 1);
  }
  return text;
}

}  // namespace

TimelineLayout timeline_layout(ImVec2 min, ImVec2 max) {
  const float em = ImGui::GetFontSize();
  TimelineLayout at{min, max, em, 0, min.y, 0, 0};
  at.labels = min.x + std::min(em * 17, (max.x - min.x) * 0.3f);
  at.ruler = at.minimap + em * 2.1f;
  at.rows = at.ruler + em * 1.6f;
  return at;
}

ImU32 ink(float alpha) { return with_alpha(ImGui::GetColorU32(ImGuiCol_Text), alpha); }
ImU32 calm(ImU32 color) { return mixed(color, ImGui::GetColorU32(ImGuiCol_WindowBg), 0.16f); }

void draw_column(ImDrawList& draw, float x, float top, float bottom, ImU32 color) {
  x = std::floor(x);
  draw.AddRectFilled({x, top}, {x + 1, bottom}, color);
}

void draw_line(ImDrawList& draw, float y, float left, float right, ImU32 color) {
  y = std::floor(y);
  draw.AddRectFilled({left, y}, {right, y + 1}, color);
}

void draw_outline(ImDrawList& draw, ImVec2 min, ImVec2 max, ImU32 color, float width) {
  width = std::max(1.f, std::floor(width));
  draw.AddRectFilled(min, {max.x, min.y + width}, color);
  draw.AddRectFilled({min.x, max.y - width}, max, color);
  draw.AddRectFilled({min.x, min.y + width}, {min.x + width, max.y - width}, color);
  draw.AddRectFilled({max.x - width, min.y + width}, {max.x, max.y - width}, color);
}

std::string time_text(double ns) { return ns == 0 ? "0 s" : base::human_seconds(ns * 1e-9); }

std::string shown_name(std::string_view name) {
  if (name.size() <= kMostBytes) return report::displayable(name);
  size_t cut = kMostBytes;
  while (cut > 0 && (static_cast<unsigned char>(name[cut]) & 0xC0) == 0x80) --cut;
  return report::displayable(name.substr(0, cut)) + "…";
}

float draw_text(ImDrawList& draw, ImVec2 at, float width, ImU32 color, std::string_view text) {
  ImFont& font = *ImGui::GetFont();
  const float size = ImGui::GetFontSize();
  if (width < size * 1.2f || text.empty()) return 0;
  if (has_scopes(text)) text = last_scopes(text, width);
  const char* end = text.data() + text.size();
  const char* fits = end;
  ImVec2 extent = font.CalcTextSizeA(size, width, 0, text.data(), end, &fits);
  if (fits >= end) {
    draw.AddText(at, color, text.data(), end);
    return extent.x;
  }
  static constexpr std::string_view kMore = "…";
  const float dots = font.CalcTextSizeA(size, 1e9f, 0, kMore.data(), kMore.data() + kMore.size()).x;
  extent = font.CalcTextSizeA(size, width - dots, 0, text.data(), end, &fits);
  if (fits - text.data() < 2) return 0;
  draw.AddText(at, color, text.data(), fits);
  draw.AddText({at.x + extent.x, at.y}, color, kMore.data(), kMore.data() + kMore.size());
  return extent.x + dots;
}

void draw_text_right(ImDrawList& draw, ImVec2 at, ImU32 color, std::string_view text) {
  const float width = ImGui::CalcTextSize(text.data(), text.data() + text.size()).x;
  draw.AddText({at.x - width, at.y}, color, text.data(), text.data() + text.size());
}

namespace {

constexpr size_t kLongestLabel = 11;

/// Do all labels differ, and are they short?
bool are_readable(const std::vector<Tick>& marks) {
  for (size_t i = 0; i < marks.size(); ++i) {
    if (marks[i].label.size() > kLongestLabel || (i > 0 && marks[i].label == marks[i - 1].label)) return false;
  }
  return true;
}

/// As far apart as the widest label needs.
std::vector<Tick> spaced_ticks(const Axis& axis, float em) {
  float gap = em * 6;
  std::vector<Tick> marks = ticks(axis, gap, "_ns");
  for (int tries = 0; tries < 4 && !marks.empty(); ++tries) {
    float widest = 0;
    for (const Tick& tick : marks) widest = std::max(widest, ImGui::CalcTextSize(tick.label.c_str()).x);
    if (widest + em < gap) break;
    gap = widest + em * 1.5f;
    marks = ticks(axis, gap, "_ns");
  }
  return marks;
}

struct Ruler {
  std::vector<Tick> ticks;
  std::string base;  ///< what the labels add to; empty: nothing
};

/// Far from 0 and close by, most digits of all labels are the same: then they tell what is added to the first tick.
Ruler ruler_of(const Axis& axis, float em) {
  Ruler ruler{spaced_ticks(axis, em), {}};
  if (ruler.ticks.empty() || are_readable(ruler.ticks)) return ruler;
  const double base = ruler.ticks[0].value;
  Axis from_base = axis;
  from_base.lo -= base, from_base.hi -= base;
  ruler = {spaced_ticks(from_base, em), time_text(base) + " +"};
  for (Tick& tick : ruler.ticks) tick.value += base;
  return ruler;
}

}  // namespace

void draw_ruler(ImDrawList& draw, const TimelineLayout& at, const TimeSpan& span) {
  const Axis axis{span.begin_ns, span.end_ns, at.labels, at.max.x, false};
  const Ruler ruler = ruler_of(axis, at.em);
  const std::vector<Tick>& marks = ruler.ticks;
  draw_text_right(draw, {at.labels - at.em * 0.5f, std::floor(at.ruler + at.em * 0.2f)}, ink(0.65f), ruler.base);
  const float base = at.rows - std::floor(at.em * 0.15f) - 1;
  draw_line(draw, base, at.labels, at.max.x, ink(0.22f));
  for (size_t i = 0; i < marks.size(); ++i) {
    const float x = axis.pixel(marks[i].value);
    draw_column(draw, x, at.ruler + at.em * 0.3f, base, ink(0.3f));
    draw_column(draw, x, base, at.max.y, ink(0.07f));
    if (x + ImGui::CalcTextSize(marks[i].label.c_str()).x + at.em * 0.4f < at.max.x) {
      draw.AddText({std::floor(x + at.em * 0.35f), std::floor(at.ruler + at.em * 0.2f)}, ink(0.65f), marks[i].label.c_str());
    }
    if (marks.size() < 2) continue;
    const double minor = (marks[1].value - marks[0].value) / 5;
    for (int k = i == 0 ? -4 : 1; k < 5; ++k) {
      const float at_x = axis.pixel(marks[i].value + k * minor);
      if (at_x >= at.labels && at_x <= at.max.x) draw_column(draw, at_x, base - std::floor(at.em * 0.2f), base, ink(0.25f));
    }
  }
}

namespace {

/// Faint lines where one slice stands for many executions.
void draw_repeats(ImDrawList& draw, ImVec2 min, ImVec2 max, double count, float em) {
  const double width = static_cast<double>(max.x - min.x), each = width / count;
  const ImU32 dark = IM_COL32(0, 0, 0, 70);
  if (!(count >= 2) || width < static_cast<double>(em) * 0.5) return;
  if (each < static_cast<double>(em) * 0.25) {  // too many to tell apart: a band
    draw.AddRectFilled({min.x, max.y - std::floor(em * 0.18f)}, max, dark);
    return;
  }
  for (double x = each; x < width - 1; x += each)
    draw_column(draw, min.x + static_cast<float>(x), max.y - std::floor(em * 0.4f), max.y, dark);
}

void draw_hatch(ImDrawList& draw, ImVec2 min, ImVec2 max, float em) {
  const float gap = std::floor(em * 0.45f), height = max.y - min.y;
  draw.PushClipRect(min, max, true);
  for (float x = min.x - height; x < max.x; x += gap)
    draw.AddLine({x, max.y}, {x + height, min.y}, IM_COL32(0, 0, 0, 80), std::max(1.f, em * 0.09f));
  draw.PopClipRect();
}

}  // namespace

void draw_marks(ImDrawList& draw, std::span<const timeline::Mark> marks, const MarkStyle& style, float em) {
  const float height = style.max.y - style.min.y, width = style.max.x - style.min.x;
  Bars bars(draw);
  for (const timeline::Mark& mark : marks) {
    const float x0 = style.min.x + std::clamp(mark.x0, 0.f, width);
    float x1 = style.min.x + std::clamp(mark.x1, 0.f, width);
    if (x1 - x0 > em * 0.3f) x1 -= 1;  // neighbours of one colour stay apart
    const float covered = mark.busy >= 0.999f ? 1 : std::max(kLeastHeight, mark.busy);
    bars.add({x0, std::floor(style.max.y - height * covered)}, {std::max(x1, x0 + 1), style.max.y}, style.color(mark));
  }
  bars.flush();
  if (!style.has_text) return;
  for (const timeline::Mark& mark : marks) {
    const float x0 = style.min.x + std::clamp(mark.x0, 0.f, width), x1 = style.min.x + std::clamp(mark.x1, 0.f, width);
    const float room = x1 - x0 - em * 0.5f;
    if (room < em * 0.3f || mark.busy < 0.999f) continue;
    if (style.hatched && style.hatched(mark)) draw_hatch(draw, {x0, style.min.y}, {x1 - 1, style.max.y}, em);
    if (style.repeats) draw_repeats(draw, {x0, style.min.y}, {x1 - 1, style.max.y}, style.repeats(mark), em);
    if (room < em * 1.3f) continue;
    const bool two = height >= em * 2.2f && style.detail != nullptr && room > em * 4;
    const ImU32 ground = style.color(mark),
                color = (ground >> IM_COL32_A_SHIFT) < 140 ? ink(0.9f) : text_on(ground);  // what shines through
    const float y = std::floor(style.min.y + (height - em * (two ? 2.15f : 1.1f)) / 2);
    draw_text(draw, {std::floor(x0 + em * 0.3f), y}, room, color, style.text(mark));
    if (two) draw_text(draw, {std::floor(x0 + em * 0.3f), y + std::floor(em * 1.05f)}, room, with_alpha(color, 0.7f), style.detail(mark));
  }
}

}  // namespace ui
