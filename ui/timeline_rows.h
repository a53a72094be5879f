// The rows of the timeline from top to bottom: what each shows, how deep it stands, how high it is. No ImGui in it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ui/timeline_run.h"

namespace ui {

struct TimelineRow {
  enum class Kind : uint8_t {
    run,     ///< heading of a run
    passes,  ///< where passes begin and end
    lane,    ///< slices of a device or stream
    group,   ///< steps of a scope or phase, its parts as spans
    live,    ///< live bytes as an area
    buffer,  ///< live ranges of buffers
  };
  Kind kind = Kind::lane;
  size_t run = 0;     ///< which of the shown
  int32_t index = 0;  ///< lane, node of `groups`, or row of buffers
  const StepGroups* groups = nullptr;
  int depth = 0;
  bool can_open = false, open = false;
  std::string key;    ///< of the set of open rows
  std::string label;  ///< as the file has it
  std::string note;   ///< beside it: "12.3 %"
  std::string help;   ///< what it shows, under the mouse; empty: its label
  float height = 1;   ///< in em
};

/// `toggled`: keys of rows that are not as they are at first. Lanes and the first levels of scopes are open then.
std::vector<TimelineRow> timeline_rows(std::span<const std::unique_ptr<ShownRun>> runs, const std::set<std::string>& toggled,
                                       std::span<const std::string> run_labels);

/// Where the rows in view lie among all, in pixels of the view's height; nothing where all are in view.
struct RowScroll {
  float above = 0, shown = 0, whole = 0;  ///< pixels that are scrolled away above; that are in view; that all rows take
};
struct RowMark {
  float top = 0, bottom = 0;
};
std::optional<RowMark> seen_rows(const RowScroll& scroll);

}  // namespace ui
