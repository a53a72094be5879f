// What each fusion costs and saves: a table with bars around zero; below it the inside of one fusion: its parts against the fused kernel,
// its graph, its code. What was measured is told apart from what is only modelled.
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "ui/fusions_data.h"
#include "ui/graph_view.h"
#include "ui/grid.h"
#include "ui/input.h"
#include "ui/panel.h"
#include "ui/plot_data.h"
#include "ui/plot_widgets.h"
#include "ui/read_or_say.h"
#include "ui/report_copy.h"
#include "ui/scatter.h"
#include "ui/text.h"

namespace ui {
namespace {

struct FilterKind {
  FusionFilter filter;
  const char* title;
  size_t Fusions::*count;  ///< nullptr: all, or the rest
};
constexpr FilterKind kFilters[] = {{FusionFilter::all, "all", nullptr},
                                   {FusionFilter::costs, "▼ cost", &Fusions::costs},
                                   {FusionFilter::neutral, "= neutral", &Fusions::neutral},
                                   {FusionFilter::pays, "▲ pay", &Fusions::pays},
                                   {FusionFilter::not_measured, "not measured", nullptr},
                                   {FusionFilter::tried, "tried", &Fusions::tried}};

/// What the graph shows of the inside of a fusion.
struct Drawing {
  std::vector<GraphBox> boxes;
  int revision = 0;
};

class FusionsPanel final : public Panel {
 public:
  std::span<const KeyHelp> keys() const override {
    static constexpr KeyHelp kKeys[] = {{"↑ ↓", "the fusion above, below"},
                                        {"n N", "the next, the previous fusion that costs"},
                                        {"v", "show only one verdict"},
                                        {"/", "filter"}};
    return kKeys;
  }

  void draw(Session& session) override {
    Document* open = session.document();
    const int64_t run = session.selection().run;
    if (open == nullptr || run == 0) return ImGui::TextDisabled("No run is open.");
    const std::string which = fmt::format("{}/{}", session.selection().document, run);
    fusions_.want(open->loader, which, [run](const model::Reader& reader) -> base::Result<std::shared_ptr<const Fusions>> {
      ASSIGN_OR_RETURN(Fusions fusions, read_fusions(reader, run));
      return std::make_shared<const Fusions>(std::move(fusions));
    });
    const auto* answer = read_or_say(fusions_, OldAnswer::hidden);
    if (answer == nullptr) return;
    const std::shared_ptr<const Fusions> fusions = *answer;
    if (fusions->all.empty()) return ImGui::TextWrapped("%s", why_empty(session).c_str());
    draw_summary(session, *fusions);
    draw_bar(session, fusions);
    arrange(*open, which, fusions);
    const std::vector<uint32_t>* order = order_.value();
    if (order == nullptr) return ImGui::TextDisabled("Sorting…");
    follow_selection(session, *fusions, *order);
    take_keys(session, *fusions, *order);
    const float em = ImGui::GetFontSize(), room = ImGui::GetContentRegionAvail().y;
    const bool inside = room > em * 22;
    draw_table(session, *fusions, *order, inside ? std::round(room * 0.46f) : 0);
    if (inside) draw_inside(session, *open, *fusions, *order);
  }

 private:
  static std::string why_empty(Session& session) {
    const RunInfo* info = session.run();
    if (info != nullptr && info->kind == "recorded") return "The times of this run come from a log: it tells of no fusions.";
    const report::Report* report = report::find("fusions");
    return "No fusions to show: " + std::string(report == nullptr ? "" : report->empty);
  }

