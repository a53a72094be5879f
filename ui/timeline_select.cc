// The selection: by click, from other panels, from one slice to the next; and the sum of a box.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/timeline_panel.h"

namespace ui {
namespace {

constexpr float kSnap = 0.5f;  ///< em within which a ruler snaps to an edge

int64_t whole(double ns) { return static_cast<int64_t>(std::clamp(ns, -4e18, 4e18)); }

}  // namespace

void TimelinePanel::select(Session& session, const TimelineHit& hit) {
  if (hit.step < 0) return;
  const ShownRun& run = *runs_[hit.run];
  picked_ = hit;
  if (run.document() != session.selection().document || run.run() != session.selection().run) {
    beside_.emplace(session.selection().document, session.selection().run);  // it stays on the screen
    beside_.emplace(run.document(), run.run());
    Selection next;
    next.document = run.document();
    next.run = run.run();
    next.step = hit.step;
    return session.select(std::move(next));
  }
  session.select_step(hit.step);
  seen_selection_ = session.selection_revision();
}

void TimelinePanel::follow_selection(Session& session) {
  if (session.show_range && runs_[0]->timeline() != nullptr) {
    const double begin = static_cast<double>(session.show_range->begin_ns), end = static_cast<double>(session.show_range->end_ns);
    if (!mode_ && !runs_[0]->timeline()->lanes.empty() && runs_[0]->mode() != PassMode::happened) {
      mode_ = PassMode::happened;  // the range is of the run's clock: it is shown in the next frame
      return;
    }
    view_.show({begin, end});
    session.show_range.reset();
  }
  if (session.selection_revision() == seen_selection_) return;
  const int32_t step = session.selection().step;
  const Occurrences* places = similar_.shown();
  if (step >= 0 && (places == nullptr || similar_.latest.waiting())) return;
  seen_selection_ = session.selection_revision();
  picked_.reset();
  if (step < 0) return;
  const auto& slices = places->slices.slices();
  const double middle = (view_.span().begin_ns + view_.span().end_ns) / 2, offset = runs_[0]->offset_ns();
  double nearest = INFINITY;
  for (size_t i = 0; i < slices.size(); ++i) {
    const double begin = static_cast<double>(slices[i].begin_ns) - offset, end = begin + static_cast<double>(places->duration_ns[i]);
    const double away = std::max({0.0, begin - middle, middle - end});
    if (slices[i].name != step || slices[i].variant != 0 || away >= nearest) continue;
    nearest = away;
    picked_ = TimelineHit{0, step, -1, 0, {begin, end}, 1, 1, true, {}, {}};
  }
  if (picked_) view_.reveal(picked_->span);
}

/// In the selected run the selection goes along; in another one only the mark does, so that all stay where they are.
void TimelinePanel::jump(Session& session, std::span<const RunPlaces> places, int direction) {
  const bool in_view = picked_ && picked_->span.end_ns >= view_.span().begin_ns && picked_->span.begin_ns <= view_.span().end_ns;
  const FoundPlace from{in_view ? picked_->run : 0, 0,
                        in_view ? picked_->span.begin_ns : (view_.span().begin_ns + view_.span().end_ns) / 2};
  const auto place = direction > 0 ? next_place(places, from) : place_before(places, from);
  if (!place) return;
  const Occurrences& found = *places[place->run].found;
  const timeline::Slice& slice = found.slices.slices()[place->index];
  const TimelineHit hit{place->run,
                        slice.name,
                        -1,
                        slice.variant,
                        {place->begin_ns, place->begin_ns + static_cast<double>(found.duration_ns[place->index])},
                        1,
                        1,
                        true,
                        {},
                        {}};
  place->run == 0 ? select(session, hit) : void(picked_ = hit);
  show_lanes(place->run);
  view_.reveal(picked_->span);
}

/// Scrolls to the lanes of a run where none of them is in view.
void TimelinePanel::show_lanes(size_t run) {
  const auto row = std::ranges::find_if(rows_, [&](const TimelineRow& r) { return r.run == run && r.kind == TimelineRow::Kind::lane; });
  if (row == rows_.end()) return;
  const float top = row_top(*row), bottom = top + row->height * at_.em, room = at_.max.y - at_.rows;
  if (top < scroll_ || bottom > scroll_ + room) scroll_ = std::clamp(top - room / 3, 0.f, std::max(0.f, rows_height() - room));
}

void TimelinePanel::pick_in_view(Session& session) {
  ShownRun& run = *runs_[0];
  for (size_t lane = 0; lane < run.lanes().size(); ++lane) {
    const timeline::Window& window = run.window(session, lane, scale());
    if (window.level != timeline::kSliceLevel) continue;
    const auto at = std::ranges::lower_bound(window.slices, whole(view_.span().begin_ns + run.offset_ns()), {}, &timeline::Slice::begin_ns);
    if (at == window.slices.end() || static_cast<double>(at->begin_ns) - run.offset_ns() > view_.span().end_ns) continue;
    const double begin = static_cast<double>(at->begin_ns) - run.offset_ns(), end = begin + static_cast<double>(at->duration_ns);
    return select(session, {0, at->name, run.lanes()[lane].track, at->variant, {begin, end}, 1, 1, true, {}, {}});
  }
}

void TimelinePanel::step_along(Session& session, int direction) {
  if (!picked_) return pick_in_view(session);
  ShownRun& run = *runs_[picked_->run];
  for (size_t lane = 0; lane < run.lanes().size(); ++lane) {
    if (picked_->track >= 0 && run.lanes()[lane].track != picked_->track) continue;
    const timeline::Window& window = run.window(session, lane, scale());
    if (window.level != timeline::kSliceLevel) continue;
    const int64_t from = whole(std::round(picked_->span.begin_ns + run.offset_ns()));
    const auto at = std::ranges::lower_bound(window.slices, from, {}, &timeline::Slice::begin_ns);
    if (at == window.slices.end() || at->begin_ns != from) continue;
    if (direction < 0 ? at == window.slices.begin() : std::next(at) == window.slices.end()) return;
    const timeline::Slice& next = direction < 0 ? *std::prev(at) : *std::next(at);
    const double begin = static_cast<double>(next.begin_ns) - run.offset_ns(), end = begin + static_cast<double>(next.duration_ns);
    select(session, {picked_->run, next.name, run.lanes()[lane].track, next.variant, {begin, end}, 1, 1, true, {}, {}});
    if (begin < view_.span().begin_ns || end > view_.span().end_ns) view_.reveal(picked_->span);
    return;
  }
  view_.reveal(picked_->span);  // too far away to tell slices apart
}

double TimelinePanel::snapped(double ns) const {
  if (!hover_ || !hover_->exact) return ns;
  const double reach = static_cast<double>(at_.em * kSnap) * scale().ns_per_pixel;
  for (const double edge : {hover_->span.begin_ns, hover_->span.end_ns}) {
    if (std::abs(edge - ns) < reach) return edge;
  }
  return ns;
}

void TimelinePanel::ask_box(Session& session) {
  BoxQuery query;
  const TimelineRow* group = nullptr;
  bool found = false;
  float top = 0;
  for (const TimelineRow& row : rows_) {
    const float bottom = top + row.height * at_.em;
    const bool covered = bottom > box_->top && top < box_->bottom;
    top = bottom;
    if (!covered || (found && row.run != box_->run)) continue;
    if (row.kind != TimelineRow::Kind::lane && row.kind != TimelineRow::Kind::group) continue;
    box_->run = row.run;
    found = true;
    if (row.kind == TimelineRow::Kind::lane) query.lanes.push_back(static_cast<size_t>(row.index));
    if (row.kind == TimelineRow::Kind::group && group == nullptr) group = &row;
  }
  if (!found || runs_[box_->run]->steps() == nullptr) return box_.reset();
  const ShownRun& run = *runs_[box_->run];
  box_->what = query.lanes.size() == 1 ? run.lanes()[query.lanes[0]].label : fmt::format("{} lanes", query.lanes.size());
  if (query.lanes.empty()) {  // only scopes or phases: their steps on all lanes of the program
    for (size_t lane = 0; lane < run.lanes().size(); ++lane) {
      if (run.lanes()[lane].variant == 0) query.lanes.push_back(lane);
    }
    query.groups = group->groups;
    query.node = group->index;
    box_->what = group->label;
  }
  query.begin_ns = whole(std::round(box_->span.begin_ns + run.offset_ns()));
  query.end_ns = whole(std::round(box_->span.end_ns + run.offset_ns()));
  box_sums_.want(heavy(session, run.document()), std::to_string(++box_number_),
                 [from = run.source(), query](const model::Reader& reader) { return sum_box(reader, from, query); });
}

}  // namespace ui
