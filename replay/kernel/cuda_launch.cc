// The formulas of the classes. They keep four thousand threads a multiprocessor busy where the work suffices: two full sets of 2048.
#include "replay/kernel/cuda_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "src/base/math.h"

namespace kernel::cuda {
namespace {

constexpr int64_t kAccessBytes = 16;
constexpr int64_t kMostLanes = 8;
constexpr int64_t kMostValues = 512;       ///< in a thread's straight code: what compiles without spilling in a second
constexpr int64_t kShortLength = 2048;     ///< elements of a row that one warp reduces where there are rows enough
constexpr int64_t kMostValuesOfFew = 256;  ///< for which the 64 registers suffice that a thread of a block of 1024 has
constexpr int64_t kVectorsOfThread = 4;    ///< of a row that a block reduces
constexpr int64_t kSplitVectors = 8;       ///< of a thread, at least, where a row is split over blocks
constexpr int64_t kFewestRows = 64;        ///< of a block of a split column reduction

int64_t power_up(int64_t n) { return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(1, n)))); }

}  // namespace

int vector_of(const Vector& vector, int64_t elements, int64_t least_threads) {
  int64_t lanes = 1;
  while (2 * lanes <= kMostLanes && vector.run % (2 * lanes) == 0 && 2 * lanes * vector.widest_bytes <= kAccessBytes &&
         2 * lanes * vector.nodes <= kMostValues)
    lanes *= 2;
  while (lanes > 1 && elements / lanes < least_threads) lanes /= 2;
  return static_cast<int>(lanes);
}

Map plan_map(int64_t elements, const Vector& vector, int multiprocessors) {
  Map map;
  map.lanes = vector_of(vector, elements, int64_t{4} * multiprocessors * kBlock);
  const int64_t items = elements / map.lanes;
  map.threads = items >= int64_t{multiprocessors} * kBlock ? kBlock : kBlock / 2;
  map.blocks = base::ceil_div(items, map.threads);
  return map;
}

Team plan_rows(int64_t rows, int64_t length, const Vector& vector, int multiprocessors) {
  Team plan;
  plan.lanes = vector_of(vector, rows * length, int64_t{multiprocessors} * kBlock);
  const int64_t vectors = base::ceil_div(length, plan.lanes), many = int64_t{8} * multiprocessors;
  if (vectors <= kWarp) {
    plan.team = static_cast<int>(power_up(vectors));
  } else if (length <= kShortLength && rows >= many) {
    plan.team = kWarp;
  } else {
    const int64_t most = plan.lanes * vector.nodes > kMostValuesOfFew ? 512 : 1024;
    plan.team = plan.threads = static_cast<int>(std::clamp<int64_t>(power_up(base::ceil_div(vectors, kVectorsOfThread)), 2 * kWarp, most));
    const int64_t wanted = base::ceil_div(int64_t{4} * multiprocessors, rows);
    if (rows < multiprocessors) plan.splits = std::clamp<int64_t>(base::ceil_div(vectors, plan.threads * kSplitVectors), 1, wanted);
  }
  plan.per_block = plan.threads / plan.team;
  plan.blocks = base::ceil_div(rows, plan.per_block) * plan.splits;
  return plan;
}

Team plan_columns(int64_t others, int64_t width, int64_t length, const Vector& vector, int multiprocessors) {
  Team plan;
  if (vector.run % 2 == 0 && vector.widest_bytes <= 2 && width >= 2 * kWarp && 2 * vector.nodes <= kMostValues) plan.lanes = 2;
  plan.columns = static_cast<int>(std::min(kWarp, power_up(width / plan.lanes)));
  plan.team = kBlock / plan.columns;
  while (plan.team > 1 && plan.team / 2 >= length) plan.team /= 2;
  plan.threads = plan.columns * plan.team;
  if (plan.threads < kWarp) plan.columns = static_cast<int>(kWarp) / plan.team, plan.threads = static_cast<int>(kWarp);
  plan.per_block = int64_t{plan.columns} * plan.lanes;
  const int64_t tiles = others * base::ceil_div(width, plan.per_block);
  const int64_t wanted = base::ceil_div(int64_t{4} * multiprocessors, tiles);
  const int64_t rows = std::max<int64_t>(std::max<int64_t>(kFewestRows, plan.team), base::ceil_div(length, wanted));
  plan.splits = std::max<int64_t>(1, base::ceil_div(length, rows));
  plan.blocks = tiles * plan.splits;
  return plan;
}

std::string illegal(const Launch& launch) {
  const auto check = [](std::string_view what, int64_t value, int64_t least, int64_t most) {
    if (value >= least && value <= most) return std::string();
    return fmt::format("{} {}: {} to {} can be launched", what, value, least, most);
  };
  std::string found = check("blocks", launch.grid, 1, kMostBlocks);
  if (found.empty()) found = check("threads of a block", launch.block, 1, 1024);
  if (found.empty()) found = check("bytes of shared memory", launch.shared_bytes, 0, kMostSharedBytes);
  if (found.empty()) found = check("bytes of parameters", launch.parameter_bytes, 0, kMostParameterBytes);
  return found;
}

}  // namespace kernel::cuda
