// Two runs side by side: which steps became slower or faster, how surely, and by what they were taken for the same. The matching is
// report::compare's; both runs may lie in different files.
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "ui/compare_data.h"
#include "ui/grid.h"
#include "ui/input.h"
#include "ui/panel.h"
#include "ui/plot_widgets.h"
#include "ui/read_or_say.h"
#include "ui/report_copy.h"
#include "ui/scatter.h"
#include "ui/text.h"

namespace ui {
namespace {

struct Side {
  size_t document = 0;
  int64_t run = 0;  ///< 0: none
  bool operator==(const Side&) const = default;
};

struct VerdictKind {
  const char *word, *title;
};
constexpr VerdictKind kVerdicts[] = {{"", "all"},        {"slower", "▼ slower"}, {"faster", "▲ faster"},
                                     {"same", "= same"}, {"new", "new"},         {"gone", "gone"}};

class ComparePanel final : public Panel {
 public:
  std::span<const KeyHelp> keys() const override {
    static constexpr KeyHelp kKeys[] = {
        {"↑ ↓", "the step above, below"}, {"v", "show only one verdict"}, {"x", "swap the runs"}, {"/", "filter"}};
    return kKeys;
  }

  void draw(Session& session) override {
    if (session.document() == nullptr || session.selection().run == 0) return ImGui::TextDisabled("No run is open.");
    follow_run(session);
    draw_sides(session);
    if (before_.run == 0)
      return ImGui::TextWrapped(
          "There is no other run to compare with. Replay once more into this file, or open a second one: profile-view A.db B.db");
    ask(session);
    const auto* answer = read_or_say(compared_, OldAnswer::hidden, "Comparing…");
    if (answer == nullptr) return;
    const std::shared_ptr<const Compared> compared = *answer;
    draw_summary(session.theme, *compared);
    draw_bar(session, compared);
    arrange(session, compared);
    const std::vector<uint32_t>* order = order_.value();
    if (order == nullptr) return ImGui::TextDisabled("Sorting…");
    follow_selection(session, *compared, *order);
    take_keys(session, *compared, *order);
    const float em = ImGui::GetFontSize();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const bool wide = room.x > em * 60;
    const float plot = std::min(room.y, std::round(room.x * 0.32f));
    draw_table(session, *compared, *order, {wide ? room.x - plot - em * 0.5f : 0, 0});
    if (!wide) return;
    ImGui::SameLine(0, em * 0.5f);
    if (ImGui::BeginChild("plot", {0, 0}, false, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse))
      draw_plot(session, *compared, ImGui::GetContentRegionAvail());
    ImGui::EndChild();
  }

 private:
  /// `after` is the selected run, `before` the newest other one of the same program, unless they were chosen.
  void follow_run(Session& session) {
    const Side selected{session.selection().document, session.selection().run};
    if (before_.run == 0) before_ = other_than(session, after_.run == 0 ? selected : after_);  // other files may still be opening
    if (selected == followed_run_) return;
    const bool first = followed_run_.run == 0;
    followed_run_ = selected;
    if (!first && (selected == after_ || selected == before_)) return;
    after_ = selected;
    before_ = other_than(session, selected);
  }

  static Side other_than(Session& session, const Side& side) {
    const RunInfo* after = session.run();
    Side any;
    for (size_t d = 0; d < session.documents().size(); ++d) {
      const auto* runs = session.documents()[d]->runs.value();
      if (runs == nullptr) continue;
      for (const RunInfo& run : *runs) {  // newest first
        const Side found{d, run.run};
        if (found == side || (d == side.document && run.run > side.run)) continue;
        const bool alike = after != nullptr && run.module == after->module && run.device == after->device;
        if (alike) return found;
        if (any.run == 0) any = found;
      }
    }
    return any;
  }

