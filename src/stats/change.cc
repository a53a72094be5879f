// Two 95 % intervals that lie apart: a test at about 0.6 % for equal spreads, where nothing but chance differs. Between runs more does: the
// clock, what else the machine runs, where arrays lie. On a shared machine nine of ten steps of the same program have intervals that lie
// apart (tests/bench/results/README.md), so what steps do on the average, and how far they scatter about it, each in units of its own
// scatter within the runs, is what a change is held against: a long product that stays within 2 % is not drowned by short steps that
// double.
#include "src/stats/change.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "src/stats/stats.h"

namespace stats {
namespace {

constexpr double kBeyond = 5;           ///< spreads
constexpr double kBeyondOfSum = 3;      ///< shifts, or spreads
constexpr double kLeastNoise = 0.01;    ///< of a step within a run
constexpr double kLeastFactor = 0.1;    ///< of runs that agree exactly
constexpr double kQuartiles = 1.349;    ///< their distance in a normal distribution, in standard deviations
constexpr double kInterval = 1.96;      ///< 95 % of a normal distribution
constexpr double kMadToSigma = 1.4826;  ///< the same

Verdict guessed(Verdict verdict) {
  return verdict == Verdict::slower ? Verdict::maybe_slower : verdict == Verdict::faster ? Verdict::maybe_faster : verdict;
}

/// +1 slower, −1 faster, sure or not; else 0.
int direction(Verdict verdict) {
  if (verdict == Verdict::slower || verdict == Verdict::maybe_slower) return 1;
  return verdict == Verdict::faster || verdict == Verdict::maybe_faster ? -1 : 0;
}

/// Half of the weight lies on either side.
double weighted_median(std::vector<std::pair<double, double>> values) {
  std::ranges::sort(values);
  double half = 0;
  for (const auto& [value, weight] : values) half += weight / 2;
  for (const auto& [value, weight] : values) {
    half -= weight;
    if (half <= 0) return value;
  }
  return values.back().first;
}

double percent_over(double after, double before) { return 100 * (after / before - 1); }

}  // namespace

std::optional<Change> change(const Estimate& before, const Estimate& after) {
  if (before.n == 0 || after.n == 0 || before.median <= 0) return std::nullopt;
  Change change{percent_over(after.median, before.median), 0, 0};
  change.low_percent = before.high > 0 ? percent_over(after.low, before.high) : change.percent;
  change.high_percent = before.low > 0 ? percent_over(after.high, before.low) : change.percent;
  return change;
}

Verdict verdict(const Estimate& before, const Estimate& after) {
  const int64_t n = std::min(before.n, after.n);
  if (n == 0) return Verdict::not_timed;
  if (n < kFewSamples) return Verdict::few_samples;
  const bool sure = n >= kSureSamples;
  if (after.low > before.high) return sure ? Verdict::slower : Verdict::maybe_slower;
  if (after.high < before.low) return sure ? Verdict::faster : Verdict::maybe_faster;
  return Verdict::same;
}

bool RunNoise::known() const { return steps >= kFewestSteps; }

double own_noise(const Estimate& before, const Estimate& after) {
  return std::hypot(kLeastNoise, before.quartiles / kQuartiles, after.quartiles / kQuartiles);
}

RunNoise run_noise(std::span<const Moved> steps) {
  std::vector<std::pair<double, double>> logs;  // and weights
  for (const Moved& step : steps) {
    if (step.ratio > 0 && std::isfinite(step.ratio) && step.own_noise > 0) logs.emplace_back(std::log(step.ratio), 1 / step.own_noise);
  }
  RunNoise noise{static_cast<int64_t>(logs.size()), 0, 0, 0};
  if (!noise.known()) return noise;
  noise.shift = weighted_median(logs);
  std::vector<double> moved, own;
  for (const auto& [log, weight] : logs) {
    moved.push_back(std::fabs(log - noise.shift) * weight);
    own.push_back(1 / weight);
  }
  noise.factor = std::max(kMadToSigma * median(moved), kLeastFactor);
  noise.typical = noise.factor * median(own);
  return noise;
}

Verdict verdict(const Estimate& before, const Estimate& after, const RunNoise& noise) {
  const Verdict found = verdict(before, after);
  const int sign = direction(found);
  if (sign == 0 || before.median <= 0 || after.median <= 0) return found;
  if (!noise.known()) return guessed(found);
  const double beyond = sign * (std::log(after.median / before.median) - noise.shift);
  return beyond > kBeyond * noise.factor * own_noise(before, after) ? found : Verdict::same;
}

Verdict verdict_of_sum(const Estimate& before, const Estimate& after, const RunNoise& noise) {
  const Verdict found = verdict(before, after);
  if (direction(found) == 0 || before.median <= 0 || after.median <= 0) return found;
  const double moved = std::fabs(std::log(after.median / before.median));
  const bool far = noise.known() && moved > kBeyondOfSum * std::max(std::fabs(noise.shift), noise.typical);
  return far ? found : guessed(found);
}

Change widened(const Change& change, double spread) {
  const auto log_of = [](double percent) { return std::log1p(std::max(percent, -99.999) / 100); };
  const double middle = log_of(change.percent), reach = kInterval * spread;
  const auto end = [&](double percent, int sign) { return 100 * std::expm1(middle + sign * std::hypot(log_of(percent) - middle, reach)); };
  if (spread <= 0) return change;
  return {change.percent, end(change.low_percent, -1), end(change.high_percent, 1)};
}

std::string_view text(Verdict verdict) {
  switch (verdict) {
    case Verdict::same:
      return "same";
    case Verdict::slower:
      return "slower";
    case Verdict::faster:
      return "faster";
    case Verdict::maybe_slower:
      return "slower?";
    case Verdict::maybe_faster:
      return "faster?";
    case Verdict::few_samples:
      return "few samples";
    case Verdict::not_timed:
      return "not timed";
  }
  return "";
}

}  // namespace stats
