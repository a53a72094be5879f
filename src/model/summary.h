// What is computed once when a run ends: statistics of its steps and the folded timeline.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "src/base/result.h"
#include "src/model/database.h"
#include "src/model/records.h"

namespace model {

std::string_view text(RunStatus status);

/// Inside a transaction of the caller. Steps without an entry in `given` get statistics from their samples.
base::Status end_run(Database& database, int64_t run, RunStatus status, std::span<const StepStat> given);
/// Ends all runs whose writer is gone as `interrupted`.
base::Status end_abandoned_runs(Database& database);

}  // namespace model
