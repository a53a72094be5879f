// What the hardware counts of each step, on a device of its own: counting and timing disturb each other.
#pragma once

#include "src/cli/replay_options.h"
#include "src/ir/module.h"
#include "src/model/records.h"

namespace cli {

/// Plans, prepares and runs the program once more than its counters need passes. Where it cannot be counted, Counters::why says so and the
/// replay goes on; an Error where the GPU is lost, the inputs are wrong, or counters are required.
base::Result<model::Counters> count_steps(const ir::Module& module, const ReplayOptions& options, const std::string& recipe_file);

}  // namespace cli
