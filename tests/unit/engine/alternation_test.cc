// Fusions in turns with their parts: rounds, restored operands, loops, verdicts that neither cry wolf nor sleep.
#include "replay/alternation.h"

#include <gtest/gtest.h>

#include <cstring>

#include "importers/hlo/hlo.h"
#include "replay/device/devices.h"
#include "replay/engine.h"
#include "tests/support/in_place.h"

namespace replay {
namespace {

struct Kept : Observer {
  base::Status keep(const model::Pass&, std::span<const model::Sample> pass) override {
    samples.insert(samples.end(), pass.begin(), pass.end());
    return {};
  }
  std::vector<model::Sample> samples;
};

/// A program with all its fusions beside their parts.
struct Beside {
  Beside(const std::string& text, const char* device_name, Parts parts, EngineOptions options = {},
         std::unique_ptr<measure::Criterion> criterion = measure::exactly(3))
      : module(*importers::hlo::parse(text, "test.hlo")), device(*open_device(device_name, {})) {
    PlanOptions plan_options;
    plan_options.target = device->target();
    if (parts != Parts::none) plan_options.parts = [parts](std::string_view) { return parts; };
    plan = *make_plan(module, plan_options);
    const base::Status prepared = device->prepare(plan);
    EXPECT_TRUE(prepared.ok()) << prepared.error().message;
    EXPECT_TRUE(load_inputs(plan, *device, options.inputs).ok());
    Engine engine(plan, *device, std::move(options), stop);
    auto ran = engine.run(*criterion, kept);
    EXPECT_TRUE(ran.ok()) << ran.error().message;
    outcome = *std::move(ran);
  }
  std::vector<std::byte> output(size_t k) {
    std::vector<std::byte> storage;
    const auto bytes = host_bytes(plan, *device, plan.outputs.at(k).buffer, storage);
    return {bytes->begin(), bytes->end()};
  }
  /// Samples of one pass.
  std::vector<model::Sample> of(int pass, int variant) const {
    std::vector<model::Sample> found;
    for (const model::Sample& sample : kept.samples) {
      if (sample.pass == pass && sample.variant == variant) found.push_back(sample);
    }
    return found;
  }

