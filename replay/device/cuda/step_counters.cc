// Ranges are named by the steps' numbers. One a step and pass: their number is known before, whatever loops do.
#include "replay/device/cuda/step_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace replay::cuda {
namespace {

constexpr int kMostPasses = 200;  ///< no chip needs more for all counters that there are

/// "1 range", "2 ranges".
std::string number(size_t count, std::string_view of) { return fmt::format("{} {}{}", count, of, count == 1 ? "" : "s"); }

base::Result<int32_t> step_of(const std::string& name) {
  int32_t step = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  if (error != std::errc() || end != name.data() + name.size() || step < 0)
    return base::Error{fmt::format("CUPTI gives a range '{}' that was not pushed", name)};
  return step;
}

}  // namespace

base::Result<std::unique_ptr<StepCounters>> StepCounters::open(const Opener& opener, const Gpu& gpu, std::vector<Counter> counters) {
  std::vector<std::string> metrics;
  for (const Counter& counter : counters) metrics.emplace_back(counter.metric);
  ASSIGN_OR_RETURN(auto profiler, RangeProfiler::open(opener, gpu.context(), gpu.device(), metrics));
  return std::unique_ptr<StepCounters>(new StepCounters(std::move(profiler), std::move(counters)));
}

base::Status StepCounters::begin_pass(const std::vector<bool>& ranges) {
  open_ = ranges;
  ranges_ = static_cast<size_t>(std::ranges::count(ranges, true));
  if (passes_ == 0) RETURN_IF_ERROR(profiler_->begin(std::max<size_t>(ranges_, 1)));
  RETURN_IF_ERROR(profiler_->start_pass());
  counting_ = true;
  return {};
}

base::Result<bool> StepCounters::push(StepId step) {
  const auto s = static_cast<size_t>(step);
  if (!counting_ || s >= open_.size() || !open_[s]) return false;
  open_[s] = false;
  RETURN_IF_ERROR(profiler_->push(std::to_string(step)));
  return true;
}

base::Status StepCounters::pop() { return profiler_->pop(); }

base::Result<bool> StepCounters::end_pass() {
  counting_ = false;
  ASSIGN_OR_RETURN(const bool all, profiler_->stop_pass());
  if (++passes_ == kMostPasses && !all) return base::Error{fmt::format("CUPTI wants more than {} passes", kMostPasses)};
  return all;
}

base::Result<model::Counters> StepCounters::read() {
  ASSIGN_OR_RETURN(const auto ranges, profiler_->ranges());
  const RangeConfig& config = profiler_->config();
  ASSIGN_OR_RETURN(model::Counters found, counters_of(counters_, config.metrics(), config.chip(), ranges));
  found.how = how_counted(config, ranges.size(), profiler_->data_bytes(), passes_);
  return found;
}

base::Result<model::Counters> counters_of(std::span<const Counter> counters, const std::vector<std::string>& metrics, std::string_view chip,
                                          std::span<const RangeProfiler::Range> ranges) {
  model::Counters found;
  for (const Counter& counter : counters) {
    const auto column = std::ranges::find(metrics, counter.metric) - metrics.begin();
    const bool known = column < std::ssize(metrics);
    const auto number = static_cast<int32_t>(found.counters.size());
    const size_t before = found.values.size();
    for (const RangeProfiler::Range& range : ranges) {
      ASSIGN_OR_RETURN(const int32_t step, step_of(range.name));
      const double value = known ? range.values.at(static_cast<size_t>(column)) : NAN;
      if (std::isfinite(value)) found.values.push_back({.step = step, .counter = number, .value = value});
    }
    const std::string why = !known                          ? fmt::format("{} has no such metric", chip)
                            : found.values.size() == before ? "CUPTI gives no value"
                                                            : "";
    found.counters.push_back({std::string(counter.name), std::string(counter.metric), std::string(counter.unit), why});
  }
  return found;
}

std::string how_counted(const RangeConfig& config, size_t ranges, size_t data_bytes, int passes) {
  const std::string replays = passes == 1 ? "1 pass over the program, no replay"
                                          : fmt::format("{} passes over the program, each from the same inputs: {}", passes,
                                                        number(static_cast<size_t>(passes - 1), "replay"));
  return fmt::format("{} of {} in {}; {}, each a step's first run in a pass; config image {} bytes, counter data {} bytes",
                     number(config.metrics().size(), "counter"), config.chip(), replays, number(ranges, "range"), config.image().size(),
                     data_bytes);
}

}  // namespace replay::cuda
