// When is a measurement good enough? A criterion sees only numbers.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace measure {

class Criterion {
 public:
  virtual ~Criterion() = default;
  /// One pass took this long: the time that the steps of a pass need, and the wall time that it cost to measure them.
  virtual void add(double steps_s, double wall_s) = 0;
  virtual bool done() const = 0;
  /// One more pass would take longer than what was allowed: where not, a run that is done may go on for the sake of something else.
  virtual bool spent() const = 0;
  /// Once done: why no more passes are needed, in words.
  virtual std::string reason() const = 0;
  /// Estimate of the wall time that is left, for progress; 0 when spent.
  virtual double left_s() const = 0;
};

struct StableOptions {
  double budget_s = 30;         ///< wall time for all passes
  double noise = 0.005;         ///< half-width of the median's 95 % interval over the median
  int enough = 10, fewest = 3;  ///< passes; one is enough where a single pass exceeds the budget
};
/// Until the median is known to `noise` and there are `enough` passes, or the budget is spent.
std::unique_ptr<Criterion> until_stable(const StableOptions& options);
/// A fixed number of passes.
std::unique_ptr<Criterion> exactly(int passes);

}  // namespace measure
