// Placement logs: "name: (Op): device" of graphs, "Executing op Op in device device" of eager execution.
#pragma once

#include "importers/importer.h"

namespace importers::tensorflow {

Match match_placement(const Input& input);
/// Nodes in the graph's order, each once; or eager operators in the order of execution. Both tell no shapes and no times.
base::Result<model::Imported> read_placement(const Input& input, const TakeModule& take);

}  // namespace importers::tensorflow
