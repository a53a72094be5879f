// All samples of a run are read once, in the order in which they lie (by pass), and dealt out to their steps; the same samples are
// the slices of the timeline.
#include "src/model/summary.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "src/model/store.h"
#include "src/stats/stats.h"

namespace model {
namespace {

constexpr int32_t kAsItRuns = 0, kFused = 2;  ///< values of sample.variant

using StepKey = std::pair<int32_t, int32_t>;  ///< step, variant

StepKey key_of(const timeline::Slice& slice) { return {slice.name, slice.variant}; }

base::Status read_samples(const Database& database, int64_t run, RunSamples& samples) {
  ASSIGN_OR_RETURN(
      Statement rows,
      database.prepare(
          "SELECT step, variant, begin_ns, duration_ns, executions FROM sample WHERE run = ?1 ORDER BY pass, step, variant, round"));
  rows.bind(1, run);
  while (true) {
    ASSIGN_OR_RETURN(const bool row, rows.step());
    if (!row) return {};
    const auto step = static_cast<int32_t>(rows.integer(0)), variant = static_cast<int32_t>(rows.integer(1));
    samples.slices.push_back({rows.integer(2), rows.integer(3), step, variant});
    samples.executions.push_back(static_cast<int32_t>(rows.integer(4)));
    if (variant == kAsItRuns) continue;
    FusionPairs& pairs = samples.pairs[step];
    (variant == kFused ? pairs.fused_ns : pairs.parts_ns)
        .push_back(rows.real(3) / static_cast<double>(std::max<int64_t>(1, rows.integer(4))));
  }
}

/// Executions in one pass as the plan has them. A device may repeat a short step within a sample, so samples do not tell.
base::Status read_calls(const Database& database, int64_t run, RunSamples& samples) {
  ASSIGN_OR_RETURN(Statement rows, database.prepare("SELECT step, trips FROM step WHERE run = ?1 ORDER BY step"));
  rows.bind(1, run);
  while (true) {
    ASSIGN_OR_RETURN(const bool row, rows.step());
    if (!row) return {};
    samples.calls.emplace_back(static_cast<int32_t>(rows.integer(0)), rows.real(1));
  }
}

/// Of a recorded run: the device of each step, as the log names it. `names` keeps what they are called.
base::Status read_devices(const Database& database, int64_t run, std::set<std::string, std::less<>>& names, RunSamples& samples) {
  ASSIGN_OR_RETURN(Statement rows, database.prepare("SELECT s.step, o.device FROM step s JOIN op o ON o.id = s.op WHERE s.run = ?1 AND "
                                                    "o.device IS NOT NULL ORDER BY s.step"));
  rows.bind(1, run);
  while (true) {
    ASSIGN_OR_RETURN(const bool row, rows.step());
    if (!row) return {};
    samples.devices.emplace_back(static_cast<int32_t>(rows.integer(0)), *names.emplace(rows.text(1)).first);
  }
}

/// What a list by step says of one; `otherwise` where it says nothing.
template <typename Value>
Value value_of(const std::vector<std::pair<int32_t, Value>>& by_step, int32_t step, Value otherwise) {
  const auto found = std::ranges::lower_bound(by_step, step, {}, &std::pair<int32_t, Value>::first);
  return found == by_step.end() || found->first != step ? otherwise : found->second;
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

/// Samples of one step and variant after those of another, each in the order in which they came.
std::vector<uint32_t> by_series(const RunSamples& samples) {
  std::vector<uint32_t> order(samples.slices.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto key = [&](uint32_t at) { return key_of(samples.slices[at]); };
  if (!std::ranges::is_sorted(order, {}, key)) std::ranges::stable_sort(order, {}, key);  // those of one pass are
  return order;
}

/// Statistics of the steps and variants that are not among `given`; calls that are given are those that were made.
class MissingStatistics {
 public:
  MissingStatistics(int64_t run, const RunSamples& samples, std::span<const StepStat> given) : run_(run), samples_(samples) {
    for (const StepStat& stat : given) {
      done_.emplace(stat.step, stat.variant);
      made_[stat.step] = stat.calls;
    }
  }

  void write(RowBatch& rows) {
    const std::vector<uint32_t> order = by_series(samples_);
    for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      const StepKey key = key_of(samples_.slices[order[begin]]);
      while (end < order.size() && key_of(samples_.slices[order[end]]) == key) ++end;
      if (!done_.contains(key)) write(rows, key, std::span(order).subspan(begin, end - begin));
    }
    rows.flush();
  }

 private:
  void write(RowBatch& rows, StepKey key, std::span<const uint32_t> series) {
    durations_.clear(), executions_.clear();
    for (const uint32_t at : series) durations_.push_back(samples_.slices[at].duration_ns), executions_.push_back(samples_.executions[at]);
    const stats::StepSummary summary = stats::summarize_step({durations_, executions_, 0});
    const stats::Summary& s = summary.per_execution_ns;
    const auto made = made_.find(key.first);
    const double calls = made == made_.end() ? value_of(samples_.calls, key.first, 1.0) : made->second;
    rows.add(run_, key.first, key.second, s.n, calls, s.min, s.q1, s.median, s.q3, s.mad, s.ci_low, s.ci_high,
             std::string_view(summary.flags));
  }

  const int64_t run_;
  const RunSamples& samples_;
  std::set<StepKey> done_;
  std::map<int32_t, double> made_;  ///< calls by step
  std::vector<int64_t> durations_;  ///< of the series in hand
  std::vector<int32_t> executions_;
};

/// A lane and its levels: a track.
struct Track {
  std::vector<timeline::Slice> lane;
  std::vector<timeline::Level> levels;
};

/// Every device has lanes of its own.
std::vector<Track> tracks_of(const RunSamples& samples) {
  std::map<std::string_view, std::vector<timeline::Slice>> by_device;
  if (samples.devices.empty()) by_device[""] = samples.slices;
  for (const timeline::Slice& slice : samples.slices) {
    if (!samples.devices.empty()) by_device[value_of(samples.devices, slice.name, std::string_view())].push_back(slice);
  }
  std::vector<Track> tracks;
  for (auto& [device, own] : by_device) {
    for (std::vector<timeline::Slice>& lane : timeline::lanes(std::move(own))) {
      std::vector<timeline::Level> levels = timeline::fold(lane);
      tracks.push_back({std::move(lane), std::move(levels)});
    }
  }
  return tracks;
}

base::Status write_chunks(Statement& insert, int64_t run, int64_t track, std::span<const timeline::Chunk> chunks) {
  for (const timeline::Chunk& chunk : chunks) RETURN_IF_ERROR(insert.run(run, track, chunk.level, chunk.begin_ns, chunk.bytes));
  return {};
}

base::Status write_tracks(Database& database, int64_t run, std::span<const Track> tracks) {
  ASSIGN_OR_RETURN(Statement insert,
                   database.prepare("INSERT INTO slice_level (run, track, level, begin_ns, data) VALUES (?1,?2,?3,?4,?5)"));
  for (size_t track = 0; track < tracks.size(); ++track) {
    const auto number = static_cast<int64_t>(track);
    RETURN_IF_ERROR(write_chunks(insert, run, number, timeline::chunks(tracks[track].lane)));
    for (const timeline::Level& level : tracks[track].levels) RETURN_IF_ERROR(write_chunks(insert, run, number, timeline::chunks(level)));
  }
  return {};
}

int64_t now_unix_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

enum class Ended { now, unknown };

base::Status write_status(Database& database, int64_t run, RunStatus status, Ended ended) {
  ASSIGN_OR_RETURN(Statement update, database.prepare("UPDATE run SET status = ?1, finished_unix_ns = nullif(?2, 0) WHERE id = ?3"));
  return update.run(text(status), ended == Ended::now ? now_unix_ns() : int64_t{0}, run);
}

/// Statistics are written in the background while the timeline is folded.
base::Status write_summary(Database& database, Background& background, RowBatch& statistics, int64_t run, const RunSamples& samples,
                           std::span<const StepStat> given) {
  MissingStatistics(run, samples, given).write(statistics);
  const std::vector<Track> tracks = tracks_of(samples);
  RETURN_IF_ERROR(background.wait());
  RETURN_IF_ERROR(write_fusion_statistics(database, run, samples.pairs));
  return write_tracks(database, run, tracks);
}

base::Status end_run(Database& database, int64_t run, RunStatus status, std::span<const StepStat> given, Ended ended) {
  for (const std::string_view sql :
       {"DELETE FROM step_stat WHERE run = ?1", "DELETE FROM slice_level WHERE run = ?1", "DELETE FROM fusion_stat WHERE run = ?1"}) {
    ASSIGN_OR_RETURN(Statement clear, database.prepare(sql));
    RETURN_IF_ERROR(clear.run(run));
  }
  RunSamples samples;
  std::set<std::string, std::less<>> devices;
  RETURN_IF_ERROR(read_samples(database, run, samples));
  RETURN_IF_ERROR(read_calls(database, run, samples));
  RETURN_IF_ERROR(read_devices(database, run, devices, samples));
  RETURN_IF_ERROR(write_statistics(database, run, given));
  Background background;
  ASSIGN_OR_RETURN(RowBatch statistics, statistic_rows(database, background));
  RETURN_IF_ERROR(write_summary(database, background, statistics, run, samples, given));
  return write_status(database, run, status, ended);
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

base::Result<RowBatch> statistic_rows(Database& database, Background& background) {
  return RowBatch::make(database, background, "step_stat",
                        "run, step, variant, n, calls, min_ns, q1_ns, median_ns, q3_ns, mad_ns, ci_low_ns, ci_high_ns, flags");
}

base::Status end_run(Database& database, int64_t run, RunStatus status, std::span<const StepStat> given) {
  return end_run(database, run, status, given, Ended::now);
}

base::Status end_run(Database& database, Background& background, RowBatch& statistics, int64_t run, const RunSamples& samples) {
  RETURN_IF_ERROR(write_summary(database, background, statistics, run, samples, {}));
  return write_status(database, run, RunStatus::complete, Ended::now);
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
