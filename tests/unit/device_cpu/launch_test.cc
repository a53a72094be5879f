// Launches run from the table as they would from where they were made, and every step's from the same place.
#include "replay/device/cpu/launch.h"

#include <gtest/gtest.h>

#include <vector>

namespace replay::cpu {
namespace {

/// args: where to note the arguments of each call, the count of calls.
void note_arguments(void* const* args, int64_t begin, int64_t end, void*, int64_t) {
  auto& calls = *static_cast<int64_t*>(args[1]);
  static_cast<const void**>(args[0])[calls++] = args;
  EXPECT_EQ(begin, 0);
  EXPECT_EQ(end, 3);
}

struct Notes {
  std::vector<const void*> places = std::vector<const void*>(1000);
  int64_t calls = 0;
};

/// Steps of `count` launches, each with a list of its own.
struct Launches {
  Launches(Notes& notes, size_t count) : args(count, {notes.places.data(), &notes.calls}) {
    for (const auto& own : args) list.emplace_back(KernelLaunch{parts, own, {}});
  }
  std::vector<PartCall> parts = {{note_arguments, {.count = 3, .chunk = 3, .ranges = 1}}};
  std::vector<std::vector<void*>> args;
  std::vector<ReadyLaunch> list;
};

TEST(LaunchTable, StepsRunFromTheSamePlace) {
  Notes notes;
  const Launches first(notes, 3), second(notes, 3);
  LaunchTable table;
  for (const auto* step : {&first, &second, &first}) {
    table.set(step->list);
    table.run(1);
  }
  ASSERT_EQ(notes.calls, 9);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(notes.places[i], notes.places[i + 3]);
    EXPECT_EQ(notes.places[i], notes.places[i + 6]);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(notes.places[i]) % kLine, 0u);
  }
}

TEST(LaunchTable, LongStepsRunToo) {
  Notes notes;
  const Launches step(notes, 900);
  LaunchTable table;
  table.set(step.list);
  table.run(1);
  EXPECT_EQ(notes.calls, 900);
  table.set({});
  table.run(1);
  EXPECT_EQ(notes.calls, 900);
}

TEST(LaunchTable, MovesAndFills) {
  std::vector<uint8_t> from(100, 7), to(100), filled(100);
  const std::vector<ReadyLaunch> step = {CopyLaunch{to.data(), from.data(), 100}, FillLaunch{filled.data(), 9, 99}};
  LaunchTable table;
  table.set(step);
  table.run(1);
  EXPECT_EQ(to, from);
  EXPECT_EQ(filled[98], 9);
  EXPECT_EQ(filled[99], 0);
}

}  // namespace
}  // namespace replay::cpu