  void draw_summary(Session& session, const Fusions& f) const {
    const RunData* run = session.data();
    const auto share = [&](double ns) { return run != nullptr && run->pass_ns > 0 ? 100 * ns / run->pass_ns : NAN; };
    std::string text =
        fmt::format("{} fusions take {} of a pass ({})", f.all.size(), human(f.pass_ns, "_ns"), human(share(f.pass_ns), "_percent"));
    if (f.measured > 0)
      text += fmt::format(" and save {} ({} to {}): run as their parts, a pass would take {} longer.{}", human(f.measured_ns, "_ns"),
                          human(f.low_ns, "_ns"), human(f.high_ns, "_ns"), human(share(f.measured_ns), "_percent"),
                          f.costs > 0 ? "" : " None costs.");
    ImGui::TextWrapped("%s", text.c_str());
    if (f.measured > 0 && f.costs == 0) return;
    ImGui::PushStyleColor(ImGuiCol_Text, bad_color(session.theme));
    if (f.measured > 0) {
      ImGui::TextWrapped("▼ %zu %s %s.", f.costs, f.costs == 1 ? "costs" : "cost", human(f.cost_ns, "_ns").c_str());
    } else {
      ImGui::TextWrapped(
          "Modelled, not measured: saved traffic at the rate of memory, %s a pass. Run with --unfused to measure what they "
          "save: profile --replay FILE --unfused",
          human(f.modelled_ns, "_ns").c_str());
    }
    ImGui::PopStyleColor();
  }

  void draw_bar(Session& session, const std::shared_ptr<const Fusions>& fusions) {
    const float em = ImGui::GetFontSize();
    if (std::exchange(focus_filter_, false)) focus_next_item();
    ImGui::SetNextItemWidth(em * 12);
    ImGui::InputTextWithHint("##filter", "filter (/)", &words_);
    for (const FilterKind& kind : kFilters) {
      if (fusions->measured == 0) break;  // all are alike
      const size_t count = kind.filter == FusionFilter::all            ? fusions->all.size()
                           : kind.filter == FusionFilter::not_measured ? fusions->all.size() - fusions->measured
                                                                       : (*fusions).*kind.count;
      if (kind.filter == FusionFilter::tried && count == 0) continue;
      ImGui::SameLine();
      if (ImGui::RadioButton(fmt::format("{} {}###{}", kind.title, count, static_cast<int>(kind.filter)).c_str(), filter_ == kind.filter))
        filter_ = kind.filter;
    }
    ImGui::SameLine();
    const std::vector<uint32_t>* order = order_.value();
    const auto shown = order == nullptr ? std::vector<uint32_t>() : *order;
    copy_.draw(session, "fusions", [fusions, shown](const model::Reader&) { return rows_of(*fusions, shown); });
  }

  void arrange(Document& open, const std::string& which, const std::shared_ptr<const Fusions>& fusions) {
    if (which != sorted_for_) {
      sorted_for_ = which;
      measured_ = fusions->measured > 0;
      grid_ = Grid({fusion_column("saved_ns"), !measured_});
    }
    const GridSort sort = grid_.sort();
    const FusionView view{filter_, words_, sort.column, sort.descending};
    const std::string key =
        fmt::format("{}/{}/{}/{}/{}/{}", which, fusions_.revision(), static_cast<int>(filter_), sort.column, sort.descending, words_);
    order_.want(open.loader, key,
                [fusions, view](const model::Reader&) -> base::Result<std::vector<uint32_t>> { return arrange_fusions(*fusions, view); });
  }

  void follow_selection(Session& session, const Fusions& fusions, const std::vector<uint32_t>& order) {
    if (order_.revision() != laid_out_) {
      laid_out_ = order_.revision();
      most_ = 0;
      for (const uint32_t i : order) {
        const double saved = std::abs(fusions.all[i].saved_ns);
        if (std::isfinite(saved)) most_ = std::max(most_, saved);
      }
      followed_ = -1;
    }
    if (followed_ == session.selection_revision()) return;
    followed_ = session.selection_revision();
    const auto found = std::ranges::find(order, session.selection().step, [&](uint32_t i) { return fusions.all[i].step; });
    cursor_ = found == order.end() ? -1 : static_cast<int>(found - order.begin());
    if (cursor_ >= 0) grid_.scroll_to(cursor_);
  }

