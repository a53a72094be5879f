// Neighbouring steps as one fusion: what may be put together, and what the program computes after that.
#include "replay/fuse.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "planned.h"
#include "src/ir/verify.h"

namespace replay {
namespace {

ir::Module parsed(const std::string& text) {
  auto module = importers::hlo::parse(text, "test.hlo");
  EXPECT_TRUE(module.ok()) << module.error().message;
  return *std::move(module);
}

Neighbours pair(const ir::Module& module, const char* first, const char* second) {
  Neighbours found{module.entry, -1, -1};
  const auto& instrs = module.comp(module.entry).instrs;
  for (size_t i = 0; i < instrs.size(); ++i) {
    if (module.name_of(instrs[i]) == first) found.producer = static_cast<ir::InstrId>(i);
    if (module.name_of(instrs[i]) == second) found.consumer = static_cast<ir::InstrId>(i);
  }
  return found;
}

/// Broken rules; the order of instructions is none that a plan minds: ids are to stay.
std::string broken(const ir::Module& module) {
  std::string what;
  for (const ir::Finding& finding : ir::verify(module)) {
    if (finding.what.find("stand before") != std::string::npos) continue;
    what += std::string(module.name_of(module.instr(finding.at.comp, finding.at.instr))) + ": " + finding.what + "\n";
  }
  return what;
}

std::string steps_of(const ir::Module& module) {
  const auto plan = make_plan(module, {});
  if (!plan.ok()) return plan.error().message;
  std::string names;
  for (const Step* step : plan->steps) names += (names.empty() ? "" : " ") + step->name + ":" + std::string(text(step->cls));
  return names;
}

constexpr const char* kChain = R"(
ENTRY main {
  x = f32[1024]{0} parameter(0)
  a = f32[1024]{0} exponential(x)
  b = f32[1024]{0} negate(a)
  c = f32[1024]{0} sine(b)
  d = f32[1024]{0} add(a, c)
  ROOT r = f32[1024]{0} sqrt(d)
})";

TEST(Fuse, ProducerAndItsOnlyReaderAreOneStep) {
  const ir::Module module = parsed(kChain);
  const auto fused = with_fused(module, {pair(module, "b", "c")});
  ASSERT_TRUE(fused.ok()) << fused.error().message;
  EXPECT_EQ(broken(**fused), "");
  EXPECT_EQ(steps_of(**fused), "a:kernel b+c:kernel d:kernel r:kernel");
}

TEST(Fuse, AProducerThatOthersReadIsASecondResult) {
  const ir::Module module = parsed(kChain);
  const auto fused = with_fused(module, {pair(module, "a", "b")});
  ASSERT_TRUE(fused.ok()) << fused.error().message;
  EXPECT_EQ(broken(**fused), "");
  EXPECT_EQ(steps_of(**fused), "a+b:kernel c:kernel d:kernel r:kernel");
}

TEST(Fuse, WhatRunsBetweenThemForbidsIt) {
  const ir::Module module = parsed(kChain);
  const auto fused = with_fused(module, {pair(module, "a", "d")});
  ASSERT_FALSE(fused.ok());
  EXPECT_EQ(fused.error().message, "a and d: b runs between them and needs the first");
}

TEST(Fuse, PairsThatWouldWaitForEachOtherAreRefused) {
  const ir::Module module = parsed(R"(
ENTRY main {
  x = f32[64]{0} parameter(0)
  a = f32[64]{0} exponential(x)
  b = f32[64]{0} negate(x)
  c = f32[64]{0} add(a, b)
  d = f32[64]{0} multiply(a, b)
  ROOT t = (f32[64]{0}, f32[64]{0}) tuple(c, d)
})");
  EXPECT_TRUE(with_fused(module, {pair(module, "a", "c")}).ok());
  const auto both = with_fused(module, {pair(module, "a", "c"), pair(module, "b", "d")});
  ASSERT_FALSE(both.ok());  // a+c needs b of b+d, and b+d needs a of a+c
  EXPECT_NE(both.error().message.find("runs between them"), std::string::npos) << both.error().message;
}

TEST(Fuse, AStepIsInOnePair) {
  const ir::Module module = parsed(kChain);
  const auto fused = with_fused(module, {pair(module, "a", "b"), pair(module, "b", "c")});
  ASSERT_FALSE(fused.ok());
  EXPECT_EQ(fused.error().message, "b: is in two pairs; try them one by one");
}

TEST(Fuse, StepsThatDoNotFollowOneAnotherAreNone) {
  const ir::Module module = parsed(kChain);
  EXPECT_EQ(with_fused(module, {pair(module, "b", "r")}).error().message, "r: does not read b");
  EXPECT_EQ(with_fused(module, {pair(module, "x", "a")}).error().message, "x: is no kernel that could be part of a fusion");
}

TEST(Fuse, OneElementOfSeveralResults) {
  const ir::Module module = parsed(R"(
body { p = f32[64]{0} parameter(0)  a = f32[64]{0} negate(p)  b = f32[64]{0} sine(p)  ROOT t = (f32[64]{0}, f32[64]{0}) tuple(a, b) }
ENTRY main {
  x = f32[64]{0} parameter(0)
  f = (f32[64]{0}, f32[64]{0}) fusion(x), kind=kLoop, calls=body
  u = f32[64]{0} get-tuple-element(f), index=0
  v = f32[64]{0} get-tuple-element(f), index=1
  c = f32[64]{0} exponential(u)
  ROOT d = f32[64]{0} add(c, v)
})");
  const auto fused = with_fused(module, {pair(module, "f", "c")});
  ASSERT_TRUE(fused.ok()) << fused.error().message;
  EXPECT_EQ(broken(**fused), "");
  EXPECT_EQ(steps_of(**fused), "f+c:kernel d:kernel");
}

constexpr kernel::Target kOneThread{};

TEST(Suggestions, RankWhatSavesMostTraffic) {
  const ir::Module module = parsed(R"(
ENTRY main {
  x = f32[1024]{0} parameter(0)
  y = f32[4096]{0} parameter(1)
  a = f32[1024]{0} exponential(x)
  b = f32[1024]{0} negate(a)
  c = f32[4096]{0} exponential(y)
  d = f32[4096]{0} negate(c)
  ROOT t = (f32[1024]{0}, f32[4096]{0}) tuple(b, d)
})");
  const auto found = suggestions(module, {10e9, 0}, Rounding::border, kOneThread).paying;
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "c+d");
  EXPECT_EQ(found[0].saved_bytes, 2 * 4096 * 4);
  EXPECT_DOUBLE_EQ(found[0].saved_ns, 2 * 4096 * 4 / 10.0);
  EXPECT_EQ(found[1].name, "a+b");
}

