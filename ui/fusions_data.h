// What fusions cost and save: measured, where their parts ran too (replay --unfused), else estimated from traffic. No ImGui in here.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/model/store.h"
#include "ui/dots.h"
#include "ui/graph_layout.h"

namespace ui {

/// NaN: not known. Times of a pass unless a comment says else.
struct FusionInfo {
  int32_t step = 0;
  std::string name, kind, verdict, why, flags;  ///< verdict: pays, neutral, costs; empty: not measured, and `why`
  bool tried = false;                           ///< profile fuse made it
  double parts = 0, launches = 0, unfused_launches = 0, calls = 0, pairs = 0;
  double median_ns = 0, fused_ns = 0, unfused_ns = 0;  ///< of one execution
  double pass_ns = 0;
  double bytes = 0, parts_bytes = 0, saved_bytes = 0, extra_flops = 0, scratch_bytes = 0;  ///< of one execution
  double modelled_ns = 0;                                                                  ///< what the saved traffic is worth
  double predicted_ns = 0;  ///< the same of the traffic of the parts as they ran
  double measured_ns = 0, low_ns = 0, high_ns = 0, measured_percent = 0, p_value = 0;
  bool measured() const { return !verdict.empty(); }
  double saved_ns = 0;  ///< shown and sorted by: measured; where no fusion of the run was measured, modelled
};

struct Fusions {
  std::vector<FusionInfo> all;  ///< in plan order
  size_t measured = 0, pays = 0, neutral = 0, costs = 0;
  double pass_ns = 0;                               ///< of all fusions
  double measured_ns = 0, low_ns = 0, high_ns = 0;  ///< saved in a pass: sums over the measured ones, and of their intervals
  double cost_ns = 0;                               ///< what those that cost cost: positive
  std::vector<Dot> dots;                            ///< predicted_ns and measured_ns; rank 1: pays, 2: costs; index in `all`
  double lo_ns = 0, hi_ns = 0;                      ///< of the dots, with 0 between them
  size_t tried = 0;                                 ///< made by profile fuse
  double modelled_ns = 0;                           ///< sum of the estimates of all
  const FusionInfo* find(int32_t step) const;
};
Fusions summed(std::vector<FusionInfo> fusions);
base::Result<Fusions> read_fusions(const model::Reader& reader, int64_t run);

/// Columns of the table.
struct FusionColumn {
  std::string_view heading, name;
  std::string_view (*text)(const FusionInfo&);  ///< nullptr: a number
  double (*number)(const FusionInfo&);          ///< nullptr: a text
  float width_em;
  bool hidden;
};
std::span<const FusionColumn> fusion_columns();
int fusion_column(std::string_view name);

enum class FusionFilter : uint8_t { all, costs, neutral, pays, not_measured, tried };
struct FusionView {
  FusionFilter verdict = FusionFilter::all;
  std::string words;
  int column = -1;
  bool descending = true;
};
/// Indices of the fusions that pass, in the order asked for. What is not a number comes last.
std::vector<uint32_t> arrange_fusions(const Fusions& fusions, const FusionView& view);
model::Rows rows_of(const Fusions& fusions, std::span<const uint32_t> order);

/// The inside of a fusion.
struct FusionPart {
  std::string name, opcode;
  double bytes = 0, flops = 0, median_ns = 0;  ///< of one execution; median_ns NaN: not measured alone
};
struct FusionNode {
  std::string name, opcode, shape;
  double bytes = 0, traffic_bytes = 0, flops = 0;
  bool is_root = false;
};
struct FusionCode {
  std::string name, language, implementation;
  int64_t text = 0, bytes = 0;
};
struct FusionInside {
  int32_t step = -1;
  std::vector<FusionPart> parts;  ///< as they ran; none: they did not
  std::vector<FusionNode> nodes;
  std::vector<GraphEdge> edges;  ///< between nodes
  std::vector<FusionCode> code;
  int64_t instructions = 0;  ///< of the computation: more than nodes where it is very large
  bool parts_timed() const;  ///< every part has a time
};
inline constexpr int64_t kMostNodes = 300;
base::Result<FusionInside> read_inside(const model::Reader& reader, int64_t run, int32_t step);
/// Does the instruction work, or does it only name a value?
bool does_work(std::string_view opcode);

/// A text to look at: controls but line ends and tabs as dots, cut after `most` bytes at the end of a line.
struct ShownText {
  std::string text;
  size_t cut_bytes = 0;  ///< what is not shown
};
inline constexpr size_t kMostTextBytes = 250'000;
ShownText shown_text(std::string text, size_t most = kMostTextBytes);

}  // namespace ui
