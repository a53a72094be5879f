// The program around an instruction: operands above, users below, coloured by time. A click selects, a click twice walks there; bodies of
// fusions and loops are opened inside, and a trail leads back.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "src/report/query.h"
#include "ui/graph_data.h"
#include "ui/graph_view.h"
#include "ui/open_run.h"
#include "ui/panel.h"
#include "ui/plot_widgets.h"
#include "ui/table.h"
#include "ui/text.h"

namespace ui {
namespace {

constexpr int kMostHops = 3;

/// A place of the trail.
struct Stop {
  GraphAsk ask;
  std::string name;
};

class GraphPanel final : public Panel {
 public:
  std::span<const KeyHelp> keys() const override {
    static constexpr KeyHelp kKeys[] = {{"+ −", "more hops, fewer"},
                                        {"W A S D", "move"},
                                        {"F", "all in view"},
                                        {"O", "open the body of the selected instruction"},
                                        {"B, Esc", "back along the trail"}};
    return kKeys;
  }
  void draw(Session& session) override {
    const std::shared_ptr<const RunData> run = open_run_or_reason(session);
    if (run == nullptr) return;
    Document* open = session.document();
    follow(session, *run);
    if (trail_.empty()) return ImGui::TextWrapped("%s", empty_reason(session, *run).c_str());
    take_keys(session);
    const GraphAsk ask = trail_.back().ask;
    graph_.want(open->loader,
                fmt::format("{}/{}/{}/{}/{}/{}", session.selection().document, run->run, open->data.revision(), static_cast<int>(ask.what),
                            ask.id, ask.hops),
                [run, ask](const model::Reader& reader) -> base::Result<std::shared_ptr<const ProgramGraph>> {
                  ASSIGN_OR_RETURN(ProgramGraph graph, read_graph(reader, run, ask));
                  return std::make_shared<const ProgramGraph>(std::move(graph));
                });
    const std::shared_ptr<const ProgramGraph> graph = graph_.value() == nullptr ? nullptr : *graph_.value();
    if (graph != nullptr) take(graph, session.theme);
    draw_bar();
    draw_trail();
    if (const base::Error* error = graph_.error()) return ImGui::TextWrapped("%s", error->message.c_str());
    if (graph == nullptr) return ImGui::TextDisabled("Reading…");
    draw_told(*graph);
    draw_boxes(session, *graph);
  }

 private:
  // --- what is shown

  /// Where the selection has moved in another panel, the trail begins anew there.
  void follow(Session& session, const RunData& run) {
    const std::pair<size_t, int64_t> where = {session.selection().document, run.run};
    if (session.selection_revision() == seen_selection_ && where == where_ && !trail_.empty()) return;
    const bool own = keeps_ && where == where_;
    seen_selection_ = session.selection_revision();
    where_ = where;
    keeps_ = false;
    if (own) return;
    trail_.clear();
    const StepInfo* step = session.step();
    if (step != nullptr ? step->instruction == 0 : session.selection().step >= 0) return;
    if (step == nullptr) step = longest(run);
    if (step != nullptr) start(step->instruction, step->name);
  }

  static const StepInfo* longest(const RunData& run) {
    const StepInfo* out = nullptr;
    for (const StepInfo& step : run.steps) {
      if (step.instruction == 0) continue;
      if (out == nullptr || (std::isfinite(step.pass_ns) && !(out->pass_ns >= step.pass_ns))) out = &step;
    }
    return out;
  }

  static std::string empty_reason(Session& session, const RunData& run) {
    if (run.steps.empty()) return "The run has no steps.";
    if (session.step() != nullptr)
      return "The selected step stands for no instruction: its times are recorded, and the log has no program.";
    return "No step of this run stands for an instruction: its times are recorded, and the log has no program.";
  }

  void start(int64_t instruction, const std::string& name) {
    trail_ = {{{GraphAsk::What::near, instruction, hops_}, short_text(name, 40)}};
    picked_ = instruction;
  }

  void go(const GraphAsk& ask, std::string name) {
    constexpr size_t kMostStops = 64;
    if (trail_.back().ask == ask) return;
    trail_.push_back({ask, std::move(name)});
    if (trail_.size() > kMostStops) trail_.erase(trail_.begin());
  }

  void back() {
    if (trail_.size() > 1) trail_.pop_back();
    if (trail_.back().ask.what == GraphAsk::What::near) picked_ = trail_.back().ask.id;
  }

  void set_hops(int hops) {
    hops_ = std::clamp(hops, 1, kMostHops);
    if (!trail_.empty() && trail_.back().ask.what == GraphAsk::What::near) trail_.back().ask.hops = hops_;
  }

