// Every step with its time. What is shown is arranged on the loader's thread (top_data.h); here it is painted, and keys and clicks are
// taken.
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/grid.h"
#include "ui/input.h"
#include "ui/open_run.h"
#include "ui/panel.h"
#include "ui/plot_data.h"
#include "ui/plot_widgets.h"
#include "ui/read_or_say.h"
#include "ui/report_copy.h"
#include "ui/text.h"
#include "ui/top_data.h"

namespace ui {
namespace {

constexpr int64_t kSparkPoints = 64;

/// Samples of the selected step.
struct Histogram {
  int32_t step = -1;
  Bins bins;
};

class Top final : public Panel {
 public:
  Top() : grid_({top_column("pass_ns"), true}) {}

  std::span<const KeyHelp> keys() const override {
    static constexpr KeyHelp kKeys[] = {{"↑ ↓", "the step above, below"},
                                        {"Enter", "open or close a group; show a step"},
                                        {"← →", "close, open a group"},
                                        {"/", "filter"},
                                        {"g", "group by the next thing"}};
    return kKeys;
  }

  void draw(Session& session) override {
    const std::shared_ptr<const RunData> run = open_run_or_reason(session);
    if (run == nullptr) return;
    Document* open = session.document();
    if (run->steps.empty()) return ImGui::TextWrapped("The run has no steps.");
    draw_bar(session);
    ask(session, *open, run);
    const auto* answer = read_or_say(table_, OldAnswer::kept, "Sorting…");
    if (answer == nullptr) return;
    const TopTable* table = answer->get();
    if (table->run->run != run->run) return ImGui::TextDisabled("Sorting…");
    follow_selection(session, *table, lay_out(*table));
    take_keys(session, *table);
    const float em = ImGui::GetFontSize(), footer = ImGui::GetTextLineHeightWithSpacing();
    const StepInfo* step = session.step();
    const bool room = ImGui::GetContentRegionAvail().y > em * 26;
    const float below = footer + (step != nullptr && room ? em * 12 : 0);
    draw_table(session, *open, *table, -below);
    draw_footer(*table);
    if (step != nullptr && room) draw_samples(session, *open, *step);
  }

 private:
  void draw_bar(Session& session) {
    const float em = ImGui::GetFontSize();
    if (std::exchange(focus_filter_, false)) focus_next_item();
    ImGui::SetNextItemWidth(em * 14);
    ImGui::InputTextWithHint("##filter", "filter (/)", &filter_);
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted("group by");
    ImGui::SameLine();
    ImGui::SetNextItemWidth(em * 9);
    if (ImGui::BeginCombo("##group", std::string(kind_of(grouping_).title).c_str())) {
      for (int g = 0; g < kGroupings; ++g) {
        const auto grouping = static_cast<Grouping>(g);
        if (ImGui::Selectable(std::string(kind_of(grouping).title).c_str(), grouping == grouping_)) grouping_ = grouping;
      }
      ImGui::EndCombo();
    }
    if (grouping_ == Grouping::layer) {
      ImGui::SameLine();
      ImGui::SetNextItemWidth(em * 8);
      ImGui::SliderInt("##depth", &depth_, 1, std::max(deepest_, 2), "depth %d", ImGuiSliderFlags_AlwaysClamp);
    }
    ImGui::SameLine();
    const auto* answer = table_.value();
    const std::shared_ptr<const TopTable> shown = answer == nullptr ? nullptr : *answer;
    copy_.draw(session, "top", [shown](const model::Reader&) { return shown == nullptr ? model::Rows() : rows_of(*shown); });
    if (!table_.waiting()) return;
    ImGui::SameLine();
    ImGui::TextDisabled("sorting…");
  }

  void ask(Session& session, Document& open, const std::shared_ptr<const RunData>& run) {
    const TopView view{grouping_, depth_, filter_, grid_.sort().column, grid_.sort().descending};
    const std::string key = fmt::format("{}/{}/{}", session.selection().document, run->run, view.key());
    table_.want(open.loader, key, [run, view](const model::Reader& reader) -> base::Result<std::shared_ptr<const TopTable>> {
      ASSIGN_OR_RETURN(const std::vector<StepShare> shares, read_step_shares(reader, run->run, view.grouping));
      return std::make_shared<const TopTable>(arrange_top(run, shares, view));
    });
  }

