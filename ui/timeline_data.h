// What the timeline reads: the lanes of a run, and windows of them. All of it runs on a loader's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/base/result.h"
#include "src/model/store.h"
#include "src/timeline/window.h"

namespace ui {

/// A lane in the store; of a run that has not ended, in memory.
struct TimelineLane {
  int64_t track = 0;
  std::string device;   ///< as a log names it; empty: the run's
  int32_t variant = 0;  ///< as in table sample: others than 0 are comparisons, not the program
  timeline::Levels levels;
  int64_t begin_ns = 0, end_ns = 0;
  std::shared_ptr<const timeline::Folded> memory;  ///< nullptr: in the store
  timeline::Window overview;                       ///< its coarsest level, or all slices where they are few: always at hand
};

/// The timeline of a run, but for what windows read. Where the run has not ended, its levels are made here of its first kMostSamples.
struct TimelineRun {
  static constexpr int64_t kMostSamples = 1'000'000;
  std::vector<TimelineLane> lanes;  ///< none: the run has no times yet
  std::vector<timeline::Slice> passes;
  int64_t begin_ns = 0, end_ns = 0;
};
base::Result<std::shared_ptr<const TimelineRun>> read_timeline(const model::Reader& reader, int64_t run);

struct WindowAsk {
  int64_t run = 0, track = 0;
  int level = timeline::kSliceLevel;
  int64_t begin_ns = 0, end_ns = 0;
  timeline::Levels levels;
  bool operator==(const WindowAsk& other) const {
    return run == other.run && track == other.track && level == other.level && begin_ns == other.begin_ns && end_ns == other.end_ns;
  }
};
/// At most kMostChunks chunks: a window of slices that has more becomes one of the finest buckets.
inline constexpr int64_t kMostChunks = 512;
base::Result<std::shared_ptr<const timeline::Window>> read_window(const model::Reader& reader, const WindowAsk& ask);

/// The same question for all views that are near each other: begin and end on a grid, half a view or more on each side.
WindowAsk ask_for(timeline::Levels levels, const timeline::Scale& scale);

/// Calls `take` with all slices of a lane that lie in chunks between two times; stops where it returns false. Constant memory.
using TakeSlices = std::function<bool(std::span<const timeline::Slice>)>;
base::Status each_chunk(const model::Reader& reader, const WindowAsk& ask, const TakeSlices& take);

}  // namespace ui
