// Points of a vector of lines, and one pass of Stockham's algorithm over them. Like all that fft_passes_impl.h includes, of internal
// linkage.
//
// Stockham's algorithm needs no bit reversal: a pass over n points reads x[q + s·(p + m·j)], j < r, and writes y[q + s·(r·p + k)] =
// w^(p·k)·Σ_j x_j·w_r^(j·k), where m = n/r and w = e^(−2πi/n); the next pass has n ← m, s ← s·r.
#pragma once

#include "replay/device/cpu/fft_passes.h"
#include "replay/device/cpu/packed_vector.h"

namespace replay::cpu {
namespace {

template <typename T>
struct __attribute__((may_alias)) Point {
  Vector<T> re, im;
};

template <typename T>
inline Point<T> operator+(const Point<T>& a, const Point<T>& b) {
  return {a.re + b.re, a.im + b.im};
}
template <typename T>
inline Point<T> operator-(const Point<T>& a, const Point<T>& b) {
  return {a.re - b.re, a.im - b.im};
}
template <typename T>
inline Point<T> times(const Point<T>& a, T re, T im) {
  return {a.re * re - a.im * im, a.re * im + a.im * re};
}
/// −i·a
template <typename T>
inline Point<T> turned(const Point<T>& a) {
  return {a.im, -a.re};
}
template <typename T>
inline Point<T> scaled(const Point<T>& a, T factor) {
  return {a.re * factor, a.im * factor};
}

template <typename T>
inline void butterfly_2(const Point<T>* x, Point<T>* y) {
  y[0] = x[0] + x[1], y[1] = x[0] - x[1];
}
template <typename T>
inline void butterfly_3(const Point<T>* x, Point<T>* y) {
  constexpr T kHalf = static_cast<T>(0.5), kSine = static_cast<T>(0.86602540378443864676);
  const Point<T> sum = x[1] + x[2], turn = scaled(turned(x[1] - x[2]), kSine), middle = x[0] - scaled(sum, kHalf);
  y[0] = x[0] + sum, y[1] = middle + turn, y[2] = middle - turn;
}
template <typename T>
inline void butterfly_4(const Point<T>* x, Point<T>* y) {
  const Point<T> a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = turned(x[1] - x[3]);
  y[0] = a + c, y[1] = b + d, y[2] = a - c, y[3] = b - d;
}
template <typename T>
inline void butterfly_5(const Point<T>* x, Point<T>* y) {
  constexpr T c1 = static_cast<T>(0.30901699437494742410), c2 = static_cast<T>(-0.80901699437494742410);
  constexpr T s1 = static_cast<T>(0.95105651629515357212), s2 = static_cast<T>(0.58778525229247312917);
  const Point<T> a = x[1] + x[4], b = x[2] + x[3], c = turned(x[1] - x[4]), d = turned(x[2] - x[3]);
  const Point<T> first = x[0] + scaled(a, c1) + scaled(b, c2), second = x[0] + scaled(a, c2) + scaled(b, c1);
  const Point<T> third = scaled(c, s1) + scaled(d, s2), fourth = scaled(c, s2) - scaled(d, s1);
  y[0] = x[0] + a + b, y[1] = first + third, y[4] = first - third, y[2] = second + fourth, y[3] = second - fourth;
}

template <typename T, int R, void (*Butterfly)(const Point<T>*, Point<T>*)>
void pass(const FftPass& p, const T* factors, const Point<T>* from, Point<T>* to) {
  const T* w = factors + p.twiddles;
  for (int64_t i = 0; i < p.count; ++i, w += 2 * (R - 1)) {
    for (int64_t q = 0; q < p.stride; ++q) {
      Point<T> x[R], y[R];
      for (int j = 0; j < R; ++j) x[j] = from[q + p.stride * (i + p.count * j)];
      Butterfly(x, y);
      Point<T>* out = to + q + p.stride * R * i;
      out[0] = y[0];
      for (int k = 1; k < R; ++k) out[p.stride * k] = times(y[k], w[2 * k - 2], w[2 * k - 1]);
    }
  }
}

/// Any radix, by the definition.
template <typename T>
void pass_any(const FftPass& p, const T* factors, const Point<T>* from, Point<T>* to) {
  const T* roots = factors + p.twiddles;
  const int r = p.radix;
  const T* w = roots + 2 * r;
  for (int64_t i = 0; i < p.count; ++i, w += 2 * (r - 1)) {
    for (int64_t q = 0; q < p.stride; ++q) {
      for (int k = 0; k < r; ++k) {
        Point<T> sum = from[q + p.stride * i];
        for (int j = 1; j < r; ++j) {
          const int at = j * k % r;
          sum = sum + times(from[q + p.stride * (i + p.count * j)], roots[2 * at], roots[2 * at + 1]);
        }
        to[q + p.stride * (r * i + k)] = k == 0 ? sum : times(sum, w[2 * k - 2], w[2 * k - 1]);
      }
    }
  }
}

template <typename T>
void run_pass(const FftPass& p, const T* factors, const Point<T>* from, Point<T>* to) {
  switch (p.radix) {
    case 2:
      return pass<T, 2, butterfly_2<T>>(p, factors, from, to);
    case 3:
      return pass<T, 3, butterfly_3<T>>(p, factors, from, to);
    case 4:
      return pass<T, 4, butterfly_4<T>>(p, factors, from, to);
    case 5:
      return pass<T, 5, butterfly_5<T>>(p, factors, from, to);
    default:
      return pass_any<T>(p, factors, from, to);
  }
}

}  // namespace
}  // namespace replay::cpu
