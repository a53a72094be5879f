// The selected step: its numbers, what it reads and is read by, the code that it launches.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "src/report/query.h"
#include "ui/details_data.h"
#include "ui/facts_table.h"
#include "ui/panel.h"
#include "ui/plot_widgets.h"
#include "ui/table.h"
#include "ui/text.h"

namespace ui {
namespace {

struct Program {
  model::Rows kernels, neighbours;
};

base::Result<Program> read_program(const model::Reader& reader, int64_t run, int32_t step) {
  const std::array<model::Cell, 2> key = {report::cell(run), report::cell(int64_t{step})};
  Program program;
  ASSIGN_OR_RETURN(program.kernels, report::ask(reader, "step_kernels", key));
  ASSIGN_OR_RETURN(program.neighbours, report::ask(reader, "step_neighbours", key));
  return program;
}

class Details final : public Panel {
 public:
  void draw(Session& session) override {
    const StepInfo* step = session.step();
    if (step == nullptr) {
      ImGui::TextDisabled("%s", session.data() == nullptr ? "No run is open." : "Select a step: click it anywhere.");
      return;
    }
    take_keys(session);
    ask(session, *step);
    draw_links(session, *step);
    draw_numbers(session, *step);
    if (const base::Error* error = program_.error()) ImGui::TextWrapped("%s", one_line(error->message).c_str());
    if (const Program* program = program_.value()) {
      draw_neighbours(session, program->neighbours);
      draw_kernels(session, program->kernels);
    }
  }

  std::span<const KeyHelp> keys() const override {
    static constexpr KeyHelp kKeys[] = {{"N, Shift+N", "next or previous step in plan order"},
                                        {"F / R / G / M / S", "show this step in fusions, roofline, graph, memory, source"}};
    return kKeys;
  }

 private:
  struct Link {
    int key;
    const char* text;
    std::string_view panel;
  };
  static constexpr Link kLinks[] = {
      {'T', "Timeline", "timeline"}, {'F', "Fusion", "fusions"}, {'R', "Roofline", "roofline"},
      {'G', "Graph", "graph"},       {'M', "Memory", "memory"},  {'S', "Source", "source"},
  };

  static void take_keys(Session& session) {
    for (const Link& link : kLinks) {
      if (session.pressed(link.key) > 0) session.show_panel = link.panel;
    }
    for (const Session::Key& key : session.keys) {
      if (key.key == 'N' && !key.ctrl && !key.alt) session.select_step(session.selection().step + (key.shift ? -1 : 1));
    }
    // copying names below must not see a step of another number: what is drawn now is asked again in the next frame
  }

  void ask(Session& session, const StepInfo& step) {
    const int64_t run = session.selection().run;
    const int32_t number = step.step;
    program_.want(session.document()->loader, fmt::format("{}/{}", run, number),
                  [run, number](const model::Reader& reader) { return read_program(reader, run, number); });
  }

  static void draw_links(Session& session, const StepInfo& step) {
    const float right = ImGui::GetWindowPos().x + ImGui::GetContentRegionMax().x;
    bool first = true;
    for (const Link& link : kLinks) {
      if (find_panel(link.panel) == nullptr || (link.panel == "fusions" && step.opcode != "fusion") ||
          (link.panel == "source" && step.source_file.empty()))
        continue;
      const float width = ImGui::CalcTextSize(link.text).x + 2 * ImGui::GetStyle().FramePadding.x;
      if (!first && ImGui::GetItemRectMax().x + ImGui::GetStyle().ItemSpacing.x + width < right) ImGui::SameLine();
      first = false;
      if (ImGui::SmallButton(link.text)) session.show_panel = link.panel;
    }
  }

  static void draw_numbers(Session& session, const StepInfo& step) {
    const std::vector<Fact> facts = facts_of(step, *session.data());
    if (!begin_facts("facts")) return;
    std::string_view group;
    int id = 0;
    for (const Fact& fact : facts) {
      if (fact.group != group) fact_heading(group = fact.group);
      fact_row(++id, fact.name, fact.value, fact.raw, fact.about);
    }
    end_facts();
    draw_copy_button([&] { return rows_of(facts); }, report::sql_of("steps"));
    ImGui::SameLine();
    if (ImGui::Button("Copy as text")) ImGui::SetClipboardText(text_of(facts).c_str());
  }

