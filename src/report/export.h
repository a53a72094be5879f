// A run for other programs: a trace for Perfetto and chrome://tracing, a page for any browser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "src/base/result.h"
#include "src/model/store.h"

namespace report {

/// Takes an export piece by piece; an Error ends it.
using Sink = std::function<base::Status(std::string_view)>;

/// Runs as one trace in Chrome's JSON format ("Trace Event Format", JSON object form): a process a run, with a thread for its passes and
/// two for each lane: steps (ph X) and the scopes around them (ph B and E); live memory is a counter (ph C). Times are microseconds with
/// three decimals, which loses no nanosecond. What is held in memory grows with the steps of a run, not with its samples.
base::Status export_chrome(const model::Reader& reader, std::span<const int64_t> runs, const Sink& sink);

/// What a page holds at most, so that a browser opens it at once; it says how much was left out.
struct PageLimits {
  size_t steps = 5'000;     ///< the longest
  size_t records = 60'000;  ///< of the timeline, all lanes together: the finest level that fits
  size_t rows = 500;        ///< of any other table
};
/// A run as one HTML page that needs nothing else: no network, no server. Texts of the database stand in it as JSON and are never markup; a
/// content security policy lets only the page's own script and style in.
base::Status export_html(const model::Reader& reader, int64_t run, const PageLimits& limits, const Sink& sink);

}  // namespace report
