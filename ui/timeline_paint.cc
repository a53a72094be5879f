// Rows, minimap and hover card.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/timeline_panel.h"

namespace ui {
namespace {

std::string op_of(const StepInfo& step) {
  if (!step.op_type.empty()) return shown_name(step.op_type);
  return shown_name(step.kind.empty() ? step.opcode : step.opcode + ":" + step.kind);
}

std::string number_text(double value, const char* unit) {
  if (!std::isfinite(value)) return {};
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, unit);
}

}  // namespace

void TimelinePanel::draw_rows(Session& session) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw_ruler(draw, at_, view_.span());
  draw.PushClipRect({at_.min.x, at_.rows}, at_.max, true);
  float top = at_.rows - scroll_;
  for (const TimelineRow& row : rows_) {
    const float bottom = top + row.height * at_.em;
    if (bottom > at_.rows && top < at_.max.y) draw_row(session, row, top);
    top = bottom;
  }
  draw.PopClipRect();
  draw.AddLine({at_.labels - 0.5f, at_.min.y}, {at_.labels - 0.5f, at_.max.y}, ink(0.2f));
}

void TimelinePanel::draw_row(Session& session, const TimelineRow& row, float top) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float bottom = top + row.height * at_.em, pad = std::max(1.f, std::floor(at_.em * 0.12f));
  if (row.kind == TimelineRow::Kind::run) {
    draw.AddRectFilled({at_.min.x, top}, {at_.max.x, bottom}, ink(0.07f));
  } else if (row.depth == 1) {
    draw.AddLine({at_.min.x, top}, {at_.max.x, top}, ink(0.07f));
  }
  draw_row_label(row, top, bottom);
  draw.PushClipRect({at_.labels, at_.rows}, at_.max, true);
  switch (row.kind) {
    case TimelineRow::Kind::lane:
      draw_lane(session, row, std::floor(top) + pad, std::floor(bottom) - pad);
      break;
    case TimelineRow::Kind::group:
      draw_group(session, row, std::floor(top) + pad, std::floor(bottom) - pad);
      break;
    case TimelineRow::Kind::passes:
      draw_passes(row, std::floor(top) + pad, std::floor(bottom) - pad);
      break;
    case TimelineRow::Kind::run:
    case TimelineRow::Kind::live:
    case TimelineRow::Kind::buffer:
      break;
  }
  draw.PopClipRect();
}

void TimelinePanel::draw_row_label(const TimelineRow& row, float top, float bottom) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float em = at_.em, y = std::floor((top + bottom - em * 1.05f) / 2);
  const bool heading = row.kind == TimelineRow::Kind::run;
  float x = at_.min.x + em * (0.4f + 0.8f * static_cast<float>(std::max(0, row.depth - 1)));
  const float right = heading ? at_.max.x : at_.labels - em * 0.5f;
  if (row.can_open) {
    const float c = em * 0.28f, mx = x + em * 0.35f, my = (top + bottom) / 2;
    if (row.open) {
      draw.AddTriangleFilled({mx - c, my - c * 0.6f}, {mx + c, my - c * 0.6f}, {mx, my + c * 0.8f}, ink(0.6f));
    } else {
      draw.AddTriangleFilled({mx - c * 0.6f, my - c}, {mx + c * 0.8f, my}, {mx - c * 0.6f, my + c}, ink(0.6f));
    }
  }
  x += em;
  float room = right - x;
  if (!row.note.empty()) {
    draw_text_right(draw, {right, y}, ink(0.5f), row.note);
    room -= ImGui::CalcTextSize(row.note.c_str()).x + em * 0.5f;
  }
  draw_text(draw, {x, y}, room, ink(heading || row.depth == 1 ? 0.95f : 0.75f), shown_name(row.label));
}

void TimelinePanel::draw_lane(Session& session, const TimelineRow& row, float top, float bottom) {
  ShownRun& run = *runs_[row.run];
  timeline::Scale to = scale();
  const timeline::Window& window = run.window(session, static_cast<size_t>(row.index), to);
  to.begin_ns += run.offset_ns();
  const std::vector<timeline::Mark> marks = timeline::marks(window, to);
  MarkStyle style{{at_.labels, top}, {at_.max.x, bottom}, true, {}, {}, {}};
  style.color = [&](const timeline::Mark& mark) { return run.color(mark.name, session.theme); };
  style.text = [&](const timeline::Mark& mark) {
    const StepInfo* step = run.steps() == nullptr ? nullptr : run.steps()->find(mark.name);
    return step == nullptr ? fmt::format("step {}", mark.name) : shown_name(step->name);
  };
  style.detail = [&](const timeline::Mark& mark) {
    const StepInfo* step = run.steps() == nullptr ? nullptr : run.steps()->find(mark.name);
    const std::string time = time_text(static_cast<double>(mark.x1 - mark.x0) * to.ns_per_pixel);
    return step == nullptr ? time : op_of(*step) + " · " + time;
  };
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw_marks(draw, marks, style, at_.em);
  const int32_t selected = session.selection().step;
  for (const timeline::Mark& mark : marks) {
    if (mark.name != selected || mark.x1 - mark.x0 < 3 || selected < 0) continue;
    draw.AddRect({at_.labels + mark.x0 - 1, top - 1}, {at_.labels + mark.x1, bottom + 1}, ink(1), 0, 0, std::max(1.5f, at_.em * 0.12f));
  }
  note_hover(row, marks, window, run.lanes()[static_cast<size_t>(row.index)].track);
}