  void take_keys(Session& session, const Fusions& fusions, const std::vector<uint32_t>& order) {
    if (session.pressed('/') > 0) focus_filter_ = true;
    if (session.pressed('V') > 0 && fusions.measured > 0)
      filter_ = kFilters[(static_cast<size_t>(filter_) + 1) % std::size(kFilters)].filter;
    go_to(session, fusions, order, moved_line(session, cursor_, static_cast<int>(order.size())));
    if (session.pressed('N') == 0) return;
    const bool back = std::ranges::any_of(session.keys, [](const Session::Key& k) { return k.key == 'N' && k.shift; });
    for (int i = cursor_ + (back ? -1 : 1); i >= 0 && i < static_cast<int>(order.size()); i += back ? -1 : 1) {
      if (fusions.all[order[static_cast<size_t>(i)]].verdict == "costs") return go_to(session, fusions, order, i);
    }
    session.message = fusions.measured == 0 ? "no fusion was measured: replay with --unfused" : "no more fusions that cost";
  }

  void go_to(Session& session, const Fusions& fusions, const std::vector<uint32_t>& order, int line) {
    if (line < 0 || line >= static_cast<int>(order.size())) return;
    session.select_step(fusions.all[order[static_cast<size_t>(line)]].step);
  }

  void draw_table(Session& session, const Fusions& fusions, const std::vector<uint32_t>& order, float height) {
    if (columns_.empty()) {
      for (const FusionColumn& c : fusion_columns())
        columns_.push_back(
            {std::string(c.heading), c.width_em, c.text != nullptr ? GridColumn::Kind::text : GridColumn::Kind::number, c.hidden});
    }
    const Grid::Event event = grid_.draw(
        measured_ ? "measured" : "modelled", columns_, static_cast<int>(order.size()), cursor_, {0, height}, [&](int line, int column) {
          paint(session.theme, fusions.all[order[static_cast<size_t>(line)]], fusion_columns()[static_cast<size_t>(column)]);
        });
    if (event.clicked >= 0) go_to(session, fusions, order, event.clicked);
  }

  void paint(const Theme& theme, const FusionInfo& fusion, const FusionColumn& column) const {
    if (column.name == "verdict")
      return fusion.measured() ? cell_verdict(fusion.verdict, theme) : ImGui::TextDisabled(measured_ ? "not measured" : "modelled");
    if (column.name == "bar") {
      SignedBar bar{fusion.saved_ns, fusion.measured() ? fusion.low_ns : NAN, fusion.measured() ? fusion.high_ns : NAN, most_};
      bar.alpha = fusion.measured() ? 1 : 0.4f;
      bar.root = true;
      return cell_signed_bar(bar, theme);
    }
    if (column.text != nullptr) return cell_text(column.text(fusion));
    if (column.name == "saved_ns" && !measured_) return cell_number("~ " + human(fusion.modelled_ns, "_ns"));
    cell_number(column.number(fusion), column.name);
  }

  void draw_inside(Session& session, Document& open, const Fusions& fusions, const std::vector<uint32_t>& order);
  void draw_parts(Session& session, const FusionInfo& fusion, const FusionInside& inside, ImVec2 size);
  void draw_prediction(Session& session, const Fusions& fusions, ImVec2 size);
  void draw_graph(Session& session, const FusionInside& inside, ImVec2 size);
  void draw_code(Document& open, const FusionInside& inside, const std::string& which);
  void make_drawing(const Theme& theme, const FusionInside& inside);

