// What ran where, how much of it can be believed, and where to look first.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>

#include "src/report/query.h"
#include "src/report/report.h"
#include "ui/details_data.h"
#include "ui/facts_table.h"
#include "ui/panel.h"
#include "ui/plot_widgets.h"
#include "ui/read_or_say.h"
#include "ui/report_copy.h"
#include "ui/small_table.h"
#include "ui/text.h"

namespace ui {
namespace {

constexpr size_t kFirstLooks = 5, kMostNotes = 50;

struct Content {
  model::Rows facts, ceilings, coverage, accounts, notes, findings;
};

base::Result<Content> read(const model::Reader& reader, int64_t run) {
  const std::array<model::Cell, 1> key = {report::cell(run)};
  Content content;
  ASSIGN_OR_RETURN(content.facts, report::ask(reader, "run_facts", key));
  ASSIGN_OR_RETURN(content.ceilings, report::ask(reader, "ceilings", key));
  ASSIGN_OR_RETURN(content.accounts, report::ask(reader, "accounts", key));
  struct Part {
    std::string_view name;
    model::Rows Content::*rows;
  };
  constexpr Part kParts[] = {{"coverage", &Content::coverage}, {"notes", &Content::notes}, {"findings", &Content::findings}};
  for (const Part& part : kParts) {
    const report::Report* found = report::find(part.name);
    if (found == nullptr) continue;
    ASSIGN_OR_RETURN(content.*part.rows, report::run(reader, *found, run));
  }
  return content;
}

struct FlagText {
  std::string_view flag, meaning;
};
constexpr FlagText kFlagTexts[] = {
    {"too-short", "shorter than the clock can tell well, even repeated"},
    {"few-samples", "timed in too few passes"},
    {"drifting", "became slower or faster while the run went on"},
    {"bimodal", "two different times, in turns"},
    {"throttled", "the processor's clock was lowered"},
};

std::string_view meaning_of(std::string_view flag) {
  for (const FlagText& text : kFlagTexts) {
    if (text.flag == flag) return text.meaning;
  }
  return "";
}

class Overview final : public Panel {
 public:
  void draw(Session& session) override {
    if (session.document() == nullptr || session.selection().run == 0) return ImGui::TextWrapped("No run is open.");
    const int64_t run = session.selection().run;
    content_.want(session.document()->loader, std::to_string(run), [run](const model::Reader& reader) { return read(reader, run); });
    const Content* content = read_or_say(content_);
    if (content == nullptr) return;
    draw_title(session);
    static constexpr std::string_view kReports[] = {"findings", "coverage", "notes"};
    copy_.draw(session, kReports);
    const bool wide = ImGui::GetContentRegionAvail().x > ImGui::GetFontSize() * 62;
    if (!wide) {
      draw_left(session, *content);
      draw_right(session, *content);
    } else if (ImGui::BeginTable("halves", 2, ImGuiTableFlags_SizingStretchProp)) {
      ImGui::TableSetupColumn("left", 0, 0.62f);
      ImGui::TableSetupColumn("right", 0, 0.38f);
      ImGui::TableNextColumn();
      draw_left(session, *content);
      ImGui::TableNextColumn();
      draw_right(session, *content);
      ImGui::EndTable();
    }
  }

 private:
  static void draw_title(Session& session) {
    const RunInfo* run = session.run();
    if (run != nullptr) ImGui::TextWrapped("%s", one_line(run->label()).c_str());
    const RunData* data = session.data();
    if (data == nullptr) return;
    ImGui::TextDisabled("%zu steps, %s a pass", data->steps.size(),
                        data->pass_ns > 0 ? human(data->pass_ns, "_ns").c_str() : "no times yet:");
  }

