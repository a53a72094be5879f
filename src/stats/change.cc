// Two 95 % intervals that lie apart: a test at about 0.6 % for equal spreads, so that a table of a hundred steps has no false alarm in most
// runs that are the same.
#include "src/stats/change.h"

#include <algorithm>

namespace stats {
namespace {

double percent_over(double after, double before) { return 100 * (after / before - 1); }

}  // namespace

std::optional<Change> change(const Estimate& before, const Estimate& after) {
  if (before.n == 0 || after.n == 0 || before.median <= 0) return std::nullopt;
  Change change{percent_over(after.median, before.median), 0, 0};
  change.low_percent = before.high > 0 ? percent_over(after.low, before.high) : change.percent;
  change.high_percent = before.low > 0 ? percent_over(after.high, before.low) : change.percent;
  return change;
}

Verdict verdict(const Estimate& before, const Estimate& after) {
  const int64_t n = std::min(before.n, after.n);
  if (n == 0) return Verdict::not_timed;
  if (n < kFewSamples) return Verdict::few_samples;
  const bool sure = n >= kSureSamples;
  if (after.low > before.high) return sure ? Verdict::slower : Verdict::maybe_slower;
  if (after.high < before.low) return sure ? Verdict::faster : Verdict::maybe_faster;
  return Verdict::same;
}

std::string_view text(Verdict verdict) {
  switch (verdict) {
    case Verdict::same:
      return "same";
    case Verdict::slower:
      return "slower";
    case Verdict::faster:
      return "faster";
    case Verdict::maybe_slower:
      return "slower?";
    case Verdict::maybe_faster:
      return "faster?";
    case Verdict::few_samples:
      return "few samples";
    case Verdict::not_timed:
      return "not timed";
  }
  return "";
}

}  // namespace stats
