// A GraphDef's text: nodes with types, edges, attributes and, where they were written, shapes.
#pragma once

#include "importers/importer.h"
#include "importers/tensorflow/graph.h"
#include "importers/tensorflow/graph_nodes.h"

namespace importers::tensorflow {

struct GraphText {
  Graph graph;
  std::vector<model::Note> notes;
  size_t operators = 0;           ///< the first of the graph's nodes are the program's; what follows serves them (dims of a fill)
  int64_t read = 0, dropped = 0;  ///< nodes
  std::string options;            ///< what of the options was used: "batch=32"
  std::string missing;            ///< why it cannot be lowered as it stands; "": it can be tried
};

/// Reads `node { … }`, also inside graph_def and meta_graphs. Names that the dump of auto-clustering has prefixed (cluster_0/,
/// unclustered/) lose the prefix. Constants of one value become fills. An open batch is Options::batch, or 32. Errors: not protobuf text,
/// cut.
base::Result<GraphText> read_graph_text(const Input& input);

/// What the store gets of a node.
model::Operator operator_of(const Node& node);

Match match_graph_def(const Input& input);
base::Result<model::Imported> read_graph_def(const Input& input, const TakeModule& take);
/// The same of a graph that is read piece by piece; the source's format and hash are the caller's.
base::Result<model::Imported> read_graph_pieces(const Input& input, const GraphPieces& pieces, const TakeModule& take);

}  // namespace importers::tensorflow
