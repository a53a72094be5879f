// Keys to sort by are made once a step, then indices are sorted: numbers as doubles (what is not measured last), texts as what is shown.
#include "ui/top_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <ranges>
#include <unordered_map>

#include "src/report/query.h"
#include "ui/words.h"

namespace ui {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

constexpr GroupingKind kKinds[kGroupings] = {
    {"", "none", ""},
    {"op_type", "op type", "(type not known)"},
    {"layer", "layer", "(no scope)"},
    {"phase", "phase", "(no phase)"},
    {"kernel", "kernel", "(no kernel)"},
    {"", "class", "(no class)"},
    {"source", "source function", "(source not told)"},
};

double rate(double work, double ns) { return ns > 0 ? work / ns : kNone; }
double finite_or_zero(double value) { return std::isfinite(value) ? value : 0; }

std::string source_of(const StepInfo& s) {
  return s.source_file.empty() ? std::string() : fmt::format("{}:{}", s.source_file.substr(s.source_file.rfind('/') + 1), s.source_line);
}

// clang-format off
constexpr TopColumn kColumns[] = {
    {"step", "step", [](const StepInfo& s) { return s.name; }, nullptr, nullptr, 11, false},
    {"op", "op", [](const StepInfo& s) { return std::string(short_op(s.op_name)); }, nullptr, nullptr, 10, false},
    {"pass", "pass_ns", nullptr, [](const StepInfo& s, double part) { return s.pass_ns * part; }, [](const TopTotals& t) { return t.pass_ns; }, 5, false},
    {"share", "share_percent", nullptr, [](const StepInfo& s, double part) { return std::isfinite(s.pass_ns) ? 100 * s.share * part : kNone; }, [](const TopTotals& t) { return 100 * t.share; }, 6, false},
    {"median", "median_ns", nullptr, [](const StepInfo& s, double) { return s.median_ns; }, nullptr, 5, false},
    {"± 95 %", "interval_percent", nullptr, [](const StepInfo& s, double) { return s.median_ns > 0 ? 50 * (s.ci_high_ns - s.ci_low_ns) / s.median_ns : kNone; }, nullptr, 4.6f, false},
    {"samples", "samples", nullptr, [](const StepInfo& s, double) { return static_cast<double>(s.n); }, nullptr, 7, false},
    {"roof", "roof_percent", nullptr, [](const StepInfo& s, double) { return s.roof_percent; }, [](const TopTotals& t) { return 100 * rate(t.attainable_ns, t.pass_ns); }, 4.6f, false},
    {"GB/s", "gb_per_s", nullptr, [](const StepInfo& s, double) { return s.gb_per_s; }, [](const TopTotals& t) { return rate(t.bytes, t.pass_ns); }, 4, false},
    {"GFLOP/s", "gflop_per_s", nullptr, [](const StepInfo& s, double) { return s.gflop_per_s; }, [](const TopTotals& t) { return rate(t.flops, t.pass_ns); }, 4.6f, false},
    {"calls", "calls", nullptr, [](const StepInfo& s, double) { return s.calls; }, nullptr, 3.6f, false},
    {"class", "class", [](const StepInfo& s) { return s.cls; }, nullptr, nullptr, 4.6f, false},
    {"kind", "kind", [](const StepInfo& s) { return s.kind.empty() ? s.opcode : s.opcode + ":" + s.kind; }, nullptr, nullptr, 11, false},
    {"flags", "flags", [](const StepInfo& s) { return s.flags; }, nullptr, nullptr, 8, false},
    {"plan order", "plan_order", nullptr, [](const StepInfo& s, double) { return static_cast<double>(s.step); }, nullptr, 6, true},
    {"spread", "spread_percent", nullptr, [](const StepInfo& s, double) { return s.n > 1 && s.median_ns > 0 ? 100 * s.mad_ns / s.median_ns : kNone; }, nullptr, 5, true},
    {"fastest", "min_ns", nullptr, [](const StepInfo& s, double) { return s.min_ns; }, nullptr, 5, true},
    {"traffic", "bytes", nullptr, [](const StepInfo& s, double) { return s.bytes; }, [](const TopTotals& t) { return t.bytes; }, 5, true},
    {"work", "flops", nullptr, [](const StepInfo& s, double) { return s.flops; }, [](const TopTotals& t) { return t.flops; }, 6, true},
    {"types", "precision", [](const StepInfo& s) { return s.precision; }, nullptr, nullptr, 10, true},
    {"op type", "op_type", [](const StepInfo& s) { return s.op_type; }, nullptr, nullptr, 8, true},
    {"layer", "layer", [](const StepInfo& s) { return s.scope; }, nullptr, nullptr, 14, true},
    {"phase", "phase", [](const StepInfo& s) { return s.phase; }, nullptr, nullptr, 6, true},
    {"source", "source", source_of, nullptr, nullptr, 10, true},
};
// clang-format on

bool passes(const StepInfo& step, std::span<const std::string> words) {
  return has_all(words, {step.name, step.op_name, step.opcode, step.kind, step.cls, step.op_type, step.phase, step.scope, step.flags,
                         step.source_file, step.precision});
}

/// The first `depth` parts of a path.
std::string_view cut_path(std::string_view path, int depth) {
  size_t at = 0;
  for (int i = 0; i < depth; ++i) {
    at = path.find('/', i == 0 ? 0 : at + 1);
    if (at == std::string_view::npos) return path;
  }
  return path.substr(0, at);
}

int parts_of(std::string_view path) { return path.empty() ? 0 : 1 + static_cast<int>(std::ranges::count(path, '/')); }

/// Entries of one group are summed where a step comes twice (layers that were cut to the same path).
class Grouper {
 public:
  explicit Grouper(TopTable& table) : table_(table), steps_(table.run->steps) {}

