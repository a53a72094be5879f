// The order of a frame: what is missing is asked for, then input moves the view, then everything is drawn from what is at hand.
//
// Memory is bounded however many slices a run has. Of each run: windows that were read, 32 MB at most (WindowCache); 10 kB of the coarsest
// level and the window on the screen (some 0.3 MB, never over 6) for each lane; some 100 bytes for each step of the plan beside RunData.
// Once: what a search found and what is like the selection, at most 32 MB each (Occurrences::kMost).
#include "ui/timeline_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ui/input.h"
#include "ui/timeline_copy.h"

namespace ui {
namespace {

constexpr int kLegendWords = 12;
constexpr size_t kMostBeside = 15;  ///< runs beside the selected one

constexpr KeyHelp kKeys[] = {
    {"W S", "zoom in and out at the mouse; also Ctrl and the wheel"},
    {"A D", "go left and right; also the wheel, or drag"},
    {"F", "show everything"},
    {"Enter", "show the selected slice"},
    {"Left Right", "select the slice before or after"},
    {"E Shift+E", "open one more level of scopes and phases, or close one"},
    {"Up Down", "scroll the rows; also Shift and the wheel"},
    {"Home End", "go to the begin or the end"},
    {"[ ]", "go to the view before or after"},
    {"/", "search in names, operators and kinds"},
    {"R", "search for a regular expression, or for a text"},
    {"N Shift+N", "next or previous hit of the search"},
    {". ,", "next or previous slice like the selected one"},
    {"Shift and drag", "sum up a box; Ctrl+C copies the sums"},
    {"M", "measure: drag a ruler, which snaps to slices; also Alt and drag"},
    {"P", "passes as they happened, or one pass of medians"},
    {"C", "next way to colour"},
    {"Escape", "take away ruler, box, search and selection, one after the other"},
};

std::string run_label(Session& session, size_t document, int64_t run) {
  const auto* runs = session.documents()[document]->runs.value();
  const RunInfo* info = nullptr;
  for (size_t i = 0; runs != nullptr && i < runs->size(); ++i) {
    if ((*runs)[i].run == run) info = &(*runs)[i];
  }
  const std::string label = info == nullptr ? fmt::format("run {}", run) : info->label();
  if (session.documents().size() < 2) return label;
  const std::string& path = session.documents()[document]->loader.path();
  return path.substr(path.rfind('/') + 1) + " · " + label;
}

}  // namespace

std::span<const KeyHelp> TimelinePanel::keys() const { return kKeys; }

timeline::Scale TimelinePanel::scale() const {
  const double pixels = std::max(1.f, at_.width());
  return {view_.span().begin_ns, view_.span().length_ns() / pixels, pixels};
}
double TimelinePanel::time_at(float x) const { return scale().begin_ns + static_cast<double>(x - at_.labels) * scale().ns_per_pixel; }
float TimelinePanel::x_of(double ns) const { return at_.labels + static_cast<float>(std::clamp(scale().x(ns), -1e6, 1e6)); }

float TimelinePanel::row_top(const TimelineRow& row) const {
  float top = 0;
  for (const TimelineRow* other = rows_.data(); other != &row; ++other) top += other->height * at_.em;
  return top;
}

float TimelinePanel::rows_height() const {
  float sum = 0;
  for (const TimelineRow& row : rows_) sum += row.height * at_.em;
  return sum;
}

Loader& TimelinePanel::heavy(Session& session, size_t document) {
  Heavy& heavy = heavy_[document];
  const Loader& own = session.documents()[document]->loader;
  if (heavy.loader == nullptr || heavy.serial != own.serial()) {  // another file may lie there now
    heavy = {own.serial(), std::make_unique<Loader>(own.path(), own.mode())};
    if (session.wake()) heavy.loader->on_done(session.wake());
  }
  return *heavy.loader;
}

void TimelinePanel::draw(Session& session) {
  if (session.document() == nullptr || session.selection().run == 0) return ImGui::TextDisabled("No run is open.");
  update(session);
  draw_toolbar(session);
  draw_legend();
  draw_canvas(session);
}

void TimelinePanel::update_runs(Session& session) {
  const Selection& selected = session.selection();
  std::vector<std::pair<size_t, int64_t>> wanted{{selected.document, selected.run}};
  for (const auto& other : beside_) {
    if (other != wanted[0] && other.first < session.documents().size() && wanted.size() <= kMostBeside) wanted.push_back(other);
  }
  const auto is = [](const std::pair<size_t, int64_t>& key) {
    return [&key](const auto& run) { return run != nullptr && run->document() == key.first && run->run() == key.second; };
  };
  if (runs_.empty() || !is(wanted[0])(runs_[0])) {
    view_.reset();
    picked_.reset(), hover_.reset(), box_.reset(), measure_.reset();
    similar_ = {};
    scroll_ = 0;
  }
  std::vector<std::unique_ptr<ShownRun>> runs;
  for (const auto& key : wanted) {
    const auto known = std::ranges::find_if(runs_, is(key));
    runs.push_back(known != runs_.end() ? std::move(*known) : std::make_unique<ShownRun>(key.first, key.second));
  }
  if (runs.size() != runs_.size()) hover_.reset(), box_.reset();
  runs_ = std::move(runs);
  std::erase_if(found_, [&](const auto& entry) { return std::ranges::none_of(runs_, is(entry.first)); });
  if (picked_ && picked_->run >= runs_.size()) picked_.reset();
}

void TimelinePanel::update(Session& session) {
  update_runs(session);
  const RunInfo* info = session.run();
  const PassMode natural = info != nullptr && info->kind == "recorded" ? PassMode::happened : PassMode::medians;
  std::string key;
  TimeSpan all{0, 0};
  bool fresh = true;
  std::optional<double> origin;
  run_labels_.clear();
  for (const auto& run : runs_) {
    const PassMode before = run->mode();
    run->update(session, mode_.value_or(natural), color_by_, origin, run == runs_.front() ? nullptr : runs_.front().get());
    if (!origin && run->mode() == PassMode::happened) origin = run->extent().begin_ns;
    if (before != run->mode()) view_.reset(), picked_.reset(), box_.reset(), measure_.reset();
    run_labels_.push_back(run_label(session, run->document(), run->run()));
    key += fmt::format("{}.{}.{}.{} {}\n", run->document(), run->run(), run->revision(), static_cast<int>(run->mode()), run_labels_.back());
    if (run->lanes().empty()) continue;
    all = fresh ? run->extent() : TimeSpan{std::min(all.begin_ns, run->extent().begin_ns), std::max(all.end_ns, run->extent().end_ns)};
    fresh = false;
  }
  for (const std::string& toggled : toggled_) key += toggled + "\n";
  if (key != rows_key_) {
    rows_ = timeline_rows(runs_, toggled_, run_labels_);
    rows_key_ = std::move(key);
    hover_.reset();
  }
  if (!runs_[0]->lanes().empty()) view_.set_all(all);
  update_found(session);
}

namespace {

using Found = base::Result<std::shared_ptr<const Occurrences>>;

std::string source_key(const ShownRun& run) { return fmt::format("{} {} {} ", run.run(), run.revision(), static_cast<int>(run.mode())); }

}  // namespace

void TimelinePanel::update_found(Session& session) {
  const StepQuery query{search_.data(), search_regex_};
  for (const auto& run : runs_) {
    if (run->steps() == nullptr) continue;
    found_[{run->document(), run->run()}].latest.want(heavy(session, run->document()),
                                                      source_key(*run) + (query.regex ? "r" : "t") + query.text,
                                                      [from = run->source(), query](const model::Reader& reader) -> Found {
                                                        ASSIGN_OR_RETURN(std::vector<uint8_t> steps, match_steps(*from.steps->run, query));
                                                        return find_occurrences(reader, from, std::move(steps));
                                                      });
  }
  const ShownRun& run = *runs_[0];
  if (run.steps() == nullptr) return;
  const int32_t step = session.selection().step;
  similar_.latest.want(heavy(session, run.document()), source_key(run) + std::to_string(step),
                       [from = run.source(), step](const model::Reader& reader) -> Found {
                         const StepInfo* info = from.steps->find(step);
                         std::vector<uint8_t> steps(from.steps->run->steps.size(), 0);
                         if (info != nullptr) steps = similar_steps(*from.steps->run, *info);
                         return find_occurrences(reader, from, std::move(steps));
                       });
}

const Occurrences* TimelinePanel::found_in(const ShownRun& run) {
  const auto found = found_.find({run.document(), run.run()});
  return search_[0] == '\0' || found == found_.end() ? nullptr : found->second.shown();
}

std::vector<RunPlaces> TimelinePanel::found_places() {
  std::vector<RunPlaces> places;
  for (const auto& run : runs_) places.push_back({found_in(*run), run->offset_ns()});
  return places;
}

void TimelinePanel::draw_toolbar(Session& session) {
  const float em = ImGui::GetFontSize();
  const bool happened = runs_[0]->mode() == PassMode::happened;
  const bool can_happen = runs_[0]->timeline() != nullptr && !runs_[0]->timeline()->lanes.empty();
  ImGui::SetNextItemWidth(em * 9.5f);
  if (ImGui::BeginCombo("##passes", happened ? "as it happened" : "pass of medians")) {
    if (ImGui::Selectable("pass of medians", !happened)) mode_ = PassMode::medians;
    if (ImGui::Selectable("as it happened", happened, can_happen ? 0 : ImGuiSelectableFlags_Disabled)) mode_ = PassMode::happened;
    ImGui::EndCombo();
  }
  ImGui::SameLine();
  ImGui::SetNextItemWidth(em * 8);
  const std::string by = fmt::format("by {}", kColorByNames[static_cast<size_t>(color_by_)]);
  if (ImGui::BeginCombo("##colour", by.c_str())) {
    for (size_t i = 0; i < std::size(kColorByNames); ++i) {
      if (ImGui::Selectable(kColorByNames[i].data(), i == static_cast<size_t>(color_by_))) color_by_ = static_cast<ColorBy>(i);
    }
    ImGui::EndCombo();
  }
  ImGui::SameLine();
  draw_run_choice(session);
  ImGui::SameLine();
  draw_copy(session);
  ImGui::SameLine();
  draw_search();
}

/// Of the selected run what is in view.
void TimelinePanel::draw_copy(Session& session) {
  const ShownRun& run = *runs_[0];
  ReportCopy::Shown shown;
  if (run.steps() != nullptr) {
    const TimeSpan span{view_.span().begin_ns + run.offset_ns(), view_.span().end_ns + run.offset_ns()};
    shown = [from = run.source(), span](const model::Reader& reader) { return slices_shown(reader, from, span); };
  }
  copy_.draw(session, "timeline", shown);
}

void TimelinePanel::draw_run_choice(Session& session) {
  if (ImGui::Button(runs_.size() > 1 ? fmt::format("{} runs###beside", runs_.size()).c_str() : "Beside…###beside"))
    ImGui::OpenPopup("runs beside");
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("show other runs beside this one");
  if (!ImGui::BeginPopup("runs beside")) return;
  ImGui::TextDisabled("beside the selected run");
  for (size_t d = 0; d < session.documents().size(); ++d) {
    const auto* infos = session.documents()[d]->runs.value();
    for (size_t i = 0; infos != nullptr && i < infos->size(); ++i) {
      const std::pair<size_t, int64_t> key{d, (*infos)[i].run};
      const bool selected = key.first == session.selection().document && key.second == session.selection().run;
      bool shown = selected || beside_.contains(key);
      ImGui::PushID(static_cast<int>(d));
      ImGui::PushID(static_cast<int>(i));
      ImGui::BeginDisabled(selected);
      if (ImGui::Checkbox("##shown", &shown) && !beside_.erase(key)) beside_.insert(key);
      ImGui::SameLine();
      ImGui::TextUnformatted(shown_name(run_label(session, d, key.second)).c_str());
      ImGui::EndDisabled();
      ImGui::PopID();
      ImGui::PopID();
    }
  }
  ImGui::EndPopup();
}

void TimelinePanel::draw_search() {
  const float em = ImGui::GetFontSize();
  ImGui::SetNextItemWidth(std::clamp(ImGui::GetContentRegionAvail().x - em * 20, em * 6, em * 16));
  if (std::exchange(focus_search_, false)) focus_next_item();
  ImGui::InputTextWithHint("##search", "search  /", search_.data(), search_.size());
  ImGui::SameLine(0, em * 0.4f);
  ImGui::Checkbox("regex", &search_regex_);
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  if (search_[0] == '\0') return ImGui::TextUnformatted("");
  int64_t steps = 0;
  size_t places = 0, runs = 0;
  bool is_cut = false;
  for (const auto& run : runs_) {
    TimelineFound& found = found_[{run->document(), run->run()}];
    if (const base::Error* error = found.latest.error()) return ImGui::TextDisabled("%s", shown_name(error->message).c_str());
    if (found.shown() == nullptr || found.latest.waiting()) return ImGui::TextDisabled("searching…");
    steps += found.shown()->matched, places += found.shown()->duration_ns.size();
    runs += found.shown()->matched > 0 ? 1 : 0;
    is_cut = is_cut || found.shown()->is_cut;
  }
  const std::string where = runs_.size() > 1 ? fmt::format(" in {} of {} runs", runs, runs_.size())
                                             : fmt::format(" · {} a pass", time_text(found_in(*runs_[0])->pass_ns));
  ImGui::TextDisabled("%s",
                      fmt::format("{} {} · {}{} places{}", steps, steps == 1 ? "step" : "steps", places, is_cut ? "+" : "", where).c_str());
}

void TimelinePanel::draw_legend() {
  const float em = ImGui::GetFontSize(), line = ImGui::GetTextLineHeight();
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  ImVec2 at = ImGui::GetCursorScreenPos();
  const float end = at.x + ImGui::GetContentRegionAvail().x;
  const StepColors& colors = runs_[0]->colors();
  double whole = 0;
  for (const LegendEntry& entry : colors.legend) whole += entry.pass_ns;
  int words = 0;
  for (const LegendEntry& entry : colors.legend) {
    const double percent = whole > 0 ? 100 * entry.pass_ns / whole : 0;
    const std::string text = shown_name(entry.word), share = percent >= 0.05 ? fmt::format("{:.1f} %", percent) : "";
    const float width = ImGui::CalcTextSize(text.c_str()).x, more = share.empty() ? 0 : ImGui::CalcTextSize(share.c_str()).x + em * 0.4f;
    if (words++ == kLegendWords || at.x + width + more + em * 1.2f > end) {
      if (at.x + em < end) draw.AddText(at, ink(0.5f), "…");
      break;
    }
    const float square = std::floor(em * 0.7f), y = std::floor(at.y + (line - square) / 2);
    draw.AddRectFilled({at.x, y}, {at.x + square, y + square}, calm(entry.color));
    draw.AddText({at.x + em, at.y}, ink(0.9f), text.c_str());
    draw.AddText({at.x + em * 1.4f + width, at.y}, ink(0.5f), share.c_str());
    at.x += width + more + em * 2.2f;
  }
  ImGui::Dummy({1, line});
}

void TimelinePanel::draw_canvas(Session& session) {
  const ImVec2 min = ImGui::GetCursorScreenPos(), size = ImGui::GetContentRegionAvail();
  if (size.x < ImGui::GetFontSize() * 12 || size.y < ImGui::GetFontSize() * 6) return;
  at_ = timeline_layout(min, {min.x + size.x, min.y + size.y});
  ImGui::InvisibleButton("canvas", size);
  over_ = ImGui::IsItemHovered();
  if (runs_[0]->lanes().empty()) {
    ImGui::SetCursorScreenPos(min);
    if (const base::Error* error = runs_[0]->error()) return ImGui::TextWrapped("%s", error->message.c_str());
    const bool reading = runs_[0]->waiting() || runs_[0]->steps() == nullptr || runs_[0]->timeline() == nullptr;
    return ImGui::TextDisabled("%s", reading ? "Reading…" : "Nothing was timed in this run.");
  }
  follow_selection(session);
  handle_mouse(session);
  handle_keys(session);
  hover_.reset();
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.PushClipRect(at_.min, at_.max, true);
  draw_minimap(session);
  draw_rows(session);
  draw_box(session);
  draw_measure();
  draw_cursor();
  draw.PopClipRect();
  draw_hover_card(session);
}

}  // namespace ui