  void take_keys(Session& session) {
    if (session.pressed('=') + session.pressed('+') > 0) set_hops(hops_ + 1);
    if (session.pressed('-') > 0) set_hops(hops_ - 1);
    if (session.pressed('F') > 0) view_.fit();
    if (session.pressed('B') + session.pressed(Session::kEscape) > 0) back();
    if (session.pressed('O') > 0) wants_open_ = true;
    constexpr float kEms = 6;
    view_.pan_by(kEms * static_cast<float>(session.pressed('A') - session.pressed('D')),
                 kEms * static_cast<float>(session.pressed('W') - session.pressed('S')));
  }

  // --- boxes

  void take(const std::shared_ptr<const ProgramGraph>& graph, const Theme& theme) {
    if (graph == shown_ && theme.mode == mode_) return;
    shown_ = graph, mode_ = theme.mode;
    ++revision_;
    boxes_.clear();
    for (const ProgramNode& node : graph->nodes) boxes_.push_back(box_of(*graph, node, theme));
    rows_ = graph_rows(*graph);
    sql_ = graph_sql(*graph);
  }

  static GraphBox box_of(const ProgramGraph& graph, const ProgramNode& node, const Theme& theme) {
    GraphBox box;
    box.title = short_text(node.name, 32);
    const StepInfo* step = node.place == ProgramNode::kNoStep ? nullptr : &graph.run->steps[node.place];
    box.small = step == nullptr && is_plumbing(node.opcode);
    if (box.small) {
      if (node.opcode == "parameter" || node.opcode == "constant") box.title += "  " + short_text(node.shape, 24);
      return box;
    }
    box.lines.push_back(short_text(node.kind.empty() ? node.opcode : node.opcode + ":" + node.kind, 36));
    box.lines.push_back(short_text(node.shape, 40));
    const double ns = step == nullptr ? node.alone_ns : step->pass_ns;
    const bool timed = std::isfinite(ns);
    if (step == nullptr && !timed) return box;
    box.lines.push_back(!timed            ? short_text(step->cls, 20)
                        : step == nullptr ? human(ns, "_ns") + " alone"
                                          : fmt::format("{} · {}", human(ns, "_ns"), human(100 * step->share, "_percent")));
    const double heat = timed && graph.largest_ns > 0 ? std::sqrt(std::clamp(ns / graph.largest_ns, 0.0, 1.0)) : 0;
    box.color = mixed(ImGui::GetColorU32(ImGuiCol_FrameBg), bad_color(theme), 0.1f + 0.9f * static_cast<float>(heat));
    return box;
  }

  int index_of(const ProgramGraph& graph, int64_t instruction) const {
    const auto found = std::ranges::find(graph.nodes, instruction, &ProgramNode::instruction);
    return found == graph.nodes.end() ? -1 : static_cast<int>(found - graph.nodes.begin());
  }

  void draw_boxes(Session& session, const ProgramGraph& graph) {
    const int picked = index_of(graph, picked_);
    const GraphPick pick = view_.draw("graph", boxes_, graph.edges, revision_, picked, {0, 0}, session.theme);
    if (pick.hovered >= 0) hover(graph, graph.nodes[static_cast<size_t>(pick.hovered)]);
    if (pick.clicked >= 0) select(session, graph, graph.nodes[static_cast<size_t>(pick.clicked)]);
    if (pick.opened >= 0) {
      const ProgramNode& node = graph.nodes[static_cast<size_t>(pick.opened)];
      if (trail_.back().ask.what == GraphAsk::What::near) go({GraphAsk::What::near, node.instruction, hops_}, short_text(node.name, 40));
    }
    if (wants_open_ && picked >= 0 && !graph.nodes[static_cast<size_t>(picked)].calls.empty()) {
      const CalledComputation& called = graph.nodes[static_cast<size_t>(picked)].calls.front();
      go({GraphAsk::What::body, called.computation, 0}, short_text(called.name, 40));
    }
    wants_open_ = false;
  }

  void select(Session& session, const ProgramGraph& graph, const ProgramNode& node) {
    picked_ = node.instruction;
    if (node.place == ProgramNode::kNoStep) return;
    const int before = session.selection_revision();
    session.select_step(graph.run->steps[node.place].step);
    keeps_ = session.selection_revision() != before;  // the picture stays; walking is a click twice
  }

