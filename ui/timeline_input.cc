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
constexpr float kScrollRows = 3;    ///< em for a key or a notch of the wheel

}  // namespace

void TimelinePanel::moves() {
  if (ImGui::GetTime() - last_move_s_ > kRest_s) view_.remember();
  last_move_s_ = ImGui::GetTime();
}

void TimelinePanel::handle_mouse(Session& session) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  handle_wheel();
  if (ImGui::IsMouseClicked(0) && over_) begin_drag(session);
  if (drag_ != Drag::none) drag(mouse);
  if (!ImGui::IsMouseDown(0)) end_drag(session);
  if (over_ && hover_ && ImGui::IsMouseDoubleClicked(0)) {
    const double margin = hover_->span.length_ns();
    view_.show({hover_->span.begin_ns - margin, hover_->span.end_ns + margin});
  }
  scroll_ = std::clamp(scroll_, 0.f, std::max(0.f, rows_height() - (at_.max.y - at_.rows)));
}

void TimelinePanel::handle_wheel() {
  const ImGuiIO& io = ImGui::GetIO();
  if (!over_ || (io.MouseWheel == 0 && io.MouseWheelH == 0)) return;
  const bool on_time = io.MousePos.x >= at_.labels;
  if (io.KeyCtrl && on_time) {
    moves();
    view_.zoom(std::pow(kZoomStep, -std::clamp(io.MouseWheel, -20.f, 20.f)), time_at(io.MousePos.x));
  } else if (io.KeyShift || !on_time) {
    scroll_ -= (io.MouseWheel + io.MouseWheelH) * at_.em * kScrollRows;
  } else {
    moves();
    view_.pan(-static_cast<double>(io.MouseWheel + io.MouseWheelH) * view_.span().length_ns() * kPanShare);
  }
}

void TimelinePanel::begin_drag(Session& session) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool on_time = io.MousePos.x >= at_.labels;
  dragged_ = false;
  drag_from_ = io.MousePos;
  drag_from_ns_ = time_at(io.MousePos.x);
  drag_ = Drag::pan;
  if (on_time && io.MousePos.y < at_.ruler) {
    drag_ = Drag::minimap;
    view_.remember();
  } else if (on_time && (io.KeyAlt || measuring_)) {
    drag_ = Drag::measure;
    drag_from_ns_ = snapped(drag_from_ns_);
    measure_.reset();
  } else if (on_time && io.KeyShift && io.MousePos.y >= at_.rows) {
    drag_ = Drag::box;
    box_.reset();
  }
  (void)session;
}

void TimelinePanel::drag(ImVec2 mouse) {
  const ImGuiIO& io = ImGui::GetIO();
  const float way = std::max(std::abs(mouse.x - drag_from_.x), std::abs(mouse.y - drag_from_.y));
  if (drag_ == Drag::minimap) {
    const double share = static_cast<double>(mouse.x - at_.labels) / std::max(1.f, at_.width());
    const double middle = view_.all().begin_ns + share * view_.all().length_ns();
    return view_.pan(middle - (view_.span().begin_ns + view_.span().end_ns) / 2);
  }
  if (!dragged_ && !(way > at_.em * kClick)) return;
  if (drag_ == Drag::pan) {
    if (!dragged_) moves();
    view_.pan(-static_cast<double>(io.MouseDelta.x) * scale().ns_per_pixel);
    scroll_ -= io.MouseDelta.y;
  } else if (drag_ == Drag::measure) {
    const double to = snapped(time_at(mouse.x));
    measure_ = TimeSpan{std::min(drag_from_ns_, to), std::max(drag_from_ns_, to)};
  } else if (drag_ == Drag::box) {
    const double to = time_at(std::clamp(mouse.x, at_.labels, at_.max.x));
    const float from_y = drag_from_.y - at_.rows + scroll_, to_y = std::clamp(mouse.y, at_.rows, at_.max.y) - at_.rows + scroll_;
    box_ = TimelineBox{{std::min(drag_from_ns_, to), std::max(drag_from_ns_, to)}, std::min(from_y, to_y), std::max(from_y, to_y), 0, {}};
  }
  dragged_ = true;
}

void TimelinePanel::end_drag(Session& session) {
  if (drag_ == Drag::none) return;
  drag_to_ = ImGui::GetIO().MousePos;
  if (drag_ == Drag::box && box_) ask_box(session);
  if (drag_ == Drag::measure) measuring_ = false;
  const bool clicked = drag_ == Drag::pan && !dragged_ && over_;
  drag_ = Drag::none;
  if (!clicked) return;
  if (hover_ && drag_from_.x >= at_.labels) return select(session, *hover_);
  if (drag_from_.x >= at_.labels) return;
  for (const TimelineRow& row : rows_) {
    const float top = at_.rows - scroll_ + row_top(row);
    if (drag_from_.y < std::max(top, at_.rows) || drag_from_.y >= top + row.height * at_.em || !row.can_open) continue;
    if (toggled_.erase(row.key) == 0) toggled_.insert(row.key);
  }
}

