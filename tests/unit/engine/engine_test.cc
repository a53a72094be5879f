// The measuring protocol: what a sample is, when passes end, what an interruption leaves.
#include "replay/engine.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "importers/hlo/hlo.h"
#include "replay/device/devices.h"

namespace replay {
namespace {

constexpr const char* kLoop = R"(
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
  v = f32[8]{0} get-tuple-element(l), index=1
  ROOT o = f32[8]{0} negate(v)
})";

struct Recorded : Observer {
  base::Status keep(const model::Pass& pass, std::span<const model::Sample> samples) override {
    passes.push_back(pass);
    last.assign(samples.begin(), samples.end());
    return {};
  }
  std::vector<model::Pass> passes;
  std::vector<model::Sample> last;
};

/// A program on a device, ready to run.
struct Ready {
  Ready(const char* text, const char* device_name, EngineOptions options)
      : module(*importers::hlo::parse(text, "test.hlo")), device(*open_device(device_name, {})) {
    PlanOptions plan_options;
    plan_options.target = device->target();
    plan_options.reference_only = device->evaluates();
    plan = *make_plan(module, plan_options);
    EXPECT_TRUE(device->prepare(plan).ok());
    InputOptions inputs;
    inputs.recipes = *parse_recipes(R"({"params": {"0": {"constant": 1}}})", "recipe");
    EXPECT_TRUE(load_inputs(plan, *device, inputs).ok());
    options.inputs = inputs;
    engine = std::make_unique<Engine>(plan, *device, std::move(options), stop);
  }
  float output() {
    std::vector<std::byte> storage;
    const auto bytes = host_bytes(plan, *device, plan.outputs.at(0).buffer, storage);
    float value = 0;
    std::memcpy(&value, bytes->data(), sizeof value);
    return value;
  }
  /// The first element of the second output.
  float second() {
    std::vector<std::byte> storage;
    const auto bytes = host_bytes(plan, *device, plan.outputs.at(1).buffer, storage);
    float value = 0;
    std::memcpy(&value, bytes->data(), sizeof value);
    return value;
  }
  const model::Sample* sample(const std::string& step) const {
    for (const model::Sample& s : recorded.last) {
      if (plan.steps[static_cast<size_t>(s.step)]->name == step) return &s;
    }
    return nullptr;
  }

  ir::Module module;
  std::unique_ptr<Device> device;
  Plan plan;
  std::atomic<bool> stop{false};
  std::unique_ptr<Engine> engine;
  Recorded recorded;
};

class OnDevice : public testing::TestWithParam<const char*> {};

TEST_P(OnDevice, LoopsRunForRealAndASampleIsTheirSum) {
  Ready ready(kLoop, GetParam(), {});
  const auto outcome = ready.engine->run(*measure::exactly(2), ready.recorded);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(ready.output(), -8.0F);  // 1 · 2³, negated: every pass starts from the same inputs
  EXPECT_EQ(ready.recorded.passes.size(), 2u);
  ASSERT_NE(ready.sample("w"), nullptr);
  EXPECT_EQ(ready.sample("w")->executions, 3);
  EXPECT_EQ(ready.sample("c")->executions, 4);
}

TEST_P(OnDevice, VerificationPasses) {
  EngineOptions options;
  options.verify = true;
  Ready ready(kLoop, GetParam(), options);
  const auto outcome = ready.engine->run(*measure::exactly(1), ready.recorded);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->failed_step, -1);
}

constexpr const char* kEndless = R"(
always { ROOT s = pred[] parameter(0) }
same { ROOT s = pred[] parameter(0) }
ENTRY main {
  a = f32[8]{0} parameter(0)
  t = pred[] constant(true)
  ROOT l = pred[] while(t), condition=always, body=same
})";

TEST_P(OnDevice, ALoopWithoutASingleStepCanBeInterrupted) {
  Ready ready(kEndless, GetParam(), {});
  std::thread interrupt([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ready.stop = true;
  });
  const auto outcome = ready.engine->run(*measure::exactly(1), ready.recorded);
  interrupt.join();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->status, model::RunStatus::interrupted);
}

TEST_P(OnDevice, ALoopThatNeverEndsIsAnError) {
  EngineOptions options;
  options.most_trips = 1000;
  Ready ready(kEndless, GetParam(), options);
  const auto outcome = ready.engine->run(*measure::exactly(1), ready.recorded);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().message,
            "l: the condition of this while still holds after 1000 trips; give inputs with which it ends (--inputs), or replay its body "
            "alone (--computation NAME)");
}

TEST_P(OnDevice, ALoopMayMakeAsManyTripsAsAreAllowed) {
  EngineOptions options;
  options.most_trips = 3;
  Ready ready(kLoop, GetParam(), options);
  EXPECT_TRUE(ready.engine->run(*measure::exactly(1), ready.recorded).ok());
}

INSTANTIATE_TEST_SUITE_P(Devices, OnDevice, testing::Values("cpu", "reference"), [](const auto& info) { return std::string(info.param); });

TEST(Engine, ShortStepsAreRepeatedWithinASample) {
  Ready ready(kLoop, "cpu", {});
  ASSERT_TRUE(ready.engine->run(*measure::exactly(1), ready.recorded).ok());
  EXPECT_GT(ready.sample("o")->executions, 1);
}

