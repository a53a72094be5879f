// Dashes are laid along the part of a line that is seen. Marks are discs while they are few, then polygons without smooth edges, and dots
// below a few pixels: a smooth circle costs as much as thirty dots.
#include "ui/roofline_draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>

#include "ui/plot_widgets.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace ui {
namespace {

using Limits = Ceiling::Limits;

constexpr size_t kMostDiscs = 600;
constexpr int kCorners = 12;

std::string name_of(const Ceiling& c) {
  return fmt::format("{} {}{}", short_text(c.name, 30), human(c.per_s, c.is_diagonal() ? "_bytes_per_s" : "_flops_per_s"),
                     c.is_published() ? " published" : "");
}

/// The part of a line inside a frame (Liang and Barsky 1984); both ends equal: there is none.
std::pair<ImVec2, ImVec2> clipped(ImVec2 a, ImVec2 b, const Frame& f) {
  float t0 = 0, t1 = 1;
  const float dx = b.x - a.x, dy = b.y - a.y;
  for (const auto& [p, q] : {std::pair{-dx, a.x - f.min.x}, {dx, f.max.x - a.x}, {-dy, a.y - f.min.y}, {dy, f.max.y - a.y}}) {
    if (p == 0 && q < 0) return {a, a};
    if (p < 0) t0 = std::max(t0, q / p);
    if (p > 0) t1 = std::min(t1, q / p);
  }
  if (t0 >= t1) return {a, a};
  return {{a.x + t0 * dx, a.y + t0 * dy}, {a.x + t1 * dx, a.y + t1 * dy}};
}

struct Stroke {
  ImU32 color = 0;
  float width = 1;
  float dash = 0, gap = 0;  ///< 0: solid
};

void draw_line(const Frame& f, ImVec2 a, ImVec2 b, const Stroke& stroke) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const auto [from, to] = clipped(a, b, f);
  const float length = std::hypot(to.x - from.x, to.y - from.y);
  if (!(length > 0)) return;
  if (stroke.dash <= 0) return draw.AddLine(from, to, stroke.color, stroke.width);
  const ImVec2 step = {(to.x - from.x) / length, (to.y - from.y) / length};
  for (float at = 0; at < length; at += stroke.dash + stroke.gap) {
    const float end = std::min(length, at + stroke.dash);
    draw.AddLine({from.x + step.x * at, from.y + step.y * at}, {from.x + step.x * end, from.y + step.y * end}, stroke.color, stroke.width);
  }
}

Stroke stroke_of(const Ceiling& c, const Roofline& roof) {
  const float em = ImGui::GetFontSize();
  const bool is_roof = c.limits != Limits::cache && c.per_s == roof.best(c.limits);
  const float alpha = is_roof ? 0.9f : c.limits == Limits::cache ? 0.45f : c.used ? 0.65f : 0.3f;
  Stroke stroke{with_alpha(ImGui::GetColorU32(ImGuiCol_Text), alpha), is_roof ? std::max(1.5f, em / 8) : 1.f};
  if (c.is_published()) stroke.dash = em * 0.7f, stroke.gap = em * 0.35f, stroke.width = std::max(1.2f, em / 10);
  if (c.limits == Limits::cache) stroke.dash = std::max(1.5f, em * 0.12f), stroke.gap = em * 0.3f;
  return stroke;
}

double highest(const std::vector<Ceiling>& ceilings, bool diagonal) {
  double most = 0;
  for (const Ceiling& c : ceilings) {
    if (c.is_diagonal() == diagonal) most = std::max(most, c.per_s);
  }
  return most;
}

/// The limit of the other kind that a line ends at: a published one at a published one, where there is one. 0: none is known.
double partner_of(const Ceiling& c, const Roofline& roof) {
  const Limits other = c.is_diagonal() ? Limits::compute : Limits::memory;
  double published = 0;
  for (const Ceiling& o : roof.ceilings) {
    if (c.is_published() && o.is_published() && o.limits == other && o.used) published = std::max(published, o.per_s);
  }
  return published > 0 ? published : roof.best(other);
}

