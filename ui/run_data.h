// A run as the panels share it: every step with its numbers, read once.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/base/result.h"
#include "src/model/store.h"

namespace ui {

/// Of a cell; 0 where it holds no integer.
inline int64_t integer_in(const model::Cell& cell) { return cell.kind == model::Cell::Kind::integer ? cell.integer : 0; }

/// One step. Times in ns of one execution unless the name says pass; NaN: not measured or not known.
struct StepInfo {
  int32_t step = 0;
  std::string name, computation, opcode, kind, cls, key, precision;
  std::string op_type, op_name, phase, scope;
  std::string source_file;
  int64_t source_line = 0;  ///< 0: not told
  int64_t instruction = 0;  ///< row of table instruction; 0: none
  int64_t n = 0;            ///< samples
  double calls = 0, min_ns = 0, q1_ns = 0, median_ns = 0, q3_ns = 0, mad_ns = 0, ci_low_ns = 0, ci_high_ns = 0, pass_ns = 0;
  double share = 0;  ///< of the pass, 0 to 1
  double flops = 0, bytes = 0, saved_bytes = 0;
  double intensity = 0, attainable_ns = 0, gb_per_s = 0, gflop_per_s = 0, attainable_gflop_per_s = 0, roof_percent = 0;
  double published_percent = 0;  ///< as roof_percent, against the published limits
  double worst_error = 0;
  std::string bound_by, flags, why;
  std::string basis;  ///< where its time is from: measured, recorded, predicted
};

struct RunData {
  int64_t run = 0;
  int64_t serial = 0;           ///< of the loader when it was asked
  std::vector<StepInfo> steps;  ///< in plan order
  double pass_ns = 0;           ///< sum of the steps' median times in a pass
  /// Place in `steps` of the first step that has this number or a later one; steps.size() after the last.
  uint32_t place_from(int64_t step) const;
  /// nullptr: the run has no such step.
  const StepInfo* find(int32_t step) const;

 private:
  friend base::Result<RunData> read_run(const model::Reader&, int64_t);
  std::unordered_map<int32_t, size_t> index_;
};

base::Result<RunData> read_run(const model::Reader& reader, int64_t run);

/// A row of the list of runs.
struct RunInfo {
  int64_t run = 0;
  std::string kind, status;  ///< status: running, complete, interrupted, failed; of a killed writer: interrupted
  std::string module, path, device, model;
  int64_t started_unix_ns = 0, passes = 0;
  std::string label() const;  ///< "run 3 · jit_bert · cpu · 12 passes"
};
/// Newest first.
base::Result<std::vector<RunInfo>> read_runs(const model::Reader& reader);

/// What a cell holds as a number; NaN of NULL and text.
double number(const model::Cell& cell);

}  // namespace ui