  /// True: lines stand elsewhere now.
  bool lay_out(const TopTable& table) {
    if (table_.revision() == laid_out_) return false;
    laid_out_ = table_.revision();
    if (table.view.grouping == Grouping::layer) deepest_ = table.deepest;
    largest_ = 0;
    const bool flat = table.view.grouping == Grouping::none;
    for (const TopGroup& group : table.groups) largest_ = flat ? largest_ : std::max(largest_, group.totals.share);
    for (const TopEntry& entry : table.entries) {
      const double share = table.run->steps[entry.index].share * static_cast<double>(entry.part);
      if (share > largest_) largest_ = share;
    }
    lines_.lay_out(table, open_);
    return true;
  }

  void toggle(const TopTable& table, int group, bool open) {
    const std::string& label = table.groups[static_cast<size_t>(group)].label;
    open ? static_cast<void>(open_.insert(label)) : static_cast<void>(open_.erase(label));
    lines_.lay_out(table, open_);
  }

  /// Goes to the line of the selected step; its group is opened where the selection comes from another panel.
  void follow_selection(Session& session, const TopTable& table, bool moved) {
    const bool changed = followed_ != session.selection_revision();
    if (!changed && !moved) return;
    followed_ = session.selection_revision();
    const int32_t step = session.selection().step;
    if (step < 0) return;
    int line = lines_.line_of(table, step);
    if (line < 0 && changed && step != clicked_step_) {
      const int group = TopLines::group_of(table, step);
      if (group < 0) return;
      toggle(table, group, true);
      line = lines_.line_of(table, step);
    }
    if (line < 0) return;
    cursor_ = line;
    grid_.scroll_to(line);
  }

  void take_keys(Session& session, const TopTable& table) {
    if (session.pressed('/') > 0) focus_filter_ = true;
    if (session.pressed('G') > 0) grouping_ = static_cast<Grouping>((static_cast<int>(grouping_) + 1) % kGroupings);
    const int moved = moved_line(session, cursor_, lines_.count());
    if (moved >= 0) go_to(session, table, moved);
    if (cursor_ < 0 || cursor_ >= lines_.count()) return;
    const TopLines::Line line = lines_.line(cursor_);
    if (line.entry < 0 && session.pressed(Session::kEnter) > 0) toggle(table, line.group, !is_open(table, line.group));
    if (line.entry < 0 && session.pressed(Session::kRight) > 0) toggle(table, line.group, true);
    if (line.entry < 0 && session.pressed(Session::kLeft) > 0) toggle(table, line.group, false);
    if (line.entry >= 0 && session.pressed(Session::kEnter) > 0) open_step(session, table, line);
  }

  bool is_open(const TopTable& table, int group) const { return open_.contains(table.groups[static_cast<size_t>(group)].label); }

  const StepInfo& step_of(const TopTable& table, const TopLines::Line& line) const {
    return table.run->steps[table.entries[static_cast<size_t>(line.entry)].index];
  }

  void open_step(Session& session, const TopTable& table, const TopLines::Line& line) {
    const StepInfo& step = step_of(table, line);
    session.select_step(step.step);
    session.show_panel = step.opcode == "fusion" && find_panel("fusions") != nullptr ? "fusions" : "timeline";
  }

  void go_to(Session& session, const TopTable& table, int at) {
    cursor_ = at;
    grid_.scroll_to(at);
    const TopLines::Line line = lines_.line(at);
    if (line.entry >= 0) select(session, step_of(table, line).step);
  }

  void select(Session& session, int32_t step) {
    clicked_step_ = step;
    session.select_step(step);
    followed_ = session.selection_revision();
  }

