// Did a median change? Pure: two medians with their intervals in, the change and a verdict out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace stats {

/// A median with its 95 % interval, from n samples; n 0: none.
struct Estimate {
  int64_t n = 0;
  double median = 0, low = 0, high = 0;
  double quartiles = 0;  ///< distance of the quartiles of the samples, as a share of the median
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
/// Slower or faster where the intervals lie apart. Of two times of one run: noise between runs is larger than within.
Verdict verdict(const Estimate& before, const Estimate& after);

/// What two runs differ by for no reason of the program's, told from all steps that both have, most of which are taken to be the same: an
/// empirical null (Efron: Large-Scale Simultaneous Hypothesis Testing, 2004). In logarithms of after over before. A step that scatters
/// much within the runs does so between them too; by how much more all steps tell together.
struct RunNoise {
  int64_t steps = 0;   ///< that it was told from; below kFewestSteps it is not known
  double shift = 0;    ///< of all alike: the machine was faster, or everything has changed; steady steps have more say
  double factor = 0;   ///< standard deviation of a step beside the others, in units of own_noise
  double typical = 0;  ///< the same of the step in the middle, not in units
  bool known() const;
};
inline constexpr int64_t kFewestSteps = 8;
/// Of one step within both runs: standard deviation of a sample, from the quartiles; never below 1 %.
double own_noise(const Estimate& before, const Estimate& after);
struct Moved {
  double ratio = 1;      ///< after over before
  double own_noise = 0;  ///< see above
};
RunNoise run_noise(std::span<const Moved> steps);
/// Of a step: slower or faster where the intervals lie apart, and it has moved beyond the others by five times what it may differ by. A
/// guess where the noise is not known. How often that is wrong and what it misses: tests/bench/results/README.md.
Verdict verdict(const Estimate& before, const Estimate& after, const RunNoise& noise);
/// Of the sum of all steps: a guess unless it goes far beyond both the shift and the spread.
Verdict verdict_of_sum(const Estimate& before, const Estimate& after, const RunNoise& noise);
/// The change with the noise between runs in its ends. `spread`: standard deviation between runs, in logarithms.
Change widened(const Change& change, double spread);
std::string_view text(Verdict verdict);  ///< "slower", "slower?", "few samples"

}  // namespace stats
