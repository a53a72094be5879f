// The counters that can be asked for, and what their numbers are.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"

namespace replay::cuda {

struct Counter {
  std::string_view name;    ///< as --counters and the store have it
  std::string_view metric;  ///< as CUPTI has it
  std::string_view unit;    ///< bytes, percent, count
  bool usual;               ///< asked for where no names are given
  std::string_view about;
};
std::span<const Counter> all_counters();

/// "default", or names separated by commas; each once, in the table's order. Error: a name that is none, with the nearest.
base::Result<std::vector<Counter>> counters_named(std::string_view names);

}  // namespace replay::cuda
