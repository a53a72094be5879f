// Convolutions run by cuDNN as the fake plays it: results, what is recorded of them, and what happens where it refuses.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "tests/unit/device_cuda/fake.h"

namespace replay::cuda {
namespace {

/// A layer forward and both its gradients, with weights in the order of memory that cuDNN wants, features first.
constexpr const char* kLayer = R"(HloModule m
ENTRY e { x = f32[2,3,9,8] parameter(0)
 w = f32[4,3,3,3] parameter(1)
 g = f32[2,4,5,4] parameter(2)
 y = f32[2,4,5,4] convolution(x, w), window={size=3x3 stride=2x2 pad=1_1x1_0}, dim_labels=bf01_oi01->bf01
 dx = f32[2,3,9,8] convolution(g, w), window={size=3x3 pad=1_1x1_1 lhs_dilate=2x2 rhs_reversal=1x1}, dim_labels=bf01_io01->bf01
 dw = f32[4,3,3,3] convolution(x, g), window={size=5x4 pad=1_1x1_0 rhs_dilate=2x2}, dim_labels=fb01_io01->fb01
 ROOT r = (f32[2,4,5,4], f32[2,3,9,8], f32[4,3,3,3]) tuple(y, dx, dw) }
)";

std::vector<model::KernelRecord> of_libraries(const Replayed& run) {
  std::vector<model::KernelRecord> found;
  std::ranges::copy_if(run.kernels, std::back_inserter(found), [](const auto& kernel) { return kernel.language == "library"; });
  return found;
}

class CudnnModes : public testing::TestWithParam<const char*> {};

TEST_P(CudnnModes, ResultsAndTimesAreThoseOfTheLibrary) {
  plan_fake("");
  const Replayed run = replay_on_fake(kLayer, {.mode = GetParam()});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(run.outcome.failed_step, -1);
  ASSERT_EQ(run.classes, (std::vector<Class>{Class::library, Class::library, Class::library}));
  const auto records = of_libraries(run);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].name, "convolution_f32_1x2x3x4_9w3_8w3");
  EXPECT_EQ(records[0].implementation, "cuDNN 9.19: configuration 3 of 5, engine 1, workspace 640 B, 2 operations");
  EXPECT_EQ(records[0].source,
            "forward f32, x 2x3x9x8 by 216 72 8 1, w 4x3x3x3 by 27 9 3 1, y 2x4x5x4 by 80 20 4 1, pad 1x1_1x1, stride 2x2\n");
  EXPECT_EQ(records[1].source.substr(0, 21), "gradient of the input");
  EXPECT_EQ(records[2].source.substr(0, 23), "gradient of the weights");
  EXPECT_EQ(run.device.libraries.substr(run.device.libraries.size() - 12), ", cuDNN 9.19");
  int64_t summed_ns = 0, samples = 0;
  for (const model::Sample& sample : run.kept.samples)
    if (sample.step == 0) summed_ns += sample.duration_ns, ++samples;
  const bool counted = std::string_view(GetParam()) != "events";
  EXPECT_TRUE(!counted || summed_ns == samples * 2 * 2010) << summed_ns;
  EXPECT_EQ(left_behind(fake_report()), "");
}
INSTANTIATE_TEST_SUITE_P(Cuda, CudnnModes, testing::Values("stream", "graph", "events"),
                         [](const auto& info) { return std::string(info.param); });

constexpr const char* kOne =
    "HloModule m\nENTRY e {\n x = f32[2,3,5,5] parameter(0)\n w = f32[4,3,3,3] parameter(1)\n"
    " ROOT y = f32[2,4,3,3] convolution(x, w), window={size=3x3}, dim_labels=bf01_oi01->bf01\n}\n";

