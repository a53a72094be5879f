// What a kernel's text takes from its prelude, on every bit pattern of 16 bits and around every border of wider types, against the
// reference: bit for bit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "replay/reference/reference.h"
#include "src/ir/literal.h"
#include "tests/cuda_text/all_of.h"

namespace cuda_text {
namespace {

/// A module that applies `body` to an array "x" of `type`; the last name of `body` is the result.
std::string module_of(const std::string& type, int64_t elements, const std::string& make_x, const std::string& op) {
  return fmt::format("HloModule m\nENTRY e {{\n{}  ROOT r = {}\n}}\n", fmt::format(fmt::runtime(make_x), type, elements), op);
}

/// All patterns of 16 bits.
constexpr const char* kSixteenBits = "  i = u16[{1}] iota(), iota_dimension=0\n  x = {0}[{1}] bitcast-convert(i)\n";
/// Every sign, exponent and upper fraction of an f32, each with ten lower halves around the borders of what is rounded away.
constexpr const char* kThirtyTwoBits =
    "  h = u32[10,65536] iota(), iota_dimension=1\n  s = u32[] constant(16)\n  sb = u32[10,65536] broadcast(s), dimensions={{}}\n"
    "  u = u32[10,65536] shift-left(h, sb)\n  l = u32[10] constant({{0, 1, 4095, 4096, 4097, 8191, 32767, 32768, 32769, 65535}})\n"
    "  lb = u32[10,65536] broadcast(l), dimensions={{0}}\n  o = u32[10,65536] or(u, lb)\n  x = {0}[10,65536] bitcast-convert(o)\n";

std::vector<std::string> conversions() {
  constexpr int64_t k16 = 65536;
  std::vector<std::string> all;
  for (const char* from : {"f16", "bf16"}) {
    for (const char* to : {"f32", "f64", "f8e4m3fn", "f8e5m2", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64", "pred"})
      all.push_back(module_of(from, k16, kSixteenBits, fmt::format("{}[{}] convert(x)", to, k16)));
    for (const char* op : {"negate", "abs", "sign", "floor", "ceil", "round-nearest-even", "round-nearest-afz", "sqrt"})
      all.push_back(module_of(from, k16, kSixteenBits, fmt::format("{}[{}] {}(x)", from, k16, op)));
    all.push_back(module_of(from, k16, kSixteenBits, fmt::format("pred[{}] is-finite(x)", k16)));
    const std::string pair = std::string(kSixteenBits) + "  y = {0}[{1}] reverse(x), dimensions={{0}}\n";
    for (const char* op : {"add", "subtract", "multiply", "divide", "maximum", "minimum"})
      all.push_back(module_of(from, k16, pair, fmt::format("{}[{}] {}(x, y)", from, k16, op)));
    for (const char* direction : {"EQ", "NE", "LT", "LE", "GT", "GE"})
      all.push_back(module_of(from, k16, pair, fmt::format("pred[{}] compare(x, y), direction={}", k16, direction)));
  }
  for (const char* to : {"f16", "bf16", "f8e4m3fn", "f8e5m2", "f8e4m3", "f8e4m3b11fnuz", "f8e4m3fnuz", "f8e5m2fnuz", "f8e3m4", "s8", "s16",
                         "s32", "s64", "u8", "u16", "u32", "u64", "f64"})
    all.push_back(module_of("f32", 0, kThirtyTwoBits, fmt::format("{}[10,65536] convert(x)", to)));
  for (const char* from : {"s32", "u32"}) {
    for (const char* to : {"f16", "f32", "f64", "s8", "u8", "s64", "u64"})
      all.push_back(module_of(from, 0, kThirtyTwoBits, fmt::format("{}[10,65536] convert(x)", to)));
    // By way of f32, as XLA does it: kernels round an integer twice on its way to bf16, the reference once.
    all.push_back(module_of(from, 0, std::string(kThirtyTwoBits) + "  f = f32[10,65536] convert(x)\n", "bf16[10,65536] convert(f)"));
  }
  // Division by zero, the least number by −1, shifts by as much as there are bits and more.
  for (const char* type : {"s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"}) {
    const std::string low = type[0] == 's' ? fmt::format("{}", -(1LL << (std::atoi(type + 1) - 2)) * 2) : "0";
    const std::string grid =
        fmt::format("  a = {{0}}[9] constant({{{{{}, 1, 2, 7, 100, 0, 0, 0, 3}}}})\n  x = {{0}}[9,9] broadcast(a), dimensions={{{{0}}}}\n",
                    low) +
        (type[0] == 's' ? "  b = {0}[9] constant({{0, 1, -1, 2, 7, 8, 16, 32, 64}})\n"
                        : "  b = {0}[9] constant({{0, 1, 3, 2, 7, 8, 16, 32, 64}})\n") +
        "  y = {0}[9,9] broadcast(b), dimensions={{1}}\n";
    for (const char* op : {"divide", "remainder", "shift-left", "shift-right-logical", "shift-right-arithmetic"})
      all.push_back(module_of(type, 0, grid, fmt::format("{}[9,9] {}(x, y)", type, op)));
  }
  return all;
}

/// "": equal, where NaN is NaN whatever its bits.
std::string difference(const replay::Tensor& device, const replay::Tensor& expected) {
  const auto size = static_cast<size_t>(ir::bytes(device.shape.type));
  if (device.data.size() != expected.data.size()) return "sizes differ";
  const ir::Literal a{device.data, {}, false}, b{expected.data, {}, false};
  for (size_t i = 0; i * size < device.data.size(); ++i) {
    if (std::equal(device.data.begin() + static_cast<std::ptrdiff_t>(i * size),
                   device.data.begin() + static_cast<std::ptrdiff_t>((i + 1) * size),
                   expected.data.begin() + static_cast<std::ptrdiff_t>(i * size)))
      continue;
    const auto at = static_cast<int64_t>(i);
    const double x = ir::as_double(a, device.shape.type, at), y = ir::as_double(b, device.shape.type, at);
    if (!(std::isnan(x) && std::isnan(y))) return fmt::format("[{}] is {}, the reference has {}", i, x, y);
  }
  return "";
}

TEST(CudaPrelude, EveryPatternOfSixteenBitsAndEveryBorderOfWiderTypes) {
  const std::vector<std::string> texts = conversions();
  OnHost run;
  add_all(run, texts);
  ASSERT_EQ(run.size(), texts.size());
  ASSERT_TRUE(run.compile().ok());
  for (size_t k = 0; k < run.size(); ++k) {
    const auto found = run.outputs(k, support::Order::forward);
    ASSERT_TRUE(found.ok()) << found.error().message << texts[k];
    replay::reference::Evaluator evaluator(run.module(k), replay::Rounding::each);
    const auto expected = evaluator.run(run.module(k).entry, {});
    ASSERT_TRUE(expected.ok()) << expected.error().message << texts[k];
    ASSERT_EQ(found->size(), 1u) << texts[k];
    EXPECT_FALSE(run.plan(k).kernels.empty()) << texts[k];
    EXPECT_EQ(difference(found->at(0), *expected), "") << texts[k];
  }
}

}  // namespace
}  // namespace cuda_text
