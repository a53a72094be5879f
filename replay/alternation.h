// Fusions in turns with their parts: architecture §8.
#pragma once

#include <atomic>
#include <map>
#include <vector>

#include "replay/device.h"
#include "replay/verifier.h"

namespace replay {

/// After its ordinary execution, which is measured as ever, a fusion that has a variant runs in rounds: fused, parts, parts, fused, or the
/// other way round; the faster of two counts. Within a round drift cancels; which way is drawn for each round, so that nothing that comes
/// and goes on the machine can side with one of the two, and the signs of their differences are fair coins where there is none. Operands
/// that are overwritten are restored before every run, outside the timed window. A comparison that is settled runs no more: the time that
/// all have in a pass is shared by those that are not.
class Alternation {
 public:
  Alternation(const Plan& plan, Device& device, const std::atomic<bool>& stop);
  /// It has a variant whose comparison is not settled yet.
  bool has(StepId step) const;
  /// Before the step's own execution.
  base::Status save(StepId step);
  enum class Place : uint8_t { straight, loop };
  /// After it; all samples of the device must have been collected. Broken off where `stop` becomes true.
  base::Status run(StepId step, Place place);
  /// In a verifying pass, before the step: runs and judges the parts one by one; of a loop in its first trip.
  base::Status verify(StepId step, Verifier& verifier);
  /// In a counting pass, before the step: runs the parts one by one.
  base::Status run_parts(StepId step);
  /// Begins a pass.
  void clear();
  /// Variants 1 and 2 of the pass; of rounds that were completed.
  std::vector<model::Sample> samples(int pass) const;
  int64_t spent_ns() const { return spent_ns_; }  ///< in this pass, copies included
  /// From the warm-up pass: rounds in a pass. (Repeats of short fusions and parts were found while it ran.)
  void choose();
  /// After a pass that counts: comparisons that more pairs would not change end here, and their time goes to the others.
  void learn();
  /// No comparison of the last pass wants more pairs.
  bool settled() const { return open_ == 0; }
  /// [variant][part]: medians in seconds.
  std::vector<std::vector<double>> part_seconds() const;

 private:
  /// Both sides of a comparison; sums of executions and time.
  struct Round {
    model::Sample fused, parts;
  };
  struct State {
    const Variant* variant = nullptr;
    int fused_executions = 1, parts_executions = 1, rounds = 1;
    bool chosen = false, verified = false, ends_apart = false, settled = false;
    std::vector<Round> pass;                   ///< rounds of the current pass
    std::vector<double> fused_ns, parts_ns;    ///< of all pairs that count: an execution
    std::vector<std::vector<double>> parts_s;  ///< [part][run]
    int64_t block_ns = 0;                      ///< the last round with its copies
    int trip = 0;                              ///< executions in this pass, in a loop
  };

  void take_pairs(State& state) const;
  base::Status round(State& state, Round& sums, int number);
  bool parts_first(StepId step, int round) const;
  base::Status find_repeats(State& state);
  base::Result<int> repeats_of(StepId id);
  base::Status time(State& state, StepId id, int executions, model::Sample& sum);
  base::Status restore(const State& state);
  base::Status time_parts(State& state);
  base::Status leave_fused(State& state);
  base::Result<model::Sample> one(StepId id, int executions);

  const Plan& plan_;
  Device& device_;
  const std::atomic<bool>& stop_;
  std::map<StepId, State> by_step_;
  int64_t spent_ns_ = 0;
  uint64_t pass_ = 0;  ///< warm-ups included
  size_t open_ = 0;    ///< comparisons that want more pairs
};

}  // namespace replay