  static void hover(const ProgramGraph& graph, const ProgramNode& node) {
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(ImGui::GetFontSize() * 36);
    put_line(short_text(node.name, 100));
    put_line(short_text(node.kind.empty() ? node.opcode : node.opcode + ":" + node.kind, 100));
    put_line(fmt::format("{} · {}", short_text(node.shape, 300), human(node.bytes, "_bytes")));
    if (!node.op_name.empty()) put_line(short_text(node.op_name, 200));
    if (node.place != ProgramNode::kNoStep) {
      const StepInfo& step = graph.run->steps[node.place];
      ImGui::Separator();
      put_line(fmt::format("step {} · {} · {} × {:.6g} = {}, {} of the pass", step.step, short_text(step.cls, 20),
                           human(step.median_ns, "_ns"), step.calls, human(step.pass_ns, "_ns"), human(100 * step.share, "_percent")));
      if (std::isfinite(step.roof_percent)) put_line(fmt::format("{:.3g} % of its roof", step.roof_percent));
    } else {
      put_line(std::isfinite(node.alone_ns) ? "as a kernel of its own " + human(node.alone_ns, "_ns") : "no step of its own");
    }
    for (const CalledComputation& called : node.calls)
      put_line(fmt::format("calls {} ({} instructions)", short_text(called.name, 60), called.instructions));
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
  }

  // --- above the picture

  void draw_bar() {
    ImGui::TextUnformatted("hops (+ −)");
    for (int hops = 1; hops <= kMostHops; ++hops) {
      ImGui::SameLine();
      if (ImGui::RadioButton(fmt::format("{}", hops).c_str(), hops_ == hops)) set_hops(hops);
    }
    ImGui::SameLine();
    if (ImGui::Button("Show all (F)")) view_.fit();
    ImGui::SameLine();
    if (!rows_.columns.empty()) {
      draw_copy_button([this] { return rows_; }, sql_);
      ImGui::SameLine();
    }
    ImGui::TextDisabled("(click: select, twice: go there, O: open the body, B: back)");
  }

  void draw_trail() {
    const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
    constexpr size_t kShown = 6;
    const size_t first = trail_.size() > kShown ? trail_.size() - kShown : 0;
    size_t target = trail_.size();
    for (size_t i = first; i < trail_.size(); ++i) {
      const std::string text = (trail_[i].ask.what == GraphAsk::What::body ? "in " : "") + trail_[i].name;
      if (i > first) {
        ImGui::SameLine(0, 0);
        ImGui::TextDisabled(" → ");
        ImGui::SameLine(0, 0);
        if (ImGui::GetCursorScreenPos().x + ImGui::CalcTextSize(text.c_str()).x + ImGui::GetFontSize() > right) ImGui::NewLine();
      }
      if (i + 1 == trail_.size()) {
        put_line(text);
        continue;
      }
      ImGui::PushID(static_cast<int>(i));
      const ImVec2 at = ImGui::GetCursorScreenPos(), size = ImGui::CalcTextSize(text.c_str());
      if (ImGui::InvisibleButton("stop", {std::max(1.f, size.x), std::max(1.f, size.y)})) target = i;
      const ImU32 ink = ImGui::GetColorU32(ImGui::IsItemHovered() ? ImGuiCol_Text : ImGuiCol_TextDisabled);
      ImGui::GetWindowDrawList()->AddText(at, ink, text.data(), text.data() + text.size());
      ImGui::PopID();
    }
    if (target >= trail_.size()) return;
    trail_.resize(target + 1);
    if (trail_.back().ask.what == GraphAsk::What::near) picked_ = trail_.back().ask.id;
  }

  /// What is missing, and the computations that the picked instruction calls.
  void draw_told(const ProgramGraph& graph) {
    std::string text = fmt::format("{} instructions of {}", graph.nodes.size(), short_text(graph.computation, 40));
    if (graph.left_out > 0) text += fmt::format(" · {}{} more have no box", graph.left_out_more ? "at least " : "", graph.left_out);
    put_line(text);
    const int picked = index_of(graph, picked_);
    if (picked < 0) return;
    constexpr size_t kMostButtons = 6;
    const std::vector<CalledComputation>& calls = graph.nodes[static_cast<size_t>(picked)].calls;
    for (size_t i = 0; i < std::min(calls.size(), kMostButtons); ++i) {
      ImGui::SameLine();
      ImGui::PushID(static_cast<int>(i));
      if (ImGui::SmallButton("open")) go({GraphAsk::What::body, calls[i].computation, 0}, short_text(calls[i].name, 40));
      ImGui::SameLine();
      put_line(short_text(calls[i].name, 30));
      ImGui::PopID();
    }
  }

  Latest<std::shared_ptr<const ProgramGraph>> graph_;
  GraphView view_;
  std::shared_ptr<const ProgramGraph> shown_;
  std::vector<Stop> trail_;  ///< the last one is shown
  std::vector<GraphBox> boxes_;
  std::string sql_;  ///< of what is shown, for the copy
  model::Rows rows_;
  std::pair<size_t, int64_t> where_ = {0, 0};
  int64_t picked_ = 0;  ///< instruction
  int hops_ = 2, revision_ = 0, seen_selection_ = -1;
  Mode mode_ = Mode::dark;
  bool keeps_ = false, wants_open_ = false;
};

}  // namespace

std::unique_ptr<Panel> make_graph() { return std::make_unique<GraphPanel>(); }

}  // namespace ui
