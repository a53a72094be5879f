// Launch formulas: exact numbers of a card with 132 multiprocessors, and what holds for all sizes.
#include "replay/kernel/cuda_launch.h"

#include <gtest/gtest.h>

#include <bit>
#include <initializer_list>

namespace kernel::cuda {
namespace {

constexpr int kMultiprocessors = 132;

TEST(CudaLaunch, LargeMapsTakeSixteenBytesAThread) {
  const Map halves = plan_map(int64_t{8192} * 768, {768, 2, 20}, kMultiprocessors);
  EXPECT_EQ(halves.lanes, 8);
  EXPECT_EQ(halves.threads, 256);
  EXPECT_EQ(halves.blocks, 3072);
  EXPECT_EQ(plan_map(int64_t{8192} * 3072, {3072, 4, 20}, kMultiprocessors).lanes, 4);
}

TEST(CudaLaunch, SmallMapsTakeThreadsRatherThanVectors) {
  const Map small = plan_map(768, {768, 2, 5}, kMultiprocessors);
  EXPECT_EQ(small.lanes, 1);
  EXPECT_EQ(small.threads, 128);
  EXPECT_EQ(small.blocks, 6);
}

TEST(CudaLaunch, LongCodeAndOddRunsTakeShortVectors) {
  EXPECT_EQ(vector_of({1 << 20, 2, 200}, 1 << 24, 1), 2);
  EXPECT_EQ(vector_of({1 << 20, 2, 600}, 1 << 24, 1), 1);
  EXPECT_EQ(vector_of({12, 2, 1}, 1 << 24, 1), 4);
  EXPECT_EQ(vector_of({7, 2, 1}, 1 << 24, 1), 1);
  EXPECT_EQ(vector_of({1 << 20, 8, 1}, 1 << 24, 1), 2);
}

TEST(CudaLaunch, ShortRowsShareAWarp) {
  const Team plan = plan_rows(98304, 16, {16, 4, 10}, kMultiprocessors);
  EXPECT_EQ(plan.lanes, 4);
  EXPECT_EQ(plan.team, 4);
  EXPECT_EQ(plan.per_block, 64);
  EXPECT_EQ(plan.blocks, 1536);
}

TEST(CudaLaunch, ManyRowsOfBertHaveAWarpEach) {
  const Team plan = plan_rows(8192, 768, {768, 2, 30}, kMultiprocessors);
  EXPECT_EQ(plan.team, 32);
  EXPECT_EQ(plan.per_block, 8);
  EXPECT_EQ(plan.blocks, 1024);
  EXPECT_EQ(plan.splits, 1);
}

TEST(CudaLaunch, LongRowsHaveABlockEach) {
  const Team plan = plan_rows(8192, 30522, {30522, 4, 30}, kMultiprocessors);
  EXPECT_EQ(plan.lanes, 2);
  EXPECT_EQ(plan.team, 1024);
  EXPECT_EQ(plan.blocks, 8192);
}

TEST(CudaLaunch, ARowOfManyValuesHasABlockThatLeavesRegistersForThem) {
  EXPECT_EQ(plan_rows(200, 65536, {65536, 2, 32}, kMultiprocessors).threads, 1024);
  EXPECT_EQ(plan_rows(200, 65536, {65536, 2, 33}, kMultiprocessors).threads, 512);
}

TEST(CudaLaunch, ASumOfEverythingIsSplitOverBlocks) {
  const Team plan = plan_rows(1, int64_t{1} << 26, {int64_t{1} << 26, 4, 5}, kMultiprocessors);
  EXPECT_EQ(plan.lanes, 4);
  EXPECT_EQ(plan.team, 1024);
  EXPECT_EQ(plan.splits, 528);  // four blocks a multiprocessor
  EXPECT_EQ(plan.blocks, 528);
}

TEST(CudaLaunch, ColumnsOfHalvesAreTakenInPairs) {
  const Team plan = plan_columns(1, 768, 8192, {768, 2, 10}, kMultiprocessors);
  EXPECT_EQ(plan.lanes, 2);
  EXPECT_EQ(plan.columns, 32);
  EXPECT_EQ(plan.team, 8);
  EXPECT_EQ(plan.per_block, 64);
  EXPECT_EQ(plan.splits, 44);  // 12 tiles: 528 / 12
  EXPECT_EQ(plan.blocks, 528);
}

TEST(CudaLaunch, FewColumnsLeaveMoreThreadsForRows) {
  const Team plan = plan_columns(1, 10, 1 << 20, {10, 4, 10}, kMultiprocessors);
  EXPECT_EQ(plan.columns, 16);
  EXPECT_EQ(plan.team, 16);
  EXPECT_EQ(plan.threads, 256);
}

/// What every schedule relies on, from nothing to what no card holds.
TEST(CudaLaunch, PlansCoverTheWorkForAllSizes) {
  for (const int64_t rows : {1L, 2L, 3L, 31L, 97L, 1000L, 65537L, 1L << 31, (1L << 31) + 7})
    for (const int64_t length : {0L, 1L, 2L, 7L, 32L, 33L, 1021L, 2048L, 2049L, 1L << 20, (1L << 31) + 1})
      for (const int64_t bytes : {1L, 2L, 4L, 8L}) {
        const Vector vector{length, bytes, 20};
        for (const Team& plan : {plan_rows(rows, length, vector, kMultiprocessors), plan_columns(1, rows, length, vector, kMultiprocessors),
                                 plan_columns(3, rows, length, {rows, bytes, 20}, kMultiprocessors)}) {
          EXPECT_EQ(plan.threads % kWarp, 0) << rows << " × " << length;
          EXPECT_LE(plan.threads, 1024);
          EXPECT_GE(plan.threads, plan.team * plan.columns);
          EXPECT_TRUE(std::has_single_bit(static_cast<unsigned>(plan.team)));
          EXPECT_TRUE(std::has_single_bit(static_cast<unsigned>(plan.columns)));
          EXPECT_GE(plan.splits, 1);
          EXPECT_GE(plan.blocks * plan.per_block, rows * plan.splits);
          EXPECT_LE(plan.lanes * bytes, 16);
        }
      }
}

TEST(CudaLaunch, SaysWhatADriverWouldRefuse) {
  EXPECT_EQ(illegal({1, 256, 0, 368}), "");
  EXPECT_EQ(illegal({int64_t{1} << 31, 256, 0, 8}), "blocks 2147483648: 1 to 2147483647 can be launched");
  EXPECT_EQ(illegal({0, 256, 0, 8}), "blocks 0: 1 to 2147483647 can be launched");
  EXPECT_EQ(illegal({1, 1056, 0, 8}), "threads of a block 1056: 1 to 1024 can be launched");
  EXPECT_EQ(illegal({1, 256, 49153, 8}), "bytes of shared memory 49153: 0 to 49152 can be launched");
  EXPECT_EQ(illegal({1, 256, 0, 4104}), "bytes of parameters 4104: 0 to 4096 can be launched");
}

}  // namespace
}  // namespace kernel::cuda
