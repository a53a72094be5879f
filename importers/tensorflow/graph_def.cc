// Edges are names until all nodes are known. What a GraphDef does not write down is completed here: element types of outputs, the batch,
// and what the handles of variables hold.
#include "importers/tensorflow/graph_def.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <future>
#include <memory>
#include <span>

#include "importers/tensorflow/attribute_text.h"
#include "importers/tensorflow/lower.h"
#include "importers/tensorflow/node_kind.h"
#include "src/base/hash.h"
#include "src/base/parallel.h"
#include "src/base/text.h"
#include "src/ir/hash_index.h"
#include "src/ir/print.h"

namespace importers::tensorflow {
namespace {

constexpr int64_t kUsualBatch = 32;
constexpr size_t kLeastNodes = 1024;  ///< that are worth a thread

/// "cluster_12/x" → "x": what the dump of auto-clustering puts before every name. Empty: no such prefix.
std::string_view without_cluster(std::string_view name) {
  const size_t slash = name.find('/');
  if (slash == name.npos) return {};
  const std::string_view first = name.substr(0, slash);
  const bool numbered = first.starts_with("cluster_") && first.find_first_not_of("0123456789", 8) == first.npos;
  return numbered || first == "unclustered" ? name.substr(slash + 1) : std::string_view();
}

std::string stem(std::string_view path) {
  path = path.substr(path.rfind('/') + 1);
  return std::string(path.substr(0, path.find('.')));
}

bool is_known(std::span<const int64_t> sizes) {
  return std::ranges::none_of(sizes, [](int64_t size) { return size < 0; });
}

Array integers(const Sizes& sizes) {
  Array array{ir::array_shape(ir::Type::s64, {static_cast<int64_t>(sizes.size())}), {}};
  array.literal.data.resize(sizes.size() * sizeof(int64_t));
  std::memcpy(array.literal.data.data(), sizes.data(), array.literal.data.size());
  return array;
}

class GraphDefReader {
 public:
  GraphDefReader(const Input& input, GraphNodes read) : input_(input), told_(std::move(read.told)), notes_(std::move(read.notes)) {
    out_.graph.nodes = std::move(read.nodes);
    out_.graph.texts = std::move(read.texts);
    out_.read = read.read;
    out_.dropped = read.dropped;
  }

  base::Result<GraphText> run() {
    if (out_.graph.nodes.empty()) return base::error_at(input_.path, input_.bytes, 0, "no node is in it; dump the graph again");
    out_.graph.name = stem(input_.path);
    strip_clusters();
    index();
    spread_constants();
    finish_nodes();
    pass_calls();
    out_.operators = operators_;
    if (assumed_ > 0) note("assumed-batch", fmt::format("{} inputs leave their batch open: {} is taken (--batch)", assumed_, batch()));
    out_.notes = notes_.take();
    return std::move(out_);
  }

 private:
  void note(std::string code, std::string text, int64_t line = GraphNotes::kOfAll) { notes_.add(std::move(code), std::move(text), line); }
  int64_t batch() const { return input_.options.batch > 0 ? input_.options.batch : kUsualBatch; }

  void strip_clusters() {
    for (const Node& node : out_.graph.nodes) {
      if (without_cluster(node.name).empty()) return;
    }
    const auto made = std::make_shared<Texts>();
    for (Node& node : out_.graph.nodes) {
      node.name = without_cluster(node.name);
      for (std::string_view& input : node.written) {
        const bool control = input.starts_with('^');
        const std::string_view rest = without_cluster(input.substr(control ? 1 : 0));
        if (!rest.empty()) input = control ? made->emplace_back(fmt::format("^{}", rest)) : rest;
      }
    }
    out_.graph.texts.push_back(made);
    note("clusters", "names have the prefixes of auto-clustering; they are taken off, the attribute _XlaCluster tells the cluster");
  }