  void draw_sides(Session& session) {
    const float em = ImGui::GetFontSize(), width = std::max(em * 10, (ImGui::GetContentRegionAvail().x - em * 15) / 2);
    draw_side(session, "before", before_, width);
    ImGui::SameLine();
    draw_side(session, "after", after_, width);
    ImGui::SameLine();
    if (ImGui::Button("swap")) std::swap(before_, after_);
  }

  static void draw_side(Session& session, const char* name, Side& side, float width) {
    const auto label = [&](size_t document, const RunInfo& run) {
      const std::string file = std::filesystem::path(session.documents()[document]->loader.path()).filename().string();
      return session.documents().size() > 1 ? one_line(file, 40) + " · " + one_line(run.label(), 160) : one_line(run.label(), 160);
    };
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(name);
    ImGui::SameLine();
    ImGui::SetNextItemWidth(width);
    ImGui::PushID(name);
    const float room = width - ImGui::GetFrameHeight() - 2 * ImGui::GetStyle().FramePadding.x;  // beside the arrow
    if (ImGui::BeginCombo("##run", cut_to(label_of(session, side, label), room).c_str())) {
      for (size_t d = 0; d < session.documents().size(); ++d) {
        const auto* runs = session.documents()[d]->runs.value();
        if (runs == nullptr) continue;
        ImGui::PushID(static_cast<int>(d));
        for (const RunInfo& run : *runs) {
          ImGui::PushID(static_cast<int>(run.run));
          if (ImGui::Selectable("##pick", side == Side{d, run.run})) side = {d, run.run};
          ImGui::SameLine(0, 0);
          ImGui::TextUnformatted(label(d, run).c_str());
          ImGui::PopID();
        }
        ImGui::PopID();
      }
      ImGui::EndCombo();
    }
    ImGui::PopID();
  }

  template <typename Label>
  static std::string label_of(Session& session, const Side& side, const Label& label) {
    if (side.run == 0 || side.document >= session.documents().size()) return "none";
    const auto* runs = session.documents()[side.document]->runs.value();
    if (runs == nullptr) return "…";
    const auto found = std::ranges::find(*runs, side.run, &RunInfo::run);
    return found == runs->end() ? "none" : label(side.document, *found);
  }

  std::string which() const { return fmt::format("{}/{}/{}/{}", before_.document, before_.run, after_.document, after_.run); }

  void ask(Session& session) {
    if (std::max(before_.document, after_.document) >= session.documents().size()) return;
    Document& open = *session.documents()[after_.document];
    const std::string other = before_.document == after_.document ? std::string() : session.documents()[before_.document]->loader.path();
    compared_.want(
        open.loader, which(),
        [other, before = before_.run, after = after_.run](const model::Reader& reader) -> base::Result<std::shared_ptr<const Compared>> {
          if (other.empty()) {
            ASSIGN_OR_RETURN(const report::Comparison comparison, report::compare({reader, before}, {reader, after}));
            return std::make_shared<const Compared>(compared(comparison));
          }
          ASSIGN_OR_RETURN(const model::Reader second, model::Reader::open(other));
          ASSIGN_OR_RETURN(const report::Comparison comparison, report::compare({second, before}, {reader, after}));
          return std::make_shared<const Compared>(compared(comparison));
        });
  }

  static void draw_summary(const Theme& theme, const Compared& c) {
    ImGui::Text("A pass: %s before, %s after, %+.1f %% (%+.1f to %+.1f)", human(c.before_ns, "_ns").c_str(),
                human(c.after_ns, "_ns").c_str(), c.percent, c.low_percent, c.high_percent);
    ImGui::SameLine();
    cell_verdict(c.verdict, theme);
    ImGui::SameLine();
    const std::string noise = std::isfinite(c.noise_percent)
                                  ? fmt::format("all moved {:+.1f} % alike, each ±{:.1f} %", c.alike_percent, c.noise_percent)
                                  : std::string("too few to tell noise from change");
    cell_text(fmt::format("{} steps matched, {} not judged; {}", c.matched, c.not_judged, noise));
    if (c.differences.empty()) return;
    ImGui::PushStyleColor(ImGuiCol_Text, bad_color(theme));
    ImGui::TextUnformatted(fmt::format("Not run alike ({})", c.differences.size()).c_str());
    ImGui::PopStyleColor();
    ImGui::SameLine();
    std::string all;
    for (const std::string& difference : c.differences) all += (all.empty() ? "" : "; ") + difference;
    cell_text(all);
  }

