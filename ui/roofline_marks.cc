// Points are dealt into cells of a size that fits their radius: a mark is left out where its cell has one already that covers it.
#include "ui/roofline_marks.h"

#include <algorithm>
#include <cmath>

namespace ui {
namespace {

constexpr float kLargest_em = 1.5f, kLeast_em = 0.16f;  ///< radius of a mark of most time, and of none
constexpr float kCell_em = 0.23f;                       ///< width of a cell of dots
constexpr size_t kLevels = 6;                           ///< cells are kCell_em · 2^level wide
constexpr size_t kColors = 16;                          ///< distinct ones in a cell; color_words makes fewer

/// The cells whose size is between a quarter and half of the radius.
size_t level_of(float radius, float cell) {
  size_t level = 0;
  for (cell *= 2; cell <= radius && level + 1 < kLevels; cell *= 2) ++level;
  return level;
}

}  // namespace

RoofCells::RoofCells(const Box& area, float cell) : area_(area), per_pixel_(1 / cell) {
  across_ = static_cast<size_t>((area.x1 - area.x0) * per_pixel_) + 2;
  words_.assign(across_ * (static_cast<size_t>((area.y1 - area.y0) * per_pixel_) + 2), 0);
}

uint16_t& RoofCells::at(float x, float y) {
  const auto column = static_cast<size_t>(std::max(0.f, (x - area_.x0) * per_pixel_));
  const auto row = static_cast<size_t>(std::max(0.f, (y - area_.y0) * per_pixel_));
  return words_[std::min(words_.size() - 1, row * across_ + std::min(column, across_ - 1))];
}

void RoofMarks::place(const Roofline& roof, const ColorWords& colors, const std::set<size_t>& hidden, const RoofView& view, size_t first) {
  view_ = view;
  for (std::vector<float>* of : {&x_, &y_, &r_}) of->clear(), of->reserve(roof.points.size());
  main_.clear(), strip_.clear();
  seen_.assign(colors.words.size(), true);
  for (const size_t word : hidden) {
    if (word < seen_.size()) seen_[word] = false;
  }
  for (const bool strip : {false, true}) {
    const Box& area = strip ? view.strip : view.main;
    cells_[strip ? 1 : 0].clear();
    if (area.x1 <= area.x0 || area.y1 <= area.y0) continue;
    for (size_t level = 0; level < kLevels; ++level)
      cells_[strip ? 1 : 0].emplace_back(area, kCell_em * view.em * static_cast<float>(1 << level));
  }
  place_more(roof, colors, first);
}

void RoofMarks::place_more(const Roofline& roof, const ColorWords& colors, size_t count) {
  const size_t begin = points(), end = begin + std::min(count, roof.points.size() - begin);
  const auto strip_width = static_cast<double>(view_.strip.x1 - view_.strip.x0);
  for (size_t i = begin; i < end; ++i) {
    const RoofPoint& p = roof.points[i];
    const Box& area = p.beside ? view_.strip : view_.main;
    const auto x =
        static_cast<float>(p.beside ? area.x0 + strip_width * static_cast<double>(p.x) : view_.x.pixel(static_cast<double>(p.x)));
    const auto y = static_cast<float>((p.beside ? view_.strip_y : view_.y).pixel(static_cast<double>(p.y)));
    const bool in = seen_[colors.of_point[i]] && x >= area.x0 - 1 && x <= area.x1 + 1 && y >= area.y0 - 1 && y <= area.y1 + 1 &&
                    (!p.beside || view_.has_strip());
    x_.push_back(in ? x : kNowhere);
    y_.push_back(y);
    r_.push_back(view_.em * std::max(kLeast_em, kLargest_em * p.root_weight));
    if (in) take(i, colors.of_point[i], p.beside);
  }
  has_grid_ = false;
}

void RoofMarks::take(size_t point, uint16_t word, bool strip) {
  std::vector<RoofCells>& cells = cells_[strip ? 1 : 0];
  if (cells.empty()) return;
  const float radius = r_[point];
  const bool is_dot = radius <= kDot_em * view_.em;
  uint16_t& there = cells[is_dot ? 0 : level_of(radius, kCell_em * view_.em)].at(x_[point], y_[point]);
  const auto bit = static_cast<uint16_t>(is_dot ? 0xFFFF : 1u << (word % kColors));
  if ((there & bit) != 0) return;
  there = static_cast<uint16_t>(there | bit);
  (strip ? strip_ : main_).push_back({x_[point], y_[point], radius, static_cast<uint32_t>(point), word});
}

void RoofMarks::make_grid() {
  has_grid_ = true;
  mark_x_.clear(), mark_y_.clear();
  for (const auto* marks : {&main_, &strip_}) {
    for (const RoofMark& mark : *marks) mark_x_.push_back(mark.x), mark_y_.push_back(mark.y);
  }
  const float left = view_.has_strip() ? std::min(view_.strip.x0, view_.main.x0) : view_.main.x0;
  grid_ = PointGrid(mark_x_, mark_y_, {left - 2, view_.main.y0 - 2, view_.main.x1 + 2, view_.main.y1 + 2}, view_.em);
}

RoofMarks::Position RoofMarks::position(size_t point) const {
  return point < x_.size() ? Position{x_[point], y_[point], r_[point], x_[point] != kNowhere} : Position{};
}

int64_t RoofMarks::at(float x, float y) {
  if (!has_grid_) make_grid();
  const float em = view_.em, reach = em * 1.9f;
  int64_t best = -1;
  float least = 1e9f;
  for (const uint32_t i : grid_.near({x - reach, y - reach, x + reach, y + reach})) {
    const RoofMark& mark = i < main_.size() ? main_[i] : strip_[i - main_.size()];
    const float distance = std::hypot(mark.x - x, mark.y - y);
    if (distance > mark.radius + em * 0.3f) continue;
    const float rank = distance <= mark.radius ? mark.radius : em * 2 + distance;
    if (rank < least) least = rank, best = mark.point;
  }
  return best;
}

std::vector<uint32_t> points_inside(const RoofMarks& marks, std::span<const float> xs, std::span<const float> ys) {
  std::vector<uint32_t> found;
  if (xs.size() < 3 || xs.size() != ys.size()) return found;
  const auto [y_lo, y_hi] = std::ranges::minmax(ys);
  if (!(y_hi - y_lo < 1e5f)) return found;
  const float top = std::floor(y_lo);
  std::vector<std::vector<float>> crossings(static_cast<size_t>(y_hi - top) + 1);  // x where the line crosses the middle of a row
  for (size_t row = 0; row < crossings.size(); ++row) {
    const float y = top + static_cast<float>(row) + 0.5f;
    for (size_t i = 0, j = xs.size() - 1; i < xs.size(); j = i++) {
      if ((ys[i] > y) != (ys[j] > y)) crossings[row].push_back((xs[j] - xs[i]) * (y - ys[i]) / (ys[j] - ys[i]) + xs[i]);
    }
    std::ranges::sort(crossings[row]);
  }
  for (size_t i = 0; i < marks.points(); ++i) {
    const RoofMarks::Position p = marks.position(i);
    if (!p.shown || p.y < top || p.y - top >= static_cast<float>(crossings.size())) continue;
    const std::vector<float>& row = crossings[static_cast<size_t>(p.y - top)];
    const auto before = std::ranges::lower_bound(row, p.x) - row.begin();
    if (before % 2 == 1) found.push_back(static_cast<uint32_t>(i));
  }
  return found;
}

}  // namespace ui
