// The change of a median and what is said of it, one line a case.
#include "src/stats/change.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace stats {
namespace {

constexpr Estimate kBefore{10, 100, 95, 105};

TEST(Change, SpansTheEndsOfBothIntervals) {
  const auto found = change(kBefore, {10, 150, 140, 170});
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->percent, 50);
  EXPECT_DOUBLE_EQ(found->low_percent, 100 * (140.0 / 105 - 1));
  EXPECT_DOUBLE_EQ(found->high_percent, 100 * (170.0 / 95 - 1));
}

TEST(Change, OfNothingIsNone) {
  EXPECT_FALSE(change({}, kBefore));
  EXPECT_FALSE(change(kBefore, {}));
  EXPECT_FALSE(change({5, 0, 0, 0}, kBefore));
}

TEST(Change, AVerdictIsWhereTheIntervalDoesNotSpanZero) {
  for (const double low : {90.0, 104.0, 106.0}) {
    const Estimate after{10, low + 5, low, low + 10};
    const bool apart = change(kBefore, after)->low_percent > 0;
    EXPECT_EQ(verdict(kBefore, after), apart ? Verdict::slower : Verdict::same) << low;
  }
}

TEST(Change, FewSamplesAreToldApart) {
  const Estimate slow{10, 200, 190, 210}, fast{10, 50, 49, 51};
  const auto with = [](Estimate estimate, int64_t n) {
    estimate.n = n;
    return estimate;
  };
  EXPECT_EQ(verdict(kBefore, slow), Verdict::slower);
  EXPECT_EQ(verdict(kBefore, fast), Verdict::faster);
  EXPECT_EQ(verdict(kBefore, with(slow, 5)), Verdict::maybe_slower);
  EXPECT_EQ(verdict(with(kBefore, 3), fast), Verdict::maybe_faster);
  EXPECT_EQ(verdict(kBefore, with(slow, 2)), Verdict::few_samples);
  EXPECT_EQ(verdict(kBefore, {}), Verdict::not_timed);
  EXPECT_EQ(text(Verdict::maybe_slower), "slower?");
}

std::vector<Moved> alike(std::initializer_list<double> ratios) {
  std::vector<Moved> steps;
  for (const double ratio : ratios) steps.push_back({ratio, 0.02});
  return steps;
}

TEST(RunNoise, IsWhatMostStepsDo) {
  const auto steps = alike({0.88, 0.89, 0.9, 0.9, 0.9, 0.91, 0.92, 1.8});
  const RunNoise noise = run_noise(steps);
  ASSERT_TRUE(noise.known());
  EXPECT_NEAR(noise.shift, std::log(0.9), 1e-12);
  EXPECT_NEAR(noise.factor * 0.02, 1.4826 * std::log(0.91 / 0.9), 0.01);
  EXPECT_DOUBLE_EQ(noise.typical, noise.factor * 0.02);
  EXPECT_FALSE(run_noise(std::span(steps).first(7)).known());
  EXPECT_FALSE(run_noise(std::vector<Moved>(20, Moved{0, 0.02})).known());
}

TEST(RunNoise, SteadyStepsTellWhatAllDid) {
  std::vector<Moved> steps = alike({1.2, 1.2, 1.2, 1.2});
  for (const double wild : {0.5, 0.6, 0.7, 0.8, 0.9}) steps.push_back({wild, 0.5});
  EXPECT_NEAR(run_noise(steps).shift, std::log(1.2), 1e-12);
}

TEST(RunNoise, AStepIsHeldAgainstItsOwn) {
  const auto at = [](double median, double quartiles) { return Estimate{100, median, 0.99 * median, 1.01 * median, quartiles}; };
  const RunNoise noise{20, 0, 1, 0.05};
  EXPECT_EQ(verdict(at(100, 0.02), at(120, 0.02), noise), Verdict::slower) << "five times 2.3 % is less";
  EXPECT_EQ(verdict(at(100, 0.3), at(120, 0.3), noise), Verdict::same) << "it scatters by as much within a run";
  EXPECT_DOUBLE_EQ(own_noise(at(100, 0), at(100, 0)), 0.01);
}

constexpr RunNoise kNoisy{20, -0.1, 3, 0.03};  // 10 % faster, and 3 % about it

TEST(RunNoise, AVerdictNeedsMoreThanTheOthersDo) {
  const auto at = [](double median) { return Estimate{10, median, median - 1, median + 1}; };
  EXPECT_EQ(verdict(kBefore, at(115), kNoisy), Verdict::slower);
  EXPECT_EQ(verdict(kBefore, at(88), kNoisy), Verdict::same) << "as all others";
  EXPECT_EQ(verdict(kBefore, at(75), kNoisy), Verdict::faster);
  EXPECT_EQ(verdict(kBefore, at(100), kNoisy), Verdict::same) << "the intervals overlap";
  EXPECT_EQ(verdict(kBefore, at(115), RunNoise{}), Verdict::maybe_slower);
  EXPECT_EQ(verdict_of_sum(kBefore, at(115), kNoisy), Verdict::maybe_slower);
  EXPECT_EQ(verdict_of_sum(kBefore, at(50), kNoisy), Verdict::faster);
}

TEST(RunNoise, WidensTheInterval) {
  const Change wide = widened({0, -1, 1}, 0.03);
  EXPECT_NEAR(wide.low_percent, 100 * std::expm1(-1.96 * 0.03), 0.2);
  EXPECT_NEAR(wide.high_percent, 100 * std::expm1(1.96 * 0.03), 0.2);
  EXPECT_LT(wide.low_percent, -5.5);
  EXPECT_EQ(widened({5, 4, 6}, 0).low_percent, 4);
}

}  // namespace
}  // namespace stats
