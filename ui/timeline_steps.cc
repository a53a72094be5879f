// Scopes are paths; a tree of them is made by looking up each part once under its parent.
#include "ui/timeline_steps.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace ui {
namespace {

constexpr size_t kDeepest = 64;         ///< parts of a path; the last holds the rest
constexpr size_t kMostNodes = 200'000;  ///< groups of a run; steps beyond stay in the group around

double finite(double value) { return std::isfinite(value) && value > 0 ? value : 0; }

/// Grows a tree by paths.
class Grower {
 public:
  Grower() { groups_.nodes.emplace_back(); }

  void add(std::string_view path, char separator, double pass_ns) {
    int32_t node = 0;
    for (size_t depth = 0; !path.empty(); ++depth) {
      const size_t cut = depth + 1 == kDeepest ? std::string_view::npos : path.find(separator);
      const std::string_view part = path.substr(0, cut);
      path = cut == std::string_view::npos ? std::string_view() : path.substr(cut + 1);
      if (!part.empty()) node = child(node, part);
    }
    groups_.node_of.push_back(node);
    groups_.nodes[static_cast<size_t>(node)].has_own = true;
    for (int32_t at = node; at >= 0; at = groups_.nodes[static_cast<size_t>(at)].parent) {
      ++groups_.nodes[static_cast<size_t>(at)].steps;
      groups_.nodes[static_cast<size_t>(at)].pass_ns += pass_ns;
    }
  }

  /// In depth-first order, so that what is inside a node is a range.
  StepGroups take() {
    const auto count = groups_.nodes.size();
    std::vector<int32_t> place(count, 0), open{0};
    for (int32_t next = 0; !open.empty(); ++next) {
      const auto& children = groups_.nodes[static_cast<size_t>(open.back())].children;
      place[static_cast<size_t>(open.back())] = next;
      open.pop_back();
      open.insert(open.end(), children.rbegin(), children.rend());
    }
    StepGroups sorted;
    sorted.nodes.resize(count);
    for (size_t i = 0; i < count; ++i) {
      StepGroups::Node& node = sorted.nodes[static_cast<size_t>(place[i])] = std::move(groups_.nodes[i]);
      if (node.parent >= 0) node.parent = place[static_cast<size_t>(node.parent)];
      for (int32_t& child : node.children) child = place[static_cast<size_t>(child)];
    }
    for (size_t i = count; i-- > 0;) {  // children first
      StepGroups::Node& node = sorted.nodes[i];
      node.end = std::max(node.end, static_cast<int32_t>(i) + 1);
      if (node.parent >= 0)
        sorted.nodes[static_cast<size_t>(node.parent)].end = std::max(sorted.nodes[static_cast<size_t>(node.parent)].end, node.end);
    }
    for (const int32_t node : groups_.node_of) sorted.node_of.push_back(place[static_cast<size_t>(node)]);
    return sorted;
  }

 private:
  int32_t child(int32_t parent, std::string_view name) {
    const auto [known, fresh] = known_.try_emplace({parent, std::string(name)}, static_cast<int32_t>(groups_.nodes.size()));
    if (!fresh) return known->second;
    if (groups_.nodes.size() >= kMostNodes) return known->second = parent;
    StepGroups::Node& node = groups_.nodes.emplace_back();
    node.name = name;
    node.parent = parent;
    groups_.nodes[static_cast<size_t>(parent)].children.push_back(known->second);
    return known->second;
  }

  StepGroups groups_;
  std::map<std::pair<int32_t, std::string>, int32_t> known_;
};

std::string kind_word(const StepInfo& step) { return step.kind.empty() ? step.opcode : step.opcode + ":" + step.kind; }

constexpr const char* kRoofWords[] = {"below 10 %", "10 to 25 %", "25 to 50 %", "50 to 75 %", "75 to 100 %", "over the roof", "not known"};
constexpr double kRoofLimits[] = {10, 25, 50, 75, 110};

size_t roof_class(double percent) {
  if (!std::isfinite(percent)) return std::size(kRoofWords) - 1;
  return static_cast<size_t>(std::ranges::upper_bound(kRoofLimits, percent) - std::begin(kRoofLimits));
}

ImU32 color_of_roof(std::string_view word, const Theme& theme) {
  const auto* found = std::ranges::find(kRoofWords, word);
  const auto i = static_cast<double>(found - std::begin(kRoofWords));
  return i >= 6 ? neutral_color(theme) : roof_color(i / 5);
}

/// Sorts the legend by time and colours it; what entry i has become.
std::vector<size_t> arrange(std::vector<LegendEntry>& legend, ColorBy by, const Theme& theme, std::span<const LegendEntry> like) {
  std::vector<size_t> order(legend.size()), place(legend.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](size_t i) { return legend[i].pass_ns; });
  std::vector<LegendEntry> sorted;
  std::vector<std::string_view> words;
  for (size_t i = 0; i < order.size(); ++i) place[order[i]] = i, sorted.push_back(std::move(legend[order[i]]));
  for (const LegendEntry& entry : sorted) words.push_back(entry.word);
  const std::vector<ImU32> colors = colors_of(theme, words);
  for (size_t i = 0; i < sorted.size(); ++i) {
    const auto known = std::ranges::find(like, words[i], &LegendEntry::word);
    sorted[i].color = by == ColorBy::roof ? color_of_roof(words[i], theme) : known != like.end() ? known->color : colors[i];
  }
  legend = std::move(sorted);
  return place;
}

}  // namespace

