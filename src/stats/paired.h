// Two ways to do the same work, measured in turns: how much slower is the second, and is that more than noise. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stats {

/// Pairs of times, each of one moment: what disturbs the machine for longer hits both of a pair and leaves their ratio alone.
struct Paired {
  int64_t n = 0;                               ///< pairs
  double first_median = 0, second_median = 0;  ///< each for itself
  double ratio = 1;                            ///< median of second / first
  double ratio_low = 1, ratio_high = 1;        ///< 95 % interval of it; NaN of one pair
  double p_value = 1;                          ///< of ratios this far from 1 by chance, two-sided; of this comparison alone
};
/// From 14 pairs on the interval of the median by order statistics and the sign test: both hold for any distribution of noise. Fewer
/// pairs cannot be significant by their signs; there Student's t on the logarithms of the ratios. Times above 0; equally many of both.
Paired compare_pairs(std::span<const double> first, std::span<const double> second);

enum class PairVerdict : uint8_t { same, second_slower, second_faster };
struct Judged {
  double p_value = 1;  ///< adjusted for the number of comparisons
  PairVerdict verdict = PairVerdict::same;
};
inline constexpr double kSmallestEffect = 0.01;    ///< a ratio nearer to 1 than this is not worth a word, however sure it is
inline constexpr double kFalseDiscoveries = 0.05;  ///< share of verdicts that may be by chance (Benjamini and Hochberg 1995)
/// Comparisons of one run together: of a hundred some look clear by chance.
std::vector<Judged> judge_pairs(std::span<const Paired> pairs);

/// More pairs would not change the verdict: the interval lies within kSmallestEffect of 1, or outside of it and so surely that looking
/// after every pass does not matter. Of a ratio of 1 each look stops with a chance below 1e-8 on the wrong side; every other stop is one
/// that says `same`: a thousand looks add 1e-5 to what judge_pairs allows.
bool settled(const Paired& pair);

/// P(|T| ≥ |t|) of Student's t with `freedom` degrees of freedom.
double student_two_sided(double t, double freedom);
/// t that is exceeded to both sides together with probability `p`.
double student_quantile(double p, double freedom);
/// P of at most `fewer` of `n` heads, or as few tails, by a fair coin.
double sign_test(int64_t fewer, int64_t n);

}  // namespace stats
