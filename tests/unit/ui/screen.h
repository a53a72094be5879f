// What a frame has shown: every text with its place, and ids that two items share. ImGui tells neither; the linker does: calls of
// ImGui::ItemAdd and ImDrawList::AddText go through screen.cc (--wrap, see tests/CMakeLists.txt).
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>
#include <vector>

namespace screen {

struct Word {
  std::string text;
  ImVec2 min, max;     ///< of the text
  ImVec4 clip;         ///< what can be seen: x0, y0, x1, y1
  std::string window;  ///< that it is drawn in
  ImVec2 middle() const { return {(min.x + max.x) / 2, (min.y + max.y) / 2}; }
  bool visible() const;  ///< its middle is
};

/// Forgets the frame before. Person does that.
void begin_frame();
/// In the order of drawing.
const std::vector<Word>& words();
/// "window: id 1234 is given to two items" of this frame.
const std::vector<std::string>& conflicts();
/// The visible word that is `text`, else the first that contains it; nullptr: there is none.
const Word* find(std::string_view text);
/// All visible words, a line each.
std::string dump();

}  // namespace screen
