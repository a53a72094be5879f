// Order statistics against values that were computed by hand or with numpy, and the two doubts on known and on random data.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "src/stats/stats.h"

namespace stats {
namespace {

using Values = std::vector<double>;

TEST(Summary, HasQuartilesByLinearInterpolation) {
  const Summary s = summarize(Values{7, 1, 3, 15});  // numpy.percentile([7, 1, 3, 15], [25, 50, 75]) = 2.5, 5, 9
  EXPECT_EQ(s.n, 4);
  EXPECT_DOUBLE_EQ(s.min, 1);
  EXPECT_DOUBLE_EQ(s.q1, 2.5);
  EXPECT_DOUBLE_EQ(s.median, 5);
  EXPECT_DOUBLE_EQ(s.q3, 9);
  EXPECT_DOUBLE_EQ(s.mad, 3);  // deviations 2, 4, 2, 10
}

TEST(Summary, OfNothingIsZeroAndOfOneValueThatValue) {
  EXPECT_EQ(summarize({}).n, 0);
  const Summary one = summarize(Values{4});
  for (const double value : {one.min, one.q1, one.median, one.q3, one.ci_low, one.ci_high}) EXPECT_DOUBLE_EQ(value, 4);
  EXPECT_DOUBLE_EQ(one.mad, 0);
}

TEST(Summary, IntervalOfTheMedianFollowsTheBinomialTable) {
  // Ranks (from 1) of the 95 % interval by sample size: Conover, Practical Nonparametric Statistics, table A3.
  const struct { int n, low, high; } kTable[] = {{6, 1, 6}, {8, 1, 8}, {9, 2, 8}, {10, 2, 9}, {20, 6, 15}, {50, 18, 33}, {100, 40, 61}};
  for (const auto& row : kTable) {
    Values values;
    for (int i = row.n; i >= 1; --i) values.push_back(i);
    const Summary s = summarize(values);
    EXPECT_EQ(s.ci_low, row.low) << row.n;
    EXPECT_EQ(s.ci_high, row.high) << row.n;
  }
}

TEST(Summary, IntervalOfManyValuesDoesNotUnderflow) {
  Values values(20001);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  const Summary s = summarize(values);
  EXPECT_NEAR(s.ci_low, 10000 - 0.98 * std::sqrt(20001.0), 2);
  EXPECT_NEAR(s.ci_high, 10000 + 0.98 * std::sqrt(20001.0), 2);
}

TEST(Noise, IsInfiniteBelowSixValuesAndZeroForEqualOnes) {
  EXPECT_TRUE(std::isinf(relative_noise(Values{1, 1, 1, 1, 1})));
  EXPECT_DOUBLE_EQ(relative_noise(Values{2, 2, 2, 2, 2, 2}), 0);
  EXPECT_DOUBLE_EQ(relative_noise(Values{0, 0, 0, 0, 0, 0}), 0);
  EXPECT_DOUBLE_EQ(relative_noise(Values{9, 10, 10, 10, 10, 11}), 0.1);
}

TEST(Drift, IsSeenInARisingSeriesAndInAStep) {
  Values rising, step;
  for (int i = 0; i < 30; ++i) {
    rising.push_back(100 + i + (i % 3) * 0.2);
    step.push_back((i < 15 ? 100 : 120) + (i % 3) * 0.2);
  }
  EXPECT_TRUE(drifting(rising));
  EXPECT_TRUE(drifting(step));
}

TEST(Drift, NeedsTwelveValuesAndOnePercent) {
  EXPECT_FALSE(drifting(Values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  Values little;
  for (int i = 0; i < 30; ++i) little.push_back(1000 + i * 0.1);
  EXPECT_FALSE(drifting(little));
}

TEST(Bimodal, SeesTwoClustersButNoOutliers) {
  Values two, outlier;
  for (int i = 0; i < 20; ++i) {
    two.push_back((i % 2 == 0 ? 100 : 150) + i * 0.1);
    outlier.push_back(i == 7 || i == 12 ? 900 : 100 + i * 0.1);
  }
  EXPECT_TRUE(bimodal(two));
  EXPECT_FALSE(bimodal(outlier));
}

TEST(Bimodal, DoesNotCallASkewedSeriesBimodal) {
  Values skewed;
  for (int i = 1; i <= 40; ++i) skewed.push_back(100 + 400.0 / (41 - i));
  EXPECT_FALSE(bimodal(skewed));
}

/// How often noise alone raises a flag.
template <typename Test, typename Noise>
int alarms(Test test, Noise noise, int n) {
  std::mt19937 random(7);
  int count = 0;
  for (int round = 0; round < 1000; ++round) {
    Values values;
    for (int i = 0; i < n; ++i) values.push_back(1000 + 50 * noise(random));
    count += test(values);
  }
  return count;
}

TEST(Doubts, AreRareForIndependentNoise) {
  const auto normal = [](auto& random) { return std::normal_distribution<>()(random); };
  const auto skewed = [](auto& random) { return std::exponential_distribution<>()(random); };
  for (const int n : {12, 15, 20, 50, 200}) {
    EXPECT_LE(alarms(drifting, normal, n), 40) << n;
    EXPECT_LE(alarms(drifting, skewed, n), 40) << n;
    EXPECT_LE(alarms(bimodal, normal, n), 20) << n;
    EXPECT_LE(alarms(bimodal, skewed, n), 20) << n;
  }
}

TEST(StepSummary, DividesByExecutions) {
  const std::vector<int64_t> durations{4'000'000, 2'000'000, 6'000'000};
  const std::vector<int32_t> executions{2, 1, 3};
  const StepSummary s = summarize_step({durations, executions, 0});
  EXPECT_DOUBLE_EQ(s.per_execution_ns.median, 2e6);
  EXPECT_DOUBLE_EQ(s.per_execution_ns.mad, 0);
  EXPECT_EQ(s.flags, "");
}

TEST(StepSummary, FlagsShortStepsFewSamplesAndACoarseClock) {
  const std::vector<int64_t> shorts{900, 950}, longs{50'000, 50'000, 50'000};
  const std::vector<int32_t> two{1, 1}, three{1, 1, 1};
  EXPECT_EQ(summarize_step({shorts, two, 0}).flags, "too-short few-samples");
  EXPECT_EQ(summarize_step({longs, three, 1'000}).flags, "too-short");
  EXPECT_EQ(summarize_step({longs, three, 20}).flags, "");
  EXPECT_EQ(summarize_step(StepSamples{}).flags, "");
}

TEST(StepSummary, KeepsTheOrderOfSamplesForDrift) {
  std::vector<int64_t> durations;
  for (int i = 0; i < 30; ++i) durations.push_back(100'000 + 1'000 * i);
  const std::vector<int32_t> executions(30, 1);
  EXPECT_EQ(summarize_step({durations, executions, 0}).flags, "drifting");
}

}  // namespace
}  // namespace stats