  void add(uint32_t index, std::string_view label, double part) {
    const auto [found, fresh] = by_label_.try_emplace(std::string(label), members_.size());
    if (fresh) members_.emplace_back(), table_.groups.push_back({std::string(label), {}, 0, 0});
    std::vector<TopEntry>& members = members_[found->second];
    if (!members.empty() && members.back().index == index) {
      members.back().part += static_cast<float>(part);
    } else {
      members.push_back({index, static_cast<float>(part)});
      ++table_.groups[found->second].totals.steps;
    }
    table_.groups[found->second].totals.add(steps_[index], part);
  }

  void finish(const std::vector<uint32_t>& order, int column, bool descending) {
    std::vector<uint32_t> rank(order.size());
    for (uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
    std::vector<size_t> groups(members_.size());
    std::iota(groups.begin(), groups.end(), size_t{0});
    sort_groups(groups, column, descending);
    std::vector<TopGroup> sorted;
    for (const size_t g : groups) {
      std::ranges::sort(members_[g], {}, [&](const TopEntry& e) { return rank[e.index]; });
      sorted.push_back(std::move(table_.groups[g]));
      sorted.back().first = table_.entries.size(), sorted.back().count = members_[g].size();
      table_.entries.insert(table_.entries.end(), members_[g].begin(), members_[g].end());
    }
    table_.groups = std::move(sorted);
  }

 private:
  void sort_groups(std::vector<size_t>& groups, int column, bool descending) const {
    const TopColumn* by = column < 0 ? nullptr : &kColumns[column];
    if (by != nullptr && by->of_group != nullptr) {
      const auto key = [&](size_t g) {
        const double value = by->of_group(table_.groups[g].totals);
        return std::isfinite(value) ? (descending ? -value : value) : std::numeric_limits<double>::infinity();
      };
      std::ranges::stable_sort(groups, {}, key);
    } else if (by != nullptr && by->text != nullptr) {
      std::ranges::stable_sort(groups, [&](size_t a, size_t b) {
        return descending ? table_.groups[b].label < table_.groups[a].label : table_.groups[a].label < table_.groups[b].label;
      });
    } else {
      std::ranges::stable_sort(groups, std::ranges::greater(), [&](size_t g) { return table_.groups[g].totals.pass_ns; });
    }
  }

  TopTable& table_;
  const std::vector<StepInfo>& steps_;
  std::unordered_map<std::string, size_t> by_label_;
  std::vector<std::vector<TopEntry>> members_;
};

/// Shares come in the order of the steps, as the steps do; a step without one belongs to the group of those.
void group_steps(TopTable& table, std::span<const StepShare> shares, const std::vector<bool>& visible, Grouper& grouper) {
  const GroupingKind& kind = kind_of(table.view.grouping);
  const std::vector<StepInfo>& steps = table.run->steps;
  const bool layers = table.view.grouping == Grouping::layer;
  const auto add = [&](uint32_t i, std::string_view label, double part) {
    if (visible[i]) grouper.add(i, label.empty() ? kind.empty : label, part);
  };
  size_t at = 0;
  for (uint32_t i = 0; i < steps.size(); ++i) {
    if (table.view.grouping == Grouping::cls) {
      add(i, steps[i].cls, 1);
      continue;
    }
    while (at < shares.size() && shares[at].step < steps[i].step) ++at;
    if (at == shares.size() || shares[at].step != steps[i].step) add(i, {}, 1);
    for (; at < shares.size() && shares[at].step == steps[i].step; ++at) {
      if (layers) table.deepest = std::max(table.deepest, parts_of(shares[at].label));
      add(i, layers ? cut_path(shares[at].label, table.view.depth) : std::string_view(shares[at].label), shares[at].share);
    }
  }
}

/// Steps in the order of a column.
std::vector<uint32_t> sorted_steps(const std::vector<StepInfo>& steps, int column, bool descending) {
  std::vector<uint32_t> order(steps.size());
  std::iota(order.begin(), order.end(), 0u);
  if (column < 0 || column >= static_cast<int>(std::size(kColumns))) return order;
  const TopColumn& by = kColumns[column];
  if (by.number != nullptr) {
    std::vector<double> keys(steps.size());
    for (size_t i = 0; i < steps.size(); ++i) {
      const double value = by.number(steps[i], 1);
      keys[i] = std::isfinite(value) ? (descending ? -value : value) : std::numeric_limits<double>::infinity();
    }
    std::ranges::stable_sort(order, {}, [&](uint32_t i) { return keys[i]; });
    return order;
  }
  std::vector<std::string> keys(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) keys[i] = by.text(steps[i]);
  std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) {
    if (keys[a].empty() || keys[b].empty()) return !keys[a].empty() && keys[b].empty();
    return descending ? keys[b] < keys[a] : keys[a] < keys[b];
  });
  return order;
}

}  // namespace

