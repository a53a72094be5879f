// The part of a program that the graph panel shows: an instruction with its neighbours, or the body of a computation. No ImGui in here.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "src/model/store.h"
#include "ui/graph_layout.h"
#include "ui/run_data.h"

namespace ui {

struct CalledComputation {
  int64_t computation = 0;
  std::string name;
  int64_t instructions = 0;
};

/// An instruction in the picture.
struct ProgramNode {
  static constexpr uint32_t kNoStep = std::numeric_limits<uint32_t>::max();
  int64_t instruction = 0;
  std::string name, opcode, kind, shape, op_name;
  double bytes = 0;                                            ///< of its result
  double alone_ns = std::numeric_limits<double>::quiet_NaN();  ///< in a fusion: as a kernel of its own, where that ran; else NaN
  bool root = false;
  uint32_t place = kNoStep;  ///< of its step in RunData::steps
  std::vector<CalledComputation> calls;
};

struct ProgramGraph {
  std::shared_ptr<const RunData> run;
  std::string computation;  ///< that all of them stand in
  std::vector<ProgramNode> nodes;
  std::vector<GraphEdge> edges;
  uint32_t centre = 0;         ///< the instruction asked for; of a body its root
  size_t left_out = 0;         ///< instructions within the hops, or of the body, that have no box
  bool left_out_more = false;  ///< the walk was cut: there are more than that
  double largest_ns = 0;       ///< time in a pass of the costliest node; of a fusion's body, alone
};

/// What is asked for.
struct GraphAsk {
  enum class What : uint8_t { near, body } what = What::near;
  int64_t id = 0;  ///< instruction, or computation
  int hops = 2;
  bool operator==(const GraphAsk&) const = default;
};
inline constexpr size_t kMostBoxes = 60;
/// Error: there is no such instruction or computation.
base::Result<ProgramGraph> read_graph(const model::Reader& reader, std::shared_ptr<const RunData> run, const GraphAsk& ask);

/// Does no work of its own: parameters, constants, tuples.
bool is_plumbing(const std::string& opcode);

/// The picture as a table: name, opcode, shape, operands, time.
model::Rows graph_rows(const ProgramGraph& graph);
/// A query for the instructions of the picture.
std::string graph_sql(const ProgramGraph& graph);

}  // namespace ui
