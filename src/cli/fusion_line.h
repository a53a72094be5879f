// What a run found of its fusions, in one line.
#pragma once

#include <optional>
#include <string>

#include "src/model/store.h"

namespace cli {

/// "Fusions: 153 measured beside their parts: 150 pay, 2 neutral, 1 costs; together they save 1.23 s a pass (predicted 1.40 s)"; nothing
/// where none was measured. `run` 0: the newest. `predicted_ns`: in place of what their traffic predicts.
base::Result<std::string> fusion_line(const model::Reader& reader, int64_t run, std::optional<double> predicted_ns = {});

}  // namespace cli
