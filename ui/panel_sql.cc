// A query of one's own, on a connection of its own: a slow one never keeps another panel waiting, and can be cancelled.
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <utility>

#include "src/report/report.h"
#include "ui/input.h"
#include "ui/panel.h"
#include "ui/sql_chart.h"
#include "ui/sql_data.h"
#include "ui/table.h"
#include "ui/text.h"

namespace ui {
namespace {

constexpr size_t kMostRows = 100'000, kMostHistory = 50;

class Sql final : public Panel {
 public:
  Sql() {
    const report::Report* first = report::find("coverage");
    if (first != nullptr) text_ = std::string(first->sql);
  }

  void draw(Session& session) override {
    Document* open = session.document();
    if (open == nullptr) return ImGui::TextDisabled("No database is open.");
    follow(session, open->loader);
    const bool first = history_.empty() && session.selection().run != 0;  // an empty panel tells nobody what it is for
    const bool asked = session.pressed_with_ctrl(Session::kEnter) || first;
    for (const Session::Key& key : session.keys) {
      if (key.alt && key.key == Session::kUp) recall(1);
      if (key.alt && key.key == Session::kDown) recall(-1);
    }
    const float em = ImGui::GetFontSize();
    const float beside = std::min(em * 16, ImGui::GetContentRegionAvail().x * 0.3f);
    if (ImGui::BeginChild("schema", {beside, 0})) draw_tables();
    ImGui::EndChild();
    ImGui::SameLine();
    if (ImGui::BeginChild("query", {0, 0})) {
      draw_buttons(session, asked);
      draw_editor();
      draw_answer(session);
    }
    ImGui::EndChild();
  }

  std::span<const KeyHelp> keys() const override {
    static constexpr KeyHelp kKeys[] = {{"Ctrl+Enter", "run the query"}, {"Alt+Up, Alt+Down", "the query before, the one after"}};
    return kKeys;
  }

 private:
  /// A loader for the same file.
  void follow(const Session& session, const Loader& loader) {
    if (loader_ && loader_->path() == loader.path() && serial_ == loader.serial()) return;
    if (!loader_ || loader_->path() != loader.path())
      loader_ = std::make_unique<Loader>(loader.path(), loader.mode());
    else
      loader_->reload();
    if (session.wake()) loader_->on_done(session.wake());
    serial_ = loader.serial();
    tables_.want(*loader_, "tables", read_tables);
  }

  void run(Session& session) {
    if (history_.empty() || history_.back() != text_) history_.push_back(text_);
    if (history_.size() > kMostHistory) history_.erase(history_.begin());
    recalled_ = 0;
    const int64_t run = session.selection().run;
    answer_.forget();
    answer_.want(*loader_, text_, [text = text_, run](const model::Reader& reader) { return run_sql(reader, text, run, kMostRows); });
  }

  void recall(int by) {
    const int last = static_cast<int>(history_.size());
    recalled_ = std::clamp(recalled_ + by, 0, last);
    if (recalled_ > 0) text_ = history_[static_cast<size_t>(last - recalled_)];
  }

  void draw_buttons(Session& session, bool asked) {
    const bool waits = answer_.waiting();
    if (waits) {
      if (ImGui::Button("Cancel###run")) loader_->interrupt();
    } else if (ImGui::Button("Run###run") || asked) {
      run(session);
    }
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("Ctrl+Enter. The database is open for reading only.");
    ImGui::SameLine();
    if (ImGui::Button("Examples")) ImGui::OpenPopup("examples");
    draw_examples();
    ImGui::SameLine();
    if (ImGui::Button("History")) ImGui::OpenPopup("history");
    draw_history();
    ImGui::SameLine();
    ImGui::Checkbox("chart", &chart_);
    const SqlAnswer* answer = answer_.value();
    if (answer == nullptr) return;
    ImGui::SameLine();
    draw_copy_button([answer] { return *answer->rows; }, text_);
    ImGui::SameLine();
    ImGui::TextDisabled("%s%zu rows in %.3g s", answer->more ? "the first " : "", answer->rows->rows.size(), answer->seconds);
  }

  void draw_examples() {
    if (!ImGui::BeginPopup("examples")) return;
    ImGui::TextDisabled("Reports; ?1 is the selected run.");
    for (const report::Report& report : report::reports()) {
      if (ImGui::MenuItem(std::string(report.name).c_str(), std::string(report.about).c_str())) text_ = report.sql;
    }
    ImGui::EndPopup();
  }

  void draw_history() {
    if (!ImGui::BeginPopup("history")) return;
    if (history_.empty()) ImGui::TextDisabled("Nothing has been run yet.");
    for (size_t i = history_.size(); i-- > 0;) {
      ImGui::PushID(static_cast<int>(i));
      if (ImGui::Selectable("##query")) text_ = history_[i];
      ImGui::SameLine(0, 0);
      ImGui::TextUnformatted(one_line(history_[i], 100).c_str());
      ImGui::PopID();
    }
    ImGui::EndPopup();
  }

