// Gradients of the weights of windows of one place against sums in f64 by the definition.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "replay/device/cpu/long_weights.h"
#include "tests/unit/device_cpu/drawn.h"

namespace {

using replay::Convolution;
using replay::cpu::Native;
using replay::cpu::Scratch;

struct OnePlace {
  int64_t images, rows, columns, stride, in, out;
  bool turned;  ///< dW lies with in features adjacent
};

/// The gradient of the weights of a convolution of NHWC images with 1x1 windows: places are its window, features of x its batch.
Convolution gradient_of(const OnePlace& c) {
  Convolution op;
  op.batch = c.in, op.out_features = c.out, op.in_features = c.images;
  const int64_t width = (c.columns - 1) * c.stride + 1, height = (c.rows - 1) * c.stride + 1;
  op.x = {ir::Type::f32, 0, 1, height * width * c.in};
  op.w = {ir::Type::f32, 0, 1, c.rows * c.columns * c.out};
  op.y = {ir::Type::f32, 0, c.turned ? 1 : c.out, c.turned ? c.in : 1};
  Convolution::Dim rows, columns;
  rows.in = height, rows.window = c.rows, rows.window_dilation = c.stride, rows.x = width * c.in, rows.w = c.columns * c.out;
  columns.in = width, columns.window = c.columns, columns.window_dilation = c.stride, columns.x = c.in, columns.w = c.out;
  op.dims = {rows, columns};
  return op;
}

/// The largest error in units of 2^-24 times the sum of the terms' sizes, over some elements that meet all columns of tiles.
double worst_of_gradient(const Convolution& op, const std::vector<float>& x, const std::vector<float>& dy, const std::vector<float>& dw) {
  double worst = 0;
  const Convolution::Dim &rows = op.dims[0], &columns = op.dims[1];
  for (int64_t index = 0; index < op.batch * op.out_features; index += op.batch * op.out_features / 300 + 1) {
    const int64_t in = index / op.out_features, out = index % op.out_features;
    double value = 0, size = 0;
    for (int64_t n = 0; n < op.in_features; ++n) {
      for (int64_t i = 0; i < rows.window; ++i) {
        for (int64_t j = 0; j < columns.window; ++j) {
          const int64_t at_x = n * op.x.inner + i * rows.window_dilation * rows.x + j * columns.window_dilation * columns.x + in;
          const double term =
              double{x[static_cast<size_t>(at_x)]} * double{dy[static_cast<size_t>(n * op.w.inner + i * rows.w + j * columns.w + out)]};
          value += term, size += std::abs(term);
        }
      }
    }
    const float got = dw[static_cast<size_t>(in * op.y.outer + out * op.y.inner)];
    worst = std::isnan(got) ? INFINITY : std::max(worst, std::abs(got - value) / (size * 0x1p-24));
  }
  return worst;
}

TEST(LongWeights, SumsAreThoseOfTheDefinitionAndTheSameInEveryRun) {
  const OnePlace cases[] = {
      {2, 9, 11, 1, 64, 64, false},    // one part of the sum
      {5, 28, 28, 1, 64, 256, false},  // the longer side is read as it lies, sums are dealt out, and dW is turned
      {5, 28, 28, 1, 37, 19, true},    // whole vectors of neither side
      {3, 7, 7, 1, 520, 700, false},   // blocks of both sides
      {3, 7, 7, 1, 96, 1200, true},    // blocks of one
      {4, 9, 7, 2, 48, 33, false},     // strided windows: places of x in no sequence, so those of dy are read as they lie
      {3, 5, 5, 2, 600, 70, true},     // the same with blocks of x
      {1, 1, 1, 1, 16, 16, false},     // one place
  };
  for (const OnePlace& c : cases) {
    const Convolution op = gradient_of(c);
    const std::vector<float> x = drawn(op.x.inner * c.images, 1), dy = drawn(op.w.inner * c.images, 2);
    for (const int threads : {1, 2, 3}) {
      const auto native = replay::cpu::make_long_weights(op, threads, std::make_shared<Scratch>());
      ASSERT_TRUE(native.ok()) << native.error().message;
      std::vector<float> results[2];
      for (std::vector<float>& dw : results) {
        dw.assign(static_cast<size_t>(c.in * c.out), NAN);
        const void* const in[] = {x.data(), dy.data()};
        void* const out[] = {dw.data()};
        (*native)->run(in, out);
      }
      EXPECT_LT(worst_of_gradient(op, x, dy, results[0]), 8) << c.images << "x" << c.rows << " " << c.in << " " << c.out << " " << threads;
      EXPECT_EQ(results[0], results[1]) << c.in << " " << c.out << " " << threads;
    }
  }
}

TEST(LongWeights, OtherShapesAreRefused) {
  const Convolution known = gradient_of({2, 9, 11, 1, 64, 64, false});
  Convolution window = known, padded = known, apart = known, half = known;
  window.dims[0].out = 3;
  padded.dims[0].pad_low = 1;
  apart.x.outer = 2;
  half.w.type = ir::Type::f16;
  for (const Convolution& op : {window, padded, apart, half}) EXPECT_FALSE(replay::cpu::make_long_weights(op, 2, nullptr).ok());
}

}  // namespace
