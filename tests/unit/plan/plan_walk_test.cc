// Plans of programs with calls, loops, branches and tuples: which steps there are, what they read and write, how long buffers live.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/plan/planned.h"

namespace replay {
namespace {

std::vector<std::string> names(const Plan& plan) {
  std::vector<std::string> out;
  for (const Step* step : plan.steps) out.push_back(step->name);
  return out;
}

using Names = std::vector<std::string>;

TEST(PlanWalk, TuplesAndBitcastsMakeNoSteps) {
  const auto p = planned(R"(
ENTRY main {
  a = f32[6]{0} parameter(0)
  t = (f32[6]{0}, f32[6]{0}) tuple(a, a)
  g = f32[6]{0} get-tuple-element(t), index=1
  b = f32[2,3]{1,0} bitcast(g)
  ROOT n = f32[2,3]{1,0} negate(b)
})");
  EXPECT_EQ(names(p->plan), Names{"n"});
  const Buffer& operand = p->plan.buffers[static_cast<size_t>(p->plan.steps[0]->in[0])];
  EXPECT_EQ(operand.alias_of, p->plan.parameters[0].buffer);
  EXPECT_EQ(operand.shape.dims, (std::vector<int64_t>{2, 3}));
}

TEST(PlanWalk, AReshapeIsAStepOnlyWhereItMovesMemory) {
  const auto p = planned(R"(
ENTRY main {
  a = f32[6]{0} parameter(0)
  r = f32[2,3]{1,0} reshape(a)
  n = f32[2,3]{1,0} negate(r)
  columns = f32[3,2]{0,1} reshape(n)
  ROOT t = (f32[2,3]{1,0}, f32[3,2]{0,1}) tuple(n, columns)
})");
  EXPECT_EQ(names(p->plan), (Names{"n", "columns"}));
  const Buffer& operand = p->plan.buffers[static_cast<size_t>(p->plan.steps[0]->in[0])];
  EXPECT_EQ(operand.alias_of, p->plan.parameters[0].buffer);
}

TEST(PlanWalk, CallsAreInlined) {
  const auto p = planned(R"(
twice { x = f32[4]{0} parameter(0)  ROOT y = f32[4]{0} add(x, x) }
ENTRY main {
  a = f32[4]{0} parameter(0)
  b = f32[4]{0} call(a), to_apply=twice
  ROOT c = f32[4]{0} call(b), to_apply=twice
})");
  EXPECT_EQ(names(p->plan), (Names{"y", "y"}));
  EXPECT_EQ(p->plan.kernels.size(), 1u);
  EXPECT_EQ(p->plan.steps[0]->key, p->plan.steps[1]->key);
  EXPECT_EQ(p->plan.steps[1]->in[0], p->plan.steps[0]->out[0]);
}

TEST(PlanWalk, LoopsCarryTheirStateByCopies) {
  const auto p = planned(R"(
less { s = (s32[], f32[8]{0}) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(3)  ROOT c = pred[] compare(i, n), direction=LT }
next {
  s = (s32[], f32[8]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[8]{0} get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  w = f32[8]{0} add(v, v)
  ROOT r = (s32[], f32[8]{0}) tuple(j, w)
}
ENTRY main {
  zero = s32[] constant(0)
  a = f32[8]{0} parameter(0)
  s = (s32[], f32[8]{0}) tuple(zero, a)
  l = (s32[], f32[8]{0}) while(s), condition=less, body=next
  ROOT v = f32[8]{0} get-tuple-element(l), index=1
})");
  EXPECT_EQ(names(p->plan), (Names{"l.init", "c", "j", "w", "l.next"}));
  const auto& loop = *std::get<std::unique_ptr<Loop>>(p->plan.block.at(1));
  EXPECT_EQ(loop.state.size(), 2u);
  EXPECT_EQ(p->plan.outputs[0].buffer, loop.state[1]);
  for (const BufferId state : loop.state) {  // alive in every iteration
    EXPECT_LE(p->plan.buffers[static_cast<size_t>(state)].first, 0);
    EXPECT_GE(p->plan.buffers[static_cast<size_t>(state)].last, 4);
  }
}

TEST(PlanWalk, ASwapOfStatesGoesThroughScratch) {
  const auto p = planned(R"(
never { s = (f32[8]{0}, f32[8]{0}) parameter(0)  ROOT c = pred[] constant(false) }
swap {
  s = (f32[8]{0}, f32[8]{0}) parameter(0)
  a = f32[8]{0} get-tuple-element(s), index=0
  b = f32[8]{0} get-tuple-element(s), index=1
  ROOT r = (f32[8]{0}, f32[8]{0}) tuple(b, a)
}
ENTRY main {
  a = f32[8]{0} parameter(0)
  b = f32[8]{0} parameter(1)
  s = (f32[8]{0}, f32[8]{0}) tuple(a, b)
  ROOT l = (f32[8]{0}, f32[8]{0}) while(s), condition=never, body=swap
})");
  const Step& step = *p->plan.steps.back();
  EXPECT_EQ(step.name, "l.next");
  EXPECT_EQ(step.scratch.size(), 2u);
  EXPECT_EQ(step.launches.size(), 4u);  // both saved before either is overwritten
  EXPECT_EQ(std::get<Copy>(step.launches[0]).to, step.scratch[0]);
  EXPECT_EQ(std::get<Copy>(step.launches[1]).to, step.scratch[1]);
}

TEST(PlanWalk, BranchesLeaveTheirResultInOnePlace) {
  const auto p = planned(R"(
up { x = f32[8]{0} parameter(0)  ROOT y = f32[8]{0} exponential(x) }
same { x = f32[8]{0} parameter(0)  ROOT y = f32[8]{0} copy(x) }
ENTRY main {
  p = pred[] parameter(0)
  a = f32[8]{0} parameter(1)
  ROOT c = f32[8]{0} conditional(p, a, a), true_computation=up, false_computation=same
})");
  const auto& branch = *std::get<std::unique_ptr<Branch>>(p->plan.block.at(0));
  EXPECT_EQ(branch.blocks.size(), 2u);
  EXPECT_EQ(names(p->plan), (Names{"y", "c.branch0", "y", "c.branch1"}));
  EXPECT_EQ(p->plan.steps[1]->out[0], p->plan.outputs[0].buffer);
  EXPECT_EQ(p->plan.steps[3]->out[0], p->plan.outputs[0].buffer);
}

TEST(PlanWalk, AnAddendThatDiesIsOverwritten) {
  const auto p = planned(R"(
ENTRY main {
  a = f32[4,4]{1,0} parameter(0)
  c = f32[4,4]{1,0} negate(a)
  ROOT d = f32[4,4]{1,0} custom-call(a, a, c), custom_call_target="__cublas$gemm", backend_config="{\"alpha_real\":1,\"beta\":1,\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"1\"],\"rhs_contracting_dimensions\":[\"0\"],\"lhs_batch_dimensions\":[],\"rhs_batch_dimensions\":[]}}"
})");
  const Step& product = *p->plan.steps.back();
  EXPECT_EQ(product.launches.size(), 1u);
  ASSERT_EQ(product.in_place.size(), 1u);
  EXPECT_EQ(p->plan.buffers[static_cast<size_t>(product.out[0])].alias_of, product.in[2]);
}

TEST(PlanWalk, AnAddendThatIsAParameterIsCopied) {
  const auto p = planned(R"(
ENTRY main {
  a = f32[4,4]{1,0} parameter(0)
  c = f32[4,4]{1,0} parameter(1)
  ROOT d = f32[4,4]{1,0} custom-call(a, a, c), custom_call_target="__cublas$gemm", backend_config="{\"alpha_real\":1,\"beta\":1,\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"1\"],\"rhs_contracting_dimensions\":[\"0\"],\"lhs_batch_dimensions\":[],\"rhs_batch_dimensions\":[]}}"
})");
  EXPECT_EQ(p->plan.steps[0]->launches.size(), 2u);
  EXPECT_TRUE(p->plan.steps[0]->in_place.empty());
}

TEST(PlanWalk, AnUnknownCustomCallIsSkippedByName) {
  const auto p = planned(R"(
ENTRY main {
  a = f32[4]{0} parameter(0)
  ROOT d = f32[4]{0} custom-call(a), custom_call_target="mystery"
})");
  EXPECT_EQ(p->plan.steps[0]->cls, Class::skip);
  EXPECT_NE(p->plan.steps[0]->why.find("mystery"), std::string::npos);
}

TEST(PlanWalk, StepsWithDifferentConstantsShareNoKernel) {
  const auto p = planned(R"(
ENTRY main {
  a = s32[] constant(3)
  b = s32[] constant(5)
  x = s32[4]{0} broadcast(a), dimensions={}
  y = s32[4]{0} broadcast(b), dimensions={}
  z = s32[4]{0} broadcast(a), dimensions={}
  ROOT t = (s32[4]{0}, s32[4]{0}, s32[4]{0}) tuple(x, y, z)
})");
  EXPECT_NE(p->plan.steps[0]->key, p->plan.steps[1]->key);
  EXPECT_EQ(p->plan.steps[0]->key, p->plan.steps[2]->key);
  EXPECT_EQ(p->plan.kernels.size(), 2u);
}

TEST(PlanWalk, OperandsMayStandAfterTheirUsers) {
  const auto p = planned(R"(
ENTRY main {
  a = f32[4]{0} parameter(0)
  ROOT c = f32[4]{0} negate(b)
  b = f32[4]{0} exponential(a)
})");
  EXPECT_EQ(names(p->plan), (Names{"b", "c"}));
}

TEST(PlanWalk, AsynchronousPairsRunTheirBodyWhereTheyStart) {
  const auto p = planned(R"(
body { x = f32[4]{0} parameter(0)  ROOT y = f32[4]{0} negate(x) }
ENTRY main {
  a = f32[4]{0} parameter(0)
  s = ((f32[4]{0}), f32[4]{0}, s32[]) async-start(a), calls=body
  b = f32[4]{0} add(a, a)
  u = ((f32[4]{0}), f32[4]{0}, s32[]) async-update(s)
  d = f32[4]{0} async-done(u)
  ROOT c = f32[4]{0} add(b, d)
})");
  EXPECT_EQ(names(p->plan), (Names{"y", "b", "c"}));
  EXPECT_EQ(p->plan.steps[2]->in[1], p->plan.steps[0]->out[0]);
}

TEST(PlanWalk, AnAnnotationIsAnAliasUnlessItChangesTheLayout) {
  const auto p = planned(R"(
ENTRY main {
  a = f32[2,3]{1,0} parameter(0)
  b = f32[2,3]{1,0} custom-call(a), custom_call_target="Sharding"
  ROOT c = f32[2,3]{0,1} custom-call(b), custom_call_target="LayoutConstraint"
})");
  EXPECT_EQ(names(p->plan), Names{"c.laid_out"});
  EXPECT_EQ(p->plan.steps[0]->cls, Class::copy);
}

/// As JAX writes a scan over a transposed array: the state arrives in another layout than the body's parameter has.
TEST(PlanWalk, TheStateOfALoopIsRearrangedOutsideIt) {
  const auto p = planned(R"(
body {
  s = (s32[], f32[4,2]{1,0}, f32[4,2]{1,0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4,2]{1,0} get-tuple-element(s), index=1
  y = f32[4,2]{1,0} get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  z = f32[4,2]{1,0} add(x, y)
  ROOT n = (s32[], f32[4,2]{1,0}, f32[4,2]{1,0}) tuple(j, x, z)
}
cond {
  s = (s32[], f32[4,2]{1,0}, f32[4,2]{1,0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  most = s32[] constant(8)
  ROOT c = pred[] compare(i, most), direction=LT
}
ENTRY main {
  a = f32[2,4]{1,0} parameter(0)
  zero = s32[] constant(0)
  t = f32[4,2]{0,1} transpose(a), dimensions={1,0}
  b = f32[4,2]{1,0} parameter(1)
  init = (s32[], f32[4,2]{0,1}, f32[4,2]{1,0}) tuple(zero, t, b)
  w = (s32[], f32[4,2]{0,1}, f32[4,2]{1,0}) while(init), condition=cond, body=body
  ROOT r = f32[4,2]{1,0} get-tuple-element(w), index=2
})");
  const Names all = names(p->plan);
  EXPECT_EQ(std::ranges::count(all, "w.init.1.laid_out"), 1);
  EXPECT_EQ(std::ranges::count_if(all, [](const std::string& name) { return name.ends_with(".laid_out"); }), 2)
      << "into and out of the loop";
}

TEST(PlanWalk, WhatNobodyKnowsIsSkippedWithItsName) {
  const auto p = planned(R"(
ENTRY main {
  a = f32[4]{0} parameter(0)
  b = f32[4]{0} custom-call(a), custom_call_target="my_kernel"
  t = token[] after-all()
  o = token[] outfeed(b, t)
  ROOT c = f32[4]{0} add(b, b)
})");
  EXPECT_EQ(names(p->plan), (Names{"b", "o", "c"}));
  EXPECT_EQ(p->plan.steps[0]->cls, Class::skip);
  EXPECT_EQ(p->plan.steps[0]->why, "custom-call my_kernel: what it computes is not known");
  EXPECT_EQ(p->plan.steps[1]->why, "outfeed: talks to the world outside the device");
}

/// What a call means is not known, or not in this form: no step for the reference to fail at.
TEST(PlanWalk, CallsOfConvolutionsOfUnknownFormAreLeftOutWithTheReason) {
  const auto p = planned(R"(HloModule m
ENTRY e {
  x = s8[4,2,8,8,32] parameter(0)
  w = s8[64,2,3,3,32] parameter(1)
  f = s8[64,2,3,3,32] custom-call(w), custom_call_target="__cudnn$convReorderFilter"
  v = (s8[4,2,8,8,32], u8[8]) custom-call(x, f), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01, custom_call_target="__cudnn$convForward"
  a = f32[1,4,4,2] parameter(2)
  b = f32[1,1,2,2] parameter(3)
  c = f32[2] parameter(4)
  n = (f32[1,4,4,2], u8[8]) custom-call(a, b, c), window={size=1x1}, dim_labels=b01f_01io->b01f, custom_call_target="__cudnn$convBiasActivationForward", backend_config={"activation_mode":"kNew"}
  g = (f32[1,4,4,2], u8[8]) custom-call(a, b, c), window={size=1x1}, dim_labels=b01f_01io->b01f, custom_call_target="__cudnn$convForwardGraph", backend_config={"serialized_graph":"1:[f32]conv();2:[f32]amax(1);"}
  z = c64[2,2] parameter(5)
  ROOT q = c64[2,2] custom-call(z, z), custom_call_target="__cublas$gemm", backend_config={"alpha_real":1,"alpha_imag":1,"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"]}}
}
)");
  const std::pair<const char*, const char*> cases[] = {
      {"f", "custom-call __cudnn$convReorderFilter: what it computes is not known"},
      {"v", "custom-call __cudnn$convForward of arrays of 5 dimensions, of which dim_labels names 4"},
      {"n", "custom-call __cudnn$convBiasActivationForward with activation knew"},
      {"g", "custom-call __cudnn$convForwardGraph: what it computes is not known"},
      {"q", "backend_config of 'q': a complex factor"},
  };
  for (const auto& [name, why] : cases) {
    EXPECT_EQ(p->step(name).cls, Class::skip) << name;
    EXPECT_EQ(p->step(name).why, why) << name;
  }
}

}  // namespace
}  // namespace replay