  /// Index by name; of nodes with one name the first stays.
  void index() {
    constexpr size_t kAhead = 16;
    std::vector<Node>& nodes = out_.graph.nodes;
    std::vector<uint64_t> hashes(nodes.size());
    base::for_all(nodes.size(), kLeastNodes, [&](size_t i) { hashes[i] = base::hash64(nodes[i].name); });
    by_name_.reserve(nodes.size());
    size_t kept = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (i + kAhead < nodes.size()) by_name_.prefetch(hashes[i + kAhead]);
      const auto same = [&](size_t at) { return nodes[at].name == nodes[i].name; };
      if (by_name_.find_or_add(hashes[i], kept, same) != kept) {
        ++out_.dropped;
        note("dropped-record", fmt::format("a second node is named '{}'", base::escaped(nodes[i].name)), nodes[i].line);
        continue;
      }
      if (kept != i) nodes[kept] = std::move(nodes[i]), told_[kept] = std::move(told_[i]);
      ++kept;
    }
    nodes.resize(kept);
    told_.resize(kept);
  }

  int64_t find(std::string_view name) const {
    return by_name_.find(base::hash64(name), [&](size_t at) { return out_.graph.nodes[at].name == name; });
  }

  /// Edges and shapes of all nodes, side by side; then the notes about them, in order.
  void finish_nodes() {
    struct Part {
      std::vector<std::pair<size_t, std::string_view>> missing;  ///< node, input
      int64_t assumed = 0;
    };
    const auto parts = base::in_parts(operators_, kLeastNodes, [&](size_t begin, size_t end) {
      Part part;
      for (size_t i = begin; i < end; ++i) {
        Node& node = out_.graph.nodes[i];
        connect(node, [&](std::string_view input) { part.missing.emplace_back(i, input); });
        if (node.shapes.empty()) part.assumed += find_shapes(i);
      }
      return part;
    });
    for (const Part& part : parts) {
      for (const auto& [i, input] : part.missing) note_missing(out_.graph.nodes[i], input);
      assumed_ += part.assumed;
    }
    if (assumed_ > 0) out_.options = fmt::format("batch={}", batch());
  }

  template <typename Missing>
  void connect(Node& node, Missing missing) const {
    const bool spread = !node.inputs.empty();  // its inputs are known
    for (const std::string_view input : node.written) {
      const InputName from = input_name(input);
      const auto found = static_cast<int32_t>(find(from.node));
      if (found < 0)
        missing(input);
      else if (from.control)
        node.control.push_back(found);
      else if (!spread)
        node.inputs.push_back({found, from.port});
    }
  }

  static bool is_followed(const Node& node) { return node.call == Call::followed || node.call == Call::results; }

  /// Who reads a call that is followed reads what its body returns.
  void pass_calls() {
    std::vector<Node>& nodes = out_.graph.nodes;
    if (std::ranges::none_of(nodes, is_followed)) return;
    std::vector<bool> read(nodes.size());
    for (const Node& node : nodes) {
      for (const Edge& edge : node.inputs) read[static_cast<size_t>(edge.node)] = true;
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (is_followed(nodes[i]) && !read[i]) nodes[i].call = Call::results;
      for (Edge& edge : nodes[i].inputs) edge = source_of(edge);
    }
  }

  /// Each call is walked through once. Of calls that return each other's results it is one of them.
  Edge source_of(Edge edge) {
    constexpr Edge kOpen{-1, 0};
    std::vector<Edge*> chain;
    const Edge start = edge;
    while (edge.node >= 0) {
      Node& node = out_.graph.nodes[static_cast<size_t>(edge.node)];
      if (!is_followed(node) || static_cast<size_t>(edge.port) >= node.inputs.size()) break;
      chain.push_back(&node.inputs[static_cast<size_t>(edge.port)]);
      edge = std::exchange(*chain.back(), kOpen);
    }
    if (edge.node < 0) edge = start;
    for (Edge* const passed : chain) *passed = edge;
    return edge;
  }

  void note_missing(const Node& node, std::string_view input) {
    note("missing-input", fmt::format("'{}' reads '{}', which is not in the graph", base::escaped(node.name), base::escaped(input)),
         node.line);
    if (out_.missing.empty()) out_.missing = fmt::format("'{}' reads '{}', which is not in the graph", node.name, input);
  }

