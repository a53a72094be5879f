// Every step under the machine's limits: work per byte against rate, both logarithmic. Steps without flops have no place there; they stand
// in a strip beside it by the rate of their traffic. Points keep the order of their times: large ones below, so that none hides all of
// another.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "src/report/report.h"
#include "ui/distinct.h"
#include "ui/grid.h"
#include "ui/open_run.h"
#include "ui/panel.h"
#include "ui/plot_view.h"
#include "ui/plot_widgets.h"
#include "ui/report_copy.h"
#include "ui/roofline_data.h"
#include "ui/roofline_draw.h"
#include "ui/roofline_marks.h"
#include "ui/text.h"

namespace ui {
namespace {

constexpr size_t kMostLabels = 10, kLabelColumns = 36;
constexpr size_t kMostLines = 1000;  ///< of the table; the copy has all
/// Points that a frame places: when they have just come, for then the lists of what is drawn grow too, so many first and twice as many each
/// time; and while the view moves, for what is left out would flicker.
constexpr size_t kFirstSlice = 2'000, kMovingSlice = 100'000;

class RooflinePanel final : public Panel {
 public:
  std::span<const KeyHelp> keys() const override {
    static constexpr KeyHelp kKeys[] = {{"W S", "zoom in, out"},
                                        {"A D", "move"},
                                        {"F", "show all"},
                                        {"C", "colour by the next thing"},
                                        {"Shift + drag", "select steps with a lasso"},
                                        {"Esc", "forget the lasso"}};
    return kKeys;
  }
  void draw(Session& session) override {
    const std::shared_ptr<const RunData> run = open_run_or_reason(session);
    if (run == nullptr) return;
    Document* open = session.document();
    roof_.want(open->loader, fmt::format("{}/{}/{}", session.selection().document, run->run, open->data.revision()),
               [run](const model::Reader& reader) -> base::Result<std::shared_ptr<const Roofline>> {
                 ASSIGN_OR_RETURN(Roofline roof, read_roofline(reader, run));
                 return std::make_shared<const Roofline>(std::move(roof));
               });
    if (const base::Error* error = roof_.error()) return ImGui::TextWrapped("%s", error->message.c_str());
    if (roof_.value() == nullptr) return ImGui::TextDisabled("Reading…");
    const std::shared_ptr<const Roofline> roof = *roof_.value();
    if (roof->run->steps.empty()) return ImGui::TextWrapped("%s", std::string(report::find("roofline")->empty).c_str());
    take(roof);
    take_keys(session);
    draw_bar(session, *roof);
    draw_notes(*roof);
    draw_legend(*roof, session.theme);
    const float em = ImGui::GetFontSize(), room = ImGui::GetContentRegionAvail().y;
    const float table = room > em * 26 ? std::min(room * 0.32f, em * 16) : 0;
    draw_plots(session, *roof, room - table - (table > 0 ? ImGui::GetStyle().ItemSpacing.y : 0));
    if (table > 0) draw_table(session, *roof);
  }

 private:
  // --- state that follows the data

  void take(const std::shared_ptr<const Roofline>& roof) {
    if (roof != shown_) {
      shown_ = roof;
      ++taken_;
      has_grown_ = false;
      picked_.clear();
      recolor();
      view_.set_full({std::pow(10, roof->x_lo), std::pow(10, roof->x_hi), 0, 1, true},
                     {std::pow(10, roof->y_lo), std::pow(10, roof->y_hi), 0, 1, true});
      beside_.set_full({0, 1}, {std::pow(10, roof->beside_lo), std::pow(10, roof->beside_hi), 0, 1, true});
      sum_ = roof->sum;
      list(*roof);
    }
  }

  const ColorWords& colors(const Roofline& roof) const { return roof.colors[static_cast<size_t>(color_)]; }

  void recolor() {
    hidden_.clear();
    ++drawn_revision_;
  }

