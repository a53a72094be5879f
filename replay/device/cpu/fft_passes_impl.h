// The passes of a transform on vectors of lines: included by one file per instruction set, so all of it has internal linkage.
//
// Stockham's algorithm needs no bit reversal: a pass over n points reads x[q + s·(p + m·j)], j < r, and writes y[q + s·(r·p + k)] =
// w^(p·k)·Σ_j x_j·w_r^(j·k), where m = n/r and w = e^(−2πi/n); the next pass has n ← m, s ← s·r.
#pragma once

#include <cstring>

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

template <typename T>
void transform_points(const FftPlan<T>& plan, Point<T>* data, Point<T>* other) {
  Point<T>*from = data, *to = other;
  for (int64_t i = 0; i < plan.pass_count; ++i) {
    run_pass(plan.passes[i], plan.factors, from, to);
    Point<T>* const swap = from;
    from = to, to = swap;
  }
  if (from != data) std::memcpy(static_cast<void*>(data), from, static_cast<size_t>(plan.n) * sizeof(Point<T>));
}

/// Bluestein: j·k = (j² + k² − (k − j)²)/2 makes a transform of any length a convolution with a chirp, done by lengths that have passes.
template <typename T>
void transform(const FftPlan<T>& plan, T* points, T* room) {
  Point<T>*data = reinterpret_cast<Point<T>*>(points), *other = reinterpret_cast<Point<T>*>(room);
  if (plan.inner == nullptr) return transform_points(plan, data, other);
  const FftPlan<T>& inner = *plan.inner;
  Point<T>* const spread = other + inner.n;
  for (int64_t k = 0; k < plan.n; ++k) spread[k] = times(data[k], plan.chirp[2 * k], plan.chirp[2 * k + 1]);
  std::memset(static_cast<void*>(spread + plan.n), 0, static_cast<size_t>(inner.n - plan.n) * sizeof(Point<T>));
  transform_points(inner, spread, other);
  for (int64_t k = 0; k < inner.n; ++k) {
    const Point<T> product = times(spread[k], plan.spectrum[2 * k], plan.spectrum[2 * k + 1]);
    spread[k] = {product.im, product.re};
  }
  transform_points(inner, spread, other);
  for (int64_t k = 0; k < plan.n; ++k) data[k] = times(Point<T>{spread[k].im, spread[k].re}, plan.chirp[2 * k], plan.chirp[2 * k + 1]);
}

template <typename T>
void load(const FftLines<T>& from, bool swapped, T* to) {
  constexpr int L = kLanes<T>;
  const int re = swapped ? L : 0, im = swapped ? 0 : L;
  for (int64_t k = 0; k < from.points; ++k, to += 2 * L) {
    const T* at = from.data + k * from.step;
    if (from.adjacent) {
      at += from.offsets[0];
      for (int i = 0; i < L; ++i) to[re + i] = at[2 * i], to[im + i] = at[2 * i + 1];
      continue;
    }
    for (int i = 0; i < from.lines; ++i) {
      to[re + i] = at[from.offsets[i]];
      to[im + i] = from.imaginary == 0 ? T{} : at[from.offsets[i] + from.imaginary];
    }
    for (int i = from.lines; i < L; ++i) to[i] = to[L + i] = T{};
  }
}

template <typename T>
void store(const T* from, bool swapped, T scale, const FftLines<T>& to) {
  constexpr int L = kLanes<T>;
  const int re = swapped ? L : 0, im = swapped ? 0 : L;
  for (int64_t k = 0; k < to.points; ++k, from += 2 * L) {
    T* at = to.data + k * to.step;
    if (to.adjacent) {
      at += to.offsets[0];
      for (int i = 0; i < L; ++i) at[2 * i] = from[re + i] * scale, at[2 * i + 1] = from[im + i] * scale;
      continue;
    }
    for (int i = 0; i < to.lines; ++i) {
      at[to.offsets[i]] = from[re + i] * scale;
      if (to.imaginary != 0) at[to.offsets[i] + to.imaginary] = from[im + i] * scale;
    }
  }
}

template <typename T>
void twist(T* points, int64_t n, const T* factors, int64_t step, int lines) {
  constexpr int L = kLanes<T>;
  for (int64_t k = 0; k < n; ++k, points += 2 * L) {
    const T* w = factors + k * step;
    for (int i = 0; i < lines; ++i) {
      const T re = points[i], im = points[L + i];
      points[i] = re * w[2 * i] - im * w[2 * i + 1];
      points[L + i] = re * w[2 * i + 1] + im * w[2 * i];
    }
  }
}

/// Z = E + i·O with E, O the spectra of the even and the odd values: X[k] = E[k] + w^k·O[k], w = e^(−πi/n).
template <typename T>
void split_real(T* points, int64_t n, const T* roots) {
  Point<T>* z = reinterpret_cast<Point<T>*>(points);
  constexpr T kHalf = static_cast<T>(0.5);
  const Point<T> first = z[0];
  z[0] = {first.re + first.im, first.re - first.re};
  z[n] = {first.re - first.im, first.re - first.re};
  for (int64_t k = 1; k <= n / 2; ++k) {
    const Point<T> a = z[k], b = {z[n - k].re, -z[n - k].im};
    const Point<T> even = scaled(a + b, kHalf), odd = scaled(turned(a - b), kHalf);
    const Point<T> twisted = times(odd, roots[2 * k], roots[2 * k + 1]);
    const Point<T> low = even + twisted, high = even - twisted;
    z[k] = low;
    z[n - k] = {high.re, -high.im};
  }
}

template <typename T>
void join_real(T* points, int64_t n, const T* roots) {
  Point<T>* z = reinterpret_cast<Point<T>*>(points);
  constexpr T kHalf = static_cast<T>(0.5);
  const Vector<T> first = z[0].re, last = z[n].re;
  z[0] = {(first + last) * kHalf, (first - last) * kHalf};
  for (int64_t k = 1; k <= n / 2; ++k) {
    const Point<T> a = z[k], b = {z[n - k].re, -z[n - k].im};
    const Point<T> even = scaled(a + b, kHalf), odd = times(scaled(a - b, kHalf), roots[2 * k], -roots[2 * k + 1]);
    const Point<T> other = {even.re + odd.im, -(even.im - odd.re)};
    z[k] = {even.re - odd.im, even.im + odd.re};
    z[n - k] = other;
  }
}

template <typename T>
FftKernels<T> fft_kernels() {
  return {kLanes<T>, load<T>, store<T>, transform<T>, twist<T>, split_real<T>, join_real<T>};
}

}  // namespace
}  // namespace replay::cpu