  /// Constants of one value become fills, so that a program stays as small as its text.
  void spread_constants() {
    const size_t given = out_.graph.nodes.size();
    for (size_t i = 0; i < given; ++i) {
      const auto* array = find_attribute<Array>(out_.graph.nodes[i], "value");
      if (array == nullptr || !is_spread(*array)) continue;
      const ir::Shape shape = array->shape;
      const Array one{ir::array_shape(shape.type, {}), array->literal};
      const int32_t dims = add_constant(out_.graph.nodes[i].name + "/dims", integers(shape.dims));
      const int32_t scalar = add_constant(out_.graph.nodes[i].name + "/value", one);
      Node& node = out_.graph.nodes[i];
      node.shapes = {shape};
      node.note = "a constant of one value";
      node.type = "Fill";
      node.attributes.erase("value");
      node.inputs = {{dims, 0}, {scalar, 0}};
    }
    operators_ = given;
  }

  int32_t add_constant(std::string name, Array array) {
    Node node;
    node.name = std::move(name);
    node.type = "Const";
    node.attributes.set("value", std::move(array));
    out_.graph.nodes.push_back(std::move(node));
    return static_cast<int32_t>(out_.graph.nodes.size()) - 1;
  }

  /// A batch that is left open is what a person chooses. Was it open?
  bool choose_batch(Node& node, Sizes& sizes) const {
    if (sizes.empty() || sizes.front() >= 0 || !is_known(std::span(sizes).subspan(1))) return false;
    sizes.front() = batch();
    node.note = "its batch is assumed";
    return true;
  }

  static bool is_input(const Node& node) { return node.type.starts_with("Placeholder") || node.type == "_Arg"; }

  /// What is told of a node's outputs: of variables and inputs their attribute, of a handle from outside what it holds, else all outputs.
  /// To be asked once.
  std::vector<std::optional<Sizes>> told_shapes(size_t i) {
    const Node& node = out_.graph.nodes[i];
    ToldShapes& told = told_[i];
    const bool is_variable = node.type == "VarHandleOp" || node.type == "VariableV2" || node.type == "Variable";
    const auto* sizes = find_attribute<Sizes>(node, "shape");
    if ((is_variable || (is_input(node) && told.outputs.empty())) && sizes != nullptr) return {*sizes};
    return std::move(told.held.empty() ? told.outputs : told.held);
  }

  std::optional<ir::Type> type_of_output(const Node& node, size_t port) const {
    if (const auto type = output_type(node, port)) return type;
    const auto held = attribute(node, "_handle_dtypes", std::vector<std::string>());
    return port < held.size() ? ir::find_type(held[port]) : std::nullopt;
  }

  /// Returns how many batches have been assumed.
  int64_t find_shapes(size_t i) {
    int64_t assumed = 0;
    Node& node = out_.graph.nodes[i];
    std::vector<std::optional<Sizes>> given = told_shapes(i);
    node.shapes.reserve(given.size());
    for (size_t port = 0; port < given.size(); ++port) {
      if (is_input(node) && given[port]) assumed += choose_batch(node, *given[port]) ? 1 : 0;
      const auto type = type_of_output(node, port);
      if (!given[port] || !is_known(*given[port]) || !type) return node.shapes.clear(), assumed;
      node.shapes.push_back(ir::array_shape(*type, *std::move(given[port])));
    }
    return assumed;
  }

  const Input& input_;
  GraphText out_;
  std::vector<ToldShapes> told_;  ///< by node
  GraphNotes notes_;
  ir::HashIndex by_name_;
  size_t operators_ = 0;
  int64_t assumed_ = 0;
};

}  // namespace

