// Sums and whole parts that lie beyond 64 bits are the last number there is.
#include "src/base/math.h"

#include <gtest/gtest.h>

#include <cmath>

TEST(Saturated, SumsStopAtTheLastNumber) {
  EXPECT_EQ(base::saturated_sum(2, -5), -3);
  EXPECT_EQ(base::saturated_sum(INT64_MAX, 1), INT64_MAX);
  EXPECT_EQ(base::saturated_sum(INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(base::saturated_sum(INT64_MIN, INT64_MAX), -1);
}

TEST(Saturated, WholePartsStopAtTheLastNumber) {
  EXPECT_EQ(base::saturated_int(-2.75), -2);
  EXPECT_EQ(base::saturated_int(9223372036854774784.0), 9223372036854774784);
  EXPECT_EQ(base::saturated_int(9223372036854775808.0), INT64_MAX);
  EXPECT_EQ(base::saturated_int(-9223372036854775808.0), INT64_MIN);
  EXPECT_EQ(base::saturated_int(-INFINITY), INT64_MIN);
  EXPECT_EQ(base::saturated_int(NAN), 0);
}
