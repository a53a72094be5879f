// Brings elements into the order in which the product of a tile reads them.
#pragma once

#include "replay/device/cpu/packed_vector.h"

namespace replay::cpu {
namespace {

template <typename T, int Width>
void split(const void* line, int64_t count, void* strips, int64_t stride) {
  const T* from = static_cast<const T*>(line);
  T* to = static_cast<T*>(strips);
  for (int64_t at = 0; at < count; at += Width, to += stride) {
#pragma GCC unroll 8
    for (int j = 0; j < Width; j += kLanes<T>) {  // where Width isn't whole vectors the next step of K overwrites the surplus
      *reinterpret_cast<Vector<T>*>(to + j) = *reinterpret_cast<const Vector<T>*>(from + at + j);
    }
  }
}

template <typename T>
struct MaskOf {
  typedef T type;
};
template <>
struct MaskOf<float> {
  typedef int32_t type;
};
template <>
struct MaskOf<double> {
  typedef int64_t type;
};
template <>
struct MaskOf<uint32_t> {
  typedef int32_t type;
};
template <>
struct MaskOf<uint64_t> {
  typedef int64_t type;
};
template <typename T>
using Lanes = Vector<typename MaskOf<T>::type>;

/// Lanes of the first (second) half of x and y, alternating.
template <typename T, int First>
constexpr Lanes<T> interleave_mask() {
  Lanes<T> mask{};
  for (int i = 0; i < kLanes<T>; ++i) mask[i] = First + i / 2 + (i % 2) * kLanes<T>;
  return mask;
}

/// L × L elements by log2 L rounds of interleaving: each round rotates the bits of (row, lane) by one.
template <typename T>
void transpose_square(const T* lines, int64_t stride, T* strip) {
  constexpr int L = kLanes<T>;
  Vector<T> x[L], y[L];
#pragma GCC unroll 16
  for (int i = 0; i < L; ++i) x[i] = *reinterpret_cast<const Vector<T>*>(lines + i * stride);
#pragma GCC unroll 8
  for (int round = 1; round < L; round *= 2) {
#pragma GCC unroll 16
    for (int i = 0; i < L / 2; ++i) {
      y[2 * i] = __builtin_shuffle(x[i], x[i + L / 2], interleave_mask<T, 0>());
      y[2 * i + 1] = __builtin_shuffle(x[i], x[i + L / 2], interleave_mask<T, L / 2>());
    }
#pragma GCC unroll 16
    for (int i = 0; i < L; ++i) x[i] = y[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < L; ++i) *reinterpret_cast<Vector<T>*>(strip + i * kColumns<T>) = x[i];
}

template <typename T>
void transpose(const void* lines, int64_t stride, int64_t depth, void* strip) {
  const T* from = static_cast<const T*>(lines);
  T* to = static_cast<T*>(strip);
  int64_t p = 0;
  for (; p + kLanes<T> <= depth; p += kLanes<T>) {
    for (int j = 0; j < kColumns<T>; j += kLanes<T>) transpose_square(from + j * stride + p, stride, to + p * kColumns<T> + j);
  }
  for (; p < depth; ++p) {
    for (int j = 0; j < kColumns<T>; ++j) to[p * kColumns<T> + j] = from[j * stride + p];
  }
}

}  // namespace
}  // namespace replay::cpu
