// What lies over the rows: minimap, hits of the search, box, ruler, and the card of what is under the mouse.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/timeline_panel.h"

namespace ui {
namespace {

std::string number_text(double value, const char* unit) {
  if (!std::isfinite(value)) return {};
  return fmt::format("{:.{}f} {}", value, std::abs(value) < 10 ? 2 : std::abs(value) < 100 ? 1 : 0, unit);
}

/// Text on a ground of its own, inside the area. Returns whether the mouse is over it.
bool draw_card(const TimelineLayout& at, ImVec2 from, const std::vector<std::string>& lines) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  float width = 0;
  for (const std::string& line : lines) width = std::max(width, ImGui::CalcTextSize(line.c_str()).x);
  const float pad = at.em * 0.5f, height = static_cast<float>(lines.size()) * at.em * 1.25f;
  const float x = std::clamp(from.x, at.labels + pad, std::max(at.labels + pad, at.max.x - width - pad * 3));
  const float y = std::clamp(from.y, at.rows + pad, std::max(at.rows + pad, at.max.y - height - pad * 3));
  draw.AddRectFilled({x, y}, {x + width + pad * 2, y + height + pad}, with_alpha(ImGui::GetColorU32(ImGuiCol_PopupBg), 1), at.em * 0.2f);
  draw_outline(draw, {std::floor(x), std::floor(y)}, {std::floor(x + width + pad * 2), std::floor(y + height + pad)}, ink(0.25f), 1);
  for (size_t i = 0; i < lines.size(); ++i) {
    draw.AddText({x + pad, y + pad * 0.5f + static_cast<float>(i) * at.em * 1.25f}, ink(i == 0 ? 1 : 0.8f), lines[i].c_str());
  }
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  return mouse.x >= x && mouse.y >= y && mouse.x < x + width + pad * 2 && mouse.y < y + height + pad;
}

/// Lines "what   value" of a tooltip.
class Card {
 public:
  Card() {
    ImVec4 ground = ImGui::GetStyle().Colors[ImGuiCol_PopupBg];
    ground.w = 1;
    ImGui::PushStyleColor(ImGuiCol_PopupBg, ground);
    ImGui::BeginTooltip();
  }
  ~Card() {
    ImGui::EndTooltip();
    ImGui::PopStyleColor();
  }
  Card(const Card&) = delete;
  Card& operator=(const Card&) = delete;
  void title(const std::string& text) { ImGui::TextUnformatted(text.c_str()); }
  void line(const char* what, const std::string& value) {
    if (value.empty()) return;
    ImGui::TextDisabled("%s", what);
    ImGui::SameLine(ImGui::GetFontSize() * 5.2f);
    ImGui::TextUnformatted(value.c_str());
  }
};

void describe(Card& card, const StepInfo& step) {
  const std::string type = !step.op_type.empty() ? step.op_type : step.kind.empty() ? step.opcode : step.opcode + ":" + step.kind;
  card.line("op", shown_name(type));
  card.line("name", shown_name(step.op_name));
  card.line("scope", shown_name(step.scope));
  card.line("class", shown_name(step.cls) + (step.phase.empty() ? "" : " · " + shown_name(step.phase)));
  if (std::isfinite(step.median_ns)) {
    const std::string calls = step.calls > 1 ? fmt::format(" × {:g} = {} a pass", step.calls, time_text(step.pass_ns)) : "";
    card.line("median", time_text(step.median_ns) + calls + fmt::format(" · {} {}", step.n, step.n == 1 ? "sample" : "samples"));
    card.line("share", fmt::format("{:.2f} % of the pass", step.share * 100));
  }
  std::string rate = number_text(step.gb_per_s, "GB/s");
  if (step.flops > 0) rate += (rate.empty() ? "" : " · ") + number_text(step.gflop_per_s, "GFLOP/s");
  card.line("rate", rate);
  card.line("roof", number_text(step.roof_percent, "%") + (step.bound_by.empty() ? "" : " · bound by " + shown_name(step.bound_by)));
  card.line("flags", shown_name(step.flags));
  card.line("why", shown_name(step.why));
}

}  // namespace