  void draw_table(Session& session, Document& open, const TopTable& table, float height) {
    if (columns_.empty()) {
      for (const TopColumn& c : top_columns())
        columns_.push_back(
            {std::string(c.heading), c.width_em, c.text != nullptr ? GridColumn::Kind::text : GridColumn::Kind::number, c.hidden});
    }
    const int at = cursor_ < lines_.count() ? cursor_ : -1;
    const Grid::Event event = grid_.draw("steps", columns_, lines_.count(), at, {0, height}, [&](int line, int column) {
      const TopLines::Line what = lines_.line(line);
      what.entry < 0 ? paint_group(session, table, what, column) : paint_step(session, table, what, column);
    });
    if (event.clicked >= 0) {
      cursor_ = event.clicked;
      const TopLines::Line line = lines_.line(event.clicked);
      line.entry < 0 ? toggle(table, line.group, !is_open(table, line.group)) : select(session, step_of(table, line).step);
    }
    if (event.opened >= 0 && event.opened < lines_.count() && lines_.line(event.opened).entry >= 0)
      open_step(session, table, lines_.line(event.opened));
    want_sparks(session, open, table, event.first, std::min(event.last, lines_.count()));
  }

  void paint_group(Session& session, const TopTable& table, const TopLines::Line& line, int column) {
    const TopGroup& group = table.groups[static_cast<size_t>(line.group)];
    const TopColumn& what = top_columns()[static_cast<size_t>(column)];
    if (column == 0) {
      ImGui::TextUnformatted(is_open(table, line.group) ? "▾" : "▸");
      ImGui::SameLine(0, ImGui::GetFontSize() * 0.4f);
      cell_text(group.label);
    } else if (column == 1) {
      ImGui::TextDisabled("%zu %s", group.totals.steps, group.totals.steps == 1 ? "step" : "steps");
    } else if (what.of_group != nullptr) {
      if (what.name == "share_percent") cell_bar(largest_ > 0 ? group.totals.share / largest_ : 0, good_color(session.theme));
      cell_number(what.of_group(group.totals), what.name);
    }
  }

  void paint_step(Session& session, const TopTable& table, const TopLines::Line& line, int column) {
    const TopEntry& entry = table.entries[static_cast<size_t>(line.entry)];
    const StepInfo& step = step_of(table, line);
    const TopColumn& what = top_columns()[static_cast<size_t>(column)];
    if (column == 0 && table.view.grouping != Grouping::none) ImGui::Dummy({ImGui::GetFontSize(), 0}), ImGui::SameLine(0, 0);
    if (what.text != nullptr) return cell_text(what.text(step));
    if (what.name == "samples") return paint_samples(session, step);
    const double value = what.number(step, entry.part);
    if (what.name == "share_percent") cell_bar(largest_ > 0 ? value / 100 / largest_ : 0, good_color(session.theme));
    cell_number(value, what.name);
  }

  void paint_samples(Session& session, const StepInfo& step) {
    const StepSamples* sparks = sparks_.value();
    const std::span<const double> samples = sparks == nullptr ? std::span<const double>() : sparks->of(step.step);
    if (samples.size() < 2) return cell_number(step.n > 0 ? std::to_string(step.n) : "-");
    const ImU32 color = step.flags.empty() ? series_color(session.theme, 0) : bad_color(session.theme);
    sparkline(samples, {ImGui::GetContentRegionAvail().x, ImGui::GetTextLineHeight()}, color);
  }

  /// The samples of all visible steps in one query, of so many passes as the cell has pixels for.
  void want_sparks(Session& session, Document& open, const TopTable& table, int first, int last) {
    const RunInfo* info = session.run();
    std::vector<int32_t> steps;
    for (int i = first; i < last; ++i) {
      const TopLines::Line line = lines_.line(i);
      if (line.entry >= 0 && step_of(table, line).n > 1) steps.push_back(step_of(table, line).step);
    }
    if (steps.empty() || info == nullptr) return;
    const int64_t run = table.run->run, stride = std::max<int64_t>(1, info->passes / kSparkPoints);
    const std::string key = fmt::format("{}/{}/{}/{}", session.selection().document, run, info->passes, fmt::join(steps, ","));
    if (key != spark_key_) {  // wait until scrolling has stopped
      spark_key_ = key;
      spark_age_ = 0;
    }
    if (++spark_age_ < 3) return;
    sparks_.want(open.loader, key, [run, stride, steps](const model::Reader& reader) { return read_samples(reader, run, steps, stride); });
  }

