// The rows: what lies in the window of each is merged to pixels, coloured and named.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/base/text.h"
#include "ui/timeline_panel.h"

namespace ui {
namespace {

constexpr float kDimmed = 0.25f;  ///< alpha of what a search does not find

std::string op_of(const StepInfo& step) {
  if (!step.op_type.empty()) return shown_name(step.op_type);
  return shown_name(step.kind.empty() ? step.opcode : step.opcode + ":" + step.kind);
}

}  // namespace

void TimelinePanel::draw_rows(Session& session) {
  nodes_.clear();
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw_ruler(draw, at_, view_.span());
  draw.PushClipRect({at_.min.x, at_.rows}, at_.max, true);
  float top = at_.rows - std::floor(scroll_);
  for (const TimelineRow& row : rows_) {
    const float bottom = top + row.height * at_.em;
    if (bottom > at_.rows && top < at_.max.y) draw_row(session, row, top);
    top = bottom;
  }
  draw.PopClipRect();
  draw_column(draw, at_.labels - 1, at_.min.y, at_.max.y, ink(0.18f));
  const float width = std::floor(at_.em * 0.3f);
  const auto seen = seen_rows({scroll_, at_.max.y - at_.rows, rows_height()});
  if (!seen) return;
  draw.AddRectFilled({at_.max.x - width, at_.rows}, at_.max, ink(0.06f));
  draw.AddRectFilled({at_.max.x - width, at_.rows + seen->top}, {at_.max.x, at_.rows + seen->bottom}, ink(0.35f));
}

void TimelinePanel::draw_row(Session& session, const TimelineRow& row, float top) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float bottom = top + row.height * at_.em, pad = std::max(1.f, std::floor(at_.em * 0.1f));
  if (row.kind == TimelineRow::Kind::run) {
    draw.AddRectFilled({at_.min.x, top}, {at_.max.x, bottom}, ink(0.07f));
  } else if (row.depth == 1) {
    draw_line(draw, top, at_.min.x, at_.max.x, ink(0.06f));
  }
  draw_row_label(row, top, bottom);
  draw.PushClipRect({at_.labels, at_.rows}, at_.max, true);
  const float inner_top = std::floor(top) + pad + 1, inner_bottom = std::floor(bottom) - pad;
  switch (row.kind) {
    case TimelineRow::Kind::lane:
      draw_lane(session, row, inner_top, inner_bottom);
      break;
    case TimelineRow::Kind::group:
      draw_group(session, row, inner_top, inner_bottom);
      break;
    case TimelineRow::Kind::passes:
      draw_passes(row, inner_top, inner_bottom);
      break;
    case TimelineRow::Kind::live:
      draw_live(session, row, inner_top, inner_bottom);
      break;
    case TimelineRow::Kind::buffer:
      draw_buffers(session, row, inner_top, inner_bottom);
      break;
    case TimelineRow::Kind::run:
      break;
  }
  draw.PopClipRect();
}

void TimelinePanel::draw_row_label(const TimelineRow& row, float top, float bottom) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float em = at_.em, y = std::floor((top + bottom - em * 1.1f) / 2);
  const bool heading = row.kind == TimelineRow::Kind::run;
  float x = at_.min.x + em * (0.3f + 0.8f * static_cast<float>(std::max(0, row.depth - 1)));
  const float right = heading ? at_.max.x : at_.labels - em * 0.5f;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool under = over_ && mouse.x < right && mouse.y >= std::max(top, at_.rows) && mouse.y < bottom;
  if (under && row.can_open) draw.AddRectFilled({at_.min.x, top}, {heading ? at_.max.x : at_.labels, bottom}, ink(0.06f));
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
  const std::string label = shown_name(row.label);
  draw_text(draw, {x, y}, room, ink(heading || row.depth == 1 ? 0.95f : 0.78f), label);
  if (!under || (row.help.empty() && ImGui::CalcTextSize(label.c_str()).x <= room)) return;
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(em * 30);
  ImGui::TextUnformatted(label.c_str());
  if (!row.help.empty()) ImGui::TextDisabled("%s", row.help.c_str());
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

ImU32 TimelinePanel::step_color(const ShownRun& run, int32_t step, const Theme& theme) {
  const ImU32 color = calm(run.color(step, theme));
  const Occurrences* found = found_in(run);
  if (found == nullptr || found->matched == 0) return color;
  const int32_t place = run.steps()->places[step];
  const bool hit = place >= 0 && static_cast<size_t>(place) < found->steps.size() && found->steps[static_cast<size_t>(place)] != 0;
  return hit ? color : with_alpha(color, kDimmed);
}

