// Time in view is kept as doubles in ns: exact to a nanosecond up to a hundred days.
#include "ui/timeline_view.h"

#include <algorithm>
#include <cmath>

namespace ui {
namespace {

constexpr double kShortest_ns = 20;
constexpr double kFinestShare = 1e-12;  ///< of all there is: a double tells two pixels apart
constexpr double kMargin = 0.02;        ///< of what there is, left free on each side
constexpr size_t kMostPlaces = 200;

double shortest_ns(const TimeSpan& all) {
  return std::max(kShortest_ns, kFinestShare * std::max(std::abs(all.begin_ns), std::abs(all.end_ns)));
}

}  // namespace

void TimelineView::set_all(TimeSpan all) {
  if (!(all.length_ns() > shortest_ns(all))) all.end_ns = all.begin_ns + shortest_ns(all);
  const double margin = all.length_ns() * kMargin;
  all = {all.begin_ns - margin, all.end_ns + margin};
  if (all == all_ && !fresh_) return;
  const bool showed_all = span_ == all_;
  all_ = all;
  if (fresh_ || showed_all) span_ = all;
  if (fresh_) before_.clear(), after_.clear();
  fresh_ = false;
  keep_inside();
}

void TimelineView::keep_inside() {
  const double length = std::clamp(span_.length_ns(), std::min(shortest_ns(all_), all_.length_ns()), all_.length_ns());
  const double middle = span_.begin_ns + span_.length_ns() / 2;
  if (length != span_.length_ns()) span_ = {middle - length / 2, middle + length / 2};
  if (span_.begin_ns < all_.begin_ns) span_ = {all_.begin_ns, all_.begin_ns + length};
  if (span_.end_ns > all_.end_ns) span_ = {all_.end_ns - length, all_.end_ns};
}

void TimelineView::zoom(double factor, double anchor_ns) {
  const double length = std::clamp(span_.length_ns() * factor, std::min(shortest_ns(all_), all_.length_ns()), all_.length_ns());
  const double real = length / span_.length_ns();
  span_ = {anchor_ns - (anchor_ns - span_.begin_ns) * real, anchor_ns + (span_.end_ns - anchor_ns) * real};
  keep_inside();
}

void TimelineView::pan(double ns) {
  span_ = {span_.begin_ns + ns, span_.end_ns + ns};
  keep_inside();
}

void TimelineView::show(TimeSpan span) {
  if (!(span.end_ns >= span.begin_ns)) return;
  remember();
  span_ = span;
  keep_inside();
}

void TimelineView::reveal(TimeSpan what) {
  const double length = span_.length_ns();
  const bool inside = what.begin_ns >= span_.begin_ns && what.end_ns <= span_.end_ns;
  const bool large = what.length_ns() > length / 40;
  if (inside && large) return;
  const double wanted = large && what.length_ns() < length ? length : std::max(what.length_ns() * 8, shortest_ns(all_));
  const double middle = (what.begin_ns + what.end_ns) / 2;
  show({middle - wanted / 2, middle + wanted / 2});
}

void TimelineView::remember() {
  if (!before_.empty() && before_.back() == span_) return;
  before_.push_back(span_);
  if (before_.size() > kMostPlaces) before_.erase(before_.begin());
  after_.clear();
}

bool TimelineView::back() {
  while (!before_.empty() && before_.back() == span_) before_.pop_back();
  if (before_.empty()) return false;
  after_.push_back(span_);
  span_ = before_.back();
  before_.pop_back();
  keep_inside();
  return true;
}

bool TimelineView::forward() {
  if (after_.empty()) return false;
  before_.push_back(span_);
  span_ = after_.back();
  after_.pop_back();
  keep_inside();
  return true;
}

}  // namespace ui
