// Rows of runs, inside a transaction of the caller.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "src/base/result.h"
#include "src/model/database.h"
#include "src/model/records.h"
#include "src/model/row_batch.h"

namespace model {

/// The run's row, with status `running`, and its description. Returns its id.
base::Result<int64_t> add_run(Database& database, const Run& run);
/// Device, kernels, steps, buffers, notes, options: replaces what was described before.
base::Status write_description(Database& database, int64_t run, const Run& what);

/// Rows of steps, and of what each launches.
class StepRows {
 public:
  static base::Result<StepRows> make(Database& database, Background& background);
  void add(int64_t run, const StepRecord& step);
  void flush();

 private:
  StepRows(RowBatch steps, RowBatch launches) : steps_(std::move(steps)), launches_(std::move(launches)) {}
  RowBatch steps_, launches_;
};

/// A pass and its samples.
class RunInserts {
 public:
  static base::Result<RunInserts> make(const Database& database);
  base::Status add(int64_t run, const Pass& pass, std::span<const Sample> samples);

 private:
  RunInserts(Statement pass, Statement clocks, Statement sample)
      : insert_pass_(std::move(pass)), insert_clocks_(std::move(clocks)), insert_sample_(std::move(sample)) {}
  base::Status add_clocks(int64_t run, const Pass& pass, std::string_view moment, const std::optional<Clocks>& clocks);

  Statement insert_pass_, insert_clocks_, insert_sample_;
};

}  // namespace model
