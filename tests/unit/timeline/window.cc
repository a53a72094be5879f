// What is drawn must tell the same as the slices: at any zoom the covered pixels add up to the busy time in view.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "src/timeline/window.h"

namespace timeline {
namespace {

std::vector<Slice> lane_with_pauses(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Slice> lane;
  int64_t at_ns = 1000;
  for (int i = 0; i < count; ++i) {
    lane.push_back({at_ns, 1 + static_cast<int64_t>(random() % 5000), i % 500, 0});
    at_ns += lane.back().duration_ns + static_cast<int64_t>(random() % 300) + (i % 500 == 499 ? 40'000'000 : 0);
  }
  return lane;
}

double covered_ns(const std::vector<Mark>& marks, const Scale& scale) {
  double pixels = 0;
  for (const Mark& mark : marks) {
    const double from = std::max(0.0, static_cast<double>(mark.x0)), to = std::min(scale.pixels, static_cast<double>(mark.x1));
    pixels += static_cast<double>(mark.busy) * std::max(0.0, to - from);
  }
  return pixels * scale.ns_per_pixel;
}

TEST(Window, CoversTheBusyTimeOfTheSlicesAtEveryZoom) {
  const Folded lane(lane_with_pauses(20'000, 1));
  const int64_t end_ns = lane.slices().back().begin_ns + lane.slices().back().duration_ns;
  for (double part = 1; part > 1e-4; part /= 3) {
    const double length = static_cast<double>(end_ns) * part, begin = static_cast<double>(end_ns) * 0.4 * (1 - part);
    const Scale scale{begin, length / 1000, 1000};
    const auto from = static_cast<int64_t>(begin), to = static_cast<int64_t>(begin + length);
    const Window window = lane.window(level_for(lane.levels(), scale.ns_per_pixel), from, to);
    const double busy = sums(lane.slices(), from, to).inside_ns;
    // what is cut: a narrow slice over the border of two pixels
    EXPECT_NEAR(covered_ns(marks(window, scale), scale), busy, 0.02 * busy + 4 * scale.ns_per_pixel) << part;
  }
}

TEST(Window, DrawsAtMostOneMarkAPixelWhateverTheNumberOfSlices) {
  const Folded lane(lane_with_pauses(200'000, 2));
  const auto end = static_cast<double>(lane.slices().back().begin_ns + lane.slices().back().duration_ns);
  for (double part = 1; part > 1e-5; part /= 2) {
    const Scale scale{end * 0.3, end * part / 1000, 1000};
    const Window window = lane.window(level_for(lane.levels(), scale.ns_per_pixel), static_cast<int64_t>(scale.begin_ns),
                                      static_cast<int64_t>(scale.begin_ns + end * part));
    EXPECT_LE(marks(window, scale).size(), 2002u) << part;
    EXPECT_LE(window.size(), 100'000u) << part << ": idle time must not make the finest level coarse where the lane is busy";
  }
}

TEST(Window, CountsEverySliceOnce) {
  const Folded lane(lane_with_pauses(5'000, 3));
  const auto end = static_cast<double>(lane.slices().back().begin_ns + 10'000);
  const Scale scale{0, end / 700, 700};
  for (const int level : {kSliceLevel, lane.levels().finest, lane.levels().coarsest}) {
    uint64_t count = 0;
    for (const Mark& mark : marks(lane.window(level, 0, static_cast<int64_t>(end)), scale)) count += mark.count;
    EXPECT_EQ(count, 5'000u) << level;
  }
}

TEST(Window, ASliceThatIsWideEnoughIsItsOwnMark) {
  Window window;
  window.slices = {{0, 100, 7, 0}, {100, 1, 8, 0}, {101, 1, 9, 0}, {200, 100, 10, 0}};
  const std::vector<Mark> shown = marks(window, {0, 10, 30});
  ASSERT_EQ(shown.size(), 3u);
  EXPECT_EQ(shown[0].record, 0);
  EXPECT_EQ(shown[1].record, -1);
  EXPECT_EQ(shown[1].count, 2u);
  EXPECT_NEAR(shown[1].busy, 0.2, 1e-5);
  EXPECT_EQ(shown[2].name, 10);
}

TEST(Window, NeighboursOfOneGroupAreOneSpanUntilTheNextPass) {
  Window window;
  window.slices = {{0, 100, 0, 0}, {100, 100, 1, 0}, {200, 100, 2, 0}, {300, 100, 3, 0}, {900, 100, 0, 0}, {1000, 100, 1, 0}};
  const std::vector<int32_t> groups = {5, 5, -1, 6, 5, 5};
  const std::vector<Mark> shown = spans(window, groups, {0, 10, 200});
  ASSERT_EQ(shown.size(), 3u);
  EXPECT_EQ(shown[0].name, 5);
  EXPECT_FLOAT_EQ(shown[0].x1, 20);
  EXPECT_EQ(shown[0].count, 2u);
  EXPECT_EQ(shown[1].name, 6);
  EXPECT_FLOAT_EQ(shown[2].x0, 90);
}

TEST(Window, GapsThatNoEyeSeesDoNotBreakASpan) {
  Window window;
  window.slices = {{0, 10'000, 0, 0}, {10'000, 10, 1, 0}, {10'010, 10'000, 2, 0}};
  EXPECT_EQ(spans(window, std::vector<int32_t>{3, -1, 3}, {0, 100, 300}).size(), 1u);
}

TEST(Window, TimesOfStrangersDrawSomething) {
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max() / 4;
  Window window;
  window.slices = {{0, kFar, 1, 0}, {5, 0, 2, 0}, {-kFar, 3, 3, 0}, {kFar, kFar, 4, 0}, {7, 100, std::numeric_limits<int32_t>::min(), 0}};
  for (const double ns_per_pixel : {1e-6, 1.0, 1e15}) {
    for (const Mark& mark : marks(window, {-10, ns_per_pixel, 1000})) EXPECT_TRUE(std::isfinite(mark.x0) && std::isfinite(mark.x1));
  }
  EXPECT_TRUE(marks({}, {}).empty());
}

TEST(Window, SpansOf1e18NsFold) {
  const auto lane = lanes({{0, 1, 0, 0}, {1'000'000'000'000'000'000, 5, 1, 0}, {3, 900'000'000'000'000'000, 2, 0}});
  ASSERT_EQ(lane.size(), 1u);
  const Folded folded(lane[0]);
  EXPECT_EQ(folded.window(folded.levels().finest, 0, 2'000'000'000'000'000'000).buckets.front().index, 0u);
  EXPECT_GE(folded.levels().finest, 28);
}

TEST(Window, LanesOfComparisonsComeAfterThoseOfTheProgram) {
  const auto lane = lanes({{0, 10, 1, 2}, {0, 10, 2, 0}, {5, 10, 3, 0}, {20, 5, 1, 1}});
  ASSERT_EQ(lane.size(), 3u);
  EXPECT_EQ(lane[0][0].name, 2);
  EXPECT_EQ(lane[1][0].name, 3);
  EXPECT_EQ(lane[2].size(), 2u);
  EXPECT_EQ(lane[2][1].variant, 1);
}

TEST(Window, SumsAreCutAtTheBorders) {
  const std::vector<Slice> slices = {{0, 10, 0, 0}, {20, 10, 1, 0}, {40, 10, 2, 0}};
  const Sums box = sums(slices, 5, 25);
  EXPECT_EQ(box.count, 2);
  EXPECT_EQ(box.inside_ns, 10);
  EXPECT_EQ(box.whole_ns, 20);
  EXPECT_EQ(sums(slices, 10, 20).count, 0) << "touching is not overlapping";
}

}  // namespace
}  // namespace timeline
