// Two runs against each other, of one database or of two.
#pragma once

#include <cstdint>
#include <vector>

#include "src/base/result.h"
#include "src/model/store.h"

namespace report {

struct RunOf {
  const model::Reader& reader;
  int64_t run;  ///< 0: the newest
};

struct Comparison {
  int64_t before = 0, after = 0;  ///< the runs
  /// The rows of the report `compare`: steps by how much they change the pass, the largest first; new and gone ones among them.
  /// `at_least_percent`, `at_most_percent`: see stats::Change. `matched_by`: see report::MatchedBy. Where a run is a prediction the verdict
  /// is `predicted`, where one has cold caches and one warm ones `other caches`.
  model::Rows steps;
  struct Pair {
    int32_t before = -1, after = -1;  ///< numbers of the steps in their plans; -1: it has none there
  };
  std::vector<Pair> pairs;  ///< of the rows of `steps`
  /// One row: the pass before and after, over the steps that both runs timed and those that only one has; how many were matched, new,
  /// gone, slower, faster, same; what most steps did alike, and how far one scatters (95 %), both NULL below 8 steps: stats::RunNoise.
  model::Rows total;
  model::Rows differences;  ///< fact, before, after: where and how the two were run, as far as it differs
};
/// Errors with exit status cannot_judge: a run without times, runs without a step in common.
base::Result<Comparison> compare(RunOf before, RunOf after);

/// The newest run before `run` that has times, of the same program on the same device with caches alike; 0: there is none.
base::Result<int64_t> run_before(const model::Reader& reader, int64_t run);
/// The report `compare`: `run` against run_before(run); no rows where there is none.
base::Result<model::Rows> compare_with_run_before(const model::Reader& reader, int64_t run);

}  // namespace report
