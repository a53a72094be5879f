// Fusions as their parts: what is a launch of its own, what flows where, and that the program's own plan stays what it is.
#include "replay/defuse.h"

#include <gtest/gtest.h>

#include "planned.h"
#include "tests/support/in_place.h"

namespace replay {
namespace {

Parts all_ops(std::string_view) { return Parts::ops; }

std::unique_ptr<Planned> planned_apart(const std::string& text, Parts parts = Parts::ops) {
  auto module = importers::hlo::parse(text, "test.hlo");
  EXPECT_TRUE(module.ok()) << module.error().message;
  auto out = std::make_unique<Planned>();
  out->module = *std::move(module);
  PlanOptions options;
  options.parts = [parts](std::string_view) { return parts; };
  auto plan = make_plan(out->module, options);
  EXPECT_TRUE(plan.ok()) << plan.error().message;
  out->plan = *std::move(plan);
  return out;
}

std::string part_names(const Variant& variant) {
  std::string names;
  for (const Step& part : variant.parts) names += (names.empty() ? "" : " ") + part.name;
  return names;
}

constexpr const char* kSoftmax = R"(
max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT m = f32[] maximum(a, b) }
body {
  p = f32[8,64]{1,0} parameter(0)
  low = f32[] constant(-inf)
  m = f32[8]{0} reduce(p, low), dimensions={1}, to_apply=max
  wide = f32[8,64]{1,0} broadcast(m), dimensions={0}
  d = f32[8,64]{1,0} subtract(p, wide)
  flat = f32[512]{0} reshape(d)
  ROOT e = f32[512]{0} exponential(flat)
}
ENTRY main { x = f32[8,64]{1,0} parameter(0)  ROOT f = f32[512]{0} fusion(x), kind=kInput, calls=body })";

TEST(Defuse, EveryOperationIsALaunchAndBroadcastsAreReadThrough) {
  const auto p = planned_apart(kSoftmax);
  ASSERT_EQ(p->plan.variants.size(), 1u);
  const Variant& variant = p->plan.variants[0];
  EXPECT_EQ(variant.why, "");
  EXPECT_EQ(part_names(variant), "m d e");  // the broadcast and the reshape launch nothing
  EXPECT_EQ(variant.whole.launches.size(), 3u);
  const Step& subtract = variant.parts[1];
  ASSERT_EQ(subtract.in.size(), 2u);
  EXPECT_EQ(p->plan.buffers[static_cast<size_t>(subtract.in[1])].bytes, 8 * 4);  // eight maxima, not 512
}

TEST(Defuse, ResultsGoWhereTheFusionsGo) {
  const auto p = planned_apart(kSoftmax);
  const Variant& variant = p->plan.variants[0];
  EXPECT_EQ(p->root(variant.parts[2].out[0]), p->root(p->step("f").out[0]));
  EXPECT_TRUE(variant.save.launches.empty());
}

TEST(Defuse, TheProgramsOwnPlanStaysAsItIs) {
  const auto alone = planned(kSoftmax), apart = planned_apart(kSoftmax);
  EXPECT_EQ(apart->plan.program_buffers, alone->plan.buffers.size());
  for (size_t i = 0; i < alone->plan.buffers.size(); ++i) EXPECT_EQ(apart->plan.buffers[i].offset, alone->plan.buffers[i].offset);
  EXPECT_EQ(apart->plan.arena_bytes - apart->plan.variant_bytes, alone->plan.arena_bytes);
  EXPECT_EQ(apart->plan.steps.size(), alone->plan.steps.size());
  EXPECT_EQ(apart->plan.steps[0]->key, alone->plan.steps[0]->key);
}

TEST(Defuse, StepsToStartAreNumberedThrough) {
  const auto p = planned_apart(kSoftmax);
  const auto all = startable(p->plan);
  ASSERT_EQ(all.size(), 1u + 3 + 3);
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i]->id, static_cast<StepId>(i));
}

constexpr const char* kTwoFusions = R"(
small { p = f32[1024]{0} parameter(0)  a = f32[1024]{0} negate(p)  ROOT b = f32[1024]{0} exponential(a) }
large { p = f32[1024]{0} parameter(0)  q = f32[1024]{0} sine(p)  a = f32[1024]{0} negate(q)  b = f32[1024]{0} cosine(q)  ROOT c = f32[1024]{0} add(a, b) }
ENTRY main {
  x = f32[1024]{0} parameter(0)
  f = f32[1024]{0} fusion(x), kind=kLoop, calls=small
  ROOT g = f32[1024]{0} fusion(f), kind=kLoop, calls=large
})";