void TimelinePanel::draw_lane(Session& session, const TimelineRow& row, float top, float bottom) {
  ShownRun& run = *runs_[row.run];
  timeline::Scale to = scale();
  const LaneView& lane = run.lanes()[static_cast<size_t>(row.index)];
  const timeline::Window& window = run.window(session, static_cast<size_t>(row.index), to);
  to.begin_ns += run.offset_ns();
  const std::vector<timeline::Mark> marks = timeline::marks(window, to);
  const auto info = [&](const timeline::Mark& mark) { return run.steps() == nullptr ? nullptr : run.steps()->find(mark.name); };
  MarkStyle style{{at_.labels, top}, {at_.max.x, bottom}, true, {}, {}, {}, {}, {}};
  style.color = [&](const timeline::Mark& mark) { return step_color(run, mark.name, session.theme); };
  style.text = [&](const timeline::Mark& mark) {
    const StepInfo* step = info(mark);
    return step == nullptr ? fmt::format("step {}", mark.name) : shown_name(step->name);
  };
  style.detail = [&](const timeline::Mark& mark) {
    const StepInfo* step = info(mark);
    const bool exact = mark.record >= 0 && window.level == timeline::kSliceLevel;
    const std::string time = exact ? time_text(static_cast<double>(window.slices[static_cast<size_t>(mark.record)].duration_ns)) : "";
    return step == nullptr ? time : time + (time.empty() ? "" : " · ") + op_of(*step);
  };
  style.repeats = [&](const timeline::Mark& mark) {
    const StepInfo* step = info(mark);
    return step == nullptr ? 1 : step->calls;
  };
  style.hatched = [&](const timeline::Mark& mark) {
    return window.level == timeline::kSliceLevel && mark.record >= 0 && window.slices[static_cast<size_t>(mark.record)].variant == 1;
  };
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw_marks(draw, marks, style, at_.em);
  draw_found(run, top, to);
  const int32_t selected = session.selection().step;
  const bool own = run.document() == session.selection().document && run.run() == session.selection().run;
  for (const timeline::Mark& mark : marks) {
    if (!own || selected < 0 || mark.name != selected || mark.x1 - mark.x0 < 2) continue;
    const float x0 = std::max(mark.x0, -10.f), x1 = std::min(mark.x1, at_.width() + 10);
    draw_outline(draw, {std::floor(at_.labels + x0), top}, {std::ceil(at_.labels + x1), bottom}, ink(1), std::max(2.f, at_.em * 0.13f));
  }
  if (picked_ && picked_->run == row.run && (picked_->track == lane.track || picked_->track < 0)) {
    const float x = (x_of(picked_->span.begin_ns) + x_of(picked_->span.end_ns)) / 2, c = std::floor(at_.em * 0.3f);
    draw.AddTriangleFilled({x - c, top - c * 0.4f}, {x + c, top - c * 0.4f}, {x, top + c}, ink(1));
  }
  note_hover(row, marks, window, &lane);
}

const std::vector<int32_t>& TimelinePanel::nodes_of(const ShownRun& run, size_t lane, const StepGroups& groups,
                                                    const timeline::Window& window) {
  const auto [known, fresh] = nodes_.try_emplace({&run, lane, &groups});
  if (!fresh) return known->second;
  known->second.resize(window.size());
  for (size_t i = 0; i < window.size(); ++i) {
    const int32_t place = run.steps()->places[window.name(i)];
    known->second[i] = place < 0 ? -1 : groups.node_of[static_cast<size_t>(place)];
  }
  return known->second;
}

void TimelinePanel::draw_group(Session& session, const TimelineRow& row, float top, float bottom) {
  ShownRun& run = *runs_[row.run];
  const StepModel& steps = *run.steps();
  const StepGroups& groups = *row.groups;
  const auto first_step = static_cast<int32_t>(groups.nodes.size());  // names from here are steps of their own
  const auto step_of = [&](const timeline::Mark& mark) -> const StepInfo& {
    return steps.run->steps[static_cast<size_t>(mark.name - first_step)];
  };
  MarkStyle style{{at_.labels, top}, {at_.max.x, bottom}, true, {}, {}, {}, {}, {}};
  style.color = [&](const timeline::Mark& mark) {
    if (mark.name >= first_step) return step_color(run, step_of(mark).step, session.theme);
    return with_alpha(calm(color_of(session.theme, groups.nodes[static_cast<size_t>(mark.name)].name)), 0.75f);
  };
  style.text = [&](const timeline::Mark& mark) {
    if (mark.name >= first_step) return shown_name(step_of(mark).name);
    return shown_name(groups.path(groups.skip_single(mark.name), row.index));
  };
  for (size_t lane = 0; lane < run.lanes().size(); ++lane) {
    if (run.lanes()[lane].variant != 0) continue;
    timeline::Scale to = scale();
    const timeline::Window& window = run.window(session, lane, to);
    to.begin_ns += run.offset_ns();
    std::vector<int32_t> parts = nodes_of(run, lane, groups, window);
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i] < 0) continue;
      parts[i] = groups.child_of(row.index, parts[i]);
      if (parts[i] == row.index) parts[i] = row.index == 0 ? -1 : first_step + steps.places[window.name(i)];
    }
    std::vector<timeline::Mark> marks = timeline::spans(window, parts, to);
    draw_marks(*ImGui::GetWindowDrawList(), marks, style, at_.em);
    for (timeline::Mark& mark : marks) mark.name = mark.name >= first_step ? step_of(mark).step : -1 - mark.name;
    note_hover(row, marks, window, nullptr);
  }
}

