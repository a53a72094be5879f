// Chrome's trace JSON, event by event: an array, or an object with "traceEvents".
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "importers/importer.h"
#include "src/base/result.h"

namespace importers::tensorflow {

struct TraceEvent {
  std::string name, phase, category;
  int64_t begin_ns = 0, duration_ns = 0;  ///< of "ts" and "dur", which are µs
  int64_t process = 0, thread = 0;
  std::vector<std::pair<std::string, std::string>> arguments;  ///< of "args" at any depth; numbers as text

  std::string_view argument(std::string_view key) const;
};

/// Calls `each` for every event. Result: where the text is cut (nothing follows but blanks, brackets or the end), or npos. An Error where
/// it is no JSON. A comma before the last bracket, and brackets that are missing, are how tools write that were stopped: no error.
base::Result<size_t> read_trace(const Input& input, const std::function<void(const TraceEvent&)>& each);

/// The start of a text that may be a trace, without blanks before it; empty if it begins with neither '[' nor '{'.
std::string_view trace_head(std::string_view text);

}  // namespace importers::tensorflow
