// Small sums on sizes.
#pragma once

#include <cstdint>

namespace base {

/// The least integer not below a / b; b > 0.
constexpr int64_t ceil_div(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }
/// The least multiple of b not below a; b > 0.
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

}  // namespace base