TEST(Suggestions, ArithmeticThatIsDoneAgainCounts) {
  // Fused, the exponential would be computed for each of 32768 readers in place of 8: at 100 MFLOP/s that takes longer than its traffic.
  const ir::Module module = parsed(R"(
ENTRY main {
  x = f32[8]{0} parameter(0)
  a = f32[8]{0} exponential(x)
  w = f32[8,4096]{1,0} broadcast(a), dimensions={0}
  ROOT b = f32[8,4096]{1,0} negate(w)
})");
  EXPECT_EQ(suggestions(module, {1e9, 0}, Rounding::border, kOneThread).paying.front().name, "w+b");
  const auto found = suggestions(module, {1e9, 1e8}, Rounding::border, kOneThread);
  EXPECT_TRUE(std::ranges::none_of(found.paying, [](const Suggestion& s) { return s.name == "a+w"; }));
}

TEST(Suggestions, WhatIsLessThanNoiseIsCountedOnly) {
  // 2 · 16 bytes at 10 GB/s: 3.2 ns, of steps that no clock times alone.
  const auto found = suggestions(parsed(R"(
ENTRY main { x = f32[4]{0} parameter(0)  a = f32[4]{0} exponential(x)  ROOT b = f32[4]{0} negate(a) })"),
                                 {10e9, 0}, Rounding::border, kOneThread);
  EXPECT_EQ(found.paying.size(), 0u);
  EXPECT_EQ(found.within_noise, 1u);
}

/// A scatter is made in memory, fused or not.
TEST(Suggestions, WhatAKernelKeepsInMemoryForItselfIsNotSaved) {
  const auto found = suggestions(parsed(R"(
add_ { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[4096]{0} parameter(0)
  i = s32[64]{0} parameter(1)
  u = f32[64]{0} parameter(2)
  a = f32[4096]{0} scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add_
  ROOT b = f32[4096]{0} negate(a)
})"),
                                 {10e9, 0}, Rounding::border, kOneThread);
  EXPECT_EQ(found.paying.size() + found.within_noise, 0u);
}

/// Alone, the addition turns tiles of an operand that lies across; a sum over it takes that operand's elements one by one.
TEST(Suggestions, ASumThatReadsAcrossTheGrainIsNoGain) {
  const auto found = [](const std::string& layout) {
    const std::string text = R"(
add_ { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[512,512]{LAYOUT} parameter(0)
  y = f32[512,512]{1,0} parameter(1)
  a = f32[512,512]{1,0} add(x, y)
  z = f32[] constant(0)
  ROOT s = f32[512]{0} reduce(a, z), dimensions={1}, to_apply=add_
})";
    return suggestions(parsed(std::string(text).replace(text.find("LAYOUT"), 6, layout)), {20e9, 0}, Rounding::border, kOneThread).paying;
  };
  ASSERT_EQ(found("1,0").size(), 1u);
  EXPECT_EQ(found("1,0")[0].name, "a+s");
  EXPECT_EQ(found("0,1").size(), 0u);
}

}  // namespace
}  // namespace replay
