// What plots compute: ticks, bins, columns, places of labels, zoom.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "ui/plot.h"
#include "ui/plot_data.h"
#include "ui/plot_view.h"
#include "ui/text.h"

namespace ui {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Ticks, AreFarEnoughApartAndNeighboursDiffer) {
  for (const Axis& axis : {Axis{0, 1, 0, 500}, Axis{123.4e6, 123.5e6, 0, 800}, Axis{-3, 7, 300, 0}, Axis{1, 1e9, 0, 600, true},
                           Axis{1.1, 1.2, 0, 600, true}, Axis{3, 40, 0, 600, true}}) {
    const std::vector<Tick> all = ticks(axis, 40, "_ns");
    ASSERT_GE(all.size(), 2u) << axis.lo;
    for (size_t i = 1; i < all.size(); ++i) {
      EXPECT_GE(std::abs(axis.pixel(all[i].value) - axis.pixel(all[i - 1].value)), 39) << all[i].label;
      EXPECT_NE(all[i].label, all[i - 1].label);
    }
  }
}

TEST(Ticks, OfCountsAreWhole) {
  const std::vector<Tick> all = ticks({0, 2.1, 0, 500}, 20, "_count");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[2].label, "2");
}

TEST(Ticks, OfValuesThatNoDoubleTellsApartAreNone) {
  EXPECT_TRUE(ticks({1e17, 1e17 + 64, 0, 500}, 20, "").empty());  // a loop by value would never end
  EXPECT_TRUE(ticks({kNaN, 1, 0, 500}, 20, "").empty());
  EXPECT_TRUE(ticks({0, kInf, 0, 500}, 20, "").empty());
  EXPECT_TRUE(ticks({-1, 10, 0, 500, true}, 20, "").empty());
  for (const Tick& tick : ticks({0, 1e200, 0, 500}, 20, "_bytes")) EXPECT_LT(tick.label.size(), 20u);
}

TEST(Bins, HoldEverySampleOnceAndFollowFreedmanDiaconis) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal(1000, 10);
  std::vector<double> values(1000);
  for (double& v : values) v = normal(random);
  const Bins bins = bins_of(values);
  EXPECT_EQ(std::accumulate(bins.counts.begin(), bins.counts.end(), 0) + bins.below + bins.above, 1000);
  EXPECT_NEAR((bins.hi - bins.lo) / static_cast<double>(bins.counts.size()), 2 * 13.49 / 10, 0.35);  // 2·IQR/∛n
  EXPECT_LE(bins.counts.size(), 60u);
}

TEST(Bins, AnOutlierIsCountedAndDoesNotFlattenTheRest) {
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) values.push_back(1000 + i);
  values.push_back(1e9);
  const Bins bins = bins_of(values);
  EXPECT_EQ(bins.above, 1);
  EXPECT_EQ(bins.below, 0);
  EXPECT_LT(bins.hi, 2000);
  EXPECT_GE(bins.counts.size(), 4u);
}

TEST(Bins, OfEqualValuesAreOne) {
  const std::vector<double> values(50, 7.0);
  const Bins bins = bins_of(values);
  EXPECT_EQ(bins.counts, std::vector<int>{50});
  EXPECT_EQ(bins.lo, 7);
}

TEST(Bins, OfNoOrWildNumbersStandSomewhere) {
  EXPECT_EQ(bins_of({}).used, 0);
  const double wild[] = {kNaN, kInf, -kInf, 1e308, -1e308, 0, 1, 2};
  const Bins bins = bins_of(wild);
  EXPECT_EQ(bins.used, 5);
  EXPECT_EQ(std::accumulate(bins.counts.begin(), bins.counts.end(), 0) + bins.below + bins.above, 5);
  const double nearly_equal[] = {5, 5, 5, 5, 5, 5, 5, 6};  // the IQR is 0
  EXPECT_GE(bins_of(nearly_equal).counts.size(), 2u);
}

TEST(Median, LeavesOutWhatIsNoNumber) {
  const double values[] = {kNaN, 3, 1, 2, kInf};
  EXPECT_EQ(median_of(values), 2);
  EXPECT_TRUE(std::isnan(median_of({})));
}