void TimelinePanel::draw_minimap(Session& session) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float top = std::floor(at_.minimap + at_.em * 0.15f), bottom = std::floor(at_.ruler - at_.em * 0.15f);
  draw.AddRectFilled({at_.labels, top}, {at_.max.x, bottom}, ink(0.05f));
  const double pixels = std::max(1.f, at_.width());
  const ShownRun& run = *runs_[0];
  const timeline::Scale to{view_.all().begin_ns + run.offset_ns(), view_.all().length_ns() / pixels, pixels};
  MarkStyle style{{at_.labels, top + 3}, {at_.max.x, bottom - 2}, false, {}, {}, {}, {}, {}};
  style.color = [&](const timeline::Mark& mark) { return with_alpha(step_color(run, mark.name, session.theme), 0.8f); };
  for (const LaneView& lane : run.lanes()) {
    if (lane.variant == 0) draw_marks(draw, timeline::marks(*lane.overview, to), style, at_.em);
  }
  draw_found(run, top, to);
  const auto x = [&](double ns) {
    return std::floor(at_.labels + static_cast<float>((ns - view_.all().begin_ns) / view_.all().length_ns() * pixels));
  };
  const float x0 = std::min(x(view_.span().begin_ns), at_.max.x - 4), x1 = std::max(x0 + 4, x(view_.span().end_ns));
  const ImU32 shade = with_alpha(ImGui::GetColorU32(ImGuiCol_WindowBg), 0.65f);
  draw.AddRectFilled({at_.labels, top}, {x0, bottom}, shade);
  draw.AddRectFilled({x1, top}, {at_.max.x, bottom}, shade);
  draw_outline(draw, {x0, top}, {x1, bottom}, ink(0.6f), std::max(1.f, at_.em * 0.08f));
  draw_text(draw, {at_.min.x + at_.em * 1.3f, std::floor((top + bottom - at_.em * 1.1f) / 2)}, at_.labels - at_.min.x - at_.em * 2,
            ink(0.5f), time_text(view_.span().length_ns()) + " in view");
}

void TimelinePanel::draw_found(const ShownRun& run, float top, const timeline::Scale& to) {
  const Occurrences* found = found_in(run);
  if (found == nullptr || found->duration_ns.empty()) return;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const timeline::Levels levels = found->slices.levels();
  const int64_t begin = static_cast<int64_t>(std::max(0.0, to.begin_ns)),
                end = static_cast<int64_t>(std::clamp(to.begin_ns + to.pixels * to.ns_per_pixel, 0.0, 4e18));
  const float height = std::max(3.f, std::floor(at_.em * 0.25f));
  for (const timeline::Mark& mark : timeline::marks(found->slices.window(timeline::level_for(levels, to.ns_per_pixel), begin, end), to)) {
    const float x0 = at_.labels + std::clamp(mark.x0, 0.f, at_.width()), x1 = at_.labels + std::clamp(mark.x1, 0.f, at_.width());
    draw.AddRectFilled({std::floor(x0), top}, {std::max(std::floor(x0) + 2, x1 - 1), top + height}, ink(1));
  }
}

std::vector<std::string> TimelinePanel::box_lines() {
  std::vector<std::string> lines{time_text(box_->span.length_ns()) + (box_->what.empty() ? "" : " of " + shown_name(box_->what))};
  const BoxSums* sums = drag_ == Drag::box || box_sums_.waiting() ? nullptr : box_sums_.value();
  if (const base::Error* error = box_sums_.error()) lines.push_back(shown_name(error->message));
  if (drag_ != Drag::box && box_sums_.waiting()) lines.emplace_back("adding up…");
  if (sums != nullptr) {
    const auto& s = sums->sums;
    lines.push_back(
        fmt::format("{} busy · {:.1f} % of it", time_text(s.inside_ns), 100 * s.inside_ns / std::max(1.0, box_->span.length_ns())));
    lines.push_back(fmt::format("{} slices of {} steps · mean {}", s.count, sums->steps,
                                time_text(s.count > 0 ? s.whole_ns / static_cast<double>(s.count) : 0)));
    const ShownRun& run = *runs_[std::min(box_->run, runs_.size() - 1)];
    for (const BoxSums::Part& part : sums->longest) {
      const StepInfo* step = run.steps() == nullptr ? nullptr : run.steps()->find(part.step);
      const std::string name = step == nullptr ? fmt::format("step {}", part.step) : shown_name(step->name);
      lines.push_back(
          fmt::format("{:5.1f} %  {}  {}", 100 * part.sums.inside_ns / std::max(1.0, s.inside_ns), time_text(part.sums.inside_ns), name));
    }
  }
  return lines;
}