void TimelinePanel::draw_group(Session& session, const TimelineRow& row, float top, float bottom) {
  ShownRun& run = *runs_[row.run];
  const StepModel& steps = *run.steps();
  const StepGroups& groups = *row.groups;
  const auto first_step = static_cast<int32_t>(groups.nodes.size());  // names from here are steps of their own
  const auto part_of = [&](int32_t step) {
    const int32_t place = steps.places[step];
    if (place < 0) return -1;
    const int32_t node = groups.node_of[static_cast<size_t>(place)], child = groups.child_of(row.index, node);
    return child == row.index ? (row.index == 0 ? -1 : first_step + place) : child;
  };
  MarkStyle style{{at_.labels, top}, {at_.max.x, bottom}, true, {}, {}, {}};
  style.color = [&](const timeline::Mark& mark) {
    if (mark.name >= first_step)
      return run.colors().color.empty() ? neutral_color(session.theme) : run.colors().color[static_cast<size_t>(mark.name - first_step)];
    return with_alpha(color_of(session.theme, groups.nodes[static_cast<size_t>(mark.name)].name), 0.8f);
  };
  style.text = [&](const timeline::Mark& mark) {
    if (mark.name >= first_step) return shown_name(steps.run->steps[static_cast<size_t>(mark.name - first_step)].name);
    return shown_name(groups.path(groups.skip_single(mark.name), row.index));
  };
  for (size_t lane = 0; lane < run.lanes().size(); ++lane) {
    timeline::Scale to = scale();
    const timeline::Window& window = run.window(session, lane, to);
    to.begin_ns += run.offset_ns();
    std::vector<int32_t> parts(window.size());
    for (size_t i = 0; i < parts.size(); ++i) parts[i] = part_of(window.name(i));
    std::vector<timeline::Mark> marks = timeline::spans(window, parts, to);
    draw_marks(*ImGui::GetWindowDrawList(), marks, style, at_.em);
    for (timeline::Mark& mark : marks)
      mark.name = mark.name >= first_step ? steps.run->steps[static_cast<size_t>(mark.name - first_step)].step : -1 - mark.name;
    note_hover(row, marks, window, -1);
  }
}

void TimelinePanel::draw_passes(const TimelineRow& row, float top, float bottom) {
  const ShownRun& run = *runs_[row.run];
  timeline::Scale to = scale();
  to.begin_ns += run.offset_ns();
  timeline::Window window;
  window.slices = run.timeline()->passes;
  MarkStyle style{{at_.labels, top}, {at_.max.x, bottom}, true, {}, {}, {}};
  style.color = [](const timeline::Mark&) { return ink(0.18f); };
  style.text = [](const timeline::Mark& mark) { return fmt::format("pass {}", mark.name); };
  const std::vector<timeline::Mark> marks = timeline::marks(window, to);
  draw_marks(*ImGui::GetWindowDrawList(), marks, style, at_.em);
}

