// The passes of a transform on vectors of lines: included by one file per instruction set, so all of it has internal linkage.
#pragma once

#include <cstring>

#include "replay/device/cpu/fft_butterflies.h"

namespace replay::cpu {
namespace {

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
