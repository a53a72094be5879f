// Widths, cuts and units, one line a case.
#include "src/report/display.h"

#include <gtest/gtest.h>

#include "src/report/query.h"
#include "src/report/units.h"

namespace report {
namespace {

TEST(Display, WidthCountsColumnsNotBytes) {
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("µs"), 2u);
  EXPECT_EQ(display_width("層0"), 3u);
  EXPECT_EQ(display_width("e\u0301"), 1u);
  EXPECT_EQ(display_width("🚀"), 2u);
}

TEST(Display, LongNamesKeepBothEnds) {
  EXPECT_EQ(cut_middle("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(cut_middle("abcdefghij", 7), "abc…hij");
  EXPECT_EQ(cut_middle("abcdefghij", 1), "…");
  EXPECT_EQ(cut_middle("abcdefghij", 0), "");
  EXPECT_EQ(cut_middle("層層層層層", 6), "層…層");
  EXPECT_EQ(cut_middle("abcdefghij", 7, 1), "a…fghij");
  EXPECT_EQ(cut_middle("abcdefghij", 7, 9), "abcdef…");
  for (size_t width = 0; width < 12; ++width) EXPECT_LE(display_width(cut_middle("a層b層c層d", width)), width);
}

TEST(Display, NothingOfAFileReachesTheTerminalAsAControl) {
  EXPECT_EQ(displayable("a\x1b[31mb\nc"), "a\\x1b[31mb\\nc");
  EXPECT_EQ(displayable("\xff"), "\\xff");
  EXPECT_EQ(displayable("a\u202Eb"), "a\\u202eb");
  EXPECT_EQ(displayable("層µ"), "層µ");
}

TEST(Display, PadsOnEitherSide) {
  EXPECT_EQ(padded("µs", 4, Align::left), "µs  ");
  EXPECT_EQ(padded("µs", 4, Align::right), "  µs");
  EXPECT_EQ(padded("long", 2, Align::right), "long");
}

TEST(Units, FollowTheSuffixOfTheColumn) {
  EXPECT_EQ(human(cell(12345678.0), "median_ns"), "12.3 ms");
  EXPECT_EQ(human(cell(int64_t{1'500'000'000}), "peak_bytes"), "1.50 GB");
  EXPECT_EQ(human(cell(int64_t{512}), "bytes"), "512 B");
  EXPECT_EQ(human(cell(45.649), "share_percent"), "45.6 %");
  EXPECT_EQ(human(cell(7.254), "gb_per_s"), "7.25");
  EXPECT_EQ(human(cell(2.5e12), "flops"), "2.50 TFLOP");
  EXPECT_EQ(human(cell(7.2e9), "triad_bytes_per_s"), "7.20 GB/s");
  EXPECT_EQ(human(cell(1.23e11), "product_flops_per_s"), "123 GFLOP/s");
  EXPECT_EQ(human(cell(int64_t{7}), "columns"), "7");
  EXPECT_EQ(human(cell(1.0), "calls"), "1");
  EXPECT_EQ(human(cell(1.5), "calls"), "1.50");
  EXPECT_EQ(human(cell(0.0), "self_ns"), "0 s");
  EXPECT_EQ(human({}, "median_ns"), "-");
}

TEST(Units, HeadingsDropWhatTheCellsSay) {
  EXPECT_EQ(heading("median_ns"), "median");
  EXPECT_EQ(heading("gb_per_s"), "GB/s");
  EXPECT_EQ(heading("attainable_gflop_per_s"), "attainable GFLOP/s");
  EXPECT_EQ(heading("saved_bytes"), "saved");
  EXPECT_EQ(heading("bytes"), "size");
  EXPECT_EQ(heading("flops"), "work");
  EXPECT_EQ(heading("columns"), "columns");
  EXPECT_EQ(heading("intensity_flop_per_byte"), "intensity FLOP/byte");
}

}  // namespace
}  // namespace report
