// Costs against XLA's own analysis of the samples, where its record is present, and small cases with numbers worked out by hand.
#include "src/ir/cost.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "importers/hlo/hlo.h"
#include "src/base/file.h"
#include "src/ir/attr.h"
#include "tests/unit/ir/parsed.h"

namespace ir {
namespace {

/// The instruction of the entry with this name.
InstrRef in_entry(const Module& module, std::string_view name) {
  const Computation& entry = module.comp(module.entry);
  for (size_t i = 0; i < entry.instrs.size(); ++i) {
    if (module.name_of(entry.instrs[i]) == name) return {module.entry, static_cast<InstrId>(i)};
  }
  ADD_FAILURE() << "no instruction " << name;
  return {};
}

/// XLA adds up in f32: exact below 2^24, a few roundings above.
void expect_as_xla(double got, const nlohmann::json& expected, std::string_view what) {
  const auto want = expected.get<double>();
  EXPECT_NEAR(got, want, want < 1 << 24 ? 0 : 1e-6 * want) << what;
}

class CostOfSample : public testing::TestWithParam<const char*> {};

TEST_P(CostOfSample, IsWhatXlaCounts) {
  std::ifstream file(SOURCE_DIR "/../shared/oracle/cost.json");
  if (!file) GTEST_SKIP() << "no oracle beside the source tree";
  const auto oracle = nlohmann::json::parse(file)[GetParam()];
  const auto text = base::read_file(std::string(SOURCE_DIR "/samples/") + GetParam() + ".hlo.txt");
  ASSERT_TRUE(text.ok());
  const Module module = parsed(*text);
  int compared = 0;
  for (const auto& [name, expected] : oracle["instructions"].items()) {
    const InstrRef ref = in_entry(module, name);
    const bool product = module.instr(ref.comp, ref.instr).op == Op::custom_call;
    const Cost got = cost(module, ref, product ? CostMethod::nominal : CostMethod::xla);
    expect_as_xla(got.flops, expected["flops"], name + " flops");
    expect_as_xla(got.transcendentals, expected["transcendentals"], name + " transcendentals");
    if (!product) {
      expect_as_xla(got.bytes(), expected["bytes_accessed"], name + " bytes_accessed");
    }
    ++compared;
  }
  EXPECT_EQ(compared, static_cast<int>(oracle["instructions"].size()));
}

TEST_P(CostOfSample, TotalsAreXlas) {
  std::ifstream file(SOURCE_DIR "/../shared/oracle/cost.json");
  if (!file) GTEST_SKIP() << "no oracle beside the source tree";
  const auto oracle = nlohmann::json::parse(file)[GetParam()]["module"];
  const auto text = base::read_file(std::string(SOURCE_DIR "/samples/") + GetParam() + ".hlo.txt");
  ASSERT_TRUE(text.ok());
  const Module module = parsed(*text);
  Cost sum;
  int unknown = 0;
  for (size_t i = 0; i < module.comp(module.entry).instrs.size(); ++i) {
    const Cost one = cost(module, {module.entry, static_cast<InstrId>(i)}, CostMethod::xla);
    unknown += !one.known;
    sum.flops += one.flops;
    sum.transcendentals += one.transcendentals;
    sum.bytes_read += one.bytes();
  }
  expect_as_xla(sum.flops - unknown, oracle["flops"], "flops");  // XLA counts an unknown custom call as -1
  expect_as_xla(sum.transcendentals, oracle["transcendentals"], "transcendentals");
  expect_as_xla(sum.bytes_read - unknown, oracle["bytes_accessed"], "bytes_accessed");
}

INSTANTIATE_TEST_SUITE_P(Samples, CostOfSample, testing::Values("mnist_train_step", "bert_pretrain_step"));

TEST(Cost, OfADotIsTwoPerMultiplyAdd) {
  const Module m = parsed(R"(ENTRY e {
    a = f32[2,3,4]{2,1,0} parameter(0)
    b = f32[2,4,5]{2,1,0} parameter(1)
    ROOT d = f32[2,3,5]{2,1,0} dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
  })");
  EXPECT_EQ(cost(m, in_entry(m, "d"), CostMethod::xla).flops, 2 * 2 * 3 * 4 * 5);
  EXPECT_EQ(cost(m, in_entry(m, "d"), CostMethod::traffic).bytes(), 4 * (2 * 3 * 4 + 2 * 4 * 5 + 2 * 3 * 5));
}

TEST(Cost, OfAPaddedConvolutionSkipsThePadding) {
  const Module m = parsed(R"(ENTRY e {
    x = f32[1,4,1]{2,1,0} parameter(0)
    k = f32[3,1,1]{2,1,0} parameter(1)
    ROOT c = f32[1,4,1]{2,1,0} convolution(x, k), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f
  })");
  EXPECT_EQ(cost(m, in_entry(m, "c"), CostMethod::xla).flops, 2 * (3 * 4 - 2));
  EXPECT_EQ(cost(m, in_entry(m, "c"), CostMethod::nominal).flops, 2 * 3 * 4);
}

