// A window without decoration covers the display; everything else is drawn in it.
#include "ui/shell.h"

#include <fmt/format.h>

namespace ui {
namespace {

constexpr ImGuiWindowFlags kFrame = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                                    ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoNav;

}  // namespace

Shell::Shell() {
  for (const PanelKind& kind : panels()) panels_.push_back(kind.make());
}

void Shell::draw(Session& session) {
  session.update();
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
  ImGui::Begin("profile", nullptr, kFrame);
  draw_bar(session);
  const float status = ImGui::GetTextLineHeightWithSpacing();
  if (ImGui::BeginChild("panels", {0, -status})) {
    if (!only_.empty()) {
      for (size_t i = 0; i < panels().size(); ++i) {
        if (panels()[i].name == only_) draw_panel(session, i);
      }
    } else if (ImGui::BeginTabBar("tabs")) {
      for (size_t i = 0; i < panels().size(); ++i) {
        const PanelKind& kind = panels()[i];
        const ImGuiTabItemFlags flags = session.show_panel == kind.name ? ImGuiTabItemFlags_SetSelected : 0;
        if (!ImGui::BeginTabItem(std::string(kind.title).c_str(), nullptr, flags)) continue;
        session.panel_with_focus = kind.name;
        draw_panel(session, i);
        ImGui::EndTabItem();
      }
      ImGui::EndTabBar();
      session.show_panel.clear();
    }
  }
  ImGui::EndChild();
  ImGui::TextUnformatted(session.message.c_str());
  ImGui::End();
  if (session.pressed('Q') > 0) quit_ = true;
}

void Shell::draw_bar(Session& session) {
  const RunInfo* run = session.run();
  Document* open = session.document();
  if (open != nullptr && open->runs.error() != nullptr) {
    ImGui::TextWrapped("%s", open->runs.error()->message.c_str());
    return;
  }
  ImGui::SetNextItemWidth(ImGui::GetFontSize() * 34);
  if (!ImGui::BeginCombo("##run", run == nullptr ? "no run" : run->label().c_str())) return;
  for (size_t d = 0; d < session.documents().size(); ++d) {
    const auto* runs = session.documents()[d]->runs.value();
    if (runs == nullptr) continue;
    for (const RunInfo& info : *runs) {
      if (ImGui::Selectable(fmt::format("{}##{}.{}", info.label(), d, info.run).c_str(), &info == run)) session.select_run(d, info.run);
    }
  }
  ImGui::EndCombo();
}

void Shell::draw_panel(Session& session, size_t index) {
  ImGui::PushID(static_cast<int>(index));
  panels_[index]->draw(session);
  ImGui::PopID();
}

}  // namespace ui