  void draw_bar(Session& session, const std::shared_ptr<const Compared>& compared) {
    if (std::exchange(focus_filter_, false)) focus_next_item();
    ImGui::SetNextItemWidth(ImGui::GetFontSize() * 12);
    ImGui::InputTextWithHint("##filter", "filter (/)", &words_);
    const int64_t counts[] = {
        static_cast<int64_t>(compared->steps.size()), compared->slower, compared->faster, compared->same, compared->fresh, compared->gone};
    for (size_t i = 0; i < std::size(kVerdicts); ++i) {
      ImGui::SameLine();
      if (ImGui::RadioButton(fmt::format("{} {}###{}", kVerdicts[i].title, counts[i], i).c_str(), verdict_ == i)) verdict_ = i;
    }
    ImGui::SameLine();
    const std::vector<uint32_t>* order = order_.value();
    const auto shown = order == nullptr ? std::vector<uint32_t>() : *order;
    copy_.draw(session, "compare", [compared, shown](const model::Reader&) { return rows_of(*compared, shown); });
  }

  void arrange(Session& session, const std::shared_ptr<const Compared>& compared) {
    const CompareView view{words_, kVerdicts[verdict_].word, grid_.sort().column, grid_.sort().descending};
    const std::string key = fmt::format("{}/{}/{}/{}/{}/{}", which(), compared_.revision(), verdict_, view.column, view.descending, words_);
    order_.want(
        session.documents()[after_.document]->loader, key,
        [compared, view](const model::Reader&) -> base::Result<std::vector<uint32_t>> { return arrange_compared(*compared, view); });
  }

  /// The number of the step in the run that is selected everywhere; −1: it is of neither side, or not there.
  int32_t step_of(Session& session, const ComparedStep& step) const {
    const Side selected{session.selection().document, session.selection().run};
    return selected == after_ ? step.after_step : selected == before_ ? step.before_step : -1;
  }

  void follow_selection(Session& session, const Compared& compared, const std::vector<uint32_t>& order) {
    if (order_.revision() != laid_out_) {
      laid_out_ = order_.revision(), followed_ = -1;
    }
    if (followed_ == session.selection_revision()) return;
    followed_ = session.selection_revision();
    const int32_t step = session.selection().step;
    const auto found = std::ranges::find_if(order, [&](uint32_t i) { return step >= 0 && step_of(session, compared.steps[i]) == step; });
    selected_ = found == order.end() ? -1 : static_cast<int64_t>(*found);
    if (found == order.end()) return;
    cursor_ = static_cast<int>(found - order.begin());
    grid_.scroll_to(cursor_);
  }

  void take_keys(Session& session, const Compared& compared, const std::vector<uint32_t>& order) {
    if (session.pressed('/') > 0) focus_filter_ = true;
    if (session.pressed('V') > 0) verdict_ = (verdict_ + 1) % std::size(kVerdicts);
    if (session.pressed('X') > 0) std::swap(before_, after_);
    go_to(session, compared, order, moved_line(session, cursor_, static_cast<int>(order.size())));
  }

  void go_to(Session& session, const Compared& compared, const std::vector<uint32_t>& order, int line) {
    if (line < 0 || line >= static_cast<int>(order.size())) return;
    cursor_ = line;
    grid_.scroll_to(line);
    select(session, compared.steps[order[static_cast<size_t>(line)]]);
  }

