// Which source line takes the time: the tree of files, the text with times in its margin where it is at hand on this machine, else the
// lines as a table; below it the steps of the selected line. Selecting a step anywhere shows its line, and the other way round.
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "ui/grid.h"
#include "ui/panel.h"
#include "ui/plot_widgets.h"
#include "ui/read_or_say.h"
#include "ui/report_copy.h"
#include "ui/source_data.h"
#include "ui/text.h"

namespace ui {
namespace {

/// What was read for the file that is shown.
struct Shown {
  SourceText text;
  std::string file;
};

class SourcePanel final : public Panel {
 public:
  std::span<const KeyHelp> keys() const override {
    static constexpr KeyHelp kKeys[] = {{"↑ ↓", "the line above, below"}, {"n N", "the next, the previous line in order of time"}};
    return kKeys;
  }

  void draw(Session& session) override {
    Document* open = session.document();
    const int64_t run = session.selection().run;
    if (open == nullptr || run == 0) return ImGui::TextDisabled("No run is open.");
    which_ = fmt::format("{}/{}", session.selection().document, run);
    sources_.want(open->loader, which_, [run](const model::Reader& reader) -> base::Result<std::shared_ptr<const Sources>> {
      ASSIGN_OR_RETURN(Sources sources, read_sources(reader, run));
      return std::make_shared<const Sources>(std::move(sources));
    });
    const auto* answer = read_or_say(sources_, OldAnswer::hidden);
    if (answer == nullptr) return;
    const std::shared_ptr<const Sources> sources = *answer;
    const bool named = std::ranges::any_of(sources->files, [](const SourceFile& f) { return !f.path.empty(); });
    if (!named) return draw_empty();
    draw_bar(session, *sources);
    follow_selection(session, *sources);
    ask(session, *open, sources);
    const float em = ImGui::GetFontSize();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float tree = std::min(em * 20, std::round(room.x * 0.28f)), gap = ImGui::GetStyle().ItemSpacing.x;
    const float steps = room.y > em * 20 ? em * 9 : 0;
    if (ImGui::BeginChild("files", {tree, 0}, true)) draw_tree(session, *sources);
    ImGui::EndChild();
    ImGui::SameLine(0, gap);
    if (ImGui::BeginChild("text")) {
      draw_text(session, *sources, -steps);
      if (steps > 0) draw_steps(session);
    }
    ImGui::EndChild();
  }

 private:
  static void draw_empty() {
    ImGui::TextWrapped(
        "This program names no source lines. HLO dumps have them where the framework was told to keep metadata "
        "(jax: on by default; XLA: --xla_dump_hlo_as_text with op metadata); an index of the sources gives functions by name: "
        "profile import INDEX --source FILE");
  }

  void draw_bar(Session& session, const Sources& sources) {
    const float em = ImGui::GetFontSize();
    ImGui::SetNextItemWidth(em * 22);
    ImGui::InputTextWithHint("##folder", "folder with the sources", &typed_);
    ImGui::SameLine();
    if (ImGui::Button("Read") || ImGui::IsItemDeactivatedAfterEdit()) folder_ = typed_;
    ImGui::SameLine();
    copy_.draw(session, "source");
    ImGui::SameLine();
    const double told = sources.pass_ns - (sources.files[0].path.empty() ? sources.files[0].pass_ns : 0);
    ImGui::TextDisabled("%s of %s a pass have a source line", human(told, "_ns").c_str(), human(sources.pass_ns, "_ns").c_str());
  }

  /// The line of the selection, or the hottest one where nothing is selected.
  void follow_selection(Session& session, const Sources& sources) {
    if (followed_ == session.selection_revision() && sources_.revision() == seen_) return;
    const bool fresh = sources_.revision() != seen_;
    followed_ = session.selection_revision(), seen_ = sources_.revision();
    const Selection& selection = session.selection();
    const int file = selection.file.empty() ? -1 : sources.find(selection.file);
    if (file >= 0) return show(sources, file, selection.line);
    if (!fresh) return;
    closed_.clear();
    const std::vector<HotLine> hot = hottest(sources, -1);
    const auto first =
        std::ranges::find_if(hot, [&](const HotLine& h) { return !sources.files[static_cast<size_t>(h.file)].path.empty(); });
    if (first != hot.end()) return show(sources, first->file, line_at(sources, *first).line);
    show(sources, sources.files[0].path.empty() && sources.files.size() > 1 ? 1 : 0, 0);
  }

