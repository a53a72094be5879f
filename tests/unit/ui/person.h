// A person at the viewer, without a window: looks, clicks words, drags, presses keys, types. Every frame is checked: no two items share an
// id, the selection exists. How a test of a panel begins:
//
//   ui::Person person({ui::sample("mnist")});   // or "bert", "llama", "resnet50", "empty", "interrupted", "running", "recorded", "hostile"
//   person.show("top");                         // that panel alone, as large as the window; show("") is the layout
//   person.click("median");                     // the visible word that is "median", else one that contains it
//   EXPECT_EQ(person.session.selection().step, 12);
//   person.press('W');  person.press('F', {.ctrl = true});  person.press(ui::Session::kEnter);
//   person.click("filter");  person.type("fusion");
//   person.drag({100, 200}, {300, 200});  person.wheel({400, 300}, 3, {.ctrl = true});
//   EXPECT_TRUE(person.sees("custom-call.21")) << screen::dump();
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/ui/databases.h"
#include "tests/unit/ui/screen.h"
#include "ui/offscreen.h"

namespace ui {

/// Keys held while the mouse or another key is used.
struct Holding {
  bool ctrl = false, shift = false, alt = false;
};
enum class Button { left, right, middle };

class Person {
 public:
  explicit Person(const std::vector<std::string>& databases, int width = 1280, int height = 800, Mode mode = Mode::dark);

  void show(std::string_view panel);
  void look(int frames = 1);
  bool sees(std::string_view text) const { return screen::find(text) != nullptr; }
  /// Fails the test where the text is not seen; then nothing is clicked.
  void click(std::string_view text, Button button = Button::left, Holding holding = {});
  void double_click(std::string_view text);
  void hover(std::string_view text);
  void click_at(ImVec2 at, Button button = Button::left, Holding holding = {});
  void move(ImVec2 to);
  void drag(ImVec2 from, ImVec2 to, Button button = Button::left, Holding holding = {});
  void wheel(ImVec2 at, float amount, Holding holding = {});
  void press(int key, Holding holding = {});
  void type(std::string_view text);  ///< UTF-8
  /// One frame with this input and all checks.
  void frame(const Offscreen::Hand& hand);

  Session session;
  Shell shell;
  Offscreen offscreen;
  Offscreen::Hand hand;  ///< where the mouse rests

 private:
  ImVec2 place(std::string_view text);
};

}  // namespace ui
