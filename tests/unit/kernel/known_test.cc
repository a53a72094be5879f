// Ranges and multiples of a list's integers, which decide the width of integers and of accesses.
#include "replay/kernel/known.h"

#include <gtest/gtest.h>

#include <limits>

namespace kernel {
namespace {

/// Argument 0 is 0 … 1023.
const ArgumentRanges kThread{{0, 1023, 1}};

TEST(Known, ProductsAndSumsKeepRangeAndPower) {
  List list;
  const ValueId at = list.argument(0), four = list.mul(at, 4), moved = list.add(four, list.integer(8)),
                odd = list.add(four, list.integer(6));
  const KnownIntegers known(list, kThread);
  EXPECT_EQ(known[four].high, 4092);
  EXPECT_EQ(known[four].multiple, 4);
  EXPECT_EQ(known[moved].low, 8);
  EXPECT_EQ(known[moved].multiple, 4);
  EXPECT_EQ(known[odd].multiple, 2);
  EXPECT_TRUE(known.narrow(odd));
}

TEST(Known, WhatLeaves32BitsIsWide) {
  List list;
  const ValueId at = list.argument(0), edge = list.mul(at, 2099202), beyond = list.mul(at, 2099203);
  const KnownIntegers known(list, kThread);
  EXPECT_EQ(known[edge].high, 2147483646);
  EXPECT_TRUE(known.narrow(edge));
  EXPECT_FALSE(known.narrow(beyond));
}

/// A quotient of a wide number is wide, even if it is small: the division itself needs 64 bits.
TEST(Known, SmallResultsOfWideOperandsStayWide) {
  List list;
  const ValueId wide = list.mul(list.argument(0), int64_t{1} << 40);
  const ValueId small = list.op(Code::udiv, Reg::i64, 1, {wide, list.integer(int64_t{1} << 40)});
  const KnownIntegers known(list, kThread);
  EXPECT_EQ(known[small].high, 1023);
  EXPECT_FALSE(known.narrow(small));
}

TEST(Known, NothingIsKnownOfWhatIsLoadedOrNegativeUnderAnUnsignedDivision) {
  List list;
  const ValueId loaded = list.load(list.pointer(0, Reg::i64, list.argument(0)), 1, 0);
  const ValueId below = list.add(list.argument(0), list.integer(-1));
  const ValueId divided = list.op(Code::udiv, Reg::i64, 1, {below, list.integer(4)});
  const KnownIntegers known(list, kThread);
  EXPECT_FALSE(known.narrow(loaded));
  EXPECT_TRUE(known.narrow(below));
  EXPECT_FALSE(known.narrow(divided));
}

TEST(Known, IntegersOfLessThan64BitsWrap) {
  List list;
  const ValueId byte = list.load(list.pointer(0, Reg::i8, list.argument(0)), 1, 0);
  const ValueId sum = list.op(Code::add, Reg::i8, 1, {byte, list.constant(Reg::i8, 1, 200)});
  const ValueId wide = list.op(Code::zext, Reg::i64, 1, {sum}), with_sign = list.op(Code::sext, Reg::i64, 1, {sum});
  const KnownIntegers known(list, kThread);
  EXPECT_EQ(known[wide].low, 0);
  EXPECT_EQ(known[wide].high, 255);
  EXPECT_EQ(known[with_sign].low, -128);
  EXPECT_TRUE(known.narrow(wide));
}

TEST(Known, SumsThatLeave64BitsAreUnknown) {
  List list;
  const ValueId most = list.integer(std::numeric_limits<int64_t>::max());
  const ValueId sum = list.op(Code::add, Reg::i64, 1, {list.argument(0), most});
  const ValueId least = list.integer(std::numeric_limits<int64_t>::min());
  const KnownIntegers known(list, kThread);
  EXPECT_EQ(known[sum].low, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(known[least].multiple, int64_t{1} << 62);
}

/// A counter that stops below 2^31 but whose last step goes beyond is wide.
TEST(Known, ALoopsLastStepMustFitToo) {
  List list;
  const ValueId narrow = list.loop(list.integer(0), list.integer(2147483000), 512);
  list.end();
  const ValueId wide = list.loop(list.integer(0), list.integer(2147483600), 512);
  list.end();
  const KnownIntegers known(list, kThread);
  EXPECT_TRUE(known.narrow(narrow));
  EXPECT_FALSE(known.narrow(wide));
}

}  // namespace
}  // namespace kernel
