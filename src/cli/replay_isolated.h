// Each distinct step of a plan alone: for programs that do not fit into memory.
#pragma once

#include "replay/engine.h"
#include "src/cli/progress.h"
#include "src/cli/replay_options.h"
#include "src/cli/replay_run.h"
#include "src/model/store.h"

namespace cli {

/// What measuring the steps one by one gave; steps with the same text and shapes share what one of them took.
struct Isolated {
  model::RunStatus status = model::RunStatus::complete;
  std::vector<model::StepStat> stats;
  int distinct = 0;         ///< steps that ran
  double pass_seconds = 0;  ///< sum over all steps of median × executions
  std::string failure;      ///< of verification
};

/// Runs every step that the plan would launch as a program of its own, on generated operands, for its share of the budget. Fills in
/// `record` what only a prepared device knows of a step (precision, kernels, verdict) and saves samples as they come. A step that fails
/// alone, say for want of memory, becomes class skip and says why. `timed`: as in EngineOptions.
base::Result<Isolated> replay_isolated(const replay::Plan& plan, const ReplayOptions& options, const std::vector<bool>& timed,
                                       model::Run& record, int64_t run, model::Store& store, ProgressLine& line);

}  // namespace cli
