#include "replay/kernel/index.h"

#include <gtest/gtest.h>

namespace kernel {
namespace {

Index of(TermId term, int64_t c = 1) { return {0, {{term, c}}}; }

TEST(Index, ExactDivisionOfNestedLoops) {
  Terms terms;
  const TermId row = terms.variable(0, 15), column = terms.variable(0, 767);
  const auto [quotient, rest] = terms.divide(of(row, 768) + of(column), 768);
  EXPECT_EQ(quotient, of(row));
  EXPECT_EQ(rest, of(column));
  EXPECT_FALSE(terms.wish);
}

TEST(Index, FlatLoopAsksToBeSplit) {
  Terms terms;
  const TermId flat = terms.variable(0, 16 * 768 - 1);
  terms.divide(of(flat), 768);
  ASSERT_TRUE(terms.wish);
  EXPECT_EQ(terms.wish->variable, flat);
  EXPECT_EQ(terms.wish->factor, 768);
}

TEST(Index, LoopThatNothingDividesBecomesTerms) {
  Terms terms;
  const TermId flat = terms.variable(0, 10);
  const auto [quotient, rest] = terms.divide(of(flat), 4);
  EXPECT_EQ(print(terms, quotient), "(v0)/4");
  EXPECT_EQ(print(terms, rest), "(v0)%4");
  EXPECT_EQ(terms.range(quotient).high, 2);
}

TEST(Index, QuotientAndRestOfOneSumJoinAgain) {
  Terms terms;
  const TermId flat = terms.variable(0, 10);
  const auto [quotient, rest] = terms.divide(of(flat), 4);
  EXPECT_EQ(terms.normal(quotient * 12 + rest * 3), of(flat, 3));
}

TEST(Index, DivisionOfNegativeSumsRoundsDown) {
  Terms terms;
  const TermId v = terms.variable(0, 5);
  const auto [quotient, rest] = terms.divide(of(v, 8) + -3, 8);
  EXPECT_EQ(quotient, of(v) + -1);
  EXPECT_EQ(rest.constant, 5);
}

}  // namespace
}  // namespace kernel
