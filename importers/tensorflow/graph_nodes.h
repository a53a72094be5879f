// The nodes of a GraphDef as they are written: pieces of its text are read side by side.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "importers/importer.h"
#include "importers/tensorflow/graph.h"

namespace importers::tensorflow {

/// Where nodes may lie: a GraphDef itself, a MetaGraphDef, a SavedModel.
bool holds_graph(std::string_view field);

/// A graph in pieces of whole fields, in order.
struct GraphPieces {
  struct Piece {
    std::string_view bytes;
    int64_t line = 1;  ///< of its begin
  };
  std::vector<Piece> pieces;
  /// Protobuf text of a piece, in `buffer` where it has to be made. Nothing: the file is damaged there.
  std::optional<std::string_view> (*text)(std::string_view bytes, std::string& buffer);
};
inline constexpr size_t kGraphPiece = size_t{64} << 10;  ///< bytes: small enough for a cache
/// Text that is cut before lines that begin with a node, the whole as one piece where `cut` is false.
GraphPieces text_pieces(std::string_view text, bool cut);

/// Notes about records: the first ones, and how many more there are.
class GraphNotes {
 public:
  void add(std::string code, std::string text, int64_t line = 0);
  void append(GraphNotes after);
  std::vector<model::Note> take();

 private:
  std::vector<model::Note> notes_;
  int64_t more_ = 0;
};

using Sizes = std::vector<int64_t>;

struct GraphNodes {
  /// What the attributes _output_shapes and _handle_shapes tell.
  struct Told {
    bool of_handle;
    std::vector<std::optional<Sizes>> shapes;
  };
  std::vector<Node> nodes;
  std::vector<std::vector<Told>> told;  ///< by node
  GraphNotes notes;
  int64_t read = 0, dropped = 0;

  void append(GraphNodes after);
};

/// Reads `node { … }`, also inside graph_def and meta_graphs; edges stay names (Node::op.inputs). Errors: not protobuf text, cut.
base::Result<GraphNodes> read_graph_nodes(const Input& input, const GraphPieces& pieces);

}  // namespace importers::tensorflow
