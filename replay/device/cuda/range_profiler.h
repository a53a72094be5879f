// CUPTI's range profiler: what the GPU counts between a push and its pop.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "replay/device/cuda/range_config.h"

namespace replay::cuda {

class RangeProfiler {
 public:
  struct Range {
    std::string name;
    std::vector<double> values;  ///< one a metric of the config; not finite where CUPTI has none
  };
  /// Of the GPU with this number, whose context this is. Error: what CUPTI says, as when the user may not read counters, and what to do.
  static base::Result<std::unique_ptr<RangeProfiler>> open(const Opener& opener, void* context, int device,
                                                           const std::vector<std::string>& metrics);
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;
  ~RangeProfiler();

  /// Before the first pass: room for that many ranges in each.
  base::Status begin(size_t ranges);
  base::Status start_pass();
  base::Status push(const std::string& name);
  base::Status pop();
  /// False: the metrics need another pass, with the same ranges.
  base::Result<bool> stop_pass();
  /// After the last pass, in the order of their pushes. Error: the GPU had no room for some.
  base::Result<std::vector<Range>> ranges();

  const RangeConfig& config() const { return *config_; }
  size_t data_bytes() const { return data_.size(); }

 private:
  explicit RangeProfiler(const RangeFunctions& functions) : functions_(functions) {}

  RangeFunctions functions_;
  std::unique_ptr<RangeConfig> config_;
  std::vector<uint8_t> data_;  ///< the counter data image: what CUPTI fills
  void* profiler_ = nullptr;
};

}  // namespace replay::cuda
