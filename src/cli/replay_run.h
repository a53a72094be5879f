// One module on one device: plan, prepare, measure, save.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "replay/engine.h"
#include "src/cli/progress.h"
#include "src/cli/replay_options.h"
#include "src/ir/module.h"
#include "src/model/store.h"

namespace cli {

/// The module to run, and where its instructions stand in the store: rows by computation and instruction of the module as imported.
struct Subject {
  const ir::Module* module = nullptr;      ///< as imported
  int64_t row = 0;                         ///< of table module
  std::vector<int64_t> first_instruction;  ///< by computation
  std::string recipe_file;
};

struct RunResult {
  int64_t run = 0;
  model::RunStatus status = model::RunStatus::complete;
  int passes = 0;
  double pass_seconds = 0;   ///< median wall time of a pass, repeats of short steps taken out
  int distinct = 0;          ///< --isolated: steps that were measured, for themselves and all like them
  std::string ended;         ///< why there were no more passes; "" where something broke them off
  double skipped_share = 0;  ///< of the steps
  std::string failure;       ///< verification: the step and the numbers; "" if none
};

/// The module that runs: the whole one, or a part cut out of it; with the pairs of --fuse as fusions.
base::Result<ir::Module> selected(const ir::Module& module, const ReplayOptions& options);
enum class Purpose : uint8_t { timing, counting };
base::Result<std::unique_ptr<replay::Device>> device_for(const ReplayOptions& options, Purpose purpose = Purpose::timing);
base::Result<replay::Plan> plan_for(const ir::Module& module, const ReplayOptions& options, const replay::Device& device);
/// When to stop: the number of passes that was asked for, or a stable median within `budget_s`.
std::unique_ptr<measure::Criterion> criterion_for(const ReplayOptions& options, double budget_s);

base::Result<RunResult> replay_module(const Subject& subject, const ReplayOptions& options, model::Store& store, ProgressLine& progress);
/// Prints the steps of the plan: id, name, op, class, buffers.
base::Status list_steps(const Subject& subject, const ReplayOptions& options);

}  // namespace cli