  static const SourceLine& line_at(const Sources& sources, const HotLine& hot) {
    return sources.files[static_cast<size_t>(hot.file)].lines[static_cast<size_t>(hot.line)];
  }

  void show(const Sources& sources, int file, int64_t line) {
    file_ = file, line_ = line;
    scroll_to_ = line;
    reveal(sources, file);
  }

  /// Opens the folders around a file.
  void reveal(const Sources& sources, int file) {
    for (size_t i = 0; i < sources.tree.size(); ++i) {
      const SourceNode& node = sources.tree[i];
      if (node.file == file) break;
      bool holds = false;
      for (int j = static_cast<int>(i); node.file < 0 && j < node.end && !holds; ++j)
        holds = sources.tree[static_cast<size_t>(j)].file == file;
      if (holds) closed_.erase(static_cast<int>(i));
    }
  }

  void select(Session& session, const Sources& sources, int file, int64_t line) {
    show(sources, file, line);
    Selection next = session.selection();
    next.file = sources.files[static_cast<size_t>(file)].path, next.line = line;
    session.select(std::move(next));
    followed_ = session.selection_revision();
  }

  void ask(Session& session, Document& open, const std::shared_ptr<const Sources>& sources) {
    const int64_t run = session.selection().run;
    const std::string path = sources->files[static_cast<size_t>(file_)].path, database = open.loader.path(), folder = folder_;
    text_.want(open.loader, fmt::format("{}\n{}\n{}", which_, path, folder), [=](const model::Reader& reader) -> base::Result<Shown> {
      const base::Result<std::string> dump = dump_folder(reader, run);
      const std::vector<std::string> folders = {folder, std::filesystem::path(database).parent_path().string(), dump.ok() ? *dump : ""};
      return Shown{read_source(path, folders), path};
    });
    const int64_t line = line_;
    steps_.want(open.loader, fmt::format("{}\n{}\n{}", which_, path, line),
                [=](const model::Reader& reader) { return read_source_steps(reader, run, path, line); });
    const int file = file_;
    hot_.want(open.loader, fmt::format("{}/{}", which_, file),
              [=](const model::Reader&) -> base::Result<std::vector<HotLine>> { return hottest(*sources, file); });
  }

