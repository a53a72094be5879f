// Updates in place, loops that fill their state, products inside fusions.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/plan/planned.h"

namespace replay {
namespace {

/// A loop over (counter, array) whose body ends in `body`; it has i, s, zero, one, row f32[1,4096] and next = i + 1.
std::string loop(const std::string& body, const std::string& init = "z") {
  return R"(
cond { p = (s32[], f32[8,4096]{1,0}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(8)
  ROOT c = pred[] compare(i, n), direction=LT }
body { p = (s32[], f32[8,4096]{1,0}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  s = f32[8,4096]{1,0} get-tuple-element(p), index=1
  zero = s32[] constant(0)
  one = s32[] constant(1)
  f = f32[] convert(i)
  row = f32[1,4096]{1,0} broadcast(f), dimensions={}
  next = s32[] add(i, one)
)" + body +
         R"(
  ROOT t = (s32[], f32[8,4096]{1,0}) tuple(next, made) }
ENTRY main {
  a = f32[8,4096]{1,0} parameter(0)
  z = f32[8,4096]{1,0} negate(a)
  i = s32[] constant(0)
  t = (s32[], f32[8,4096]{1,0}) tuple(i, )" +
         init + R"()
  w = (s32[], f32[8,4096]{1,0}) while(t), condition=cond, body=body
  ROOT r = f32[8,4096]{1,0} get-tuple-element(w), index=1
})";
}

/// Is the loop's second state copied where its body ends?
bool copies(const Planned& p, const std::string& name) {
  const Step& move = p.step(name);
  return std::ranges::any_of(move.launches, [&](const Launch& launch) {
    const auto* copy = std::get_if<Copy>(&launch);
    return copy != nullptr && p.plan.buffers[static_cast<size_t>(copy->to)].bytes > 4096;
  });
}

TEST(InPlace, ALoopFillsItsStateSliceBySlice) {
  const auto p = planned(loop("made = f32[8,4096]{1,0} dynamic-update-slice(s, row, i, zero)"));
  const Step& update = p->step("made");
  EXPECT_EQ(p->root(update.in[0]), p->root(update.out[0]));
  EXPECT_EQ(update.in_place.size(), 1u);
  EXPECT_FALSE(copies(*p, "w.next"));
  EXPECT_FALSE(copies(*p, "w.init"));  // z dies there
  EXPECT_EQ(p->root(p->plan.outputs[0].buffer), p->root(update.out[0]));
}

TEST(InPlace, AParameterIsNotOverwritten) {
  const auto p = planned(loop("made = f32[8,4096]{1,0} dynamic-update-slice(s, row, i, zero)", "a"));
  EXPECT_TRUE(copies(*p, "w.init"));
  EXPECT_NE(p->root(p->step("made").out[0]), p->plan.parameters[0].buffer);
}

TEST(InPlace, AStateThatIsReadAfterTheUpdateKeepsItsOldValue) {
  const auto p = planned(loop("u = f32[8,4096]{1,0} dynamic-update-slice(s, row, i, zero)\n  made = f32[8,4096]{1,0} add(s, u)"));
  const Step& update = p->step("u");
  EXPECT_NE(p->root(update.in[0]), p->root(update.out[0]));
  EXPECT_TRUE(update.in_place.empty());
  EXPECT_FALSE(copies(*p, "w.next"));  // the sum is made element by element in the state
}

TEST(InPlace, AStateThatIsReadWithAnUpdateIsCopied) {
  const auto p = planned(loop("r = f32[8,4096]{1,0} reverse(s), dimensions={0}\n  made = f32[8,4096]{1,0} subtract(s, r)"));
  EXPECT_FALSE(copies(*p, "w.next"));  // r is made before
  const auto q = planned(loop("made = f32[8,4096]{1,0} reverse(s), dimensions={0}"));
  EXPECT_TRUE(copies(*q, "w.next"));
}

TEST(InPlace, UpdatesInARowShareOneBufferUnlessTheOldValueIsNeeded) {
  const auto p = planned(R"(
ENTRY main {
  a = f32[8,4096]{1,0} parameter(0)
  r = f32[1,4096]{1,0} parameter(1)
  i = s32[] parameter(2)
  z = f32[8,4096]{1,0} negate(a)
  x = f32[8,4096]{1,0} dynamic-update-slice(z, r, i, i)
  y = f32[8,4096]{1,0} dynamic-update-slice(x, r, i, i)
  v = f32[8,4096]{1,0} dynamic-update-slice(y, r, i, i)
  ROOT t = (f32[8,4096]{1,0}, f32[8,4096]{1,0}) tuple(y, v)
})");
  EXPECT_EQ(p->root(p->step("z").out[0]), p->root(p->step("y").out[0]));
  EXPECT_NE(p->root(p->step("y").out[0]), p->root(p->step("v").out[0]));
}

/// A step of training: w and v get new values from gradient g; `more` are further lines, `alias` says whose memory the results take.
std::string training(const std::string& more, const std::string& results = "new.w, new.v",
                     const std::string& alias = "{ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }") {
  return "HloModule m, input_output_alias=" + alias + R"(

f {
  w = f32[4096]{0} parameter(0)
  v = f32[4096]{0} parameter(1)
  g = f32[4096]{0} parameter(2)
  nv = f32[4096]{0} add(v, g)
  nw = f32[4096]{0} subtract(w, v)
  ROOT t = (f32[4096]{0}, f32[4096]{0}) tuple(nw, nv)
}

ENTRY main {
  w = f32[4096]{0} parameter(0)
  v = f32[4096]{0} parameter(1)
  g = f32[4096]{0} parameter(2)
  u = (f32[4096]{0}, f32[4096]{0}) fusion(w, v, g), kind=kLoop, calls=f
  new.w = f32[4096]{0} get-tuple-element(u), index=0
  new.v = f32[4096]{0} get-tuple-element(u), index=1
)" + more +
         "  ROOT r = (f32[4096]{0}, f32[4096]{0}) tuple(" + results + ")\n}\n";
}

bool stands_in(const Planned& p, size_t output, size_t parameter) {
  return p.root(p.plan.outputs[output].buffer) == p.plan.parameters[parameter].buffer;
}

TEST(Donated, ResultsTakeTheMemoryOfParametersThatTheyReplace) {
  const auto p = planned(training(""));
  EXPECT_TRUE(stands_in(*p, 0, 0));
  EXPECT_TRUE(stands_in(*p, 1, 1));
  EXPECT_EQ(p->step("u").in_place.size(), 2u);
  EXPECT_EQ(p->plan.overwritten.size(), 2u);
  EXPECT_EQ(p->plan.arena_bytes, 0);
}

TEST(Donated, AParameterThatIsReadLaterIsKept) {
  const auto p = planned(training("  late = f32[4096]{0} add(v, new.v)\n"));
  EXPECT_TRUE(stands_in(*p, 0, 0));
  EXPECT_FALSE(stands_in(*p, 1, 1));
}

TEST(Donated, OnlyWhatTheProgramSays) {
  const auto p = planned(training("", "new.w, new.v", "{ {0}: (0, {}, may-alias) }"));
  EXPECT_TRUE(stands_in(*p, 0, 0));
  EXPECT_FALSE(stands_in(*p, 1, 1));
}

TEST(Donated, AResultThatReadsOtherElementsIsMadeElsewhere) {
  const auto p = planned(training("  back = f32[4096]{0} reverse(v), dimensions={0}\n", "new.w, back"));
  EXPECT_FALSE(stands_in(*p, 1, 1));
}

TEST(FusedProducts, AFusionOfAProductIsAProduct) {
  const auto p = planned(R"(
f { x = f32[16,32]{1,0} parameter(0)  y = f32[32,8]{1,0} parameter(1)
  d = f32[16,8]{1,0} dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT b = f32[4,4,8]{2,1,0} bitcast(d) }
ENTRY main {
  a = f32[16,32]{1,0} parameter(0)
  c = f32[32,8]{1,0} parameter(1)
  ROOT r = f32[4,4,8]{2,1,0} fusion(a, c), kind=kCustom, calls=f
})");
  EXPECT_EQ(p->plan.steps[0]->cls, Class::library);
  ASSERT_EQ(p->plan.steps[0]->launches.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<Gemm>(p->plan.steps[0]->launches[0]));
}

TEST(FusedProducts, WhatIsLeftOfAFusionIsAKernelOnTheProduct) {
  const auto p = planned(R"(
f { x = f32[64,64]{1,0} parameter(0)  y = f32[64,64]{1,0} parameter(1)
  d = f32[64,64]{1,0} dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  e = f32[64,64]{1,0} exponential(d)
  ROOT r = f32[64,64]{1,0} add(e, y) }
ENTRY main {
  a = f32[64,64]{1,0} parameter(0)
  ROOT r = f32[64,64]{1,0} fusion(a, a), kind=kLoop, calls=f
})");
  const Step& step = *p->plan.steps[0];
  ASSERT_EQ(step.launches.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<Gemm>(step.launches[0]));
  EXPECT_EQ(std::get<KernelCall>(step.launches[1]).args.size(), 4u);  // two operands, the product, the result
}

TEST(FusedProducts, AProductOfWhatTheFusionMakesStaysInItsKernel) {
  const auto p = planned(R"(
f { x = f32[64,64]{1,0} parameter(0)
  n = f32[64,64]{1,0} negate(x)
  ROOT d = f32[64,64]{1,0} dot(n, x), lhs_contracting_dims={1}, rhs_contracting_dims={0} }
ENTRY main {
  a = f32[64,64]{1,0} parameter(0)
  ROOT r = f32[64,64]{1,0} fusion(a), kind=kLoop, calls=f
})");
  EXPECT_EQ(p->plan.steps[0]->cls, Class::kernel);
}

}  // namespace
}  // namespace replay
