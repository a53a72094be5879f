// Records are read by the places of their fields: one row a kind. A graph's launch gives its operations one correlation, and the graph was
// captured from one stream, so that the i-th operation by time is the i-th that was captured.
#include "replay/device/cuda/activity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace replay::cuda {
namespace {

/// CUpti_ActivityKind.
enum class Kind : uint32_t { memcpy = 1, memset = 2, kernel = 3, concurrent_kernel = 10, overhead = 17, external = 39 };

/// Where operations have their fields, in bytes; cupti_activity.h of CUDA 12.4 to 13.0 (a test compares them).
struct Fields {
  Kind kind;
  size_t begin, end, correlation, graph_node;
};
constexpr Fields kOperations[] = {{Kind::memcpy, 16, 24, 44, 64},
                                  {Kind::memset, 16, 24, 44, 64},
                                  {Kind::kernel, 16, 24, 92, 144},
                                  {Kind::concurrent_kernel, 16, 24, 92, 144}};
constexpr size_t kExternalKind = 4, kExternalId = 8, kExternalCorrelation = 16;
constexpr size_t kOverheadKind = 4, kOverheadBegin = 24, kOverheadEnd = 32;
constexpr uint32_t kOurIds = 3;  ///< CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0
constexpr uint32_t kModuleLoading = 4u << 16, kFunctionLoading = 5u << 16;

template <typename T>
T field(const void* record, size_t at) {
  T value;
  std::memcpy(&value, static_cast<const char*>(record) + at, sizeof value);
  return value;
}

void add_operation(const void* record, const Fields& fields, Activity& activity) {
  const Operation operation{field<int64_t>(record, fields.begin), field<int64_t>(record, fields.end),
                            field<uint32_t>(record, fields.correlation), field<uint64_t>(record, fields.graph_node) != 0};
  if (operation.begin_ns <= 0 || operation.end_ns < operation.begin_ns)
    ++activity.without_times;
  else
    activity.operations.push_back(operation);
}

void add(const void* record, Activity& activity) {
  const auto kind = field<Kind>(record, 0);
  if (kind == Kind::external && field<uint32_t>(record, kExternalKind) == kOurIds)
    activity.ids[field<uint32_t>(record, kExternalCorrelation)] = field<uint64_t>(record, kExternalId);
  if (kind == Kind::overhead) {
    const auto what = field<uint32_t>(record, kOverheadKind);
    if (what == kModuleLoading || what == kFunctionLoading)
      activity.loading_ns += field<int64_t>(record, kOverheadEnd) - field<int64_t>(record, kOverheadBegin);
  }
  for (const Fields& fields : kOperations)
    if (fields.kind == kind) add_operation(record, fields, activity);
}

/// The steps of one id with the operations of one id, by time.
base::Status share_out(std::span<const Started> steps, std::span<const Operation> operations, std::vector<model::Sample>& samples) {
  size_t next = 0;
  for (size_t k = 0; k < steps.size(); ++k) {
    const Started& started = steps[k];
    // A call that makes more operations than one is its step's, where it is alone.
    const size_t count = steps.size() == 1 ? operations.size() : static_cast<size_t>(started.operations);
    if (next + count > operations.size() || count < static_cast<size_t>(started.operations))
      return base::Error{fmt::format("step {}: CUPTI recorded {} of {} operations; use --mode events", started.step,
                                     operations.size() - std::min(next, operations.size()), started.operations)};
    model::Sample sample{.step = started.step, .begin_ns = count > 0 ? operations[next].begin_ns : 0, .executions = started.executions};
    for (const Operation& operation : operations.subspan(next, count)) sample.duration_ns += operation.end_ns - operation.begin_ns;
    next += count;
    samples.push_back(sample);
  }
  if (next < operations.size() && steps.size() > 1)
    return base::Error{fmt::format("a graph of {} operations has {} records; use --mode stream", next, operations.size())};
  return {};
}

}  // namespace

Activity read_activity(std::span<const std::vector<uint8_t>> buffers, NextRecord next) {
  Activity activity;
  for (const std::vector<uint8_t>& buffer : buffers) {
    void* record = nullptr;
    while (next(const_cast<uint8_t*>(buffer.data()), buffer.size(), &record) == 0) add(record, activity);
  }
  std::ranges::stable_sort(activity.operations, {}, &Operation::begin_ns);
  return activity;
}

base::Result<std::vector<model::Sample>> samples_of(const Activity& activity, std::span<const Started> started) {
  if (activity.without_times > 0)
    return base::Error{
        fmt::format("CUPTI has no times for {} operations: the GPU's own buffers were full; use --mode events", activity.without_times)};
  std::map<uint64_t, std::vector<Operation>> by_id;
  for (const Operation& operation : activity.operations) {
    const auto id = activity.ids.find(operation.correlation);
    if (id != activity.ids.end()) by_id[id->second].push_back(operation);
  }
  std::vector<model::Sample> samples;
  for (size_t first = 0, end = 0; first < started.size(); first = end) {
    while (end < started.size() && started[end].id == started[first].id) ++end;
    RETURN_IF_ERROR(share_out(started.subspan(first, end - first), by_id[started[first].id], samples));
  }
  return samples;
}

}  // namespace replay::cuda
