// Points merged to pixels.
#include "ui/dots.h"

#include <gtest/gtest.h>

#include <limits>

namespace ui {
namespace {

constexpr DotArea kArea{0, 10, 0, 10, 100, 50, 5};

TEST(Dots, StandWhereTheirValuesAre) {
  const std::vector<Dot> dots = {{5, 10, 0, 7}};
  const std::vector<Dot> seen = seen_dots(dots, {0, 10, 0, 20, 100, 50, 5});
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_FLOAT_EQ(seen[0].x, 50);
  EXPECT_FLOAT_EQ(seen[0].y, 25);
  EXPECT_EQ(seen[0].index, 7u);
}

TEST(Dots, OfTheHighestRankCoverOthersOnTheSamePlaceAndComeLast) {
  const std::vector<Dot> dots = {{1, 1, 0, 0}, {1.01f, 1, 2, 1}, {1.02f, 1, 1, 2}, {9, 9, 0, 3}};
  const std::vector<Dot> seen = seen_dots(dots, kArea);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].index, 3u);
  EXPECT_EQ(seen[1].index, 1u);
}

TEST(Dots, OutsideOrNotFiniteAreLeftOut) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  const std::vector<Dot> dots = {{-1, 5, 0, 0}, {11, 5, 0, 1}, {5, 11, 0, 2}, {nan, 5, 0, 3}, {5, infinity, 0, 4}, {5, -infinity, 0, 5}};
  EXPECT_TRUE(seen_dots(dots, kArea).empty());
}

TEST(Dots, OfAMillionAreAsFewAsThePlaces) {
  std::vector<Dot> dots;
  for (uint32_t i = 0; i < 1'000'000; ++i) dots.push_back({static_cast<float>(i % 1000) / 100, static_cast<float>(i / 1000) / 100, 0, i});
  EXPECT_LE(seen_dots(dots, kArea).size(), 21u * 11u);
}

TEST(Dots, WithoutAnAreaAreNone) {
  const std::vector<Dot> dots = {{1, 1, 0, 0}};
  EXPECT_TRUE(seen_dots(dots, {0, 0, 0, 1, 100, 50, 5}).empty());
  EXPECT_TRUE(seen_dots(dots, {0, 1, 0, 1, 0, 50, 5}).empty());
  EXPECT_TRUE(seen_dots(dots, {0, 1, 0, 1, 1e9f, 50, 5}).empty());
}

}  // namespace
}  // namespace ui
