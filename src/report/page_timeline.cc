// The levels are folded already (src/timeline): a level is chosen for each lane and copied.
#include "src/report/page_timeline.h"

#include <algorithm>
#include <map>
#include <span>

#include "src/report/query.h"
#include "src/timeline/timeline.h"

namespace report {
namespace {

constexpr size_t kMostLanes = 64;

struct Chosen {
  int64_t level = 0, records = 0;
};

/// By lane: the finest level within `records`, or the coarsest there is. Levels come finest first.
std::map<int64_t, Chosen> chosen_levels(const model::Rows& levels, size_t records) {
  std::map<int64_t, Chosen> chosen;
  for (const auto& row : levels.rows) {
    const auto [lane, fresh] = chosen.try_emplace(row[0].integer, Chosen{row[1].integer, row[2].integer});
    if (!fresh && lane->second.records > static_cast<int64_t>(records)) lane->second = {row[1].integer, row[2].integer};
  }
  return chosen;
}

void add(PageLane& lane, int64_t& last_ns, int64_t begin_ns, int64_t length_ns, int32_t step) {
  lane.begin.push_back(begin_ns - last_ns);
  lane.length.push_back(length_ns);
  lane.step.push_back(step);
  last_ns = begin_ns;
}

base::Result<PageLane> read_lane(const model::Reader& reader, int64_t run, int64_t track, int64_t level) {
  PageLane lane;
  lane.level = static_cast<int>(std::clamp<int64_t>(level, timeline::kSliceLevel, 62));
  const model::Cell parameters[] = {cell(run), cell(track), cell(level)};
  ASSIGN_OR_RETURN(model::Cursor cursor, start(reader, "page_lane", parameters));
  int64_t last_ns = 0;
  while (true) {
    ASSIGN_OR_RETURN(const auto row, cursor.next());
    if (!row) return lane;
    const auto bytes = std::as_bytes(std::span(row->at(0).text));
    if (lane.level == timeline::kSliceLevel) {
      ASSIGN_OR_RETURN(const auto slices, timeline::slices_of(bytes));
      for (const timeline::Slice& slice : slices) add(lane, last_ns, slice.begin_ns, slice.duration_ns, slice.name);
      continue;
    }
    ASSIGN_OR_RETURN(const auto buckets, timeline::buckets_of(bytes));
    for (const timeline::Bucket& bucket : buckets) {
      add(lane, last_ns, static_cast<int64_t>(bucket.index) << lane.level, int64_t{1} << lane.level, bucket.longest);
      lane.busy.push_back((bucket.busy * 100 + 32767) / 65535);
    }
  }
}

}  // namespace

base::Result<PageTimeline> page_timeline(const model::Reader& reader, int64_t run, size_t records) {
  const model::Cell id = cell(run);
  ASSIGN_OR_RETURN(const model::Rows levels, ask(reader, "page_levels", std::span(&id, 1)));
  size_t lanes = 0;
  for (size_t i = 0; i < levels.rows.size(); ++i) lanes += i == 0 || levels.rows[i][0].integer != levels.rows[i - 1][0].integer ? 1 : 0;
  const size_t shown = std::min(lanes, kMostLanes);
  PageTimeline timeline;
  timeline.more_lanes = lanes - shown;
  if (shown == 0) return timeline;
  for (const auto& [track, chosen] : chosen_levels(levels, records / shown)) {
    if (timeline.lanes.size() == shown) break;
    ASSIGN_OR_RETURN(PageLane lane, read_lane(reader, run, track, chosen.level));
    timeline.lanes.push_back(std::move(lane));
  }
  return timeline;
}

}  // namespace report
