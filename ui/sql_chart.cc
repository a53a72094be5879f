// Not more bars than pixels: of rows that share a column of pixels the largest value is drawn.
#include "ui/sql_chart.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/report/units.h"
#include "ui/plot.h"
#include "ui/run_data.h"
#include "ui/sql_data.h"
#include "ui/text.h"

namespace ui {
namespace {

struct Point {
  double x = 0, y = 0;
  size_t row = 0;
};

std::vector<Point> points_of(const model::Rows& rows, int x, int y) {
  std::vector<Point> points;
  points.reserve(rows.rows.size());
  for (size_t r = 0; r < rows.rows.size(); ++r) {
    const Point point = {x < 0 ? static_cast<double>(r) : number(rows.rows[r][static_cast<size_t>(x)]),
                         number(rows.rows[r][static_cast<size_t>(y)]), r};
    constexpr double kMost = 1e30;  // beyond it differences of floats are not finite any more
    if (std::abs(point.x) < kMost && std::abs(point.y) < kMost) points.push_back(point);
  }
  return points;
}

void choose(const char* id, const model::Rows& rows, const std::vector<int>& numbers, bool with_rows, int& chosen) {
  const std::string now = chosen < 0 ? "row" : one_line(report::heading(rows.columns[static_cast<size_t>(chosen)]), 60);
  ImGui::SetNextItemWidth(ImGui::GetFontSize() * 10);
  if (!ImGui::BeginCombo(id, now.c_str())) return;
  if (with_rows && ImGui::Selectable("row", chosen < 0)) chosen = -1;
  for (const int column : numbers) {
    ImGui::PushID(column);
    if (ImGui::Selectable("##column", column == chosen)) chosen = column;
    ImGui::SameLine(0, 0);
    ImGui::TextUnformatted(one_line(report::heading(rows.columns[static_cast<size_t>(column)]), 60).c_str());
    ImGui::PopID();
  }
  ImGui::EndCombo();
}

void draw_points(const std::vector<Point>& points, const Frame& plot, bool line, ImU32 color) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.PushClipRect(plot.min, plot.max, true);
  const float width = std::max(1.f, (plot.max.x - plot.min.x) / static_cast<float>(points.size() + 1) - 1);
  const float ground = plot.y.pixel(std::clamp(0.0, plot.y.lo, plot.y.hi));
  float last = -1e9f;
  for (size_t i = 0; i < points.size(); ++i) {
    const float x = plot.x.pixel(points[i].x), y = plot.y.pixel(points[i].y);
    if (line && i > 0) {
      draw.AddLine({plot.x.pixel(points[i - 1].x), plot.y.pixel(points[i - 1].y)}, {x, y}, color);
    } else if (!line) {
      if (points.size() > 2000 && std::abs(x - last) < 1 && std::abs(y - ground) < 1) continue;
      draw.AddRectFilled({x - width / 2, std::min(y, ground)}, {x + width / 2, std::max(y, ground)}, color);
    }
    last = x;
  }
  draw.PopClipRect();
}

void draw_tip(const model::Rows& rows, const std::vector<Point>& points, const Frame& plot) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (!ImGui::IsItemHovered() || mouse.x < plot.min.x || mouse.x > plot.max.x) return;
  const auto distance = [&](const Point& point) { return std::abs(plot.x.pixel(point.x) - mouse.x); };
  const Point& near = *std::ranges::min_element(points, {}, distance);
  ImGui::BeginTooltip();
  const std::vector<model::Cell>& row = rows.rows[near.row];
  for (size_t c = 0; c < std::min<size_t>(row.size(), 12); ++c)
    ImGui::TextUnformatted(
        fmt::format("{}: {}", one_line(report::heading(rows.columns[c]), 60), one_line(report::human(row[c], rows.columns[c]), 120))
            .c_str());
  ImGui::EndTooltip();
}

Axis axis_of(const std::vector<Point>& points, double Point::*field, bool with_zero) {
  Axis axis;
  axis.lo = axis.hi = points[0].*field;
  for (const Point& point : points) axis.lo = std::min(axis.lo, point.*field), axis.hi = std::max(axis.hi, point.*field);
  if (with_zero) axis.lo = std::min(axis.lo, 0.0), axis.hi = std::max(axis.hi, 0.0);
  if (!(axis.lo < axis.hi)) axis.lo -= 0.5, axis.hi += 0.5;
  if (!with_zero) {
    const double margin = (axis.hi - axis.lo) / static_cast<double>(points.size() + 1);
    axis.lo -= margin, axis.hi += margin;
  }
  return axis;
}

/// "_ns" of "median_ns": what reports go by.
std::string_view unit_of(std::string_view column) {
  for (const std::string_view unit : {"_ns", "_bytes", "_flops", "_percent", "_bytes_per_s", "_flops_per_s"}) {
    if (column.ends_with(unit)) return unit;
  }
  return "";
}

}  // namespace

void SqlChart::draw(const model::Rows& rows, int revision, const Theme& theme) {
  const std::vector<int> numbers = number_columns(rows);
  if (numbers.empty()) return ImGui::TextDisabled("No column holds numbers.");
  if (revision != revision_) {
    revision_ = revision, x_ = -1, y_ = numbers.back();
    for (const int column : numbers) {
      if (rows.columns[static_cast<size_t>(column)].ends_with("_ns")) y_ = column;
    }
  }
  ImGui::TextUnformatted("y");
  ImGui::SameLine();
  choose("##y", rows, numbers, false, y_);
  ImGui::SameLine();
  ImGui::TextUnformatted("over");
  ImGui::SameLine();
  choose("##x", rows, numbers, true, x_);
  ImGui::SameLine();
  ImGui::Checkbox("line", &line_);
  const std::vector<Point> points = points_of(rows, x_, y_);
  if (points.empty()) return ImGui::TextDisabled("These columns hold no numbers that can be drawn.");
  const ImVec2 min = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const ImVec2 size = {std::max(room.x, 1.f), std::max(room.y, 1.f)};
  ImGui::InvisibleButton("plot", size);
  const std::string& y = rows.columns[static_cast<size_t>(y_)];
  const std::string x = x_ < 0 ? "row" : rows.columns[static_cast<size_t>(x_)];
  const std::string x_name = one_line(report::heading(x), 60), y_name = one_line(report::heading(y), 60);
  const FrameText text = {"", unit_of(x), unit_of(y), x_name, y_name};
  const Frame plot =
      frame(text, min, {min.x + size.x, min.y + size.y}, axis_of(points, &Point::x, false), axis_of(points, &Point::y, !line_));
  draw_points(points, plot, line_, good_color(theme));
  draw_tip(rows, points, plot);
}

}  // namespace ui