  void draw_footer(const TopTable& table) const {
    const TopTotals &shown = table.shown, &all = table.all;
    std::string text =
        shown.steps == all.steps ? fmt::format("{} steps", all.steps) : fmt::format("{} of {} steps", shown.steps, all.steps);
    if (table.view.grouping != Grouping::none) text += fmt::format(" in {} groups", table.groups.size());
    text += " · " + human(shown.pass_ns, "_ns");
    if (shown.steps != all.steps) text += fmt::format(" of {} ({})", human(all.pass_ns, "_ns"), human(100 * shown.share, "_percent"));
    text += fmt::format(" a pass · {} · {}", human(shown.flops, "_flops"), human(shown.bytes, "_bytes"));
    if (shown.pass_ns > 0)
      text += fmt::format(" · {} GFLOP/s · {} GB/s", human(shown.flops / shown.pass_ns, ""), human(shown.bytes / shown.pass_ns, ""));
    ImGui::TextDisabled("%s", text.c_str());
  }

  void draw_samples(Session& session, Document& open, const StepInfo& step);

  Grid grid_;
  ReportCopy copy_;
  std::vector<GridColumn> columns_;
  Latest<std::shared_ptr<const TopTable>> table_;
  Latest<StepSamples> sparks_;
  Latest<Histogram> samples_;
  std::string spark_key_;
  int spark_age_ = 0;
  TopLines lines_;
  std::set<std::string, std::less<>> open_;
  std::string filter_;
  Grouping grouping_ = Grouping::none;
  int depth_ = 2, deepest_ = 8, laid_out_ = -1, followed_ = -1, cursor_ = -1;
  int32_t clicked_step_ = -1;
  double largest_ = 0;  ///< share that has a full bar
  bool focus_filter_ = false;
};

/// The numbers of a step as lines of text that can be read without the plot.
void draw_numbers(const StepInfo& step) {
  cell_text(step.name);
  if (!step.op_name.empty()) {
    ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetColorU32(ImGuiCol_TextDisabled));
    cell_text(step.op_name);
    ImGui::PopStyleColor();
  }
  if (!std::isfinite(step.median_ns))
    return ImGui::TextWrapped("Not timed%s", step.why.empty() ? "." : (": " + one_line(step.why)).c_str());
  ImGui::Text("median %s  (%s to %s, 95 %%)", human(step.median_ns, "_ns").c_str(), human(step.ci_low_ns, "_ns").c_str(),
              human(step.ci_high_ns, "_ns").c_str());
  ImGui::Text("half of all %s to %s, fastest %s", human(step.q1_ns, "_ns").c_str(), human(step.q3_ns, "_ns").c_str(),
              human(step.min_ns, "_ns").c_str());
  if (step.flags.empty()) return ImGui::TextDisabled("no doubts about the timing");
  for (size_t begin = 0; begin < step.flags.size();) {
    const size_t end = std::min(step.flags.find(' ', begin), step.flags.size());
    const std::string flag = one_line(std::string_view(step.flags).substr(begin, end - begin));
    const std::string_view meaning = flag_meaning(flag);
    if (!flag.empty()) ImGui::TextWrapped("⚠ %s", (meaning.empty() ? flag : fmt::format("{}: {}", flag, meaning)).c_str());
    begin = end + 1;
  }
}

void Top::draw_samples(Session& session, Document& open, const StepInfo& step) {
  const int64_t run = session.selection().run;
  const int32_t id = step.step;
  samples_.want(open.loader, fmt::format("{}/{}/{}", session.selection().document, run, id),
                [run, id](const model::Reader& reader) -> base::Result<Histogram> {
                  ASSIGN_OR_RETURN(const StepSamples samples, read_samples(reader, run, {id}, 1));
                  return Histogram{id, bins_of(samples.of(id))};
                });
  const float em = ImGui::GetFontSize(), height = ImGui::GetContentRegionAvail().y;
  const float text = std::min(em * 28, ImGui::GetContentRegionAvail().x * 0.45f);
  if (ImGui::BeginChild("numbers", {text, height})) draw_numbers(step);
  ImGui::EndChild();
  ImGui::SameLine();
  const Histogram* histogram = samples_.value();
  if (histogram == nullptr || histogram->step != id) return ImGui::TextDisabled("Reading…");
  ui::histogram("samples", histogram->bins, {step.median_ns, step.ci_low_ns, step.ci_high_ns, step.flags, false},
                {ImGui::GetContentRegionAvail().x, height}, session.theme);
}

}  // namespace

std::unique_ptr<Panel> make_top() { return std::make_unique<Top>(); }

}  // namespace ui
