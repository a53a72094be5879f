// A value is a text field that cannot be written into: the one thing in ImGui whose text a mouse can select.
#include "ui/facts_table.h"

#include <fmt/format.h>
#include <imgui.h>

#include "ui/text.h"

namespace ui {

bool begin_facts(const char* id) {
  if (!ImGui::BeginTable(id, 2, ImGuiTableFlags_SizingFixedFit)) return false;
  ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed, ImGui::GetFontSize() * 11);
  ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);
  return true;
}

void fact_heading(std::string_view text) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetColorU32(ImGuiCol_CheckMark));
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
  ImGui::PopStyleColor();
}

void fact_row(int id, std::string_view name, const std::string& value, const std::string& raw, std::string_view about) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::PushID(id);
  ImGui::PushTextWrapPos(0);  // to the end of the column
  ImGui::TextDisabled("%.*s", static_cast<int>(name.size()), name.data());
  ImGui::PopTextWrapPos();
  if (!about.empty() && ImGui::IsItemHovered()) ImGui::SetTooltip("%.*s", static_cast<int>(about.size()), about.data());
  ImGui::TableNextColumn();
  draw_selectable("##value", value, -1);
  if (ImGui::IsItemHovered() && ImGui::CalcTextSize(value.c_str()).x > ImGui::GetItemRectSize().x) ImGui::SetTooltip("%s", value.c_str());
  if (ImGui::BeginPopupContextItem("copy")) {
    if (ImGui::MenuItem("Copy the value")) ImGui::SetClipboardText(value.c_str());
    if (ImGui::MenuItem("Copy all digits")) ImGui::SetClipboardText(raw.c_str());
    if (ImGui::MenuItem("Copy the row")) ImGui::SetClipboardText(fmt::format("{}: {}", name, value).c_str());
    ImGui::EndPopup();
  }
  ImGui::PopID();
}

void end_facts() { ImGui::EndTable(); }

}  // namespace ui
