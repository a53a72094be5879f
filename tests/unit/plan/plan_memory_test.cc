// Buffers that live at the same time never share memory; memory is reused.
#include <gtest/gtest.h>

#include <random>

#include "replay/plan_builder.h"

namespace replay {
namespace {

Buffer buffer(int64_t bytes, StepId first, StepId last) {
  Buffer b;
  b.bytes = bytes;
  b.first = first;
  b.last = last;
  return b;
}

bool overlap(const Buffer& a, const Buffer& b) {
  const bool in_time = a.first <= b.last && b.first <= a.last;
  return in_time && a.bytes > 0 && b.bytes > 0 && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

TEST(Place, ChainOfEqualBuffersNeedsTwo) {
  std::vector<Buffer> buffers;
  for (int i = 0; i < 100; ++i) buffers.push_back(buffer(1 << 20, i, i + 1));
  EXPECT_EQ(place(buffers), 2 << 20);
}

TEST(Place, RandomRangesNeverOverlap) {
  std::mt19937_64 random(7);
  std::vector<Buffer> buffers;
  int64_t all = 0;
  for (int i = 0; i < 600; ++i) {
    const auto first = static_cast<StepId>(random() % 300);
    buffers.push_back(buffer(static_cast<int64_t>(random() % 5000), first, first + static_cast<StepId>(random() % 20)));
    all += buffers.back().bytes;
  }
  const int64_t arena = place(buffers);
  EXPECT_LT(arena, all / 4);
  for (size_t a = 0; a < buffers.size(); ++a) {
    if (buffers[a].bytes == 0) continue;
    EXPECT_EQ(buffers[a].offset % 64, 0);
    EXPECT_LE(buffers[a].offset + buffers[a].bytes, arena);
    for (size_t b = 0; b < a; ++b) ASSERT_FALSE(overlap(buffers[a], buffers[b])) << a << " and " << b;
  }
}

TEST(Place, AliasesAndParametersTakeNothing) {
  std::vector<Buffer> buffers{buffer(64, 0, 1), buffer(64, 0, 1), buffer(64, 0, 1)};
  buffers[1].alias_of = 0;
  buffers[2].kind = Buffer::Kind::parameter;
  EXPECT_EQ(place(buffers), 64);
  EXPECT_EQ(buffers[1].offset, -1);
  EXPECT_EQ(buffers[2].offset, -1);
}

TEST(Place, FreedNeighboursMerge) {
  std::vector<Buffer> buffers{buffer(64, 0, 0), buffer(64, 0, 0), buffer(128, 1, 1)};
  EXPECT_EQ(place(buffers), 128);
}

}  // namespace
}  // namespace replay
