// Lanes are given out one by one as lanes() gives them all at once.
#include <gtest/gtest.h>

#include <random>

#include "src/timeline/timeline.h"

namespace timeline {
namespace {

TEST(LaneAllocator, TakesTheLowestFreeLane) {
  LaneAllocator lanes;
  EXPECT_EQ(lanes.place(0, 10), 0u);
  EXPECT_EQ(lanes.place(5, 20), 1u);
  EXPECT_EQ(lanes.place(6, 30), 2u);
  EXPECT_EQ(lanes.place(20, 40), 0u);
  EXPECT_EQ(lanes.place(20, 50), 1u);
  EXPECT_EQ(lanes.place(50, 50), 0u);
}

TEST(LaneAllocator, AgreesWithLanes) {
  std::mt19937 random(1);
  std::vector<Slice> slices;
  for (int i = 0; i < 2000; ++i) slices.push_back({i * 3 + static_cast<int64_t>(random() % 3), 1 + static_cast<int64_t>(random() % 12), i});
  const auto all = lanes(slices);
  LaneAllocator allocator;
  std::vector<size_t> next(all.size());
  for (const Slice& slice : slices) {
    const size_t lane = allocator.place(slice.begin_ns, slice.begin_ns + slice.duration_ns);
    ASSERT_LT(lane, all.size());
    EXPECT_EQ(all[lane].at(next[lane]++).name, slice.name);
  }
}

}  // namespace
}  // namespace timeline
