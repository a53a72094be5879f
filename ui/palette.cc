// Steps are searched a part a frame: a run may have a million, and a frame has 16 ms.
#include "ui/palette.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "ui/input.h"
#include "ui/plot_widgets.h"
#include "ui/shell.h"
#include "ui/text.h"

namespace ui {
namespace {

constexpr size_t kMostFound = 200, kStepsAFrame = 20'000;
constexpr int kShown = 14;

void add(std::vector<Palette::Entry>& found, std::string_view query, std::string title, std::string detail,
         std::function<void(Shell&, Session&)> act) {
  if (matches(query, title + " " + detail)) found.push_back({std::move(title), std::move(detail), std::move(act)});
}

void add_actions(std::vector<Palette::Entry>& found, std::string_view query) {
  add(found, query, "Theme: dark", "action", [](Shell&, Session& session) { session.theme.mode = Mode::dark; });
  add(found, query, "Theme: light", "action", [](Shell&, Session& session) { session.theme.mode = Mode::light; });
  for (size_t i = 0; i < presets().size(); ++i)
    add(found, query, fmt::format("Layout: {}", presets()[i].name), std::string(presets()[i].about),
        [i](Shell& shell, Session&) { shell.only(""), shell.use_preset(i); });
  add(found, query, "Open a database", "action, Ctrl+O", [](Shell& shell, Session&) { shell.ask_for_file(); });
  add(found, query, "Read everything again", "action, Ctrl+R", [](Shell&, Session& session) { session.reload(); });
  add(found, query, "Show all keys", "action, ?", [](Shell& shell, Session&) { shell.toggle_help(); });
  add(found, query, "Quit", "action, Ctrl+Q", [](Shell& shell, Session&) { shell.quit(); });
}

void add_runs(std::vector<Palette::Entry>& found, std::string_view query, Session& session) {
  for (size_t d = 0; d < session.documents().size(); ++d) {
    const auto* runs = session.documents()[d]->runs.value();
    for (size_t i = 0; runs != nullptr && i < runs->size() && found.size() < kMostFound; ++i) {
      const int64_t run = (*runs)[i].run;
      add(found, query, (*runs)[i].label(), session.documents()[d]->loader.path(),
          [d, run](Shell&, Session& then) { then.select_run(d, run); });
    }
  }
}

}  // namespace

bool matches(std::string_view query, std::string_view text) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  while (!query.empty()) {
    const size_t end = std::min(query.find(' '), query.size());
    const std::string_view word = query.substr(0, end);
    if (!word.empty() && std::ranges::search(text, word, same).empty()) return false;
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return true;
}

void Palette::open(std::string text) {
  open_ = opened_ = true;
  text_ = std::move(text);
  serial_ = -1;  // search anew
}

void Palette::search(Shell&, Session& session) {
  const RunData* run = session.data();
  const int64_t serial = run == nullptr ? 0 : run->serial * 1'000'003 + run->run;
  if (searched_ != text_ || serial != serial_) {
    searched_ = text_, serial_ = serial, next_step_ = 0, chosen_ = 0;
    found_.clear();
    for (const PanelKind& kind : panels())
      add(found_, text_, std::string(kind.title), std::string(kind.about), [&kind](Shell& shell, Session&) { shell.focus(kind.name); });
    add_actions(found_, text_);
    add_runs(found_, text_, session);
    if (text_.empty()) next_step_ = run == nullptr ? 0 : run->steps.size();
  }
  if (run == nullptr) return;
  const size_t end = std::min(run->steps.size(), next_step_ + kStepsAFrame);
  for (; next_step_ < end && found_.size() < kMostFound; ++next_step_) {
    const StepInfo& step = run->steps[next_step_];
    if (!matches(text_, step.name) && !matches(text_, step.op_name)) continue;
    const std::string time = std::isfinite(step.median_ns) ? human(step.median_ns, "_ns") : "no time";
    found_.push_back({one_line(step.name), one_line(fmt::format("step {}, {} {}", step.step, time, step.op_name)),
                      [number = step.step](Shell&, Session& then) { then.select_step(number); }});
  }
  if (next_step_ < run->steps.size() && found_.size() < kMostFound) session.want_frame();
}

void Palette::draw(Shell& shell, Session& session) {
  if (!open_) return;
  search(shell, session);
  const float em = ImGui::GetFontSize();
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({display.x / 2, em * 3}, ImGuiCond_Always, {0.5f, 0});
  ImGui::SetNextWindowSize({std::min(em * 46, display.x), em * 3 + ImGui::GetTextLineHeightWithSpacing() * kShown});
  if (opened_) ImGui::SetNextWindowFocus();
  constexpr ImGuiWindowFlags kFlags = ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyleColorVec4(ImGuiCol_PopupBg));
  if (ImGui::Begin("palette", nullptr, kFlags)) {
    if (!opened_ && !ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows)) open_ = false;
    if (std::exchange(opened_, false)) focus_next_item();
    ImGui::SetNextItemWidth(-1);
    const bool entered = ImGui::InputTextWithHint("##query", "step, panel, run or action", &text_, ImGuiInputTextFlags_EnterReturnsTrue);
    const auto down = [](ImGuiKey key) { return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key)); };
    if (down(ImGuiKey_DownArrow) && chosen_ + 1 < found_.size()) ++chosen_;
    if (down(ImGuiKey_UpArrow) && chosen_ > 0) --chosen_;
    draw_list(shell, session);
    if (entered && chosen_ < found_.size()) {
      open_ = false;
      found_[chosen_].act(shell, session);
    }
  }
  ImGui::End();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
}

void Palette::draw_list(Shell& shell, Session& session) {
  if (ImGui::BeginChild("found")) {
    const float detail = ImGui::GetFontSize() * 18;
    const size_t first = chosen_ >= kShown ? chosen_ - kShown + 1 : 0;
    std::function<void(Shell&, Session&)> act;
    for (size_t i = first; i < std::min(found_.size(), first + kShown); ++i) {
      ImGui::PushID(static_cast<int>(i));
      if (ImGui::Selectable("##entry", i == chosen_)) act = found_[i].act;
      ImGui::SameLine(0, 0);
      draw_cut(found_[i].title, detail - ImGui::GetFontSize());
      ImGui::SameLine(detail);
      ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetColorU32(ImGuiCol_TextDisabled));
      draw_cut(found_[i].detail, ImGui::GetContentRegionAvail().x);
      ImGui::PopStyleColor();
      ImGui::PopID();
    }
    if (found_.empty()) ImGui::TextDisabled("Nothing is called that.");
    if (act) {
      open_ = false;
      act(shell, session);
    }
  }
  ImGui::EndChild();
}

}  // namespace ui
