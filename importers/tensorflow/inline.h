// Functions of a graph's library that the graph calls become part of it.
#pragma once

#include <string_view>

#include "importers/tensorflow/graph_nodes.h"

namespace importers::tensorflow {

/// Replaces calls (PartitionedCall, StatefulPartitionedCall, a node whose op is a function's name) by the bodies of their functions, also
/// within these, while the names of edges are all that connects nodes. Node `x` of the body of call `c` becomes `c/x`, before `c`, which
/// stays as Call::followed and hands on what the body returns. A call that cannot be followed is Call::kept: of functions that are not
/// there, that call themselves, whose signature has lists of tensors, that nest deeper than 64 calls, or that are larger than 2²³ fields
/// with all that they call. What saves and restores variables (saves_variables) is no part of a step and is left as it is. Linear in the
/// result.
void inline_calls(GraphNodes& graph);

/// Is the function one that SavedModel adds to write or read a checkpoint?
bool saves_variables(std::string_view function);

}  // namespace importers::tensorflow
