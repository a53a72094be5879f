// Numbers for people: the suffix of a column's name tells the unit.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "src/model/store.h"

namespace report {

/// "median_ns" → "median", "gb_per_s" → "GB/s", "attainable_gflop_per_s" → "attainable GFLOP/s".
std::string heading(std::string_view column);
/// The same beside others: "of steps" where steps_percent stands beside steps.
std::string heading(std::string_view column, std::span<const std::string> all);
/// "12.3 ms", "1.50 GB", "45.6 %"; numbers without a unit have three digits; NULL is "-"; texts are made displayable.
std::string human(const model::Cell& cell, std::string_view column);

}  // namespace report
