// All samples of a run are read once, in the order in which they lie (by pass), and dealt out to their steps; the same samples are
// the slices of the timeline.
#include "src/model/summary.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/model/fusion_rows.h"
#include "src/model/store.h"
#include "src/stats/stats.h"
#include "src/timeline/timeline.h"

namespace model {
namespace {

constexpr int32_t kAsItRuns = 0, kFused = 2;  ///< values of sample.variant

using StepKey = std::pair<int32_t, int32_t>;  ///< step, variant

struct Series {
  std::vector<int64_t> durations_ns;
  std::vector<int32_t> executions;
};

struct Samples {
  std::map<StepKey, Series> series;
  std::map<int32_t, FusionPairs> pairs;  ///< by step
  std::vector<timeline::Slice> slices;
};

base::Result<Samples> read_samples(const Database& database, int64_t run) {
  ASSIGN_OR_RETURN(
      Statement rows,
      database.prepare(
          "SELECT step, variant, begin_ns, duration_ns, executions FROM sample WHERE run = ?1 ORDER BY pass, step, variant, round"));
  rows.bind(1, run);
  Samples samples;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, rows.step());
    if (!row) return samples;
    const auto step = static_cast<int32_t>(rows.integer(0)), variant = static_cast<int32_t>(rows.integer(1));
    Series& series = samples.series[{step, variant}];
    series.durations_ns.push_back(rows.integer(3));
    series.executions.push_back(static_cast<int32_t>(rows.integer(4)));
    if (variant != kAsItRuns) {
      FusionPairs& pairs = samples.pairs[step];
      (variant == kFused ? pairs.fused_ns : pairs.parts_ns)
          .push_back(rows.real(3) / static_cast<double>(std::max<int64_t>(1, rows.integer(4))));
    }
    samples.slices.push_back({rows.integer(2), rows.integer(3), step, variant});
  }
}

/// Executions in one pass as the plan has them. A device may repeat a short step within a sample, so samples do not tell.
base::Result<std::map<int32_t, double>> read_trips(const Database& database, int64_t run) {
  ASSIGN_OR_RETURN(Statement rows, database.prepare("SELECT step, trips FROM step WHERE run = ?1"));
  rows.bind(1, run);
  std::map<int32_t, double> trips;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, rows.step());
    if (!row) return trips;
    trips[static_cast<int32_t>(rows.integer(0))] = rows.real(1);
  }
}

StepStat statistics(StepKey key, const Series& series, double calls) {
  const stats::StepSummary summary = stats::summarize_step({series.durations_ns, series.executions, 0});
  const stats::Summary& s = summary.per_execution_ns;
  return {key.first, key.second, s.n, calls, s.min, s.q1, s.median, s.q3, s.mad, s.ci_low, s.ci_high, summary.flags};
}

base::Status write_statistics(Database& database, int64_t run, std::span<const StepStat> stats) {
  ASSIGN_OR_RETURN(
      Statement insert,
      database.prepare("INSERT OR REPLACE INTO step_stat (run, step, variant, n, calls, min_ns, q1_ns, median_ns, q3_ns, mad_ns, "
                       "ci_low_ns, ci_high_ns, flags) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13)"));
  for (const StepStat& s : stats) {
    RETURN_IF_ERROR(insert.run(run, s.step, s.variant, s.n, s.calls, s.min_ns, s.q1_ns, s.median_ns, s.q3_ns, s.mad_ns, s.ci_low_ns,
                               s.ci_high_ns, std::string_view(s.flags)));
  }
  return {};
}

base::Result<std::vector<StepStat>> missing_statistics(const Database& database, int64_t run, const Samples& samples,
                                                       std::span<const StepStat> given) {
  std::set<StepKey> done;
  ASSIGN_OR_RETURN(auto trips, read_trips(database, run));
  for (const StepStat& stat : given) {
    done.emplace(stat.step, stat.variant);
    trips[stat.step] = stat.calls;  // as it really ran
  }
  std::vector<StepStat> stats;
  for (const auto& [key, series] : samples.series) {
    if (done.contains(key)) continue;
    const auto planned = trips.find(key.first);
    stats.push_back(statistics(key, series, planned == trips.end() ? 1 : planned->second));
  }
  return stats;
}

base::Status write_chunks(Statement& insert, int64_t run, int64_t track, std::span<const timeline::Chunk> chunks) {
  for (const timeline::Chunk& chunk : chunks) RETURN_IF_ERROR(insert.run(run, track, chunk.level, chunk.begin_ns, chunk.bytes));
  return {};
}

