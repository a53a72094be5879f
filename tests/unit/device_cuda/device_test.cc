// The whole device on a GPU of the tests: results, times, what is left behind, and what is said where any call fails.
#include <set>
#include <sstream>

#include "tests/unit/device_cuda/fake.h"

namespace replay::cuda {
namespace {

/// A product, a fusion with a row reduction, an update in place, a copy of another layout, a loop with a condition to read.
constexpr const char* kProgram = R"(HloModule m
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] add(a, b) }
normal { x = f32[24,40] parameter(0)
 zero = f32[] constant(0)
 s = f32[24] reduce(x, zero), dimensions={1}, to_apply=add
 sb = f32[24,40] broadcast(s), dimensions={0}
 ROOT r = f32[24,40] subtract(x, sb) }
condition { p = (s32[], f32[24,40]) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 n = s32[] constant(3)
 ROOT r = pred[] compare(i, n), direction=LT }
body { p = (s32[], f32[24,40]) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 x = f32[24,40] get-tuple-element(p), index=1
 one = s32[] constant(1)
 j = s32[] add(i, one)
 y = f32[24,40] add(x, x)
 ROOT r = (s32[], f32[24,40]) tuple(j, y) }
ENTRY e { a = f32[24,70] parameter(0)
 b = f32[70,40] parameter(1)
 d = f32[24,40] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 f = f32[24,40] fusion(d), kind=kInput, calls=normal
 start = s32[] constant(0)
 t = (s32[], f32[24,40]) tuple(start, f)
 w = (s32[], f32[24,40]) while(t), condition=condition, body=body
 g = f32[24,40] get-tuple-element(w), index=1
 h = f32[40,24] transpose(g), dimensions={1,0}
 ROOT r = (f32[24,40], f32[40,24]) tuple(g, h) }
)";

std::string left_behind(const std::string& report) {
  const size_t at = report.find("left behind");
  return at == std::string::npos ? "" : report.substr(at);
}

class Modes : public testing::TestWithParam<const char*> {};

TEST_P(Modes, ComputeWhatTheReferenceDoesAndLeaveNothingBehind) {
  plan_fake("");
  const Replayed run = replay_on_fake(kProgram, {.mode = GetParam()});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(run.outcome.failed_step, -1);
  EXPECT_EQ(run.kept.passes, 2);
  EXPECT_FALSE(run.kept.samples.empty());
  for (const model::Sample& sample : run.kept.samples) EXPECT_GT(sample.begin_ns, 0);
  EXPECT_EQ(left_behind(fake_report()), "");
}
INSTANTIATE_TEST_SUITE_P(Cuda, Modes, testing::Values("stream", "graph", "events"),
                         [](const auto& info) { return std::string(info.param); });

/// Sums of what ran, by step: the fake counts 2 µs a launch and 1 ns a block, so all ways to measure must agree to the ns.
std::map<std::pair<int, int>, int64_t> durations(const Replayed& run) {
  std::map<std::pair<int, int>, int64_t> found;
  for (const model::Sample& sample : run.kept.samples) found[{sample.pass, sample.step}] = sample.duration_ns;
  return found;
}

TEST(CudaTimes, AreTheSameInStreamsAndGraphs) {
  plan_fake("");
  const Replayed stream = replay_on_fake(kProgram, {.mode = "stream"});
  plan_fake("");
  const Replayed graph = replay_on_fake(kProgram, {.mode = "graph"});
  ASSERT_FALSE(stream.error || graph.error) << (stream.error ? stream.error->message : graph.error->message);
  EXPECT_EQ(durations(stream), durations(graph));
  EXPECT_GT(fake_calls(fake_report(), "cuGraphLaunch"), 0);
  plan_fake("");
  const Replayed events = replay_on_fake(kProgram, {.mode = "events"});
  ASSERT_FALSE(events.error) << events.error->message;
  for (const auto& [key, ns] : durations(stream))
    EXPECT_NEAR(static_cast<double>(durations(events)[key]), static_cast<double>(ns), 300) << key.second;
}

