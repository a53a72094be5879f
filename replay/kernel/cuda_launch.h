// How work is laid over a GPU: pure functions of sizes. A warp has 32 threads, an access is at most 16 bytes wide, blocks have 256 threads
// unless there is a reason, and small work is spread over threads rather than vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace kernel::cuda {

inline constexpr int64_t kWarp = 32;
inline constexpr int kBlock = 256;                     ///< threads
inline constexpr int64_t kMostSharedBytes = 48 << 10;  ///< static shared memory of a block
inline constexpr int64_t kMostParameterBytes = 4 << 10;
inline constexpr int64_t kMostBlocks = (int64_t{1} << 31) - 1;  ///< of grid.x

/// Elements that a thread takes at once. `run`: elements in a row that all wide accesses share; `widest_bytes`: of their largest element.
struct Vector {
  int64_t run = 1;
  int64_t widest_bytes = 4;
  int64_t nodes = 1;  ///< values computed for an element
};
/// The largest power of two that divides the run and keeps an access within 16 bytes, the code within 512 values, and at least
/// `least_threads` threads busy with `elements`; at most 8.
int vector_of(const Vector& vector, int64_t elements, int64_t least_threads);

struct Map {
  int lanes = 1, threads = kBlock;
  int64_t blocks = 1;
};
/// Element by element: a thread takes `lanes` elements.
Map plan_map(int64_t elements, const Vector& vector, int multiprocessors);

/// Threads that share one outer iteration of a reduction, and how many blocks share it (splits > 1: partial results).
struct Team {
  int lanes = 1;
  int columns = 1;  ///< neighbouring threads that take neighbouring outer iterations
  int team = 1;     ///< threads to an outer iteration; a power of two
  int threads = kBlock;
  int64_t per_block = 1;  ///< outer iterations of a block: threads / team, times lanes for columns
  int64_t blocks = 1;     ///< of the grid, splits included
  int64_t splits = 1;
};
/// `rows` outer iterations that reduce `length` elements each, contiguous along the reduction.
Team plan_rows(int64_t rows, int64_t length, const Vector& vector, int multiprocessors);
/// `others` × `width` outer iterations, contiguous along `width`, that reduce `length` rows each.
Team plan_columns(int64_t others, int64_t width, int64_t length, const Vector& vector, int multiprocessors);

/// A launch as the driver checks it.
struct Launch {
  int64_t grid = 1, block = 1, shared_bytes = 0, parameter_bytes = 0;
};
/// "": legal; else the first thing that is not: "grid of 2147483648 blocks: at most 2147483647".
std::string illegal(const Launch& launch);

}  // namespace kernel::cuda