TEST(Defuse, AllVariantsShareTheMemoryOfTheLargest) {
  const auto p = planned_apart(kTwoFusions);
  ASSERT_EQ(p->plan.variants.size(), 2u);
  EXPECT_EQ(p->plan.variants[0].scratch_bytes, 4096);
  EXPECT_EQ(p->plan.variants[1].scratch_bytes, 3 * 4096);  // q lives beside a and b
  EXPECT_EQ(p->plan.variant_bytes, 3 * 4096);
}

TEST(Defuse, InnerFusionsAreTakenApartOrStayWhole) {
  constexpr const char* kNested = R"(
inner { p = f32[16]{0} parameter(0)  a = f32[16]{0} negate(p)  ROOT b = f32[16]{0} exponential(a) }
outer { p = f32[16]{0} parameter(0)  i = f32[16]{0} fusion(p), kind=kLoop, calls=inner  ROOT c = f32[16]{0} sine(i) }
ENTRY main { x = f32[16]{0} parameter(0)  ROOT f = f32[16]{0} fusion(x), kind=kLoop, calls=outer })";
  EXPECT_EQ(part_names(planned_apart(kNested)->plan.variants[0]), "a b c");
  EXPECT_EQ(part_names(planned_apart(kNested, Parts::calls)->plan.variants[0]), "i c");
  EXPECT_EQ(part_names(planned_apart(kNested, Parts::itself)->plan.variants[0]), "f");
}

TEST(Defuse, SeveralResultsEachHaveTheirPlace) {
  const auto p = planned_apart(R"(
body {
  p = f32[16]{0} parameter(0)
  a = f32[16]{0} negate(p)
  b = f32[16]{0} exponential(a)
  ROOT t = (f32[16]{0}, f32[16]{0}, f32[16]{0}) tuple(a, b, p)
}
ENTRY main {
  x = f32[16]{0} parameter(0)
  ROOT f = (f32[16]{0}, f32[16]{0}, f32[16]{0}) fusion(x), kind=kLoop, calls=body
})");
  const Variant& variant = p->plan.variants[0];
  EXPECT_EQ(part_names(variant), "a b f.out");  // the parameter that is a result is copied
  EXPECT_EQ(p->root(variant.parts[0].out[0]), p->root(p->step("f").out[0]));
  EXPECT_EQ(p->root(variant.parts[1].out[0]), p->root(p->step("f").out[1]));
}

TEST(Defuse, OperandsThatAreOverwrittenAreKept) {
  const auto p = planned_apart(support::fusion_in_place(64));
  const Variant& variant = p->plan.variants[0];
  ASSERT_EQ(p->root(p->step("f").out[0]), p->plan.parameters[0].buffer);  // the fusion works in place
  ASSERT_EQ(variant.save.launches.size(), 1u);
  EXPECT_EQ(std::get<Copy>(variant.save.launches[0]).from, p->plan.parameters[0].buffer);
  EXPECT_EQ(std::get<Copy>(variant.restore.launches[0]).to, p->plan.parameters[0].buffer);
  // `twice` reads w after `new` is made: new can't be made in w's memory at once.
  EXPECT_EQ(part_names(variant), "step new twice f.out");
}

TEST(Defuse, WhatHasNoMachineCodeSaysSo) {
  const auto p = planned_apart(R"(
body { p = f32[16]{0} parameter(0)  q = f32[16]{0} custom-call(p), custom_call_target="mystery"  ROOT c = f32[16]{0} sine(q) }
ENTRY main { x = f32[16]{0} parameter(0)  ROOT f = f32[16]{0} fusion(x), kind=kCustom, calls=body })");
  ASSERT_EQ(p->plan.variants.size(), 1u);
  EXPECT_NE(p->plan.variants[0].why, "");
  EXPECT_TRUE(p->plan.variants[0].parts.empty());
  EXPECT_EQ(startable(p->plan).size(), p->plan.steps.size());
}

TEST(Defuse, ACallOfItselfEnds) {
  const auto module = importers::hlo::parse(kSoftmax, "test.hlo");
  ir::Module looped = *module;
  const ir::CompId body = looped.find_computation("body");
  for (ir::Instr& instr : looped.comp(body).instrs) {
    if (instr.op == ir::Op::exponential) instr.op = ir::Op::fusion, instr.calls = {body};
  }
  const Defused defused = with_parts(looped, all_ops);
  for (const auto& [at, apart] : defused.fusions) EXPECT_NE(apart.why, "");
}

