// Statistics of samples. Pure: numbers in, numbers out. Values are finite.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace stats {

struct Summary {
  int64_t n = 0;
  double min = 0, q1 = 0, median = 0, q3 = 0, mad = 0;  ///< quartiles by linear interpolation; MAD unscaled
  double ci_low = 0, ci_high = 0;                       ///< 95 % interval of the median by order statistics (binomial)
};
Summary summarize(std::span<const double> values);
double median(std::span<const double> values);
/// Half-width of the 95 % interval of the median over the median: what the stop rule looks at. Infinity below 6 values.
double relative_noise(std::span<const double> values);
/// Theil-Sen-like test on thirds: the medians of first and last third differ by more than both spreads. Needs 12 values.
bool drifting(std::span<const double> values);
/// Two clusters with a gap wider than either (Sarle's coefficient is not used: it calls skewed data bimodal). Needs 15 values.
bool bimodal(std::span<const double> values);

/// Samples of one step in the order in which they were taken: sample i took durations_ns[i] for executions[i] executions.
struct StepSamples {
  std::span<const int64_t> durations_ns;
  std::span<const int32_t> executions;
  double timer_ns = 0;  ///< resolution of the clock; 0: not known
};
/// Nanoseconds per execution, and the words of step_stat.flags that follow from the samples alone, separated by spaces:
/// too-short (an execution is below 1 us, or a sample below 100 ticks of the clock), few-samples (below 3), drifting, bimodal.
struct StepSummary {
  Summary per_execution_ns;
  std::string flags;
};
StepSummary summarize_step(const StepSamples& samples);
/// The same of durations per execution, where those of the samples are not at hand.
StepSummary summarize_step(std::span<const double> per_execution_ns);

}  // namespace stats
