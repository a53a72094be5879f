// Convolutions in bf16 parts against sums in f64 by the definition, and when they leave a convolution to another implementation.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "importers/hlo/hlo.h"
#include "replay/device/cpu/parts.h"
#include "replay/device/cpu/parts_convolution.h"

namespace {

using replay::Convolution;
using replay::cpu::Native;

Convolution asked(const std::string& x, const std::string& w, const std::string& y, const std::string& rest) {
  const auto module = importers::hlo::parse(
      fmt::format("HloModule m\n\nENTRY main {{\n  x = {} parameter(0)\n  w = {} parameter(1)\n  ROOT y = {} convolution(x, w), {}\n}}\n",
                  x, w, y, rest),
      "test");
  EXPECT_TRUE(module.ok()) << module.error().message;
  const auto op = replay::library_op(*module, {module->entry, 2});
  EXPECT_TRUE(op.ok()) << op.error().message;
  return std::get<Convolution>(**op);
}

/// What a convolution in parts is made with: it notes that it was needed.
struct Fallback final : Native {
  explicit Fallback(int& runs) : runs(runs) {}
  void run(std::span<const void* const>, std::span<void* const>) override { ++runs; }
  std::string implementation() const override { return ""; }
  std::string precision() const override { return ""; }
  int& runs;
};

struct Case {
  const char *x, *w, *y, *rest;
};
constexpr Case kCases[] = {
    // One place: adjacent results, adjacent features, more features than are taken apart at a time, strides, zeros between results.
    {"f32[3,5,7,33]{3,2,1,0}", "f32[1,1,33,70]{3,2,1,0}", "f32[3,5,7,70]{3,2,1,0}", "window={size=1x1}, dim_labels=b01f_01io->b01f"},
    {"f32[2,5,7,64]{3,2,1,0}", "f32[1,1,40,64]{3,2,1,0}", "f32[2,5,7,40]{3,2,1,0}", "window={size=1x1}, dim_labels=b01f_01oi->b01f"},
    {"f32[1,20,40,600]{3,2,1,0}", "f32[1,1,600,48]{3,2,1,0}", "f32[1,20,40,48]{3,2,1,0}", "window={size=1x1}, dim_labels=b01f_01io->b01f"},
    {"f32[2,9,8,32]{3,2,1,0}", "f32[1,1,32,32]{3,2,1,0}", "f32[2,5,4,32]{3,2,1,0}",
     "window={size=1x1 stride=2x2}, dim_labels=b01f_01io->b01f"},
    {"f32[2,5,4,32]{3,2,1,0}", "f32[1,1,32,32]{3,2,1,0}", "f32[2,9,8,32]{3,2,1,0}",
     "window={size=1x1 pad=0_0x0_1 lhs_dilate=2x2}, dim_labels=b01f_01io->b01f"},
    // Windows: padded, cropped, dilated, turned, unequal, more images than lie side by side.
    {"f32[2,9,11,33]{3,2,1,0}", "f32[3,3,33,47]{3,2,1,0}", "f32[2,9,11,47]{3,2,1,0}",
     "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"},
    {"f32[1,9,11,64]{3,2,1,0}", "f32[3,5,32,64]{3,2,1,0}", "f32[1,5,3,32]{3,2,1,0}",
     "window={size=3x5 pad=-1_-1x-3_-1 rhs_reversal=1x1}, dim_labels=b01f_01oi->b01f"},
    {"f32[17,6,7,32]{3,2,1,0}", "f32[2,3,32,32]{3,2,1,0}", "f32[17,7,7,32]{3,2,1,0}",
     "window={size=2x3 pad=2_1x2_2 rhs_dilate=2x2}, dim_labels=b01f_01io->b01f"},
    {"f32[2,3,3,32]{3,2,1,0}", "f32[5,5,32,32]{3,2,1,0}", "f32[2,9,9,32]{3,2,1,0}",
     "window={size=5x5 pad=5_5x5_5}, dim_labels=b01f_01io->b01f"},
    // Gradients of weights: one place, with strides, windows, many images.
    {"f32[3,5,7,33]{3,2,1,0}", "f32[3,5,7,47]{3,2,1,0}", "f32[1,1,33,47]{3,2,1,0}", "window={size=5x7}, dim_labels=f01b_i01o->01bf"},
    {"f32[2,9,9,64]{3,2,1,0}", "f32[2,5,5,32]{3,2,1,0}", "f32[1,1,64,32]{3,2,1,0}",
     "window={size=5x5 rhs_dilate=2x2}, dim_labels=f01b_i01o->01bf"},
    {"f32[2,9,11,33]{3,2,1,0}", "f32[2,9,11,40]{3,2,1,0}", "f32[3,3,33,40]{3,2,1,0}",
     "window={size=9x11 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf"},
    {"f32[18,7,7,64]{3,2,1,0}", "f32[18,6,5,96]{3,2,1,0}", "f32[2,3,96,64]{3,2,1,0}",
     "window={size=6x5 pad=0_0x0_0}, dim_labels=f01b_i01o->01fb"},
};

/// Y[n,o,p] by library.h, with the sum of its terms' sizes, for one group.
struct Sum {
  double value = 0, size = 0;
};
Sum sum_of(const Convolution& c, const std::vector<float>& x, const std::vector<float>& w, const int64_t (&at)[4]) {
  const auto& [rows, columns] = std::tie(c.dims[0], c.dims[1]);
  Sum sum;
  for (int64_t i = 0; i < c.in_features; ++i) {
    for (int64_t a = 0; a < rows.window; ++a) {
      for (int64_t b = 0; b < columns.window; ++b) {
        const auto from = [](const Convolution::Dim& d, int64_t p, int64_t k) {
          const int64_t place = p * d.stride + k * d.window_dilation - d.pad_low;
          return place >= 0 && place % d.base_dilation == 0 && place / d.base_dilation < d.in ? place / d.base_dilation * d.x : -1;
        };
        const auto weight = [](const Convolution::Dim& d, int64_t k) { return (d.reversed ? d.window - 1 - k : k) * d.w; };
        const int64_t row = from(rows, at[2], a), column = from(columns, at[3], b);
        if (row < 0 || column < 0) continue;
        const double term = double{x[static_cast<size_t>(at[0] * c.x.outer + i * c.x.inner + row + column)]} *
                            double{w[static_cast<size_t>(at[1] * c.w.outer + i * c.w.inner + weight(rows, a) + weight(columns, b))]};
        sum.value += term, sum.size += std::abs(term);
      }
    }
  }
  return sum;
}

std::vector<float> numbers(int64_t count, uint32_t state) {
  std::vector<float> out(static_cast<size_t>(count));
  for (float& value : out) {
    state = state * 1664525 + 1013904223;
    value = state >> 28 == 0 ? 0 : static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31F;
  }
  return out;
}

int64_t elements(const std::string& shape) {
  int64_t out = 1, number = 0;
  for (const char c : shape.substr(4, shape.find(']') - 4) + ",") {
    if (c == ',')
      out *= number, number = 0;
    else
      number = number * 10 + (c - '0');
  }
  return out;
}

/// Runs a case; the largest error in units of 2^-24 times the sum of the terms' sizes.
double worst_error(const Case& test, int threads, int& fallbacks, float special = 0) {
  const Convolution op = asked(test.x, test.w, test.y, test.rest);
  std::unique_ptr<Native> fallback = std::make_unique<Fallback>(fallbacks);
  const auto native = replay::cpu::make_parts_convolution(op, threads, std::make_shared<replay::cpu::Scratch>(), fallback);
  EXPECT_TRUE(native.ok()) << test.x << test.rest;
  if (!native.ok()) return 0;
  std::vector<float> x = numbers(elements(test.x), 1), w = numbers(elements(test.w), 2), y(static_cast<size_t>(elements(test.y)), NAN);
  if (special != 0) x[x.size() / 2] = special;
  const void* const in[] = {x.data(), w.data()};
  void* const out[] = {y.data()};
  (*native)->run(in, out);
  if (fallbacks > 0) return 0;
  double worst = 0;
  const int64_t sizes[] = {op.batch, op.out_features, op.dims[0].out, op.dims[1].out};
  const int64_t count = sizes[0] * sizes[1] * sizes[2] * sizes[3];
  for (int64_t index = 0; index < count; index += count / 500 + 1) {  // a step that meets all columns of tiles
    const int64_t q = index % sizes[3], p = index / sizes[3] % sizes[2], o = index / sizes[3] / sizes[2] % sizes[1];
    const int64_t n = index / sizes[3] / sizes[2] / sizes[1];
    const Sum sum = sum_of(op, x, w, {n, o, p, q});
    const float got = y[static_cast<size_t>(n * op.y.outer + o * op.y.inner + p * op.dims[0].y + q * op.dims[1].y)];
    worst = std::isnan(got) ? INFINITY : std::max(worst, std::abs(got - sum.value) / std::max(sum.size * 0x1p-24, 1e-30));
  }
  return worst;
}

TEST(Parts, EveryKindIsAsAccurateAsF32) {
  if (replay::cpu::parts_kernels() == nullptr) GTEST_SKIP() << "no matrix unit here";
  for (const Case& test : kCases) {
    for (const int threads : {1, 2}) {
      int fallbacks = 0;
      EXPECT_LT(worst_error(test, threads, fallbacks), 8) << test.x << " " << test.w << " " << test.rest;
      EXPECT_EQ(fallbacks, 0) << test.x << " " << test.w << " " << test.rest;
    }
  }
}

TEST(Parts, NumbersBeyondTheUnitsRangeAreLeftToOthers) {
  if (replay::cpu::parts_kernels() == nullptr) GTEST_SKIP() << "no matrix unit here";
  for (const Case& test : {kCases[0], kCases[5], kCases[9], kCases[11]}) {
    for (const float special : {INFINITY, -INFINITY, NAN, 1e-40F, -1e-36F}) {
      int fallbacks = 0;
      worst_error(test, 2, fallbacks, special);
      EXPECT_EQ(fallbacks, 1) << special << " " << test.x << " " << test.rest;
    }
    int fallbacks = 0;
    EXPECT_LT(worst_error(test, 2, fallbacks, std::numeric_limits<float>::max()), 8) << test.x << " " << test.rest;
    EXPECT_EQ(fallbacks, 0) << test.x << " " << test.rest;
  }
}

TEST(Parts, OtherShapesAreRefused) {
  const Case refused[] = {
      {"f32[2,9,9,8]{3,2,1,0}", "f32[3,3,8,64]{3,2,1,0}", "f32[2,9,9,64]{3,2,1,0}",
       "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"},
      {"f32[2,9,9,32]{3,2,1,0}", "f32[3,3,32,32]{3,2,1,0}", "f32[2,5,5,32]{3,2,1,0}",
       "window={size=3x3 stride=2x2 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"},
      {"f32[2,32,9,9]{3,2,1,0}", "f32[1,1,32,32]{3,2,1,0}", "f32[2,32,9,9]{3,2,1,0}", "window={size=1x1}, dim_labels=bf01_01io->bf01"},
      {"f32[2,9,9,64]{3,2,1,0}", "f32[3,3,32,64]{3,2,1,0}", "f32[2,9,9,64]{3,2,1,0}",
       "window={size=3x3 pad=1_1x1_1}, feature_group_count=2, dim_labels=b01f_01io->b01f"},
  };
  for (const Case& test : refused) {
    int fallbacks = 0;
    std::unique_ptr<Native> fallback = std::make_unique<Fallback>(fallbacks);
    EXPECT_FALSE(
        replay::cpu::make_parts_convolution(asked(test.x, test.w, test.y, test.rest), 2, std::make_shared<replay::cpu::Scratch>(), fallback)
            .ok())
        << test.rest;
    EXPECT_NE(fallback, nullptr);
  }
}

}  // namespace