/// The first of every kind of call that fails before there is a plan: the convolution gets a kernel of ours, which says why.
TEST(Cudnn, AConvolutionThatIsRefusedGetsAKernelWithTheReason) {
  for (const char* function : {"cudnnCreate", "cudnnBackendCreateDescriptor", "cudnnBackendSetAttribute", "cudnnBackendFinalize"}) {
    plan_fake(std::string("fail=") + function + ":1:2000");
    const Replayed run = replay_on_fake(kOne, {});
    ASSERT_FALSE(run.error) << function << ": " << run.error->message;
    EXPECT_EQ(run.outcome.failed_step, -1) << function;
    EXPECT_EQ(run.classes.at(0), Class::kernel) << function;
    EXPECT_TRUE(of_libraries(run).empty()) << function;
    EXPECT_TRUE(run.kernels.at(0).implementation.ends_with(std::string("; no library: ") + function +
                                                           ": CUDNN_STATUS_BAD_PARAM (2000), as the test asks"))
        << run.kernels[0].implementation;
    EXPECT_EQ(left_behind(fake_report()), "") << function;
  }
}

TEST(Cudnn, WhatItDoesNotConvolveGetsAKernelAndOpensNoLibrary) {
  plan_fake("");
  const Replayed run = replay_on_fake(
      "HloModule m\nENTRY e {\n x = s32[1,4,4,2] parameter(0)\n w = s32[2,2,2,3] parameter(1)\n"
      " ROOT y = s32[1,3,3,3] convolution(x, w), window={size=2x2}, dim_labels=b01f_01io->b01f\n}\n",
      {});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(run.outcome.failed_step, -1);
  EXPECT_EQ(run.classes.at(0), Class::kernel);
  EXPECT_TRUE(run.kernels.at(0).implementation.ends_with("; no library: cuDNN does not convolve s32 with s32 into s32"));
  EXPECT_EQ(fake_calls(fake_report(), "cudnnCreate"), 0);
}

/// As calls and as ops: types that cuDNN's graphs here do not take run as kernels of ours, also integers whose sums become floats.
TEST(Cudnn, TypesThatItIsNotAskedForGetAKernel) {
  const std::array<const char*, 3> cases[] = {{"s8", "s8", "f32"}, {"f8e4m3fn", "f8e5m2", "f16"}, {"c64", "c64", "c64"}};
  const std::string head = "HloModule m\nENTRY e {\n", window = ", window={size=2x2}, dim_labels=b01f_01io->b01f";
  for (const auto& [x, w, y] : cases) {
    const std::string operands = std::string(" x = ") + x + "[1,4,4,2] parameter(0)\n w = " + w + "[2,2,2,3] parameter(1)\n";
    const std::string result = std::string(y) + "[1,3,3,3]";
    const std::string programs[] = {head + operands + " ROOT y = " + result + " convolution(x, w)" + window + "\n}\n",
                                    head + operands + " c = (" + result + ", u8[8]) custom-call(x, w)" + window +
                                        ", custom_call_target=\"__cudnn$convForward\"\n ROOT y = " + result +
                                        " get-tuple-element(c), index=0\n}\n"};
    for (const std::string& text : programs) {
      plan_fake("");
      const Replayed run = replay_on_fake(text, {.passes = 1});
      ASSERT_FALSE(run.error) << run.error->message << text;
      EXPECT_EQ(run.outcome.failed_step, -1) << text;
      EXPECT_EQ(run.classes.at(0), Class::kernel) << text;
      EXPECT_TRUE(run.kernels.at(0).implementation.ends_with(std::string("; no library: cuDNN does not convolve ") + x + " with " + w +
                                                             " into " + y))
          << run.kernels[0].implementation;
    }
  }
}

TEST(Cudnn, WhereAnEngineDoesNotRunTheNextDoes) {
  plan_fake("fail=cudnnBackendExecute:1:5000");
  const Replayed run = replay_on_fake(kOne, {.passes = 1});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(run.classes.at(0), Class::library);
  EXPECT_EQ(of_libraries(run).at(0).implementation, "cuDNN 9.19: configuration 5 of 5, engine 38, workspace 0 B, 1 operation");
}