  Latest<std::shared_ptr<const Fusions>> fusions_;
  Latest<std::vector<uint32_t>> order_;
  Latest<FusionInside> inside_;
  Latest<ShownText> text_;
  Grid grid_;
  ReportCopy copy_;
  GraphView graph_;
  Scatter prediction_;
  Drawing drawing_;
  std::vector<GridColumn> columns_;
  std::string words_, sorted_for_;
  FusionFilter filter_ = FusionFilter::all;
  double most_ = 0;
  int cursor_ = -1, laid_out_ = -1, followed_ = -1, drawn_ = -1, picked_box_ = -1;
  size_t picked_code_ = 0;
  bool measured_ = false, focus_filter_ = false;
};

void FusionsPanel::draw_inside(Session& session, Document& open, const Fusions& fusions, const std::vector<uint32_t>& order) {
  const FusionInfo* fusion = fusions.find(session.selection().step);
  if (fusion == nullptr && !order.empty()) fusion = &fusions.all[order[0]];
  if (fusion == nullptr) return ImGui::TextDisabled("No fusion passes the filter.");
  const int64_t run = session.selection().run;
  const int32_t step = fusion->step;
  const std::string which = fmt::format("{}/{}/{}", session.selection().document, run, step);
  inside_.want(open.loader, which, [run, step](const model::Reader& reader) { return read_inside(reader, run, step); });
  const FusionInside* inside = read_or_say(inside_, OldAnswer::hidden);
  if (inside == nullptr) return;
  make_drawing(session.theme, *inside);
  const float em = ImGui::GetFontSize(), gap = ImGui::GetStyle().ItemSpacing.x;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float first = std::round((room.x - 2 * gap) * 0.36f), second = std::round((room.x - 2 * gap) * 0.3f);
  const bool wide = room.x > em * 66;
  const auto parts = [&](ImVec2 size) { draw_parts(session, *fusion, *inside, size); };
  if (ImGui::BeginChild("left", {wide ? first : 0, room.y}) && ImGui::BeginTabBar("inside")) {
    if (ImGui::BeginTabItem("Parts")) parts(ImGui::GetContentRegionAvail()), ImGui::EndTabItem();
    if (fusions.measured > 0 && ImGui::BeginTabItem("Predicted"))
      draw_prediction(session, fusions, ImGui::GetContentRegionAvail()), ImGui::EndTabItem();
    if (!wide && ImGui::BeginTabItem("Graph")) draw_graph(session, *inside, ImGui::GetContentRegionAvail()), ImGui::EndTabItem();
    if (!wide && ImGui::BeginTabItem("Code")) draw_code(open, *inside, which), ImGui::EndTabItem();
    ImGui::EndTabBar();
  }
  ImGui::EndChild();
  if (!wide) return;
  ImGui::SameLine();
  if (ImGui::BeginChild("graph", {second, room.y})) draw_graph(session, *inside, ImGui::GetContentRegionAvail());
  ImGui::EndChild();
  ImGui::SameLine();
  if (ImGui::BeginChild("code", {0, room.y})) draw_code(open, *inside, which);
  ImGui::EndChild();
}

/// The largest parts in their order, and one for all others, so that the fused kernel is seen beside them.
std::vector<WaterfallPart> largest(const std::vector<WaterfallPart>& parts, size_t most, ImU32 color) {
  if (parts.size() <= most) return parts;
  const auto value = [](const WaterfallPart& part) { return std::isfinite(part.value) ? part.value : 0; };
  std::vector<size_t> order(parts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](size_t i) { return value(parts[i]); });
  std::vector<bool> keep(parts.size());
  for (size_t i = 0; i + 1 < most; ++i) keep[order[i]] = true;
  std::vector<WaterfallPart> out;
  WaterfallPart rest{fmt::format("{} smaller ones", parts.size() - most + 1), 0, 0, 0, color};
  for (size_t i = 0; i < parts.size(); ++i) {
    if (keep[i]) out.push_back(parts[i]);
    if (!keep[i]) rest.value += value(parts[i]);
  }
  out.push_back(std::move(rest));
  return out;
}

void FusionsPanel::draw_parts(Session& session, const FusionInfo& fusion, const FusionInside& inside, ImVec2 size) {
  const bool timed = inside.parts_timed();
  std::vector<WaterfallPart> bars;
  const auto add = [&](const std::string& name, const std::string& opcode, double value) {
    bars.push_back({one_line(name, 60), value, 0, 0, color_of(session.theme, opcode)});
  };
  for (const FusionPart& part : inside.parts) add(part.name, part.opcode, timed ? part.median_ns : part.bytes);
  if (inside.parts.empty()) {
    for (const FusionNode& node : inside.nodes) {
      if (does_work(node.opcode)) add(node.name, node.opcode, node.traffic_bytes);
    }
  }
  const std::string in_turn = std::isfinite(fusion.unfused_ns) ? fmt::format("; all in turn {}", human(fusion.unfused_ns, "_ns")) : "";
  ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetColorU32(ImGuiCol_TextDisabled));
  cell_text(one_line(fusion.name, 40) + (timed ? ": its parts, each alone" + in_turn : std::string(": modelled traffic of its parts")));
  ImGui::PopStyleColor();
  size.y -= ImGui::GetTextLineHeightWithSpacing();
  const auto fits = static_cast<size_t>(std::max(6.f, size.y / (1.4f * ImGui::GetFontSize()) - 2.2f));
  bars = largest(bars, fits, ImGui::GetColorU32(ImGuiCol_TextDisabled));
  WaterfallText text = timed ? WaterfallText{"fused", "saved", "lost", "_ns"} : WaterfallText{"fused", "not moved", "moved more", "_bytes"};
  if (timed && fusion.measured())
    text.difference = fusion.measured_ns / std::max(1.0, fusion.calls), text.percent = fusion.measured_percent;
  const double total = !timed ? fusion.bytes : fusion.measured() ? fusion.fused_ns : fusion.median_ns;
  const WaterfallPick pick = waterfall("parts", bars, total, text, size, session.theme);
  if (pick.clicked < 0 || pick.clicked >= static_cast<int>(bars.size())) return;
  const std::string& name = bars[static_cast<size_t>(pick.clicked)].name;
  const auto node = std::ranges::find(inside.nodes, name, &FusionNode::name);
  if (node != inside.nodes.end()) picked_box_ = static_cast<int>(node - inside.nodes.begin());
}

