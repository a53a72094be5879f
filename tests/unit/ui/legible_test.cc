// Every panel of the samples can be read: no text is cut off without a sign of it, and none is written over another. What lies half outside
// a view that can be scrolled or moved is no fault.
#include <gtest/gtest.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/unit/ui/person.h"
#include "ui/panel.h"

namespace ui {
namespace {

using screen::Word;

constexpr float kSlack = 1.5f;  ///< pixels: texts stand on fractions of them

struct Area {
  float x0, y0, x1, y1;
  bool empty() const { return x1 - x0 <= kSlack || y1 - y0 <= kSlack; }
};
Area common(const Area& a, const Area& b) {
  return {std::max(a.x0, b.x0), std::max(a.y0, b.y0), std::min(a.x1, b.x1), std::min(a.y1, b.y1)};
}
Area seen(const Word& word) {
  return common({word.min.x, word.min.y, word.max.x, word.max.y}, {word.clip.x, word.clip.y, word.clip.z, word.clip.w});
}

/// What goes on beyond the edge is reached by scrolling: of a window, a field of text, or the timeline's rows, which scroll by themselves.
bool scrolls(const Word& word, int axis) {
  const ImGuiWindow* window = ImGui::FindWindowByName(word.window.c_str());
  const auto in = [&](std::string_view part) { return word.window.find(part) != std::string::npos; };
  if (in("##code") || in("##sql")) return true;
  if (axis == 1 && in("timeline")) return true;
  return window != nullptr && (axis == 0 ? window->ScrollMax.x : window->ScrollMax.y) > 0;
}

/// A value that can be selected is whole behind the dots that are written over its end.
bool ends_in_dots(const Word& word) {
  return std::ranges::any_of(screen::words(), [&](const Word& dots) {
    return dots.text == "…" && std::abs(dots.max.x - word.clip.z) < 2 * kSlack && std::abs(dots.min.y - word.min.y) < 2 * kSlack;
  });
}

std::string cut(const Word& word) {
  const bool beside = word.min.x < word.clip.x - kSlack || word.max.x > word.clip.z + kSlack;
  const bool above = word.min.y < word.clip.y - kSlack || word.max.y > word.clip.w + kSlack;
  if (beside && !scrolls(word, 0) && !ends_in_dots(word)) return "is cut beside";
  return above && !scrolls(word, 1) ? "is cut above or below" : "";
}

/// The same word twice in the same place is its outline.
bool collide(const Word& a, const Word& b) {
  if (a.window != b.window || a.text == "…" || b.text == "…") return false;
  if (a.text == b.text && std::abs(a.min.x - b.min.x) < 3 && std::abs(a.min.y - b.min.y) < 3) return false;
  return !common(seen(a), seen(b)).empty();
}

/// Of several panels beside each other graphs have so little room that they show a part, which is moved.
enum class Room : uint8_t { whole, shared };
std::vector<std::string> faults(Room room = Room::whole) {
  std::vector<std::string> found;
  std::vector<const Word*> words;
  for (const Word& word : screen::words()) {
    if (seen(word).empty() || word.text.find_first_not_of(' ') == std::string::npos) continue;
    const bool is_moved = room == Room::shared && word.window.find("graph_") != std::string::npos;
    if (const std::string fault = cut(word); !fault.empty() && !is_moved) found.push_back(word.window + ": '" + word.text + "' " + fault);
    for (const Word* other : words) {
      if (collide(*other, word)) found.push_back(word.window + ": '" + word.text + "' is written over '" + other->text + "'");
    }
    words.push_back(&word);
  }
  return found;
}

TEST(Faults, AreFound) {
  Person person({});
  screen::begin_frame();
  ImGui::NewFrame();
  ImGui::SetNextWindowSize({100, 100});
  ImGui::Begin("planted", nullptr, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoTitleBar);
  ImGui::SetCursorPos({20, 20});
  ImGui::TextUnformatted("one");
  ImGui::SetCursorPos({25, 22});
  ImGui::TextUnformatted("two");
  ImGui::SetCursorPos({10, 60});
  ImGui::PushClipRect(ImGui::GetCursorScreenPos(), {ImGui::GetCursorScreenPos().x + 30, 1000}, true);
  ImGui::TextUnformatted("much longer than thirty pixels");
  ImGui::PopClipRect();
  ImGui::End();
  ImGui::Render();
  EXPECT_EQ(faults(),
            (std::vector<std::string>{"planted: 'two' is written over 'one'", "planted: 'much longer than thirty pixels' is cut beside"}));
}

/// Web Content Accessibility Guidelines 2.1: (L1 + 0.05) / (L2 + 0.05) of relative luminances.
double contrast(ImVec4 a, ImVec4 b) {
  const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
  const auto luminance = [&](ImVec4 c) { return 0.2126 * linear(c.x) + 0.7152 * linear(c.y) + 0.0722 * linear(c.z); };
  const auto [dark, light] = std::minmax({luminance(a), luminance(b)});
  return (light + 0.05) / (dark + 0.05);
}

TEST(Colors, OfTextStandOutFromTheGround) {
  for (const Mode mode : {Mode::dark, Mode::light}) {
    Person person({}, 320, 200, mode);
    const ImVec4* colors = ImGui::GetStyle().Colors;
    for (const ImGuiCol text : {ImGuiCol_Text, ImGuiCol_TextDisabled, ImGuiCol_CheckMark})  // the last is that of headings
      EXPECT_GE(contrast(colors[text], colors[ImGuiCol_WindowBg]), 4.5)
          << ImGui::GetStyleColorName(text) << (mode == Mode::dark ? " dark" : " light");
    for (size_t i = 0; i < 8; ++i) {
      const ImU32 ground = series_color(person.session.theme, i);
      EXPECT_GE(contrast(ImGui::ColorConvertU32ToFloat4(text_on(ground)), ImGui::ColorConvertU32ToFloat4(ground)), 4.0) << i;
    }
  }
}

TEST(Colors, OfOneLegendDiffer) {
  const Theme theme;
  const std::string_view words[] = {"dot",   "fusion:kLoop", "copy", "all-reduce", "collective-broadcast", "transpose",
                                    "slice", "broadcast",    ""};
  const std::vector<ImU32> colors = colors_of(theme, words);
  ASSERT_EQ(colors.size(), std::size(words));
  EXPECT_EQ(std::set(colors.begin(), colors.begin() + 7).size(), 7u);
  EXPECT_EQ(colors[0], color_of(theme, "dot")) << "the most important one has its own";
  EXPECT_EQ(colors[7], color_of(theme, "broadcast")) << "there are no more than seven";
  EXPECT_EQ(colors[8], color_of(theme, ""));
}

struct Size {
  int width, height;
};
class Legible : public ::testing::TestWithParam<std::tuple<std::string_view, Size>> {};

TEST_P(Legible, IsEveryPanel) {
  const auto& [database, size] = GetParam();
  Person person({sample(database)}, size.width, size.height);
  person.session.select_step(12);
  for (const PanelKind& kind : panels()) {
    person.show(kind.name);
    person.look(6);
    for (const std::string& fault : faults()) ADD_FAILURE() << "panel " << kind.name << ": " << fault;
  }
  person.show("");
  for (const PanelKind& kind : panels()) {  // each in its place beside others, where it has less room
    person.shell.focus(kind.name);
    person.look(6);
    for (const std::string& fault : faults(Room::shared)) ADD_FAILURE() << "panel " << kind.name << " in the layout: " << fault;
  }
}
INSTANTIATE_TEST_SUITE_P(Samples, Legible,
                         ::testing::Combine(::testing::Values("bert", "resnet50", "llama", "fused", "twice"),
                                            ::testing::Values(Size{1280, 800}, Size{2560, 1440})),
                         [](const auto& row) {
                           return std::string(std::get<0>(row.param)) + "_" + std::to_string(std::get<1>(row.param).width);
                         });

}  // namespace
}  // namespace ui
