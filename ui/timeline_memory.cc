// Live bytes follow the rule of the view `memory`: parameters and constants stay all the time, other buffers from their first step to
// their last.
#include "ui/timeline_memory.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "src/report/query.h"

namespace ui {
namespace {

bool stays(const BufferBar& bar) { return bar.kind == "parameter" || bar.kind == "constant"; }

/// Puts a buffer into the first row where it has room; the largest come first, so they lie on top.
void pack(std::vector<std::vector<BufferBar>>& rows, const BufferBar& bar) {
  for (size_t i = 0; i <= rows.size() && i < TimelineMemory::kRows; ++i) {
    if (i == rows.size()) rows.emplace_back();
    auto& row = rows[i];
    const auto next = std::ranges::lower_bound(row, bar.first, {}, &BufferBar::first);
    if (next != row.end() && next->first <= bar.last) continue;
    if (next != row.begin() && std::prev(next)->last >= bar.first) continue;
    row.insert(next, bar);
    return;
  }
}

}  // namespace

Maxima::Maxima(std::vector<double> values) {
  levels_[0] = std::move(values);
  while (levels_.back().size() > 4) {
    const std::vector<double>& below = levels_.back();
    std::vector<double> level((below.size() + 3) / 4, 0);
    for (size_t i = 0; i < below.size(); ++i) level[i / 4] = std::max(level[i / 4], below[i]);
    levels_.push_back(std::move(level));
  }
}

double Maxima::largest(size_t begin, size_t end) const {
  double most = 0;
  end = std::min(end, levels_[0].size());
  for (size_t level = 0; begin < end; ++level) {
    const std::vector<double>& values = levels_[level];
    const bool top = level + 1 == levels_.size();
    while (begin < end && (top || begin % 4 != 0)) most = std::max(most, values[begin++]);
    while (begin < end && (top || end % 4 != 0)) most = std::max(most, values[--end]);
    begin /= 4, end /= 4;
  }
  return most;
}

base::Result<std::shared_ptr<const TimelineMemory>> read_memory(const model::Reader& reader, const StepModel& steps) {
  const model::Cell id = report::cell(steps.run->run);
  ASSIGN_OR_RETURN(model::Rows rows, report::ask(reader, "timeline_buffers", std::span(&id, 1)));
  auto memory = std::make_shared<TimelineMemory>();
  const size_t count = steps.run->steps.size();
  std::vector<double> change(count + 1, 0);
  size_t bars = 0;
  memory->buffers = rows.rows.size();
  for (auto& row : rows.rows) {
    BufferBar bar{std::move(row[0].text), std::move(row[1].text), std::max(0.0, number(row[2])), 0, 0};
    const size_t first = stays(bar) ? 0 : steps.run->place_from(integer_in(row[3]));
    const size_t last = stays(bar) ? count : steps.run->place_from(std::min<int64_t>(integer_in(row[4]), INT32_MAX) + 1);
    if (first >= count || last <= first) continue;
    change[first] += bar.bytes;
    change[last] -= bar.bytes;
    bar.first = static_cast<int32_t>(first);
    bar.last = static_cast<int32_t>(last) - 1;
    if (!stays(bar) && ++bars <= TimelineMemory::kMostBars) pack(memory->rows, bar);
  }
  change.pop_back();
  for (size_t i = 1; i < count; ++i) change[i] += change[i - 1];
  if (rows.rows.empty()) change.clear();
  memory->live_bytes = Maxima(std::move(change));
  memory->peak_bytes = memory->live_bytes.largest(0, count);
  return std::shared_ptr<const TimelineMemory>(std::move(memory));
}

PassClock median_clock(const RunData& run) {
  PassClock clock;
  double at_ns = 0;
  for (const StepInfo& step : run.steps) {
    clock.begin_ns.push_back(at_ns);
    if (std::isfinite(step.pass_ns) && step.pass_ns > 0) at_ns = std::min(1e18, at_ns + step.pass_ns);
  }
  clock.begin_ns.push_back(at_ns);
  return clock;
}

base::Result<std::shared_ptr<const PassClock>> read_clock(const model::Reader& reader, const StepModel& steps, int64_t pass) {
  const std::array cells = {report::cell(steps.run->run), report::cell(pass)};
  ASSIGN_OR_RETURN(const model::Rows rows, report::ask(reader, "timeline_pass", cells));
  auto clock = std::make_shared<PassClock>();
  clock->pass = pass;
  const size_t count = steps.run->steps.size();
  clock->begin_ns.assign(count + 1, std::nan(""));
  double first = INFINITY, end = 0;
  for (const auto& row : rows.rows) {
    const int32_t place = steps.places[static_cast<int32_t>(integer_in(row[0]))];
    if (place < 0) continue;
    clock->begin_ns[static_cast<size_t>(place)] = number(row[1]);
    first = std::min(first, number(row[1]));
    end = std::max(end, number(row[1]) + number(row[2]));
  }
  clock->begin_ns[count] = end;
  double at_ns = std::isfinite(first) ? first : 0;
  for (double& begin : clock->begin_ns) at_ns = begin = std::isfinite(begin) ? std::max(begin, at_ns) : at_ns;
  return std::shared_ptr<const PassClock>(std::move(clock));
}

}  // namespace ui