TEST(Cost, OfADilatedConvolutionSkipsTheHoles) {
  const Module m = parsed(R"(ENTRY e {
    x = f32[1,3,1]{2,1,0} parameter(0)
    k = f32[2,1,1]{2,1,0} parameter(1)
    ROOT c = f32[1,4,1]{2,1,0} convolution(x, k), window={size=2 lhs_dilate=2}, dim_labels=b0f_0io->b0f
  })");
  EXPECT_EQ(cost(m, in_entry(m, "c"), CostMethod::xla).flops, 2 * 4);          // x 0 x 0 x: each of 4 outputs meets one x
  EXPECT_EQ(cost(m, in_entry(m, "c"), CostMethod::nominal).flops, 2 * 3 * 2);  // each x meets the window
}

/// A convolution and the gradients of its input and filter, as frameworks write them: the same work by the nominal count.
TEST(Cost, GradientsOfAConvolutionDoItsWork) {
  const Module m = parsed(R"(ENTRY e {
    x = f32[2,9,9,3]{3,2,1,0} parameter(0)
    w = f32[3,3,3,4]{3,2,1,0} parameter(1)
    y = f32[2,5,5,4]{3,2,1,0} convolution(x, w), window={size=3x3 stride=2x2 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
    dx = f32[2,9,9,3]{3,2,1,0} convolution(y, w), window={size=3x3 pad=1_1x1_1 lhs_dilate=2x2 rhs_reversal=1x1}, dim_labels=b01f_01oi->b01f
    dw = f32[3,3,3,4]{3,2,1,0} convolution(x, y), window={size=5x5 pad=1_1x1_1 rhs_dilate=2x2}, dim_labels=f01b_i01o->01bf
    ROOT t = (f32[2,9,9,3]{3,2,1,0}, f32[3,3,3,4]{3,2,1,0}) tuple(dx, dw)
  })");
  for (const char* name : {"y", "dx", "dw"})
    EXPECT_EQ(cost(m, in_entry(m, name), CostMethod::nominal).flops, 2.0 * 2 * 5 * 5 * 3 * 3 * 3 * 4) << name;
}

TEST(Traffic, OfAFusionReadsASharedOperandOnceAndOnlyWhatASliceTakes) {
  const Module m = parsed(R"(HloModule m
  body {
    p = f32[100]{0} parameter(0)
    q = f32[100]{0} parameter(1)
    a = f32[100]{0} add(p, p)
    s = f32[10]{0} slice(q), slice={[0:10]}
    ROOT t = (f32[100]{0}, f32[10]{0}) tuple(a, s)
  }
  ENTRY e {
    x = f32[100]{0} parameter(0)
    y = f32[100]{0} parameter(1)
    ROOT f = (f32[100]{0}, f32[10]{0}) fusion(x, y), kind=kLoop, calls=body
  })");
  const Cost got = cost(m, in_entry(m, "f"), CostMethod::traffic);
  EXPECT_EQ(got.bytes_read, 400 + 40);
  EXPECT_EQ(got.bytes_written, 400 + 40);
}

TEST(Traffic, OfAnUpdateInPlaceIsTheUpdate) {
  const Module m = parsed(R"(HloModule m
  body {
    p = f32[1000]{0} parameter(0)
    u = f32[10]{0} parameter(1)
    i = s32[] parameter(2)
    n = f32[10]{0} negate(u)
    ROOT d = f32[1000]{0} dynamic-update-slice(p, n, i)
  }
  ENTRY e {
    p = f32[1000]{0} parameter(0)
    u = f32[10]{0} parameter(1)
    i = s32[] parameter(2)
    ROOT f = f32[1000]{0} fusion(p, u, i), kind=kLoop, calls=body
  })");
  const Cost got = cost(m, in_entry(m, "f"), CostMethod::traffic);
  EXPECT_EQ(got.bytes_read, 40 + 4);
  EXPECT_EQ(got.bytes_written, 40);
}

TEST(Traffic, SavedByAFusionIsWhatItsPartsWriteAndReadInBetween) {
  const Module m = parsed(R"(HloModule m
  body {
    p = f32[100]{0} parameter(0)
    a = f32[100]{0} exponential(p)
    ROOT b = f32[100]{0} negate(a)
  }
  ENTRY e {
    x = f32[100]{0} parameter(0)
    ROOT f = f32[100]{0} fusion(x), kind=kLoop, calls=body
  })");
  EXPECT_EQ(fusion_saved_bytes(m, in_entry(m, "f")), 800);
}

TEST(Nominal, CountsProductsInCustomCalls) {
  const Module m = parsed(R"(ENTRY e {
    a = f16[8,4]{1,0} parameter(0)
    b = f16[4,6]{1,0} parameter(1)
    g = (f16[8,6]{1,0}, s8[64]{0}) custom-call(a, b), custom_call_target="__cublas$gemm", backend_config={"gemm_backend_config":{"alpha_real":1,"beta":0,"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"]}}}
    ROOT o = f16[8,6]{1,0} get-tuple-element(g), index=0
  })");
  EXPECT_FALSE(cost(m, in_entry(m, "g"), CostMethod::xla).known);
  EXPECT_EQ(cost(m, in_entry(m, "g"), CostMethod::nominal).flops, 2 * 8 * 6 * 4);
  EXPECT_EQ(cost(m, in_entry(m, "g"), CostMethod::traffic).bytes_written, 2 * 8 * 6);
}

}  // namespace
}  // namespace ir
