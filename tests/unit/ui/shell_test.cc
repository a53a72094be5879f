// The shell as a person uses it: keys, tabs, splitters, search, help, theme and zoom, databases that cannot be opened.
#include "ui/shell.h"

#include <algorithm>

#include "tests/unit/ui/person.h"
#include "ui/start.h"
#include "ui/state.h"

namespace ui {
namespace {

std::string front(const Person& person, std::string_view panel) {
  Node layout = person.shell.layout();
  const Node* leaf = find_leaf(layout, panel);
  return leaf == nullptr ? "" : leaf->panels[leaf->front];
}

TEST(Shell, BringsPanelsToTheFrontByKeyAndClick) {
  Person person({sample("mnist")});
  for (size_t i = 0; i < std::min<size_t>(panels().size(), 9); ++i) {
    person.press('1' + static_cast<int>(i));
    EXPECT_EQ(person.shell.focused(), panels()[i].name);
    EXPECT_EQ(front(person, panels()[i].name), panels()[i].name);
  }
  person.click("SQL");
  EXPECT_EQ(front(person, "sql"), "sql");
  EXPECT_EQ(person.shell.focused(), "sql");
}

TEST(Shell, CyclesThroughWhatIsSeen) {
  Person person({sample("mnist")});
  const std::string first = person.shell.focused();
  person.press(Session::kTab, {.ctrl = true});
  EXPECT_NE(person.shell.focused(), first);
  person.press(Session::kTab, {.ctrl = true, .shift = true});
  EXPECT_EQ(person.shell.focused(), first.empty() ? person.shell.focused() : first);
}

TEST(Shell, GoesBackAndForward) {
  Person person({sample("mnist")});
  person.session.select_step(3);
  person.session.select_step(5);
  person.press(Session::kLeft, {.alt = true});
  EXPECT_EQ(person.session.selection().step, 3);
  person.press(Session::kRight, {.alt = true});
  EXPECT_EQ(person.session.selection().step, 5);
}

TEST(Shell, ChangesThemeAndSizeOfText) {
  Person person({sample("mnist")});
  person.press('L', {.ctrl = true});
  EXPECT_EQ(person.session.theme.mode, Mode::light);
  person.click("Dark");
  EXPECT_EQ(person.session.theme.mode, Mode::dark);
  const float small = ImGui::GetFontSize();
  for (int i = 0; i < 30; ++i) person.press('+', {.ctrl = true});
  EXPECT_EQ(person.session.theme.zoom, kMostZoom);
  EXPECT_GT(ImGui::GetFontSize(), 3 * small);
  person.press('0', {.ctrl = true});
  EXPECT_EQ(ImGui::GetFontSize(), small);
}

TEST(Shell, ShowsAllKeys) {
  Person person({sample("mnist")});
  person.press('?');
  EXPECT_TRUE(person.sees("Ctrl+Tab, Ctrl+Shift+Tab")) << screen::dump();
  person.press(Session::kEscape);
  EXPECT_FALSE(person.sees("Ctrl+Tab, Ctrl+Shift+Tab"));
}

TEST(Shell, FindsStepsPanelsAndActions) {
  Person person({sample("mnist")});
  person.press('P', {.ctrl = true});
  const std::string name = person.session.data()->steps[7].name;
  person.type(name);
  person.press(Session::kEnter);
  ASSERT_NE(person.session.step(), nullptr);
  EXPECT_EQ(person.session.step()->name, name);
  person.press(':');
  person.type("layout single");
  person.press(Session::kEnter);
  Node layout = person.shell.layout();
  EXPECT_EQ(leaves(layout).size(), 1u);
  person.press(':');
  person.type("no such thing");
  EXPECT_TRUE(person.sees("Nothing is called that."));
  person.press(Session::kEscape);
  EXPECT_FALSE(person.sees("Nothing is called that."));
}

TEST(Shell, MovesTheEdgeBetweenPanels) {
  Person person({sample("mnist")});
  Node layout = person.shell.layout();
  ASSERT_EQ(layout.kind, Node::Kind::column);
  const screen::Word* details = screen::find("Details");
  ASSERT_NE(details, nullptr);
  const float y = details->min.y - ImGui::GetFontSize() * 0.5f;
  person.drag({600, y}, {600, y - 100});
  EXPECT_LT(person.shell.layout().share, layout.share - 0.05f);
}

TEST(Shell, MovesATabToAnotherPlace) {
  Person person({sample("mnist")});
  const ImVec2 from = screen::find("SQL")->middle(), to = screen::find("Details")->middle();
  person.drag(from, {to.x, to.y + 100});
  Node layout = person.shell.layout();
  const Node* leaf = find_leaf(layout, "sql");
  EXPECT_TRUE(std::ranges::find(leaf->panels, "top") == leaf->panels.end()) << print(person.shell.layout());
  const ImVec2 tab = screen::find("Top")->middle();
  person.click_at(tab, Button::right);
  person.click("Split to the right");
  layout = person.shell.layout();
  EXPECT_EQ(find_leaf(layout, "top")->panels.size(), 1u) << print(person.shell.layout());
}

TEST(Shell, LeavesOutWhatSplitsLeaveNoRoom) {
  std::string text = "(tabs top*)";
  for (const PanelKind& kind : panels()) {
    if (kind.name != "top") text = "(column 0.95 (tabs " + std::string(kind.name) + "*) " + text + ")";
  }
  const auto layout = parse_layout(text);
  ASSERT_TRUE(layout.ok()) << layout.error().message;
  Person person({sample("mnist")});
  person.shell.set_layout(*layout);
  person.look(3);
  EXPECT_EQ(person.shell.layout(), *layout);
}

TEST(Shell, SelectsARunFromTheList) {
  Person person({sample("recorded"), sample("mnist")});
  EXPECT_EQ(person.session.selection().document, 0u);
  person.click("run 1");
  person.look(3);
  person.click("null");
  EXPECT_EQ(person.session.selection().document, 1u) << screen::dump();
}

TEST(Shell, SaysWhyADatabaseIsNotOpen) {
  for (const std::string_view name : bad_samples()) {
    if (name == "older") continue;
    Person person({sample(name)});
    ASSERT_EQ(complaints(person.session).size(), 1u) << name;
    EXPECT_TRUE(person.sees(complaints(person.session)[0].substr(0, 20))) << name << "\n" << screen::dump();
    EXPECT_TRUE(person.sees("No database is open.")) << name;
  }
}

TEST(Shell, ShowsAGoodDatabaseBesideABadOne) {
  Person person({sample("not_a_database"), sample("mnist")});
  EXPECT_EQ(person.session.selection().document, 1u);
  EXPECT_NE(person.session.data(), nullptr);
  EXPECT_EQ(complaints(person.session).size(), 1u);
}

TEST(Shell, OpensADatabaseByItsPath) {
  Person person({});
  EXPECT_TRUE(person.sees("No database is open."));
  person.press('O', {.ctrl = true});
  person.type(sample("interrupted"));
  person.press(Session::kEnter);
  ASSERT_EQ(person.session.documents().size(), 1u);
  EXPECT_NE(person.session.run(), nullptr);
}

TEST(Shell, SelectsWhatTheCommandLineNames) {
  Person person({sample("mnist")});
  const StepInfo& step = person.session.data()->steps[4];
  person.session.select_later(1, step.name);
  person.look(2);
  EXPECT_EQ(person.session.selection().step, step.step);
  person.session.select_later(0, "6");
  person.look(2);
  EXPECT_EQ(person.session.selection().step, 6);
  person.session.select_later(7, "");
  person.look(2);
  EXPECT_EQ(person.session.message, "There is no run 7.");
  EXPECT_EQ(person.session.selection().run, 1);
}

TEST(Shell, TellsItsState) {
  Person person({sample("mnist")});
  person.session.select_step(2);
  person.look();
  const std::string state = state_line(person.session, person.shell);
  EXPECT_NE(state.find(" run=1 step=2 theme=dark zoom=1.00 busy=0 "), std::string::npos) << state;
}

}  // namespace
}  // namespace ui
