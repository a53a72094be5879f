// The second move: nests become flat lists with launch data, for the caches, lanes and threads of a target.
#pragma once

#include <string>
#include <vector>

#include "replay/kernel/kernel.h"
#include "replay/kernel/list.h"
#include "replay/kernel/nest.h"

namespace kernel {

/// One part's code and how to split it over threads (see Part).
struct Scheduled {
  std::string shape;  ///< "map", "rows", "columns", …: for names
  List list;
  int64_t count = 1, grain = 1, chunk = 1, work_bytes = 0;
  bool by_thread = false;
  int64_t lone_elements = 0;  ///< as in Kernel
  int64_t thread_bytes = 0;   ///< CUDA: of a block
  int block_threads = 0;      ///< CUDA
  int64_t iterations = 0;     ///< CUDA: of a list that asks for begin and end: a thread has one of these
  int same[2] = {-1, -1};     ///< arrays, as in Nest::skip_if_same
};

/// Adds arrays (partial results) to `lowered`.
std::vector<Scheduled> schedule(Lowered& lowered, const Target& target);
/// The same for a GPU: parts are grids of blocks.
std::vector<Scheduled> schedule_cuda(Lowered& lowered, const Target& target);

}  // namespace kernel
