// From a TensorFlow graph to a module: one node, one library call or one fusion.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "importers/tensorflow/graph.h"
#include "src/base/result.h"
#include "src/ir/module.h"
#include "src/model/records.h"

namespace importers::tensorflow {

struct Lowered {
  ir::Module module;
  std::vector<model::Note> notes;  ///< nodes without a lowering, shapes that had to be taken from the program
  /// Of the making. To free those of a large graph takes a while, which may pass beside what is done with the module.
  std::shared_ptr<const void> remains{};
};

/// Nodes become instructions in the order of their data; op types without a lowering become custom calls that a replay skips. Variables
/// (VarHandleOp, VariableV2) and feeds (Placeholder, _Arg) are parameters; what is assigned to a variable takes its memory. Errors: a
/// shape that neither the program nor the rules of an op tell, a cycle; they name the node.
base::Result<Lowered> lower(const Graph& graph);

/// Is there a lowering for this op type?
bool is_lowered(std::string_view type);

}  // namespace importers::tensorflow
