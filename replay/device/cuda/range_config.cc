// A metric that a chip lacks would spoil the object for all that come after it, so each is asked for by itself before any is added.
#include "replay/device/cuda/range_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "replay/device/cuda/cupti_errors.h"

namespace replay::cuda {

base::Result<RangeFunctions> RangeFunctions::open(const Opener& opener) {
  const Opened library = open_library(Library::cupti, opener);
  if (library.handle == nullptr) return base::Error{"CUPTI: " + library.why};
  RangeFunctions functions;
  if (const char* missing = fill(functions, library.handle, opener); missing != nullptr)
    return base::Error{fmt::format("CUPTI: {} has no function {}; that of CUDA 12.6 or newer counts", library.file, missing)};
  return functions;
}

base::Error RangeFunctions::failure(const char* symbol, int code) const { return {cupti_error(symbol, code, text.address)}; }

base::Result<std::unique_ptr<RangeConfig>> RangeConfig::make(const RangeFunctions& functions, const std::string& chip,
                                                             const std::vector<std::string>& metrics) {
  std::unique_ptr<RangeConfig> config(new RangeConfig(functions, chip));
  RETURN_IF_ERROR(config->begin(metrics));
  RETURN_IF_ERROR(config->make_image());
  return config;
}

RangeConfig::~RangeConfig() {
  range::DropHost params{.host = host_};
  if (host_ != nullptr) functions_.drop_host.address(&params);
}

base::Status RangeConfig::begin(const std::vector<std::string>& metrics) {
  range::MakeHost params{.chip = chip_.c_str()};
  RETURN_IF_ERROR(functions_.call(functions_.make_host, params));
  host_ = params.host;
  for (const std::string& metric : metrics) {
    range::AskMetric ask{.host = host_, .metric = metric.c_str()};
    (functions_.ask_metric.address(&ask) == 0 ? metrics_ : unknown_).push_back(metric);
  }
  if (metrics_.empty()) return base::Error{fmt::format("{} has none of {}", chip_, fmt::join(metrics, ", "))};
  return {};
}

base::Status RangeConfig::make_image() {
  std::vector<const char*> all = names();
  range::AddMetrics add{.host = host_, .metrics = all.data(), .count = all.size()};
  RETURN_IF_ERROR(functions_.call(functions_.add_metrics, add));
  range::ConfigSize size{.host = host_};
  RETURN_IF_ERROR(functions_.call(functions_.config_size, size));
  image_.resize(size.config_bytes);
  range::GetConfig get{.host = host_, .config_bytes = image_.size(), .config = image_.data()};
  RETURN_IF_ERROR(functions_.call(functions_.get_config, get));
  range::CountPasses count{.config_bytes = image_.size(), .config = image_.data()};
  RETURN_IF_ERROR(functions_.call(functions_.count_passes, count));
  passes_ = count.passes;
  return {};
}

std::vector<const char*> RangeConfig::names() const {
  std::vector<const char*> names;
  for (const std::string& metric : metrics_) names.push_back(metric.c_str());
  return names;
}

base::Result<std::vector<double>> RangeConfig::values(const std::vector<uint8_t>& data, size_t range) const {
  std::vector<const char*> all = names();
  std::vector<double> values(all.size());
  range::Evaluate params{.host = host_,
                         .data = data.data(),
                         .data_bytes = data.size(),
                         .range = range,
                         .metrics = all.data(),
                         .count = all.size(),
                         .values = values.data()};
  RETURN_IF_ERROR(functions_.call(functions_.evaluate, params));
  return values;
}

}  // namespace replay::cuda
