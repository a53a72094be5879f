// The answer of a replay: what was imported, coverage, top, fusions, memory, total.
#pragma once

#include <string>

#include "src/base/result.h"
#include "src/cli/replay_run.h"

namespace cli {

base::Status print_answer(const std::string& database, const std::string& account, const RunResult& result, const ReplayOptions& options);

}  // namespace cli
