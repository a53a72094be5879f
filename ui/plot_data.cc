// Freedman, Diaconis: On the histogram as a density estimator (1981). Everything here is linear in what it is given, but for a sort.
#include "ui/plot_data.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/report/display.h"

namespace ui {
namespace {

/// Values farther from the quartiles than this many interquartile ranges stand beside the histogram.
constexpr double kFar = 4;

std::vector<double> finite_sorted(std::span<const double> values) {
  std::vector<double> out;
  out.reserve(values.size());
  std::ranges::copy_if(values, std::back_inserter(out), [](double v) { return std::isfinite(v); });
  std::ranges::sort(out);
  return out;
}

double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double t = at - static_cast<double>(below);
  return sorted[below] * (1 - t) + sorted[above] * t;  // not a + t(b − a): that overflows
}

size_t cell_of(double v, double lo, double hi, size_t cells) {
  const double t = (v / 2 - lo / 2) / (hi / 2 - lo / 2);  // halves: hi − lo may overflow
  return std::min(cells - 1, static_cast<size_t>(std::max(0.0, t) * static_cast<double>(cells)));
}

}  // namespace

int Bins::most() const { return counts.empty() ? 0 : *std::ranges::max_element(counts); }

double median_of(std::span<const double> values) {
  const std::vector<double> sorted = finite_sorted(values);
  return sorted.empty() ? std::numeric_limits<double>::quiet_NaN() : quantile(sorted, 0.5);
}

Bins bins_of(std::span<const double> values, size_t most) {
  const std::vector<double> sorted = finite_sorted(values);
  Bins out;
  out.used = static_cast<int>(std::min<size_t>(sorted.size(), std::numeric_limits<int>::max()));
  if (sorted.empty()) return out;
  const double q1 = quantile(sorted, 0.25), q3 = quantile(sorted, 0.75), range = q3 - q1;
  out.lo = sorted.front(), out.hi = sorted.back();
  if (range > 0 && std::isfinite(range)) {
    out.lo = std::max(out.lo, q1 - kFar * range);
    out.hi = std::min(out.hi, q3 + kFar * range);
  }
  if (!(out.hi > out.lo)) {  // all the same
    out.counts = {out.used};
    return out;
  }
  const double n = static_cast<double>(sorted.size());
  const double width = range > 0 ? 2 * range / std::cbrt(n) : 0;
  const double wanted = width > 0 ? std::ceil((out.hi - out.lo) / width) : std::ceil(std::log2(n)) + 1;  // Sturges, where the IQR is 0
  const size_t cells = std::isfinite(wanted) ? static_cast<size_t>(std::clamp(wanted, 1.0, static_cast<double>(most))) : most;
  out.counts.assign(std::max<size_t>(1, cells), 0);
  for (const double v : sorted) {
    if (v < out.lo) {
      ++out.below;
    } else if (v > out.hi) {
      ++out.above;
    } else {
      ++out.counts[cell_of(v, out.lo, out.hi, out.counts.size())];
    }
  }
  return out;
}

std::vector<Extent> extents(std::span<const double> values, size_t columns) {
  std::vector<Extent> out(columns);
  if (columns == 0) return out;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto v = static_cast<float>(values[i]);
    if (!std::isfinite(v)) continue;
    const size_t first = i * columns / values.size();
    const size_t last = std::max(first + 1, (i + 1) * columns / values.size());  // a value may cover several columns
    for (size_t c = first; c < last; ++c) {
      Extent& e = out[c];
      e = e.lo > e.hi ? Extent{v, v} : Extent{std::min(e.lo, v), std::max(e.hi, v)};
    }
  }
  return out;
}

std::vector<StackColumn> stack_columns(std::span<const double> sums, double first, double last, size_t columns) {
  std::vector<StackColumn> out(columns);
  if (columns == 0 || sums.empty() || !(last > first)) return out;
  const double per_column = (last - first) / static_cast<double>(columns);
  const double end = static_cast<double>(sums.size());
  for (size_t c = 0; c < columns; ++c) {
    const double begin_at = first + per_column * static_cast<double>(c), end_at = begin_at + per_column;
    if (!(end_at > 0) || !(begin_at < end)) continue;
    const auto from = static_cast<size_t>(std::max(0.0, begin_at));
    const auto to = std::max(from + 1, static_cast<size_t>(std::min(end, std::ceil(end_at))));
    for (size_t i = from; i < std::min(to, sums.size()); ++i) {
      if (std::isfinite(sums[i]) && (out[c].index < 0 || sums[i] > out[c].sum)) out[c] = {static_cast<int64_t>(i), sums[i]};
    }
  }
  return out;
}

