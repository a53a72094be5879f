// Every panel on every kind of database: it draws something, or says why not; no assertion of ImGui, no id twice.
#include "ui/panel.h"

#include <algorithm>

#include "tests/unit/ui/person.h"

namespace ui {
namespace {

void draw_all(std::string_view database, Mode mode, int width, int height) {
  Person person({sample(database)}, width, height, mode);
  for (const PanelKind& kind : panels()) {
    SCOPED_TRACE(std::string(database) + ", panel " + std::string(kind.name));
    person.show(kind.name);
    person.look(4);
    EXPECT_FALSE(screen::words().empty());
  }
  person.show("");
  EXPECT_FALSE(screen::words().empty());
}

class Panels : public ::testing::TestWithParam<std::string_view> {};
TEST_P(Panels, AreDrawnOn) { draw_all(GetParam(), Mode::dark, 1280, 800); }
TEST_P(Panels, AreDrawnLightAndSmallOn) { draw_all(GetParam(), Mode::light, 320, 200); }
INSTANTIATE_TEST_SUITE_P(Good, Panels, ::testing::ValuesIn(good_samples()), [](const auto& row) { return std::string(row.param); });
INSTANTIATE_TEST_SUITE_P(Bad, Panels, ::testing::ValuesIn(bad_samples()), [](const auto& row) { return std::string(row.param); });

TEST(PanelTable, HasUniqueNames) {
  for (const PanelKind& kind : panels()) EXPECT_EQ(find_panel(kind.name), &kind);
}

TEST(PanelsWithoutADatabase, SaySo) {
  Person person({});
  for (const PanelKind& kind : panels()) person.show(kind.name);
}

TEST(PanelsWithEachStepSelected, AreDrawn) {
  Person person({sample("mnist")});
  ASSERT_NE(person.session.data(), nullptr);
  person.show("");
  for (const StepInfo& step : person.session.data()->steps) {
    person.session.select_step(step.step);
    person.look();
  }
}

TEST(PanelsWithAFieldForASlash, TakeWhatIsTypedWhateverWindowWasClicked) {
  Person person({sample("twice")});                              // two runs: something to compare
  const ImVec2 inside = {640, 500}, on_the_frame = {1279, 799};  // in most panels a table, which is a window of its own; the corner
  int fields = 0;
  for (const PanelKind& kind : panels()) {
    const std::span<const KeyHelp> keys = kind.make()->keys();
    if (std::ranges::find(keys, "/", &KeyHelp::keys) == keys.end()) continue;
    ++fields;
    SCOPED_TRACE(kind.name);
    person.show(kind.name);
    for (const auto& [at, text] : {std::pair(inside, "of the first"), std::pair(on_the_frame, "of the second")}) {
      person.click_at(at);
      person.press('/');
      person.press('A', {.ctrl = true});
      person.type(text);
      EXPECT_TRUE(person.sees(text)) << screen::dump();
    }
  }
  EXPECT_GE(fields, 4);
}

TEST(Conflicts, AreSeen) {
  Person person({});
  screen::begin_frame();
  ImGui::NewFrame();
  ImGui::Begin("planted");
  ImGui::Button("x");
  ImGui::Button("x");
  ImGui::End();
  ImGui::Render();
  ASSERT_EQ(screen::conflicts().size(), 1u);
  EXPECT_EQ(screen::conflicts()[0].substr(0, 8), "planted:");
}

}  // namespace
}  // namespace ui
