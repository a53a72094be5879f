// The lines of the table of steps: filtered, grouped and sorted. Made off the UI thread; no ImGui in here.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/model/store.h"
#include "ui/run_data.h"

namespace ui {

enum class Grouping : uint8_t { none, op_type, layer, phase, kernel, cls, source };
struct GroupingKind {
  std::string_view name;   ///< of the query step_groups; of none and cls, which need none: ""
  std::string_view title;  ///< "op type"
  std::string_view empty;  ///< what steps without one are called
};
const GroupingKind& kind_of(Grouping grouping);
inline constexpr int kGroupings = 7;

/// A part of a step's work that belongs to a group.
struct StepShare {
  int32_t step = 0;
  std::string label;
  double share = 1;
};
base::Result<std::vector<StepShare>> read_step_shares(const model::Reader& reader, int64_t run, Grouping grouping);

/// Sums over steps of one pass, each by its share.
struct TopTotals {
  size_t steps = 0;
  double pass_ns = 0, share = 0, flops = 0, bytes = 0, attainable_ns = 0;
  void add(const StepInfo& step, double part);
};

/// A step in a group, with the part of it that belongs there.
struct TopEntry {
  uint32_t index = 0;  ///< in RunData::steps
  float part = 1;
};

/// What a column shows: a text or a number of a step, and of a group.
struct TopColumn {
  std::string_view heading, name;                  ///< name: in copies, with its unit
  std::string (*text)(const StepInfo&);            ///< nullptr: a number
  double (*number)(const StepInfo&, double part);  ///< nullptr: a text
  double (*of_group)(const TopTotals&);            ///< nullptr: a group shows nothing
  float width_em;
  bool hidden;
};
std::span<const TopColumn> top_columns();
int top_column(std::string_view name);  ///< index

/// What was asked for.
struct TopView {
  Grouping grouping = Grouping::none;
  int depth = 2;       ///< of layers: parts of the path that tell groups apart
  std::string filter;  ///< words; all must be in some text of the step
  int column = -1;     ///< sorted by; −1: plan order
  bool descending = true;
  std::string key() const;
};

struct TopGroup {
  std::string label;
  TopTotals totals;
  size_t first = 0;  ///< its entries
  size_t count = 0;
};
struct TopTable {
  std::shared_ptr<const RunData> run;
  TopView view;
  std::vector<TopGroup> groups;  ///< without grouping: one, of all
  std::vector<TopEntry> entries;
  TopTotals shown, all;
  int deepest = 1;  ///< parts of the longest path of a layer
};
/// `shares` is not read where the grouping needs none.
TopTable arrange_top(std::shared_ptr<const RunData> run, std::span<const StepShare> shares, const TopView& view);

/// Which line shows what, given the groups that are open. Lines count from 0.
class TopLines {
 public:
  struct Line {
    int group = 0;
    int64_t entry = -1;  ///< in TopTable::entries; −1: the group's own line
  };
  void lay_out(const TopTable& table, const std::set<std::string, std::less<>>& open);
  int count() const { return begin_.empty() ? 0 : begin_.back(); }
  Line line(int at) const;
  /// −1: the step is not among the entries, or its groups are closed.
  int line_of(const TopTable& table, int32_t step) const;
  /// First group that has the step; −1: none has.
  static int group_of(const TopTable& table, int32_t step);

 private:
  bool flat_ = true;
  std::vector<int> begin_;     ///< first line of each group, and the end
  std::vector<size_t> first_;  ///< first entry of each group
};

/// What is shown as a table with units in its headings: groups, or steps where nothing is grouped.
model::Rows rows_of(const TopTable& table);

/// Samples of steps in the order in which they were taken.
struct StepSamples {
  std::vector<int32_t> steps;
  std::vector<std::vector<double>> samples;  ///< ns of one execution
  /// Empty: none.
  std::span<const double> of(int32_t step) const;
};
/// Of every `stride`-th pass.
base::Result<StepSamples> read_samples(const model::Reader& reader, int64_t run, std::vector<int32_t> steps, int64_t stride);

/// The last two parts of an operator's path.
std::string_view short_op(std::string_view name);
/// A word of step_stat.flags as a sentence; "": not known.
std::string_view flag_meaning(std::string_view flag);

}  // namespace ui
