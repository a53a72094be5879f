// Mouse and keys of the timeline. Movements that follow each other within a moment are one place in the history of views.
#include <algorithm>
#include <cmath>

#include "ui/timeline_panel.h"

namespace ui {
namespace {

constexpr double kZoomStep = 1.25, kKeyZoom = 1.5;
constexpr double kPanShare = 0.12;  ///< of the view, for a key or a notch of the wheel
constexpr double kRest_s = 0.6;     ///< a pause that makes the next movement a new place
constexpr float kClick = 0.3f;      ///< em that the mouse may move in a click

}  // namespace

void TimelinePanel::handle_mouse(Session& session) {
  const ImGuiIO& io = ImGui::GetIO();
  const ImVec2 mouse = io.MousePos;
  const bool on_time = over_ && mouse.x >= at_.labels, on_map = on_time && mouse.y < at_.ruler;
  const auto moves = [&] {
    if (ImGui::GetTime() - last_move_s_ > kRest_s) view_.remember();
    last_move_s_ = ImGui::GetTime();
  };
  if (over_ && io.MouseWheel != 0 && on_time && io.KeyCtrl) {
    moves();
    view_.zoom(std::pow(kZoomStep, -io.MouseWheel), time_at(mouse.x));
  } else if (over_ && io.MouseWheel != 0 && (io.KeyShift || !on_time)) {
    scroll_ -= io.MouseWheel * at_.em * 3;
  } else if (on_time && (io.MouseWheel != 0 || io.MouseWheelH != 0)) {
    moves();
    view_.pan(-static_cast<double>(io.MouseWheel + io.MouseWheelH) * view_.span().length_ns() * kPanShare);
  }
  if (ImGui::IsMouseClicked(0) && over_) {
    drag_ = on_map ? Drag::minimap : Drag::pan;
    dragged_ = false;
    if (drag_ == Drag::minimap) view_.remember();
  }
  if (!ImGui::IsMouseDown(0)) {
    if (drag_ == Drag::pan && !dragged_ && over_ && hover_) select(session, *hover_);
    if (drag_ == Drag::pan && !dragged_ && over_ && mouse.x < at_.labels && mouse.y >= at_.rows) {
      float top = at_.rows - scroll_;
      for (const TimelineRow& row : rows_) {
        const float bottom = top + row.height * at_.em;
        if (mouse.y >= top && mouse.y < bottom && row.can_open && !toggled_.erase(row.key)) toggled_.insert(row.key);
        top = bottom;
      }
    }
    drag_ = Drag::none;
  }
  if (drag_ == Drag::minimap) {
    const double share = static_cast<double>(mouse.x - at_.labels) / std::max(1.f, at_.width());
    const double middle = view_.all().begin_ns + share * view_.all().length_ns();
    view_.pan(middle - (view_.span().begin_ns + view_.span().end_ns) / 2);
  }
  const ImVec2 way = ImGui::GetMouseDragDelta(0, at_.em * kClick);
  if (drag_ == Drag::pan && (dragged_ || way.x != 0 || way.y != 0)) {
    if (!dragged_) moves();
    dragged_ = true;
    view_.pan(-static_cast<double>(io.MouseDelta.x) * scale().ns_per_pixel);
    scroll_ -= io.MouseDelta.y;
  }
  scroll_ = std::clamp(scroll_, 0.f, std::max(0.f, rows_height() - (at_.max.y - at_.rows)));
}

void TimelinePanel::handle_keys(Session& session) {
  if (!session.panel_with_focus.empty() && session.panel_with_focus != "timeline") return;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool on_time = over_ && mouse.x >= at_.labels;
  const double middle = (view_.span().begin_ns + view_.span().end_ns) / 2, anchor = on_time ? time_at(mouse.x) : middle;
  const int in = session.pressed('W') - session.pressed('S'), right = session.pressed('D') - session.pressed('A');
  if (in != 0 || right != 0) {
    if (ImGui::GetTime() - last_move_s_ > kRest_s) view_.remember();
    last_move_s_ = ImGui::GetTime();
    view_.zoom(std::pow(kKeyZoom, -in), anchor);
    view_.pan(right * view_.span().length_ns() * kPanShare);
  }
  if (session.pressed('F') > 0) view_.fit();
  if (session.pressed('[') > 0) view_.back();
  if (session.pressed(']') > 0) view_.forward();
  if (session.pressed(Session::kEnter) > 0 && picked_) {
    const double margin = picked_->span.length_ns();
    view_.show({picked_->span.begin_ns - margin, picked_->span.end_ns + margin});
  }
}

void TimelinePanel::select(Session& session, const TimelineHit& hit) {
  if (hit.step < 0) return;
  picked_ = hit;
  session.select_step(hit.step);
  seen_selection_ = session.selection_revision();
}

void TimelinePanel::follow_selection(Session& session) {
  if (session.selection_revision() == seen_selection_) return;
  const int32_t step = session.selection().step;
  const ShownRun& run = *runs_[0];
  if (step >= 0 && run.steps() == nullptr) return;
  seen_selection_ = session.selection_revision();
  picked_.reset();
  if (step < 0) return;
  if (run.mode() != PassMode::medians) return;
  for (const timeline::Slice& slice : run.steps()->medians.slices()) {
    if (slice.name != step) continue;
    const auto begin = static_cast<double>(slice.begin_ns);
    picked_ = TimelineHit{0, step, -1, {begin, begin + static_cast<double>(slice.duration_ns)}, 1, 1, true, {}};
    view_.reveal(picked_->span);
    return;
  }
}

}  // namespace ui
