// Where buffers lie, and what is refused before anything is allocated.
#include "replay/device/cpu/arena.h"

#include <gtest/gtest.h>

#include <cstring>

namespace replay::cpu {
namespace {

Buffer buffer(Buffer::Kind kind, int64_t bytes, int64_t offset = -1, BufferId alias_of = -1) {
  Buffer b;
  b.kind = kind;
  b.name = "b";
  b.bytes = bytes;
  b.offset = offset;
  b.alias_of = alias_of;
  return b;
}

using Kind = Buffer::Kind;

TEST(Layout, ParametersNeverTouchAndEndInGuards) {
  Plan plan;
  for (const int64_t bytes : {1, 64, 0, 65, 4096, 3, 1000000}) plan.buffers.push_back(buffer(Kind::parameter, bytes));
  plan.buffers.push_back(buffer(Kind::constant, 12));
  auto layout = lay_out(plan);
  ASSERT_TRUE(layout.ok()) << layout.error().message;
  int64_t end = 0;
  for (const Place& place : layout->places) {
    EXPECT_EQ(place.offset % kLine, 0);
    EXPECT_GE(place.offset, end);
    end = (place.offset + place.bytes + kLine - 1) / kLine * kLine + kLine;
  }
  EXPECT_EQ(layout->parameter_bytes, end);
}

TEST(Layout, TemporariesStandWhereThePlanPutThem) {
  Plan plan;
  plan.arena_bytes = 256;
  plan.buffers = {buffer(Kind::temporary, 100, 128), buffer(Kind::scratch, 128, 0), buffer(Kind::temporary, 60, -1, 0),
                  buffer(Kind::temporary, 0)};
  auto arena = Arena::make(*lay_out(plan), 2);
  ASSERT_TRUE(arena.ok());
  EXPECT_EQ(arena->memory(0).data() - arena->memory(1).data(), 128);
  EXPECT_EQ(arena->memory(0).size(), 100u);
  EXPECT_EQ(arena->memory(2).data(), arena->memory(0).data());
  EXPECT_EQ(arena->memory(2).size(), 60u);
  EXPECT_EQ(arena->memory(3).size(), 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(arena->memory(1).data()) % (2 << 20), 0u);
  EXPECT_TRUE(arena->has(3));
  EXPECT_FALSE(arena->has(4));
  EXPECT_FALSE(arena->has(-1));
}

TEST(Layout, AnAliasOfAParameterLivesInIt) {
  Plan plan;
  plan.buffers = {buffer(Kind::temporary, 8, -1, 1), buffer(Kind::temporary, 8, -1, 2), buffer(Kind::parameter, 8)};
  auto layout = lay_out(plan);
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->places[0].area, Place::Area::parameters);
  EXPECT_EQ(layout->places[0].offset, layout->places[2].offset);
}

TEST(Layout, RefusesPlansThatCannotBe) {
  Plan outside;
  outside.arena_bytes = 128;
  outside.buffers = {buffer(Kind::temporary, 100, 64)};
  EXPECT_FALSE(lay_out(outside).ok());
  outside.buffers = {buffer(Kind::temporary, 100, -1)};
  EXPECT_FALSE(lay_out(outside).ok());
  Plan circle;
  circle.buffers = {buffer(Kind::temporary, 8, -1, 1), buffer(Kind::temporary, 8, -1, 0)};
  EXPECT_FALSE(lay_out(circle).ok());
  Plan larger;
  larger.buffers = {buffer(Kind::parameter, 8), buffer(Kind::temporary, 16, -1, 0)};
  EXPECT_FALSE(lay_out(larger).ok());
}

TEST(Pages, AreAlignedZeroAndWritableToTheEnd) {
  for (const int64_t bytes : {1, 4097, 3 << 20, 5 << 20}) {
    auto pages = Pages::make(bytes, 2);
    ASSERT_TRUE(pages.ok());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(pages->data()) % (2 << 20), 0u);
    for (int64_t i = 0; i < bytes; i += 997) ASSERT_EQ(pages->data()[i], std::byte{0});
    std::memset(pages->data(), 0xff, static_cast<size_t>(bytes));
  }
}

TEST(Pages, MoveLeavesOneOwner) {
  auto first = Pages::make(100, 1);
  ASSERT_TRUE(first.ok());
  std::byte* data = first->data();
  Pages second = *std::move(first);
  EXPECT_EQ(second.data(), data);
  second = {};
  EXPECT_EQ(second.data(), nullptr);
}

TEST(Pages, MoreThanTheAddressSpaceIsAnError) {
  auto pages = Pages::make(int64_t{1} << 60, 1);
  ASSERT_FALSE(pages.ok());
  EXPECT_NE(pages.error().message.find("try --computation NAME"), std::string::npos);
}

TEST(Memory, RefusalSaysWhatIsNeededAndWhatToDo) {
  EXPECT_TRUE(check_fits(100, 100).ok());
  const auto refused = check_fits(6'900'000'000, 3'100'000'000);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "memory: needs 6.90 GB, 3.10 GB free; try --isolated (each step alone), --computation NAME or --instruction NAME");
}

}  // namespace
}  // namespace replay::cpu