  void draw_editor() {
    ImGui::PushFont(mono_font());
    const float height = std::clamp(ImGui::GetContentRegionAvail().y * 0.35f, ImGui::GetFontSize() * 4, ImGui::GetFontSize() * 24);
    if (answer_.revision() != judged_) {
      judged_ = answer_.revision();
      const base::Error* error = answer_.error();
      mistake_ = error == nullptr ? std::pair{0, 0} : word_at(text_, place_of(error->message));
      if (mistake_.second > 0) focus_next_item();
    }
    // Since ImGui 1.90.1 a field that takes tabs is not activated by focus_next_item: it takes them once it is active.
    const ImGuiInputTextFlags tabs = edits_ ? ImGuiInputTextFlags_AllowTabInput : 0;
    ImGui::InputTextMultiline("##sql", &text_, {-1, height}, tabs | ImGuiInputTextFlags_CallbackAlways, select_mistake, this);
    edits_ = ImGui::IsItemActive();
    ImGui::PopFont();
  }

  /// Puts the cursor on the word that the answer complains of, once: what is typed next replaces it.
  static int select_mistake(ImGuiInputTextCallbackData* field) {
    Sql& panel = *static_cast<Sql*>(field->UserData);
    const auto [begin, end] = std::exchange(panel.mistake_, {0, 0});
    if (end == 0 || end > field->BufTextLen) return 0;
    field->CursorPos = field->SelectionEnd = end;
    field->SelectionStart = begin;
    return 0;
  }

  void draw_answer(Session& session) {
    if (answer_.waiting()) ImGui::TextDisabled("Running…");
    if (const base::Error* error = answer_.error()) {
      const auto [line, column] = place_of(error->message);
      ImGui::PushFont(mono_font());
      ImGui::TextUnformatted(error->message.c_str());  // with the line of the query and a caret below it
      ImGui::PopFont();
      if (line > 0) ImGui::TextDisabled("line %d, column %d of the query", line, column);
      return;
    }
    const SqlAnswer* answer = answer_.value();
    if (answer == nullptr) return;
    if (answer->rows->rows.empty()) return ImGui::TextDisabled("No rows.");
    if (chart_) return chart_view_.draw(*answer->rows, answer_.revision(), session.theme);
    const int row = table_.draw("answer", answer->rows, answer_.revision(), session, *loader_);
    if (row >= 0) select_step_of(session, *answer->rows, static_cast<size_t>(row));
  }

  /// A row with a column `step` of the selected run is a way to select it.
  static void select_step_of(Session& session, const model::Rows& rows, size_t row) {
    const auto at = static_cast<size_t>(std::ranges::find(rows.columns, "step") - rows.columns.begin());
    if (at == rows.columns.size()) return;
    const model::Cell& cell = rows.rows[row][at];
    if (cell.kind == model::Cell::Kind::integer) session.select_step(static_cast<int32_t>(cell.integer));
    if (cell.kind == model::Cell::Kind::text) session.select_later(0, cell.text);
  }

  void draw_tables() {
    ImGui::SetNextItemWidth(-1);
    ImGui::InputTextWithHint("##filter", "tables and views", &filter_);
    const std::vector<SqlTable>* tables = tables_.value();
    if (const base::Error* error = tables_.error()) ImGui::TextWrapped("%s", one_line(error->message).c_str());
    for (size_t i = 0; tables != nullptr && i < tables->size(); ++i) {
      const SqlTable& table = (*tables)[i];
      const auto in_filter = [&](const std::string& name) { return name.find(filter_) != std::string::npos; };
      if (!in_filter(table.name) && std::ranges::none_of(table.columns, [&](const auto& column) { return in_filter(column.first); }))
        continue;
      ImGui::PushID(static_cast<int>(i));
      const bool unfolded = ImGui::TreeNode("table", "%s", one_line(table.name, 100).c_str());
      if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s; double click: into the query", table.type.c_str());
      if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) text_.append(" ").append(table.name);
      for (size_t c = 0; unfolded && c < table.columns.size(); ++c) {
        ImGui::PushID(static_cast<int>(c));
        if (ImGui::Selectable("##column")) text_.append(" ").append(table.columns[c].first);
        ImGui::SameLine(0, 0);
        ImGui::TextUnformatted(table.columns[c].first.c_str());
        ImGui::SameLine();
        ImGui::TextDisabled("%s", table.columns[c].second.c_str());
        ImGui::PopID();
      }
      if (unfolded) ImGui::TreePop();
      ImGui::PopID();
    }
  }

  std::string text_, filter_;
  std::vector<std::string> history_;
  std::pair<int, int> mistake_;  ///< bytes of the query that an error names, until they are selected; 0, 0: none
  int judged_ = 0;               ///< answer whose error was looked at
  int recalled_ = 0;             ///< how far back in the history; 0: not
  bool edits_ = false;           ///< the query has the focus
  bool chart_ = false;
  std::unique_ptr<Loader> loader_;  ///< outlives what waits for its answers
  int64_t serial_ = 0;
  Latest<std::vector<SqlTable>> tables_;
  Latest<SqlAnswer> answer_;
  RowTable table_;
  SqlChart chart_view_;
};

}  // namespace

std::unique_ptr<Panel> make_sql() { return std::make_unique<Sql>(); }

}  // namespace ui
