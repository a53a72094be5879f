// The timeline of a run, small enough for a page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/base/result.h"
#include "src/model/store.h"

namespace report {

/// Records of one lane, by begin. Begins are differences from the record before: short to write.
struct PageLane {
  int level = 0;                ///< timeline::kSliceLevel: slices as they ran; else buckets of 2^level ns
  std::vector<int64_t> begin;   ///< ns since the record before, the first since the run's start
  std::vector<int64_t> length;  ///< ns
  std::vector<int32_t> step;    ///< of a bucket: the one that covers most of it
  std::vector<int32_t> busy;    ///< of buckets: covered part in percent; of slices empty
};
struct PageTimeline {
  std::vector<PageLane> lanes;
  size_t more_lanes = 0;  ///< that were left out
};
/// Each lane at the finest level that has no more than its part of `records`.
base::Result<PageTimeline> page_timeline(const model::Reader& reader, int64_t run, size_t records);

}  // namespace report
