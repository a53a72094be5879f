// The wrapped functions call the real ones, and note what they were told. Items that imgui.o adds itself (window decoration, child windows)
// are not seen: the linker wraps calls between object files only.
#include "tests/unit/ui/screen.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cfloat>
#include <cstring>
#include <unordered_set>

namespace screen {
namespace {

// The linker gives the wrapped functions no argument for it: what a frame has shown is one for the process, as ImGui's context is.
struct Frame {
  std::vector<Word> words;
  std::vector<std::string> conflicts;
  std::unordered_set<ImGuiID> ids;
};
Frame& frame() {
  static Frame one;
  return one;
}

ImVec4 both(const ImVec4& a, const ImVec4* b) {
  if (b == nullptr) return a;
  return {std::max(a.x, b->x), std::max(a.y, b->y), std::min(a.z, b->z), std::min(a.w, b->w)};
}

void note(const ImDrawList& list, const ImFont& font, float size, ImVec2 at, const char* begin, const char* end, float wrap,
          const ImVec4* clip) {
  constexpr std::string_view kImplicit = "Debug##Default";  // begun in every frame, shown only where something was drawn outside windows
  if (begin == nullptr || (list._OwnerName != nullptr && list._OwnerName == kImplicit)) return;
  if (end == nullptr) end = begin + std::strlen(begin);
  if (begin == end) return;
  const ImVec2 extent = font.CalcTextSizeA(size, FLT_MAX, wrap, begin, end);
  frame().words.push_back({std::string(begin, end),
                           at,
                           {at.x + extent.x, at.y + extent.y},
                           both(list._CmdHeader.ClipRect, clip),
                           list._OwnerName == nullptr ? "" : list._OwnerName});
}

}  // namespace

bool Word::visible() const {
  const ImVec2 at = middle();
  return at.x >= clip.x && at.x < clip.z && at.y >= clip.y && at.y < clip.w;
}

void begin_frame() { frame() = {}; }
const std::vector<Word>& words() { return frame().words; }
const std::vector<std::string>& conflicts() { return frame().conflicts; }

const Word* find(std::string_view text) {
  const Word* part = nullptr;
  for (const Word& word : frame().words) {
    if (!word.visible()) continue;
    if (word.text == text) return &word;
    if (part == nullptr && word.text.find(text) != std::string::npos) part = &word;
  }
  return part;
}

std::string dump() {
  std::string out;
  for (const Word& word : frame().words) {
    if (word.visible() || word.window.starts_with("##Popup"))
      out += word.window + ": " + word.text + "\n";  // a popup is laid out before it is seen
  }
  return out;
}

}  // namespace screen

// NOLINTBEGIN(bugprone-reserved-identifier): the names that the linker wants
extern "C" {

bool __real__ZN5ImGui7ItemAddERK6ImRectjPS1_i(const ImRect&, ImGuiID, const ImRect*, int);
bool __wrap__ZN5ImGui7ItemAddERK6ImRectjPS1_i(const ImRect& box, ImGuiID id, const ImRect* nav, int flags) {
  if (id != 0 && !screen::frame().ids.insert(id).second) {
    const ImGuiWindow* window = ImGui::GetCurrentWindowRead();
    screen::frame().conflicts.push_back(std::string(window == nullptr ? "" : window->Name) + ": id " + std::to_string(id) +
                                        " is given to two items, the second at " + std::to_string(box.Min.x) + ", " +
                                        std::to_string(box.Min.y));
  }
  return __real__ZN5ImGui7ItemAddERK6ImRectjPS1_i(box, id, nav, flags);
}

void __real__ZN10ImDrawList7AddTextEPK6ImFontfRK6ImVec2jPKcS7_fPK6ImVec4(ImDrawList*, const ImFont*, float, const ImVec2&, ImU32,
                                                                         const char*, const char*, float, const ImVec4*);
void __wrap__ZN10ImDrawList7AddTextEPK6ImFontfRK6ImVec2jPKcS7_fPK6ImVec4(ImDrawList* list, const ImFont* font, float size, const ImVec2& at,
                                                                         ImU32 color, const char* begin, const char* end, float wrap,
                                                                         const ImVec4* clip) {
  screen::note(*list, font == nullptr ? *ImGui::GetFont() : *font, size == 0 ? ImGui::GetFontSize() : size, at, begin, end, wrap, clip);
  __real__ZN10ImDrawList7AddTextEPK6ImFontfRK6ImVec2jPKcS7_fPK6ImVec4(list, font, size, at, color, begin, end, wrap, clip);
}

void __real__ZN10ImDrawList7AddTextERK6ImVec2jPKcS4_(ImDrawList*, const ImVec2&, ImU32, const char*, const char*);
void __wrap__ZN10ImDrawList7AddTextERK6ImVec2jPKcS4_(ImDrawList* list, const ImVec2& at, ImU32 color, const char* begin, const char* end) {
  screen::note(*list, *ImGui::GetFont(), ImGui::GetFontSize(), at, begin, end, 0, nullptr);
  __real__ZN10ImDrawList7AddTextERK6ImVec2jPKcS4_(list, at, color, begin, end);
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
