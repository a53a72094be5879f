// A log's times in the shape of a replay's: an operator that has times is a step, and what it did in one pass is a sample.
#include "src/model/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "src/base/hash.h"
#include "src/base/text.h"
#include "src/model/run_rows.h"
#include "src/model/summary.h"

namespace model {
namespace {

/// Operators in the order of their first times, and their samples by pass.
struct Sorted {
  std::vector<int32_t> ops;                              ///< by step
  std::vector<double> calls;                             ///< by step: executions in a pass
  std::map<int32_t, std::map<int32_t, Sample>> samples;  ///< by pass, by step
};

bool is_valid(const Recording::Timing& timing, size_t operators) {
  return timing.op >= 0 && static_cast<size_t>(timing.op) < operators && timing.begin_ns >= 0 && timing.duration_ns >= 0;
}

Sorted sorted(const Recording& recording, size_t operators) {
  std::vector<const Recording::Timing*> timings;
  for (const Recording::Timing& timing : recording.timings) {
    if (is_valid(timing, operators)) timings.push_back(&timing);
  }
  std::ranges::stable_sort(timings, {}, [](const Recording::Timing* timing) { return timing->begin_ns; });
  Sorted result;
  std::vector<int32_t> step_of(operators, -1);
  for (const Recording::Timing* timing : timings) {
    int32_t& step = step_of[static_cast<size_t>(timing->op)];
    if (step < 0) {
      step = static_cast<int32_t>(result.ops.size());
      result.ops.push_back(timing->op);
      result.calls.push_back(0);
    }
    const auto [sample, fresh] =
        result.samples[timing->pass].try_emplace(step, Sample{step, timing->pass, 0, timing->begin_ns, timing->duration_ns, 1});
    if (!fresh) sample->second.duration_ns += timing->duration_ns, ++sample->second.executions;
    ++result.calls[static_cast<size_t>(step)];
  }
  for (double& calls : result.calls) calls = std::max(1.0, calls / static_cast<double>(std::max<size_t>(1, result.samples.size())));
  return result;
}

StepRecord step_of(const Operator& op, int32_t step, int64_t op_row, double calls) {
  StepRecord record;
  record.step = step;
  record.name = op.name;
  record.opcode = op.type;
  record.cls = "recorded";
  record.key = base::hash128_hex(fmt::format("recorded:{}:{}", op.type, op.name));
  record.op = op_row;
  record.trips = calls;
  return record;
}

Run run_of(const Recording& recording, const Sorted& sorted, std::span<const Operator> operators, RecordingPlace place) {
  Run run;
  run.source = place.source;
  run.kind = RunKind::recorded;
  run.started_unix_ns = recording.started_unix_ns;
  run.device.name = recording.device.empty() ? "recorded" : recording.device;
  run.options = {{"timer", recording.timer}};
  for (size_t step = 0; step < sorted.ops.size(); ++step) {
    const int32_t op = sorted.ops[step];
    run.steps.push_back(step_of(operators[static_cast<size_t>(op)], static_cast<int32_t>(step), place.first_op + op, sorted.calls[step]));
  }
  return run;
}

}  // namespace

base::Status write_recording(Database& database, const Recording& recording, std::span<const Operator> operators, RecordingPlace place) {
  const Sorted of = sorted(recording, operators.size());
  ASSIGN_OR_RETURN(const int64_t run, add_run(database, run_of(recording, of, operators, place)));
  ASSIGN_OR_RETURN(RunInserts inserts, RunInserts::make(database));
  for (const auto& [number, by_step] : of.samples) {
    std::vector<Sample> samples;
    Pass pass{number, INT64_MAX, 0};
    for (const auto& [step, sample] : by_step) {
      samples.push_back(sample);
      pass.begin_ns = std::min(pass.begin_ns, sample.begin_ns);
      pass.end_ns = std::max(pass.end_ns, sample.begin_ns + sample.duration_ns);
    }
    RETURN_IF_ERROR(inserts.add(run, pass, samples));
  }
  return end_run(database, run, RunStatus::complete, {});
}

}  // namespace model
