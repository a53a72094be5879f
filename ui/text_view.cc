// ImGui selects and copies text only in fields that are edited: a field that is read only.
#include "ui/text_view.h"

#include <imgui_stdlib.h>

#include "ui/theme.h"

namespace ui {

void TextView::draw(const char* id, const std::string& text, int revision, ImVec2 size) {
  if (revision_ != revision) {
    revision_ = revision;
    shown_ = text;
  }
  ImGui::PushID(revision);  // a new item: nothing is left of where the last text was scrolled to
  ImGui::PushFont(mono_font());
  ImGui::InputTextMultiline(id, &shown_, size, ImGuiInputTextFlags_ReadOnly);
  ImGui::PopFont();
  ImGui::PopID();
}

}  // namespace ui
