// Winograd's convolutions against sums in f64 by the definition, and its transforms for every instruction set.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "replay/device/cpu/packed_kernels.h"
#include "replay/device/cpu/winograd.h"
#include "tests/unit/device_cpu/drawn.h"

namespace {

using replay::Convolution;
using replay::cpu::Native;
using replay::cpu::Scratch;

/// Images of rows × columns places and 3×3 windows, `low` and `high` places of padding.
struct Case {
  int64_t images, rows, columns, features, results, low, high;
  bool gradient_of_input = false;
};

/// NHWC images and HWIO windows.
Convolution forward_of(const Case& c) {
  Convolution op;
  op.batch = c.images, op.in_features = c.features, op.out_features = c.results;
  Convolution::Dim rows, columns;
  rows.in = c.rows, columns.in = c.columns;
  for (auto* d : {&rows, &columns}) d->window = 3, d->pad_low = c.low, d->out = d->in + c.low + c.high - 2;
  op.x = {ir::Type::f32, 0, c.rows * c.columns * c.features, 1};
  op.w = {ir::Type::f32, 0, 1, c.results};
  op.y = {ir::Type::f32, 0, rows.out * columns.out * c.results, 1};
  rows.x = c.columns * c.features, columns.x = c.features;
  rows.w = 3 * c.features * c.results, columns.w = c.features * c.results;
  rows.y = columns.out * c.results, columns.y = c.results;
  op.dims = {rows, columns};
  return op;
}

/// Largest error in units of 2^-24 times the sum of the terms' sizes, over elements of Y that lie `apart`.
class Checked {
 public:
  Checked(const Convolution& op, const std::vector<float>& x, const std::vector<float>& w) : c_(op), x_(x), w_(w) {}

  double worst(const std::vector<float>& y, int64_t apart) const {
    double worst = 0;
    const int64_t count = c_.batch * c_.out_features * c_.dims[0].out * c_.dims[1].out;
    for (int64_t index = 0; index < count; index += apart) worst = std::max(worst, error(y, index));
    return worst;
  }

 private:
  double error(const std::vector<float>& y, int64_t index) const {
    const Convolution::Dim &rows = c_.dims[0], &columns = c_.dims[1];
    const int64_t out = index % c_.out_features, place = index / c_.out_features;
    const int64_t column = place % columns.out, row = place / columns.out % rows.out, image = place / columns.out / rows.out;
    double value = 0, size = 0;
    for (int64_t i = 0; i < rows.window; ++i) {
      for (int64_t j = 0; j < columns.window; ++j) {
        const int64_t at_row = row + i - rows.pad_low, at_column = column + j - columns.pad_low;
        if (at_row < 0 || at_row >= rows.in || at_column < 0 || at_column >= columns.in) continue;
        const int64_t x = image * c_.x.outer + at_row * rows.x + at_column * columns.x;
        const int64_t w = out * c_.w.outer + (rows.reversed ? 2 - i : i) * rows.w + (columns.reversed ? 2 - j : j) * columns.w;
        for (int64_t in = 0; in < c_.in_features; ++in) {
          const double term = double{x_[static_cast<size_t>(x + in * c_.x.inner)]} * double{w_[static_cast<size_t>(w + in * c_.w.inner)]};
          value += term, size += std::abs(term);
        }
      }
    }
    const float got = y[static_cast<size_t>(image * c_.y.outer + row * rows.y + column * columns.y + out * c_.y.inner)];
    return std::isnan(got) ? INFINITY : std::abs(got - value) / (size * 0x1p-24);
  }

