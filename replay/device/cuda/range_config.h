// Which metrics a chip has, and in how many passes they can be counted: CUPTI's host side, which needs no GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "replay/device/cuda/driver.h"
#include "replay/device/cuda/range_params.h"

namespace replay::cuda {

/// CUPTI's functions for counters; CUDA 12.6 was the first to have them.
struct RangeFunctions {
  Function<int, const char**> text{"cuptiGetResultString"};
  Function<range::MakeHost*> make_host{"cuptiProfilerHostInitialize"};
  Function<range::DropHost*> drop_host{"cuptiProfilerHostDeinitialize"};
  Function<range::AskMetric*> ask_metric{"cuptiProfilerHostGetMetricProperties"};
  Function<range::AddMetrics*> add_metrics{"cuptiProfilerHostConfigAddMetrics"};
  Function<range::ConfigSize*> config_size{"cuptiProfilerHostGetConfigImageSize"};
  Function<range::GetConfig*> get_config{"cuptiProfilerHostGetConfigImage"};
  Function<range::CountPasses*> count_passes{"cuptiProfilerHostGetNumOfPasses"};
  Function<range::Evaluate*> evaluate{"cuptiProfilerHostEvaluateToGpuValues"};
  Function<range::Initialize*> initialize{"cuptiProfilerInitialize"};
  Function<range::ChipName*> chip_name{"cuptiDeviceGetChipName"};
  Function<range::Enable*> enable{"cuptiRangeProfilerEnable"};
  Function<range::OfProfiler*> disable{"cuptiRangeProfilerDisable"};
  Function<range::DataSize*> data_size{"cuptiRangeProfilerGetCounterDataSize"};
  Function<range::StartData*> start_data{"cuptiRangeProfilerCounterDataImageInitialize"};
  Function<range::SetConfig*> set_config{"cuptiRangeProfilerSetConfig"};
  Function<range::OfProfiler*> start{"cuptiRangeProfilerStart"};
  Function<range::Stop*> stop{"cuptiRangeProfilerStop"};
  Function<range::Push*> push{"cuptiRangeProfilerPushRange"};
  Function<range::OfProfiler*> pop{"cuptiRangeProfilerPopRange"};
  Function<range::Decode*> decode{"cuptiRangeProfilerDecodeData"};
  Function<range::CountRanges*> count_ranges{"cuptiRangeProfilerGetCounterDataInfo"};
  Function<range::NameRange*> name_range{"cuptiRangeProfilerCounterDataGetRangeInfo"};

  template <typename Visitor>
  void each(Visitor&& visit) {
    const auto all = [&](auto&... functions) { (visit(functions), ...); };
    all(text, make_host, drop_host, ask_metric, add_metrics, config_size, get_config, count_passes, evaluate, initialize, chip_name, enable,
        disable, data_size, start_data, set_config, start, stop, push, pop, decode, count_ranges, name_range);
  }
  static base::Result<RangeFunctions> open(const Opener& opener);

  template <typename P>
  base::Status call(const Function<P*>& function, P& params) const {
    const int code = function.address(&params);
    return code == 0 ? base::Status() : failure(function.symbol, code);
  }
  base::Error failure(const char* symbol, int code) const;
};

class RangeConfig {
 public:
  /// Error: no metric of these is the chip's, or CUPTI does not know the chip.
  static base::Result<std::unique_ptr<RangeConfig>> make(const RangeFunctions& functions, const std::string& chip,
                                                         const std::vector<std::string>& metrics);
  RangeConfig(const RangeConfig&) = delete;
  RangeConfig& operator=(const RangeConfig&) = delete;
  ~RangeConfig();

  const std::string& chip() const { return chip_; }
  /// Those of the chip, in their order.
  const std::vector<std::string>& metrics() const { return metrics_; }
  const std::vector<std::string>& unknown() const { return unknown_; }
  size_t passes() const { return passes_; }
  const std::vector<uint8_t>& image() const { return image_; }
  /// Of one range of a counter data image; one a metric.
  base::Result<std::vector<double>> values(const std::vector<uint8_t>& data, size_t range) const;
  /// The metrics as CUPTI takes them.
  std::vector<const char*> names() const;

 private:
  RangeConfig(const RangeFunctions& functions, std::string chip) : functions_(functions), chip_(std::move(chip)) {}
  base::Status begin(const std::vector<std::string>& metrics);
  base::Status make_image();

  const RangeFunctions functions_;
  std::string chip_;
  std::vector<std::string> metrics_, unknown_;
  std::vector<uint8_t> image_;
  size_t passes_ = 0;
  void* host_ = nullptr;
};

}  // namespace replay::cuda