void TimelinePanel::draw_passes(const TimelineRow& row, float top, float bottom) {
  const ShownRun& run = *runs_[row.run];
  const auto& passes = run.timeline()->passes;
  timeline::Scale to = scale();
  to.begin_ns += run.offset_ns();
  const auto before = [](double at, const timeline::Slice& pass) { return at < static_cast<double>(pass.begin_ns); };
  auto from = std::upper_bound(passes.begin(), passes.end(), to.begin_ns, before);
  if (from != passes.begin()) --from;
  timeline::Window window;
  window.slices.assign(from, std::upper_bound(from, passes.end(), to.begin_ns + to.pixels * to.ns_per_pixel, before));
  MarkStyle style{{at_.labels, top}, {at_.max.x, bottom}, true, {}, {}, {}, {}, {}};
  style.color = [](const timeline::Mark& mark) { return ink(mark.name % 2 == 0 ? 0.22f : 0.15f); };
  style.text = [&](const timeline::Mark& mark) { return fmt::format("{}{}", mark.x1 - mark.x0 < at_.em * 5 ? "" : "pass ", mark.name); };
  std::vector<timeline::Mark> marks = timeline::marks(window, to);
  draw_marks(*ImGui::GetWindowDrawList(), marks, style, at_.em);
  for (timeline::Mark& mark : marks) mark.name = -1 - std::max(0, mark.name);
  note_hover(row, marks, window, nullptr);
}

void TimelinePanel::draw_live(Session& session, const TimelineRow& row, float top, float bottom) {
  ShownRun& run = *runs_[row.run];
  const TimelineMemory* memory = run.memory();
  const PassClock* clock = run.clock(session, (view_.span().begin_ns + view_.span().end_ns) / 2);
  if (memory == nullptr || clock == nullptr || !(memory->peak_bytes > 0)) return;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const auto& begin = clock->begin_ns;
  const ImU32 fill = with_alpha(calm(series_color(session.theme, 0)), 0.55f), edge = calm(series_color(session.theme, 0));
  const auto place_at = [&](double ns) { return static_cast<size_t>(std::ranges::upper_bound(begin, ns) - begin.begin()); };
  const auto y_of = [&](double bytes) { return std::floor(bottom - static_cast<float>(bytes / memory->peak_bytes) * (bottom - top)); };
  double under_mouse = -1;
  float start = 0, last_y = -1;
  const auto flush = [&](float x) {
    if (last_y >= 0 && last_y < bottom) {
      draw.AddRectFilled({at_.labels + start, last_y}, {at_.labels + x, bottom}, fill);
      draw.AddRectFilled({at_.labels + start, last_y}, {at_.labels + x, last_y + std::max(1.f, std::floor(at_.em * 0.1f))}, edge);
    }
    start = x;
  };
  for (float x = 0; x < at_.width(); ++x) {
    const double from = time_at(at_.labels + x) + run.offset_ns(), to = time_at(at_.labels + x + 1) + run.offset_ns();
    const size_t first = place_at(from), last = place_at(to);
    const bool outside = to < begin.front() || from >= begin.back() || last == 0;
    const double bytes = outside ? 0 : memory->live_bytes.largest(first == 0 ? 0 : first - 1, std::max(last, first));
    const float y = outside ? bottom : y_of(bytes);
    if (y != last_y) flush(x), last_y = y;
    if (std::abs(ImGui::GetIO().MousePos.x - at_.labels - x) < 1 && !outside) under_mouse = bytes;
  }
  flush(at_.width());
  if (!is_under_mouse(row) || under_mouse < 0) return;
  const double at = time_at(ImGui::GetIO().MousePos.x);
  hover_ =
      TimelineHit{row.run,
                  -1,
                  -1,
                  0,
                  {at, at},
                  0,
                  1,
                  false,
                  base::human_bytes(under_mouse) + " live",
                  fmt::format("{:.0f} % of the peak of {}", 100 * under_mouse / memory->peak_bytes, base::human_bytes(memory->peak_bytes))};
}