  void draw_tree(Session& session, const Sources& sources) {
    if (!sources.base.empty()) {
      ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetColorU32(ImGuiCol_TextDisabled));
      cell_text(sources.base);
      ImGui::PopStyleColor();
    }
    if (visible_for_ != sources_.revision() || folders_changed_) lay_out_tree(sources);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(visible_.size()), ImGui::GetTextLineHeightWithSpacing());
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) draw_node(session, sources, visible_[static_cast<size_t>(i)]);
    }
  }

  void lay_out_tree(const Sources& sources) {
    visible_for_ = sources_.revision(), folders_changed_ = false;
    visible_.clear();
    for (int i = 0; i < static_cast<int>(sources.tree.size());) {
      visible_.push_back(i);
      const SourceNode& node = sources.tree[static_cast<size_t>(i)];
      i = node.file < 0 && closed_.contains(i) ? node.end : i + 1;
    }
  }

  void draw_node(Session& session, const Sources& sources, int at) {
    const SourceNode& node = sources.tree[static_cast<size_t>(at)];
    const float em = ImGui::GetFontSize();
    ImGui::PushID(at);
    const ImVec2 from = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, number = em * 4.5f;
    if (sources.pass_ns > 0 && node.pass_ns > 0) {
      const float bar = (width - number) * static_cast<float>(node.pass_ns / sources.pass_ns);
      ImGui::GetWindowDrawList()->AddRectFilled(from, {from.x + bar, from.y + ImGui::GetTextLineHeight()},
                                                with_alpha(good_color(session.theme), 0.25f));
    }
    if (ImGui::Selectable("##node", node.file == file_, ImGuiSelectableFlags_AllowItemOverlap)) {
      if (node.file >= 0) {
        const std::vector<HotLine> hot = hottest(sources, node.file);
        select(session, sources, node.file, hot.empty() ? 0 : line_at(sources, hot[0]).line);
      } else {
        if (closed_.erase(at) == 0) closed_.insert(at);
        folders_changed_ = true;
      }
    }
    ImGui::SameLine(static_cast<float>(node.depth) * em * 0.8f + em * 0.2f);
    ImGui::TextUnformatted(node.file >= 0 ? " " : closed_.contains(at) ? "▸" : "▾");
    ImGui::SameLine(0, em * 0.3f);
    ImGui::PushClipRect(from, {from.x + width - number, from.y + em * 2}, true);
    cell_text(node.name);
    ImGui::PopClipRect();
    if (node.pass_ns > 0) {
      ImGui::SameLine(std::max(0.f, width - number));
      cell_number(node.pass_ns, "_ns");
    }
    ImGui::PopID();
  }

  void draw_text(Session& session, const Sources& sources, float height) {
    const SourceFile& file = sources.files[static_cast<size_t>(file_)];
    const Shown* shown = text_.value();
    take_keys(session, sources);
    if (shown == nullptr || shown->file != file.path) return ImGui::TextDisabled("Reading…");
    if (shown->text.path.empty()) {
      cell_text(shown->text.why);
      ImGui::TextDisabled("Type the folder that holds the sources above. These are its lines with their times:");
      return draw_lines(session, sources, height);
    }
    cell_text(shown->text.path);
    ImGui::SameLine();
    ImGui::TextDisabled("%s a pass", human(file.pass_ns, "_ns").c_str());
    draw_listing(session, sources, file, shown->text, height);
  }

  void draw_lines(Session& session, const Sources& sources, float height);
  void draw_listing(Session& session, const Sources& sources, const SourceFile& file, const SourceText& text, float height);
  void mark_scroll_bar(const Theme& theme, const SourceFile& file, size_t lines, double most) const;
  void draw_steps(Session& session);
  void take_keys(Session& session, const Sources& sources);

  Latest<std::shared_ptr<const Sources>> sources_;
  Latest<Shown> text_;
  Latest<std::vector<SourceStep>> steps_;
  Latest<std::vector<HotLine>> hot_;
  Grid lines_{{}, Grid::Headings::plain}, steps_grid_{{}, Grid::Headings::plain};  // the longest time first
  ReportCopy copy_;
  std::string which_, typed_, folder_;
  std::set<int> closed_;
  std::vector<int> visible_;
  int file_ = 0, followed_ = -1, seen_ = -1, visible_for_ = -1;
  int64_t line_ = 0, scroll_to_ = -1;
  bool folders_changed_ = false;
};

