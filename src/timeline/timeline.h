// Folds the slices of a run into levels of time buckets, so that a window of any width is drawn from a few thousand of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "src/base/result.h"

namespace timeline {

/// Something that ran: 24 bytes in the store, little-endian.
struct Slice {
  int64_t begin_ns = 0, duration_ns = 0;
  int32_t name = 0;     ///< the step
  int32_t variant = 0;  ///< as in table sample: 0 is the step as the program runs it
};
static_assert(sizeof(Slice) == 24);

/// What ran within one width of time: 16 bytes in the store, and only where something runs.
struct Bucket {
  uint32_t index = 0;   ///< begin_ns >> shift of its level
  uint32_t count = 0;   ///< slices that begin here
  int32_t longest = 0;  ///< name of the slice that covers most of it: gives the colour
  uint16_t busy = 0;    ///< covered part of the bucket, 65535 = all
  uint16_t share = 0;   ///< the part that `longest` covers
};
static_assert(sizeof(Bucket) == 16);

/// Buckets of 2^shift ns; shift is even (widths are powers of four: a pixel reads at most four buckets).
struct Level {
  int shift = 0;
  std::vector<Bucket> buckets;
};

/// Puts slices that overlap on different lanes; they come in the order of their begins. What it keeps grows with the lanes.
class LaneAllocator {
 public:
  /// The lowest lane that is free at `begin_ns`; it is busy until `end_ns`.
  size_t place(int64_t begin_ns, int64_t end_ns);

 private:
  using Busy = std::pair<int64_t, size_t>;                                 ///< until when, which lane
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy_;      ///< the first to end on top
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> free_;  ///< the lowest on top
  size_t lanes_ = 0;
};

/// Slices that overlap are put on different lanes; within one they are sorted and apart, so that begins are distinct. Variants other than
/// 0 come after all lanes of variant 0. Slices that take no time are left out (there is nothing to draw), negative begins are cut to 0.
std::vector<std::vector<Slice>> lanes(std::vector<Slice> slices);

/// All levels of one lane, the finest first: there a bucket is about as wide as a slice is long, so that the idle time of a run does not
/// make it coarse where it is busy; at most 512 buckets in the coarsest. Linear.
std::vector<Level> fold(std::span<const Slice> lane);

/// A row of table slice_level: at most kChunkRecords records of one level. Levels are named by their shift, kSliceLevel holds the slices.
inline constexpr int kSliceLevel = -1;
inline constexpr size_t kChunkRecords = 512;
struct Chunk {
  int level = 0;
  int64_t begin_ns = 0;              ///< of the first record: the key
  std::span<const std::byte> bytes;  ///< points into the lane or level
};
std::vector<Chunk> chunks(std::span<const Slice> lane);
std::vector<Chunk> chunks(const Level& level);

/// The records of a chunk. An Error where the size is no multiple of a record.
base::Result<std::vector<Slice>> slices_of(std::span<const std::byte> chunk);
base::Result<std::vector<Bucket>> buckets_of(std::span<const std::byte> chunk);

}  // namespace timeline
