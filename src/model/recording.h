// A run that a log tells of.
#pragma once

#include <cstdint>
#include <span>

#include "src/base/result.h"
#include "src/model/background.h"
#include "src/model/database.h"
#include "src/model/records.h"

namespace model {

/// Where its rows belong: the log, and the row of the first of its operators, which are consecutive.
struct RecordingPlace {
  int64_t source = 0, first_op = 0;
};

/// Writes a complete run of kind `recorded` inside a transaction of the caller: a step for each operator that has times. The background
/// must be idle, and is at the end.
base::Status write_recording(Database& database, Background& background, const Recording& recording, std::span<const Operator> operators,
                             RecordingPlace place);

}  // namespace model
