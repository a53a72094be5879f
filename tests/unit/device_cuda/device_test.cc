// The whole device on a GPU of the tests: results, times, what is left behind, and what is said where any call fails.
#include <algorithm>
#include <set>

#include "replay/device/cuda/own_kernels.h"
#include "replay/device/cuda/routines.h"
#include "tests/unit/device_cuda/fake.h"

namespace replay::cuda {
namespace {

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

/// A dynamic-update-slice in a donated parameter: each pass overwrites it.
constexpr const char* kDonated = R"(HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e { a = f32[512,80] parameter(0)
 b = f32[1,80] parameter(1)
 i = s32[] constant(3)
 z = s32[] constant(0)
 s = f32[1,80] add(b, b)
 ROOT r = f32[512,80] dynamic-update-slice(a, s, i, z) }
)";

TEST(CudaMemory, WhatAPassOverwritesComesBackFromTheDeviceItself) {
  const auto calls = [](int passes, const char* function) {
    plan_fake("");
    const Replayed run = replay_on_fake(kDonated, {.verify = true, .passes = passes});
    EXPECT_FALSE(run.error) << run.error->message;
    EXPECT_EQ(run.outcome.failed_step, -1);
    EXPECT_EQ(left_behind(fake_report()), "");
    return fake_calls(fake_report(), function);
  };
  EXPECT_EQ(calls(5, "cuMemcpyHtoD_v2"), calls(1, "cuMemcpyHtoD_v2"));
  EXPECT_EQ(calls(5, "cuMemcpyDtoDAsync_v2"), calls(1, "cuMemcpyDtoDAsync_v2") + 4);
}

TEST(CudaMemory, WithoutRoomForCopiesInputsAreMadeAgain) {
  const auto written = [](int passes) {
    plan_fake("free=1.074");  // 258 kB for the program's 164 kB
    const Replayed run = replay_on_fake(kDonated, {.verify = false, .passes = passes});
    EXPECT_FALSE(run.error) << run.error->message;
    return fake_calls(fake_report(), "cuMemcpyHtoD_v2");
  };
  EXPECT_EQ(written(5), written(1) + 4);
}

TEST(CudaClocks, AreReadBeforeAndAfterEachPass) {
  plan_fake("slow=4");  // a warm-up and a pass at the highest clock
  const Replayed run = replay_on_fake(kProgram, {.verify = false, .passes = 2});
  ASSERT_FALSE(run.error) << run.error->message;
  ASSERT_EQ(run.kept.told.size(), 2u);
  const model::Clocks fast = run.kept.told[0].after.value(), slow = run.kept.told[1].before.value();
  EXPECT_EQ(fast.multiprocessor_mhz, 1980);
  EXPECT_EQ(fast.memory_mhz, 2619);
  EXPECT_EQ(fast.power_mw, 412000);
  EXPECT_EQ(fast.temperature_c, 61);
  EXPECT_EQ(fast.slowed_by, 0);
  EXPECT_EQ(slow.multiprocessor_mhz, 1005);
  EXPECT_EQ(slow.slowed_by, 4);
}

TEST(CudaClocks, WhatAGpuDoesNotTellIsUnknown) {
  plan_fake("fail=nvmlDeviceGetPowerUsage:2:3");
  const Replayed run = replay_on_fake(kProgram, {.verify = false, .passes = 1});
  ASSERT_FALSE(run.error) << run.error->message;
  plan_fake("fail=nvmlDeviceGetHandleByPciBusId_v2:1:6");
  const Replayed none = replay_on_fake(kProgram, {.verify = false, .passes = 1});
  ASSERT_FALSE(none.error) << none.error->message;
  EXPECT_FALSE(none.kept.told.at(0).before);
  const auto is_clocks = [](const model::Setting& detail) { return detail.name == "clocks"; };
  EXPECT_EQ(std::ranges::find_if(none.device.details, is_clocks)->value, "not recorded: nvmlDeviceGetHandleByPciBusId_v2: Not Found (6)");
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

}  // namespace
}  // namespace replay::cuda
