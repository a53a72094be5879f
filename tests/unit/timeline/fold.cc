// Levels must tell the same as the slices: counts and busy time agree at every width, and nothing is longer than its bucket.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <random>

#include "src/timeline/timeline.h"

namespace timeline {
namespace {

std::vector<Slice> random_lane(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Slice> lane;
  int64_t at_ns = 1000;
  for (int i = 0; i < count; ++i) {
    lane.push_back({at_ns, 1 + static_cast<int64_t>(random() % 5000), static_cast<int32_t>(random() % 97), 0});
    at_ns += lane.back().duration_ns + static_cast<int64_t>(random() % 300) + (i % 100 == 0 ? 1'000'000 : 0);
  }
  return lane;
}

double busy_ns(const Level& level) {
  double sum = 0;
  for (const Bucket& bucket : level.buckets) sum += bucket.busy / 65535.0 * std::ldexp(1, level.shift);
  return sum;
}

TEST(Fold, EveryLevelHasTheCountsAndTheBusyTimeOfTheSlices) {
  const std::vector<Slice> lane = random_lane(20'000, 1);
  double busy = 0;
  for (const Slice& slice : lane) busy += static_cast<double>(slice.duration_ns);
  const std::vector<Level> levels = fold(lane);
  ASSERT_GE(levels.size(), 3u);
  for (const Level& level : levels) {
    uint64_t count = 0;
    for (const Bucket& bucket : level.buckets) count += bucket.count;
    EXPECT_EQ(count, lane.size()) << level.shift;
    EXPECT_NEAR(busy_ns(level) / busy, 1, 2e-4) << level.shift;
  }
}

TEST(Fold, WidthsGrowByFourDownToFewBuckets) {
  const std::vector<Level> levels = fold(random_lane(20'000, 2));
  for (size_t i = 1; i < levels.size(); ++i) EXPECT_EQ(levels[i].shift, levels[i - 1].shift + 2);
  EXPECT_LE(levels.back().buckets.size(), 512u);
  EXPECT_LE(levels.front().buckets.size(), 5 * 20'000u);
}

TEST(Fold, BucketsAscendAndAreNotEmpty) {
  for (const Level& level : fold(random_lane(3'000, 3))) {
    for (size_t i = 0; i < level.buckets.size(); ++i) {
      EXPECT_TRUE(i == 0 || level.buckets[i - 1].index < level.buckets[i].index);
      EXPECT_TRUE(level.buckets[i].busy > 0 || level.buckets[i].count > 0);
      EXPECT_LE(level.buckets[i].share, level.buckets[i].busy);
    }
  }
}

TEST(Fold, ALongSliceFillsItsBucketsAndCountsOnce) {
  const std::vector<Slice> lane{{0, 1000, 7, 0}, {1000, 24, 8, 0}};
  const std::vector<Level> levels = fold(lane);
  EXPECT_EQ(levels.size(), 1u);
  EXPECT_EQ(levels[0].shift, 10);  // 1024 ns: two slices in one bucket
  ASSERT_EQ(levels[0].buckets.size(), 1u);
  EXPECT_EQ(levels[0].buckets[0].count, 2u);
  EXPECT_EQ(levels[0].buckets[0].longest, 7);
  EXPECT_EQ(levels[0].buckets[0].busy, 65535);
  EXPECT_NEAR(levels[0].buckets[0].share, 65535 * 1000.0 / 1024, 1);
}

TEST(Fold, OfNothingIsNothing) { EXPECT_TRUE(fold({}).empty()); }

TEST(Fold, TwoSlicesThatAreDaysApartMakeFewBuckets) {
  const std::vector<Slice> lane{{0, 10, 1, 0}, {int64_t{3} << 48, 10, 2, 0}};
  size_t buckets = 0;
  for (const Level& level : fold(lane)) buckets += level.buckets.size();
  EXPECT_LE(buckets, 4u);
}

TEST(Lanes, OverlappingSlicesAreApartAndTheFirstLaneIsPreferred) {
  const auto result = lanes({{50, 100, 2, 0}, {0, 100, 1, 0}, {100, 20, 3, 0}, {150, 5, 4, 0}});
  ASSERT_EQ(result.size(), 2u);
  EXPECT_EQ(result[0].size(), 3u);
  EXPECT_EQ(result[0][1].name, 3);
  EXPECT_EQ(result[1][0].name, 2);
}

TEST(Lanes, SlicesWithoutTimeAreLeftOutAndNegativeBeginsCut) {
  const auto result = lanes({{5, 0, 1, 0}, {5, 0, 2, 0}, {-7, 3, 3, 0}});
  ASSERT_EQ(result.size(), 1u);
  ASSERT_EQ(result[0].size(), 1u);
  EXPECT_EQ(result[0][0].begin_ns, 0);
}

TEST(Chunks, HoldAtMost512RecordsAndReadBackEqual) {
  const std::vector<Slice> lane = random_lane(1'100, 4);
  const std::vector<Chunk> parts = chunks(lane);
  ASSERT_EQ(parts.size(), 3u);
  std::vector<Slice> back;
  for (const Chunk& part : parts) {
    EXPECT_EQ(part.level, kSliceLevel);
    const auto slices = slices_of(part.bytes);
    ASSERT_TRUE(slices.ok());
    EXPECT_EQ(slices->front().begin_ns, part.begin_ns);
    EXPECT_LE(slices->size(), kChunkRecords);
    back.insert(back.end(), slices->begin(), slices->end());
  }
  ASSERT_EQ(back.size(), lane.size());
  for (size_t i = 0; i < lane.size(); ++i) EXPECT_EQ(back[i].begin_ns, lane[i].begin_ns);
}

TEST(Chunks, KeysOfALevelAreDistinct) {
  for (const Level& level : fold(random_lane(5'000, 5))) {
    int64_t last = -1;
    for (const Chunk& chunk : chunks(level)) {
      EXPECT_GT(chunk.begin_ns, last);
      last = chunk.begin_ns;
      EXPECT_TRUE(buckets_of(chunk.bytes).ok());
    }
  }
}

TEST(Chunks, OfAWrongSizeAreDamaged) {
  const std::vector<std::byte> bytes(17);
  EXPECT_FALSE(slices_of(bytes).ok());
  EXPECT_FALSE(buckets_of(bytes).ok());
}

}  // namespace
}  // namespace timeline