  void select(Session& session, const ComparedStep& step) {
    const int32_t here = step_of(session, step);
    if (here >= 0) return session.select_step(here);
    Selection next;
    const Side& side = step.after_step >= 0 ? after_ : before_;
    next.document = side.document, next.run = side.run, next.step = step.after_step >= 0 ? step.after_step : step.before_step;
    if (next.step >= 0) session.select(next);
  }

  void draw_table(Session& session, const Compared& compared, const std::vector<uint32_t>& order, ImVec2 size) {
    if (columns_.empty()) {
      for (const CompareColumn& c : compare_columns())
        columns_.push_back(
            {std::string(c.heading), c.width_em, c.text != nullptr ? GridColumn::Kind::text : GridColumn::Kind::number, c.hidden});
    }
    if (cursor_ >= static_cast<int>(order.size())) cursor_ = -1;
    const Grid::Event event = grid_.draw("compared", columns_, static_cast<int>(order.size()), cursor_, size, [&](int line, int column) {
      paint(session.theme, compared.steps[order[static_cast<size_t>(line)]], compare_columns()[static_cast<size_t>(column)],
            compared.usual_percent);
    });
    if (event.clicked >= 0) go_to(session, compared, order, event.clicked);
  }

  static void paint(const Theme& theme, const ComparedStep& step, const CompareColumn& column, double most) {
    if (column.name == "verdict") return cell_verdict(step.verdict, theme);
    if (column.name == "bar") {
      SignedBar bar{step.percent, step.low_percent, step.high_percent, most};
      bar.larger_is_worse = true;
      bar.alpha = step.verdict == "same" ? 0.35f : 1;
      return cell_signed_bar(bar, theme);
    }
    if (column.text != nullptr) return cell_text(column.text(step));
    const double value = column.number(step);
    const bool signed_number = column.name == "change_percent" || column.name == "change_a_pass_ns";
    cell_number((signed_number && value > 0 ? "+" : "") + (std::isfinite(value) ? human(value, column.name) : std::string("-")));
  }

  void draw_plot(Session& session, const Compared& compared, ImVec2 size);

  Latest<std::shared_ptr<const Compared>> compared_;
  Latest<std::vector<uint32_t>> order_;
  Grid grid_{{compare_column("change_a_pass_ns"), true}};
  ReportCopy copy_;
  Scatter scatter_;
  std::vector<GridColumn> columns_;
  Side before_, after_, followed_run_;
  std::string words_;
  size_t verdict_ = 0;
  int64_t selected_ = -1;  ///< index in Compared::steps
  int cursor_ = -1, laid_out_ = -1, followed_ = -1;
  bool focus_filter_ = false;
};

void ComparePanel::draw_plot(Session& session, const Compared& compared, ImVec2 size) {
  if (compared.dots.empty()) return ImGui::TextDisabled("No step has a time in both runs.");
  const Theme& theme = session.theme;
  const Scatter::Look look{{"a step", "_ns", "_ns", "before", "after"},
                           {compared.lo_ns / 1.5, compared.hi_ns * 1.5, 0, 1, true},
                           {with_alpha(neutral_color(theme), 0.6f), good_color(theme), bad_color(theme)}};
  const Scatter::Event event = scatter_.draw("scatter", look, compared.dots, compared_.revision(), selected_, size);
  if (event.hovered < 0) return;
  const ComparedStep& step = compared.steps[static_cast<size_t>(event.hovered)];
  ImGui::BeginTooltip();
  ImGui::TextUnformatted(one_line(step.name).c_str());
  ImGui::Text("%s before, %s after, %+.1f %%: %s", human(step.before_ns, "_ns").c_str(), human(step.after_ns, "_ns").c_str(), step.percent,
              step.verdict.c_str());
  ImGui::EndTooltip();
  if (event.clicked) select(session, step);
}

}  // namespace

std::unique_ptr<Panel> make_compare() { return std::make_unique<ComparePanel>(); }

}  // namespace ui