void TimelinePanel::draw_box(Session& session) {
  if (!box_) return;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float x0 = std::clamp(x_of(box_->span.begin_ns), at_.labels, at_.max.x),
              x1 = std::clamp(x_of(box_->span.end_ns), at_.labels, at_.max.x);
  const float top = std::max(at_.rows, at_.rows - scroll_ + box_->top),
              bottom = std::clamp(at_.rows - scroll_ + box_->bottom, at_.rows, at_.max.y);
  const ImU32 color = series_color(session.theme, 0);
  draw.AddRectFilled({x0, top}, {x1, bottom}, with_alpha(color, 0.14f));
  draw_outline(draw, {std::floor(x0), std::floor(top)}, {std::ceil(x1), std::ceil(bottom)}, color, std::max(1.f, at_.em * 0.08f));
  const std::vector<std::string> lines = box_lines();
  const ImVec2 way = {ImGui::GetIO().MousePos.x - drag_to_.x, ImGui::GetIO().MousePos.y - drag_to_.y};
  const bool rests = std::abs(way.x) < at_.em && std::abs(way.y) < at_.em;  // since the box was drawn: its sums are what is wanted
  if (draw_card(at_, {x1 + at_.em * 0.5f, top}, lines) || rests) hover_.reset();
}

void TimelinePanel::draw_measure() {
  if (!measure_) return;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float x0 = x_of(measure_->begin_ns), x1 = x_of(measure_->end_ns), y = std::floor(at_.ruler + at_.em * 0.75f);
  const float l = std::clamp(x0, at_.labels, at_.max.x), r = std::clamp(x1, at_.labels, at_.max.x);
  draw.AddRectFilled({l, at_.ruler}, {r, at_.rows - at_.em * 0.3f}, ImGui::GetColorU32(ImGuiCol_WindowBg));  // it takes the ruler's place
  draw.AddRectFilled({l, at_.rows}, {r, at_.max.y}, ink(0.06f));
  for (const float x : {x0, x1}) {
    if (x >= at_.labels && x <= at_.max.x) draw_column(draw, x, at_.ruler, at_.max.y, ink(0.9f));
  }
  draw_line(draw, y, l, r, ink(0.9f));
  const std::string text = time_text(measure_->length_ns());
  const float width = ImGui::CalcTextSize(text.c_str()).x + at_.em * 0.6f,
              x = std::clamp((l + r - width) / 2, at_.labels, std::max(at_.labels, at_.max.x - width));
  draw.AddRectFilled({x, y - at_.em * 0.65f}, {x + width, y + at_.em * 0.7f}, ink(1), at_.em * 0.15f);
  draw.AddText({x + at_.em * 0.3f, std::floor(y - at_.em * 0.55f)}, ImGui::GetColorU32(ImGuiCol_WindowBg), text.c_str());
}

void TimelinePanel::draw_cursor() {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (!over_ || mouse.x < at_.labels || mouse.y < at_.ruler) return;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const double ns = measuring_ || drag_ == Drag::measure ? snapped(time_at(mouse.x)) : time_at(mouse.x);
  draw_column(draw, x_of(ns), at_.ruler + at_.em, at_.max.y, ink(measuring_ ? 0.8f : 0.22f));
}

void TimelinePanel::draw_hover_card(Session& session) {
  if (!hover_ || ImGui::IsMouseDown(0) || hover_->run >= runs_.size()) return;
  const ShownRun& run = *runs_[hover_->run];
  const StepInfo* step = run.steps() == nullptr || hover_->step < 0 ? nullptr : run.steps()->find(hover_->step);
  Card card;
  const bool many = !hover_->exact && hover_->count > 1;
  std::string title = step != nullptr     ? shown_name(step->name)
                      : hover_->step >= 0 ? fmt::format("step {}", hover_->step)
                                          : shown_name(hover_->name);
  if (many && step != nullptr) title = fmt::format("{} slices, the longest: {}", hover_->count, title);
  card.title(title);
  card.line("", hover_->more);
  if (many) card.line("busy", fmt::format("{:.0f} % of {}", hover_->busy * 100, time_text(hover_->span.length_ns())));
  if (!many && hover_->span.length_ns() > 0) {
    const bool median = run.mode() == PassMode::medians;
    card.line("time", time_text(hover_->span.length_ns()) + (hover_->exact && median && step != nullptr ? " in a pass" : ""));
  }
  card.line("at", time_text(hover_->span.begin_ns));
  if (hover_->variant == 1) card.line("is", "the parts of the fusion, one by one");
  if (hover_->variant == 2) card.line("is", "the fusion in turns with its parts");
  if (step != nullptr) describe(card, *step);
  (void)session;
}

}  // namespace ui
