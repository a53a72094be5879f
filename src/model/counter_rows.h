// Rows of what the hardware counted, inside a transaction of the caller.
#pragma once

#include "src/base/result.h"
#include "src/model/counter_records.h"
#include "src/model/database.h"

namespace model {

base::Status write_counters(Database& database, int64_t run, const Counters& counters);

}  // namespace model