  /// What to do: findings, doubts, coverage, import.
  static void draw_left(Session& session, const Content& content) {
    if (!content.findings.rows.empty()) {
      fact_title("Look at these first");
      draw_findings(session, content.findings);
      ImGui::NewLine();
    }
    draw_flags(session);
    fact_title("What ran, by class");
    draw_small_table("coverage", content.coverage, kMostNotes);
    ImGui::NewLine();
    fact_title("What was imported");
    draw_small_table("accounts", content.accounts, kMostNotes);
    ImGui::NewLine();
    if (content.notes.rows.empty()) return;
    fact_title("What the import and the replay could go on without");
    draw_small_table("notes", content.notes, kMostNotes);
  }

  /// Where: machine, ceilings, options.
  static void draw_right(Session&, const Content& content) {
    if (begin_facts("machine")) {
      int id = 0;
      fact_heading("Ceilings and memory");
      for (const std::vector<model::Cell>& row : content.ceilings.rows) {
        if (row[1].kind != model::Cell::Kind::null)
          fact_row(++id, row[0].text, human(number(row[1]), row[2].text), fmt::format("{}", number(row[1])), "");
      }
      fact_heading("What ran where, and how");
      for (const std::vector<model::Cell>& row : content.facts.rows) {
        if (!row[1].text.empty()) fact_row(++id, row[0].text, one_line(row[1].text), row[1].text, "");
      }
      end_facts();
    }
  }

  static void fact_title(const char* text) {
    ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetColorU32(ImGuiCol_CheckMark));
    ImGui::TextUnformatted(text);
    ImGui::PopStyleColor();
  }

  static const model::Cell& cell_of(const model::Rows& rows, size_t row, std::string_view column) {
    return rows.rows[row][static_cast<size_t>(std::ranges::find(rows.columns, column) - rows.columns.begin())];
  }

  /// A line that selects its step, and below it what to do: the sentences are too long for a column.
  static void draw_findings(Session& session, const model::Rows& rows) {
    for (size_t i = 0; i < std::min(rows.rows.size(), kFirstLooks); ++i) {
      const auto shown = [&](std::string_view column) { return human(number(cell_of(rows, i, column)), column); };
      const std::string about = one_line(cell_of(rows, i, "finding").text, 60) + " · ";
      std::string numbers;
      if (cell_of(rows, i, "time_ns").kind != model::Cell::Kind::null) numbers += " · " + shown("time_ns");
      if (cell_of(rows, i, "share_percent").kind != model::Cell::Kind::null) numbers += ", " + shown("share_percent");
      if (cell_of(rows, i, "gain_ns").kind != model::Cell::Kind::null) numbers += ", at most " + shown("gain_ns") + " to win";
      const float room = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize((about + numbers).c_str()).x;
      ImGui::PushID(static_cast<int>(i));
      const model::Cell& step = cell_of(rows, i, "step");
      if (ImGui::Selectable("##finding") && step.kind == model::Cell::Kind::integer)
        session.select_step(static_cast<int32_t>(step.integer));
      ImGui::SameLine(0, 0);
      put_line(about + cut_to(one_line(cell_of(rows, i, "what").text, 300), room) + numbers);
      ImGui::Indent();
      ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetColorU32(ImGuiCol_TextDisabled));
      ImGui::TextWrapped("%s", one_line(cell_of(rows, i, "advice").text).c_str());
      ImGui::PopStyleColor();
      ImGui::Unindent();
      ImGui::PopID();
    }
  }

  static void draw_flags(Session& session) {
    if (session.data() == nullptr) return;
    const std::vector<FlagCount> flags = count_flags(*session.data());
    if (flags.empty()) return;
    fact_title("Doubts about times");
    for (const FlagCount& flag : flags) {
      const std::string_view meaning = meaning_of(flag.flag);
      ImGui::TextWrapped("%s: %zu steps, %s of the pass%s%.*s", one_line(flag.flag, 60).c_str(), flag.steps,
                         human(flag.share * 100, "_percent").c_str(), meaning.empty() ? "" : ": ", static_cast<int>(meaning.size()),
                         meaning.data());
    }
    ImGui::NewLine();
  }

  Latest<Content> content_;
  ReportCopy copy_;
};

}  // namespace

std::unique_ptr<Panel> make_overview() { return std::make_unique<Overview>(); }

}  // namespace ui
