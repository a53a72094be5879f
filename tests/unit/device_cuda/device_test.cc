// The whole device on a GPU of the tests: results, times, what is left behind, and what is said where any call fails.
#include <algorithm>
#include <set>
#include <sstream>

#include "replay/device/cuda/own_kernels.h"
#include "replay/device/cuda/routines.h"
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

/// Products of every kind of element, of batches, of both orders of rows and columns, with sizes around a tile's.
constexpr const char* kProducts = R"(HloModule m
ENTRY e { a = f16[3,65,70] parameter(0)
 b = f16[3,17,70] parameter(1)
 c = bf16[64,33] parameter(2)
 d = bf16[33,64]{0,1} parameter(3)
 f = f64[5,129] parameter(4)
 g = f64[129,2] parameter(5)
 h = s8[66,20]{0,1} parameter(6)
 i = s8[20,3] parameter(7)
 j = f32[1,40] parameter(8)
 k = f32[40,130] parameter(9)
 ab = f16[3,65,17] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
 cd = bf16[64,64] dot(c, d), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 cf = f32[64,64] dot(c, d), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 fg = f64[5,2] dot(f, g), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 hi = s32[66,3] dot(h, i), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 jk = f32[1,130] dot(j, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 ROOT r = (f16[3,65,17], bf16[64,64], f32[64,64], f64[5,2], s32[66,3], f32[1,130]) tuple(ab, cd, cf, fg, hi, jk) }
)";

TEST(CudaProducts, OfAllTypesAndOrdersAgreeWithTheReference) {
  plan_fake("");
  const Replayed run = replay_on_fake(kProducts, {.passes = 1});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(run.outcome.failed_step, -1);
  int products = 0;
  for (const model::KernelRecord& kernel : run.kernels) products += kernel.name.starts_with("product_") ? 1 : 0;
  EXPECT_EQ(products, 6);
  EXPECT_EQ(std::ranges::count(run.kernels, "library", &model::KernelRecord::language), 6);
  for (size_t s = 0; s < run.names.size(); ++s)
    EXPECT_TRUE(run.outcome.verdicts[s].worst >= 0 && run.outcome.verdicts[s].worst <= 1) << run.names[s];
}

TEST(CudaProducts, TypesWithoutAKernelAreRefusedByName) {
  Gemm gemm;
  gemm.a.type = gemm.b.type = gemm.d.type = ir::Type::f8e4m3fn;
  EXPECT_EQ(product_kernel(gemm).error().message, "no product kernel of f8e4m3fn and f8e4m3fn into f8e4m3fn");
  gemm.d.type = ir::Type::f32;
  gemm.a.type = gemm.b.type = ir::Type::f32;
  gemm.m = gemm.n = int64_t{1} << 24;
  EXPECT_EQ(product_kernel(gemm).error().message, "blocks 68719476736: 1 to 2147483647 can be launched");
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

TEST(CudaMemory, WhatIsWrittenBeyondAParameterIsSeen) {
  plan_fake("");
  const auto module = importers::hlo::parse(
      "HloModule m\nENTRY e {\n a = f32[70] parameter(0)\n b = f32[3] parameter(1)\n ROOT r = f32[70] negate(a)\n}\n", "test");
  const auto gpu = Gpu::open(fake_opener());
  const auto compiler = Compiler::open(fake_opener());
  ASSERT_TRUE(module.ok() && gpu.ok() && compiler.ok());
  PlanOptions how;
  how.target.language = kernel::Language::cuda;
  const auto plan = make_plan(*module, how);
  ASSERT_TRUE(plan.ok());
  Libraries libraries(fake_opener());
  const auto ready = prepare(*plan, **gpu, {compiler->get(), {90}, 1, Cache(cache_folder())}, libraries);
  ASSERT_TRUE(ready.ok()) << ready.error().message;
  const Guards guards(*plan, **ready, **gpu);
  ASSERT_TRUE(guards.set().ok());
  EXPECT_TRUE(guards.check().ok());
  const Driver& d = (*gpu)->driver();
  const BufferId a = plan->parameters.at(0).buffer;
  const char byte = 1;
  const Address beyond = (*ready)->address(a) + 280 + 6;
  ASSERT_TRUE(d.call(d.to_device, beyond, static_cast<const void*>(&byte), size_t{1}).ok());
  EXPECT_EQ(guards.check().error().message, "memory was written 7 bytes beyond the end of a; report it as a bug");
}

TEST(CudaFaults, AFaultOfAKernelNamesItsStep) {
  plan_fake("fail=cuStreamSynchronize:4:700");
  const Replayed run = replay_on_fake(kProgram, {});
  ASSERT_TRUE(run.error);
  EXPECT_NE(run.error->message.find("f: cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700), an illegal memory access was encountered"),
            std::string::npos)
      << run.error->message;
}

/// Of three kernels, with sizes of their own: code that is kept from other tests must not be found.
constexpr const char* kRefused = R"(HloModule m
ENTRY e { a = f32[31,17] parameter(0)
 b = f32[31,17] sine(a)
 c = f32[31,17] exponential(b)
 d = f32[31,17] sqrt(a)
 t = f32[17,31] transpose(d), dimensions={1,0}
 ROOT r = (f32[31,17], f32[17,31]) tuple(c, t) }
)";

class Refusal : public testing::TestWithParam<const char*> {};

TEST_P(Refusal, OfOneKernelCostsItsStepAlone) {
  plan_fake("refuse=two_over_pi(");
  const Replayed run = replay_on_fake(kRefused, {.mode = GetParam()});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(run.outcome.failed_step, -1);
  ASSERT_EQ(run.names.size(), 4u);
  std::set<int> measured;
  for (const model::Sample& sample : run.kept.samples) measured.insert(sample.step);
  for (size_t s = 0; s < run.names.size(); ++s) {
    EXPECT_EQ(run.skipped[s].empty(), run.names[s] != "b") << run.names[s];
    EXPECT_EQ(measured.contains(static_cast<int>(s)), run.skipped[s].empty()) << run.names[s];
    if (run.skipped[s].empty()) continue;
    const std::string& why = run.skipped[s];
    EXPECT_NE(why.find("NVRTC, sm_90: "), std::string::npos) << why;
    EXPECT_NE(why.find("refused"), std::string::npos) << why;
    EXPECT_EQ(why.find('\n'), std::string::npos) << why;
  }
  EXPECT_EQ(left_behind(fake_report()), "");
}
INSTANTIATE_TEST_SUITE_P(Cuda, Refusal, testing::Values("stream", "graph", "events"),
                         [](const auto& info) { return std::string(info.param); });

/// Every error of the driver at every call of a run: a message with the call's name and the number, no crash, and the passes before it
/// kept.
class Injection : public testing::TestWithParam<const char*> {};

TEST_P(Injection, EveryCallThatFailsIsNamed) {
  const Request request{.mode = GetParam(), .verify = false, .passes = 2};
  plan_fake("");
  ASSERT_FALSE(replay_on_fake(kProgram, request).error);  // opens CUPTI, once a process
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
    if (harmless.contains(function) || function.starts_with("cublasLt")) continue;  // a product that it refuses gets a kernel
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