/// Where a name stands, and the line from it to its limit.
struct Named {
  ImVec2 at, from, to;
  bool elbow = false;  ///< the line goes down beside the name
};

/// `row`: of a level limit, from the lowest; `y`: of a diagonal one.
Named place_name(const Ceiling& c, const std::vector<Ceiling>& all, const Frame& main, ImVec2 size, int row, float y) {
  const float em = ImGui::GetFontSize(), down = em * 1.25f * static_cast<float>(row);
  Named n;
  if (c.is_diagonal()) {  // left of all diagonals
    n.at.y = y;
    const double level = main.y.value(n.at.y + size.y / 2) * 1e9;
    n.at.x = std::max(main.min.x + em * 0.3f, main.x.pixel(level / highest(all, true)) - size.x - em * 1.5f);
    n.from = {n.at.x + size.x + 3, n.at.y + size.y / 2}, n.to = {main.x.pixel(level / c.per_s), n.from.y};
  } else {  // over the highest line, staggered, so that the lines down do not cross the names
    n.at.y = main.y.pixel(highest(all, false) / 1e9) - em * 1.6f - down;
    n.at.x = main.max.x - size.x - em * 0.5f;
    const float x = n.at.x - em * (0.4f + 0.7f * static_cast<float>(row));
    n.from = {x, n.at.y + size.y / 2}, n.to = {x, main.y.pixel(c.per_s / 1e9)};
    n.elbow = true;
  }
  return n;
}

Box name_ceiling(const Ceiling& c, const std::vector<Ceiling>& all, const Frame& main, int row, float y) {
  const float em = ImGui::GetFontSize();
  const std::string text = name_of(c);
  const ImVec2 size = ImGui::CalcTextSize(text.c_str());
  const Named n = place_name(c, all, main, size, row, y);
  const Box box{n.at.x - 2, n.at.y, n.at.x + size.x + 2, n.at.y + size.y};
  const auto in = [&](float x, float y) { return x >= main.min.x && x <= main.max.x && y >= main.min.y && y <= main.max.y; };
  if (!in(box.x0, box.y0) || !in(box.x1, box.y1) || !in(n.to.x, n.to.y) || (c.is_diagonal() && n.to.x < box.x1)) return {};
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImU32 ink = ImGui::GetColorU32(c.used ? ImGuiCol_Text : ImGuiCol_TextDisabled), thin = with_alpha(ink, 0.5f);
  if (n.elbow) draw.AddLine({n.at.x - 3, n.from.y}, n.from, thin);
  draw.AddLine(n.from, n.to, thin);
  draw.AddCircleFilled(n.to, em * 0.15f, ink);
  text_with_ground(draw, n.at, text, ImGui::GetColorU32(ImGuiCol_WindowBg, 0.8f), ink);
  return box;
}

void draw_disc(ImDrawList& draw, const RoofMark& mark, ImU32 color) {
  static const std::vector<ImVec2> kCircle = [] {
    std::vector<ImVec2> corners;
    for (int i = 0; i < kCorners; ++i) {
      const double turn = 6.283185307179586 * i / kCorners;
      corners.push_back({static_cast<float>(std::cos(turn)), static_cast<float>(std::sin(turn))});
    }
    return corners;
  }();
  const ImVec2 white = ImGui::GetFontTexUvWhitePixel();
  draw.PrimReserve((kCorners - 2) * 3, kCorners);
  const auto first = static_cast<ImDrawIdx>(draw._VtxCurrentIdx);
  for (int i = 2; i < kCorners; ++i) {
    draw.PrimWriteIdx(first);
    draw.PrimWriteIdx(static_cast<ImDrawIdx>(first + i - 1));
    draw.PrimWriteIdx(static_cast<ImDrawIdx>(first + i));
  }
  for (const ImVec2& corner : kCircle) draw.PrimWriteVtx({mark.x + corner.x * mark.radius, mark.y + corner.y * mark.radius}, white, color);
}