void FusionsPanel::draw_prediction(Session& session, const Fusions& fusions, ImVec2 size) {
  if (fusions.dots.empty()) return ImGui::TextDisabled("Nothing was predicted for the measured fusions.");
  const double margin = (fusions.hi_ns - fusions.lo_ns) * 0.05 + 1;
  const Theme& theme = session.theme;
  const Scatter::Look look{{"saved in a pass", "_ns", "_ns", "predicted from traffic", "measured"},
                           {fusions.lo_ns - margin, fusions.hi_ns + margin, 0, 1, false},
                           {neutral_color(theme), good_color(theme), bad_color(theme)}};
  const FusionInfo* selected = fusions.find(session.selection().step);
  const Scatter::Event event = prediction_.draw("prediction", look, fusions.dots, fusions_.revision(),
                                                selected == nullptr ? -1 : selected - fusions.all.data(), size);
  if (event.hovered < 0) return;
  const FusionInfo& f = fusions.all[static_cast<size_t>(event.hovered)];
  ImGui::BeginTooltip();
  ImGui::TextUnformatted(one_line(f.name).c_str());
  ImGui::Text("predicted %s, measured %s (%s to %s): %s", human(f.predicted_ns, "_ns").c_str(), human(f.measured_ns, "_ns").c_str(),
              human(f.low_ns, "_ns").c_str(), human(f.high_ns, "_ns").c_str(), f.verdict.c_str());
  if (f.tried) ImGui::TextUnformatted("the program has its parts apart; profile fuse fused them");
  ImGui::EndTooltip();
  if (event.clicked) session.select_step(f.step);
}

void FusionsPanel::make_drawing(const Theme& theme, const FusionInside& inside) {
  if (drawn_ == inside_.revision()) return;
  drawn_ = inside_.revision();
  const auto root = std::ranges::find(inside.nodes, true, &FusionNode::is_root);
  picked_box_ = root == inside.nodes.end() ? -1 : static_cast<int>(root - inside.nodes.begin());
  picked_code_ = 0;
  ++drawing_.revision;
  drawing_.boxes.clear();
  std::unordered_map<std::string_view, double> times;
  for (const FusionPart& part : inside.parts) times.emplace(part.name, part.median_ns);
  for (const FusionNode& node : inside.nodes) {
    GraphBox box;
    box.title = short_text(node.name, 28);
    box.small = !does_work(node.opcode);
    if (!box.small) {
      const auto time = times.find(node.name);
      const bool timed = time != times.end() && std::isfinite(time->second);
      box.color = color_of(theme, node.opcode);
      box.lines = {short_text(node.shape, 28), timed ? human(time->second, "_ns") : human(node.traffic_bytes, "_bytes")};
    }
    drawing_.boxes.push_back(std::move(box));
  }
  graph_.fit();
}

