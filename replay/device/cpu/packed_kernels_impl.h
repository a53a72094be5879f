// Inner loops of the packed product. Included by exactly one .cc file per instruction set, whose flags choose the vector width.
//
// The product of one tile keeps kRows × 2 vectors of sums in registers: per step of K two vectors of B are loaded, each value of A is
// broadcast and used twice.
#pragma once

#include "replay/device/cpu/packed_floats.h"
#include "replay/device/cpu/packed_kernels.h"
#include "replay/device/cpu/packed_order.h"
#include "replay/device/cpu/packed_vector.h"
#include "replay/device/cpu/winograd_transforms_impl.h"

namespace replay::cpu {
namespace {

/// A[i, p] is a[i·RowStep + p·DepthStep].
template <typename T, int Rows, int64_t RowStep, int64_t DepthStep>
void multiply(int64_t depth, const void* a_block, const void* b_strip, void* tile, Tile start) {
  const T* a = static_cast<const T*>(a_block);
  const T* b = static_cast<const T*>(b_strip);
  Vector<T> sum[Rows][2] = {};
  if (start == Tile::add) {  // the tile was left a step of K ago and has gone to a far cache
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      __builtin_prefetch(static_cast<const Vector<T>*>(tile) + 2 * i, 1);
      __builtin_prefetch(static_cast<const Vector<T>*>(tile) + 2 * i + 1, 1);
    }
  }
  for (int64_t p = 0; p < depth; ++p, a += DepthStep, b += kColumns<T>) {
    const Vector<T> b0 = *reinterpret_cast<const Vector<T>*>(b), b1 = *reinterpret_cast<const Vector<T>*>(b + kLanes<T>);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      sum[i][0] += a[i * RowStep] * b0;
      sum[i][1] += a[i * RowStep] * b1;
    }
  }
  auto* out = static_cast<Vector<T>*>(tile);
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
    out[2 * i] = start == Tile::first ? sum[i][0] : out[2 * i] + sum[i][0];
    out[2 * i + 1] = start == Tile::first ? sum[i][1] : out[2 * i + 1] + sum[i][1];
  }
}

template <int Rows>
void multiply_lines(const LineTile& what) {
  const float *a = what.a, *b = what.b, *ahead = what.ahead;
  const int64_t depth = what.depth, a_step = what.a_step, b_step = what.b_step, ahead_step = what.ahead_step;
  Vector<float> sum[Rows][2] = {};
  for (int64_t p = 0; p < depth; ++p, a += a_step, b += b_step, ahead += ahead_step) {
    __builtin_prefetch(ahead, 0, 2);
    const Vector<float> b0 = *reinterpret_cast<const Vector<float>*>(b), b1 = *reinterpret_cast<const Vector<float>*>(b + kLanes<float>);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      sum[i][0] += a[i] * b0;
      sum[i][1] += a[i] * b1;
    }
  }
  auto* out = reinterpret_cast<Vector<float>*>(what.tile);
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
    out[2 * i] = what.start == Tile::first ? sum[i][0] : out[2 * i] + sum[i][0];
    out[2 * i + 1] = what.start == Tile::first ? sum[i][1] : out[2 * i + 1] + sum[i][1];
  }
}

/// alpha and beta of integers are whole numbers, taken modulo 2^bits.
template <typename T>
T factor(double value) {
  if constexpr (static_cast<T>(0.5) == T{0})
    return static_cast<T>(static_cast<int64_t>(value));
  else
    return static_cast<T>(value);
}

template <typename T, int Rows>
void combine(void* tile, double alpha, const void* other, double beta) {
  auto* x = static_cast<Vector<T>*>(tile);
  const auto* y = static_cast<const Vector<T>*>(other);
  const T by_alpha = factor<T>(alpha), by_beta = factor<T>(beta);
  for (int i = 0; i < 2 * Rows; ++i) x[i] = y == nullptr ? by_alpha * x[i] : by_alpha * x[i] + by_beta * y[i];
}

template <typename T, int64_t RowStep, int64_t DepthStep, typename Counts>
struct MultiplyTable;
template <int... Counts>
struct RowCounts {};
#if defined(__AVX512F__)
using AllRows = RowCounts<1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14>;
#elif defined(__AVX2__)
using AllRows = RowCounts<1, 2, 3, 4, 5, 6>;
#else
using AllRows = RowCounts<1, 2, 3, 4>;
#endif
template <typename Counts>
struct LinesTable;
template <int... Counts>
struct LinesTable<RowCounts<Counts...>> {
  static constexpr MultiplyLines entries[] = {multiply_lines<Counts>...};
};
template <typename T, int64_t RowStep, int64_t DepthStep, int... Counts>
struct MultiplyTable<T, RowStep, DepthStep, RowCounts<Counts...>> {
  static constexpr TileKernels::Multiply entries[] = {multiply<T, Counts, RowStep, DepthStep>...};
};

template <typename T>
constexpr TileKernels tile_kernels() {
  return {kRows,
          kColumns<T>,
          kDepth,
          kPackedRows,
          MultiplyTable<T, kRowStride, 1, AllRows>::entries,
          MultiplyTable<T, 1, kRows, AllRows>::entries,
          split<T, kRows>,
          split<T, kColumns<T>>,
          transpose<T>,
          combine<T, kRows>};
}

template <typename T>
void subtract_rows(T* x, const T* rows, int64_t stride, const T* c, int64_t step, int64_t count, int64_t width) {
  int64_t i = 0;
  for (; i + kColumns<T> <= width; i += kColumns<T>) {
    Vector<T> a = *reinterpret_cast<const Vector<T>*>(x + i), b = *reinterpret_cast<const Vector<T>*>(x + i + kLanes<T>);
    for (int64_t k = 0; k < count; ++k) {
      const T* row = rows + k * stride + i;
      a -= c[k * step] * *reinterpret_cast<const Vector<T>*>(row);
      b -= c[k * step] * *reinterpret_cast<const Vector<T>*>(row + kLanes<T>);
    }
    *reinterpret_cast<Vector<T>*>(x + i) = a;
    *reinterpret_cast<Vector<T>*>(x + i + kLanes<T>) = b;
  }
  for (; i < width; ++i) {
    T sum = x[i];
    for (int64_t k = 0; k < count; ++k) sum -= c[k * step] * rows[k * stride + i];
    x[i] = sum;
  }
}

constexpr PackedKernels table(const char* name) {
  return {name,
          {tile_kernels<float>(), tile_kernels<double>(), tile_kernels<uint32_t>(), tile_kernels<uint64_t>()},
          f16_to_f32,
          bf16_to_f32,
          f32_to_f16,
          f32_to_bf16,
          subtract_rows<float>,
          subtract_rows<double>,
          LinesTable<AllRows>::entries,
          winograd_transforms()};
}

}  // namespace
}  // namespace replay::cpu
