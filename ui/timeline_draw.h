// How the timeline looks: text that fits, marks, ruler. Nothing here has state.
#pragma once

#include <imgui.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "src/timeline/window.h"
#include "ui/theme.h"
#include "ui/timeline_view.h"

namespace ui {

/// Where things stand on the screen; all lengths follow from the font's size.
struct TimelineLayout {
  ImVec2 min, max;  ///< the whole panel
  float em = 15;
  float labels = 0;                        ///< right end of the column of labels, where time begins
  float minimap = 0, ruler = 0, rows = 0;  ///< upper ends
  float width() const { return max.x - labels; }
};
TimelineLayout timeline_layout(ImVec2 min, ImVec2 max);

/// Text in one line from `at`, cut with … where it is wider than `width`; nothing where not even three letters fit.
/// Returns its width.
float draw_text(ImDrawList& draw, ImVec2 at, float width, ImU32 color, std::string_view text);
/// The same, ending at `at.x`.
void draw_text_right(ImDrawList& draw, ImVec2 at, ImU32 color, std::string_view text);
/// What a stranger's name shows: one line without controls, not endless.
std::string shown_name(std::string_view name);

/// Ruler and the grid lines below it.
void draw_ruler(ImDrawList& draw, const TimelineLayout& at, const TimeSpan& span);

/// A row of marks: what they are is told by the functions, by index into the window or group.
struct MarkStyle {
  ImVec2 min, max;  ///< of the row, from the first pixel of time
  bool has_text = false;
  std::function<ImU32(const timeline::Mark&)> color;
  std::function<std::string(const timeline::Mark&)> text;    ///< first line
  std::function<std::string(const timeline::Mark&)> detail;  ///< second line, where the row is high enough
  std::function<double(const timeline::Mark&)> repeats;      ///< executions that one slice stands for: divided by lines
  std::function<bool(const timeline::Mark&)> hatched;        ///< what is not the program
};
void draw_marks(ImDrawList& draw, std::span<const timeline::Mark> marks, const MarkStyle& style, float em);

ImU32 ink(float alpha);   ///< of text
ImU32 calm(ImU32 color);  ///< nearer to the ground: large areas of it do not shout
/// Lines as rectangles: whole pixels look the same with every renderer.
void draw_column(ImDrawList& draw, float x, float top, float bottom, ImU32 color);
void draw_line(ImDrawList& draw, float y, float left, float right, ImU32 color);
void draw_outline(ImDrawList& draw, ImVec2 min, ImVec2 max, ImU32 color, float width);
std::string time_text(double ns);

}  // namespace ui
