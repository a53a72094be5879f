// What is computed once when a run ends: statistics of its steps and the folded timeline.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/result.h"
#include "src/model/background.h"
#include "src/model/database.h"
#include "src/model/fusion_rows.h"
#include "src/model/records.h"
#include "src/model/row_batch.h"
#include "src/timeline/timeline.h"

namespace model {

std::string_view text(RunStatus status);

/// What statistics and timeline are made of.
struct RunSamples {
  std::vector<timeline::Slice> slices;                        ///< a sample each, by pass, step, variant and round
  std::vector<int32_t> executions;                            ///< of each
  std::vector<std::pair<int32_t, double>> calls;              ///< executions of a step in one pass; by step
  std::vector<std::pair<int32_t, std::string_view>> devices;  ///< of a recorded run, steps with one, as the log names it; by step
  std::map<int32_t, FusionPairs> pairs;                       ///< by step
};

/// Inside a transaction of the caller. Steps without an entry in `given` get statistics from their samples.
base::Status end_run(Database& database, int64_t run, RunStatus status, std::span<const StepStat> given);
/// Rows of table step_stat.
base::Result<RowBatch> statistic_rows(Database& database, Background& background);
/// Ends a new run whose rows are still being written in the background, and whose samples are at hand.
base::Status end_run(Database& database, Background& background, RowBatch& statistics, int64_t run, const RunSamples& samples);
/// Ends all runs whose writer is gone as `interrupted`.
base::Status end_abandoned_runs(Database& database);

}  // namespace model
