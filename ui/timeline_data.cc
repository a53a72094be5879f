// A chunk holds 512 records, so a window of a screen is a few dozen rows of one lane and level, found by the primary key.
#include "ui/timeline_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "src/report/query.h"
#include "ui/run_data.h"

namespace ui {
namespace {

using timeline::kSliceLevel;
using timeline::Slice;

constexpr double kTile = 2048;  ///< records of a level that a step of the grid holds

std::span<const std::byte> bytes(const model::Cell& cell) { return std::as_bytes(std::span(cell.text)); }

/// Records of a stranger's file: times that would overflow are cut.
void tame(std::vector<Slice>& slices) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 4;
  for (Slice& slice : slices) {
    slice.begin_ns = std::clamp<int64_t>(slice.begin_ns, 0, kMost);
    slice.duration_ns = std::clamp<int64_t>(slice.duration_ns, 0, kMost);
  }
}

base::Result<std::vector<Slice>> tame_slices(std::span<const std::byte> chunk) {
  ASSIGN_OR_RETURN(std::vector<Slice> slices, timeline::slices_of(chunk));
  tame(slices);
  return slices;
}

int64_t rounded(double ns) { return static_cast<int64_t>(std::clamp(ns, -4e18, 4e18)); }

base::Result<model::Rows> chunks(const model::Reader& reader, const WindowAsk& ask, int64_t most) {
  const std::array cells = {report::cell(ask.run),      report::cell(ask.track),  report::cell(int64_t{ask.level}),
                            report::cell(ask.begin_ns), report::cell(ask.end_ns), report::cell(most)};
  return report::ask(reader, "timeline_window", cells);
}

base::Status append(timeline::Window& window, std::span<const std::byte> chunk) {
  if (window.level == kSliceLevel) {
    ASSIGN_OR_RETURN(const std::vector<Slice> slices, tame_slices(chunk));
    window.slices.insert(window.slices.end(), slices.begin(), slices.end());
  } else {
    ASSIGN_OR_RETURN(const std::vector<timeline::Bucket> buckets, timeline::buckets_of(chunk));
    window.buckets.insert(window.buckets.end(), buckets.begin(), buckets.end());
  }
  return {};
}

base::Result<std::string> device_of(const model::Reader& reader, int64_t run, int32_t step) {
  const std::array cells = {report::cell(run), report::cell(int64_t{step})};
  ASSIGN_OR_RETURN(model::Rows rows, report::ask(reader, "timeline_device", cells));
  return rows.rows.empty() ? std::string() : std::move(rows.rows[0][0].text);
}

/// Adds a level that the store has to its lane; rows come by lane, the slices before the buckets.
base::Status add_level(const model::Reader& reader, int64_t run, const std::vector<model::Cell>& row, std::vector<TimelineLane>& lanes) {
  const int64_t track = integer_in(row[0]), level = integer_in(row[1]);
  if (level > 60) return {};
  if (lanes.empty() || lanes.back().track != track) {
    lanes.emplace_back();
    lanes.back().track = track;
  }
  TimelineLane& lane = lanes.back();
  if (level >= 0) {
    if (lane.levels.finest < 0) lane.levels.finest = static_cast<int>(level);
    lane.levels.coarsest = static_cast<int>(level);
    return {};
  }
  ASSIGN_OR_RETURN(const std::vector<Slice> first, tame_slices(bytes(row[2])));
  ASSIGN_OR_RETURN(const std::vector<Slice> last, tame_slices(bytes(row[3])));
  if (first.empty() || last.empty()) return {};
  lane.begin_ns = first.front().begin_ns;
  lane.variant = first.front().variant;
  lane.end_ns = last.back().begin_ns + last.back().duration_ns;
  ASSIGN_OR_RETURN(lane.device, device_of(reader, run, first.front().name));
  return {};
}

/// Of a run that is being written, or whose writer was killed.
base::Status add_unfinished(const model::Reader& reader, int64_t run, std::vector<TimelineLane>& lanes) {
  const std::array cells = {report::cell(run), report::cell(TimelineRun::kMostSamples)};
  ASSIGN_OR_RETURN(const model::Rows rows, report::ask(reader, "timeline_samples", cells));
  std::vector<Slice> slices;
  slices.reserve(rows.rows.size());
  for (const auto& row : rows.rows) {
    slices.push_back(
        {integer_in(row[2]), integer_in(row[3]), static_cast<int32_t>(integer_in(row[0])), static_cast<int32_t>(integer_in(row[1]))});
  }
  tame(slices);
  for (std::vector<Slice>& own : timeline::lanes(std::move(slices))) {
    TimelineLane& lane = lanes.emplace_back();
    lane.track = static_cast<int64_t>(lanes.size()) - 1;
    lane.variant = own.front().variant;
    lane.begin_ns = own.front().begin_ns;
    lane.end_ns = own.back().begin_ns + own.back().duration_ns;
    lane.memory = std::make_shared<const timeline::Folded>(std::move(own));
    lane.levels = lane.memory->levels();
  }
  return {};
}

/// What of a lane is always at hand.
base::Result<timeline::Window> read_overview(const model::Reader& reader, int64_t run, const TimelineLane& lane) {
  constexpr int64_t kEver = std::numeric_limits<int64_t>::max();
  const bool few = lane.levels.finest == lane.levels.coarsest;  // then the slices themselves are hardly more than the buckets
  const int level = few ? kSliceLevel : lane.levels.coarsest;
  if (lane.memory != nullptr) return lane.memory->window(level, 0, kEver / 2);
  ASSIGN_OR_RETURN(const auto window, read_window(reader, {run, lane.track, level, 0, kEver, lane.levels}));
  return *window;
}

}  // namespace