  const Convolution& c_;
  const std::vector<float>&x_, &w_;
};

int64_t size_of(const Convolution& c, const Convolution::Operand& o, int64_t outer, int64_t inner, int64_t Convolution::Dim::*size,
                int64_t Convolution::Dim::*step) {
  int64_t last = (outer - 1) * o.outer + (inner - 1) * o.inner;
  for (const auto& d : c.dims) last += (d.*size - 1) * (d.*step);
  return last + 1;
}

void expect_values(const Convolution& op, decltype(&replay::cpu::make_winograd) make, const std::string& what) {
  using D = Convolution::Dim;
  const auto x = drawn(size_of(op, op.x, op.batch, op.in_features, &D::in, &D::x), 1);
  const auto w = drawn(size_of(op, op.w, op.out_features, op.in_features, &D::window, &D::w), 2);
  const int64_t count = size_of(op, op.y, op.batch, op.out_features, &D::out, &D::y);
  for (const int threads : {1, 2, 3}) {
    const auto native = make(op, threads, std::make_shared<Scratch>());
    ASSERT_TRUE(native.ok()) << what << ": " << native.error().message;
    std::vector<float> results[2];
    for (auto& y : results) {
      y.assign(static_cast<size_t>(count), NAN);
      const void* const in[] = {x.data(), w.data()};
      void* const out[] = {y.data()};
      (*native)->run(in, out);
    }
    EXPECT_LT(Checked(op, x, w).worst(results[0], count / 3000 + 1), 40) << what << ", threads " << threads;
    EXPECT_EQ(std::ranges::count_if(results[0], [](float v) { return std::isnan(v); }), 0) << what;
    EXPECT_EQ(results[0], results[1]) << what << ", threads " << threads;
  }
}

constexpr Case kCases[] = {
    {33, 8, 8, 32, 32, 1, 1},          // whole tiles
    {9, 15, 19, 48, 96, 1, 1},         // parts of tiles on both sides
    {8, 17, 23, 64, 32, 0, 0},         // no padding
    {8, 15, 18, 32, 64, 2, 2},         // more results than places
    {8, 15, 18, 32, 64, 0, 2},         // padding on one side
    {8, 20, 21, 32, 64, -1, 1},        // a row and a column that no window meets
    {32, 7, 7, 400, 64, 1, 1},         // two pieces of features of unlike size
    {32, 7, 7, 512, 512, 1, 1},        // blocks of results
    {32, 7, 7, 512, 480, 1, 1, true},  // windows that lie by features
    {9, 15, 19, 96, 48, 1, 1, true},
};

TEST(Winograd, ResultsAreThoseOfTheDefinitionAndTheSameInEveryRun) {
  for (const Case& c : kCases) {
    Convolution op = forward_of(c);
    if (c.gradient_of_input) op = replay::gradient_of_input(op);
    expect_values(op, replay::cpu::make_winograd,
                  fmt::format("{}x{}x{} {} {} {}", c.images, c.rows, c.columns, c.features, c.results, c.low));
  }
}

TEST(Winograd, GradientsOfWindowsAreThoseOfTheDefinitionAndTheSameInEveryRun) {
  for (const Case& c : kCases) {
    if (c.gradient_of_input) continue;
    expect_values(replay::gradient_of_weights(forward_of(c)), replay::cpu::make_winograd_weights,
                  fmt::format("{}x{}x{} {} {} {}", c.images, c.rows, c.columns, c.features, c.results, c.low));
  }
}

TEST(Winograd, OtherShapesAreRefused) {
  const Convolution known = forward_of({33, 8, 8, 32, 32, 1, 1});
  ASSERT_TRUE(replay::cpu::make_winograd(known, 2, nullptr).ok());
  Convolution window = known, stride = known, dilated = known, base = known, apart = known, half = known, odd = known, few = known;
  window.dims[0].window = 5;
  stride.dims[1].stride = 2;
  dilated.dims[1].window_dilation = 2;
  base.dims[0].base_dilation = 2;
  apart.x.inner = 2;
  half.w.type = ir::Type::f16;
  odd.in_features = 33;
  few.batch = 8;
  for (const Convolution& op : {window, stride, dilated, base, apart, half, odd, few})
    EXPECT_FALSE(replay::cpu::make_winograd(op, 2, nullptr).ok());
  const Convolution gradient = replay::gradient_of_weights(known);
  ASSERT_TRUE(replay::cpu::make_winograd_weights(gradient, 2, nullptr).ok());
  Convolution large = gradient, transposed = gradient;
  large.dims[0].out = 5;
  std::swap(transposed.y.outer, transposed.y.inner);
  for (const Convolution& op : {large, transposed, known}) EXPECT_FALSE(replay::cpu::make_winograd_weights(op, 2, nullptr).ok());
}

/// One tile: a row of 16 features of every place.
struct Planes {
  explicit Planes(size_t count, uint32_t seed = 0) : data(count * 16) {
    if (seed != 0) data = drawn(static_cast<int64_t>(count) * 16, seed);
    for (size_t i = 0; i < count; ++i) at.push_back(data.data() + i * 16), from.push_back(at.back());
  }
  std::vector<float> data;
  std::vector<float*> at;
  std::vector<const float*> from;
};

TEST(Winograd, TransformsOfEveryInstructionSetComposeToTheConvolutionOfATile) {
  for (const auto isa : replay::cpu::kIsas) {
    const auto* const kernels = replay::cpu::packed_kernels(isa);
    if (kernels == nullptr) continue;
    Planes image(36, 1), window(9, 2), image_factors(36), window_factors(36), result(16);
    kernels->winograd.image(image.from.data(), image_factors.at.data(), 16);
    kernels->winograd.window(window.from.data(), window_factors.at.data(), 16);
    for (size_t i = 0; i < image_factors.data.size(); ++i) image_factors.data[i] *= window_factors.data[i];
    kernels->winograd.result(image_factors.from.data(), result.at.data(), 16);
    for (size_t place = 0; place < 16; ++place) {
      for (size_t feature = 0; feature < 16; ++feature) {
        double value = 0;
        for (size_t tap = 0; tap < 9; ++tap)
          value += double{image.at[(place / 4 + tap / 3) * 6 + place % 4 + tap % 3][feature]} * double{window.at[tap][feature]};
        EXPECT_NEAR(result.at[place][feature], value, 1e-5) << kernels->name << " " << place << " " << feature;
      }
    }
  }
}

}  // namespace
