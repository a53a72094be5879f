// CUPTI's range profiler: counters of the host's GPU, which are its own. It counts what runs between a push and its pop: of a metric that
// ends in .sum the nanoseconds of all of it, of others 10 for each operation. Hit rates take a second pass, as on all chips. Configurations
// and counter data are numbers in the caller's memory, so that what is handed over wrongly is found here.
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "replay/device/cuda/range_params.h"
#include "tests/support/fake_gpu/gpu.h"

namespace fake_gpu {
namespace {

namespace range = replay::cuda::range;

constexpr int kInvalidParameter = 1, kInvalidOperation = 7, kInvalidMetric = 17;
constexpr size_t kConfigBytes = 24, kRangeBytes = 40;

struct Host {
  std::vector<std::string> metrics;
  bool spoiled = false;
};
struct Range {
  std::string name;
  int64_t ns = 0, operations = 0;
};
struct Profiler {
  std::vector<Range> ranges;       ///< of the first pass
  std::vector<std::string> again;  ///< names in the current pass
  size_t most_ranges = 0, passes = 0, pass = 0;
  uint8_t* data = nullptr;
  bool started = false, pushed = false, decoded = false;
};

std::map<void*, Host>& hosts() {
  static auto* const made = new std::map<void*, Host>;
  return *made;
}
Profiler*& profiler() {
  static Profiler* made = nullptr;
  return made;
}

bool known(const std::string& metric) {
  for (const char* unit : {"dram__", "sm__", "lts__", "l1tex__"})
    if (metric.starts_with(unit) && metric.find('.') != std::string::npos)
      return Gpu::get().refused.empty() || metric.find(Gpu::get().refused) == std::string::npos;
  return false;
}

Host* host_of(void* host) {
  const auto found = hosts().find(host);
  return found == hosts().end() ? nullptr : &found->second;
}

int called(const char* function) { return Gpu::get().called(function, Gpu::Library::other); }
bool is_ours(const void* which) { return which != nullptr && which == profiler(); }

}  // namespace

/// Whatever runs while a range is open is counted in it.
void counted(const Ran& ran) {
  Profiler* p = profiler();
  if (p == nullptr || !p->pushed || p->pass != 0) return;
  p->ranges.back().ns += ran.end_ns - ran.begin_ns;
  ++p->ranges.back().operations;
}

}  // namespace fake_gpu

using namespace fake_gpu;  // NOLINT: the functions below are C's

#define CALLED(params, size)                                                    \
  if (const int asked_for = called(__func__); asked_for != 0) return asked_for; \
  if ((params)->bytes != (size) || (params)->none != nullptr) return kInvalidParameter