const GroupingKind& kind_of(Grouping grouping) { return kKinds[static_cast<size_t>(grouping)]; }

std::span<const TopColumn> top_columns() { return kColumns; }

int top_column(std::string_view name) {
  return static_cast<int>(std::ranges::find(kColumns, name, &TopColumn::name) - std::begin(kColumns));
}

std::string_view short_op(std::string_view name) {
  const size_t last = name.rfind('/');
  if (last == std::string_view::npos || last == 0) return name;
  const size_t before = name.rfind('/', last - 1);
  return before == std::string_view::npos ? name : name.substr(before + 1);
}

std::string_view flag_meaning(std::string_view flag) {
  static constexpr std::pair<std::string_view, std::string_view> kMeanings[] = {
      {"too-short", "an execution is too short for the clock"}, {"few-samples", "fewer than 3 samples"},
      {"drifting", "the times rise or fall during the run"},    {"bimodal", "the times fall into two clusters"},
      {"throttled", "the processor ran slower meanwhile"},      {"over-roof", "faster than memory allows: its data fits into a cache"},
  };
  const auto* found = std::ranges::find(kMeanings, flag, &std::pair<std::string_view, std::string_view>::first);
  return found == std::end(kMeanings) ? std::string_view() : found->second;
}

base::Result<std::vector<StepShare>> read_step_shares(const model::Reader& reader, int64_t run, Grouping grouping) {
  std::vector<StepShare> shares;
  const std::string_view name = kind_of(grouping).name;
  if (name.empty()) return shares;
  const std::array<model::Cell, 2> parameters = {report::cell(run), report::cell(name)};
  ASSIGN_OR_RETURN(model::Rows rows, report::ask(reader, "step_groups", parameters));
  shares.reserve(rows.rows.size());
  for (std::vector<model::Cell>& row : rows.rows) {
    shares.push_back({static_cast<int32_t>(row[0].integer), std::move(row[1].text), number(row[2])});
  }
  return shares;
}

void TopTotals::add(const StepInfo& step, double part) {
  if (!std::isfinite(step.pass_ns)) return;
  share += step.share * part;
  pass_ns += step.pass_ns * part;
  flops += finite_or_zero(step.flops * step.calls) * part;
  bytes += finite_or_zero(step.bytes * step.calls) * part;
  attainable_ns += finite_or_zero(step.attainable_ns * step.calls) * part;
}

std::string TopView::key() const {
  return fmt::format("{}/{}/{}/{}/{}", static_cast<int>(grouping), grouping == Grouping::layer ? depth : 0, column, descending, filter);
}

TopTable arrange_top(std::shared_ptr<const RunData> run, std::span<const StepShare> shares, const TopView& view) {
  TopTable table;
  table.run = std::move(run);
  table.view = view;
  const std::vector<StepInfo>& steps = table.run->steps;
  const std::vector<std::string> words = words_of(view.filter);
  std::vector<bool> visible(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    visible[i] = passes(steps[i], words);
    ++table.all.steps, table.all.add(steps[i], 1);
    if (visible[i]) ++table.shown.steps, table.shown.add(steps[i], 1);
  }
  const std::vector<uint32_t> order = sorted_steps(steps, view.column, view.descending);
  if (view.grouping == Grouping::none) {
    std::ranges::copy(order | std::views::filter([&](uint32_t i) { return visible[i]; }) | std::views::transform([](uint32_t i) {
                        return TopEntry{i, 1};
                      }),
                      std::back_inserter(table.entries));
    table.groups.push_back({"", table.shown, 0, table.entries.size()});
    return table;
  }
  Grouper grouper(table);
  group_steps(table, shares, visible, grouper);
  grouper.finish(order, view.column, view.descending);
  return table;
}

