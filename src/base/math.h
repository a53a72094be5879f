// Small sums on sizes.
#pragma once

#include <algorithm>
#include <cstdint>

namespace base {

/// The least integer not below a / b; b > 0.
constexpr int64_t ceil_div(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }
/// The least multiple of b not below a; b > 0.
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

/// Whether a list of axes, operands or the like has the value.
template <class List, class Value>
bool contains(const List& list, Value value) {
  return std::ranges::find(list, static_cast<typename List::value_type>(value)) != list.end();
}

}  // namespace base