  ir::Module module;
  std::unique_ptr<Device> device;
  Plan plan;
  std::atomic<bool> stop{false};
  Kept kept;
  Outcome outcome;
};

const std::string kFusionInPlace = support::fusion_in_place(4096);

constexpr const char* kAlternatingLoop = R"(
less { s = (s32[], f32[8]{0}) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(3)  ROOT c = pred[] compare(i, n), direction=LT }
body { p = f32[8]{0} parameter(0)  q = f32[8]{0} add(p, p)  one = f32[] constant(1)  ones = f32[8]{0} broadcast(one), dimensions={}  ROOT r = f32[8]{0} subtract(q, ones) }
next {
  s = (s32[], f32[8]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[8]{0} get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  w = f32[8]{0} fusion(v), kind=kAlternatingLoop, calls=body
  ROOT r = (s32[], f32[8]{0}) tuple(j, w)
}
ENTRY main {
  zero = s32[] constant(0)
  a = f32[8]{0} parameter(0)
  s = (s32[], f32[8]{0}) tuple(zero, a)
  l = (s32[], f32[8]{0}) while(s), condition=less, body=next
  v = f32[8]{0} get-tuple-element(l), index=1
  ROOT o = f32[8]{0} negate(v)
})";

TEST(Alternation, OperandsAreRestoredSoThatResultsAreThoseOfTheProgram) {
  for (const std::string& text : {kFusionInPlace, std::string(kAlternatingLoop)}) {
    Beside alone(text, "cpu", Parts::none), beside(text, "cpu", Parts::ops);
    for (size_t k = 0; k < alone.plan.outputs.size(); ++k) EXPECT_EQ(beside.output(k), alone.output(k)) << k;
  }
}

TEST(Alternation, ARoundIsTwiceFusedAndTwiceApart) {
  Beside run(kFusionInPlace, "null", Parts::ops);
  const auto own = run.of(0, 0), apart = run.of(0, 1), fused = run.of(0, 2);
  ASSERT_EQ(apart.size(), 32u);  // rounds
  ASSERT_EQ(fused.size(), 32u);
  EXPECT_EQ(own.size(), 1u);
  for (size_t r = 0; r < apart.size(); ++r) {
    EXPECT_EQ(apart[r].round, static_cast<int>(r));
    EXPECT_EQ(fused[r].step, run.plan.variants[0].fused);
    // The virtual clock: a fusion of 4 arrays of 16 KiB; its parts (2 + 3 + 2 arrays, and a copy that takes its start alone).
    EXPECT_EQ(fused[r].duration_ns / fused[r].executions, 1000 + 6554);
    EXPECT_EQ(apart[r].duration_ns / apart[r].executions, 4 * 1000 + 3277 + 4915 + 3277);
  }
}

TEST(Alternation, InALoopASampleIsTheSumOverItsTrips) {
  Beside run(kAlternatingLoop, "cpu", Parts::ops);  // which knows when the loop ends
  ASSERT_EQ(run.of(1, 1).size(), 1u);
  EXPECT_EQ(run.of(1, 1)[0].executions, 3);
  EXPECT_EQ(run.of(1, 2)[0].executions, 3);
}

TEST(Alternation, TheStepsOwnTimesAreThoseOfARunWithout) {
  Beside alone(kFusionInPlace, "null", Parts::none), beside(kFusionInPlace, "null", Parts::ops);
  EXPECT_EQ(alone.outcome.seconds, beside.outcome.seconds);
  ASSERT_EQ(alone.outcome.pass_seconds.size(), beside.outcome.pass_seconds.size());
  for (size_t i = 0; i < alone.outcome.pass_seconds.size(); ++i)
    EXPECT_NEAR(alone.outcome.pass_seconds[i], beside.outcome.pass_seconds[i], 1e-12);
}

/// Of times that are exact three passes are enough: the parts have been timed one by one as often as they are.
TEST(Alternation, WhatIsSettledRunsNoMore) {
  Beside run(kFusionInPlace, "null", Parts::ops, {}, measure::exactly(5));
  EXPECT_EQ(run.of(2, 1).size(), 32u);
  EXPECT_EQ(run.of(3, 1).size(), 0u);
  EXPECT_EQ(run.of(4, 2).size(), 0u);
  EXPECT_EQ(run.of(4, 0).size(), 1u);
  EXPECT_EQ(run.outcome.passes, 5);
}

/// Satisfied after one pass, with time for `most`.
class Satisfied final : public measure::Criterion {
 public:
  explicit Satisfied(int most) : most_(most) {}
  void add(double, double) override { ++passes_; }
  bool done() const override { return passes_ > 0; }
  bool spent() const override { return passes_ >= most_; }
  std::string reason() const override { return ""; }
  double left_s() const override { return 0; }

 private:
  int most_, passes_ = 0;
};

TEST(Alternation, ARunGoesOnUntilComparisonsAreSettledOrTheBudgetIsSpent) {
  for (const auto& [most, passes] : {std::pair{9, 3}, {2, 2}}) {
    Beside run(kFusionInPlace, "null", Parts::ops, {}, std::make_unique<Satisfied>(most));
    EXPECT_EQ(run.outcome.passes, passes);
  }
  EXPECT_EQ(Beside(kFusionInPlace, "null", Parts::none, {}, std::make_unique<Satisfied>(9)).outcome.passes, 1);
}

TEST(Alternation, PartsAreVerifiedOneByOne) {
  for (const std::string& text : {kFusionInPlace, std::string(kAlternatingLoop)}) {
    EngineOptions options;
    options.verify = true;
    Beside run(text, "cpu", Parts::ops, options);
    EXPECT_EQ(run.outcome.failed_step, -1) << (run.outcome.failed_step < 0
                                                   ? ""
                                                   : run.outcome.verdicts[static_cast<size_t>(run.outcome.failed_step)].place);
    for (const Step& part : run.plan.variants[0].parts)
      EXPECT_GT(run.outcome.verdicts[static_cast<size_t>(part.id)].elements, 0) << part.name;
  }
}

TEST(Alternation, PartsHaveTimesOfTheirOwn) {
  Beside run(kFusionInPlace, "null", Parts::ops);
  ASSERT_EQ(run.outcome.part_seconds.size(), 1u);
  EXPECT_NEAR(run.outcome.part_seconds[0][0], (1000 + 3277) * 1e-9, 1e-12);
}

}  // namespace
}  // namespace replay
