// The rows of a comparison as plain records, so that they can be sorted and drawn without looking for columns by name.
#include "ui/compare_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/report/query.h"
#include "ui/run_data.h"
#include "ui/words.h"

namespace ui {
namespace {

using S = ComparedStep;
// clang-format off
constexpr CompareColumn kCompareColumns[] = {
    {"step", "step", [](const S& s) -> std::string_view { return s.name; }, nullptr, 11, false},
    {"verdict", "verdict", [](const S& s) -> std::string_view { return s.verdict; }, nullptr, 6, false},
    {"faster ◂ ▸ slower", "bar", nullptr, [](const S& s) { return s.percent; }, 11, false},
    {"change", "change_percent", nullptr, [](const S& s) { return s.percent; }, 5, false},
    {"change a pass", "change_a_pass_ns", nullptr, [](const S& s) { return s.change_ns; }, 7, false},
    {"before", "before_ns", nullptr, [](const S& s) { return s.before_ns; }, 5, false},
    {"after", "after_ns", nullptr, [](const S& s) { return s.after_ns; }, 5, false},
    {"matched by", "matched_by", [](const S& s) -> std::string_view { return s.matched_by; }, nullptr, 7, false},
    {"was", "before_step", [](const S& s) -> std::string_view { return s.before_name; }, nullptr, 8, false},
    {"class", "class", [](const S& s) -> std::string_view { return s.cls; }, nullptr, 5, false},
    {"at least", "at_least_percent", nullptr, [](const S& s) { return s.low_percent; }, 5, true},
    {"at most", "at_most_percent", nullptr, [](const S& s) { return s.high_percent; }, 5, true},
};
// clang-format on

const model::Cell& cell_of(const model::Rows& rows, size_t row, std::string_view column) {
  static const model::Cell kNone;
  const auto found = std::ranges::find(rows.columns, column);
  return found == rows.columns.end() || row >= rows.rows.size() ? kNone : rows.rows[row][static_cast<size_t>(found - rows.columns.begin())];
}

void read_total(const model::Rows& total, Compared& out) {
  const auto real = [&](std::string_view column) { return number(cell_of(total, 0, column)); };
  const auto count = [&](std::string_view column) { return cell_of(total, 0, column).integer; };
  out.before_ns = real("before_ns"), out.after_ns = real("after_ns");
  out.percent = real("change_percent"), out.low_percent = real("at_least_percent"), out.high_percent = real("at_most_percent");
  out.alike_percent = real("alike_percent"), out.noise_percent = real("noise_percent");
  out.verdict = cell_of(total, 0, "verdict").text;
  out.matched = count("matched"), out.slower = count("slower"), out.faster = count("faster"), out.same = count("same");
  out.not_judged = count("not_judged"), out.fresh = count("new"), out.gone = count("gone");
}

void make_dots(Compared& out) {
  std::vector<double> sizes;
  for (uint32_t i = 0; i < out.steps.size(); ++i) {
    const S& s = out.steps[i];
    if (std::isfinite(s.percent)) sizes.push_back(std::max({std::abs(s.percent), std::abs(s.low_percent), std::abs(s.high_percent)}));
    if (!(s.before_ns > 0 && s.after_ns > 0 && std::max(s.before_ns, s.after_ns) < 1e18)) continue;
    const bool first = out.dots.empty();
    out.lo_ns = std::min({first ? s.before_ns : out.lo_ns, s.before_ns, s.after_ns});
    out.hi_ns = std::max({out.hi_ns, s.before_ns, s.after_ns});
    const uint8_t rank = s.verdict.starts_with("slower") ? 2 : s.verdict.starts_with("faster") ? 1 : 0;
    out.dots.push_back({static_cast<float>(std::log10(s.before_ns)), static_cast<float>(std::log10(s.after_ns)), rank, i});
  }
  if (sizes.empty()) return;
  const auto usual = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() * 95 / 100);
  std::ranges::nth_element(sizes, usual);
  out.usual_percent = std::max(*usual, 0.1);
}

}  // namespace

Compared compared(const report::Comparison& comparison) {
  Compared out;
  const model::Rows& rows = comparison.steps;
  for (size_t i = 0; i < rows.rows.size(); ++i) {
    const auto text = [&](std::string_view column) { return cell_of(rows, i, column).text; };
    const auto real = [&](std::string_view column) { return number(cell_of(rows, i, column)); };
    S& step = out.steps.emplace_back();
    step.name = text("step"), step.cls = text("class"), step.verdict = text("verdict");
    step.matched_by = text("matched_by"), step.before_name = text("before_step");
    step.before_ns = real("before_ns"), step.after_ns = real("after_ns"), step.change_ns = real("change_a_pass_ns");
    step.percent = real("change_percent"), step.low_percent = real("at_least_percent"), step.high_percent = real("at_most_percent");
    if (i < comparison.pairs.size()) step.before_step = comparison.pairs[i].before, step.after_step = comparison.pairs[i].after;
  }
  read_total(comparison.total, out);
  make_dots(out);
  for (const std::vector<model::Cell>& row : comparison.differences.rows) {
    const auto or_none = [](const std::string& text) { return text.empty() ? std::string("none") : text; };
    out.differences.push_back(fmt::format("{}: {}, then {}", row[0].text, or_none(row[1].text), or_none(row[2].text)));
  }
  return out;
}

std::span<const CompareColumn> compare_columns() { return kCompareColumns; }

int compare_column(std::string_view name) {
  return static_cast<int>(std::ranges::find(kCompareColumns, name, &CompareColumn::name) - std::begin(kCompareColumns));
}

std::vector<uint32_t> arrange_compared(const Compared& compared, const CompareView& view) {
  const std::vector<std::string> words = words_of(view.words);
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < compared.steps.size(); ++i) {
    const S& s = compared.steps[i];
    if (s.verdict.starts_with(view.verdict) && has_all(words, {s.name, s.before_name, s.cls, s.verdict, s.matched_by})) order.push_back(i);
  }
  if (view.column < 0 || view.column >= static_cast<int>(std::size(kCompareColumns))) return order;
  const CompareColumn& by = kCompareColumns[view.column];
  const bool sizes = by.name == "change_a_pass_ns" || by.name == "bar";
  if (by.text != nullptr) {
    std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) {
      const std::string_view x = by.text(compared.steps[a]), y = by.text(compared.steps[b]);
      if (x.empty() || y.empty()) return !x.empty() && y.empty();
      return view.descending ? y < x : x < y;
    });
    return order;
  }
  std::ranges::stable_sort(order, {}, [&](uint32_t i) {
    const double value = by.number(compared.steps[i]), key = sizes ? std::abs(value) : value;
    return std::isfinite(key) ? (view.descending ? -key : key) : std::numeric_limits<double>::infinity();
  });
  return order;
}

model::Rows rows_of(const Compared& compared, std::span<const uint32_t> order) {
  model::Rows rows;
  for (const CompareColumn& column : kCompareColumns) {
    if (column.name != "bar") rows.columns.emplace_back(column.name);
  }
  for (const uint32_t i : order) {
    std::vector<model::Cell>& row = rows.rows.emplace_back();
    for (const CompareColumn& column : kCompareColumns) {
      if (column.name == "bar") continue;
      row.push_back(column.text != nullptr ? report::cell(column.text(compared.steps[i])) : real_cell(column.number(compared.steps[i])));
    }
  }
  return rows;
}

}  // namespace ui
