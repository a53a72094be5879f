// Small sums on sizes and times.
#pragma once

#include <cstdint>

namespace base {

/// The least integer not below a / b; b > 0.
constexpr int64_t ceil_div(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }
/// The least multiple of b not below a; b > 0.
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

/// a + b; the greatest or the least number where the sum lies beyond it.
constexpr int64_t saturated_sum(int64_t a, int64_t b) {
  int64_t sum = 0;
  return !__builtin_add_overflow(a, b, &sum) ? sum : a < 0 ? INT64_MIN : INT64_MAX;
}
/// The whole part; the greatest or the least number where it lies beyond it, 0 of what is no number.
constexpr int64_t saturated_int(double value) {
  constexpr double kBeyond = 9223372036854775808.0;
  if (value >= kBeyond) return INT64_MAX;
  return value >= -kBeyond ? static_cast<int64_t>(value) : value < 0 ? INT64_MIN : 0;
}

}  // namespace base
