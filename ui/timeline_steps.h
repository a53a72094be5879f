// The steps of a run as the timeline groups them: by scope and phase, laid out as one pass of medians, and coloured. No ImGui contexts.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/timeline/window.h"
#include "ui/run_data.h"
#include "ui/theme.h"

namespace ui {

/// Where a step stands in RunData::steps: an array where numbers are dense, as replays make them, else a search.
class StepPlaces {
 public:
  StepPlaces() = default;
  explicit StepPlaces(const RunData& run);
  /// −1: the run has no such step.
  int32_t operator[](int32_t step) const {
    if (step < 0) return -1;
    return dense_ ? (static_cast<size_t>(step) < place_.size() ? place_[static_cast<size_t>(step)] : -1) : found(step);
  }

 private:
  int32_t found(int32_t step) const;
  bool dense_ = true;
  std::vector<int32_t> place_;                       ///< by step
  std::vector<std::pair<int32_t, int32_t>> sorted_;  ///< step, place
};

/// A tree of groups of steps, depth first. Node 0 is everything; the children of a node stand in the order of their first step.
struct StepGroups {
  struct Node {
    std::string name;  ///< last part of the path
    int32_t parent = -1;
    int32_t end = 0;       ///< what is inside: the nodes from it to `end`
    int32_t steps = 0;     ///< with everything inside
    double pass_ns = 0;    ///< the same
    bool has_own = false;  ///< some steps lie directly in it
    std::vector<int32_t> children;
  };
  std::vector<Node> nodes;
  std::vector<int32_t> node_of;  ///< by place of the step; 0: in no group

  /// The child of `node` that `inner` lies in; `node` for the node itself, −1 outside.
  int32_t child_of(int32_t node, int32_t inner) const;
  /// Down from `node` as long as there is one child and nothing else: "model/bert" is one row, not two.
  int32_t skip_single(int32_t node) const;
  /// Names from below `above` down to `node`.
  std::string path(int32_t node, int32_t above) const;
};
StepGroups group_by_scope(const RunData& run);
StepGroups group_by_phase(const RunData& run);

/// One pass in plan order in which each step takes its median time. Steps without a time are left out.
std::vector<timeline::Slice> median_pass(const RunData& run);

/// All of it, made off the UI thread.
struct StepModel {
  explicit StepModel(std::shared_ptr<const RunData> data);
  std::shared_ptr<const RunData> run;
  StepPlaces places;
  StepGroups scopes, phases;
  timeline::Folded medians;
  const StepInfo* find(int32_t step) const {
    const int32_t place = places[step];
    return place < 0 ? nullptr : &run->steps[static_cast<size_t>(place)];
  }
};

enum class ColorBy : uint8_t { kind, op_type, phase, cls, roof };
inline constexpr std::string_view kColorByNames[] = {"kind", "op type", "phase", "class", "share of roof"};
/// What a step is coloured by: the word of the legend.
std::string color_word(const StepInfo& step, ColorBy by);

struct LegendEntry {
  std::string word;
  double pass_ns = 0;
  ImU32 color = 0;
};
struct StepColors {
  std::vector<ImU32> color;         ///< by place of the step
  std::vector<LegendEntry> legend;  ///< most time first
};
/// Words that stand in `like` have its colours.
StepColors color_steps(const RunData& run, ColorBy by, const Theme& theme, std::span<const LegendEntry> like = {});

}  // namespace ui