namespace {

/// Where a label may stand, the nearest first: around the point, then farther out.
std::vector<Box> places_for(const LabelWish& w) {
  struct Direction {
    float x, y;
  };
  static constexpr Direction kDirections[] = {{1, 0}, {-1, 0}, {0, -1}, {0, 1}, {0.7f, -0.7f}, {0.7f, 0.7f}, {-0.7f, -0.7f}, {-0.7f, 0.7f}};
  constexpr int kRings = 7;
  std::vector<Box> out;
  for (int ring = 0; ring < kRings; ++ring) {
    const float reach = w.radius + w.height * (0.15f + 1.1f * static_cast<float>(ring));
    for (const Direction& d : kDirections) {
      const float x = w.x + d.x * (reach + w.width / 2), y = w.y + d.y * (reach + w.height / 2);
      // Straight up and down and to the diagonals the width does not push away.
      const float side = d.x == 0 ? x - w.width / 2 : d.x > 0 ? w.x + d.x * reach : w.x + d.x * reach - w.width;
      out.push_back({side, y - w.height / 2, side + w.width, y + w.height / 2});
    }
  }
  return out;
}

}  // namespace

std::vector<Box> place_labels(std::span<const LabelWish> wishes, const Box& area, std::span<const Box> before) {
  std::vector<Box> out(wishes.size());
  std::vector<Box> taken(before.begin(), before.end());
  for (size_t i = 0; i < wishes.size(); ++i) {
    for (const Box& box : places_for(wishes[i])) {
      if (!(box.x0 >= area.x0 && box.y0 >= area.y0 && box.x1 <= area.x1 && box.y1 <= area.y1)) continue;
      if (std::ranges::any_of(taken, [&](const Box& other) { return box.overlaps(other); })) continue;
      out[i] = box;
      taken.push_back(box);
      break;
    }
  }
  return out;
}

int PointGrid::column(float x) const { return std::clamp(static_cast<int>((x - area_.x0) / cell_), 0, columns_ - 1); }
int PointGrid::row(float y) const { return std::clamp(static_cast<int>((y - area_.y0) / cell_), 0, rows_ - 1); }

PointGrid::PointGrid(std::span<const float> x, std::span<const float> y, const Box& area, float cell)
    : area_(area), cell_(std::max(cell, 1.f)) {
  columns_ = std::clamp(static_cast<int>((area.x1 - area.x0) / cell_) + 1, 1, 4096);
  rows_ = std::clamp(static_cast<int>((area.y1 - area.y0) / cell_) + 1, 1, 4096);
  begin_.assign(static_cast<size_t>(columns_) * static_cast<size_t>(rows_) + 1, 0);
  const auto cell_at = [&](size_t i) {
    return static_cast<size_t>(row(y[i])) * static_cast<size_t>(columns_) + static_cast<size_t>(column(x[i]));
  };
  for (size_t i = 0; i < x.size(); ++i) {
    if (area.contains(x[i], y[i])) ++begin_[cell_at(i) + 1];
  }
  for (size_t c = 1; c < begin_.size(); ++c) begin_[c] += begin_[c - 1];
  points_.resize(begin_.back());
  std::vector<uint32_t> next(begin_.begin(), begin_.end() - 1);
  for (size_t i = 0; i < x.size(); ++i) {
    if (area.contains(x[i], y[i])) points_[next[cell_at(i)]++] = static_cast<uint32_t>(i);
  }
}

std::vector<uint32_t> PointGrid::near(const Box& box) const {
  std::vector<uint32_t> out;
  if (columns_ == 0 || !box.overlaps(area_)) return out;
  for (int r = row(box.y0); r <= row(box.y1); ++r) {
    for (int c = column(box.x0); c <= column(box.x1); ++c) {
      const size_t at = static_cast<size_t>(r) * static_cast<size_t>(columns_) + static_cast<size_t>(c);
      out.insert(out.end(), points_.begin() + begin_[at], points_.begin() + begin_[at + 1]);
    }
  }
  return out;
}

bool inside(std::span<const float> xs, std::span<const float> ys, float x, float y) {
  bool in = false;
  for (size_t i = 0, j = xs.size() - 1; i < xs.size(); j = i++) {
    if ((ys[i] > y) != (ys[j] > y) && x < (xs[j] - xs[i]) * (y - ys[i]) / (ys[j] - ys[i]) + xs[i]) in = !in;
  }
  return in;
}

std::string short_text(std::string_view text, size_t most) {
  // A name may be a megabyte: what is cut away is not looked at.
  if (text.size() > most * 8 + 64) {
    const size_t keep = most * 4 + 16;
    return report::cut_middle(report::displayable(std::string(text.substr(0, keep)) + std::string(text.substr(text.size() - keep))), most);
  }
  return report::cut_middle(report::displayable(text), most);
}

}  // namespace ui
