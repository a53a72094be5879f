// A tree of scopes has as many rows as are open; the rest of it is spans in the row of what is closed.
#include "ui/timeline_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/text.h"

namespace ui {
namespace {

constexpr float kRunHeight = 1.7f, kPassHeight = 1.3f, kLaneHeight = 2.8f, kVariantHeight = 1.9f, kGroupHeight = 1.5f;
constexpr float kLiveHeight = 3.2f, kBufferHeight = 1.25f;
constexpr double kOpenShare = 0.3;  ///< scopes that take this much of a pass are open at first …
constexpr int kOpenDepth = 3;       ///< … down to this depth
constexpr size_t kMostRows = 2000;

class Rows {
 public:
  /// Of several runs the lanes come near each other: their scopes and memory are closed at first.
  Rows(const std::set<std::string>& toggled, bool alone) : toggled_(toggled), alone_(alone) {}

  void add_run(size_t index, const ShownRun& run, const std::string& label) {
    const std::string prefix = fmt::format("{}.{}", run.document(), run.run());
    TimelineRow heading{TimelineRow::Kind::run, index, 0, nullptr, 0, true, true, prefix, label, {}, {}, kRunHeight};
    if (!add(std::move(heading)) || run.lanes().empty()) return;
    if (run.mode() == PassMode::happened && run.timeline() != nullptr && run.timeline()->passes.size() > 1) {
      TimelineRow row{TimelineRow::Kind::passes, index, 0, nullptr, 1, false, false, {}, "passes", {}, {}, kPassHeight};
      row.note = fmt::format("{}", run.timeline()->passes.size());
      add(std::move(row));
    }
    add_lanes(index, run);
    if (run.steps() == nullptr) return;
    add_groups(index, run.steps()->phases, prefix + "/phase", "phases");
    add_groups(index, run.steps()->scopes, prefix + "/scope", "scopes");
    if (run.memory() != nullptr) add_memory(index, *run.memory(), prefix + "/memory");
  }

  std::vector<TimelineRow> take() { return std::move(rows_); }

 private:
  void add_lanes(size_t index, const ShownRun& run) {
    for (size_t i = 0; i < run.lanes().size() && rows_.size() < kMostRows; ++i) {
      const LaneView& lane = run.lanes()[i];
      TimelineRow row{
          TimelineRow::Kind::lane, index, static_cast<int32_t>(i), nullptr, 1, false, false, {}, lane.label, {}, {}, kLaneHeight};
      if (lane.track < 0) row.help = "every step once, in plan order, as long as its median time in a pass";
      if (lane.variant != 0) {
        row.height = kVariantHeight;
        row.help = "not the program: fusions in turns with their parts, which are hatched";
      }
      add(std::move(row));
    }
  }

  void add_memory(size_t index, const TimelineMemory& memory, const std::string& key) {
    TimelineRow live{TimelineRow::Kind::live, index, 0, nullptr, 1, !memory.rows.empty(), alone_, key, "live memory", {}, {}, kLiveHeight};
    live.note = base::human_bytes(memory.peak_bytes);
    live.help = fmt::format(
        "bytes that are live at each step of the pass in the middle of the view, at most {}; below it the largest of {} buffers", live.note,
        memory.buffers);
    if (!add(std::move(live))) return;
    for (size_t i = 0; i < memory.rows.size(); ++i) {
      const bool first = i == 0;
      add({TimelineRow::Kind::buffer,
           index,
           static_cast<int32_t>(i),
           nullptr,
           2,
           false,
           false,
           {},
           first ? "largest buffers" : "",
           {},
           {},
           kBufferHeight});
    }
  }

  bool add(TimelineRow row) {
    if (toggled_.contains(row.key)) row.open = !row.open;
    const bool open = row.open;
    rows_.push_back(std::move(row));
    return open;
  }

  void add_groups(size_t index, const StepGroups& groups, const std::string& prefix, const std::string& label) {
    if (groups.nodes[0].children.empty()) return;
    add_node(index, groups, 0, 0, 1, prefix, label);
  }

  /// `above`: node of the row around it.
  void add_node(size_t index, const StepGroups& groups, int32_t above, int32_t node, int depth, const std::string& prefix,
                const std::string& label) {
    if (rows_.size() >= kMostRows) return;
    const int32_t shown = groups.skip_single(node);
    const StepGroups::Node& what = groups.nodes[static_cast<size_t>(shown)];
    const double whole = groups.nodes[0].pass_ns, share = whole > 0 ? what.pass_ns / whole : 0;
    TimelineRow row{TimelineRow::Kind::group, index, shown, &groups, depth, !what.children.empty(), false, {}, {}, {}, {}, kGroupHeight};
    row.key = fmt::format("{}:{}", prefix, shown);
    row.label = node == 0 ? label : groups.path(shown, above);
    row.note = node == 0 ? "" : fmt::format("{:.1f} %", share * 100);
    row.open = row.can_open &&
               (node == 0 ? alone_ && depth == 1 && prefix.ends_with("scope") : alone_ && share > kOpenShare && depth < kOpenDepth);
    if (!add(std::move(row))) return;
    for (const int32_t child : what.children) add_node(index, groups, shown, child, depth + 1, prefix, label);
  }

  const std::set<std::string>& toggled_;
  bool alone_;
  std::vector<TimelineRow> rows_;
};

}  // namespace

std::vector<TimelineRow> timeline_rows(std::span<const std::unique_ptr<ShownRun>> runs, const std::set<std::string>& toggled,
                                       std::span<const std::string> run_labels) {
  Rows rows(toggled, runs.size() == 1);
  for (size_t i = 0; i < runs.size(); ++i) rows.add_run(i, *runs[i], i < run_labels.size() ? run_labels[i] : std::string());
  return rows.take();
}

std::optional<RowMark> seen_rows(const RowScroll& scroll) {
  if (scroll.whole <= scroll.shown || scroll.shown <= 0) return std::nullopt;
  const float per_pixel = scroll.shown / scroll.whole;
  return RowMark{scroll.above * per_pixel, std::min((scroll.above + scroll.shown) * per_pixel, scroll.shown)};
}

}  // namespace ui