  void list(const Roofline& roof) {
    const std::vector<uint32_t>& all = picked_.empty() ? roof.steps_drawn : picked_;
    lines_.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kMostLines)));
    sorted_ = {};
  }

  void take_keys(Session& session) {
    view_.keys(session, PlotView::Zooms::both);
    if (session.pressed('F') > 0) beside_.show_all();
    if (session.pressed('C') > 0) next_color();
    if (session.pressed(Session::kEscape) > 0) pick_none();
  }

  void next_color() {
    color_ = static_cast<RoofColor>((static_cast<size_t>(color_) + 1) % std::size(kRoofColorNames));
    if (shown_ != nullptr) recolor();
  }

  void pick_none() {
    if (picked_.empty()) return;
    picked_.clear();
    if (shown_ != nullptr) sum_ = shown_->sum, list(*shown_);
  }

  // --- above the plot

  void draw_bar(Session& session, const Roofline& roof) {
    ImGui::TextUnformatted("colour by");
    ImGui::SameLine();
    ImGui::SetNextItemWidth(ImGui::GetFontSize() * 9);
    if (ImGui::BeginCombo("##color", std::string(kRoofColorNames[static_cast<size_t>(color_)]).c_str())) {
      for (size_t i = 0; i < std::size(kRoofColorNames); ++i) {
        if (!ImGui::Selectable(std::string(kRoofColorNames[i]).c_str(), static_cast<size_t>(color_) == i)) continue;
        color_ = static_cast<RoofColor>(i);
        recolor();
      }
      ImGui::EndCombo();
    }
    ImGui::SameLine();
    if (ImGui::Button("Show all (F)")) view_.show_all(), beside_.show_all();
    ImGui::SameLine();
    const std::shared_ptr<const RunData> run = roof.run;
    copy_.draw(session, "roofline", [run, picked = picked_](const model::Reader&) {
      return roofline_rows(*run, picked.empty() ? roofline_order(*run) : picked);
    });
    ImGui::SameLine();
    ImGui::TextDisabled("(drag: zoom, Shift + drag: select, wheel: zoom, right drag: move)");
  }

  void draw_notes(const Roofline& roof) {
    std::string text;
    const auto add = [&](std::string part) { text += (text.empty() ? "" : " · ") + std::move(part); };
    if (roof.predicted) add("predicted from a description of the machine, not measured");
    if (roof.ceilings.empty()) add("the run measured no ceilings: no roof is drawn");
    if (roof.above > 0) add(fmt::format("{} over the roof ({}): their data fits into a cache", roof.above, human(roof.above_ns, "_ns")));
    if (roof.beside > 0) add(fmt::format("{} without flops stand on the left by their traffic", roof.beside));
    if (roof.without_traffic > 0) add(fmt::format("{} without known traffic are not drawn", roof.without_traffic));
    if (roof.untimed > 0) add(fmt::format("{} of {} steps have no time", roof.untimed, roof.run->steps.size()));
    if (!text.empty()) ImGui::TextWrapped("%s", text.c_str());
  }

  /// By index of the word.
  std::vector<ImU32> inks_of(const Roofline& roof, const Theme& theme) const {
    static constexpr struct {
      std::string_view word;
      double share;
    } kRoof[] = {{"below 25 %", 0.1}, {"25 to 50 %", 0.4}, {"50 to 75 %", 0.65}, {"75 % and more", 1}};
    const std::vector<std::string>& texts = colors(roof).words;
    if (color_ != RoofColor::roof) return colors_of(theme, std::vector<std::string_view>(texts.begin(), texts.end()));
    std::vector<ImU32> inks;
    for (const std::string& text : texts) {
      const auto* found = std::ranges::find(kRoof, text, [](const auto& row) { return row.word; });
      inks.push_back(found != std::end(kRoof)  ? roof_color(found->share)
                     : text == "over the roof" ? series_color(theme, 3)
                                               : neutral_color(theme));
    }
    return inks;
  }

  void draw_legend(const Roofline& roof, const Theme& theme) {
    std::vector<LegendWord> entries;
    const std::vector<ImU32> inks = inks_of(roof, theme);
    for (const std::string& word : colors(roof).words) entries.push_back({word, inks[entries.size()], hidden_.contains(entries.size())});
    const int clicked = legend("legend", entries);
    if (clicked < 0) return;
    const auto word = static_cast<size_t>(clicked);
    if (!hidden_.erase(word)) hidden_.insert(word);
    ++drawn_revision_;
  }

  // --- the plots

  void draw_plots(Session& session, const Roofline& roof, float height) {
    const float em = ImGui::GetFontSize();
    const ImVec2 min = ImGui::GetCursorScreenPos();
    const ImVec2 room = {std::max(em * 8, ImGui::GetContentRegionAvail().x), std::max(em * 8, height)};
    const bool strip = roof.beside > 0 && room.x > em * 30;
    const float split = strip ? em * 12 : 0;
    ImGui::PushID("plots");
    Frame left{}, main = frame({roof.predicted ? "GFLOP/s, predicted" : "GFLOP/s", "", "", "FLOP/byte", ""}, {min.x + split, min.y},
                               {min.x + room.x, min.y + room.y}, view_.x(), view_.y());
    PlotView::Action beside, action = view_.interact("main", main);
    if (strip) {
      left = frame({roof.predicted ? "GB/s, predicted" : "GB/s", "", "", "no flops", ""}, min, {min.x + split, min.y + room.y}, {0, 0},
                   beside_.y());
      beside = beside_.interact("beside", left);
    }
    const bool moved = place(session, roof, main, left, strip);  // then nothing is looked up: the next frame has time for it
    draw_ceilings(roof, main, strip ? &left : nullptr);
    draw_points(session, roof, main, strip ? &left : nullptr);
    draw_labels(roof, main, name_ceilings(roof, main));
    const int64_t at = !moved && (action.hovered || beside.hovered) ? marks_.at(action.mouse.x, action.mouse.y) : -1;
    if (at >= 0) hover(roof, main, static_cast<size_t>(at));
    if (at >= 0 && (action.clicked || beside.clicked))
      session.select_step(roof.run->steps[roof.points[static_cast<size_t>(at)].index].step);
    if (!action.lasso.empty()) pick(roof, action.lasso);
    if (!beside.lasso.empty()) pick(roof, beside.lasso);
    ImGui::SetCursorScreenPos(min);
    ImGui::Dummy(room);
    ImGui::PopID();
  }

  /// Is it another placement than in the last frame?
  bool place(Session& session, const Roofline& roof, const Frame& main, const Frame& left, bool strip) {
    const float em = ImGui::GetFontSize();
    const std::string key =
        fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {}", drawn_revision_, taken_, em, strip, main.min.x, main.min.y, main.max.x,
                    main.max.y, view_.x().lo, view_.x().hi, view_.y().lo, view_.y().hi, beside_.y().lo, beside_.y().hi);
    if (key == placed_ && marks_.is_complete(roof)) return false;
    const bool here = session.document()->loader.mode() == Loader::Mode::here;  // pictures and tests have no later frames
    const bool goes_on = key == placed_;
    const size_t slice = here ? RoofMarks::kAll : has_grown_ ? kMovingSlice : std::max(kFirstSlice, goes_on ? marks_.points() : 0);
    if (goes_on) {
      marks_.place_more(roof, colors(roof), slice);
    } else {
      marks_.place(roof, colors(roof), hidden_, view_of(main, left, strip, em), slice);
    }
    placed_ = key;
    has_grown_ = has_grown_ || marks_.is_complete(roof);
    if (!marks_.is_complete(roof)) session.want_frame();
    return true;
  }

  static RoofView view_of(const Frame& main, const Frame& left, bool strip, float em) {
    const auto scale = [](const Axis& axis) {
      const double lo = std::log10(axis.lo), by = (axis.p1 - axis.p0) / (std::log10(axis.hi) - lo);
      return LogScale{axis.p0 - lo * by, by};
    };
    const auto box = [](const Frame& f) { return Box{f.min.x, f.min.y, f.max.x, f.max.y}; };
    return {box(main), strip ? box(left) : Box{}, scale(main.x), scale(main.y), strip ? scale(left.y) : LogScale{}, em};
  }

  void draw_points(Session& session, const Roofline& roof, const Frame& main, const Frame* left) const {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    std::vector<ImU32> inks = inks_of(roof, session.theme);
    for (ImU32& ink : inks) ink = with_alpha(ink, 0.75f);
    const ImU32 edge = ImGui::GetColorU32(ImGuiCol_WindowBg);
    for (const Frame* f : {&main, left}) {
      if (f == nullptr) continue;
      draw.PushClipRect(f->min, f->max, true);
      draw_marks(draw, f == left ? marks_.strip() : marks_.main(), inks, edge);
      draw.PopClipRect();
    }
    const ImVec2 from = left != nullptr ? left->min : main.min;
    draw.PushClipRect(from, main.max, true);
    mark_selected(session, roof, main);
    draw.PopClipRect();
  }

  /// Rings around what is picked and selected; a line from the selected point up to its roof.
  void mark_selected(Session& session, const Roofline& roof, const Frame& main) const {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float em = ImGui::GetFontSize();
    const ImU32 ink = ImGui::GetColorU32(ImGuiCol_Text);
    for (const uint32_t index : std::span(picked_).first(std::min(picked_.size(), kMostLines))) {
      const RoofMarks::Position p = marks_.position(roof.point_of[index]);
      if (p.shown) draw.AddCircle({p.x, p.y}, p.radius + em * 0.15f, ink);
    }
    const StepInfo* step = roof.run->find(session.selection().step);
    if (step == nullptr) return;
    const uint32_t point = roof.point_of[static_cast<size_t>(step - roof.run->steps.data())];
    const RoofMarks::Position p = point == Roofline::kNoPoint ? RoofMarks::Position{} : marks_.position(point);
    if (!p.shown) return;
    draw.AddCircle({p.x, p.y}, p.radius + em * 0.15f, ink, 0, std::max(2.f, em / 6));
    if (!roof.points[point].beside) line_to_roof(*step, {p.x, p.y}, main);
  }

  static void line_to_roof(const StepInfo& step, ImVec2 at, const Frame& main) {
    if (!std::isfinite(step.attainable_gflop_per_s) || !(step.attainable_gflop_per_s > 0)) return;
    const float y = main.y.pixel(step.attainable_gflop_per_s);
    ImGui::GetWindowDrawList()->AddLine(at, {at.x, y}, ImGui::GetColorU32(ImGuiCol_Text, 0.7f));
    ImGui::GetWindowDrawList()->AddLine({at.x - 4, y}, {at.x + 4, y}, ImGui::GetColorU32(ImGuiCol_Text), 2);
  }

  void draw_labels(const Roofline& roof, const Frame& main, const std::vector<Box>& taken) {
    std::vector<LabelWish> wishes;
    std::vector<std::string_view> names;
    for (size_t i = 0; i < roof.points.size() && wishes.size() < kMostLabels && roof.points[i].weight > 0.02f; ++i) {
      const RoofMarks::Position p = marks_.position(i);
      if (roof.points[i].beside || !p.shown) continue;
      names.push_back(roof.run->steps[roof.points[i].index].name);
      wishes.push_back({p.x, p.y, p.radius});
    }
    const std::vector<std::string>& texts = labels_.of(names, kLabelColumns);
    for (size_t i = 0; i < texts.size(); ++i) {
      const ImVec2 size = ImGui::CalcTextSize(texts[i].c_str());
      wishes[i].width = size.x + 4, wishes[i].height = size.y;
    }
    const std::vector<Box> boxes = place_labels(wishes, {main.min.x, main.min.y, main.max.x, main.max.y}, taken);
    const ImU32 ground = ImGui::GetColorU32(ImGuiCol_WindowBg, 0.75f), ink = ImGui::GetColorU32(ImGuiCol_Text);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    for (size_t i = 0; i < boxes.size(); ++i) {  // all lines before all texts
      if (boxes[i].x1 <= boxes[i].x0) continue;
      const ImVec2 near = {std::clamp(wishes[i].x, boxes[i].x0, boxes[i].x1), std::clamp(wishes[i].y, boxes[i].y0, boxes[i].y1)};
      const float away = std::hypot(near.x - wishes[i].x, near.y - wishes[i].y);
      if (away > wishes[i].radius + wishes[i].height) draw.AddLine({wishes[i].x, wishes[i].y}, near, with_alpha(ink, 0.6f));
    }
    for (size_t i = 0; i < boxes.size(); ++i) {
      if (boxes[i].x1 > boxes[i].x0) text_with_ground(draw, {boxes[i].x0 + 2, boxes[i].y0}, texts[i], ground, ink);
    }
  }

  void hover(const Roofline& roof, const Frame& main, size_t at) const {
    const StepInfo& step = roof.run->steps[roof.points[at].index];
    if (!roof.points[at].beside) line_to_roof(step, {marks_.position(at).x, marks_.position(at).y}, main);
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(ImGui::GetFontSize() * 32);
    const auto line = [](const std::string& text) { ImGui::TextUnformatted(text.data(), text.data() + text.size()); };
    line(short_text(step.name, 80));
    line(fmt::format("{} · {}{}{}", short_text(step.opcode, 40), short_text(step.cls, 20), step.op_type.empty() ? "" : " · ",
                     short_text(step.op_type, 40)));
    ImGui::Separator();
    line(fmt::format("{} × {:.6g} = {}, {} of the pass", human(step.median_ns, "_ns"), step.calls, human(step.pass_ns, "_ns"),
                     human(100 * step.share, "_percent")));
    if (!roof.points[at].beside) {
      line(fmt::format("{} FLOP/byte, {} GFLOP/s, {} GB/s", human(step.intensity, "_flop_per_byte"),
                       human(step.gflop_per_s, "_gflop_per_s"), human(step.gb_per_s, "_gb_per_s")));
    } else {
      line(fmt::format("no flops, {} GB/s", human(step.gb_per_s, "_gb_per_s")));
    }
    line((roof.predicted ? "predicted: " : "") + roof_sentence(step));
    if (!roof.predicted && std::isfinite(step.published_percent))
      line(fmt::format("{:.3g} % of the published limits", step.published_percent));
    if (!step.flags.empty()) line("flags: " + short_text(step.flags, 80));
    if (color_ != RoofColor::cls)
      line(fmt::format("{}: {}", kRoofColorNames[static_cast<size_t>(color_)], short_text(color_word(step, color_), 60)));
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
  }

  void pick(const Roofline& roof, const std::vector<ImVec2>& lasso) {
    std::vector<float> xs, ys;
    for (const ImVec2& p : lasso) xs.push_back(p.x), ys.push_back(p.y);
    marks_.place_more(roof, colors(roof), RoofMarks::kAll);
    const std::vector<uint32_t> points = points_inside(marks_, xs, ys);
    picked_.clear();
    for (const uint32_t point : points) picked_.push_back(roof.points[point].index);
    sum_ = picked_.empty() ? roof.sum : sum_points(roof, points);
    list(roof);
  }

  // --- below the plot

  void draw_table(Session& session, const Roofline& roof) {
    static const std::vector<GridColumn> kColumns = {
        {"step", 18},
        {"class", 6},
        {"time", 6, GridColumn::Kind::number},
        {"share", 7, GridColumn::Kind::number},
        {"FLOP/byte", 6, GridColumn::Kind::number},
        {"GFLOP/s", 6, GridColumn::Kind::number},
        {"GB/s", 6, GridColumn::Kind::number},
        {"bound by", 6},
        {"roof", 7, GridColumn::Kind::number},
        {"flags", 12},
    };
    const std::string told =
        fmt::format("{} {}: {}, {} of the pass, {}, {} moved, {:.3g} % of their roof", sum_.steps,
                    picked_.empty() ? "steps drawn" : "selected", human(sum_.pass_ns, "_ns"), human(100 * sum_.share, "_percent"),
                    human(sum_.flops, "_flops"), human(sum_.bytes, "_bytes"), sum_.roof_percent());
    ImGui::TextUnformatted(told.c_str());
    if (!picked_.empty()) {
      ImGui::SameLine();
      if (ImGui::SmallButton("Clear (Esc)")) return pick_none();
    }
    sort(roof);
    const auto found = std::ranges::find_if(lines_, [&](uint32_t i) { return roof.run->steps[i].step == session.selection().step; });
    const int selected = found == lines_.end() ? -1 : static_cast<int>(found - lines_.begin());
    if (session.selection_revision() != seen_selection_) {
      seen_selection_ = session.selection_revision();
      if (selected >= 0) grid_.scroll_to(selected);
    }
    const Grid::Event event = grid_.draw("steps", kColumns, static_cast<int>(lines_.size()), selected, {0, 0}, [&](int line, int column) {
      paint(roof.run->steps[lines_[static_cast<size_t>(line)]], column, session.theme);
    });
    if (event.clicked >= 0) session.select_step(roof.run->steps[lines_[static_cast<size_t>(event.clicked)]].step);
  }

  static void paint(const StepInfo& step, int column, const Theme& theme) {
    switch (column) {
      case 0:
        return cell_text(step.name);
      case 1:
        return cell_text(step.cls);
      case 2:
        return cell_number(step.pass_ns, "_ns");
      case 3:
        return cell_bar(step.share, good_color(theme)), cell_number(100 * step.share, "_percent");
      case 4:
        return cell_number(step.intensity, "_flop_per_byte");
      case 5:
        return cell_number(step.gflop_per_s, "_gflop_per_s");
      case 6:
        return cell_number(step.gb_per_s, "_gb_per_s");
      case 7:
        return cell_text(step.bound_by);
      case 8:
        return cell_bar(step.roof_percent / 100, roof_color(step.roof_percent / 100)), cell_number(step.roof_percent, "_percent");
      default:
        return cell_text(step.flags);
    }
  }

  void sort(const Roofline& roof) {
    if (grid_.sort() == sorted_) return;
    sorted_ = grid_.sort();
    using Key = double (*)(const StepInfo&);
    static constexpr Key kKeys[] = {nullptr,
                                    nullptr,
                                    [](const StepInfo& s) { return s.pass_ns; },
                                    [](const StepInfo& s) { return s.pass_ns; },
                                    [](const StepInfo& s) { return s.intensity; },
                                    [](const StepInfo& s) { return s.gflop_per_s; },
                                    [](const StepInfo& s) { return s.gb_per_s; },
                                    nullptr,
                                    [](const StepInfo& s) { return s.roof_percent; },
                                    nullptr};
    static constexpr std::string StepInfo::*kTexts[] = {&StepInfo::name, &StepInfo::cls,      nullptr, nullptr,         nullptr, nullptr,
                                                        nullptr,         &StepInfo::bound_by, nullptr, &StepInfo::flags};
    const int column = sorted_.column < 0 ? 2 : sorted_.column;
    const bool down = sorted_.column < 0 || sorted_.descending;
    const auto c = static_cast<size_t>(std::min(column, 9));
    std::ranges::stable_sort(lines_, [&](uint32_t a, uint32_t b) {
      const StepInfo &x = roof.run->steps[a], &y = roof.run->steps[b];
      if (kKeys[c] == nullptr) return down ? x.*kTexts[c] > y.*kTexts[c] : x.*kTexts[c] < y.*kTexts[c];
      const double u = kKeys[c](x), v = kKeys[c](y);
      if (std::isnan(u) || std::isnan(v)) return !std::isnan(u) && std::isnan(v);
      return down ? u > v : u < v;
    });
  }

  Latest<std::shared_ptr<const Roofline>> roof_;
  std::shared_ptr<const Roofline> shown_;
  int taken_ = 0, drawn_revision_ = 0, seen_selection_ = -1;
  RoofColor color_ = RoofColor::cls;
  std::set<size_t> hidden_;
  PlotView view_, beside_;
  RoofMarks marks_;
  DistinctNames labels_;
  std::string placed_;            ///< what marks_ were placed for
  bool has_grown_ = false;        ///< all points were drawn once
  std::vector<uint32_t> picked_;  ///< indices of steps, by time; empty: all
  std::vector<uint32_t> lines_;   ///< of the table
  StepSum sum_;
  Grid grid_{{2, true}};
  GridSort sorted_;
  ReportCopy copy_;
};

}  // namespace

std::unique_ptr<Panel> make_roofline() { return std::make_unique<RooflinePanel>(); }

}  // namespace ui
