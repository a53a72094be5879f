// Memory over time: what is live at each step, and the largest buffers as bars. No ImGui in it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ui/timeline_steps.h"

namespace ui {

/// The largest of any stretch of a series, without looking at all of it: maxima of 4, 16, 64, … neighbours.
class Maxima {
 public:
  Maxima() = default;
  explicit Maxima(std::vector<double> values);
  double largest(size_t begin, size_t end) const;  ///< of values begin … end − 1; 0 of none
  const std::vector<double>& values() const { return levels_[0]; }

 private:
  std::vector<std::vector<double>> levels_ = {{}};
};

struct BufferBar {
  std::string name, kind;
  double bytes = 0;
  int32_t first = 0, last = 0;  ///< places in RunData::steps
};

/// The memory of a plan, by place of the step.
struct TimelineMemory {
  static constexpr size_t kRows = 10, kMostBars = 2000;
  Maxima live_bytes;
  double peak_bytes = 0;
  size_t buffers = 0;                        ///< all of them
  std::vector<std::vector<BufferBar>> rows;  ///< the largest that come and go; in a row none overlap, by begin
};
base::Result<std::shared_ptr<const TimelineMemory>> read_memory(const model::Reader& reader, const StepModel& steps);

/// When the steps of a pass begin, by place, ascending, and when the last ends: one more than there are steps. In the run's time.
struct PassClock {
  int64_t pass = -1;  ///< −1: the pass of medians
  std::vector<double> begin_ns;
};
PassClock median_clock(const RunData& run);
base::Result<std::shared_ptr<const PassClock>> read_clock(const model::Reader& reader, const StepModel& steps, int64_t pass);

}  // namespace ui