void draw_dots(ImDrawList& draw, std::span<const RoofMark> marks, std::span<const ImU32> colors) {
  constexpr size_t kBatch = 4000;
  while (!marks.empty()) {
    const auto batch = marks.first(std::min(kBatch, marks.size()));
    marks = marks.subspan(batch.size());
    draw.PrimReserve(static_cast<int>(batch.size()) * 6, static_cast<int>(batch.size()) * 4);
    for (const RoofMark& m : batch) {
      const float r = m.radius * 0.9f;
      draw.PrimRect({m.x - r, m.y - r}, {m.x + r, m.y + r}, colors[m.word]);
    }
  }
}

}  // namespace

std::vector<Ceiling> drawn_ceilings(const Roofline& roof) {
  std::vector<Ceiling> drawn;
  std::set<std::pair<std::string_view, bool>> levels;
  for (const Ceiling& c : roof.ceilings) {  // the faster first
    if (c.limits == Limits::compute && c.is_published() && !c.used) continue;
    const std::string_view level = std::string_view(c.name).substr(0, c.name.find(' '));
    if (c.limits == Limits::cache && !levels.emplace(level, c.is_published()).second) continue;
    drawn.push_back(c);
  }
  return drawn;
}

void draw_ceilings(const Roofline& roof, const Frame& main, const Frame* strip) {
  for (const Ceiling& c : drawn_ceilings(roof)) {
    const Stroke stroke = stroke_of(c, roof);
    const double partner = partner_of(c, roof);
    if (c.is_diagonal()) {
      const double lo = main.x.lo, ridge = partner > 0 ? partner / c.per_s : main.x.hi, end = std::clamp(ridge, lo, main.x.hi);
      draw_line(main, {main.x.pixel(lo), main.y.pixel(lo * c.per_s / 1e9)}, {main.x.pixel(end), main.y.pixel(end * c.per_s / 1e9)}, stroke);
      if (strip != nullptr)
        draw_line(*strip, {strip->min.x, strip->y.pixel(c.per_s / 1e9)}, {strip->max.x, strip->y.pixel(c.per_s / 1e9)}, stroke);
    } else {
      const double ridge = partner > 0 ? std::clamp(c.per_s / partner, main.x.lo, main.x.hi) : main.x.lo;
      const float y = main.y.pixel(c.per_s / 1e9);
      draw_line(main, {main.x.pixel(ridge), y}, {main.max.x, y}, stroke);
    }
  }
}

std::vector<Box> name_ceilings(const Roofline& roof, const Frame& main) {
  std::vector<Ceiling> all = drawn_ceilings(roof);
  std::ranges::stable_sort(all, std::greater<>(), &Ceiling::per_s);  // rows from the steepest line to the flattest
  std::vector<Box> taken;
  const float em = ImGui::GetFontSize();
  int row = 0;
  float y = main.min.y + (main.max.y - main.min.y) * 0.35f;
  for (const Ceiling& c : all) {
    const double end = partner_of(c, roof);
    if (c.is_diagonal() && end > 0) y = std::max(y, main.y.pixel(end / 1e9) + em * 0.3f);  // above its end a line has no place for a name
    Box box = name_ceiling(c, all, main, c.is_diagonal() ? 0 : row++, y);
    if (c.is_diagonal() && box.x1 > box.x0) y += em * 1.25f;
    if (!c.is_diagonal()) box.y0 = main.min.y;  // no label above them: its line would cross the names
    if (box.x1 > box.x0) taken.push_back(box);
  }
  return taken;
}

void draw_marks(ImDrawList& draw, std::span<const RoofMark> marks, std::span<const ImU32> colors, ImU32 edge) {
  const float dot = ImGui::GetFontSize() * kDot_em;
  size_t discs = 0;
  for (; discs < marks.size() && (discs < kMostDiscs || marks[discs].radius > dot); ++discs) {
    const RoofMark& m = marks[discs];
    if (discs >= kMostDiscs) {
      draw_disc(draw, m, colors[m.word]);
      continue;
    }
    draw.AddCircleFilled({m.x, m.y}, m.radius, colors[m.word]);
    if (m.radius > 4) draw.AddCircle({m.x, m.y}, m.radius, edge);
  }
  draw_dots(draw, marks.subspan(discs), colors);
}

}  // namespace ui
