// Numbers as people read them.
#include "src/base/text.h"

#include <gtest/gtest.h>

namespace base {
namespace {

TEST(HumanSeconds, HasThreeDigitsAndTheUnitThatFits) {
  EXPECT_EQ(human_seconds(0), "0 s");
  EXPECT_EQ(human_seconds(1.5e-9), "1.50 ns");
  EXPECT_EQ(human_seconds(0.0123), "12.3 ms");
  EXPECT_EQ(human_seconds(119), "119 s");
  EXPECT_EQ(human_seconds(125.7), "2 min 05 s");
}

TEST(HumanSeconds, KeepsTheSignOfAChange) {
  EXPECT_EQ(human_seconds(-900e-9), "-900 ns");
  EXPECT_EQ(human_seconds(-125.7), "-2 min 05 s");
}

}  // namespace
}  // namespace base
