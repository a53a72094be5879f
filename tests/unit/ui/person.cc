// A click is a frame to hover, one with the button down, one with it up, and one that shows what came of it.
#include "tests/unit/ui/person.h"

namespace ui {
namespace {

constexpr int kSettle = 3;

Theme theme_of(Mode mode) {
  Theme theme;
  theme.mode = mode;
  return theme;
}

void check(Session& session) {
  for (const std::string& conflict : screen::conflicts()) ADD_FAILURE() << conflict << "\n" << screen::dump();
  const Selection& selection = session.selection();
  EXPECT_TRUE(session.documents().empty() || selection.document < session.documents().size());
  EXPECT_TRUE(selection.run == 0 || session.run() != nullptr) << "run " << selection.run << " is selected and not there";
  EXPECT_TRUE(session.data() == nullptr || selection.step < 0 || session.step() != nullptr)
      << "step " << selection.step << " is selected and not there";
}

}  // namespace

Person::Person(const std::vector<std::string>& databases, int width, int height, Mode mode)
    : session(Loader::Mode::here), offscreen(width, height, theme_of(mode)) {
  session.theme.mode = mode;
  for (const std::string& path : databases) session.open(path);
  look(kSettle);
}

void Person::frame(const Offscreen::Hand& next) {
  screen::begin_frame();
  offscreen.frame(shell, session, next);
  check(session);
}

void Person::look(int frames) {
  for (int i = 0; i < frames; ++i) frame(hand);
}

void Person::show(std::string_view panel) {
  shell.only(std::string(panel));
  look(kSettle);
}

ImVec2 Person::place(std::string_view text) {
  const screen::Word* word = screen::find(text);
  if (word == nullptr) {
    ADD_FAILURE() << "'" << text << "' is not seen; these are:\n" << screen::dump();
    return {-1, -1};
  }
  return word->middle();
}

void Person::click(std::string_view text, Button button, Holding holding) {
  if (const ImVec2 at = place(text); at.x >= 0) click_at(at, button, holding);
}

void Person::double_click(std::string_view text) {
  const ImVec2 at = place(text);
  if (at.x < 0) return;
  click_at(at);
  click_at(at);
}

void Person::hover(std::string_view text) {
  if (const ImVec2 at = place(text); at.x >= 0) move(at);
}

void Person::move(ImVec2 to) {
  hand.mouse = to;
  look(2);
}

void Person::click_at(ImVec2 at, Button button, Holding holding) { drag(at, at, button, holding); }

void Person::drag(ImVec2 from, ImVec2 to, Button button, Holding holding) {
  move(from);
  Offscreen::Hand held = hand;
  held.ctrl = holding.ctrl, held.shift = holding.shift;
  held.down[static_cast<int>(button)] = true;
  frame(held);
  if (from.x != to.x || from.y != to.y) {
    constexpr int kFrames = 4;
    for (int i = 1; i <= kFrames; ++i) {
      const float t = static_cast<float>(i) / kFrames;
      held.mouse = {from.x + (to.x - from.x) * t, from.y + (to.y - from.y) * t};
      frame(held);
    }
  }
  held.down[static_cast<int>(button)] = false;
  frame(held);
  hand.mouse = to;
  look(2);
}

void Person::wheel(ImVec2 at, float amount, Holding holding) {
  move(at);
  Offscreen::Hand held = hand;
  held.ctrl = holding.ctrl, held.shift = holding.shift;
  held.wheel = amount;
  frame(held);
  look(2);
}

void Person::press(int key, Holding holding) {
  Offscreen::Hand held = hand;
  held.ctrl = holding.ctrl, held.shift = holding.shift;
  held.keys = {{key, holding.ctrl, holding.shift, holding.alt}};
  frame(held);
  look(2);
}

void Person::type(std::string_view text) {
  Offscreen::Hand held = hand;
  held.text = text;
  frame(held);
  look(2);
}

}  // namespace ui
