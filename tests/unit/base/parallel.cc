// Loops on all processors: nothing is left out, done twice or out of order.
#include "src/base/parallel.h"

#include <gtest/gtest.h>

#include <numeric>
#include <utility>
#include <vector>

TEST(Parallel, PartsCoverTheRangeInOrder) {
  for (const size_t count : {0u, 1u, 2u, 7u, 1000u}) {
    for (const size_t least : {0u, 1u, 3u, 2000u}) {
      const auto parts = base::in_parts(count, least, [](size_t begin, size_t end) { return std::pair(begin, end); });
      ASSERT_FALSE(parts.empty());
      size_t at = 0;
      for (const auto& [begin, end] : parts) {
        EXPECT_EQ(begin, at);
        EXPECT_TRUE(parts.size() == 1 || end - begin >= least) << count << " " << least;
        at = end;
      }
      EXPECT_EQ(at, count);
    }
  }
}

TEST(Parallel, EachIsDoneOnce) {
  std::vector<int> times(1000);
  base::for_all(times.size(), 1, [&](size_t i) { ++times[i]; });
  EXPECT_EQ(times, std::vector<int>(1000, 1));
}
