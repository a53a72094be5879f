// Sweeps through the same JIT and threads as the kernels. Each thread times its own, in short ones of which the best counts: on a busy
// machine some are not interrupted, and no thread waits for another. Loads are volatile, so that the compiler does all of them.
#include "replay/device/cpu/cache_ceilings.h"
#include "src/base/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <span>

#include "replay/device/cpu/arena.h"
#include "replay/device/cpu/host.h"
#include "replay/device/cpu/threads.h"

namespace replay::cpu {
namespace {

constexpr int kVectors = 8;         ///< of an iteration: more than loads in flight of one register's chain
constexpr double kSweep_s = 60e-6;  ///< long against reading the clock, short against a time slice
constexpr double kSpan_s = 8e-3;    ///< of all sweeps of a thread, so that the threads run at the same time
constexpr int kLeastSweeps = 16;
constexpr int64_t kLargestL3 = 32 << 20;  ///< bytes in use: a guest sees all of a cache that it shares with others

struct Level {
  const char* name;
  int64_t bytes;  ///< that a thread sweeps over, both sides of a copy together
};

/// Half of each cache; of L3, which threads share, a part. Nothing where the next smaller cache would hold most of it.
std::vector<Level> levels(int threads) {
  const Caches sizes = caches();
  const int64_t l3 = std::min(sizes.l3_bytes, kLargestL3) / 2 / threads;
  std::vector<Level> all;
  if (sizes.l1_bytes > 0) all.push_back({"L1", sizes.l1_bytes / 2});
  if (sizes.l2_bytes >= 4 * sizes.l1_bytes) all.push_back({"L2", sizes.l2_bytes / 2});
  if (sizes.l2_bytes > 0 && l3 >= 2 * sizes.l2_bytes) all.push_back({"L3", l3});
  return all;
}

/// Bytes per second of one thread's range.
double rate_of(Entry sweep, std::span<void* const, 4> arguments, Range range, int64_t thread, int64_t bytes) {
  int64_t repeats = 1;
  void* args[] = {arguments[0], arguments[1], &repeats, arguments[3]};
  const auto time = [&] {
    const double begin = base::now_s();
    sweep(args, range.begin, range.end, nullptr, thread);
    return base::now_s() - begin;
  };
  time();  // touches all
  while (std::min({time(), time(), time()}) < kSweep_s && repeats < (int64_t{1} << 40)) repeats *= 2;
  double least = time();
  const double begin = base::now_s();
  for (int i = 0; i < kLeastSweeps || base::now_s() - begin < kSpan_s; ++i) least = std::min(least, time());
  return static_cast<double>(bytes * repeats) / least;
}

/// Bytes per second of all threads.
double rate(Entry sweep, const Level& level, Moves moves, const Pages& pages, int threads, int lanes) {
  const int64_t grain = int64_t{kVectors} * lanes, sides = moves == Moves::copy ? 2 : 1;
  const int64_t each = std::max(grain, level.bytes / 4 / sides / grain * grain);
  std::byte* from = pages.data();
  void* const args[] = {from, from + each * threads * 4, nullptr, from + pages.bytes() - grain * 4 * threads};
  std::vector<double> rates(static_cast<size_t>(threads));
  for_ranges(threads, threads, [&](int64_t i, int64_t) {
    rates[static_cast<size_t>(i)] = rate_of(sweep, args, {i * each, (i + 1) * each}, i, each * 4 * sides);
  });
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

}  // namespace

std::string sweep_ir(int lanes, Moves moves) {
  const std::string type = fmt::format("<{} x i32>", lanes);
  std::string phis, body, ends;
  for (int v = 0; v < kVectors; ++v) {
    phis += fmt::format("  %s{0} = phi {1} [ %t{0}, %inner ], [ zeroinitializer, %outer ]\n", v, type);
    body += fmt::format(R"(  %i{0} = add i64 %i, {1}
  %p{0} = getelementptr i32, ptr %from, i64 %i{0}
  %v{0} = load volatile {2}, ptr %p{0}, align {3}
  %t{0} = xor {2} %s{0}, %v{0}
)",
                        v, v * lanes, type, lanes * 4);
    if (moves == Moves::copy)
      body += fmt::format("  %q{0} = getelementptr i32, ptr %to, i64 %i{0}\n  store volatile {1} %v{0}, ptr %q{0}, align {2}\n", v, type,
                          lanes * 4);
    ends += fmt::format("  %e{0} = getelementptr {1}, ptr %mine, i64 {0}\n  store {1} %t{0}, ptr %e{0}, align {2}\n", v, type, lanes * 4);
  }
  return fmt::format(R"(define void @sweep(ptr %args, i64 %begin, i64 %end, ptr %scratch, i64 %thread) nounwind {{
entry:
  %a1 = getelementptr ptr, ptr %args, i64 1
  %a2 = getelementptr ptr, ptr %args, i64 2
  %a3 = getelementptr ptr, ptr %args, i64 3
  %from = load ptr, ptr %args
  %to = load ptr, ptr %a1
  %times = load ptr, ptr %a2
  %sink = load ptr, ptr %a3
  %repeats = load i64, ptr %times
  %place = mul i64 %thread, {5}
  %mine = getelementptr {0}, ptr %sink, i64 %place
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %outer, label %out
outer:
  %r = phi i64 [ 0, %entry ], [ %next_r, %after ]
  br label %inner
inner:
  %i = phi i64 [ %begin, %outer ], [ %next, %inner ]
{1}{2}  %next = add i64 %i, {3}
  %more = icmp slt i64 %next, %end
  br i1 %more, label %inner, label %after
after:
{4}  %next_r = add i64 %r, 1
  %again = icmp slt i64 %next_r, %repeats
  br i1 %again, label %outer, label %out
out:
  ret void
}}
)",
                     type, phis, body, kVectors * lanes, ends, kVectors);
}

base::Result<std::vector<model::CeilingRecord>> measure_caches(Jit& jit, int threads) {
  std::vector<model::CeilingRecord> found;
  const std::vector<Level> all = levels(threads);
  if (all.empty()) return found;
  ASSIGN_OR_RETURN(const Code read, jit.compile({sweep_ir(jit.lanes(), Moves::read), {"sweep"}}));
  ASSIGN_OR_RETURN(const Code copy, jit.compile({sweep_ir(jit.lanes(), Moves::copy), {"sweep"}}));
  const int64_t sinks = int64_t{kVectors} * jit.lanes() * 4 * threads;
  const int64_t bytes = std::ranges::max(all, {}, &Level::bytes).bytes * threads + sinks;
  ASSIGN_OR_RETURN(const Pages pages, Pages::make((bytes + (64 << 10)) / 4096 * 4096, threads));
  for (const Level& level : all) {
    const std::string how = fmt::format("each of {} threads sweeps over {} KiB of its own", threads, level.bytes >> 10);
    for (const Moves moves : {Moves::read, Moves::copy}) {
      const Code& code = moves == Moves::read ? read : copy;
      const double per_s = rate(reinterpret_cast<Entry>(code.entries[0]), level, moves, pages, threads, jit.lanes());
      found.push_back({model::CeilingRecord::Limits::cache, fmt::format("{} {}", level.name, moves == Moves::read ? "read" : "copy"), per_s,
                       model::CeilingRecord::Provenance::measured, how});
    }
  }
  return found;
}

}  // namespace replay::cpu