extern "C" {
int cuptiProfilerHostInitialize(range::MakeHost* p) {
  CALLED(p, 48);
  if (p->type != range::kRangeProfiler || std::strcmp(p->chip, "GH100") != 0) return kInvalidParameter;
  p->host = Gpu::get().add(Thing::counter_host);
  hosts()[p->host] = {};
  return 0;
}
int cuptiProfilerHostDeinitialize(range::DropHost* p) {
  const int asked_for = called(__func__);
  hosts().erase(p->host);
  return Gpu::get().remove(Thing::counter_host, p->host) ? asked_for : kInvalidParameter;
}
int cuptiProfilerHostGetMetricProperties(range::AskMetric* p) {
  CALLED(p, 60);
  if (host_of(p->host) == nullptr) return kInvalidParameter;
  return known(p->metric) ? 0 : kInvalidMetric;
}
int cuptiProfilerHostConfigAddMetrics(range::AddMetrics* p) {
  CALLED(p, 40);
  Host* host = host_of(p->host);
  if (host == nullptr) return kInvalidParameter;
  if (host->spoiled) return 999;
  for (size_t k = 0; k < p->count; ++k) {
    host->spoiled = host->spoiled || !known(p->metrics[k]);
    host->metrics.emplace_back(p->metrics[k]);
  }
  return host->spoiled ? kInvalidParameter : 0;
}
int cuptiProfilerHostGetConfigImageSize(range::ConfigSize* p) {
  CALLED(p, 32);
  return p->config_bytes = kConfigBytes, 0;
}
int cuptiProfilerHostGetConfigImage(range::GetConfig* p) {
  CALLED(p, 40);
  const Host* host = host_of(p->host);
  if (host == nullptr || p->config_bytes != kConfigBytes) return kInvalidParameter;
  size_t passes = 1;
  for (const std::string& metric : host->metrics)
    if (metric.find("hit_rate") != std::string::npos) passes = 2;
  std::memcpy(p->config, &passes, sizeof passes);
  return 0;
}
int cuptiProfilerHostGetNumOfPasses(range::CountPasses* p) {
  CALLED(p, 40);
  if (p->config_bytes != kConfigBytes) return kInvalidParameter;
  std::memcpy(&p->passes, p->config, sizeof p->passes);
  return 0;
}
int cuptiProfilerInitialize(range::Initialize* p) {
  CALLED(p, 16);
  return 0;
}
int cuptiDeviceGetChipName(range::ChipName* p) {
  CALLED(p, 32);
  return p->device == 0 ? (p->chip = "GH100", 0) : kInvalidParameter;
}
int cuptiRangeProfilerEnable(range::Enable* p) {
  CALLED(p, 32);
  if (profiler() != nullptr || !Gpu::get().has(Thing::context, p->context)) return kInvalidOperation;
  profiler() = new Profiler;
  Gpu::get().things[Thing::profiler][profiler()] = 0;
  return p->profiler = profiler(), 0;
}
int cuptiRangeProfilerDisable(range::OfProfiler* p) {
  const int asked_for = called(__func__);
  if (!is_ours(p->profiler)) return kInvalidParameter;
  Gpu::get().remove(Thing::profiler, p->profiler);
  delete std::exchange(profiler(), nullptr);
  return asked_for;
}
int cuptiRangeProfilerGetCounterDataSize(range::DataSize* p) {
  CALLED(p, 64);
  if (!is_ours(p->profiler) || p->nodes < p->ranges || p->ranges == 0) return kInvalidParameter;
  return p->data_bytes = p->ranges * kRangeBytes, 0;
}
int cuptiRangeProfilerCounterDataImageInitialize(range::StartData* p) {
  CALLED(p, 40);
  if (!is_ours(p->profiler) || p->data_bytes == 0) return kInvalidParameter;
  profiler()->data = p->data;
  return 0;
}
int cuptiRangeProfilerSetConfig(range::SetConfig* p) {
  CALLED(p, 90);
  if (!is_ours(p->profiler) || p->data == nullptr || p->data != profiler()->data || p->data_bytes != p->ranges * kRangeBytes ||
      p->config_bytes != kConfigBytes || p->range != range::kUserRange || p->replay != range::kUserReplay || p->levels != 1 ||
      p->first_level != 1 || p->target_level != 1 || p->pass != 0)
    return kInvalidParameter;
  profiler()->most_ranges = p->ranges;
  std::memcpy(&profiler()->passes, p->config, sizeof(size_t));
  return 0;
}
int cuptiRangeProfilerStart(range::OfProfiler* p) {
  CALLED(p, 24);
  if (!is_ours(p->profiler) || profiler()->passes == 0 || std::exchange(profiler()->started, true)) return kInvalidOperation;
  profiler()->again.clear();
  return 0;
}
int cuptiRangeProfilerPushRange(range::Push* p) {
  CALLED(p, 32);
  if (!is_ours(p->profiler) || !profiler()->started || std::exchange(profiler()->pushed, true)) return kInvalidOperation;
  if (profiler()->pass == 0) profiler()->ranges.push_back({p->name});
  profiler()->again.emplace_back(p->name);
  return 0;
}
int cuptiRangeProfilerPopRange(range::OfProfiler* p) {
  CALLED(p, 24);
  if (!is_ours(p->profiler) || !std::exchange(profiler()->pushed, false)) return kInvalidOperation;
  return 0;
}
/// Every pass must have the same ranges.
int cuptiRangeProfilerStop(range::Stop* p) {
  CALLED(p, 41);
  if (!is_ours(p->profiler) || profiler()->pushed || !std::exchange(profiler()->started, false)) return kInvalidOperation;
  std::vector<std::string> names;
  for (const Range& range : profiler()->ranges) names.push_back(range.name);
  if (names != profiler()->again) return kInvalidOperation;
  p->pass = ++profiler()->pass;
  p->all_passes = profiler()->pass == profiler()->passes;
  return 0;
}
int cuptiRangeProfilerDecodeData(range::Decode* p) {
  CALLED(p, 32);
  Profiler& own = *profiler();
  if (!is_ours(p->profiler) || own.started || own.pass != own.passes) return kInvalidOperation;
  p->dropped = own.ranges.size() > own.most_ranges ? own.ranges.size() - own.most_ranges : 0;
  own.decoded = true;
  return 0;
}
int cuptiRangeProfilerGetCounterDataInfo(range::CountRanges* p) {
  CALLED(p, 40);
  if (profiler() == nullptr || p->data != profiler()->data) return kInvalidParameter;
  p->ranges = std::min(profiler()->ranges.size(), profiler()->most_ranges);
  return 0;
}
int cuptiRangeProfilerCounterDataGetRangeInfo(range::NameRange* p) {
  CALLED(p, 56);
  if (profiler() == nullptr || p->data != profiler()->data || p->range >= profiler()->ranges.size()) return kInvalidParameter;
  p->name = profiler()->ranges[p->range].name.c_str();
  return 0;
}
int cuptiProfilerHostEvaluateToGpuValues(range::Evaluate* p) {
  CALLED(p, 72);
  const Profiler* own = profiler();
  if (host_of(p->host) == nullptr || own == nullptr || p->data != own->data || p->range >= own->ranges.size() || !own->decoded)
    return kInvalidParameter;
  const Range& range = own->ranges[p->range];
  for (size_t k = 0; k < p->count; ++k) {
    const std::string metric = p->metrics[k];
    p->values[k] = static_cast<double>(metric.ends_with(".sum") ? range.ns : 10 * range.operations);
    if (metric.starts_with("sm__inst_executed.")) p->values[k] = std::nan("");  // this chip counts no instructions
  }
  return 0;
}
}
