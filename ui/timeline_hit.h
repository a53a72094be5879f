// What a person points at on the timeline.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ui/loader.h"
#include "ui/timeline_find.h"
#include "ui/timeline_view.h"

namespace ui {

/// A mark under the mouse, or the one that was clicked.
struct TimelineHit {
  size_t run = 0;     ///< which of the shown
  int32_t step = -1;  ///< the longest in it; −1: a part of the program, a pass or a buffer
  int64_t track = -1;
  int32_t variant = 0;
  TimeSpan span;       ///< on the axis
  uint32_t count = 1;  ///< slices in it
  double busy = 1;
  bool exact = false;  ///< one slice, with its own times
  std::string name;    ///< of what is no step
  std::string more;    ///< a line about it
};

/// Some steps and everywhere they ran: what was searched for, or what is like the selection.
struct TimelineFound {
  Latest<std::shared_ptr<const Occurrences>> latest;
  const Occurrences* shown() {
    const auto* value = latest.value();
    return value == nullptr ? nullptr : value->get();
  }
};

/// What was drawn with Shift.
struct TimelineBox {
  TimeSpan span;
  float top = 0, bottom = 0;  ///< from the first row, pixels
  size_t run = 0;
  std::string what;  ///< of which rows
};

}  // namespace ui