void TimelinePanel::handle_keys(Session& session) {
  if (session.keys.empty()) return;
  move_keys(session);
  jump_keys(session);
  if (session.pressed('/') > 0) focus_search_ = true;
  if (session.pressed('R') > 0) search_regex_ = !search_regex_;
  if (session.pressed('M') > 0) measuring_ = !measuring_;
  if (session.pressed('C') > 0) color_by_ = static_cast<ColorBy>((static_cast<size_t>(color_by_) + 1) % std::size(kColorByNames));
  if (session.pressed('P') > 0) mode_ = runs_[0]->mode() == PassMode::happened ? PassMode::medians : PassMode::happened;
  if (session.pressed_with_ctrl('C') && box_) {
    std::string text;
    for (const std::string& line : box_lines()) text += line + "\n";
    ImGui::SetClipboardText(text.c_str());
    session.message = "The sums of the box are on the clipboard.";
  }
  if (session.pressed(Session::kEscape) > 0) cancel(session);
}

void TimelinePanel::move_keys(Session& session) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool on_time = over_ && mouse.x >= at_.labels;
  const double middle = (view_.span().begin_ns + view_.span().end_ns) / 2, anchor = on_time ? time_at(mouse.x) : middle;
  const int in = session.pressed('W') - session.pressed('S'), right = session.pressed('D') - session.pressed('A');
  if (in != 0 || right != 0) {
    moves();
    view_.zoom(std::pow(kKeyZoom, std::clamp(-in, -40, 40)), anchor);
    view_.pan(right * view_.span().length_ns() * kPanShare);
  }
  if (session.pressed('F') > 0) view_.fit();
  if (session.pressed('[') > 0) view_.back();
  if (session.pressed(']') > 0) view_.forward();
  const double length = view_.span().length_ns();
  if (session.pressed(Session::kHome) > 0) view_.show({view_.all().begin_ns, view_.all().begin_ns + length});
  if (session.pressed(Session::kEnd) > 0) view_.show({view_.all().end_ns - length, view_.all().end_ns});
  const int down = session.pressed(Session::kDown) - session.pressed(Session::kUp);
  const int page = session.pressed(Session::kPageDown) - session.pressed(Session::kPageUp);
  scroll_ += static_cast<float>(down) * at_.em * kScrollRows + static_cast<float>(page) * (at_.max.y - at_.rows) * 0.8f;
  scroll_ = std::clamp(scroll_, 0.f, std::max(0.f, rows_height() - (at_.max.y - at_.rows)));
}

void TimelinePanel::jump_keys(Session& session) {
  for (const Session::Key& key : session.keys) {
    if (key.ctrl || key.alt) continue;
    if (key.key == 'N') jump(session, found_places(), key.shift ? -1 : 1);
    const RunPlaces similar{similar_.shown(), runs_[0]->offset_ns()};
    if (key.key == '.') jump(session, {&similar, 1}, 1);
    if (key.key == ',') jump(session, {&similar, 1}, -1);
    if (key.key == 'E') open_rows(key.shift ? -1 : 1);
    if (key.key == Session::kRight) step_along(session, 1);
    if (key.key == Session::kLeft) step_along(session, -1);
    if (key.key == Session::kEnter && picked_) {
      const double margin = picked_->span.length_ns();
      view_.show({picked_->span.begin_ns - margin, picked_->span.end_ns + margin});
    }
  }
}

void TimelinePanel::cancel(Session& session) {
  if (measuring_ || measure_) {
    measuring_ = false;
    measure_.reset();
  } else if (box_) {
    box_.reset();
  } else if (search_[0] != '\0') {
    search_[0] = '\0';
  } else {
    picked_.reset();
    if (session.selection().step >= 0) session.select_step(-1);
    seen_selection_ = session.selection_revision();
  }
}

void TimelinePanel::open_rows(int direction) {
  int deepest = 0;
  for (const TimelineRow& row : rows_) {
    if (row.kind == TimelineRow::Kind::group && row.can_open && row.open) deepest = std::max(deepest, row.depth);
  }
  for (const TimelineRow& row : rows_) {
    if (row.kind != TimelineRow::Kind::group || !row.can_open) continue;
    const bool toggles = direction > 0 ? !row.open : row.open && row.depth == deepest;
    if (toggles && toggled_.erase(row.key) == 0) toggled_.insert(row.key);
  }
}

}  // namespace ui
