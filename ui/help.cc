// Every panel tells its own keys (Panel::keys), so that the list cannot forget one.
#include "ui/help.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <string>

#include "ui/keys.h"
#include "ui/shell.h"

namespace ui {
namespace {

void draw_part(std::string_view title, std::span<const KeyHelp> keys) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::TextUnformatted(title.data(), title.data() + title.size());
  ImGui::TableNextColumn();
  for (const KeyHelp& key : keys) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::TextDisabled("  %.*s", static_cast<int>(key.keys.size()), key.keys.data());
    ImGui::TableNextColumn();
    ImGui::TextWrapped("%.*s", static_cast<int>(key.what.size()), key.what.data());
  }
}

}  // namespace

void draw_help(const Shell& shell, bool& open) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float em = ImGui::GetFontSize();
  ImGui::SetNextWindowPos({display.x / 2, display.y / 2}, ImGuiCond_Always, {0.5f, 0.5f});
  ImGui::SetNextWindowSize({std::min(em * 52, display.x), std::min(em * 40, display.y)});
  ImGui::SetNextWindowFocus();
  constexpr ImGuiWindowFlags kFlags = ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoCollapse;
  if (ImGui::Begin("Keys", &open, kFlags) && ImGui::BeginTable("keys", 2)) {
    ImGui::TableSetupColumn("keys", ImGuiTableColumnFlags_WidthFixed, em * 17);
    ImGui::TableSetupColumn("what");
    draw_part("Everywhere", global_keys());
    for (size_t i = 0; i < panels().size(); ++i) {
      const std::string number = i < 9 ? fmt::format(" ({})", i + 1) : "";  // the key that shows it
      draw_part(std::string(panels()[i].title) + number, shell.panels()[i]->keys());
    }
    ImGui::EndTable();
  }
  ImGui::End();
}

}  // namespace ui