void TimelinePanel::note_hover(const TimelineRow& row, const std::vector<timeline::Mark>& marks, const timeline::Window& window,
                               int64_t track) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (!over_ || mouse.x < at_.labels || mouse.y < at_.rows || ImGui::IsMouseDragging(0)) return;
  float top = at_.rows - scroll_;
  for (const TimelineRow& other : rows_) {
    if (&other == &row) break;
    top += other.height * at_.em;
  }
  if (mouse.y < top || mouse.y >= top + row.height * at_.em) return;
  const float x = mouse.x - at_.labels;
  const timeline::Mark* best = nullptr;
  for (const timeline::Mark& mark : marks) {
    if (mark.x0 > x + 2) break;
    if (mark.x1 < x - 2) continue;
    const auto away = [&](const timeline::Mark& m) { return std::max({0.f, m.x0 - x, x - m.x1}); };
    if (best == nullptr || away(mark) < away(*best)) best = &mark;
  }
  if (best == nullptr) return;
  const double begin = scale().begin_ns + static_cast<double>(best->x0) * scale().ns_per_pixel;
  TimelineHit hit{row.run,     best->name, track, {begin, begin + static_cast<double>(best->x1 - best->x0) * scale().ns_per_pixel},
                  best->count, best->busy, false, {}};
  if (best->name < 0) {
    const int32_t node = -1 - best->name;
    hit.step = -1;
    hit.name = row.groups->path(node, 0);
  } else if (best->record >= 0 && window.level == timeline::kSliceLevel) {
    const timeline::Slice& slice = window.slices[static_cast<size_t>(best->record)];
    const double from = static_cast<double>(slice.begin_ns) - runs_[row.run]->offset_ns();
    hit.span = {from, from + static_cast<double>(slice.duration_ns)};
    hit.exact = true;
  }
  hover_ = hit;
}

void TimelinePanel::draw_minimap(Session& session) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float top = at_.minimap + at_.em * 0.2f, bottom = at_.ruler - at_.em * 0.2f;
  draw.AddRectFilled({at_.labels, top}, {at_.max.x, bottom}, ink(0.05f));
  const double pixels = std::max(1.f, at_.width());
  const ShownRun& run = *runs_[0];
  timeline::Scale to{view_.all().begin_ns + run.offset_ns(), view_.all().length_ns() / pixels, pixels};
  MarkStyle style{{at_.labels, top + 2}, {at_.max.x, bottom - 1}, false, {}, {}, {}};
  style.color = [&](const timeline::Mark& mark) { return with_alpha(run.color(mark.name, session.theme), 0.7f); };
  for (const LaneView& lane : run.lanes()) draw_marks(draw, timeline::marks(*lane.overview, to), style, at_.em);
  const auto x = [&](double ns) { return at_.labels + static_cast<float>((ns - view_.all().begin_ns) / view_.all().length_ns() * pixels); };
  const float x0 = x(view_.span().begin_ns), x1 = std::max(x0 + 3, x(view_.span().end_ns));
  const ImU32 shade = with_alpha(ImGui::GetColorU32(ImGuiCol_WindowBg), 0.6f);
  draw.AddRectFilled({at_.labels, top}, {x0, bottom}, shade);
  draw.AddRectFilled({x1, top}, {at_.max.x, bottom}, shade);
  draw.AddRect({x0, top}, {x1, bottom}, ink(0.7f), 0, 0, std::max(1.f, at_.em * 0.08f));
}

void TimelinePanel::draw_hover_card(Session& session) {
  if (!hover_ || ImGui::IsMouseDown(0)) return;
  const ShownRun& run = *runs_[hover_->run];
  const StepInfo* step = run.steps() == nullptr || hover_->step < 0 ? nullptr : run.steps()->find(hover_->step);
  ImGui::BeginTooltip();
  const auto line = [](const std::string& what, const std::string& value) {
    if (value.empty()) return;
    ImGui::TextDisabled("%s", what.c_str());
    ImGui::SameLine(ImGui::GetFontSize() * 5);
    ImGui::TextUnformatted(value.c_str());
  };
  const std::string title = step != nullptr         ? shown_name(step->name)
                            : !hover_->name.empty() ? shown_name(hover_->name)
                                                    : fmt::format("step {}", hover_->step);
  ImGui::TextUnformatted(title.c_str());
  if (hover_->count > 1 && !hover_->exact) line("here", fmt::format("{} slices, {:.0f} % busy", hover_->count, hover_->busy * 100));
  line(hover_->exact || hover_->step < 0 ? "time" : "width", time_text(hover_->span.length_ns()));
  line("at", time_text(hover_->span.begin_ns));
  if (step != nullptr) {
    line("op", step->op_type.empty() ? op_of(*step) : op_of(*step) + "  " + shown_name(step->op_name));
    line("class", shown_name(step->cls));
    line("median",
         std::isfinite(step->median_ns) ? time_text(step->median_ns) + (step->calls > 1 ? fmt::format(" × {:g}", step->calls) : "") : "");
    line("share", fmt::format("{:.2f} % of the pass", step->share * 100));
    line("rate", number_text(step->gb_per_s, "GB/s") + (step->flops > 0 ? "  " + number_text(step->gflop_per_s, "GFLOP/s") : ""));
    line("roof", number_text(step->roof_percent, "%") + (step->bound_by.empty() ? "" : "  " + step->bound_by + " bound"));
    line("flags", shown_name(step->flags));
    line("scope", shown_name(step->scope));
  }
  ImGui::EndTooltip();
  (void)session;
}

}  // namespace ui
