// Questions over all slices of a run, answered off the UI thread: where some steps ran, and what lies in a box. No ImGui in it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/timeline/window.h"
#include "ui/timeline_data.h"
#include "ui/timeline_steps.h"

namespace ui {

/// The lanes that are asked about.
struct SliceSource {
  std::shared_ptr<const StepModel> steps;
  std::shared_ptr<const TimelineRun> timeline;  ///< nullptr: the pass of medians
};

/// What a search looks for: in name, operator, its type and the kind, without regard to case.
struct StepQuery {
  std::string text;
  bool regex = false;  ///< extended, as grep -E has it
  bool operator==(const StepQuery&) const = default;
};
/// By place of the step: 1 where it fits. Errors: not a regular expression.
base::Result<std::vector<uint8_t>> match_steps(const RunData& run, const StepQuery& query);
/// Steps of the same key as `step`, or, where it is the only one, of the same op type.
std::vector<uint8_t> similar_steps(const RunData& run, const StepInfo& step);

/// Where steps ran, in the run's time.
struct Occurrences {
  static constexpr size_t kMost = 1'000'000;  ///< 24 MB of slices; later ones are left out
  std::vector<uint8_t> steps;                 ///< by place
  int64_t matched = 0;                        ///< of them
  double pass_ns = 0;                         ///< their time in a pass
  timeline::Folded slices{{}};                ///< by begin; cut where the next one begins
  std::vector<int64_t> duration_ns;           ///< of each, uncut
  bool is_cut = false;
};
base::Result<std::shared_ptr<const Occurrences>> find_occurrences(const model::Reader& reader, const SliceSource& from,
                                                                  std::vector<uint8_t> steps);

/// What was found in one of the runs that are shown; nullptr: nothing yet. The run's time less its offset is that of the view.
struct RunPlaces {
  const Occurrences* found = nullptr;
  double offset_ns = 0;
};
struct FoundPlace {
  size_t run = 0, index = 0;  ///< of RunPlaces, and of its slices
  double begin_ns = 0;        ///< in the view
  auto order() const { return std::pair(begin_ns, run); }
};
/// The place after `from` (`index` does not matter) in all runs by their begin in the view, then by run; after the last comes the first.
std::optional<FoundPlace> next_place(std::span<const RunPlaces> runs, const FoundPlace& from);
std::optional<FoundPlace> place_before(std::span<const RunPlaces> runs, const FoundPlace& from);

/// A box in the run's time over some lanes, and of these maybe only the steps of a scope or phase.
struct BoxQuery {
  int64_t begin_ns = 0, end_ns = 0;
  std::vector<size_t> lanes;           ///< of timeline->lanes
  const StepGroups* groups = nullptr;  ///< nullptr: all steps
  int32_t node = 0;
};
struct BoxSums {
  struct Part {
    int32_t step = 0;
    timeline::Sums sums;
  };
  timeline::Sums sums;
  int64_t steps = 0;          ///< different ones
  std::vector<Part> longest;  ///< the steps that take most of it
};
base::Result<BoxSums> sum_box(const model::Reader& reader, const SliceSource& from, const BoxQuery& query);

}  // namespace ui