model::Operator operator_of(const Node& node) {
  const bool filled = node.type == "Fill" && node.written.empty();
  model::Operator op = node_operator(node.name, filled ? "Const" : node.type, node.device, node.line);
  op.inputs.assign(node.written.begin(), node.written.end());
  if (!node.note.empty()) op.note = node.note;
  op.attributes = attributes_json(node);
  if (node.shapes.size() == 1) op.shape = ir::print(node.shapes[0], ir::LayoutPrint::without);
  if (node.shapes.size() > 1) op.shape = ir::print(ir::tuple_shape(node.shapes), ir::LayoutPrint::without);
  op.shape_from = op.shape.empty() ? model::Known::no : model::Known::given;
  return op;
}

base::Result<GraphText> read_graph_text(const Input& input) {
  auto read = read_graph_nodes(input, text_pieces(input.bytes, true));
  if (!read.ok()) read = read_graph_nodes(input, text_pieces(input.bytes, false));  // it cannot be cut, or its error has a place there
  if (!read.ok()) return read.error();
  return GraphDefReader(input, *std::move(read)).run();
}

Match match_graph_def(const Input& input) {
  TextProto proto(input.path, input.bytes.substr(0, 1 << 16));
  bool named = false, typed = false;
  for (int events = 0; events < 200; ++events) {
    const TextProto::Event event = proto.next();
    if (event == TextProto::Event::bad || event == TextProto::Event::end) break;
    const std::string_view name = proto.field().name;
    if (proto.depth() == 0 && event == TextProto::Event::scalar) break;
    if (events == 0 && name != "node" && name != "library" && name != "versions" && !holds_graph(name)) break;
    named |= name == "name" && event == TextProto::Event::scalar;
    typed |= name == "op" && event == TextProto::Event::scalar;
    if (named && typed) return {Match::sure, "protobuf text of nodes with name and op"};
  }
  return {Match::none, "does not begin with `node { name: … op: … }`"};
}

namespace {

base::Result<model::Imported> hand_over(const Input& input, std::string sha256, GraphText text, const TakeModule& take) {
  model::Imported imported;
  model::Source& source = imported.source;
  source.path = input.path;
  source.format = "tensorflow-graph";
  source.sha256 = std::move(sha256);
  source.bytes = static_cast<int64_t>(input.bytes.size());
  source.options = text.options;
  source.read = text.read;
  source.dropped = text.dropped;
  source.kept = text.read - text.dropped;
  source.records = "nodes";
  imported.notes = std::move(text.notes);
  const auto graph = std::make_shared<const Graph>(std::move(text.graph));
  const model::OperatorStream stream{text.operators, [graph](size_t i) { return operator_of(graph->nodes[i]); }};
  if (!text.missing.empty()) {
    imported.operators = TakeModule::made(stream);
    imported.notes.push_back({0, 0, "not-replayable", std::move(text.missing)});
    return imported;
  }
  ASSIGN_OR_RETURN(std::vector<model::Operator> operators, take.ahead(source, stream));
  auto lowered = lower(*graph);
  if (!lowered.ok()) {
    imported.operators = std::move(operators);
    imported.notes.push_back({0, 0, "not-replayable", lowered.error().message});
    return imported;
  }
  std::ranges::move(lowered->notes, std::back_inserter(imported.notes));
  source.modules = 1;
  source.computations = static_cast<int64_t>(lowered->module.computations.size());
  RETURN_IF_ERROR(take(source, {std::move(lowered->module), std::move(operators)}, ""));
  return imported;
}

}  // namespace

base::Result<model::Imported> read_graph_def(const Input& input, const TakeModule& take) {
  auto sha256 = std::async(std::launch::async, base::sha256_hex, input.bytes);
  ASSIGN_OR_RETURN(GraphText text, read_graph_text(input));
  return hand_over(input, sha256.get(), std::move(text), take);
}

base::Result<model::Imported> read_graph_pieces(const Input& input, const GraphPieces& pieces, const TakeModule& take) {
  ASSIGN_OR_RETURN(GraphNodes nodes, read_graph_nodes(input, pieces));
  GraphDefReader reader(input, std::move(nodes));  // freed after the module has been taken, while its rows are made
  ASSIGN_OR_RETURN(GraphText text, reader.run());
  return hand_over(input, "", std::move(text), take);
}

}  // namespace importers::tensorflow