void TimelinePanel::draw_buffers(Session& session, const TimelineRow& row, float top, float bottom) {
  ShownRun& run = *runs_[row.run];
  const TimelineMemory* memory = run.memory();
  const PassClock* clock = run.clock(session, (view_.span().begin_ns + view_.span().end_ns) / 2);
  if (memory == nullptr || clock == nullptr || static_cast<size_t>(row.index) >= memory->rows.size()) return;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float mouse = ImGui::GetIO().MousePos.x;
  for (const BufferBar& bar : memory->rows[static_cast<size_t>(row.index)]) {
    const TimeSpan span{clock->begin_ns[static_cast<size_t>(bar.first)] - run.offset_ns(),
                        clock->begin_ns[static_cast<size_t>(bar.last) + 1] - run.offset_ns()};
    const float x0 = std::max(at_.labels, x_of(span.begin_ns)),
                x1 = std::min(at_.max.x, std::max(x_of(span.end_ns), x_of(span.begin_ns) + 1));
    if (x1 <= x0) continue;
    const ImU32 color = with_alpha(calm(color_of(session.theme, bar.kind)), 0.6f);
    draw.AddRectFilled({x0, top}, {std::max(x0 + 1, x1 - 1), bottom}, color);
    const std::string label = base::human_bytes(bar.bytes) + "  " + shown_name(bar.name);
    draw_text(draw, {std::floor(x0 + at_.em * 0.3f), std::floor((top + bottom - at_.em * 1.1f) / 2)}, x1 - x0 - at_.em * 0.5f, ink(0.9f),
              label);
    if (is_under_mouse(row) && mouse >= x0 && mouse < x1) {
      hover_ = TimelineHit{row.run, -1, -1, 0, span, 0, 1, true, bar.name, base::human_bytes(bar.bytes) + ", " + bar.kind};
    }
  }
}

bool TimelinePanel::is_under_mouse(const TimelineRow& row) const {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (!over_ || mouse.x < at_.labels || mouse.x >= at_.max.x || mouse.y < at_.rows) return false;
  const float top = at_.rows - scroll_ + row_top(row);
  return mouse.y >= top && mouse.y < top + row.height * at_.em;
}

void TimelinePanel::note_hover(const TimelineRow& row, const std::vector<timeline::Mark>& marks, const timeline::Window& window,
                               const LaneView* lane) {
  if (!is_under_mouse(row) || (drag_ == Drag::pan && dragged_)) return;
  const float x = ImGui::GetIO().MousePos.x - at_.labels;
  const auto away = [&](const timeline::Mark& mark) { return std::max({0.f, mark.x0 - x, x - mark.x1}); };
  const timeline::Mark* best = nullptr;
  for (const timeline::Mark& mark : marks) {
    if (away(mark) < 3 && (best == nullptr || away(mark) < away(*best))) best = &mark;
  }
  if (best == nullptr) return;
  const timeline::Scale to = scale();
  const double begin = to.begin_ns + static_cast<double>(best->x0) * to.ns_per_pixel,
               end = to.begin_ns + static_cast<double>(best->x1) * to.ns_per_pixel;
  TimelineHit hit{row.run,
                  best->name,
                  lane == nullptr ? -1 : lane->track,
                  lane == nullptr ? 0 : lane->variant,
                  {begin, end},
                  best->count,
                  best->busy,
                  false,
                  {},
                  {}};
  const bool one = best->record >= 0 && best->count <= 1 && window.level == timeline::kSliceLevel;
  if (one) {
    const timeline::Slice& slice = window.slices[static_cast<size_t>(best->record)];
    const double from = static_cast<double>(slice.begin_ns) - runs_[row.run]->offset_ns();
    hit.span = {from, from + static_cast<double>(slice.duration_ns)};
    hit.variant = slice.variant;
    hit.exact = true;
  }
  if (best->name < 0) {
    hit.step = -1;
    hit.name = row.groups != nullptr ? row.groups->path(-1 - best->name, 0) : fmt::format("pass {}", -1 - best->name);
    if (row.groups != nullptr)
      hit.more = fmt::format("{} in a pass", time_text(row.groups->nodes[static_cast<size_t>(-1 - best->name)].pass_ns));
  }
  hover_ = hit;
}

}  // namespace ui
