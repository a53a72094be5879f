// Winograd's transforms for one instruction set; see winograd_transforms.h. All loops are of constant length and unrolled, so the elements
// of the matrices become constants: zeros and ones cost nothing.
#pragma once

#include "replay/device/cpu/packed_vector.h"
#include "replay/device/cpu/winograd_transforms.h"

namespace replay::cpu {
namespace {

template <int Rows, int Columns>
struct Matrix {
  float at[Rows][Columns];
};

template <int Rows, int Columns>
constexpr Matrix<Columns, Rows> transposed(const Matrix<Rows, Columns>& m) {
  Matrix<Columns, Rows> out{};
  for (int i = 0; i < Rows; ++i)
    for (int j = 0; j < Columns; ++j) out.at[j][i] = m.at[i][j];
  return out;
}

/// The points at which polynomials are multiplied; with infinity they are six. Sums of whole numbers (0, ±1, ±2) have 2.6 times the error:
/// Barabasz, Anderson, Soodhalter and Gregg, "Error Analysis and Improving the Accuracy of Winograd Convolution for Deep Neural Networks"
/// (2020). Powers and products of these are exact in f32.
constexpr double kPoints[] = {0, 0.75, -0.75, 1.5, -1.5};

/// Aᵀ: values of the powers at the points; at infinity the last one alone counts.
constexpr Matrix<4, 6> result_matrix() {
  Matrix<4, 6> out{};
  for (int j = 0; j < 5; ++j) {
    double power = 1;
    for (int i = 0; i < 4; ++i, power *= kPoints[j]) out.at[i][j] = static_cast<float>(power);
  }
  out.at[3][5] = 1;
  return out;
}

/// G: the same, divided by the products of the point's distances from the others.
constexpr Matrix<6, 3> window_matrix() {
  Matrix<6, 3> out{};
  for (int j = 0; j < 5; ++j) {
    double power = 1;
    for (int k = 0; k < 5; ++k) power /= k == j ? 1 : kPoints[j] - kPoints[k];
    for (int i = 0; i < 3; ++i, power *= kPoints[j]) out.at[j][i] = static_cast<float>(power);
  }
  out.at[5][2] = 1;
  return out;
}

/// Bᵀ: coefficients of the polynomial whose roots are all points but the row's.
constexpr Matrix<6, 6> image_matrix() {
  Matrix<6, 6> out{};
  for (int j = 0; j < 6; ++j) {
    double of[6] = {1};
    for (int k = 0; k < 5; ++k) {
      if (k == j) continue;
      for (int i = 5; i >= 0; --i) of[i] = (i > 0 ? of[i - 1] : 0) - kPoints[k] * of[i];
    }
    for (int i = 0; i < 6; ++i) out.at[j][i] = static_cast<float>(of[i]);
  }
  return out;
}

constexpr Matrix<6, 6> kImage = image_matrix();
constexpr Matrix<6, 3> kWindow = window_matrix();
constexpr Matrix<4, 6> kResult = result_matrix();
constexpr Matrix<6, 4> kResultGradient = transposed(kResult);
constexpr Matrix<3, 6> kWindowGradient = transposed(kWindow);

/// Row `row` of the matrix times d.
template <int Rows, int Columns>
__attribute__((always_inline)) inline Vector<float> times(const Matrix<Rows, Columns>& m, int row, const Vector<float>* d) {
  Vector<float> sum{};
  bool empty = true;
#pragma GCC unroll 6
  for (int i = 0; i < Columns; ++i) {
    if (m.at[row][i] == 0) continue;
    sum = empty ? m.at[row][i] * d[i] : sum + m.at[row][i] * d[i];
    empty = false;
  }
  return sum;
}

template <const auto& M, int Rows, int Columns>
void transform(const float* const* from, float* const* to, int64_t count) {
  for (int64_t at = 0; at < count; at += kLanes<float>) {
    Vector<float> half[Rows][Columns];
#pragma GCC unroll 6
    for (int j = 0; j < Columns; ++j) {
      Vector<float> d[Columns];
#pragma GCC unroll 6
      for (int i = 0; i < Columns; ++i) d[i] = *reinterpret_cast<const Vector<float>*>(from[i * Columns + j] + at);
#pragma GCC unroll 6
      for (int i = 0; i < Rows; ++i) half[i][j] = times(M, i, d);
    }
#pragma GCC unroll 6
    for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 6
      for (int j = 0; j < Rows; ++j) *reinterpret_cast<Vector<float>*>(to[i * Rows + j] + at) = times(M, j, half[i]);
    }
  }
}

constexpr WinogradTransforms winograd_transforms() {
  return {transform<kImage, 6, 6>, transform<kWindow, 6, 3>, transform<kResult, 4, 6>, transform<kResultGradient, 6, 4>,
          transform<kWindowGradient, 3, 6>};
}

}  // namespace
}  // namespace replay::cpu
