// What the hardware counts of each step: a range is a step's first run in a pass over the program, all its launches together.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "replay/device/cuda/counters.h"
#include "replay/device/cuda/gpu.h"
#include "replay/device/cuda/range_profiler.h"
#include "replay/step.h"
#include "src/model/records.h"

namespace replay::cuda {

class StepCounters {
 public:
  /// Error: what CUPTI says, before anything is compiled.
  static base::Result<std::unique_ptr<StepCounters>> open(const Opener& opener, const Gpu& gpu, std::vector<Counter> counters);
  /// A pass begins. `ranges`: steps that launch something, by StepId; the same in every pass.
  base::Status begin_pass(const std::vector<bool>& ranges);
  /// The step's launches follow, if this is to be counted: then true, and pop() comes after them.
  base::Result<bool> push(StepId step);
  base::Status pop();
  /// Ends a pass; the GPU has been waited for. False: the counters need another.
  base::Result<bool> end_pass();
  /// Of all steps that ran; StepIds as they are, parts of fusions too.
  base::Result<model::Counters> read();
  bool counting() const { return counting_; }

 private:
  StepCounters(std::unique_ptr<RangeProfiler> profiler, std::vector<Counter> counters)
      : profiler_(std::move(profiler)), counters_(std::move(counters)) {}

  std::unique_ptr<RangeProfiler> profiler_;
  std::vector<Counter> counters_;
  std::vector<bool> open_;  ///< by StepId: it is yet to be counted in this pass
  int passes_ = 0;
  size_t ranges_ = 0;  ///< in a pass
  bool counting_ = false;
};

/// Pure: rows of what a profiler with these metrics has read. Values that are not finite are left out; a counter without any says so.
base::Result<model::Counters> counters_of(std::span<const Counter> counters, const std::vector<std::string>& metrics, std::string_view chip,
                                          std::span<const RangeProfiler::Range> ranges);
/// "6 counters of GH100 in 1 pass over the program …"
std::string how_counted(const RangeConfig& config, size_t ranges, size_t data_bytes, int passes);

}  // namespace replay::cuda