/// Of a recorded run: the device of each step, as the log names it.
base::Result<std::map<int32_t, std::string>> read_devices(const Database& database, int64_t run) {
  ASSIGN_OR_RETURN(
      Statement rows,
      database.prepare("SELECT s.step, o.device FROM step s JOIN op o ON o.id = s.op WHERE s.run = ?1 AND o.device IS NOT NULL"));
  rows.bind(1, run);
  std::map<int32_t, std::string> devices;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, rows.step());
    if (!row) return devices;
    devices[static_cast<int32_t>(rows.integer(0))] = rows.text(1);
  }
}

/// Every device has lanes of its own.
base::Status write_timeline(Database& database, int64_t run, std::vector<timeline::Slice> slices) {
  ASSIGN_OR_RETURN(Statement insert,
                   database.prepare("INSERT INTO slice_level (run, track, level, begin_ns, data) VALUES (?1,?2,?3,?4,?5)"));
  ASSIGN_OR_RETURN(const auto devices, read_devices(database, run));
  std::map<std::string, std::vector<timeline::Slice>> by_device;
  for (const timeline::Slice& slice : slices) {
    if (devices.empty()) break;
    const auto device = devices.find(slice.name);
    by_device[device == devices.end() ? std::string() : device->second].push_back(slice);
  }
  if (devices.empty()) by_device[""] = std::move(slices);
  int64_t track = 0;
  for (auto& [device, own] : by_device) {
    for (const std::vector<timeline::Slice>& lane : timeline::lanes(std::move(own))) {
      RETURN_IF_ERROR(write_chunks(insert, run, track, timeline::chunks(lane)));
      for (const timeline::Level& level : timeline::fold(lane)) RETURN_IF_ERROR(write_chunks(insert, run, track, timeline::chunks(level)));
      ++track;
    }
  }
  return {};
}

int64_t now_unix_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

enum class Ended { now, unknown };

base::Status end_run(Database& database, int64_t run, RunStatus status, std::span<const StepStat> given, Ended ended) {
  for (const std::string_view sql :
       {"DELETE FROM step_stat WHERE run = ?1", "DELETE FROM slice_level WHERE run = ?1", "DELETE FROM fusion_stat WHERE run = ?1"}) {
    ASSIGN_OR_RETURN(Statement clear, database.prepare(sql));
    RETURN_IF_ERROR(clear.run(run));
  }
  ASSIGN_OR_RETURN(Samples samples, read_samples(database, run));
  ASSIGN_OR_RETURN(const std::vector<StepStat> missing, missing_statistics(database, run, samples, given));
  RETURN_IF_ERROR(write_statistics(database, run, given));
  RETURN_IF_ERROR(write_statistics(database, run, missing));
  RETURN_IF_ERROR(write_fusion_statistics(database, run, samples.pairs));
  RETURN_IF_ERROR(write_timeline(database, run, std::move(samples.slices)));
  ASSIGN_OR_RETURN(Statement update, database.prepare("UPDATE run SET status = ?1, finished_unix_ns = nullif(?2, 0) WHERE id = ?3"));
  return update.run(text(status), ended == Ended::now ? now_unix_ns() : int64_t{0}, run);
}

}  // namespace

std::string_view text(RunStatus status) {
  switch (status) {
    case RunStatus::running:
      return "running";
    case RunStatus::complete:
      return "complete";
    case RunStatus::interrupted:
      return "interrupted";
    case RunStatus::failed:
      return "failed";
  }
  return "failed";
}

base::Status end_run(Database& database, int64_t run, RunStatus status, std::span<const StepStat> given) {
  return end_run(database, run, status, given, Ended::now);
}

base::Status end_abandoned_runs(Database& database) {
  std::vector<int64_t> abandoned;
  {
    ASSIGN_OR_RETURN(Statement rows, database.prepare("SELECT id, writer FROM run WHERE status = 'running'"));
    while (true) {
      ASSIGN_OR_RETURN(const bool row, rows.step());
      if (!row) break;
      if (!writer_lives(rows.text(1))) abandoned.push_back(rows.integer(0));
    }
  }
  for (const int64_t run : abandoned) {
    ASSIGN_OR_RETURN(Transaction transaction, Transaction::begin(database));
    RETURN_IF_ERROR(end_run(database, run, RunStatus::interrupted, {}, Ended::unknown));
    RETURN_IF_ERROR(transaction.commit());
  }
  return {};
}

}  // namespace model
