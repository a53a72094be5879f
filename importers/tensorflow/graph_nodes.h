// The nodes of a GraphDef as they are written: pieces of its text are read side by side.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "importers/importer.h"
#include "importers/tensorflow/graph.h"
#include "importers/tensorflow/text_proto.h"

namespace importers::tensorflow {

/// Where nodes may lie: a GraphDef itself, a MetaGraphDef, a SavedModel.
bool holds_graph(std::string_view field);

/// Takes what graphs are made of.
class GraphSink {
 public:
  virtual ~GraphSink() = default;
  virtual void node(const Message& node, int64_t line) = 0;  ///< `line` 0: the file has none
  virtual void function() = 0;                               ///< one of the library begins; what it holds follows
  virtual void function_part(std::string_view field, const Message& part, int64_t line) = 0;  ///< "signature", "node_def", "ret", …
};

/// A graph in pieces of whole fields, in order.
struct GraphPieces {
  struct Piece {
    std::string_view bytes;
    int64_t line = 1;  ///< of its begin
  };
  std::vector<Piece> pieces;
  /// Hands over what a piece holds. An Error: the file is damaged there.
  base::Status (*read)(const Input& input, const Piece& piece, GraphSink& sink);
};
inline constexpr size_t kGraphPiece = size_t{64} << 10;  ///< bytes: small enough for a cache
/// Text that is cut before lines that begin with a node, the whole as one piece where `cut` is false.
GraphPieces text_pieces(std::string_view text, bool cut);

/// Notes about records: the first ones, and how many more there are.
class GraphNotes {
 public:
  static constexpr int64_t kOfAll = -1;  ///< not about one record

  /// `line` 0: of a record in a file without lines.
  void add(std::string code, std::string text, int64_t line = kOfAll);
  void append(GraphNotes after);
  std::vector<model::Note> take();

 private:
  std::vector<model::Note> notes_;
  int64_t more_ = 0;
};

using Sizes = std::vector<int64_t>;

/// What the attributes _output_shapes and _handle_shapes tell of a node; empty: nothing.
struct ToldShapes {
  std::vector<std::optional<Sizes>> outputs, held;
};

/// A function of the graph's library as it is written: its nodes read "argument", "node:output:0" and "^node".
struct Function {
  struct Argument {
    std::string name;
    bool is_list = false;  ///< as many tensors as an attribute of the call says
  };
  /// An attribute of a node whose value is that of the attribute `from` of the call.
  struct Placeholder {
    size_t node;
    std::string attribute, from;
  };
  std::string name;
  std::vector<Argument> inputs, outputs;
  std::vector<Node> nodes;
  std::vector<ToldShapes> told;  ///< by node
  std::vector<Placeholder> placeholders;
  std::vector<std::pair<std::string, std::string_view>> returns;  ///< by the name of the output
  std::vector<std::string_view> control;                          ///< nodes that a call waits for
  size_t weight = 0;                                              ///< what a copy costs, in fields
};

struct GraphNodes {
  std::vector<Node> nodes;
  std::vector<ToldShapes> told;                     ///< by node
  std::vector<Function> functions;                  ///< of the libraries
  std::vector<std::shared_ptr<const Texts>> texts;  ///< as of a Graph
  GraphNotes notes;
  int64_t read = 0, dropped = 0;

  void append(GraphNodes after);
};

/// Reads `node { … }`, also inside graph_def and meta_graphs, and follows calls (inline_calls); edges stay names (Node::written). Errors:
/// not protobuf text, cut.
base::Result<GraphNodes> read_graph_nodes(const Input& input, const GraphPieces& pieces);

}  // namespace importers::tensorflow
