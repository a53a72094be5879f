// Every iteration runs exactly once, whatever the counts, grains, chunks and threads.
#include "replay/device/cpu/threads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

namespace replay::cpu {
namespace {

constexpr int64_t kLarge = 1 << 30;  ///< work_bytes that always wants all threads

kernel::Part part(int64_t count, int64_t grain, int64_t chunk, int64_t work_bytes = kLarge, bool by_thread = false) {
  return {.symbol = "k", .count = count, .grain = grain, .chunk = chunk, .by_thread = by_thread, .work_bytes = work_bytes};
}

/// args[0]: a counter an iteration; args[1]: calls a thread.
void count_iterations(void* const* args, int64_t begin, int64_t end, void* scratch, int64_t thread) {
  for (int64_t i = begin; i < end; ++i) __atomic_fetch_add(&static_cast<int*>(args[0])[i], 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&static_cast<int*>(args[1])[thread], 1, __ATOMIC_RELAXED);
  if (scratch != nullptr) *static_cast<int64_t*>(scratch) = thread;
}

struct Counted {
  std::vector<int> iterations, calls;
};

Counted run_counted(const Split& s, int64_t threads) {
  Counted counted{std::vector<int>(static_cast<size_t>(s.count) + 1), std::vector<int>(static_cast<size_t>(threads))};
  void* args[] = {counted.iterations.data(), counted.calls.data()};
  run(s, count_iterations, args, {});
  return counted;
}

TEST(Split, CoversEveryIterationOnce) {
  for (const int64_t count : {0, 1, 2, 7, 64, 97, 1000, 4099})
    for (const int64_t grain : {1, 3, 8, 64})
      for (const int64_t chunk : {1, 5, 64, 500, 5000})
        for (const int threads : {1, 2, 3, 7})
          for (const bool by_thread : {false, true}) {
            SCOPED_TRACE(testing::Message() << count << " " << grain << " " << chunk << " " << threads << " " << by_thread);
            const Split s = split(part(count, grain, chunk, kLarge, by_thread), threads, threads);
            std::vector<int> expected(static_cast<size_t>(count) + 1, 1);
            expected.back() = 0;
            ASSERT_EQ(run_counted(s, threads).iterations, expected);
          }
}

TEST(Split, ChunksAreMultiplesOfTheGrain) {
  const Split s = split(part(1000, 64, 100), 2, 2);
  EXPECT_EQ(s.chunk, 128);
  for (int64_t i = 0; i + 1 < s.ranges; ++i) EXPECT_EQ((s[i].end - s[i].begin) % 64, 0);
  EXPECT_EQ(s[s.ranges - 1].end, 1000);
}

TEST(Split, PartialsAreSetOnceAThreadEvenWithoutIterations) {
  for (const int64_t work : {int64_t{0}, kLarge})
    for (const int64_t count : {0, 1, 5}) {
      const Split s = split(part(count, 4, 1, work, true), 6, 2);
      EXPECT_EQ(run_counted(s, 6).calls, std::vector<int>(6, 1)) << count;
    }
}

TEST(Split, SmallWorkAndSingleChunksStayOnTheCallingThread) {
  EXPECT_EQ(split(part(1000, 1, 10, 1000), 4, 4).threads, 1);
  EXPECT_EQ(split(part(1000, 1, 1000), 4, 4).threads, 1);
  EXPECT_EQ(split(part(1000, 1, 10), 4, 1).threads, 1);
  EXPECT_EQ(split(part(1000, 1, 10), 4, 4).threads, 4);
  EXPECT_EQ(split(part(20, 1, 10), 4, 4).threads, 2);
}

TEST(Split, AHugeCountDoesNotOverflow) {
  const Split s = split(part(int64_t{1} << 60, 64, int64_t{1} << 50), 2, 2);
  EXPECT_EQ(s[s.ranges - 1].end, int64_t{1} << 60);
}

TEST(Threads, EachHasItsOwnScratch) {
  std::vector<std::byte> memory(4 * 128);
  const ThreadScratch scratch{memory.data(), 128};
  EXPECT_EQ(scratch.of(3), memory.data() + 384);
  EXPECT_EQ(ThreadScratch{}.of(3), nullptr);
  std::vector<int> iterations(65), calls(4);
  void* args[] = {iterations.data(), calls.data()};
  run(split(part(64, 1, 1, kLarge, true), 4, 4), count_iterations, args, scratch);
  for (int64_t t = 0; t < 4; ++t) EXPECT_EQ(*static_cast<int64_t*>(scratch.of(t)), t);
}

TEST(Threads, CopyMovesEveryByte) {
  for (const int64_t bytes : {int64_t{0}, int64_t{1}, int64_t{63}, kParallelBytes + 5, (int64_t{16} << 20) + 77}) {
    std::vector<unsigned char> from(static_cast<size_t>(bytes) + 1), to(from.size(), 0xee);
    for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i * 2654435761u >> 13);
    copy(to.data(), from.data(), bytes, 3);
    EXPECT_TRUE(std::equal(from.begin(), from.end() - 1, to.begin())) << bytes;
    EXPECT_EQ(to.back(), 0xee) << bytes;
    if (bytes == 0) continue;
    std::vector<unsigned char> shifted(static_cast<size_t>(bytes));  // a target that streaming stores cannot take
    copy(shifted.data() + 1, from.data(), bytes - 1, 3);
    EXPECT_TRUE(std::equal(shifted.begin() + 1, shifted.end(), from.begin())) << bytes;
  }
}

TEST(Threads, FillSetsEveryByte) {
  for (const int64_t bytes : {int64_t{0}, int64_t{63}, kParallelBytes * 3 + 1}) {
    std::vector<uint8_t> memory(static_cast<size_t>(bytes) + 1, 1);
    fill(memory.data(), 7, bytes, 2);
    EXPECT_EQ(std::count(memory.begin(), memory.end(), 7), bytes);
    EXPECT_EQ(memory.back(), 1);
  }
}

}  // namespace
}  // namespace replay::cpu
