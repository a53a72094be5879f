// Splits parts of kernels over threads, and moves bytes.
//
// Parts without partial results are dealt out in chunks as threads become free: on a host shared with others a static split waits for the
// slowest core. Parts with partial results have one range a thread, so that their sums have a fixed order.
#include "replay/device/cpu/threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <latch>
#include <system_error>
#include <thread>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace replay::cpu {
namespace {

constexpr int64_t kStreamBytes = 16 << 20;  ///< half of a 32 MiB L3: below, the next step reads the result from cache
constexpr int64_t kMoveChunk = 1 << 20;     ///< bytes that a thread takes at a time

int64_t up_to_multiple(int64_t value, int64_t of) { return (value + of - 1) / of * of; }

#if defined(__SSE2__)
/// `to` is 16-byte aligned. 16-byte streaming stores that fill whole lines in order reach the rate of wider ones.
void stream(std::byte* to, const std::byte* from, int64_t bytes) {
  const int64_t whole = bytes / 64 * 64;
  for (int64_t i = 0; i < whole; i += 64) {
    const auto* source = reinterpret_cast<const __m128i*>(from + i);
    auto* target = reinterpret_cast<__m128i*>(to + i);
    const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1), c = _mm_loadu_si128(source + 2),
                  d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
  std::memcpy(to + whole, from + whole, static_cast<size_t>(bytes - whole));
}
bool can_stream(const std::byte* to) { return reinterpret_cast<uintptr_t>(to) % 16 == 0; }
#else
void stream(std::byte* to, const std::byte* from, int64_t bytes) { std::memcpy(to, from, static_cast<size_t>(bytes)); }
bool can_stream(const std::byte*) { return false; }
#endif

/// body(begin, bytes) over pieces of [0, bytes).
template <typename Body>
void move_in_pieces(int64_t bytes, int threads, const Body& body) {
  if (bytes < kParallelBytes || threads <= 1) return body(0, bytes);
  const int64_t chunk = std::min(kMoveChunk, up_to_multiple((bytes + threads - 1) / threads, 64));
  for_ranges((bytes + chunk - 1) / chunk, threads, [&](int64_t i, int64_t) { body(i * chunk, std::min(chunk, bytes - i * chunk)); });
}

}  // namespace

base::Status check_threads(int threads) {
  std::vector<std::thread> started;
  std::latch all_tried(1);
  base::Status status;
  try {
    started.reserve(static_cast<size_t>(threads));
    while (static_cast<int>(started.size()) + 1 < threads) started.emplace_back([&] { all_tried.wait(); });
  } catch (const std::system_error& error) {
    status =
        base::Error{fmt::format("cpu: only {} of {} threads can be started ({}); give --threads {} or fewer, or raise the limits of "
                                "processes and memory (ulimit -u, ulimit -v)",
                                started.size() + 1, threads, error.code().message(), std::max<size_t>(1, started.size() / 2))};
  }
  all_tried.count_down();
  for (std::thread& thread : started) thread.join();
  return status;
}

Split split(const kernel::Part& part, int partials, int threads) {
  const int64_t grain = std::max<int64_t>(1, part.grain), count = std::max<int64_t>(0, part.count);
  const bool small = threads <= 1 || part.work_bytes < kParallelBytes;
  if (part.by_thread) {
    const int64_t ranges = std::max(1, partials);
    const int64_t chunk = up_to_multiple(std::max<int64_t>(1, (count + ranges - 1) / ranges), grain);
    return {count, chunk, ranges, true, small ? 1 : static_cast<int>(std::min<int64_t>(threads, ranges))};
  }
  const int64_t chunk = up_to_multiple(std::max<int64_t>(1, part.chunk), grain);
  if (small || count <= chunk) return {count, std::max<int64_t>(1, count), count > 0 ? 1 : 0, false, 1};
  const int64_t ranges = (count + chunk - 1) / chunk;
  return {count, chunk, ranges, false, static_cast<int>(std::min<int64_t>(threads, ranges))};
}

void run(const Split& split, Entry entry, void* const* args, const ThreadScratch& scratch) {
  const auto call = [&](int64_t i, int64_t thread) {
    const Range range = split[i];
    entry(args, range.begin, range.end, scratch.of(thread), thread);
  };
  if (!split.by_thread) return for_ranges(split.ranges, split.threads, call);
  if (split.threads <= 1) {
    for (int64_t i = 0; i < split.ranges; ++i) call(i, i);
    finish_stores();
    return;
  }
#pragma omp parallel num_threads(split.threads)
  {
#pragma omp for schedule(static, 1) nowait
    for (int64_t i = 0; i < split.ranges; ++i) call(i, i);
    finish_stores();
  }
}

void copy(void* to, const void* from, int64_t bytes, int threads) {
  if (bytes <= 0 || to == from) return;
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  const bool streams = bytes >= kStreamBytes && can_stream(target);
  move_in_pieces(bytes, threads, [=](int64_t begin, int64_t piece) {
    if (streams)
      stream(target + begin, source + begin, piece);
    else
      std::memcpy(target + begin, source + begin, static_cast<size_t>(piece));
  });
}

void fill(void* to, uint8_t byte, int64_t bytes, int threads) {
  if (bytes <= 0) return;
  auto* target = static_cast<std::byte*>(to);
  move_in_pieces(bytes, threads, [=](int64_t begin, int64_t piece) { std::memset(target + begin, byte, static_cast<size_t>(piece)); });
}

}  // namespace replay::cpu