/// Of the fusion at the entry's root.
double done_again(const std::string& text) {
  const auto module =
      importers::hlo::parse("add_ { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }\n" + text, "test.hlo");
  EXPECT_TRUE(module.ok()) << module.error().message;
  return recomputed(*module, module->find_computation("body")).operations();
}

TEST(Recompute, CountsWhatIsReadAtOtherPlacesAgain) {
  // `a` is computed for each of 512 elements in place of 8; `n` is used twice, but at the same place.
  EXPECT_EQ(done_again(R"(
body {
  p = f32[8]{0} parameter(0)
  a = f32[8]{0} negate(p)
  wide = f32[8,64]{1,0} broadcast(a), dimensions={0}
  n = f32[8,64]{1,0} negate(wide)
  ROOT r = f32[8,64]{1,0} add(n, n)
}
ENTRY main { x = f32[8]{0} parameter(0)  ROOT f = f32[8,64]{1,0} fusion(x), kind=kLoop, calls=body })"),
            504);
}

TEST(Recompute, AReductionIsMadeOnceAndItsOperandsAsItGoes) {
  // Each exponential for its sum, and again for its share; the sums once, however many read them.
  EXPECT_EQ(done_again(R"(
body {
  p = f32[8,64]{1,0} parameter(0)
  e = f32[8,64]{1,0} exponential(p)
  z = f32[] constant(0)
  s = f32[8]{0} reduce(e, z), dimensions={1}, to_apply=add_
  wide = f32[8,64]{1,0} broadcast(s), dimensions={0}
  ROOT r = f32[8,64]{1,0} divide(e, wide)
}
ENTRY main { x = f32[8,64]{1,0} parameter(0)  ROOT f = f32[8,64]{1,0} fusion(x), kind=kLoop, calls=body })"),
            512);
}

TEST(Recompute, FusionsInFusionsAreOneBody) {
  // The logarithms of 8 sums are read by 64 each; the sums themselves are not made again.
  EXPECT_EQ(done_again(R"(
sums {
  q = f32[8,64]{1,0} parameter(0)
  z = f32[] constant(0)
  s = f32[8]{0} reduce(q, z), dimensions={1}, to_apply=add_
  l = f32[8]{0} log(s)
  ROOT t = (f32[8]{0}, f32[8]{0}) tuple(l, s)
}
lessen {
  a = f32[8,64]{1,0} parameter(0)
  b = f32[8]{0} parameter(1)
  wide = f32[8,64]{1,0} broadcast(b), dimensions={0}
  ROOT d = f32[8,64]{1,0} subtract(a, wide)
}
body {
  p = f32[8,64]{1,0} parameter(0)
  t = (f32[8]{0}, f32[8]{0}) fusion(p), kind=kInput, calls=sums
  l = f32[8]{0} get-tuple-element(t), index=0
  d = f32[8,64]{1,0} fusion(p, l), kind=kLoop, calls=lessen
  s = f32[8]{0} get-tuple-element(t), index=1
  ROOT r = (f32[8,64]{1,0}, f32[8]{0}, f32[8]{0}) tuple(d, l, s)
}
ENTRY main { x = f32[8,64]{1,0} parameter(0)  ROOT f = (f32[8,64]{1,0}, f32[8]{0}, f32[8]{0}) fusion(x), kind=kLoop, calls=body })"),
            512);
}

TEST(Recompute, ATransposeReadsAtOtherPlaces) {
  EXPECT_EQ(done_again(R"(
body {
  p = f32[32,32]{1,0} parameter(0)
  a = f32[32,32]{1,0} exponential(p)
  t = f32[32,32]{1,0} transpose(a), dimensions={1,0}
  ROOT r = f32[32,32]{1,0} add(a, t)
}
ENTRY main { x = f32[32,32]{1,0} parameter(0)  ROOT f = f32[32,32]{1,0} fusion(x), kind=kLoop, calls=body })"),
            1024);
}

TEST(Recompute, WhatNothingNeedsIsNotDoneAtAll) {
  EXPECT_EQ(done_again(R"(
body {
  p = f32[8]{0} parameter(0)
  unused = f32[8,64]{1,0} broadcast(p), dimensions={0}
  more = f32[8,64]{1,0} exponential(unused)
  ROOT r = f32[8]{0} negate(p)
}
ENTRY main { x = f32[8]{0} parameter(0)  ROOT f = f32[8]{0} fusion(x), kind=kLoop, calls=body })"),
            0);
}

}  // namespace
}  // namespace replay
