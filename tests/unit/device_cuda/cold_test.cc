// Cold caches on the GPU of the tests: what is flushed, when, and that no step's time has it.
#include <algorithm>

#include "tests/unit/device_cuda/fake.h"

namespace replay::cuda {
namespace {

class Cold : public testing::TestWithParam<const char*> {};

TEST_P(Cold, EveryExecutionIsPrecededByAFillThatIsNotTimed) {
  plan_fake("");
  const Replayed warm = replay_on_fake(kProgram, {.mode = GetParam(), .verify = false});
  const int64_t fills = fake_calls(fake_report(), "cuMemsetD8Async");
  plan_fake("");
  const Replayed cold = replay_on_fake(kProgram, {.mode = GetParam(), .verify = false, .cold = true});
  ASSERT_FALSE(warm.error || cold.error) << (warm.error ? warm.error->message : cold.error->message);
  EXPECT_EQ(left_behind(fake_report()), "");
  int64_t executions = 0;
  for (const model::Sample& sample : cold.kept.samples) executions += sample.executions;
  EXPECT_EQ(fake_calls(fake_report(), "cuMemsetD8Async") - fills, executions * 3 / 2);  // two passes and a warm-up
  ASSERT_EQ(cold.kept.samples.size(), warm.kept.samples.size());
  for (size_t k = 0; k < warm.kept.samples.size(); ++k)
    EXPECT_NEAR(static_cast<double>(cold.kept.samples[k].duration_ns), static_cast<double>(warm.kept.samples[k].duration_ns), 300) << k;
  const auto flushed = [](const model::Setting& detail) { return detail.name == "flushed_bytes"; };
  EXPECT_EQ(std::ranges::find_if(cold.device.details, flushed)->value, std::to_string(100 << 20));
  EXPECT_EQ(std::ranges::find_if(warm.device.details, flushed), warm.device.details.end());
}
INSTANTIATE_TEST_SUITE_P(Cuda, Cold, testing::Values("stream", "events"), [](const auto& info) { return std::string(info.param); });

TEST(ColdCaches, SaysWhatItCouldNotMakeRoomFor) {
  plan_fake("fail=cuMemAlloc_v2:1:2");
  const Replayed run = replay_on_fake(kProgram, {.cold = true});
  ASSERT_TRUE(run.error);
  EXPECT_EQ(run.error->message, "making room to flush the L2 cache: cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2)");
}

}  // namespace
}  // namespace replay::cuda