TEST(Extents, KeepEveryPeakWhateverTheWidth) {
  std::vector<double> values(10'000, 1);
  values[4321] = 9;
  const std::vector<Extent> columns = extents(values, 50);
  EXPECT_EQ(std::ranges::count_if(columns, [](const Extent& e) { return e.hi == 9; }), 1);
  EXPECT_EQ(columns[21].hi, 9);
  const double few[] = {1, kNaN, 3};
  const std::vector<Extent> wide = extents(few, 9);
  EXPECT_EQ(wide[0].lo, 1);
  EXPECT_EQ(wide[2].hi, 1);
  EXPECT_GT(wide[4].lo, wide[4].hi) << "no value there";
  EXPECT_EQ(wide[8].hi, 3);
}

TEST(StackColumns, ShowTheLargestPositionOfEachColumn) {
  std::vector<double> sums(1000);
  std::iota(sums.begin(), sums.end(), 0);
  const auto columns = stack_columns(sums, 0, 1000, 10);
  for (size_t c = 0; c < 10; ++c) EXPECT_EQ(columns[c].index, static_cast<int64_t>(c * 100 + 99));
  const auto zoomed = stack_columns(sums, 10, 12, 10);
  EXPECT_EQ(zoomed[0].index, 10);
  EXPECT_EQ(zoomed[9].index, 11);
  const auto beside = stack_columns(sums, -10, 10, 10);
  EXPECT_EQ(beside[0].index, -1) << "before the first";
  EXPECT_EQ(beside[9].index, 9);
}

TEST(Labels, StandInsideAndNeverOverEachOther) {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> place(0, 400);
  std::vector<LabelWish> wishes(60);
  for (LabelWish& w : wishes) w = {place(random), place(random), 5, 60, 14};
  const Box area{0, 0, 400, 400};
  const std::vector<Box> boxes = place_labels(wishes, area);
  size_t placed = 0;
  for (size_t i = 0; i < boxes.size(); ++i) {
    if (boxes[i].x1 <= boxes[i].x0) continue;
    ++placed;
    EXPECT_GE(boxes[i].x0, 0);
    EXPECT_LE(boxes[i].y1, 400);
    for (size_t j = i + 1; j < boxes.size(); ++j) EXPECT_FALSE(boxes[j].x1 > boxes[j].x0 && boxes[i].overlaps(boxes[j]));
  }
  EXPECT_GE(placed, 25u);
}

TEST(PointGrid, FindsThePointsNearAPlace) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> place(-50, 450);
  std::vector<float> x(5000), y(5000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = place(random), y[i] = place(random);
  const Box area{0, 0, 400, 300};
  const PointGrid grid(x, y, area, 16);
  const Box around{100, 100, 150, 140};
  const std::vector<uint32_t> near = grid.near(around);
  for (uint32_t i = 0; i < x.size(); ++i) {
    const bool found = std::ranges::find(near, i) != near.end();
    const bool seen = area.contains(x[i], y[i]);
    EXPECT_TRUE(found || !seen || !around.contains(x[i], y[i])) << i;
    EXPECT_TRUE(seen || !found) << i;
  }
  EXPECT_LT(near.size(), 400u) << "does not look at all";
  EXPECT_TRUE(grid.near({-100, -100, -50, -50}).empty());
  EXPECT_TRUE(PointGrid().near(around).empty());
}

TEST(Lasso, HoldsWhatItGoesAround) {
  const float xs[] = {0, 10, 10, 5, 0}, ys[] = {0, 0, 10, 4, 10};  // a notch from above
  EXPECT_TRUE(inside(xs, ys, 2, 2));
  EXPECT_FALSE(inside(xs, ys, 5, 8));
  EXPECT_FALSE(inside(xs, ys, 11, 5));
  EXPECT_FALSE(inside({}, {}, 1, 1));
}

TEST(ShortText, IsSafeAndShortWhateverTheName) {
  const std::string wild = std::string("a##b%s\n\xff\0x", 11) + std::string(1'000'000, 'y') + "end";
  const std::string text = short_text(wild, 24);
  EXPECT_LE(text.size(), 26u);
  EXPECT_TRUE(text.ends_with("end")) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST(Human, KeepsADigitOfSmallShares) {
  for (const auto& [value, text] : std::initializer_list<std::pair<double, std::string>>{{12.34, "12.3 %"},
                                                                                         {0.1, "0.1 %"},
                                                                                         {0.042, "0.04 %"},
                                                                                         {-0.042, "-0.04 %"},
                                                                                         {0.0007, "0.0007 %"},
                                                                                         {0.0004, "0.0 %"},
                                                                                         {0, "0.0 %"}})
    EXPECT_EQ(human(value, "share_percent"), text);
  EXPECT_EQ(human(0.042, "_ns"), "0.04 ns");
  EXPECT_EQ(human(std::nan(""), "_percent"), "–");
}

TEST(PlotView, ZoomsToTheCursorAndBack) {
  PlotView view;
  view.set_full({0, 100}, {1, 1e6, 0, 1, true});
  view.zoom_x(0.25, 0.5);
  EXPECT_DOUBLE_EQ(view.x().lo, 12.5);
  EXPECT_DOUBLE_EQ(view.x().hi, 62.5);
  view.zoom_y(0.5, 0.5);
  EXPECT_NEAR(view.y().lo, std::pow(10, 1.5), 1e-6);
  EXPECT_NEAR(view.y().hi, std::pow(10, 4.5), 1e-3);
  EXPECT_TRUE(view.moved());
  view.set_full({0, 100}, {1, 1e6, 0, 1, true});
  EXPECT_TRUE(view.moved()) << "the same data does not undo a zoom";
  view.zoom_to(0.8, 0.2, 0, 1);
  EXPECT_DOUBLE_EQ(view.x().lo, 22.5);
  view.show_all();
  EXPECT_EQ(view.x().hi, 100);
}

TEST(PlotView, StaysDrawableWhateverIsDone) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> any(-3, 3);
  for (const Axis& full :
       {Axis{kNaN, kInf}, Axis{5, 5}, Axis{-1e300, 1e300}, Axis{0, 0, 0, 1, true}, Axis{1e-320, 1e308, 0, 1, true}, Axis{9, 1}}) {
    PlotView view;
    view.set_full(full, full);
    for (int i = 0; i < 2000; ++i) {
      const double a = any(random), b = any(random);
      if (i % 4 == 0) view.zoom_x(a, std::exp(b * 3));
      if (i % 4 == 1) view.zoom_y(b, std::exp(a * 3));
      if (i % 4 == 2) view.pan(a, b);
      if (i % 4 == 3) view.zoom_to(a, b, b, b);
      for (const Axis& axis : {view.x(), view.y()}) {
        ASSERT_TRUE(std::isfinite(axis.lo) && std::isfinite(axis.hi) && axis.hi > axis.lo) << full.lo << " " << i;
        ASSERT_TRUE(!axis.log || axis.lo > 0);
        ASSERT_LT(ticks(axis, 20, "").size(), 1001u);
      }
    }
  }
}

}  // namespace
}  // namespace ui