TEST(Engine, AnInterruptedPassIsNotKept) {
  Ready ready(kLoop, "cpu", {});
  ready.stop = true;
  const auto outcome = ready.engine->run(*measure::exactly(5), ready.recorded);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->status, model::RunStatus::interrupted);
  EXPECT_TRUE(ready.recorded.passes.empty());
}

TEST(Engine, OnlyChosenStepsAreKept) {
  EngineOptions options;
  options.timed = {false, false, false, false, false, true};
  Ready ready(kLoop, "cpu", options);
  ASSERT_TRUE(ready.engine->run(*measure::exactly(1), ready.recorded).ok());
  ASSERT_EQ(ready.recorded.last.size(), 1u);
  EXPECT_EQ(ready.recorded.last[0].step, 5);
}

TEST(Engine, ChainFeedsAliasedOutputsBack) {
  constexpr const char* kStep = R"(
HloModule chained, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY main { a = f32[8]{0} parameter(0)  ROOT b = f32[8]{0} add(a, a) }
)";
  EngineOptions options;
  options.chain = true;
  options.warm_up = 0;
  options.repeat_short = false;
  Ready ready(kStep, "cpu", options);
  ASSERT_TRUE(ready.engine->run(*measure::exactly(5), ready.recorded).ok());
  EXPECT_EQ(ready.output(), 32.0F);
}

/// w and v are updated in place, each from both: an element that is stored too early spoils the other.
constexpr const char* kInPlace = R"(
HloModule m, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }

f {
  w = f32[4099]{0} parameter(0)
  v = f32[4099]{0} parameter(1)
  a = f32[4099]{0} add(w, v)
  b = f32[4099]{0} subtract(v, w)
  ROOT t = (f32[4099]{0}, f32[4099]{0}) tuple(a, b)
}

ENTRY main {
  w = f32[4099]{0} parameter(0)
  v = f32[4099]{0} parameter(1)
  ROOT u = (f32[4099]{0}, f32[4099]{0}) fusion(w, v), kind=kLoop, calls=f
}
)";

TEST_P(OnDevice, PassesThatOverwriteParametersStartFromTheSameInputs) {
  EngineOptions options;
  options.verify = true;
  Ready ready(kInPlace, GetParam(), options);
  EXPECT_EQ(ready.plan.overwritten.size(), std::string(GetParam()) == "cpu" ? 2U : 0U);
  const auto outcome = ready.engine->run(*measure::exactly(1), ready.recorded);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->failed_step, -1);
  const float once = ready.output();
  Ready again(kInPlace, GetParam(), options);
  ASSERT_TRUE(again.engine->run(*measure::exactly(4), again.recorded).ok());
  EXPECT_EQ(again.output(), once);
}

TEST(Engine, ChainedPassesInPlaceGoOnWithWhatTheOneBeforeLeft) {
  EngineOptions options;
  options.chain = true;
  Ready ready(kInPlace, "cpu", options), twice(kInPlace, "cpu", options);
  ASSERT_TRUE(ready.engine->run(*measure::exactly(1), ready.recorded).ok());
  ASSERT_TRUE(twice.engine->run(*measure::exactly(3), twice.recorded).ok());
  EXPECT_NEAR(twice.output(), 2 * ready.second(), 1e-5);  // (w, v) → (w+v, v-w) → (2v, -2w) → (2v-2w, …)
}

TEST(Engine, TheVirtualClockIsExact) {
  Ready ready("ENTRY main { a = f32[1000]{0} parameter(0)  ROOT b = f32[1000]{0} negate(a) }", "null", {});
  ASSERT_TRUE(ready.engine->run(*measure::exactly(1), ready.recorded).ok());
  const model::Sample& sample = ready.recorded.last.at(0);
  EXPECT_EQ(sample.duration_ns, sample.executions * 1800);  // 1 µs to start, 8,000 bytes at 10 GB/s
}

TEST(Criterion, StopsAtTheBudgetButNotBeforeThreePasses) {
  measure::StableOptions options;
  options.budget_s = 1;
  const auto criterion = measure::until_stable(options);
  for (int pass = 0; pass < 3; ++pass) {
    EXPECT_FALSE(criterion->done());
    criterion->add(0.1 * (pass + 1), 0.9);
  }
  EXPECT_TRUE(criterion->done());
  EXPECT_EQ(criterion->reason(), "the budget of 1 s is spent");
}

TEST(Criterion, OnePassIsEnoughWhereItExceedsTheBudget) {
  measure::StableOptions options;
  options.budget_s = 1;
  const auto criterion = measure::until_stable(options);
  criterion->add(5, 5);
  EXPECT_TRUE(criterion->done());
}

TEST(Criterion, StopsWhenTheMedianIsKnown) {
  const auto criterion = measure::until_stable({});
  int passes = 0;
  for (; !criterion->done() && passes < 1000; ++passes) criterion->add(1.0, 0.001);
  EXPECT_GE(passes, 10);
  EXPECT_LT(passes, 30);
  EXPECT_EQ(criterion->reason(), "enough to know it to 0.5 %");
}

}  // namespace
}  // namespace replay
