// What CUPTI recorded, as plain data, and which step each record belongs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "replay/step.h"
#include "src/base/result.h"
#include "src/model/records.h"

namespace replay::cuda {

/// A kernel, a copy or a fill on the GPU.
struct Operation {
  int64_t begin_ns = 0, end_ns = 0;  ///< of the GPU, mapped to the clock of the day (CLOCK_REALTIME)
  uint32_t correlation = 0;          ///< of the call that launched it; all operations of a graph's launch share one
  bool of_graph = false;
};

/// The records of some buffers.
struct Activity {
  std::vector<Operation> operations;
  std::map<uint32_t, uint64_t> ids;  ///< correlation → the id that was pushed around the call
  int64_t loading_ns = 0;            ///< of modules and functions, lazily: it must not fall into timed passes
  int64_t without_times = 0;         ///< operations whose times the device had no room for
};

/// cuptiActivityGetNextRecord.
using NextRecord = int (*)(uint8_t* buffer, size_t valid_bytes, void** record);
/// Reads buffers that CUPTI has filled. Only prefixes of records are read, which are the same from CUDA 12.4 to 13.
Activity read_activity(std::span<const std::vector<uint8_t>> buffers, NextRecord next);

/// A step that was started.
struct Started {
  StepId step = 0;
  int32_t executions = 1;
  int64_t operations = 0;  ///< that it launches, executions counted
  uint64_t id = 0;         ///< that was pushed; the steps of a graph's launch share one, in their order
};

/// A sample for each started step, in order: its duration is the sum of its operations', so what lies between them is not in it. Times stay
/// those of the records. Error: the first step that lacks records, or a graph whose records are not as many as its nodes.
base::Result<std::vector<model::Sample>> samples_of(const Activity& activity, std::span<const Started> started);

}  // namespace replay::cuda
