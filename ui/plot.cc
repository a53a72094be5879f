// Ticks are 1, 2 or 5 times a power of ten. What is drawn into the area must be clipped to it by the caller (PushClipRect).
#include "ui/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace ui {
namespace {

double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * 0.999999) return factor * power;
  }
  return 10 * power;
}

struct Prefix {
  double size;
  std::string_view text;
};
/// The largest unit in which the values of an axis are read.
Prefix prefix_for(double largest, std::string_view unit) {
  static constexpr Prefix kTime[] = {{1e9, " s"}, {1e6, " ms"}, {1e3, " µs"}, {1, " ns"}};
  static constexpr Prefix kBytes[] = {{1e12, " TB"}, {1e9, " GB"}, {1e6, " MB"}, {1e3, " kB"}, {1, " B"}};
  static constexpr Prefix kPlain[] = {{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}, {1, ""}};
  const std::span<const Prefix> table = unit == "_ns"      ? std::span<const Prefix>(kTime)
                                        : unit == "_bytes" ? std::span<const Prefix>(kBytes)
                                                           : kPlain;
  for (const Prefix& prefix : table) {
    if (largest >= prefix.size) return prefix;
  }
  return table.back();
}

/// A value in the unit of its size, without a tail of digits.
std::string label_of(double value, std::string_view unit) {
  const Prefix prefix = prefix_for(std::abs(value), unit);
  return fmt::format("{:.4g}{}", value / prefix.size, prefix.text);
}

std::vector<Tick> linear_ticks(const Axis& axis, float gap, std::string_view unit) {
  constexpr int kMost = 1000;
  const double finest = unit == "_count" ? 1 : 0;  // there is no half sample
  const double step = std::max(finest, round_step((axis.hi - axis.lo) * gap / std::abs(axis.p1 - axis.p0)));
  const double first = std::ceil(axis.lo / step - 1e-9);
  if (!std::isfinite(step) || !(step > 0) || !(std::abs(first) < 1e15)) return {};  // beyond that neighbours are the same number
  const Prefix prefix = prefix_for(std::max(std::abs(axis.lo), std::abs(axis.hi)), unit);
  const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step / prefix.size) - 1e-9)), 0, 12);
  std::vector<Tick> out;
  for (int i = 0; i < kMost && (first + i) * step <= axis.hi + step * 1e-9; ++i) {
    const double value = (first + i) * step, shown = value / prefix.size + 0.0;  // + 0: no "-0"
    out.push_back({value, std::abs(shown) < 1e6 ? fmt::format("{:.{}f}{}", shown, decimals, prefix.text) : label_of(value, unit)});
  }
  return out;
}

/// Powers of ten, with 2 and 5 times them where there is room; where not even a factor of three is seen, as on a linear axis.
std::vector<Tick> log_ticks(const Axis& axis, float gap, std::string_view unit) {
  const double decades = std::log10(axis.hi) - std::log10(axis.lo);
  const double per_decade = std::abs(axis.p1 - axis.p0) / std::max(1e-9, decades);
  if (decades < 0.5) return linear_ticks(axis, gap, unit);
  static constexpr double kFine[] = {1, 2, 5}, kCoarse[] = {1};
  const std::span<const double> factors = per_decade * 0.3 >= gap ? std::span<const double>(kFine) : kCoarse;
  const int stride = std::max(1, static_cast<int>(std::ceil(gap / per_decade)));
  std::vector<Tick> out;
  for (int e = static_cast<int>(std::floor(std::log10(axis.lo) + 1e-9)); e <= std::log10(axis.hi) + 1e-9; ++e) {
    if (((e % stride) + stride) % stride != 0) continue;
    for (const double factor : factors) {
      const double value = factor * std::pow(10, e);
      if (value >= axis.lo * 0.999999 && value <= axis.hi * 1.000001) out.push_back({value, label_of(value, unit)});
    }
  }
  return out;
}

}  // namespace

float Axis::pixel(double v) const {
  const double t = log ? std::log(std::max(v, 1e-300) / lo) / std::log(hi / lo) : (v - lo) / (hi - lo);
  return static_cast<float>(p0 + std::clamp(t, -1e4, 1e4) * (p1 - p0));
}

double Axis::value(float at) const {
  const double t = (at - p0) / static_cast<double>(p1 - p0);
  return log ? lo * std::pow(hi / lo, t) : lo + t * (hi - lo);
}

std::vector<Tick> ticks(const Axis& axis, float gap, std::string_view unit) {
  const double pixels = std::abs(axis.p1 - axis.p0);
  if (!(axis.hi > axis.lo) || pixels < 1 || (axis.log && axis.lo <= 0)) return {};
  return axis.log ? log_ticks(axis, gap, unit) : linear_ticks(axis, gap, unit);
}

Frame frame(const FrameText& text, ImVec2 min, ImVec2 max, Axis x, Axis y) {
  const float em = ImGui::GetFontSize();
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImU32 ink = ImGui::GetColorU32(ImGuiCol_Text), grid = ImGui::GetColorU32(ImGuiCol_Border);
  const auto put = [&](ImVec2 at, std::string_view s) { draw.AddText(at, ink, s.data(), s.data() + s.size()); };
  Frame out{x, y, {min.x + em * 5, min.y + em * 1.6f}, {max.x - em * 0.6f, max.y - em * 2.8f}};
  out.max.x = std::max(out.max.x, out.min.x + 1), out.max.y = std::max(out.max.y, out.min.y + 1);
  out.x.p0 = out.min.x, out.x.p1 = out.max.x, out.y.p0 = out.max.y, out.y.p1 = out.min.y;
  put({out.min.x, min.y}, text.title);
  for (const Tick& tick : ticks(out.x, em * 5, text.x_unit)) {
    const float p = std::floor(out.x.pixel(tick.value)), w = ImGui::CalcTextSize(tick.label.c_str()).x;
    draw.AddLine({p, out.min.y}, {p, out.max.y}, grid);
    put({std::clamp(p - w / 2, out.min.x, std::max(out.min.x, max.x - w)), out.max.y + em * 0.2f}, tick.label);
  }
  for (const Tick& tick : ticks(out.y, em * 2, text.y_unit)) {
    const float p = std::floor(out.y.pixel(tick.value)), w = ImGui::CalcTextSize(tick.label.c_str()).x;
    draw.AddLine({out.min.x, p}, {out.max.x, p}, grid);
    put({out.min.x - w - em * 0.4f, p - em / 2}, tick.label);
  }
  const auto width = [](std::string_view s) { return ImGui::CalcTextSize(s.data(), s.data() + s.size()).x; };
  put({(out.min.x + out.max.x - width(text.x_label)) / 2, out.max.y + em * 1.4f}, text.x_label);
  put({std::max(out.max.x - width(text.y_label), out.min.x + width(text.title) + em), min.y}, text.y_label);
  draw.AddRect(out.min, out.max, grid);
  return out;
}

}  // namespace ui
