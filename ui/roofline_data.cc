// Williams, Waterman, Patterson: Roofline (2009). Logarithms are taken once here: frames only scale them.
#include "ui/roofline_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "src/report/query.h"
#include "ui/words.h"

namespace ui {
namespace {

constexpr double kOverRoof = 110;  ///< per cent; below that it is noise of the ceiling
constexpr double kMarginDecades = 0.25;
constexpr double kNameShare = 0.05;  ///< of the height above the highest ceiling: for the name of each

bool positive(double v) { return std::isfinite(v) && v > 0; }

float log_of(double v) { return static_cast<float>(std::log10(std::clamp(v, 1e-30, 1e30))); }

/// 0 to 1, the same for the same step, far apart for neighbours (the golden ratio's multiples).
float spread(int32_t step) {
  const double t = static_cast<double>(step) * 0.6180339887498949;
  return static_cast<float>(0.1 + 0.8 * (t - std::floor(t)));
}

void place(Roofline& out, uint32_t index) {
  const StepInfo& step = out.run->steps[index];
  if (!positive(step.median_ns) || !positive(step.pass_ns)) return void(++out.untimed);
  if (!positive(step.bytes)) return void(++out.without_traffic);
  RoofPoint point;
  point.index = index;
  point.beside = !positive(step.flops);
  point.x = point.beside ? spread(step.step) : log_of(step.flops / step.bytes);
  point.y = point.beside ? log_of(step.bytes / step.median_ns) : log_of(step.flops / step.median_ns);
  if (point.beside) ++out.beside;
  if (step.roof_percent > kOverRoof) ++out.above, out.above_ns += step.pass_ns;
  out.points.push_back(point);
}

struct Range {
  double lo = std::numeric_limits<double>::infinity(), hi = -std::numeric_limits<double>::infinity();
  void take(double v) { lo = std::min(lo, v), hi = std::max(hi, v); }
  bool empty() const { return lo > hi; }
};

/// A compute ceiling limits the steps whose types begin as it does; the first one, of f32, those that have none of their own.
void mark_used(Roofline& out) {
  constexpr std::string_view kOtherwise = "f32×f32→f32";
  std::unordered_set<std::string_view> precisions;
  for (const RoofPoint& p : out.points) {
    if (!p.beside) precisions.insert(out.run->steps[p.index].precision);
  }
  for (Ceiling& c : out.ceilings) c.used = c.is_diagonal();
  for (const std::string_view types : precisions) {
    const auto is = [&](const Ceiling& c, std::string_view begin) { return !c.is_diagonal() && begin.starts_with(c.name); };
    const bool own = std::ranges::any_of(out.ceilings, [&](const Ceiling& c) { return is(c, types); });
    for (Ceiling& c : out.ceilings) c.used = c.used || is(c, own ? types : kOtherwise);
  }
}

void set_ranges(Roofline& out) {
  Range x, y, beside;
  for (const RoofPoint& p : out.points) {
    if (p.beside) {
      beside.take(p.y);
    } else {
      x.take(p.x), y.take(p.y);
    }
  }
  const double memory = out.best(Ceiling::Limits::memory), compute = out.best(Ceiling::Limits::compute);
  double highest = 0;
  const auto named =
      std::ranges::count_if(out.ceilings, [](const Ceiling& c) { return !c.is_diagonal() && (c.used || !c.is_published()); });
  for (const Ceiling& c : out.ceilings) {
    if (c.limits == Ceiling::Limits::compute) y.take(log_of(c.per_s / 1e9)), highest = std::max(highest, c.per_s);
    if (c.limits == Ceiling::Limits::memory) beside.take(log_of(c.per_s / 1e9));
  }
  if (memory > 0 && compute > 0) x.take(log_of(compute / memory) + 1);  // a decade right of the ridge: flat roofs are seen
  if (!x.empty()) out.x_lo = x.lo - kMarginDecades, out.x_hi = x.hi + kMarginDecades;
  if (!y.empty()) out.y_lo = y.lo - kMarginDecades, out.y_hi = y.hi + kMarginDecades;
  if (highest > 0)
    out.y_hi = std::max(
        out.y_hi, log_of(highest / 1e9) + kNameShare * static_cast<double>(std::min<std::ptrdiff_t>(1 + named, 6)) * (out.y_hi - out.y_lo));
  if (!beside.empty()) out.beside_lo = beside.lo - kMarginDecades, out.beside_hi = beside.hi + kMarginDecades;
}

/// What frames would otherwise look up or add over all steps.
void prepare(Roofline& out) {
  out.point_of.assign(out.run->steps.size(), Roofline::kNoPoint);
  out.steps_drawn.reserve(out.points.size());
  for (uint32_t i = 0; i < out.points.size(); ++i) {
    out.point_of[out.points[i].index] = i;
    out.steps_drawn.push_back(out.points[i].index);
  }
  for (size_t by = 0; by < std::size(kRoofColorNames); ++by) out.colors.push_back(color_words(out, static_cast<RoofColor>(by)));
  for (const uint32_t& index : out.steps_drawn) out.sums.push_back(sum_steps(*out.run, std::span(&index, 1)));
  out.sum = sum_steps(*out.run, out.steps_drawn);
  out.predicted = !out.run->steps.empty() && out.run->steps.front().basis == "predicted";
}

}  // namespace

double Roofline::best(Ceiling::Limits limits) const {
  double measured = 0, published = 0;
  for (const Ceiling& c : ceilings) {
    if (c.limits != limits) continue;
    double& most = c.is_published() ? published : measured;
    most = std::max(most, c.per_s);
  }
  return measured > 0 ? measured : published;
}

Roofline make_roofline(std::shared_ptr<const RunData> run, std::vector<Ceiling> ceilings) {
  Roofline out;
  out.run = std::move(run);
  out.ceilings = std::move(ceilings);
  std::erase_if(out.ceilings, [](const Ceiling& c) { return !positive(c.per_s); });
  for (uint32_t i = 0; i < out.run->steps.size(); ++i) place(out, i);
  const auto time = [&](const RoofPoint& p) { return out.run->steps[p.index].pass_ns; };
  std::ranges::stable_sort(out.points, std::greater<>(), time);
  const double most = out.points.empty() ? 1 : time(out.points.front());
  for (RoofPoint& p : out.points) {
    p.weight = static_cast<float>(time(p) / most);
    p.root_weight = std::sqrt(p.weight);
  }
  mark_used(out);
  set_ranges(out);
  prepare(out);
  return out;
}

base::Result<Roofline> read_roofline(const model::Reader& reader, std::shared_ptr<const RunData> run) {
  const model::Cell id = report::cell(run->run);
  ASSIGN_OR_RETURN(const model::Rows rows, report::ask(reader, "roofs", std::span(&id, 1)));
  std::vector<Ceiling> ceilings;
  for (const std::vector<model::Cell>& row : rows.rows) {
    const auto limits = row[0].text == "memory"  ? Ceiling::Limits::memory
                        : row[0].text == "cache" ? Ceiling::Limits::cache
                                                 : Ceiling::Limits::compute;
    const auto provenance = row[3].text == "published" ? Ceiling::Provenance::published : Ceiling::Provenance::measured;
    ceilings.push_back({limits, row[1].text, number(row[2]), provenance, row[4].text});
  }
  return make_roofline(std::move(run), std::move(ceilings));
}

std::string_view color_word(const StepInfo& step, RoofColor by) {
  switch (by) {
    case RoofColor::cls:
      return step.cls;
    case RoofColor::op_type:
      return step.op_type.empty() ? std::string_view(step.opcode) : step.op_type;
    case RoofColor::phase:
      return step.phase;
    case RoofColor::bound:
      return step.bound_by;
    case RoofColor::roof:
      return !std::isfinite(step.roof_percent) ? "unknown"
             : step.roof_percent > kOverRoof   ? "over the roof"
             : step.roof_percent >= 75         ? "75 % and more"
             : step.roof_percent >= 50         ? "50 to 75 %"
             : step.roof_percent >= 25         ? "25 to 50 %"
                                               : "below 25 %";
  }
  return {};
}

ColorWords color_words(const Roofline& roofline, RoofColor by, size_t most) {
  ColorWords out;
  std::unordered_map<std::string_view, double> time;
  for (const RoofPoint& p : roofline.points) {
    const StepInfo& step = roofline.run->steps[p.index];
    time[color_word(step, by)] += step.pass_ns;
  }
  std::vector<std::pair<std::string_view, double>> sorted(time.begin(), time.end());
  std::ranges::sort(sorted, [](const auto& a, const auto& b) { return a.second != b.second ? a.second > b.second : a.first < b.first; });
  const bool rest = sorted.size() > most;
  if (rest) sorted.resize(most - 1);
  std::unordered_map<std::string_view, uint16_t> index;
  for (const auto& [word, ignored] : sorted) {
    index[word] = static_cast<uint16_t>(out.words.size());
    out.words.emplace_back(word);
  }
  if (rest) out.words.emplace_back("other");
  out.of_point.reserve(roofline.points.size());
  for (const RoofPoint& p : roofline.points) {
    const auto found = index.find(color_word(roofline.run->steps[p.index], by));
    out.of_point.push_back(found != index.end() ? found->second : static_cast<uint16_t>(out.words.size() - 1));
  }
  return out;
}

StepSum sum_steps(const RunData& run, std::span<const uint32_t> indices) {
  StepSum sum;
  for (const uint32_t i : indices) {
    const StepInfo& step = run.steps[i];
    const double calls = std::isfinite(step.calls) ? step.calls : 1;
    ++sum.steps;
    if (!positive(step.pass_ns)) continue;
    sum.pass_ns += step.pass_ns;
    sum.share += step.share;
    if (positive(step.attainable_ns)) sum.attainable_ns += step.attainable_ns * calls;
    if (positive(step.flops)) sum.flops += step.flops * calls;
    if (positive(step.bytes)) sum.bytes += step.bytes * calls;
  }
  return sum;
}

StepSum sum_points(const Roofline& roofline, std::span<const uint32_t> points) {
  StepSum sum;
  for (const uint32_t point : points) {
    const StepSum& one = roofline.sums[point];
    sum.steps += one.steps, sum.pass_ns += one.pass_ns, sum.attainable_ns += one.attainable_ns;
    sum.flops += one.flops, sum.bytes += one.bytes, sum.share += one.share;
  }
  return sum;
}

std::vector<uint32_t> roofline_order(const RunData& run) {
  std::vector<uint32_t> order(run.steps.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) {
    const double x = run.steps[a].pass_ns, y = run.steps[b].pass_ns;
    if (std::isnan(x) != std::isnan(y)) return std::isnan(y);
    return x > y || (!(x < y) && run.steps[a].name < run.steps[b].name);
  });
  return order;
}

