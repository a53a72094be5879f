// Ranges are the user's and so is the replay: a pass is a run of all ranges, and who counts runs them again from the same inputs while the
// profiler asks for more.
#include "replay/device/cuda/range_profiler.h"

#include <fmt/format.h>

#include <utility>

namespace replay::cuda {

base::Result<std::unique_ptr<RangeProfiler>> RangeProfiler::open(const Opener& opener, void* context, int device,
                                                                 const std::vector<std::string>& metrics) {
  ASSIGN_OR_RETURN(const RangeFunctions functions, RangeFunctions::open(opener));
  std::unique_ptr<RangeProfiler> made(new RangeProfiler(functions));
  range::Initialize initialize;
  RETURN_IF_ERROR(functions.call(functions.initialize, initialize));
  range::ChipName chip{.device = static_cast<size_t>(device)};
  RETURN_IF_ERROR(functions.call(functions.chip_name, chip));
  ASSIGN_OR_RETURN(made->config_, RangeConfig::make(functions, chip.chip != nullptr ? chip.chip : "", metrics));
  range::Enable enable{.context = context};
  RETURN_IF_ERROR(functions.call(functions.enable, enable));
  made->profiler_ = enable.profiler;
  return made;
}

RangeProfiler::~RangeProfiler() {
  range::OfProfiler params{.profiler = profiler_};
  if (profiler_ != nullptr) functions_.disable.address(&params);
}

base::Status RangeProfiler::begin(size_t ranges) {
  std::vector<const char*> names = config_->names();
  range::DataSize size{
      .profiler = profiler_, .metrics = names.data(), .count = names.size(), .ranges = ranges, .nodes = static_cast<uint32_t>(ranges)};
  RETURN_IF_ERROR(functions_.call(functions_.data_size, size));
  data_.assign(size.data_bytes, 0);
  range::StartData start{.profiler = profiler_, .data_bytes = data_.size(), .data = data_.data()};
  RETURN_IF_ERROR(functions_.call(functions_.start_data, start));
  range::SetConfig set{.profiler = profiler_,
                       .config_bytes = config_->image().size(),
                       .config = config_->image().data(),
                       .data_bytes = data_.size(),
                       .data = data_.data(),
                       .ranges = ranges};
  return functions_.call(functions_.set_config, set);
}

base::Status RangeProfiler::start_pass() {
  range::OfProfiler params{.profiler = profiler_};
  return functions_.call(functions_.start, params);
}

base::Status RangeProfiler::push(const std::string& name) {
  range::Push params{.profiler = profiler_, .name = name.c_str()};
  return functions_.call(functions_.push, params);
}

base::Status RangeProfiler::pop() {
  range::OfProfiler params{.profiler = profiler_};
  return functions_.call(functions_.pop, params);
}

base::Result<bool> RangeProfiler::stop_pass() {
  range::Stop params{.profiler = profiler_};
  RETURN_IF_ERROR(functions_.call(functions_.stop, params));
  return params.all_passes != 0;
}

base::Result<std::vector<RangeProfiler::Range>> RangeProfiler::ranges() {
  range::Decode decode{.profiler = profiler_};
  RETURN_IF_ERROR(functions_.call(functions_.decode, decode));
  range::CountRanges count{.data = data_.data(), .data_bytes = data_.size()};
  RETURN_IF_ERROR(functions_.call(functions_.count_ranges, count));
  if (decode.dropped > 0) return base::Error{fmt::format("CUPTI dropped {} of {} ranges", decode.dropped, decode.dropped + count.ranges)};
  std::vector<Range> found;
  for (size_t k = 0; k < count.ranges; ++k) {
    range::NameRange name{.data = data_.data(), .data_bytes = data_.size(), .range = k};
    RETURN_IF_ERROR(functions_.call(functions_.name_range, name));
    ASSIGN_OR_RETURN(std::vector<double> values, config_->values(data_, k));
    found.push_back({name.name != nullptr ? name.name : "", std::move(values)});
  }
  return found;
}

}  // namespace replay::cuda