TEST(CudaTimes, AStepsTimeIsThatOfItsLaunches) {
  plan_fake("");
  const Replayed run = replay_on_fake("HloModule m\nENTRY e {\n a = f32[1000,7] parameter(0)\n ROOT r = f32[1000,7] exponential(a)\n}\n",
                                      {.verify = false, .passes = 1});
  ASSERT_FALSE(run.error) << run.error->message;
  ASSERT_EQ(run.kept.samples.size(), 1u);
  EXPECT_EQ(run.kept.samples[0].duration_ns, 2000 + (7000 + 127) / 128);
  EXPECT_EQ(run.device.name, "cuda");
  EXPECT_NE(run.kernels.at(0).implementation.find("nvrtc sm_90; 55 blocks of 128: 32 registers"), std::string::npos)
      << run.kernels[0].implementation;
}

TEST(CudaMemory, APlanThatDoesNotFitIsRefusedBeforeAnythingIsCompiled) {
  plan_fake("free=1.1");
  const Replayed run =
      replay_on_fake("HloModule m\nENTRY e {\n a = f32[100000000] parameter(0)\n ROOT r = f32[100000000] negate(a)\n}\n", {});
  ASSERT_TRUE(run.error);
  EXPECT_NE(run.error->message.find("memory: needs 800 MB"), std::string::npos) << run.error->message;
  EXPECT_EQ(fake_calls(fake_report(), "cuMemAlloc_v2"), 0);
  EXPECT_EQ(left_behind(fake_report()), "");
}

TEST(CudaFaults, AFaultOfAKernelNamesItsStep) {
  plan_fake("fail=cuStreamSynchronize:2:700");
  const Replayed run = replay_on_fake(kProgram, {});
  ASSERT_TRUE(run.error);
  EXPECT_NE(run.error->message.find("f: cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700), an illegal memory access was encountered"),
            std::string::npos)
      << run.error->message;
}

/// Every error of the driver at every call of a run: a message with the call's name and the number, no crash, and the passes before it
/// kept.
class Injection : public testing::TestWithParam<const char*> {};

TEST_P(Injection, EveryCallThatFailsIsNamed) {
  const Request request{.mode = GetParam(), .verify = false, .passes = 2};
  plan_fake("");
  ASSERT_FALSE(replay_on_fake(kProgram, request).error);
  std::istringstream lines(fake_report());
  std::string function;
  int64_t count = 0;
  int injected = 0;
  // What is given back, and compilers, which are not called for what is kept on disk.
  const std::set<std::string> harmless{"cuDevicePrimaryCtxRelease_v2", "cuMemFree_v2",       "cuModuleUnload",
                                       "cuStreamDestroy_v2",           "cuEventDestroy_v2",  "cuGraphExecDestroy",
                                       "nvrtcCreateProgram",           "nvrtcCompileProgram"};
  while (lines >> function >> count) {
    if (harmless.contains(function)) continue;
    for (const int code : {2, 700, 719})
      for (const int64_t at : std::set<int64_t>{1, 2, (count + 1) / 2, count}) {
        if (at > count) continue;
        plan_fake("fail=" + function + ":" + std::to_string(at) + ":" + std::to_string(code));
        const Replayed run = replay_on_fake(kProgram, request);
        ++injected;
        const std::string what = function + " " + std::to_string(at) + " " + std::to_string(code);
        ASSERT_TRUE(run.error) << what;
        EXPECT_NE(run.error->message.find(function), std::string::npos) << what << ": " << run.error->message;
        EXPECT_EQ(run.outcome.passes, run.kept.passes) << what;
        EXPECT_EQ(run.error->message.find("report it as a bug"), std::string::npos) << what << ": " << run.error->message;
      }
  }
  EXPECT_GT(injected, 100);
}
INSTANTIATE_TEST_SUITE_P(Cuda, Injection, testing::Values("stream", "graph", "events"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace replay::cuda
