// Did a median change? Pure: two medians with their intervals in, the change and a verdict out.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stats {

/// A median with its 95 % interval, from n samples; n 0: none.
struct Estimate {
  int64_t n = 0;
  double median = 0, low = 0, high = 0;
};

/// `after` over `before`, minus one, in percent. The ends take each median at the ends of its own interval: both hold together in more than
/// 90 % of all cases, and where the intervals lie apart the change does not span 0.
struct Change {
  double percent = 0, low_percent = 0, high_percent = 0;
};
/// Nothing where one was not measured, or took no time.
std::optional<Change> change(const Estimate& before, const Estimate& after);

/// Below kFewSamples nothing is said; below kSureSamples the interval is all samples and a verdict is a guess.
inline constexpr int64_t kFewSamples = 3, kSureSamples = 6;
enum class Verdict : uint8_t { same, slower, faster, maybe_slower, maybe_faster, few_samples, not_timed };
/// Slower or faster where the intervals lie apart.
Verdict verdict(const Estimate& before, const Estimate& after);
std::string_view text(Verdict verdict);  ///< "slower", "slower?", "few samples"

}  // namespace stats
