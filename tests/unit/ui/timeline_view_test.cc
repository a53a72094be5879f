// The part of time in view: what a person does to it, without a window.
#include <gtest/gtest.h>

#include <cmath>

#include "ui/timeline_rows.h"
#include "ui/timeline_view.h"

namespace ui {
namespace {

TimelineView view_of(double begin, double end) {
  TimelineView view;
  view.set_all({begin, end});
  return view;
}

TEST(TimelineView, ZoomKeepsTheTimeUnderTheCursor) {
  TimelineView view = view_of(0, 1e9);
  view.zoom(0.01, 3e8);
  for (const double factor : {0.5, 1.7, 0.3, 0.8}) {
    const double share = (3e8 - view.span().begin_ns) / view.span().length_ns();
    view.zoom(factor, 3e8);
    EXPECT_NEAR((3e8 - view.span().begin_ns) / view.span().length_ns(), share, 1e-9) << factor;
  }
}

TEST(TimelineView, NeverLeavesWhatThereIs) {
  TimelineView view = view_of(0, 1e6);
  view.zoom(1e9, 0);
  EXPECT_EQ(view.span(), view.all());
  view.zoom(0.1, 5e5);
  view.pan(-1e12);
  EXPECT_DOUBLE_EQ(view.span().begin_ns, view.all().begin_ns);
  view.pan(1e12);
  EXPECT_NEAR(view.span().end_ns, view.all().end_ns, 1e-3);
  view.zoom(0, 5e5);
  EXPECT_GE(view.span().length_ns(), 19.0);
}

TEST(TimelineView, BackAndForward) {
  TimelineView view = view_of(0, 1000);
  const TimeSpan all = view.span();
  view.show({100, 200});
  view.show({120, 160});
  EXPECT_TRUE(view.back());
  EXPECT_EQ(view.span(), (TimeSpan{100, 200}));
  EXPECT_TRUE(view.back());
  EXPECT_EQ(view.span(), all);
  EXPECT_FALSE(view.back());
  EXPECT_TRUE(view.forward());
  EXPECT_TRUE(view.forward());
  EXPECT_EQ(view.span(), (TimeSpan{120, 160}));
  EXPECT_FALSE(view.forward());
}

TEST(TimelineView, RevealsWhatIsOutsideOrTooSmallAndLeavesTheRest) {
  TimelineView view = view_of(0, 1e9);
  view.reveal({1e8, 2e8});
  EXPECT_EQ(view.span(), view.all()) << "it is seen already";
  view.reveal({500, 600});
  EXPECT_LE(view.span().begin_ns, 500);
  EXPECT_GE(view.span().end_ns, 600);
  EXPECT_LT(view.span().length_ns(), 2000);
}

TEST(TimelineView, GrowsWithARunThatIsBeingWrittenOnlyWhereAllWasInView) {
  TimelineView view = view_of(0, 1000);
  view.set_all({0, 2000});
  EXPECT_EQ(view.span(), view.all());
  view.show({100, 200});
  view.set_all({0, 3000});
  EXPECT_EQ(view.span(), (TimeSpan{100, 200}));
}

TEST(TimelineView, HostileLengthsStayFinite) {
  for (const TimeSpan& all : {TimeSpan{0, 0}, TimeSpan{1e18, 1e18}, TimeSpan{-1e18, 4e18}, TimeSpan{0, 1}}) {
    TimelineView view = view_of(all.begin_ns, all.end_ns);
    for (int i = 0; i < 200; ++i) view.zoom(0.5, all.begin_ns);
    for (int i = 0; i < 300; ++i) view.zoom(3, all.end_ns), view.pan(1e17);
    EXPECT_TRUE(std::isfinite(view.span().begin_ns) && view.span().length_ns() > 0);
    EXPECT_GT(view.span().begin_ns + view.span().length_ns() / 1000, view.span().begin_ns) << "a pixel is more than nothing";
  }
}

TEST(TimelineRowMark, SpansWhatIsInView) {
  EXPECT_FALSE(seen_rows({0, 400, 400}));  // all of it
  EXPECT_FALSE(seen_rows({0, 0, 400}));
  const auto first = seen_rows({0, 400, 1600}), last = seen_rows({1200, 400, 1600});
  ASSERT_TRUE(first && last);
  EXPECT_FLOAT_EQ(first->top, 0);
  EXPECT_FLOAT_EQ(first->bottom, 100);
  EXPECT_FLOAT_EQ(last->top, 300);
  EXPECT_FLOAT_EQ(last->bottom, 400);
}

}  // namespace
}  // namespace ui