void SourcePanel::draw_lines(Session& session, const Sources& sources, float height) {
  static const std::vector<GridColumn> kColumns = {
      {"line", 5, GridColumn::Kind::number, false},  {"a pass", 6, GridColumn::Kind::number, false},
      {"share", 6, GridColumn::Kind::number, false}, {"function", 16, GridColumn::Kind::text, false},
      {"ops", 4, GridColumn::Kind::number, false},   {"steps", 4, GridColumn::Kind::number, false},
      {"known", 8, GridColumn::Kind::text, false}};
  const std::vector<HotLine>* hot = hot_.value();
  if (hot == nullptr || (!hot->empty() && (*hot)[0].file != file_)) return ImGui::TextDisabled("Sorting…");
  const auto selected = std::ranges::find(*hot, line_, [&](const HotLine& h) { return line_at(sources, h).line; });
  const int at = selected == hot->end() ? -1 : static_cast<int>(selected - hot->begin());
  if (scroll_to_ >= 0 && at >= 0) lines_.scroll_to(at);
  scroll_to_ = -1;
  const Grid::Event event = lines_.draw("lines", kColumns, static_cast<int>(hot->size()), at, {0, height}, [&](int row, int column) {
    const SourceLine& line = line_at(sources, (*hot)[static_cast<size_t>(row)]);
    const double share = sources.pass_ns > 0 ? line.pass_ns / sources.pass_ns : NAN;
    switch (column) {
      case 0:
        return cell_number(line.line > 0 ? std::to_string(line.line) : std::string("-"));
      case 1:
        return cell_number(line.pass_ns, "_ns");
      case 2:
        cell_bar(share, good_color(session.theme));
        return cell_number(100 * share, "_percent");
      case 3:
        return cell_text(line.function);
      case 4:
        return cell_number(std::to_string(line.ops));
      case 5:
        return cell_number(std::to_string(line.steps));
      default:
        return cell_text(line.guessed ? "guessed by name" : "told");
    }
  });
  if (event.clicked >= 0) {
    const HotLine& picked = (*hot)[static_cast<size_t>(event.clicked)];
    select(session, sources, picked.file, line_at(sources, picked).line);
    scroll_to_ = -1;
  }
}

void SourcePanel::draw_listing(Session& session, const Sources& sources, const SourceFile& file, const SourceText& text, float height) {
  double most = 0;
  for (const SourceLine& line : file.lines) most = std::isfinite(line.pass_ns) ? std::max(most, line.pass_ns) : most;
  const float em = ImGui::GetFontSize(), row = ImGui::GetTextLineHeightWithSpacing(), margin = em * 7, numbers = em * 4;
  if (!ImGui::BeginChild("listing", {0, height}, true, ImGuiWindowFlags_HorizontalScrollbar)) return ImGui::EndChild();
  if (scroll_to_ >= 0) ImGui::SetScrollY(std::max(0.f, static_cast<float>(scroll_to_ - 1) * row - ImGui::GetWindowHeight() / 2));
  scroll_to_ = -1;
  int64_t clicked = -1;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(text.lines()), row);
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const int64_t number = i + 1;
      const ImVec2 at = ImGui::GetCursorScreenPos();
      ImGui::PushID(i);
      if (ImGui::Selectable("##line", number == line_, ImGuiSelectableFlags_AllowItemOverlap)) clicked = number;
      if (const SourceLine* line = file.find(number); line != nullptr && std::isfinite(line->pass_ns)) {
        const float bar = most > 0 ? margin * static_cast<float>(line->pass_ns / most) : 0;
        draw.AddRectFilled({at.x + margin - bar, at.y}, {at.x + margin, at.y + row - 2}, with_alpha(good_color(session.theme), 0.35f));
        const std::string time = human(line->pass_ns, "_ns");
        draw.AddText({at.x + margin - em * 0.4f - ImGui::CalcTextSize(time.c_str()).x, at.y}, ImGui::GetColorU32(ImGuiCol_Text),
                     time.c_str());
      }
      ImGui::PushFont(mono_font());
      const std::string label = std::to_string(number);
      draw.AddText({at.x + margin + numbers - ImGui::CalcTextSize(label.c_str()).x, at.y}, ImGui::GetColorU32(ImGuiCol_TextDisabled),
                   label.c_str());
      ImGui::SameLine(margin + numbers + em);
      const std::string line = one_line(text.line(static_cast<size_t>(i)), 1000);
      ImGui::TextUnformatted(line.c_str(), line.c_str() + line.size());
      ImGui::PopFont();
      ImGui::PopID();
    }
  }
  mark_scroll_bar(session.theme, file, text.lines(), most);
  ImGui::EndChild();
  if (clicked < 0) return;
  select(session, sources, file_, clicked);
  scroll_to_ = -1;
}

