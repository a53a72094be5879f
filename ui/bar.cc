// Everything in the bar has a key too; the buttons are for those who do not know it yet.
#include "ui/bar.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "ui/plot_widgets.h"
#include "ui/session.h"
#include "ui/shell.h"
#include "ui/text.h"

namespace ui {
namespace {

void tip(const char* text) {
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", text);
}

void draw_documents(Session& session) {
  for (size_t d = 0; d < session.documents().size(); ++d) {
    Document& open = *session.documents()[d];
    ImGui::PushID(static_cast<int>(d));
    ImGui::TextDisabled("%s", one_line(open.loader.path(), 200).c_str());
    const auto* runs = open.runs.value();
    if (const base::Error* error = open.runs.error()) ImGui::TextWrapped("%s", one_line(error->message).c_str());
    if (runs != nullptr && runs->empty()) ImGui::TextUnformatted("  no run");
    ImGuiListClipper clipper;
    clipper.Begin(runs == nullptr ? 0 : static_cast<int>(runs->size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const RunInfo& info = (*runs)[static_cast<size_t>(i)];
        ImGui::PushID(i);
        const bool selected = d == session.selection().document && info.run == session.selection().run;
        if (ImGui::Selectable("##run", selected)) session.select_run(d, info.run);
        ImGui::SameLine(ImGui::GetFontSize());
        ImGui::TextUnformatted(one_line(info.label()).c_str());
        ImGui::PopID();
      }
    }
    ImGui::PopID();
  }
}

void draw_runs(Session& session, float width) {
  const RunInfo* run = session.run();
  const std::string label = run == nullptr ? "no run" : one_line(run->label());
  ImGui::SetNextItemWidth(width);
  if (!ImGui::BeginCombo("##run", label.c_str(), ImGuiComboFlags_HeightLarge)) {
    if (run != nullptr) tip(fmt::format("{}\n{}", one_line(session.document()->loader.path()), label).c_str());
    return;
  }
  draw_documents(session);
  ImGui::EndCombo();
}

void draw_layouts(Shell& shell) {
  if (ImGui::Button("Layout")) ImGui::OpenPopup("layouts");
  if (!ImGui::BeginPopup("layouts")) return;
  for (size_t i = 0; i < presets().size(); ++i) {
    const std::string text = fmt::format("{}: {}", presets()[i].name, presets()[i].about);
    if (ImGui::MenuItem(text.c_str())) shell.only(""), shell.use_preset(i);
  }
  ImGui::EndPopup();
}

float width_of(const char* text) { return ImGui::CalcTextSize(text).x + 2 * ImGui::GetStyle().FramePadding.x; }

std::string selected(Session& session) {
  const StepInfo* step = session.step();
  if (step == nullptr) return session.data() == nullptr ? "" : fmt::format("{} steps", session.data()->steps.size());
  std::string text = fmt::format("step {} · {}", step->step, one_line(step->name, 60));
  if (std::isfinite(step->median_ns)) text += fmt::format(" · {}", human(step->median_ns, "_ns"));
  if (step->share > 0) text += fmt::format(" · {}", human(step->share * 100, "_percent"));
  if (!step->flags.empty()) text += fmt::format(" · {}", one_line(step->flags, 60));
  return text;
}

}  // namespace

void draw_bar(Shell& shell, Session& session) {
  const float em = ImGui::GetFontSize(), gap = ImGui::GetStyle().ItemSpacing.x;
  const char* theme = session.theme.mode == Mode::dark ? "Light" : "Dark";
  const char* search = "Search  (Ctrl+P)";
  const float rest =
      2 * (ImGui::GetFrameHeight() + gap) + width_of("Layout") + width_of(theme) + width_of("?") + width_of(search) + 4 * gap;
  draw_runs(session, std::clamp(ImGui::GetContentRegionAvail().x - rest, em * 6, em * 44));
  ImGui::SameLine();
  if (ImGui::ArrowButton("back", ImGuiDir_Left)) static_cast<void>(session.back());
  tip("back to what was selected before (Alt+Left)");
  ImGui::SameLine();
  if (ImGui::ArrowButton("forward", ImGuiDir_Right)) static_cast<void>(session.forward());
  tip("forward again (Alt+Right)");
  ImGui::SameLine();
  if (ImGui::Button(search)) shell.open_palette("");
  tip("steps by name, panels, runs, actions");
  ImGui::SameLine();
  draw_layouts(shell);
  ImGui::SameLine();
  if (ImGui::Button(fmt::format("{}###theme", theme).c_str()))
    session.theme.mode = session.theme.mode == Mode::dark ? Mode::light : Mode::dark;
  ImGui::SameLine();
  if (ImGui::Button("?")) shell.toggle_help();
  tip("all keys");
}

void draw_status(Session& session) {
  const float em = ImGui::GetFontSize(), room = ImGui::GetContentRegionAvail().x;
  const RunInfo* run = session.run();
  std::string right = session.busy() ? "reading" : "";
  if (run != nullptr && run->status == "running") right = right.empty() ? "the run goes on: read every second" : right;
  std::string left = selected(session);
  if (!session.message.empty()) left += (left.empty() ? "" : "  ·  ") + one_line(session.message);
  draw_cut(left, std::max(room - ImGui::CalcTextSize(right.c_str()).x - em, em));
  if (right.empty()) return;
  ImGui::SameLine(std::max(room - ImGui::CalcTextSize(right.c_str()).x, em));
  ImGui::TextDisabled("%s", right.c_str());
}

}  // namespace ui
