// Work over the threads of the OpenMP pool: the pool that oneDNN uses too, so that two pools never fight for the cores.
#pragma once

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "replay/kernel/kernel.h"
#include "src/base/result.h"

namespace replay::cpu {

/// Can so many threads be there at once? OpenMP asks nobody: where it cannot start one it ends the process.
base::Status check_threads(int threads);

/// Entry point of a kernel part; see kernel::Part::symbol.
using Entry = void (*)(void* const* args, int64_t begin, int64_t end, void* scratch, int64_t thread);

/// Work on less memory than this runs on the calling thread: a region costs 1 to 9 µs, one core moves this much in about 10.
inline constexpr int64_t kParallelBytes = 128 << 10;

inline constexpr int kMaxThreads = 1024;

/// Iterations [begin, end).
struct Range {
  int64_t begin = 0, end = 0;
  bool operator==(const Range&) const = default;
};

/// How the iterations of a part are dealt out: `ranges` pieces of `chunk` iterations; the last ones may be shorter or empty.
struct Split {
  int64_t count = 0, chunk = 1, ranges = 0;
  bool by_thread = false;  ///< range i always runs on thread i, even an empty one: it sets that thread's partial result
  int threads = 1;         ///< 1: on the calling thread, without a region
  Range operator[](int64_t i) const { return {std::min(i * chunk, count), std::min((i + 1) * chunk, count)}; }
};

/// `partials`: ranges of a part that keeps partial results (kernel::Target::threads when the kernel was made); each is called exactly once.
Split split(const kernel::Part& part, int partials, int threads);

/// Memory of a thread's own, `stride` bytes apart.
struct ThreadScratch {
  std::byte* base = nullptr;
  int64_t stride = 0;
  void* of(int64_t thread) const { return base == nullptr ? nullptr : base + thread * stride; }
};

/// Runs a part; streaming stores have reached memory when it returns.
void run(const Split& split, Entry entry, void* const* args, const ThreadScratch& scratch);

/// Streaming stores are not ordered by the barrier at a region's end; this is, on x86 at a few ns when none are pending.
inline void finish_stores() {
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

/// body(range, thread) for every range in [0, ranges). Not `parallel if (…)`: inside an inactive region a library's own regions start fresh
/// threads.
template <typename Body>
void for_ranges(int64_t ranges, int threads, const Body& body) {
  if (threads <= 1 || ranges <= 1) {
    for (int64_t i = 0; i < ranges; ++i) body(i, int64_t{0});
    finish_stores();
    return;
  }
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(dynamic, 1) nowait
    for (int64_t i = 0; i < ranges; ++i) body(i, int64_t{omp_get_thread_num()});
    finish_stores();
  }
}

/// Copies and fills at memory speed: large ones on all threads; copies of what exceeds the cache with streaming stores.
void copy(void* to, const void* from, int64_t bytes, int threads);
void fill(void* to, uint8_t byte, int64_t bytes, int threads);

}  // namespace replay::cpu
