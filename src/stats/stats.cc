// Order statistics of timings. Everything rests on sorted values: means and standard deviations say little about timings,
// whose noise is one-sided (interrupts, other processes) and has no variance worth the name.
#include "src/stats/stats.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <vector>

namespace stats {
namespace {

constexpr double kTail = 0.025;       ///< each side of a 95 % interval
constexpr int64_t kFewSamples = 3;    ///< the protocol never takes fewer unless one pass exceeds the budget
constexpr double kShortNs = 1000;     ///< below this the start of a step costs as much as its work
constexpr double kTimerTicks = 100;   ///< a sample of fewer ticks has more than 1 % of rounding
constexpr size_t kDriftMinimum = 12;  ///< thirds of four
constexpr size_t kBimodalMinimum = 15;
constexpr double kSmallestShift = 0.01;  ///< a difference of less than 1 % of the median is not worth a flag

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

/// Quantile `p` of sorted values by linear interpolation (type 7 of Hyndman and Fan 1996; numpy's default).
double quantile(std::span<const double> ascending, double p) {
  if (ascending.empty()) return 0;
  const double at = p * static_cast<double>(ascending.size() - 1);
  const auto low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, ascending.size() - 1);
  return ascending[low] + (at - static_cast<double>(low)) * (ascending[high] - ascending[low]);
}

double iqr(std::span<const double> ascending) { return quantile(ascending, 0.75) - quantile(ascending, 0.25); }

/// The largest k with P(B ≤ k) ≤ 2.5 % for B ~ Binomial(n, 1/2), or -1 if there is none (n < 6): the interval between the order
/// statistics k and n-1-k (from 0) covers the median with ≥ 95 % whatever the distribution is. Sums in logarithms: 2^-n underflows.
int64_t interval_rank(int64_t n) {
  double log_term = -static_cast<double>(n) * std::log(2.0);
  double below = 0;
  for (int64_t k = 0; k < n; ++k) {
    if (k > 0) log_term += std::log(static_cast<double>(n - k + 1) / static_cast<double>(k));
    below += std::exp(log_term);
    if (below > kTail) return k - 1;
  }
  return -1;
}

struct Interval {
  double low, high;
};

Interval median_interval(std::span<const double> ascending) {
  const int64_t rank = interval_rank(static_cast<int64_t>(ascending.size()));
  if (rank < 0) return {ascending.front(), ascending.back()};
  return {ascending[static_cast<size_t>(rank)], ascending[ascending.size() - 1 - static_cast<size_t>(rank)]};
}

/// Width of a cluster without its outermost tenth on either side, so that one outlier does not hide a second cluster.
double inner_width(std::span<const double> ascending) { return quantile(ascending, 0.9) - quantile(ascending, 0.1); }

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) text.append(text.empty() ? "" : " ").append(word);
  return text;
}

}  // namespace

double median(std::span<const double> values) { return quantile(sorted(values), 0.5); }

Summary summarize(std::span<const double> values) {
  if (values.empty()) return {};
  const std::vector<double> ascending = sorted(values);
  Summary summary;
  summary.n = static_cast<int64_t>(values.size());
  summary.min = ascending.front();
  summary.q1 = quantile(ascending, 0.25);
  summary.median = quantile(ascending, 0.5);
  summary.q3 = quantile(ascending, 0.75);
  std::vector<double> deviations(ascending);
  for (double& value : deviations) value = std::fabs(value - summary.median);
  summary.mad = median(deviations);
  const Interval interval = median_interval(ascending);
  summary.ci_low = interval.low;
  summary.ci_high = interval.high;
  return summary;
}

double relative_noise(std::span<const double> values) {
  const std::vector<double> ascending = sorted(values);
  if (interval_rank(static_cast<int64_t>(ascending.size())) < 0) return std::numeric_limits<double>::infinity();
  const Interval interval = median_interval(ascending);
  const double half_width = (interval.high - interval.low) / 2;
  return half_width == 0 ? 0 : half_width / std::fabs(quantile(ascending, 0.5));
}

bool drifting(std::span<const double> values) {
  if (values.size() < kDriftMinimum) return false;
  const size_t third = values.size() / 3;
  const std::vector<double> first = sorted(values.first(third)), last = sorted(values.last(third));
  const double shift = std::fabs(quantile(last, 0.5) - quantile(first, 0.5));
  // Thirds of four values have accidental medians: there the whole ranges must be apart, later the middle halves.
  const bool apart = third < 8 ? first.back() < last.front() || last.back() < first.front() : shift > 2 * std::max(iqr(first), iqr(last));
  return apart && shift > std::max(iqr(first), iqr(last)) && shift > kSmallestShift * std::fabs(median(values));
}

bool bimodal(std::span<const double> values) {
  if (values.size() < kBimodalMinimum) return false;
  const std::vector<double> ascending = sorted(values);
  const std::span<const double> all(ascending);
  const size_t smallest = std::max<size_t>(5, all.size() / 5);  // fewer are outliers, not a mode
  size_t cut = smallest;
  for (size_t i = smallest; i + smallest <= all.size(); ++i) {
    if (all[i] - all[i - 1] > all[cut] - all[cut - 1]) cut = i;
  }
  const double gap = all[cut] - all[cut - 1];
  return gap > std::max(inner_width(all.first(cut)), inner_width(all.subspan(cut))) && gap > kSmallestShift * quantile(all, 0.5);
}

namespace {

StepSummary with_flags(std::span<const double> per_execution_ns, bool timer_limited) {
  StepSummary result{summarize(per_execution_ns), {}};
  if (per_execution_ns.empty()) return result;
  std::vector<std::string_view> words;
  if (result.per_execution_ns.median < kShortNs || timer_limited) words.push_back("too-short");
  if (result.per_execution_ns.n < kFewSamples) words.push_back("few-samples");
  if (drifting(per_execution_ns)) words.push_back("drifting");
  if (bimodal(per_execution_ns)) words.push_back("bimodal");
  result.flags = joined(words);
  return result;
}

}  // namespace

StepSummary summarize_step(std::span<const double> per_execution_ns) { return with_flags(per_execution_ns, false); }

StepSummary summarize_step(const StepSamples& samples) {
  assert(samples.durations_ns.size() == samples.executions.size());
  std::vector<double> per_execution(samples.durations_ns.size()), whole(samples.durations_ns.size());
  for (size_t i = 0; i < whole.size(); ++i) {
    whole[i] = static_cast<double>(samples.durations_ns[i]);
    per_execution[i] = whole[i] / std::max(1, samples.executions[i]);
  }
  return with_flags(per_execution, !whole.empty() && median(whole) < kTimerTicks * samples.timer_ns);
}

}  // namespace stats
