// Results that are made as a whole in memory, at sizes around the borders of their schedules; and lowering that must stay linear.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>

#include "importers/hlo/hlo.h"
#include "replay/kernel/lower.h"
#include "tests/unit/kernel/check.h"

namespace kernel {
namespace {

constexpr std::string_view kScalars =
    "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = pred[] compare(a, b), direction=LT }\n"
    "near { a = s32[] parameter(0) b = s32[] parameter(1) s = s32[] constant(8) x = s32[] divide(a, s) y = s32[] divide(b, s) "
    "c = s32[] parameter(2) d = s32[] parameter(3) ROOT r = pred[] compare(x, y), direction=GT }\n"
    "ge { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = pred[] compare(a, b), direction=GE }\n"
    "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }\n";

std::string module_of(std::string_view entry) { return fmt::format("HloModule m\n{}ENTRY e {{\n{}\n}}\n", kScalars, entry); }

class Lengths : public testing::TestWithParam<int64_t> {};

TEST_P(Lengths, RowsAreSorted) {
  check(module_of(fmt::format("  x = f32[3,{0}]{{1,0}} parameter(0)\n  ROOT y = f32[3,{0}]{{1,0}} sort(x), dimensions={{1}}, to_apply=less",
                              GetParam())));
}

/// Many elements are equal to the comparator: the values show that their order stays.
TEST_P(Lengths, EqualKeysKeepTheirOrder) {
  check(
      module_of(fmt::format("  x = s32[{0}]{{0}} parameter(0)\n  i = s32[{0}]{{0}} parameter(1)\n"
                            "  ROOT y = (s32[{0}]{{0}}, s32[{0}]{{0}}) sort(x, i), dimensions={{0}}, is_stable=true, to_apply=near",
                            GetParam())));
}

TEST_P(Lengths, ColumnsAreSorted) {
  check(module_of(fmt::format("  x = f32[{0},5]{{1,0}} parameter(0)\n  ROOT y = f32[{0},5]{{1,0}} sort(x), dimensions={{0}}, to_apply=less",
                              GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Sort, Lengths, testing::Values(1, 2, 3, 31, 4096, 4097, 8193, 20011), testing::PrintToStringParamName());

TEST(Whole, PickedElementsAreScatteredOverOverlappingWindows) {
  check(
      module_of("  x = f32[2,37,23]{2,1,0} parameter(0)\n  s = f32[2,18,11]{2,1,0} parameter(1)\n  z = f32[] parameter(2)\n"
                "  ROOT y = f32[2,37,23]{2,1,0} select-and-scatter(x, s, z), window={size=1x3x3 stride=1x2x2}, select=ge, scatter=add"));
}

TEST(Whole, UpdatesOfOneElementAddUp) {
  check(fused("f32[1]{0};s32[513]{0};f32[513]{0}",
              "  zero = s32[513]{0} subtract(p1, p1)\n  ROOT r = f32[1]{0} scatter(p0, zero, p2), update_window_dims={}, "
              "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add"));
  check(
      module_of("  x = f32[1]{0} parameter(0)\n  s = f32[9]{0} parameter(1)\n  z = f32[] parameter(2)\n"
                "  ROOT y = f32[1]{0} select-and-scatter(x, s, z), window={size=9 pad=8_8}, select=ge, scatter=add"));
}

TEST(Whole, ConvolutionsOfEveryForm) {
  check(
      module_of("  x = f32[3,17,13,6]{3,2,1,0} parameter(0)\n  w = f32[3,2,2,12]{3,2,1,0} parameter(1)\n"
                "  ROOT y = f32[3,9,12,12]{3,2,1,0} convolution(x, w), window={size=3x2 stride=2x1 pad=1_1x0_0}, "
                "dim_labels=b01f_01io->b01f, feature_group_count=3"));
  check(
      module_of("  x = s8[6,5,11]{2,1,0} parameter(0)\n  w = s8[4,5,3]{2,1,0} parameter(1)\n"
                "  ROOT y = s32[3,4,19]{2,1,0} convolution(x, w), window={size=3 pad=0_0 lhs_dilate=2 rhs_reversal=1}, "
                "dim_labels=bf0_oi0->bf0, batch_group_count=2"));
}

class SmallTypes : public testing::TestWithParam<const char*> {};

TEST_P(SmallTypes, AreReadAndWritten) {
  for (const auto rounding : {replay::Rounding::each, replay::Rounding::border})
    check(fmt::format("HloModule m\nENTRY e {{\n  a = {0}[5,131]{{0,1}} parameter(0)\n  ROOT y = {0}[131,5]{{1,0}} transpose(a), "
                      "dimensions={{1,0}}\n}}\n",
                      GetParam()),
          rounding);
}

INSTANTIATE_TEST_SUITE_P(Types, SmallTypes,
                         testing::Values("s1", "u1", "s2", "u2", "s4", "u4", "f8e5m2", "f8e4m3", "f8e4m3fn", "f8e4m3b11fnuz", "f8e3m4",
                                         "f8e5m2fnuz", "f8e4m3fnuz", "f8e8m0fnu", "f4e2m1fn", "f6e2m3fn", "f6e3m2fn", "c64", "c128"),
                         [](const auto& info) { return std::string(info.param); });

/// f60 calls f59 twice with the same operand, and so on: 2^60 calls if each were inlined by itself.
TEST(Whole, CallsNestedTwiceEachAreLoweredInLinearTime) {
  std::string text = "HloModule m\nf0 { p = f32[7] parameter(0) ROOT r = f32[7] negate(p) }\n";
  for (int k = 1; k <= 60; ++k)
    text += fmt::format(
        "f{0} {{ p = f32[7] parameter(0) a = f32[7] fusion(p), kind=kLoop, calls=f{1}\n b = f32[7] fusion(p), kind=kLoop, "
        "calls=f{1}\n h = f32[7] maximum(a, b) ROOT r = f32[7] negate(h) }}\n",
        k, k - 1);
  text += "ENTRY e { x = f32[7] parameter(0) ROOT y = f32[7] fusion(x), kind=kLoop, calls=f60 }\n";
  const auto begin = std::chrono::steady_clock::now();
  const auto module = importers::hlo::parse(text, "test");
  ASSERT_TRUE(module.ok()) << module.error().message;
  const auto lowered = lower(*module, {module->entry, module->comp(module->entry).root}, replay::Rounding::border);
  ASSERT_TRUE(lowered.ok()) << lowered.error().message;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

/// Calls of a call's result have no operands in common: they are refused before they fill the memory.
TEST(Whole, CallsNestedInEachOtherAreRefused) {
  std::string text = "HloModule m\nf0 { p = f32[7] parameter(0) ROOT r = f32[7] sine(p) }\n";
  for (int k = 1; k <= 40; ++k)
    text += fmt::format("f{0} {{ p = f32[7] parameter(0) a = f32[7] call(p), to_apply=f{1}\n ROOT r = f32[7] call(a), to_apply=f{1} }}\n",
                        k, k - 1);
  text += "ENTRY e { x = f32[7] parameter(0) ROOT y = f32[7] fusion(x), kind=kLoop, calls=f40 }\n";
  const auto module = importers::hlo::parse(text, "test");
  ASSERT_TRUE(module.ok()) << module.error().message;
  EXPECT_FALSE(lower(*module, {module->entry, module->comp(module->entry).root}, replay::Rounding::border).ok());
}

}  // namespace
}  // namespace kernel
