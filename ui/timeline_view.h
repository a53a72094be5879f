// The part of time that is in view, and how it moves. No ImGui in it.
#pragma once

#include <vector>

namespace ui {

struct TimeSpan {
  double begin_ns = 0, end_ns = 1;
  double length_ns() const { return end_ns - begin_ns; }
  bool operator==(const TimeSpan&) const = default;
};

/// Keeps the view inside what there is, with a history of places.
class TimelineView {
 public:
  const TimeSpan& span() const { return span_; }
  const TimeSpan& all() const { return all_; }
  /// What there is. The first call, and one after another kind of time was chosen, shows all of it.
  void set_all(TimeSpan all);
  void reset() { fresh_ = true; }

  /// Makes the view `factor` times as long; the time at `anchor_ns` stays where it is.
  void zoom(double factor, double anchor_ns);
  void pan(double ns);
  void show(TimeSpan span);  ///< goes there, and remembers the place before
  void fit() { show(all_); }
  /// Something in view? Otherwise it is brought to the middle, and made larger where it would be hard to see.
  void reveal(TimeSpan what);

  /// A place is worth remembering when the view rests: call it when a movement begins.
  void remember();
  bool back();
  bool forward();

 private:
  void keep_inside();
  TimeSpan all_, span_;
  bool fresh_ = true;
  std::vector<TimeSpan> before_, after_;
};

}  // namespace ui