void TopLines::lay_out(const TopTable& table, const std::set<std::string, std::less<>>& open) {
  flat_ = table.view.grouping == Grouping::none;
  begin_.clear(), first_.clear();
  int line = 0;
  for (const TopGroup& group : table.groups) {
    begin_.push_back(line), first_.push_back(group.first);
    const int members = flat_ || open.contains(group.label) ? static_cast<int>(group.count) : 0;
    line += members + (flat_ ? 0 : 1);
  }
  begin_.push_back(line);
}

TopLines::Line TopLines::line(int at) const {
  const auto group = std::ranges::upper_bound(begin_, at) - begin_.begin() - 1;
  const int64_t inside = at - begin_[static_cast<size_t>(group)] - (flat_ ? 0 : 1);
  return {static_cast<int>(group), inside < 0 ? -1 : static_cast<int64_t>(first_[static_cast<size_t>(group)]) + inside};
}

int TopLines::line_of(const TopTable& table, int32_t step) const {
  for (size_t g = 0; g < table.groups.size() && g + 1 < begin_.size(); ++g) {
    const int head = flat_ ? 0 : 1, members = begin_[g + 1] - begin_[g] - head;
    for (int i = 0; i < members; ++i) {
      if (table.run->steps[table.entries[table.groups[g].first + static_cast<size_t>(i)].index].step == step) return begin_[g] + head + i;
    }
  }
  return -1;
}

int TopLines::group_of(const TopTable& table, int32_t step) {
  const auto found = std::ranges::find(table.entries, step, [&](const TopEntry& e) { return table.run->steps[e.index].step; });
  if (found == table.entries.end()) return -1;
  const auto at = static_cast<size_t>(found - table.entries.begin());
  const auto group = std::ranges::upper_bound(table.groups, at, {}, &TopGroup::first) - table.groups.begin() - 1;
  return static_cast<int>(group);
}

model::Rows rows_of(const TopTable& table) {
  const bool grouped = table.view.grouping != Grouping::none;
  model::Rows rows;
  if (grouped) {
    rows.columns = {std::string(kind_of(table.view.grouping).title), "steps"};
    for (const TopColumn& column : kColumns) {
      if (column.of_group != nullptr) rows.columns.emplace_back(column.name);
    }
    for (const TopGroup& group : table.groups) {
      rows.rows.push_back({report::cell(group.label), report::cell(static_cast<int64_t>(group.totals.steps))});
      for (const TopColumn& column : kColumns) {
        if (column.of_group != nullptr) rows.rows.back().push_back(real_cell(column.of_group(group.totals)));
      }
    }
    return rows;
  }
  for (const TopColumn& column : kColumns) rows.columns.emplace_back(column.name);
  for (const TopEntry& entry : table.entries) {
    const StepInfo& step = table.run->steps[entry.index];
    std::vector<model::Cell>& row = rows.rows.emplace_back();
    for (const TopColumn& column : kColumns) {
      row.push_back(column.text != nullptr ? report::cell(column.text(step)) : real_cell(column.number(step, entry.part)));
    }
  }
  return rows;
}

std::span<const double> StepSamples::of(int32_t step) const {
  const auto found = std::ranges::lower_bound(steps, step);
  return found == steps.end() || *found != step ? std::span<const double>() : samples[static_cast<size_t>(found - steps.begin())];
}

base::Result<StepSamples> read_samples(const model::Reader& reader, int64_t run, std::vector<int32_t> steps, int64_t stride) {
  StepSamples out;
  std::ranges::sort(steps);
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  out.steps = std::move(steps);
  out.samples.resize(out.steps.size());
  const std::array<model::Cell, 3> parameters = {report::cell(run), report::cell(fmt::format("[{}]", fmt::join(out.steps, ","))),
                                                 report::cell(std::max<int64_t>(stride, 1))};
  ASSIGN_OR_RETURN(const model::Rows rows, report::ask(reader, "step_samples", parameters));
  for (const std::vector<model::Cell>& row : rows.rows) {
    const auto found = std::ranges::lower_bound(out.steps, static_cast<int32_t>(row[0].integer));
    if (found != out.steps.end()) out.samples[static_cast<size_t>(found - out.steps.begin())].push_back(number(row[1]));
  }
  return out;
}

}  // namespace ui
