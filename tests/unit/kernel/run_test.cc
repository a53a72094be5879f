// Kernels compiled and run, against the reference: every class at sizes that are prime, 0, 1 and round, all element types, layouts, both
// roundings, both vector widths. Bytes after each array must stay as they were.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "importers/hlo/hlo.h"
#include "replay/kernel/kernel.h"
#include "tests/unit/kernel/check.h"

namespace kernel {
namespace {

class Sizes : public testing::TestWithParam<int64_t> {};

TEST_P(Sizes, ElementwiseWithBroadcasts) {
  const int64_t n = GetParam();
  check(fused(fmt::format("f16[7,{0}]{{1,0}};f16[{0}]{{0}};f32[7]{{0}}", n),
              fmt::format("  c = f32[7,{0}]{{1,0}} convert(p0)\n  b = f16[7,{0}]{{1,0}} broadcast(p1), dimensions={{1}}\n  d = "
                          "f32[7,{0}]{{1,0}} convert(b)\n"
                          "  e = f32[7,{0}]{{1,0}} broadcast(p2), dimensions={{0}}\n  g = f32[7,{0}]{{1,0}} multiply(c, e)\n  h = "
                          "f32[7,{0}]{{1,0}} add(g, d)\n"
                          "  ROOT r = f16[7,{0}]{{1,0}} convert(h)",
                          n)));
}

TEST_P(Sizes, RowAndColumnSumsAndTheMapBetween) {
  const int64_t n = GetParam();
  check(fused(fmt::format("f32[131,{0}]{{1,0}};f32[]", n),
              fmt::format("  t = f32[131,{0}]{{1,0}} exponential(p0)\n  a = f32[131]{{0}} reduce(t, p1), dimensions={{1}}, to_apply=add\n"
                          "  b = f32[{0}]{{0}} reduce(t, p1), dimensions={{0}}, to_apply=max\n"
                          "  ROOT r = (f32[131]{{0}}, f32[{0}]{{0}}, f32[131,{0}]{{1,0}}) tuple(a, b, t)",
                          n)));
}

TEST_P(Sizes, Softmax) {
  const int64_t n = GetParam();
  check(fused(
      fmt::format("f32[5,{0}]{{1,0}}", n),
      fmt::format("  z = f32[] constant(0)\n  i = f32[] constant(-inf)\n  m = f32[5]{{0}} reduce(p0, i), dimensions={{1}}, to_apply=max\n"
                  "  b = f32[5,{0}]{{1,0}} broadcast(m), dimensions={{0}}\n  d = f32[5,{0}]{{1,0}} subtract(p0, b)\n  e = "
                  "f32[5,{0}]{{1,0}} exponential(d)\n"
                  "  s = f32[5]{{0}} reduce(e, z), dimensions={{1}}, to_apply=add\n  c = f32[5,{0}]{{1,0}} broadcast(s), dimensions={{0}}\n"
                  "  ROOT r = f32[5,{0}]{{1,0}} divide(e, c)",
                  n)));
}

TEST_P(Sizes, TransposeWithAPartnerInTheOtherLayout) {
  const int64_t n = GetParam();
  for (const char* type : {"u8", "bf16", "f32", "f64"})
    check(
        fused(fmt::format("{1}[3,{0},37]{{2,1,0}};{1}[3,37,{0}]{{2,1,0}}", n, type),
              fmt::format("  t = {1}[3,37,{0}]{{2,1,0}} transpose(p0), dimensions={{0,2,1}}\n  ROOT r = {1}[3,37,{0}]{{2,1,0}} add(t, p1)",
                          n, type)));
}

TEST_P(Sizes, SumOfAll) {
  const int64_t n = GetParam();
  check(fused(
      fmt::format("bf16[{},577]{{1,0}}", n),
      fmt::format(
          "  z = f32[] constant(3)\n  c = f32[{0},577]{{1,0}} convert(p0)\n  ROOT r = f32[] reduce(c, z), dimensions={{0,1}}, to_apply=add",
          n)));
}

TEST_P(Sizes, PadAndConcatenate) {
  const int64_t n = GetParam();
  check(fused(
      fmt::format("s32[{0},3]{{1,0}};s32[2,3]{{1,0}};s32[]", n),
      fmt::format(
          "  c = s32[{0},3]{{1,0}} concatenate(p1, p0, p1), dimensions={{0}}\n  ROOT r = s32[{1},9]{{1,0}} pad(c, p2), padding=1_2x2_0_1",
          n + 4, n + 7)));
}

/// Short rows of the source go on in the next dimension: 12 · 10 or 31 · 4 of them make a tile. 8 and 15 are shorter than a square.
TEST(Run, ReversedDimensionsWithAShortLastOne) {
  for (const char* type : {"s8", "f16", "f32", "f64"}) {
    for (const auto [a, b, c] : {std::array{40, 50, 12}, {33, 21, 31}, {131, 9, 15}, {16, 3, 64}, {200, 1, 8}, {129, 130, 16}})
      check(fused(fmt::format("{}[{},{},{}]{{2,1,0}}", type, a, b, c),
                  fmt::format("  ROOT r = {}[{},{},{}]{{2,1,0}} transpose(p0), dimensions={{2,1,0}}", type, c, b, a)));
  }
}

INSTANTIATE_TEST_SUITE_P(Run, Sizes, testing::Values(0, 1, 2, 7, 16, 61, 64, 127, 128, 257, 1024), testing::PrintToStringParamName());

class Types : public testing::TestWithParam<const char*> {};

TEST_P(Types, ArithmeticOfEachType) {
  for (const char* op : {"add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum"})
    for (const auto rounding : {replay::Rounding::border, replay::Rounding::each})
      check(fused(fmt::format("{0}[97]{{0}};{0}[97]{{0}}", GetParam()), fmt::format("  ROOT r = {0}[97]{{0}} {1}(p0, p1)", GetParam(), op)),
            rounding);
}

TEST_P(Types, ConvertsToEachType) {
  for (const char* to : {"pred", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64"})
    check(fused(fmt::format("{}[83]{{0}}", GetParam()), fmt::format("  ROOT r = {}[83]{{0}} convert(p0)", to)));
}

INSTANTIATE_TEST_SUITE_P(Run, Types, testing::Values("s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Run, FunctionsOfEachFloat) {
  for (const char* op : {"exponential",
                         "log",
                         "tanh",
                         "logistic",
                         "rsqrt",
                         "sqrt",
                         "cbrt",
                         "sine",
                         "cosine",
                         "tan",
                         "erf",
                         "exponential-minus-one",
                         "log-plus-one",
                         "abs",
                         "negate",
                         "sign",
                         "floor",
                         "ceil",
                         "round-nearest-afz",
                         "round-nearest-even",
                         "is-finite"})
    for (const char* type : {"f16", "f32", "f64"})
      check(fused(fmt::format("{}[1009]{{0}}", type),
                  fmt::format("  ROOT r = {}[1009]{{0}} {}(p0)", std::string_view(op) == "is-finite" ? "pred" : type, op)));
}

TEST(Run, GatherRowsAndScatterThem) {
  check(fused("f32[50,33]{1,0};s32[40]{0}",
              "  ROOT r = f32[40,33]{1,0} gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
              "index_vector_dim=1, slice_sizes={1,33}"));
  check(fused("f32[50,33]{1,0};s32[40]{0};f32[40,33]{1,0}",
              "  ROOT r = f32[50,33]{1,0} scatter(p0, p1, p2), update_window_dims={1}, inserted_window_dims={0}, "
              "scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
              "to_apply=add"));
}

TEST(Run, SlicesThatMove) {
  check(fused("f32[90,71]{1,0};s32[];s32[]", "  ROOT r = f32[30,20]{1,0} dynamic-slice(p0, p1, p2), dynamic_slice_sizes={30,20}"));
  check(fused("f32[90,71]{1,0};f32[30,20]{1,0};s32[];s32[]", "  ROOT r = f32[90,71]{1,0} dynamic-update-slice(p0, p1, p2, p3)"));
}

TEST(Run, OperandInAnotherLayoutThanItsParameter) {
  check(
      "HloModule m\nf {\n  p = f32[5,9]{0,1} parameter(0)\n  ROOT n = f32[5,9]{1,0} negate(p)\n}\nENTRY e {\n  a = f32[5,9]{1,0} "
      "parameter(0)\n"
      "  ROOT r = f32[5,9]{1,0} fusion(a), kind=kLoop, calls=f\n}\n");
}

TEST(Run, AResultOfAnotherPrecisionIsWhatTheProgramDeclares) {
  check("HloModule m\nENTRY e {\n  a = c128[5] parameter(0)\n  ROOT r = f32[5] abs(a)\n}\n");
  check("HloModule m\nENTRY e {\n  a = f32[5] parameter(0)\n  ROOT r = f64[5] negate(a)\n}\n");
}

TEST(Run, ErrorsNameTheOpAndTheType) {
  const auto error = [](const std::string& type, const std::string& op, const std::string& operands) {
    const auto module = importers::hlo::parse(
        fmt::format("HloModule m\nENTRY e {{\n  a = {0}[5] parameter(0)\n  ROOT r = {0}[5] {1}({2})\n}}\n", type, op, operands), "test");
    if (!module.ok()) return module.error().message;
    const auto made = make(*module, {module->entry, module->comp(module->entry).root}, replay::Rounding::border, {});
    return made.ok() ? "" : made.error().message;
  };
  EXPECT_EQ(error("c64", "floor", "a"), "no kernel for floor 'r': not for c64");
  EXPECT_EQ(error("s32", "floor", "a"), "no kernel for floor 'r': not for s32");
  for (const char* op : {"not", "popcnt", "count-leading-zeros"})
    EXPECT_EQ(error("bf16", op, "a"), fmt::format("no kernel for {} 'r': not for bf16", op));
  for (const char* op : {"and", "or", "xor", "shift-left"})
    EXPECT_EQ(error("f32", op, "a, a"), fmt::format("no kernel for {} 'r': not for f32", op));
  EXPECT_EQ(error("s4", "real", "a"), "no kernel for real 'r': not for s4");
}

}  // namespace
}  // namespace kernel
