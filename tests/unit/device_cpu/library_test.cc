// Library ops on whole modules: every form against the reference, element by element.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>

#include "importers/hlo/hlo.h"
#include "replay/device/cpu/cpu.h"
#include "replay/engine.h"

namespace {

struct Nothing : replay::Observer {
  base::Status keep(const model::Pass&, std::span<const model::Sample>) override { return {}; }
};

struct Ran {
  std::string wrong;            ///< "" if every step agrees with the reference
  std::string implementations;  ///< of the root's step
  replay::Class cls = replay::Class::skip;
};

Ran run(const std::string& body) {
  const auto module = importers::hlo::parse("HloModule m\n\nENTRY main {\n" + body + "}\n", "test");
  if (!module.ok()) return {module.error().message, "", {}};
  auto device = replay::cpu::open({.threads = 2});
  if (!device.ok()) return {device.error().message, "", {}};
  replay::PlanOptions options;
  options.target = (*device)->target();
  auto plan = replay::make_plan(*module, options);
  if (!plan.ok()) return {plan.error().message, "", {}};
  if (const auto status = (*device)->prepare(*plan); !status.ok()) return {status.error().message, "", {}};
  if (const auto filled = replay::load_inputs(*plan, **device, {}); !filled.ok()) return {filled.error().message, "", {}};
  const std::atomic<bool> stop{false};
  replay::EngineOptions how;
  how.warm_up = 0;
  how.verify = true;
  Nothing nothing;
  replay::Engine engine(*plan, **device, how, stop);
  const auto outcome = engine.run(*measure::exactly(1), nothing);
  if (!outcome.ok()) return {outcome.error().message, "", {}};
  const replay::Step& last = *plan->steps.back();
  Ran ran{"", "", last.cls};
  for (const int32_t record : (*device)->kernels_of(last.id))
    ran.implementations += (*device)->kernels()[static_cast<size_t>(record)].implementation + " ";
  if (outcome->failed_step >= 0) ran.wrong = outcome->verdicts[static_cast<size_t>(outcome->failed_step)].place;
  return ran;
}

void expect_library(const std::string& body, const std::string& implementation = "") {
  const Ran ran = run(body);
  EXPECT_EQ(ran.wrong, "") << body;
  EXPECT_EQ(ran.cls, replay::Class::library) << body;
  EXPECT_NE(ran.implementations.find(implementation), std::string::npos) << ran.implementations << "\n" << body;
}

std::string convolution(const std::string& x, const std::string& w, const std::string& y, const std::string& rest) {
  return fmt::format("  x = {} parameter(0)\n  w = {} parameter(1)\n  ROOT y = {} convolution(x, w), {}\n", x, w, y, rest);
}

TEST(LibraryConvolution, APaddedForwardPassIsOneDnns) {
  expect_library(convolution("f32[2,9,9,8]{3,2,1,0}", "f32[3,3,8,16]{3,2,1,0}", "f32[2,9,9,16]{3,2,1,0}",
                             "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"),
                 "oneDNN forward");
}

TEST(LibraryConvolution, ADilatedOperandIsAGradientOfTheInput) {
  expect_library(convolution("f32[2,5,5,16]{3,2,1,0}", "f32[3,3,16,8]{3,2,1,0}", "f32[2,10,10,8]{3,2,1,0}",
                             "window={size=3x3 pad=1_2x1_2 lhs_dilate=2x2}, dim_labels=b01f_01io->b01f"),
                 "oneDNN backward data");
}

TEST(LibraryConvolution, ADilatedOperandIsTakenByItsPhases) {
  // What oneDNN has no pass for: strides and dilations at once, of the window too, reversal, places that meet zeros only.
  struct Form {
    const char* window;
    int size, out;
  };
  const Form forms[] = {{"size=5 pad=3_2 stride=2 lhs_dilate=3", 5, 10},
                        {"size=5 pad=2_7 stride=3 lhs_dilate=4 rhs_dilate=2", 5, 9},
                        {"size=4 pad=0_6 stride=2 lhs_dilate=6 rhs_dilate=2 rhs_reversal=1", 4, 19},
                        {"size=2 pad=-1_8 stride=2 lhs_dilate=5", 2, 19}};
  for (const Form& form : forms) {
    for (const char* type : {"f32", "bf16", "s32", "c64"}) {
      expect_library(convolution(fmt::format("{}[2,7,6]{{2,1,0}}", type), fmt::format("{}[{},3,4]{{2,1,0}}", type, form.size),
                                 fmt::format("{}[2,{},4]{{2,1,0}}", type, form.out),
                                 fmt::format("window={{{}}}, dim_labels=b0f_0io->b0f, feature_group_count=2", form.window)),
                     "phases");
    }
  }
}

TEST(LibraryConvolution, AWindowLargerThanTheResultIsAGradientOfTheWeights) {
  expect_library(convolution("f32[2,9,9,8]{3,2,1,0}", "f32[2,9,9,16]{3,2,1,0}", "f32[3,3,8,16]{3,2,1,0}",
                             "window={size=9x9 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf"),
                 "oneDNN backward weights");
}

TEST(LibraryConvolution, EveryTypeIsGatheredAndMultiplied) {
  for (const char* type : {"f64", "s32", "s8", "u8", "c64", "f8e4m3fn"}) {
    expect_library(convolution(fmt::format("{}[3,7,5,3]{{3,2,1,0}}", type), fmt::format("{}[2,3,3,4]{{3,2,1,0}}", type),
                               fmt::format("{}[3,6,3,4]{{3,2,1,0}}", type), "window={size=2x3}, dim_labels=b01f_01io->b01f"),
                   "gathered");
  }
}

TEST(LibraryConvolution, HalvesAreWidened) {
  for (const char* type : {"f16", "bf16"}) {
    expect_library(convolution(fmt::format("{}[2,9,9,8]{{3,2,1,0}}", type), fmt::format("{}[3,3,8,16]{{3,2,1,0}}", type),
                               fmt::format("{}[2,9,9,16]{{3,2,1,0}}", type), "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"),
                   "converted");
  }
}

TEST(LibraryConvolution, CroppingTurningAndGroupsOfEitherKind) {
  const std::string labels = ", dim_labels=b0f_0io->b0f";
  expect_library(convolution("f32[2,11,6]{2,1,0}", "f32[3,2,9]{2,1,0}", "f32[2,7,9]{2,1,0}",
                             "window={size=3 pad=-1_-1 rhs_reversal=1}, feature_group_count=3" + labels));
  expect_library(convolution("f32[6,11,2]{2,1,0}", "f32[3,2,6]{2,1,0}", "f32[2,5,6]{2,1,0}",
                             "window={size=3 stride=2}, batch_group_count=3" + labels));
}

TEST(LibraryConvolution, AnyLayoutAndThreeDimensions) {
  expect_library(convolution("f32[2,3,5,4,6]{0,2,4,1,3}", "f32[4,3,2,2,3]{1,0,4,2,3}", "f32[2,4,4,3,4]{3,1,0,2,4}",
                             "window={size=2x2x3}, dim_labels=bf012_oi012->bf012"));
}

TEST(LibraryFft, EveryKindAndOddPrimeAndLongLengths) {
  for (const int64_t n : {1, 2, 7, 30, 97, 1009, 1024, 2048}) {
    const int64_t half = n / 2 + 1;
    expect_library(
        fmt::format("  x = c64[3,{0}]{{1,0}} parameter(0)\n  ROOT y = c64[3,{0}]{{1,0}} fft(x), fft_type=FFT, fft_length={{{0}}}\n", n),
        "fft");
    expect_library(fmt::format("  x = c128[{0},2]{{0,1}} parameter(0)\n  t = c128[2,{0}]{{1,0}} transpose(x), dimensions={{1,0}}\n  ROOT y "
                               "= c128[2,{0}]{{0,1}} fft(t), fft_type=IFFT, fft_length={{{0}}}\n",
                               n),
                   "fft");
    expect_library(
        fmt::format("  x = f32[20,{0}]{{1,0}} parameter(0)\n  ROOT y = c64[20,{1}]{{1,0}} fft(x), fft_type=RFFT, fft_length={{{0}}}\n", n,
                    half),
        "fft");
    expect_library(
        fmt::format("  x = c64[2,{1}]{{1,0}} parameter(0)\n  ROOT y = f32[2,{0}]{{1,0}} fft(x), fft_type=IRFFT, fft_length={{{0}}}\n", n,
                    half),
        "fft");
  }
}

TEST(LibraryFft, ThreeDimensionsAndNoLines) {
  expect_library("  x = f32[2,4,5,6]{3,2,1,0} parameter(0)\n  ROOT y = c64[2,4,5,4]{3,2,1,0} fft(x), fft_type=RFFT, fft_length={4,5,6}\n");
  expect_library("  x = c64[0,8]{1,0} parameter(0)\n  ROOT y = c64[0,8]{1,0} fft(x), fft_type=FFT, fft_length={8}\n");
}

TEST(LibraryTriangularSolve, EverySideTriangleAndTurn) {
  for (const char* left : {"true", "false"}) {
    for (const char* lower : {"true", "false"}) {
      for (const char* turn : {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}) {
        expect_library(
            fmt::format(
                "  a = f32[2,70,70]{{1,2,0}} parameter(0)\n  b = f32[2,70,70]{{2,1,0}} parameter(1)\n"
                "  ROOT y = f32[2,70,70]{{2,1,0}} triangular-solve(a, b), left_side={}, lower={}, unit_diagonal=false, transpose_a={}\n",
                left, lower, turn),
            "triangular solve");
      }
    }
  }
}

TEST(LibraryTopK, EqualElementsComeInOrder) {
  expect_library("  x = s8[3,200]{1,0} parameter(0)\n  ROOT y = (s8[3,9]{1,0}, s32[3,9]{1,0}) topk(x), k=9, largest=true\n", "heap");
  expect_library("  x = bf16[3,200]{0,1} parameter(0)\n  ROOT y = (bf16[3,9]{1,0}, s32[3,9]{1,0}) topk(x), k=9, largest=false\n", "heap");
}

TEST(LibraryDot, DimensionsThatDoNotCollapseAreRearranged) {
  expect_library(
      "  a = f32[4,3,5,6]{3,2,1,0} parameter(0)\n  b = f32[4,5,3,7]{3,2,1,0} parameter(1)\n"
      "  ROOT y = f32[3,4,6,7]{3,2,1,0} dot(a, b), lhs_batch_dims={1,0}, rhs_batch_dims={2,0}, lhs_contracting_dims={2}, "
      "rhs_contracting_dims={1}\n");
}

}  // namespace