model::Rows roofline_rows(const RunData& run, std::span<const uint32_t> indices) {
  model::Rows rows;
  rows.columns = {"step",     "class",       "intensity_flop_per_byte", "bound_by",     "median_ns",         "attainable_ns",
                  "gb_per_s", "gflop_per_s", "attainable_gflop_per_s",  "roof_percent", "published_percent", "basis"};
  rows.rows.reserve(indices.size());
  for (const uint32_t i : indices) {
    const StepInfo& s = run.steps[i];
    rows.rows.push_back({report::cell(s.name), report::cell(s.cls), real_cell(s.intensity),
                         s.bound_by.empty() ? model::Cell{} : report::cell(s.bound_by), real_cell(s.median_ns), real_cell(s.attainable_ns),
                         real_cell(s.gb_per_s), real_cell(s.gflop_per_s), real_cell(s.attainable_gflop_per_s), real_cell(s.roof_percent),
                         real_cell(s.published_percent), s.basis == "measured" ? model::Cell{} : report::cell(s.basis)});
  }
  return rows;
}

std::string roof_sentence(const StepInfo& step) {
  if (!positive(step.median_ns)) return "It has no time.";
  if (!std::isfinite(step.roof_percent)) return "The machine's limits were not measured.";
  const std::string share = fmt::format("{:.3g} % of the roof ({}-bound)", step.roof_percent, step.bound_by.empty() ? "un" : step.bound_by);
  if (step.roof_percent > kOverRoof && step.bound_by == "compute") return share + ": faster than the large product that set the ceiling.";
  if (step.roof_percent > kOverRoof) return share + ": its data fits into a cache, or the model counts bytes that it does not move.";
  return share;
}

}  // namespace ui
