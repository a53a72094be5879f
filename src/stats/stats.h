// Statistics of samples. Pure: numbers in, numbers out.
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
/// Theil-Sen-like test on thirds: the medians of first and last third differ by more than both spreads.
bool drifting(std::span<const double> values);
/// Two clusters with a gap wider than either (Sarle's coefficient is not used: it calls skewed data bimodal).
bool bimodal(std::span<const double> values);

}  // namespace stats
