// Rows of runs, inside a transaction of the caller.
#pragma once

#include <cstdint>
#include <span>

#include "src/base/result.h"
#include "src/model/database.h"
#include "src/model/records.h"

namespace model {

/// The run's row, with status `running`, and its description. Returns its id.
base::Result<int64_t> add_run(Database& database, const Run& run);
/// Device, kernels, steps, buffers, notes, options: replaces what was described before.
base::Status write_description(Database& database, int64_t run, const Run& what);

/// A pass and its samples.
struct RunInserts {
  Statement insert_pass, insert_sample;
  static base::Result<RunInserts> make(const Database& database);
  base::Status add(int64_t run, const Pass& pass, std::span<const Sample> samples);
};

}  // namespace model
