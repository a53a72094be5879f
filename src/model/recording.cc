// A log's times in the shape of a replay's: an operator that has times is a step, and what it did in one pass is a sample.
#include "src/model/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "src/base/hash.h"
#include "src/base/text.h"
#include "src/model/run_rows.h"
#include "src/model/summary.h"

namespace model {
namespace {

/// Operators in the order of their first times, and their samples.
struct Sorted {
  std::vector<int32_t> ops;     ///< by step
  std::vector<double> calls;    ///< by step: executions in a pass
  std::vector<Sample> samples;  ///< by pass and step
};

bool is_valid(const Recording::Timing& timing, size_t operators) {
  return timing.op >= 0 && static_cast<size_t>(timing.op) < operators && timing.begin_ns >= 0 && timing.duration_ns >= 0;
}

std::vector<Recording::Timing> by_begin(const Recording& recording, size_t operators) {
  std::vector<Recording::Timing> timings;
  timings.reserve(recording.timings.size());
  for (const Recording::Timing& timing : recording.timings) {
    if (is_valid(timing, operators)) timings.push_back(timing);
  }
  if (!std::ranges::is_sorted(timings, {}, &Recording::Timing::begin_ns))
    std::ranges::stable_sort(timings, {}, &Recording::Timing::begin_ns);
  return timings;
}

/// Samples by pass and step; those of one step in one pass are one, with the earliest begin.
void gather(std::vector<Sample>& samples) {
  const auto place = [](const Sample& sample) { return std::pair(sample.pass, sample.step); };
  if (!std::ranges::is_sorted(samples, {}, place)) std::ranges::stable_sort(samples, {}, place);
  size_t kept = 0;
  for (const Sample& sample : samples) {
    if (kept > 0 && place(samples[kept - 1]) == place(sample)) {
      samples[kept - 1].duration_ns += sample.duration_ns;
      ++samples[kept - 1].executions;
    } else {
      samples[kept++] = sample;
    }
  }
  samples.resize(kept);
}

size_t passes_of(const std::vector<Sample>& samples) {
  size_t passes = 0;
  for (size_t i = 0; i < samples.size(); ++i) passes += i == 0 || samples[i].pass != samples[i - 1].pass;
  return passes;
}

Sorted sorted(const Recording& recording, size_t operators) {
  Sorted result;
  std::vector<int32_t> step_of(operators, -1);
  for (const Recording::Timing& timing : by_begin(recording, operators)) {
    int32_t& step = step_of[static_cast<size_t>(timing.op)];
    if (step < 0) {
      step = static_cast<int32_t>(result.ops.size());
      result.ops.push_back(timing.op);
      result.calls.push_back(0);
    }
    result.samples.push_back({step, timing.pass, 0, timing.begin_ns, timing.duration_ns, 1});
    ++result.calls[static_cast<size_t>(step)];
  }
  gather(result.samples);
  const auto passes = static_cast<double>(std::max<size_t>(1, passes_of(result.samples)));
  for (double& calls : result.calls) calls = std::max(1.0, calls / passes);
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

Run run_of(const Recording& recording, RecordingPlace place) {
  Run run;
  run.source = place.source;
  run.kind = RunKind::recorded;
  run.started_unix_ns = recording.started_unix_ns;
  run.device.name = recording.device.empty() ? "recorded" : recording.device;
  run.options = {{"timer", recording.timer}};
  return run;
}

/// What tables are written in the background.
struct RecordingRows {
  StepRows step;
  RowBatch pass, sample, statistics;
  static base::Result<RecordingRows> make(Database& database, Background& background) {
    ASSIGN_OR_RETURN(StepRows step, StepRows::make(database, background));
    ASSIGN_OR_RETURN(RowBatch pass, RowBatch::make(database, background, "pass", "run, pass, begin_ns, end_ns"));
    ASSIGN_OR_RETURN(RowBatch sample,
                     RowBatch::make(database, background, "sample", "run, pass, step, variant, round, begin_ns, duration_ns, executions"));
    ASSIGN_OR_RETURN(RowBatch statistics, statistic_rows(database, background));
    return RecordingRows{std::move(step), std::move(pass), std::move(sample), std::move(statistics)};
  }
};

void add_steps(StepRows& rows, int64_t run, const Sorted& of, std::span<const Operator> operators, RecordingPlace place) {
  for (size_t step = 0; step < of.ops.size(); ++step) {
    const int32_t op = of.ops[step];
    rows.add(run, step_of(operators[static_cast<size_t>(op)], static_cast<int32_t>(step), place.first_op + op, of.calls[step]));
  }
  rows.flush();
}

void add_samples(RecordingRows& rows, int64_t run, std::span<const Sample> samples) {
  for (size_t begin = 0, end = 0; begin < samples.size(); begin = end) {
    Pass pass{samples[begin].pass, INT64_MAX, 0};
    for (; end < samples.size() && samples[end].pass == pass.pass; ++end) {
      const Sample& s = samples[end];
      rows.sample.add(run, s.pass, s.step, s.variant, s.round, s.begin_ns, s.duration_ns, s.executions);
      pass.begin_ns = std::min(pass.begin_ns, s.begin_ns);
      pass.end_ns = std::max(pass.end_ns, s.begin_ns + s.duration_ns);
    }
    rows.pass.add(run, pass.pass, pass.begin_ns, pass.end_ns);
  }
  rows.sample.flush();
  rows.pass.flush();
}

RunSamples samples_of(const Sorted& of, std::span<const Operator> operators) {
  RunSamples samples;
  samples.slices.reserve(of.samples.size());
  for (const Sample& s : of.samples) {
    samples.slices.push_back({s.begin_ns, s.duration_ns, s.step, s.variant});
    samples.executions.push_back(s.executions);
  }
  for (size_t at = 0; at < of.ops.size(); ++at) {
    const auto step = static_cast<int32_t>(at);
    const std::string_view device = operators[static_cast<size_t>(of.ops[at])].device;
    samples.calls.emplace_back(step, of.calls[at]);
    if (!device.empty()) samples.devices.emplace_back(step, device);
  }
  return samples;
}

}  // namespace

base::Status write_recording(Database& database, Background& background, const Recording& recording, std::span<const Operator> operators,
                             RecordingPlace place) {
  ASSIGN_OR_RETURN(const int64_t run, add_run(database, run_of(recording, place)));
  ASSIGN_OR_RETURN(RecordingRows rows, RecordingRows::make(database, background));
  const Sorted of = sorted(recording, operators.size());
  add_steps(rows.step, run, of, operators, place);
  add_samples(rows, run, of.samples);
  return end_run(database, background, rows.statistics, run, samples_of(of, operators));
}

}  // namespace model
