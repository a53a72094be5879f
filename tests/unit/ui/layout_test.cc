// Layouts: their text, moving panels, and settings that keep them.
#include "ui/layout.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "ui/panel.h"
#include "ui/settings.h"

namespace ui {
namespace {

Node parsed(std::string_view text) {
  auto node = parse_layout(text);
  EXPECT_TRUE(node.ok()) << (node.ok() ? "" : node.error().message);
  return node.ok() ? *std::move(node) : Node();
}

std::vector<std::string_view> names() {
  std::vector<std::string_view> names;
  for (const PanelKind& kind : panels()) names.push_back(kind.name);
  return names;
}

TEST(Layout, IsPrintedAsItWasRead) {
  for (const std::string_view text : {"(tabs)", "(tabs a b* c)", "(row 0.25 (tabs a*) (column 0.5 (tabs b*) (tabs c d*)))"})
    EXPECT_EQ(print(parsed(text)), text);
}

TEST(Layout, ToleratesSpaceAndClampsShares) {
  EXPECT_EQ(print(parsed(" ( row 7\n(tabs a)( tabs\tb* ) ) ")), "(row 0.95 (tabs a*) (tabs b*))");
}

TEST(Layout, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "layout, byte 0: expected '('"},
      {"(tabs a", "layout, byte 7: expected the name of a panel or ')'"},
      {"(stack 0.5 (tabs) (tabs))", "layout, byte 6: expected tabs, row or column"},
      {"(row nan (tabs a) (tabs b))", "layout, byte 5: expected the share of the first part, like 0.5"},
      {"(row 0.5 (tabs a))", "layout, byte 17: expected '('"},
      {"(tabs a) x", "layout, byte 9: expected nothing more"},
  };
  for (const auto& [text, message] : cases) {
    const auto node = parse_layout(text);
    ASSERT_FALSE(node.ok()) << text;
    EXPECT_EQ(node.error().message, message) << text;
  }
}

TEST(Layout, RefusesDeepNesting) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "(row 0.5 ";
  EXPECT_FALSE(parse_layout(deep).ok());
}

TEST(Layout, PresetsHoldEveryPanelOnce) {
  for (const Preset& preset : presets()) {
    Node node = parsed(preset.text);
    complete(node, names());
    std::vector<std::string> all;
    for (const Node* leaf : leaves(node)) all.insert(all.end(), leaf->panels.begin(), leaf->panels.end());
    std::ranges::sort(all);
    const std::vector<std::string_view> known = names();
    std::vector<std::string> expected(known.begin(), known.end());
    std::ranges::sort(expected);
    EXPECT_EQ(all, expected) << preset.name;
  }
}

TEST(Layout, IsCompleted) {
  Node node = parsed("(row 0.5 (tabs gone) (column 0.5 (tabs a b* a) (tabs b)))");
  const std::string_view known[] = {"a", "b", "new"};
  complete(node, known);
  EXPECT_EQ(print(node), "(tabs a b* new)");
  Node nothing = parsed("(row 0.5 (tabs x) (tabs y))");
  complete(nothing, known);
  EXPECT_EQ(print(nothing), "(tabs a* b new)");
}

TEST(Layout, MovesPanels) {
  Node node = parsed("(row 0.5 (tabs a* b) (tabs c*))");
  EXPECT_TRUE(move_panel(node, "a", "c", Side::middle));
  EXPECT_EQ(print(node), "(row 0.5 (tabs b*) (tabs c a*))");
  EXPECT_TRUE(move_panel(node, "a", "b", Side::below));
  EXPECT_EQ(print(node), "(row 0.5 (column 0.5 (tabs b*) (tabs a*)) (tabs c*))");
  EXPECT_TRUE(move_panel(node, "c", "a", Side::left));
  EXPECT_EQ(print(node), "(column 0.5 (tabs b*) (row 0.5 (tabs c*) (tabs a*)))");
  EXPECT_FALSE(move_panel(node, "a", "a", Side::left)) << "nothing is left to split from";
  EXPECT_FALSE(move_panel(node, "none", "a", Side::left));
}

TEST(Layout, DividesWithoutOverlap) {
  const Node node = parsed("(row 0.25 (tabs a) (tabs b))");
  const auto [left, right] = divide(node, {0, 0, 104, 50}, 4);
  EXPECT_EQ(left, (Rect{0, 0, 25, 50}));
  EXPECT_EQ(right, (Rect{29, 0, 104, 50}));
}

TEST(Settings, AreReadAsTheyWereWritten) {
  Settings settings = default_settings();
  settings.mode = Mode::light, settings.zoom = 1.5f, settings.layout = parsed("(row 0.5 (tabs top*) (tabs sql*))");
  EXPECT_EQ(parse_settings(print(settings)), settings);
}

TEST(Settings, OfADamagedFileAreTheDefault) {
  EXPECT_EQ(parse_settings("\xff\x00 theme\nzoom many\nlayout (row\ntheme blue\n"), default_settings());
  EXPECT_EQ(parse_settings("zoom 1e9").zoom, kMostZoom);
  EXPECT_EQ(load_settings("/nowhere/at/all"), default_settings());
}

TEST(Settings, AreKeptInAFile) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("view_settings_" + std::to_string(::getpid()));
  const std::string path = (folder / "profile" / "view.conf").string();
  Settings settings = default_settings();
  settings.zoom = 2;
  ASSERT_TRUE(save_settings(settings, path).ok());
  EXPECT_EQ(load_settings(path), settings);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "profile"), {}), 1) << "nothing else is left";
  std::filesystem::remove_all(folder);
  const auto failed = save_settings(settings, "/proc/no/view.conf");
  EXPECT_FALSE(failed.ok());
}

}  // namespace
}  // namespace ui