void FusionsPanel::draw_graph(Session& session, const FusionInside& inside, ImVec2 size) {
  if (inside.nodes.empty()) return ImGui::TextWrapped("The instructions of this fusion are not stored.");
  const auto count = static_cast<int64_t>(inside.nodes.size());
  ImGui::TextDisabled("%s", inside.instructions > count ? fmt::format("the first {} of {} instructions", count, inside.instructions).c_str()
                                                        : fmt::format("{} instructions", count).c_str());
  size.y -= ImGui::GetTextLineHeightWithSpacing();
  const GraphPick pick = graph_.draw("inside", drawing_.boxes, inside.edges, drawing_.revision, picked_box_, size, session.theme);
  if (pick.clicked >= 0) picked_box_ = pick.clicked;
  if (pick.hovered < 0 || pick.hovered >= static_cast<int>(inside.nodes.size())) return;
  const FusionNode& node = inside.nodes[static_cast<size_t>(pick.hovered)];
  ImGui::BeginTooltip();
  ImGui::TextUnformatted(one_line(node.name).c_str());
  ImGui::TextUnformatted(fmt::format("{}  {}{}", one_line(node.opcode), one_line(node.shape), node.is_root ? "  (result)" : "").c_str());
  if (does_work(node.opcode))
    ImGui::TextUnformatted(
        fmt::format("alone it would move {} and do {}", human(node.traffic_bytes, "_bytes"), human(node.flops, "_flops")).c_str());
  ImGui::EndTooltip();
}

void FusionsPanel::draw_code(Document& open, const FusionInside& inside, const std::string& which) {
  if (inside.code.empty()) return ImGui::TextWrapped("No code is stored for this step: the device runs none, or the run was redacted.");
  const size_t at = std::min(picked_code_, inside.code.size() - 1);
  const FusionCode& code = inside.code[at];
  ImGui::SetNextItemWidth(-1);
  const auto title = [](const FusionCode& c) {
    return fmt::format("{} · {} · {}", one_line(c.name, 60), one_line(c.language, 20), human(static_cast<double>(c.bytes), "_bytes"));
  };
  if (ImGui::BeginCombo("##kernel", title(code).c_str())) {
    for (size_t i = 0; i < inside.code.size(); ++i) {
      ImGui::PushID(static_cast<int>(i));
      if (ImGui::Selectable("##pick", i == at)) picked_code_ = i;
      ImGui::SameLine(0, 0);
      ImGui::TextUnformatted(title(inside.code[i]).c_str());
      ImGui::PopID();
    }
    ImGui::EndCombo();
  }
  const int64_t content = code.text;
  text_.want(open.loader, fmt::format("{}/{}", which, content), [content](const model::Reader& reader) -> base::Result<ShownText> {
    ASSIGN_OR_RETURN(std::string text, reader.content(content));
    return shown_text(std::move(text));
  });
  const ShownText* text = read_or_say(text_);
  if (text == nullptr) return;
  if (text->cut_bytes > 0) ImGui::TextDisabled("%s more are not shown", human(static_cast<double>(text->cut_bytes), "_bytes").c_str());
  ImGui::PushID(text_.revision());  // a new item: nothing is left of where the last text was scrolled to
  ui::draw_code("##code", text->text, -1);
  ImGui::PopID();
}

}  // namespace

std::unique_ptr<Panel> make_fusions() { return std::make_unique<FusionsPanel>(); }

}  // namespace ui
