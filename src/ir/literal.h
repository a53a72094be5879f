// Values of constants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/ir/shape.h"

namespace ir {

/// Array: little-endian elements in logical row-major order, one element = bytes(type). Tuple: one literal an element.
/// Elided `{...}`: no data; a replay fills it like an input. NaN payloads are kept because the bits are.
struct Literal {
  std::vector<std::byte> data;
  std::vector<Literal> elements;
  bool elided = false;
  bool operator==(const Literal&) const = default;
};

/// Element `index` (row-major) as f64 / as an integer (u64 is bit-cast). For complex, `part` 0 is real, 1 imaginary.
double as_double(const Literal& literal, Type type, int64_t index, int part = 0);
int64_t as_int(const Literal& literal, Type type, int64_t index);
/// Rounded to nearest even / truncated to the type's width.
Literal scalar_literal(Type type, double value);
/// The greatest and the least number of a type that is not complex; of floats infinity.
Literal greatest_literal(Type type);
Literal least_literal(Type type);
Literal scalar_literal(Type type, int64_t value);
/// Text between the parentheses of `constant(…)`; `shape` gives type and dims.
std::string print(const Literal& literal, const Shape& shape);

}  // namespace ir
