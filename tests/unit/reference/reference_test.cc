// What the reference promises beyond values: bounds and doubts, a judge that finds faults, work that does not explode, errors with names.
#include "replay/reference/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "importers/hlo/hlo.h"
#include "replay/inputs.h"

namespace replay::reference {
namespace {

ir::Module parse(const std::string& text) {
  auto module = importers::hlo::parse(text, "test");
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().message);
  return module.ok() ? *std::move(module) : ir::Module();
}

Tensor floats(const std::vector<float>& values) {
  Tensor out;
  out.shape = ir::array_shape(ir::Type::f32, {static_cast<int64_t>(values.size())});
  out.data.resize(values.size() * sizeof(float));
  std::memcpy(out.data.data(), values.data(), out.data.size());
  return out;
}

View view(const Tensor& tensor) { return {&tensor.shape, tensor.data.data(), {}}; }

/// An instruction of one f32[n] operand alone: its root is the last instruction of the entry.
ir::InstrRef root(const ir::Module& module) { return {module.entry, module.comp(module.entry).root}; }

/// Some elements of its result, with their bounds.
base::Result<Values> elements(const ir::Module& module, Rounding rounding, const std::vector<float>& operand,
                              const std::vector<int64_t>& at) {
  const Tensor x = floats(operand);
  const View operands[] = {view(x)};
  return Evaluator(module, rounding).elements(root(module), operands, {}, at);
}

TEST(Reference, BoundsGrowWithEachRoundingAndComparisonsInsideThemAreUnsure) {
  const ir::Module module = parse(R"(HloModule m
inside {
  x = f32[2]{0} parameter(0)
  e = f32[2]{0} exponential(x)
  one = f32[] constant(1)
  ones = f32[2]{0} broadcast(one), dimensions={}
  ROOT more = pred[2]{0} compare(e, ones), direction=GT
}
ENTRY main {
  x = f32[2]{0} parameter(0)
  ROOT y = pred[2]{0} fusion(x), kind=kLoop, calls=inside
}
)");
  const auto values = elements(module, Rounding::each, {0, 1}, {0, 1});
  ASSERT_TRUE(values.ok()) << values.error().message;
  ASSERT_EQ(values->unsure.size(), 2u);
  EXPECT_EQ(values->unsure[0], 1);  // exp(0) is 1 within four units
  EXPECT_EQ(values->unsure[1], 0);
}

TEST(Reference, AnUnsureSelectIsBoundedByWhatItsSidesDifferBy) {
  const ir::Module module = parse(R"(HloModule m
inside {
  x = f32[1]{0} parameter(0)
  e = f32[1]{0} exponential(x)
  one = f32[1]{0} constant({1})
  more = pred[1]{0} compare(e, one), direction=GT
  half = f32[1]{0} constant({0.5})
  ROOT s = f32[1]{0} select(more, one, half)
}
ENTRY main {
  x = f32[1]{0} parameter(0)
  ROOT y = f32[1]{0} fusion(x), kind=kLoop, calls=inside
}
)");
  const auto values = elements(module, Rounding::each, {0}, {0});
  ASSERT_TRUE(values.ok());
  ASSERT_EQ(values->bound.size(), 1u);
  EXPECT_NEAR(values->bound[0], 0.5, 1e-6);
}

// Kernels keep 16 bits of tanh of a half; a value that no half holds shows the rest.
TEST(Reference, TanhOfAHalfMayKeepFewerBitsThanThatOfAFloat) {
  const auto bound_of = [](const std::string& type) {
    const ir::Module module = parse("HloModule m\ninside {\n x = f32[1]{0} parameter(0)\n h = " + type + "[1]{0} convert(x)\n t = " + type +
                                    "[1]{0} tanh(h)\n ROOT w = f64[1]{0} convert(t)\n}\nENTRY main {\n x = f32[1]{0} parameter(0)\n" +
                                    " ROOT y = f64[1]{0} fusion(x), kind=kLoop, calls=inside\n}\n");
    const auto values = elements(module, Rounding::border, {0.5}, {0});
    return values.ok() && !values->bound.empty() ? values->bound[0] : -1;
  };
  EXPECT_NEAR(bound_of("f16"), std::tanh(0.5) * 0x1p-16, 1e-6);
  EXPECT_NEAR(bound_of("bf16"), std::tanh(0.5) * 0x1p-16, 1e-6);
  EXPECT_LT(bound_of("f32"), 3e-7);
}

// 2048 + 16·1 in f16, where 2049 is no number: a device that rounds each sum where it is stored stays at 2048.
TEST(Reference, AScatterMayRoundWhereItStores) {
  const ir::Module module = parse(R"(HloModule m
add { a = f16[] parameter(0)  b = f16[] parameter(1)  ROOT c = f16[] add(a, b) }
inside {
  x = f32[1]{0} parameter(0)
  h = f16[1]{0} convert(x)
  zero = s32[] constant(0)
  places = s32[16,1]{1,0} broadcast(zero), dimensions={}
  one = f16[] constant(1)
  ones = f16[16]{0} broadcast(one), dimensions={}
  ROOT s = f16[1]{0} scatter(h, places, ones), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
}
ENTRY main {
  x = f32[1]{0} parameter(0)
  ROOT y = f16[1]{0} fusion(x), kind=kLoop, calls=inside
}
)");
  const auto values = elements(module, Rounding::border, {2048}, {0});
  ASSERT_TRUE(values.ok()) << values.error().message;
  EXPECT_EQ(values->re[0], 2064);
  ASSERT_EQ(values->bound.size(), 1u);
  EXPECT_GE(values->bound[0], 15);
  EXPECT_LT(values->bound[0], 20);
}

TEST(Reference, TheJudgeFindsOnePlantedFault) {
  const ir::Module module = parse(R"(HloModule m
ENTRY main {
  x = f32[1000]{0} parameter(0)
  ROOT y = f32[1000]{0} exponential(x)
}
)");
  const Tensor x = generate({}, ir::array_shape(ir::Type::f32, {1000}), 1, "0");
  Evaluator evaluator(module, Rounding::each);
  const View operands[] = {view(x)};
  auto device = evaluator.run(root(module), operands);
  ASSERT_TRUE(device.ok());
  auto judged = judge(evaluator, root(module), operands, {}, view(*device), {});
  ASSERT_TRUE(judged.ok());
  EXPECT_LE(judged->worst, 1);
  EXPECT_GE(judged->elements, 1000);
  device->data[4 * 777 + 2] ^= std::byte{0x20};
  judged = judge(evaluator, root(module), operands, {}, view(*device), {});
  ASSERT_TRUE(judged.ok());
  EXPECT_GT(judged->worst, 1);
  EXPECT_EQ(judged->index, 777);
  const float nan = NAN;
  std::memcpy(device->data.data(), &nan, sizeof nan);
  judged = judge(evaluator, root(module), operands, {}, view(*device), {});
  EXPECT_EQ(judged->worst, INFINITY);
}

/// y₀ = x, yₖ₊₁ = yₖ + rotated yₖ: 2^60 paths from the result to x.
TEST(Reference, SharedOperandsAreComputedOnceThoughPathsMultiply) {
  std::string text = "HloModule m\ninside {\n  y0 = f32[64]{0} parameter(0)\n";
  for (int k = 0; k < 60; ++k) {
    const std::string y = "y" + std::to_string(k), z = std::to_string(k + 1);
    text += "  a" + z + " = f32[1]{0} slice(" + y + "), slice={[0:1]}\n  b" + z + " = f32[63]{0} slice(" + y + "), slice={[1:64]}\n";
    text += "  c" + z + " = f32[64]{0} concatenate(b" + z + ", a" + z + "), dimensions={0}\n  d" + z + " = f32[64]{0} add(" + y + ", c" +
            z + ")\n";
    text += "  h" + z + " = f32[64]{0} multiply(d" + z + ", half" + z + ")\n";
    text.insert(text.rfind("  h" + z),
                "  k" + z + " = f32[] constant(0.5)\n  half" + z + " = f32[64]{0} broadcast(k" + z + "), dimensions={}\n");
    text += (k == 59 ? "  ROOT y60" : "  y" + z) + std::string(" = f32[64]{0} negate(h" + z + ")\n");
  }
  text += "}\nENTRY main {\n  x = f32[64]{0} parameter(0)\n  ROOT y = f32[64]{0} fusion(x), kind=kLoop, calls=inside\n}\n";
  const ir::Module module = parse(text);
  Evaluator evaluator(module, Rounding::each);
  const Tensor x = generate({}, ir::array_shape(ir::Type::f32, {64}), 1, "0");
  const View operands[] = {view(x)};
  const int64_t some[] = {3};
  const auto values = evaluator.elements(root(module), operands, {}, some);
  ASSERT_TRUE(values.ok()) << values.error().message;
  EXPECT_TRUE(std::isfinite(values->re[0]));
}

TEST(Reference, WhatIsMissingIsNamed) {
  const ir::Module module = parse(R"(HloModule m
ENTRY main {
  x = f32[2]{0} parameter(0)
  ROOT y = f32[2]{0} custom-call(x), custom_call_target="my_library$kernel"
}
)");
  Evaluator evaluator(module, Rounding::each);
  EXPECT_EQ(evaluator.unsupported(root(module)), "custom-call my_library$kernel: what it computes is not known");
  const Tensor x = floats({1, 2});
  const View operands[] = {view(x)};
  const auto result = evaluator.run(root(module), operands);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("my_library$kernel"), std::string::npos);
}

}  // namespace
}  // namespace replay::reference
