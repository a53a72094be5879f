// The ratio of a pair is free of all that slows both; what is left is noise with heavy tails (an interrupt hits one of the two). Medians
// and signs do not mind tails, but six signs in a row are still no proof when a hundred comparisons are made: few pairs are judged by
// Student's t, which heavy tails make careful, not rash.
#include "src/stats/paired.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/stats/stats.h"

namespace stats {
namespace {

constexpr int64_t kPairsForSigns = 14;  ///< 2 · 2^-14 = 1.2e-4: clear of what a hundred comparisons ask for
constexpr double kOutside = 0.05;       ///< 1 − coverage of the interval

constexpr double kSureToStop = 1e-8;

/// Continued fraction of the incomplete beta function (Numerical Recipes' method: Lentz), for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::fabs(d) < kTiny ? kTiny : d);
  double fraction = d;
  for (int m = 1; m <= 300; ++m) {
    const double i = m;
    const double terms[] = {i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i)),
                            -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1))};
    double change = 1;
    for (const double term : terms) {
      d = 1 + term * d;
      c = 1 + term / c;
      d = 1 / (std::fabs(d) < kTiny ? kTiny : d);
      c = std::fabs(c) < kTiny ? kTiny : c;
      change = c * d;
      fraction *= change;
    }
    if (std::fabs(change - 1) < 1e-14) break;
  }
  return fraction;
}

/// Regularised incomplete beta function I_x(a, b).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

struct Moments {
  double mean, error;  ///< error: of the mean
};

Moments moments(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, n > 1 ? std::sqrt(squares / (n - 1) / n) : INFINITY};
}

void judge_few(std::span<const double> ratios, Paired& pair) {
  std::vector<double> logs;
  for (const double ratio : ratios) logs.push_back(std::log(ratio));
  const Moments m = moments(logs);
  if (ratios.size() < 2) {
    pair.ratio_low = pair.ratio_high = std::numeric_limits<double>::quiet_NaN();
    return;
  }
  const auto freedom = static_cast<double>(ratios.size() - 1);
  const double reach = m.error == 0 ? 0 : m.error * student_quantile(kOutside, freedom);
  pair.ratio_low = std::min(pair.ratio, std::exp(m.mean - reach));
  pair.ratio_high = std::max(pair.ratio, std::exp(m.mean + reach));
  pair.p_value = m.error == 0 ? (m.mean == 0 ? 1 : 0) : student_two_sided(m.mean / m.error, freedom);
}

void judge_many(std::span<const double> ratios, Paired& pair) {
  const Summary summary = summarize(ratios);
  pair.ratio_low = summary.ci_low;
  pair.ratio_high = summary.ci_high;
  const auto above = std::count_if(ratios.begin(), ratios.end(), [](double ratio) { return ratio > 1; });
  const auto below = std::count_if(ratios.begin(), ratios.end(), [](double ratio) { return ratio < 1; });
  pair.p_value = sign_test(std::min(above, below), above + below);
}

}  // namespace

double student_two_sided(double t, double freedom) { return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)); }

double student_quantile(double p, double freedom) {
  double low = 0, high = 1;
  while (student_two_sided(high, freedom) > p && high < 1e12) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-12 * high; ++i) {
    const double middle = (low + high) / 2;
    (student_two_sided(middle, freedom) > p ? low : high) = middle;
  }
  return (low + high) / 2;
}

double sign_test(int64_t fewer, int64_t n) {
  if (2 * fewer >= n) return 1;
  double log_term = -static_cast<double>(n) * std::log(2.0), below = 0;
  for (int64_t k = 0; k <= fewer; ++k) {
    if (k > 0) log_term += std::log(static_cast<double>(n - k + 1) / static_cast<double>(k));
    below += std::exp(log_term);
  }
  return std::min(1.0, 2 * below);
}

Paired compare_pairs(std::span<const double> first, std::span<const double> second) {
  assert(first.size() == second.size());
  Paired pair;
  pair.n = static_cast<int64_t>(first.size());
  if (first.empty()) return pair;
  std::vector<double> ratios(first.size());
  for (size_t i = 0; i < first.size(); ++i) ratios[i] = std::max(second[i], 1e-3) / std::max(first[i], 1e-3);  // below any clock's tick
  pair.first_median = median(first);
  pair.second_median = median(second);
  pair.ratio = median(ratios);
  if (pair.n < kPairsForSigns) {
    judge_few(ratios, pair);
  } else {
    judge_many(ratios, pair);
  }
  return pair;
}

std::vector<Judged> judge_pairs(std::span<const Paired> pairs) {
  std::vector<size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return pairs[a].p_value > pairs[b].p_value; });
  std::vector<Judged> judged(pairs.size());
  double adjusted = 1;
  for (size_t i = 0; i < order.size(); ++i) {  // from the least clear on: rank m, m − 1, … 1
    const Paired& pair = pairs[order[i]];
    const auto rank = static_cast<double>(order.size() - i);
    adjusted = std::min(adjusted, pair.p_value * static_cast<double>(pairs.size()) / rank);
    Judged& own = judged[order[i]];
    own.p_value = adjusted;
    if (adjusted >= kFalseDiscoveries || std::fabs(pair.ratio - 1) < kSmallestEffect) continue;
    own.verdict = pair.ratio > 1 ? PairVerdict::second_slower : PairVerdict::second_faster;
  }
  return judged;
}

bool settled(const Paired& pair) {
  if (pair.ratio_low > 1 + kSmallestEffect || pair.ratio_high < 1 - kSmallestEffect) return pair.p_value < kSureToStop;
  return pair.n >= kPairsForSigns && pair.ratio_low > 1 - kSmallestEffect && pair.ratio_high < 1 + kSmallestEffect;
}

}  // namespace stats
