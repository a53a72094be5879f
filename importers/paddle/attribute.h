// The values of attributes: what Python's `str` and PIR's printer write, read on demand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace importers::paddle {

/// Without what PIR puts around a value: `(Float)1e-06` → `1e-06`, `(pd_op.DataType)float32` → `float32`, `IntArray[1]`, `array[1]` →
/// `[1]`.
std::string_view plain_value(std::string_view value);
/// A number in any of its spellings: `True`, `false`, `1e-06`, `inf`, `nan`, `(Double)3`; nothing if it is none.
std::optional<double> number_of(std::string_view value);
std::optional<int64_t> integer_of(std::string_view value);
std::optional<bool> flag_of(std::string_view value);
/// The items of a list, or the one value; each as written. The items of `1, 2` without brackets too.
std::vector<std::string_view> items_of(std::string_view value);
/// Nothing if an item is no integer.
std::optional<std::vector<int64_t>> integers_of(std::string_view value);
/// Without quotes.
std::string_view text_of(std::string_view value);

}  // namespace importers::paddle
