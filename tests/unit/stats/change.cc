// The change of a median and what is said of it, one line a case.
#include "src/stats/change.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace stats