  static void draw_neighbours(Session& session, const model::Rows& rows) {
    if (rows.rows.empty() || !ImGui::CollapsingHeader("Reads and is read by", ImGuiTreeNodeFlags_DefaultOpen)) return;
    if (!ImGui::BeginTable("neighbours", 4, ImGuiTableFlags_SizingStretchProp)) return;
    for (const char* name : {"role", "name", "shape", "bytes"}) ImGui::TableSetupColumn(name);
    int32_t wanted = -1;
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows.rows.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const std::vector<model::Cell>& row = rows.rows[static_cast<size_t>(i)];
        const bool is_step = row[5].kind == model::Cell::Kind::integer && row[5].integer != session.selection().step;
        ImGui::PushID(i);
        ImGui::TableNextColumn();
        ImGui::TextDisabled("%s", row[0].text.c_str());
        ImGui::TableNextColumn();
        if (is_step && ImGui::Selectable("##step")) wanted = static_cast<int32_t>(row[5].integer);
        if (is_step) ImGui::SameLine(0, 0);
        draw_cut(one_line(row[1].text), ImGui::GetContentRegionAvail().x);
        ImGui::TableNextColumn();
        draw_cut(one_line(row[3].text), ImGui::GetContentRegionAvail().x);
        ImGui::TableNextColumn();
        ImGui::TextUnformatted(human(number(row[4]), "_bytes").c_str());
        ImGui::PopID();
      }
    }
    ImGui::EndTable();
    if (wanted >= 0) session.select_step(wanted);
  }

  void draw_kernels(Session& session, const model::Rows& rows) {
    if (rows.rows.empty() || !ImGui::CollapsingHeader("Code", ImGuiTreeNodeFlags_DefaultOpen)) return;
    shown_ = std::min(shown_, rows.rows.size() - 1);
    for (size_t i = 0; i < rows.rows.size() && rows.rows.size() > 1; ++i) {
      ImGui::PushID(static_cast<int>(i));
      if (ImGui::RadioButton(std::to_string(i + 1).c_str(), i == shown_)) shown_ = i;
      ImGui::PopID();
      if (i % 8 != 7 && i + 1 < rows.rows.size()) ImGui::SameLine();
    }
    const std::vector<model::Cell>& kernel = rows.rows[shown_];
    if (begin_facts("kernel")) {
      fact_row(1, "kernel", one_line(kernel[1].text), kernel[1].text, "");
      fact_row(2, "ran as", one_line(kernel[3].text), kernel[3].text, "");
      fact_row(3, "compiled in", human(number(kernel[4]), "_ns"), std::to_string(kernel[4].integer), "");
      fact_row(4, "machine code", human(number(kernel[5]), "_bytes"), std::to_string(kernel[5].integer), "");
      fact_row(5, "launched by", fmt::format("{} launches", kernel[7].integer), std::to_string(kernel[7].integer), "of the whole program");
      end_facts();
    }
    draw_code_of(session, kernel);
  }

  void draw_code_of(Session& session, const std::vector<model::Cell>& kernel) {
    const int64_t content = kernel[6].integer;
    code_.want(session.document()->loader, std::to_string(content),
               [content](const model::Reader& reader) { return reader.content(content); });
    if (const base::Error* error = code_.error()) ImGui::TextWrapped("%s", one_line(error->message).c_str());
    const std::string* code = code_.value();
    if (code == nullptr) return;
    ImGui::TextDisabled("%s", one_line(kernel[2].text).c_str());
    ImGui::SameLine();
    if (ImGui::SmallButton("Copy code")) ImGui::SetClipboardText(code->c_str());
    draw_code("##code", *code,
              std::max(ImGui::GetContentRegionAvail().y - ImGui::GetTextLineHeightWithSpacing(), ImGui::GetFontSize() * 16));
  }

  Latest<Program> program_;
  Latest<std::string> code_;
  size_t shown_ = 0;
};

}  // namespace

std::unique_ptr<Panel> make_details() { return std::make_unique<Details>(); }

}  // namespace ui
