// Records of fusions that run as their parts too.
#pragma once

#include <vector>

#include "replay/engine.h"
#include "src/model/records.h"

namespace cli {

/// Of a prepared device: what the parts are, launch and cost on paper.
std::vector<model::FusionRecord> fusion_records(const replay::Plan& plan, const replay::Device& device);
/// What a run told of the single parts: times and verdicts.
void add_part_times(std::vector<model::FusionRecord>& fusions, const replay::Plan& plan, const replay::Outcome& outcome);

}  // namespace cli
