// One pass makes the finest level; every coarser one is made from the level below, four buckets into one. The sums are kept in
// whole nanoseconds while folding and become 16-bit fractions only when a level is packed, so that no error adds up.
#include "src/timeline/timeline.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace timeline {
namespace {

static_assert(std::endian::native == std::endian::little, "records are stored as they lie in memory");

constexpr size_t kCoarsestBuckets = 512;
constexpr double kWhole = 65535;

/// A bucket while it is being summed up.
struct Sum {
  int64_t index = 0, count = 0, busy_ns = 0;
  int64_t longest_ns = 0;
  size_t longest_slice = 0;  ///< a slice that crosses into the next bucket is one slice when both are merged
  int32_t longest = 0;
};

/// Adds `part` to the bucket `part.index`; parts come in ascending order of it.
void add(std::vector<Sum>& sums, const Sum& part) {
  if (sums.empty() || sums.back().index != part.index) {
    sums.push_back(part);
    return;
  }
  Sum& sum = sums.back();
  sum.count += part.count;
  sum.busy_ns += part.busy_ns;
  if (sum.longest_slice == part.longest_slice) {
    sum.longest_ns += part.longest_ns;
  } else if (part.longest_ns > sum.longest_ns) {
    sum.longest_ns = part.longest_ns;
    sum.longest_slice = part.longest_slice;
    sum.longest = part.longest;
  }
}

Level packed(const std::vector<Sum>& sums, int shift) {
  const double width_ns = static_cast<double>(int64_t{1} << shift);
  const auto fraction = [&](int64_t ns) {
    return static_cast<uint16_t>(std::min(kWhole, static_cast<double>(ns) / width_ns * kWhole + 0.5));
  };
  Level level{shift, {}};
  level.buckets.reserve(sums.size());
  for (const Sum& sum : sums) {
    level.buckets.push_back(
        {static_cast<uint32_t>(sum.index), static_cast<uint32_t>(sum.count), sum.longest, fraction(sum.busy_ns), fraction(sum.longest_ns)});
  }
  return level;
}

/// The width at which slices touch at most two buckets each on average, and whose index fits into 32 bits.
int finest_shift(std::span<const Slice> lane) {
  const int64_t end_ns = lane.back().begin_ns + lane.back().duration_ns;
  int64_t busy_ns = 0;
  for (const Slice& slice : lane) busy_ns += slice.duration_ns;
  int shift = 0;
  while ((busy_ns >> shift) > static_cast<int64_t>(lane.size()) || (end_ns >> shift) > UINT32_MAX) shift += 2;
  return shift;
}

/// A slice that crosses buckets adds time to each of them and counts in the first.
std::vector<Sum> finest(std::span<const Slice> lane, int shift) {
  std::vector<Sum> sums;
  for (size_t i = 0; i < lane.size(); ++i) {
    const int64_t end_ns = lane[i].begin_ns + lane[i].duration_ns;
    int64_t at_ns = lane[i].begin_ns;
    for (int64_t count = 1; count == 1 || at_ns < end_ns; count = 0) {
      const int64_t index = at_ns >> shift;
      const int64_t cut_ns = std::min(end_ns, (index + 1) << shift);
      add(sums, {index, count, cut_ns - at_ns, cut_ns - at_ns, i, lane[i].name});
      at_ns = cut_ns;
    }
  }
  return sums;
}

std::vector<Sum> merged_by_four(const std::vector<Sum>& sums) {
  std::vector<Sum> merged;
  merged.reserve(sums.size() / 2);
  for (Sum sum : sums) {
    sum.index >>= 2;
    add(merged, sum);
  }
  return merged;
}

template <typename Record, typename Begin>
std::vector<Chunk> cut(std::span<const Record> records, int level, Begin begin_ns) {
  std::vector<Chunk> chunks;
  for (size_t i = 0; i < records.size(); i += kChunkRecords) {
    const auto part = records.subspan(i, std::min(kChunkRecords, records.size() - i));
    chunks.push_back({level, begin_ns(part.front()), std::as_bytes(part)});
  }
  return chunks;
}

template <typename Record>
base::Result<std::vector<Record>> records_of(std::span<const std::byte> chunk) {
  if (chunk.size() % sizeof(Record) != 0) return base::Error{"a chunk of the timeline is damaged; replay the program again"};
  std::vector<Record> records(chunk.size() / sizeof(Record));
  if (!records.empty()) std::memcpy(records.data(), chunk.data(), chunk.size());
  return records;
}

/// Adds lanes for slices that are sorted by begin.
void put_on_lanes(std::span<const Slice> slices, std::vector<std::vector<Slice>>& lanes) {
  const size_t first = lanes.size();
  LaneAllocator allocator;
  for (const Slice& slice : slices) {
    const size_t lane = first + allocator.place(slice.begin_ns, slice.begin_ns + slice.duration_ns);
    if (lane == lanes.size()) lanes.emplace_back();
    lanes[lane].push_back(slice);
  }
}

}  // namespace

size_t LaneAllocator::place(int64_t begin_ns, int64_t end_ns) {
  for (; !busy_.empty() && busy_.top().first <= begin_ns; busy_.pop()) free_.push(busy_.top().second);
  if (free_.empty()) free_.push(lanes_++);
  const size_t lane = free_.top();
  free_.pop();
  busy_.emplace(end_ns, lane);
  return lane;
}

std::vector<std::vector<Slice>> lanes(std::vector<Slice> slices) {
  for (Slice& slice : slices) {
    slice.begin_ns = std::max<int64_t>(0, slice.begin_ns);
  }
  std::erase_if(slices, [](const Slice& slice) { return slice.duration_ns <= 0; });
  std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) { return a.begin_ns < b.begin_ns; });
  const auto others = std::stable_partition(slices.begin(), slices.end(), [](const Slice& slice) { return slice.variant == 0; });
  std::vector<std::vector<Slice>> result;
  put_on_lanes({slices.begin(), others}, result);
  put_on_lanes({others, slices.end()}, result);
  return result;
}

std::vector<Level> fold(std::span<const Slice> lane) {
  if (lane.empty()) return {};
  int shift = finest_shift(lane);
  std::vector<Sum> sums = finest(lane, shift);
  std::vector<Level> levels{packed(sums, shift)};
  while (sums.size() > kCoarsestBuckets) {
    sums = merged_by_four(sums);
    shift += 2;
    levels.push_back(packed(sums, shift));
  }
  return levels;
}

std::vector<Chunk> chunks(std::span<const Slice> lane) {
  return cut(lane, kSliceLevel, [](const Slice& slice) { return slice.begin_ns; });
}

std::vector<Chunk> chunks(const Level& level) {
  return cut(std::span<const Bucket>(level.buckets), level.shift,
             [&](const Bucket& bucket) { return static_cast<int64_t>(bucket.index) << level.shift; });
}

base::Result<std::vector<Slice>> slices_of(std::span<const std::byte> chunk) { return records_of<Slice>(chunk); }
base::Result<std::vector<Bucket>> buckets_of(std::span<const std::byte> chunk) { return records_of<Bucket>(chunk); }

}  // namespace timeline