StepPlaces::StepPlaces(const RunData& run) {
  const size_t count = run.steps.size();
  int32_t most = 0;
  for (const StepInfo& step : run.steps) most = std::max(most, step.step);
  dense_ = static_cast<size_t>(most) < 4 * count + 1024;
  if (dense_) place_.assign(count == 0 ? 0 : static_cast<size_t>(most) + 1, -1);
  for (size_t i = 0; i < count; ++i) {
    if (run.steps[i].step < 0) continue;
    if (dense_) {
      place_[static_cast<size_t>(run.steps[i].step)] = static_cast<int32_t>(i);
    } else {
      sorted_.emplace_back(run.steps[i].step, static_cast<int32_t>(i));
    }
  }
  std::ranges::sort(sorted_);
}

int32_t StepPlaces::found(int32_t step) const {
  const auto at = std::ranges::lower_bound(sorted_, step, {}, &std::pair<int32_t, int32_t>::first);
  return at == sorted_.end() || at->first != step ? -1 : at->second;
}

int32_t StepGroups::child_of(int32_t node, int32_t inner) const {
  const Node& around = nodes[static_cast<size_t>(node)];
  if (inner == node) return node;
  if (inner < node || inner >= around.end) return -1;
  return *std::prev(std::ranges::upper_bound(around.children, inner));
}

int32_t StepGroups::skip_single(int32_t node) const {
  while (nodes[static_cast<size_t>(node)].children.size() == 1 && (node == 0 || !nodes[static_cast<size_t>(node)].has_own)) {
    node = nodes[static_cast<size_t>(node)].children[0];
  }
  return node;
}

std::string StepGroups::path(int32_t node, int32_t above) const {
  std::string text;
  for (; node > 0 && node != above; node = nodes[static_cast<size_t>(node)].parent) {
    const std::string& name = nodes[static_cast<size_t>(node)].name;
    text = text.empty() ? name : name + "/" + text;
  }
  return text;
}

StepGroups group_by_scope(const RunData& run) {
  Grower grower;
  for (const StepInfo& step : run.steps) grower.add(step.scope, '/', finite(step.pass_ns));
  return grower.take();
}

StepGroups group_by_phase(const RunData& run) {
  Grower grower;
  for (const StepInfo& step : run.steps) grower.add(step.phase, '\0', finite(step.pass_ns));
  return grower.take();
}

std::vector<timeline::Slice> median_pass(const RunData& run) {
  std::vector<timeline::Slice> slices;
  double at_ns = 0;
  for (const StepInfo& step : run.steps) {
    const double begin_ns = at_ns;
    at_ns = std::min(1e18, at_ns + finite(step.pass_ns));
    const auto begin = static_cast<int64_t>(std::ceil(begin_ns)), end = static_cast<int64_t>(std::ceil(at_ns));
    if (end > begin) slices.push_back({begin, end - begin, step.step, 0});
  }
  return slices;
}

StepModel::StepModel(std::shared_ptr<const RunData> data)
    : run(std::move(data)), places(*run), scopes(group_by_scope(*run)), phases(group_by_phase(*run)), medians(median_pass(*run)) {}

std::string color_word(const StepInfo& step, ColorBy by) {
  switch (by) {
    case ColorBy::kind:
      return kind_word(step);
    case ColorBy::op_type:
      return step.op_type.empty() ? kind_word(step) : step.op_type;
    case ColorBy::phase:
      return step.phase.empty() ? "no phase" : step.phase;
    case ColorBy::cls:
      return step.cls;
    case ColorBy::roof:
      return kRoofWords[roof_class(step.roof_percent)];
  }
  return {};
}

StepColors color_steps(const RunData& run, ColorBy by, const Theme& theme, std::span<const LegendEntry> like) {
  StepColors colors;
  std::unordered_map<std::string, size_t> known;
  std::vector<size_t> entry_of;  // by step
  entry_of.reserve(run.steps.size());
  for (const StepInfo& step : run.steps) {
    std::string word = color_word(step, by);
    const auto [at, fresh] = known.try_emplace(word, colors.legend.size());
    if (fresh) colors.legend.push_back({std::move(word), 0, 0});
    colors.legend[at->second].pass_ns += finite(step.pass_ns);
    entry_of.push_back(at->second);
  }
  const std::vector<size_t> place = arrange(colors.legend, by, theme, like);
  colors.color.reserve(run.steps.size());
  for (const size_t entry : entry_of) colors.color.push_back(colors.legend[place[entry]].color);
  return colors;
}

}  // namespace ui