/// Text with one type in the place of another.
std::string retyped(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from + "["); at != std::string::npos; at = text.find(from + "[", at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// Tensor cores take f16 as it is, and f32 only rounded.
TEST(Cudnn, EnginesThatAreLessPreciseAreLeftOut) {
  plan_fake("");
  const Replayed run = replay_on_fake(retyped(kOne, "f32", "f16"), {.passes = 1});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(run.outcome.failed_step, -1);
  EXPECT_EQ(of_libraries(run).at(0).implementation,
            "cuDNN 9.19: configuration 1 of 5, engine 28, tensor cores, workspace 0 B, 1 operation");
}

TEST(Cudnn, WhereTheHeuristicsFailTheFallbackIsAsked) {
  plan_fake("fail=cudnnBackendGetAttribute:1:3000");
  const Replayed run = replay_on_fake(kOne, {.passes = 1});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(of_libraries(run).at(0).implementation, "cuDNN 9.19: configuration 1 of 1, engine 0, workspace 0 B, 1 operation");
}

/// Calls as XLA makes them, with a workspace of their own, which nobody reads.
constexpr const char* kCalls = R"(HloModule m
ENTRY e { x = f32[2,3,9,8] parameter(0)
 w = f32[4,3,3,3] parameter(1)
 g = f32[2,4,5,4] parameter(2)
 a = (f32[2,4,5,4], u8[64]) custom-call(x, w), window={size=3x3 stride=2x2 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01, custom_call_target="__cudnn$convForward"
 b = (f32[2,3,9,8], u8[64]) custom-call(g, w), window={size=3x3 stride=2x2 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01, custom_call_target="__cudnn$convBackwardInput"
 c = (f32[4,3,3,3], u8[64]) custom-call(x, g), window={size=3x3 stride=2x2 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01, custom_call_target="__cudnn$convBackwardFilter"
 y = f32[2,4,5,4] get-tuple-element(a), index=0
 dx = f32[2,3,9,8] get-tuple-element(b), index=0
 dw = f32[4,3,3,3] get-tuple-element(c), index=0
 ROOT r = (f32[2,4,5,4], f32[2,3,9,8], f32[4,3,3,3]) tuple(y, dx, dw) }
)";

TEST(Cudnn, ItsOwnCallsAreLibraryCallsAndKernelsWithoutIt) {
  for (const char* plan : {"", "fail=cudnnCreate:1:1001"}) {
    plan_fake(plan);
    const Replayed run = replay_on_fake(kCalls, {.passes = 1});
    ASSERT_FALSE(run.error) << run.error->message;
    EXPECT_EQ(run.outcome.failed_step, -1) << plan;
    EXPECT_EQ(run.classes, std::vector<Class>(3, *plan == 0 ? Class::library : Class::kernel));
    const auto records = of_libraries(run);
    if (*plan != 0) continue;
    ASSERT_EQ(records.size(), 3u);
    EXPECT_EQ(records[0].source.substr(0, 7), "forward");
    EXPECT_EQ(records[1].source.substr(0, 21), "gradient of the input");
    EXPECT_EQ(records[2].source.substr(0, 23), "gradient of the weights");
  }
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The convolutions of the op files, as they are and in types that cuDNN has, with it and without.
TEST(Cudnn, EveryFormOfTheOpFilesAgreesWithTheReference) {
  int by_library = 0, files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SOURCE_DIR "/tests/ops")) {
    const std::string name = entry.path().stem().string(), text = read_file(entry.path());
    if (!name.starts_with("convolution") && !name.starts_with("cudnn_bias")) continue;
    ++files;
    for (const auto& [type, plan] : {std::pair{"f32", ""}, {"f16", ""}, {"f64", ""}, {"f32", "fail=cudnnCreate:1:1001"}}) {
      plan_fake(plan);
      const Replayed run = replay_on_fake(retyped(retyped(retyped(text, "s32", type), "s8", type), "c64", type), {.passes = 1});
      ASSERT_FALSE(run.error) << name << " " << type << " " << plan << ": " << run.error->message;
      EXPECT_EQ(run.outcome.failed_step, -1) << name << " " << type << " " << plan;
      EXPECT_EQ(left_behind(fake_report()), "") << name;
      by_library += static_cast<int>(of_libraries(run).size());
      EXPECT_TRUE(*plan == 0 || of_libraries(run).empty()) << name;
    }
  }
  EXPECT_GE(files, 11);
  EXPECT_GE(by_library, 15);
}

/// Layers in TensorFlow's order, whose weights and their gradients cuDNN wants otherwise: they are rearranged before and after.
constexpr const char* kLast = R"(HloModule m
ENTRY e { x = f16[8,16,16,3] parameter(0)
 w = f16[3,3,3,8] parameter(1)
 g = f16[8,16,16,8] parameter(2)
 y = f16[8,16,16,8] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
 dw = f16[3,3,3,8] convolution(x, g), window={size=16x16 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf
 ROOT r = (f16[8,16,16,8], f16[3,3,3,8]) tuple(y, dw) }
)";

TEST(Cudnn, WeightsOfAnotherOrderAreBroughtIntoItsOwn) {
  for (const char* plan : {"", "fail=cudnnCreate:1:1001"}) {
    plan_fake(plan);
    const Replayed run = replay_on_fake(kLast, {.passes = 1});
    ASSERT_FALSE(run.error) << run.error->message;
    EXPECT_EQ(run.outcome.failed_step, -1) << plan;
    EXPECT_EQ(of_libraries(run).size(), *plan == 0 ? 2u : 0u);
    EXPECT_EQ(std::ranges::count_if(run.kernels, [](const auto& kernel) { return kernel.name.starts_with("permute_"); }), 2);
    for (const Class cls : run.classes) EXPECT_EQ(cls, *plan == 0 ? Class::library : Class::kernel);
  }
}

std::string biased(const char* operands, const char* config) {
  return std::string(
             "HloModule m\nENTRY e {\n x = f16[2,5,5,4] parameter(0)\n w = f16[3,3,4,8]{2,1,0,3} parameter(1)\n"
             " b = f16[8] parameter(2)\n s = f16[2,5,5,8] parameter(3)\n ROOT y = (f16[2,5,5,8], u8[0]) custom-call(") +
         operands +
         "), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, "
         "custom_call_target=\"__cudnn$convBiasActivationForward\", backend_config={\"cudnn_conv_backend_config\":{" +
         config + "}}\n}\n";
}

struct Biased {
  const char *operands, *config, *steps;  ///< steps: what cuDNN is asked for behind the convolution
};
constexpr Biased kBiased[] = {
    {"x, w, b", R"("activation_mode":"kRelu","conv_result_scale":1,"side_input_scale":0)",
     "; 1 times it and 1 times a bias of f16; below 0 times 0, at most inf"},
    {"x, w, b", R"("activation_mode":"kRelu6","conv_result_scale":2)",
     "; 2 times it and 1 times a bias of f16; below 0 times 0, at most 6"},
    {"x, w, b, s", R"("activation_mode":"kNone","conv_result_scale":0.5,"side_input_scale":0.25)",
     "; 0.5 times it and 0.25 times a side input; 1 times it and 1 times a bias of f16"},
    {"x, w, b, s", R"("activation_mode":"kLeakyRelu","conv_result_scale":1,"side_input_scale":1,"leakyrelu_alpha":0.125)",
     "; 1 times it and 1 times a side input; 1 times it and 1 times a bias of f16; below 0 times 0.125, at most inf"},
};

TEST(CudnnWhole, CallsWithABiasAreOneLaunchWithTheLibraryAndWithout) {
  for (const Biased& one : kBiased)
    for (const char* plan : {"", "fail=cudnnCreate:1:1001"}) {
      plan_fake(plan);
      const Replayed run = replay_on_fake(biased(one.operands, one.config), {.passes = 1});
      ASSERT_FALSE(run.error) << one.config << ": " << run.error->message;
      EXPECT_EQ(run.outcome.failed_step, -1) << one.config << plan;
      EXPECT_EQ(run.kernels.size(), 1u) << one.config << plan;
      EXPECT_EQ(left_behind(fake_report()), "") << one.config;
      if (*plan != 0) continue;
      const std::string source = of_libraries(run).at(0).source;
      EXPECT_EQ(source.substr(source.find(", stride 1x1") + 12), one.steps + std::string("\n"));
    }
}

TEST(CudnnWhole, ACallTakenApartHasTheValuesOfTheWhole) {
  for (const Biased& one : kBiased) EXPECT_EQ(apart_and_whole(biased(one.operands, one.config)), "") << one.config;
}

/// Not one call of cuDNN here: the convolution is, and a kernel follows.
TEST(CudnnWhole, OtherActivationsFollowInAKernel) {
  plan_fake("");
  const Replayed run = replay_on_fake(biased("x, w, b", R"("activation_mode":"kElu")"), {.passes = 1});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(run.outcome.failed_step, -1);
  EXPECT_EQ(run.kernels.size(), 2u);
}

/// Of those that are precise and fit into the workspace: engines 1 (two operations), 38 (half as long as another), 0 (twice as long).
TEST(Cudnn, TheFastestOfTheFirstEnginesRunsWhereTheyAreTimed) {
  plan_fake("");
  const Replayed run = replay_on_fake(kOne, {.passes = 1, .autotune = 5});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(run.outcome.failed_step, -1);
  const model::KernelRecord record = of_libraries(run).at(0);
  EXPECT_EQ(record.implementation, "cuDNN 9.19: configuration 5 of 6, engine 38, workspace 0 B, 1 operation, the fastest of 3");
  std::vector<std::pair<int, double>> times;
  for (const model::TrialRecord& trial : record.trials) times.emplace_back(trial.rank, std::round(trial.median_ns));
  EXPECT_EQ(times, (std::vector<std::pair<int, double>>{{1, 2 * 2004}, {2, 1002}, {3, 4008}}));
  EXPECT_EQ(left_behind(fake_report()), "");
}

/// Of two, the third is not made.
TEST(Cudnn, NoMoreEnginesAreTimedThanIsAskedFor) {
  plan_fake("");
  const Replayed run = replay_on_fake(kOne, {.passes = 1, .autotune = 2});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(of_libraries(run).at(0).trials.size(), 2u);
}

/// An engine that does not run when it is its turn is left out; each call of the trials fails once.
TEST(Cudnn, TrialsThatFailAreLeftOut) {
  for (int at = 2; at <= 1 + 3 * (3 + 10); ++at) {  // of three engines, behind the first try
    plan_fake("fail=cudnnBackendExecute:" + std::to_string(at) + ":5000");
    const Replayed run = replay_on_fake(kOne, {.passes = 1, .autotune = 5});
    ASSERT_FALSE(run.error) << at << ": " << run.error->message;
    EXPECT_EQ(run.outcome.failed_step, -1) << at;
    EXPECT_EQ(run.classes.at(0), Class::library) << at;
    EXPECT_EQ(of_libraries(run).at(0).trials.size(), 2u) << at;
    EXPECT_EQ(left_behind(fake_report()), "") << at;
  }
}

/// Every call of the library, each time that it is made, fails once: the run is right whoever computes, and nothing is left behind.
TEST(Cudnn, EveryCallThatFailsIsSurvived) {
  plan_fake("");
  ASSERT_FALSE(replay_on_fake(kOne, {.passes = 1}).error);
  std::istringstream lines(fake_report());
  std::string function;
  int injected = 0;
  for (int64_t count = 0; lines >> function >> count;) {
    if (!function.starts_with("cudnn") || function == "cudnnDestroy") continue;
    for (int64_t at = 1; at <= count; ++at, ++injected) {
      const std::string fail = "fail=" + function + ":" + std::to_string(at) + ":4000";
      plan_fake(fail);
      const Replayed run = replay_on_fake(kOne, {.passes = 1});
      const bool executes = function == "cudnnBackendExecute" || function == "cudnnSetStream" || run.error.has_value();
      if (run.error)
        EXPECT_NE(run.error->message.find("y: " + function + ": "), std::string::npos) << fail << ": " << run.error->message;
      else
        EXPECT_EQ(run.outcome.failed_step, -1) << fail;
      EXPECT_TRUE(executes || run.classes.at(0) == Class::library || run.kernels.at(0).implementation.find(function) != std::string::npos)
          << fail;
      EXPECT_EQ(left_behind(fake_report()), "") << fail;
    }
  }
  EXPECT_GT(injected, 60);
}

}  // namespace
}  // namespace replay::cuda