base::Result<std::shared_ptr<const TimelineRun>> read_timeline(const model::Reader& reader, int64_t run) {
  const model::Cell id = report::cell(run);
  ASSIGN_OR_RETURN(const model::Rows levels, report::ask(reader, "timeline_lanes", std::span(&id, 1)));
  ASSIGN_OR_RETURN(const model::Rows passes, report::ask(reader, "timeline_passes", std::span(&id, 1)));
  auto read = std::make_shared<TimelineRun>();
  for (const auto& row : levels.rows) RETURN_IF_ERROR(add_level(reader, run, row, read->lanes));
  if (read->lanes.empty()) RETURN_IF_ERROR(add_unfinished(reader, run, read->lanes));
  for (TimelineLane& lane : read->lanes) {
    ASSIGN_OR_RETURN(lane.overview, read_overview(reader, run, lane));
    read->begin_ns = &lane == read->lanes.data() ? lane.begin_ns : std::min(read->begin_ns, lane.begin_ns);
    read->end_ns = std::max(read->end_ns, lane.end_ns);
  }
  for (const auto& row : passes.rows) {
    read->passes.push_back(
        {integer_in(row[1]), std::max<int64_t>(0, integer_in(row[2]) - integer_in(row[1])), static_cast<int32_t>(integer_in(row[0])), 0});
  }
  tame(read->passes);
  return std::shared_ptr<const TimelineRun>(std::move(read));
}

base::Result<std::shared_ptr<const timeline::Window>> read_window(const model::Reader& reader, const WindowAsk& ask) {
  ASSIGN_OR_RETURN(const model::Rows rows, chunks(reader, ask, kMostChunks));
  if (ask.level == kSliceLevel && rows.rows.size() == static_cast<size_t>(kMostChunks) && ask.levels.finest >= 0) {
    WindowAsk buckets = ask;
    buckets.level = ask.levels.finest;
    return read_window(reader, buckets);
  }
  auto window = std::make_shared<timeline::Window>();
  window->level = ask.level;
  for (const auto& row : rows.rows) RETURN_IF_ERROR(append(*window, bytes(row[0])));
  timeline::trim(*window, ask.begin_ns, ask.end_ns);
  return std::shared_ptr<const timeline::Window>(std::move(window));
}

WindowAsk ask_for(timeline::Levels levels, const timeline::Scale& scale) {
  int shift = 0;
  while (shift < 60 && std::ldexp(1, shift + 2) <= scale.ns_per_pixel) shift += 2;
  const double tile_ns = std::ldexp(kTile, shift);
  WindowAsk ask;
  ask.levels = levels;
  ask.level = timeline::level_for(levels, scale.ns_per_pixel);
  ask.begin_ns = rounded((std::floor(scale.begin_ns / tile_ns) - 1) * tile_ns);
  ask.end_ns = rounded((std::floor((scale.begin_ns + scale.pixels * scale.ns_per_pixel) / tile_ns) + 2) * tile_ns);
  return ask;
}

base::Status each_chunk(const model::Reader& reader, const WindowAsk& ask, const TakeSlices& take) {
  constexpr int64_t kStep = 64;  // chunks that are in memory at a time
  WindowAsk rest = ask;
  for (bool first = true;; first = false) {
    ASSIGN_OR_RETURN(const model::Rows rows, chunks(reader, rest, kStep));
    size_t fresh = 0;
    for (const auto& row : rows.rows) {
      ASSIGN_OR_RETURN(const std::vector<Slice> slices, tame_slices(bytes(row[0])));
      if (slices.empty() || (!first && slices.front().begin_ns < rest.begin_ns)) continue;
      ++fresh;
      rest.begin_ns = slices.back().begin_ns + 1;
      if (!take(slices)) return {};
    }
    if (fresh == 0 || rows.rows.size() < static_cast<size_t>(kStep)) return {};
  }
}

}  // namespace ui
