// From plans, devices and outcomes to records of the store.
#pragma once

#include <string>
#include <vector>

#include "replay/engine.h"
#include "src/cli/replay_run.h"
#include "src/model/records.h"

namespace cli {

std::vector<model::StepRecord> step_records(const replay::Plan& plan, const replay::Device& device, const Subject& subject);
std::vector<model::BufferRecord> buffer_records(const replay::Plan& plan);
/// Statistics per execution; trips of steps in loops go into `calls`.
std::vector<model::StepStat> step_stats(const replay::Outcome& outcome);
void add_verdict(model::StepRecord& step, const replay::Verdict& verdict);
void add_verdicts(std::vector<model::StepRecord>& steps, const replay::Outcome& outcome);

}  // namespace cli
