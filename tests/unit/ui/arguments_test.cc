// The command line of profile-view.
#include "ui/arguments.h"

#include <gtest/gtest.h>

#include "ui/panel.h"

namespace ui {
namespace {

TEST(Arguments, ReadSizes) {
  ASSERT_TRUE(parse_size("1280x800").ok());
  EXPECT_EQ(*parse_size("1280x800"), (std::pair{1280, 800}));
  for (const char* wrong : {"", "1280", "1280x", "1280x800x2", "63x800", "1280x99999", "-1x5"})
    EXPECT_FALSE(parse_size(wrong).ok()) << wrong;
}

TEST(Arguments, ReadRanges) {
  const auto range = parse_range("10ms..25.5ms");
  ASSERT_TRUE(range.ok());
  EXPECT_EQ(range->begin_ns, 10'000'000);
  EXPECT_EQ(range->end_ns, 25'500'000);
  EXPECT_EQ(parse_range("5..7")->end_ns, 7);
  EXPECT_EQ(parse_range("1us..2s")->begin_ns, 1000);
  for (const char* wrong : {"", "5", "7..5", "5..5", "a..b", "1..2weeks", "nan..1", "0..1e300s", "..", "1...2"})
    EXPECT_FALSE(parse_range(wrong).ok()) << wrong;
}

TEST(Arguments, NameAPictureOfEachPanel) {
  Arguments arguments;
  arguments.screenshot = "folder/run.1.png";
  ASSERT_EQ(shots_of(arguments).size(), 1u);
  EXPECT_EQ(shots_of(arguments)[0].path, "folder/run.1.png");
  arguments.panel = "all";
  const std::vector<Shot> shots = shots_of(arguments);
  ASSERT_EQ(shots.size(), panels().size() + 1);
  EXPECT_EQ(shots[0].path, "folder/run.1_timeline.png");
  EXPECT_EQ(shots.back().path, "folder/run.1_layout.png");
  EXPECT_EQ(shots.back().panel, "");
  EXPECT_TRUE(check(arguments).ok());
  arguments.screenshot.clear();
  EXPECT_EQ(check(arguments).error().message, "--panel 'all': needs --screenshot");
}

TEST(Arguments, NameWhatIsNotThere) {
  Arguments arguments;
  arguments.panel = "tpo";
  ASSERT_FALSE(check(arguments).ok());
  EXPECT_TRUE(check(arguments).error().message.starts_with("--panel 'tpo': there is no such panel; there are "));
  EXPECT_EQ(check(arguments).error().exit, base::Exit::wrong_use);
  arguments = {};
  arguments.theme = "blue";
  EXPECT_FALSE(check(arguments).ok());
  arguments = {};
  arguments.layout = "(tabs top)";
  EXPECT_TRUE(check(arguments).ok());
}

}  // namespace
}  // namespace ui