/// Where in the file its hot lines are: a mark for each line of at least a hundredth of the hottest.
void SourcePanel::mark_scroll_bar(const Theme& theme, const SourceFile& file, size_t lines, double most) const {
  const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  const float bar = ImGui::GetStyle().ScrollbarSize;
  if (ImGui::GetScrollMaxY() <= 0 || lines == 0 || !(most > 0)) return;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.PushClipRect(at, {at.x + size.x, at.y + size.y}, false);
  for (const SourceLine& line : file.lines) {
    if (!(line.pass_ns >= most / 100)) continue;
    const float y = at.y + (size.y - bar) * static_cast<float>(static_cast<double>(line.line) / static_cast<double>(lines));
    const float width = bar * (0.3f + 0.7f * static_cast<float>(line.pass_ns / most));
    draw.AddRectFilled({at.x + size.x - width, y - 1}, {at.x + size.x, y + 1}, good_color(theme));
  }
  draw.PopClipRect();
}

void SourcePanel::draw_steps(Session& session) {
  static const std::vector<GridColumn> kColumns = {{"step of this line", 14, GridColumn::Kind::text, false},
                                                   {"of it", 6, GridColumn::Kind::number, false},
                                                   {"the step", 6, GridColumn::Kind::number, false},
                                                   {"op", 20, GridColumn::Kind::text, false}};
  const std::vector<SourceStep>* steps = steps_.value();
  if (steps == nullptr) return ImGui::TextDisabled("Reading…");
  if (steps->empty())
    return ImGui::TextDisabled(line_ > 0 ? "No step comes from line %lld." : "No line is selected.", static_cast<long long>(line_));
  const RunData* run = session.data();
  const auto selected = std::ranges::find(*steps, session.selection().step, &SourceStep::step);
  const int at = selected == steps->end() ? -1 : static_cast<int>(selected - steps->begin());
  const Grid::Event event = steps_grid_.draw("steps", kColumns, static_cast<int>(steps->size()), at, {0, 0}, [&](int row, int column) {
    const SourceStep& step = (*steps)[static_cast<size_t>(row)];
    const StepInfo* info = run == nullptr ? nullptr : run->find(step.step);
    switch (column) {
      case 0:
        return cell_text(info == nullptr ? std::string_view() : std::string_view(info->name));
      case 1:
        return cell_number(step.pass_ns, "_ns");
      case 2:
        return cell_number(info == nullptr ? NAN : info->pass_ns, "_ns");
      default:
        return cell_text(step.op);
    }
  });
  if (event.clicked < 0) return;
  Selection next = session.selection();  // the line stays: a step may come from several
  next.step = (*steps)[static_cast<size_t>(event.clicked)].step;
  session.select(std::move(next));
  followed_ = session.selection_revision();
}

void SourcePanel::take_keys(Session& session, const Sources& sources) {
  const SourceFile& file = sources.files[static_cast<size_t>(file_)];
  const Shown* shown = text_.value();
  const auto lines = shown == nullptr || shown->file != file.path ? size_t{0} : shown->text.lines();
  if (lines > 0) {
    const int moved = moved_line(session, static_cast<int>(line_) - 1, static_cast<int>(lines));
    if (moved >= 0) select(session, sources, file_, moved + 1);
  }
  const std::vector<HotLine>* hot = hot_.value();
  if (session.pressed('N') == 0 || hot == nullptr || hot->empty() || (*hot)[0].file != file_) return;
  const bool back = std::ranges::any_of(session.keys, [](const Session::Key& k) { return k.key == 'N' && k.shift; });
  const auto found = std::ranges::find(*hot, line_, [&](const HotLine& h) { return file.lines[static_cast<size_t>(h.line)].line; });
  const auto count = static_cast<std::ptrdiff_t>(hot->size());
  const std::ptrdiff_t now = found == hot->end() ? (back ? 0 : -1) : found - hot->begin();
  const HotLine& next = (*hot)[static_cast<size_t>((now + (back ? -1 : 1) + count) % count)];
  select(session, sources, next.file, line_at(sources, next).line);
}

}  // namespace

std::unique_ptr<Panel> make_source() { return std::make_unique<SourcePanel>(); }

}  // namespace ui
