// Nodes are read one by one, each a small tree that is dropped again; edges are names until all nodes are known. What a GraphDef does not
// write down is completed here: element types of outputs, the batch, and what the handles of variables hold.
#include "importers/tensorflow/graph_def.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <unordered_map>

#include "importers/tensorflow/attribute_text.h"
#include "importers/tensorflow/lower.h"
#include "importers/tensorflow/node_kind.h"
#include "src/base/hash.h"
#include "src/base/text.h"
#include "src/ir/print.h"

namespace importers::tensorflow {
namespace {

constexpr int64_t kUsualBatch = 32;
constexpr size_t kMostNotes = 20;
constexpr std::string_view kShapesOf[] = {"_output_shapes", "_handle_shapes"};

/// Where nodes may lie: a GraphDef itself, a MetaGraphDef, a SavedModel.
bool holds_graph(std::string_view field) { return field == "graph_def" || field == "meta_graphs" || field == "graph"; }

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

using Sizes = std::vector<int64_t>;

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
  explicit GraphDefReader(const Input& input) : input_(input), proto_(input.path, input.bytes) {}

  base::Result<GraphText> run() {
    RETURN_IF_ERROR(nodes());
    if (out_.graph.nodes.empty()) return base::error_at(input_.path, input_.bytes, 0, "no node is in it; dump the graph again");
    out_.graph.name = stem(input_.path);
    strip_clusters();
    index();
    connect();
    spread_constants();
    for (size_t i = 0; i < operators_; ++i) finish(i);
    out_.operators = operators_;
    if (assumed_ > 0) note("assumed-batch", fmt::format("{} inputs leave their batch open: {} is taken (--batch)", assumed_, batch()));
    if (more_ > 0) note("more", fmt::format("{} more notes like those before are left out", more_));
    return std::move(out_);
  }

 private:
  using Event = TextProto::Event;

  void note(std::string code, std::string text, int64_t line = 0) {
    if (out_.notes.size() >= kMostNotes && line > 0) {
      ++more_;
    } else {
      out_.notes.push_back({line, line > 0 ? 1 : 0, std::move(code), std::move(text)});
    }
  }
  int64_t batch() const { return input_.options.batch > 0 ? input_.options.batch : kUsualBatch; }

  int64_t line_of(size_t at) {
    for (; (placed_ = input_.bytes.find('\n', placed_)) < at; ++placed_) ++line_;
    placed_ = at;
    return line_;
  }

  base::Status nodes() {
    while (true) {
      const Event event = proto_.next();
      if (event == Event::end) return {};
      if (event == Event::bad) return proto_.error();
      if (event != Event::open) continue;
      const std::string_view name = proto_.field().name;
      if (name == "node") {
        const size_t at = proto_.field().at;
        ASSIGN_OR_RETURN(const Message message, proto_.message());
        add(message, line_of(at));
      } else if (name == "library") {
        RETURN_IF_ERROR(library());
      } else if (!holds_graph(name)) {
        RETURN_IF_ERROR(proto_.skip());
      }
    }
  }

  /// Names of functions; their bodies are not part of the graph until someone calls them.
  base::Status library() {
    int64_t functions = 0;
    for (const size_t inside = proto_.depth(); proto_.depth() >= inside;) {
      const Event event = proto_.next();
      if (event == Event::bad) return proto_.error();
      if (event != Event::open) continue;
      functions += proto_.field().name == "function";
      RETURN_IF_ERROR(proto_.skip());
    }
    if (functions > 0) note("functions-not-inlined", fmt::format("{} functions of the library stay calls", functions));
    return {};
  }

  void add(Message message, int64_t line) {
    ++out_.read;
    Node node;
    message.each([&](const Field& field, Message part) {
      if (field.name == "name") node.name = unquoted(field.value);
      if (field.name == "op") node.type = unquoted(field.value);
      if (field.name == "device") node.op.device = unquoted(field.value);
      if (field.name == "input") node.op.inputs.push_back(unquoted(field.value));
      if (field.name == "attr") add_attribute(node, part);
    });
    node.op.line = line;
    if (node.name.empty() || node.type.empty()) {
      ++out_.dropped;
      note("dropped-record", node.name.empty() ? "a node has no name" : "a node has no op", line);
      return;
    }
    out_.graph.nodes.push_back(std::move(node));
  }

  void add_attribute(Node& node, Message entry) {
    std::string key = entry.text("key");
    const Message value = entry.message("value");
    if (std::ranges::find(kShapesOf, key) != std::end(kShapesOf)) {
      shapes_of_[out_.graph.nodes.size()].push_back({key == kShapesOf[1], all_shapes(value.message("list"))});
    } else if (auto read = attribute_value(value)) {
      node.attributes.insert_or_assign(std::move(key), *std::move(read));
    }
  }

  static std::vector<std::optional<Sizes>> all_shapes(Message list) {
    std::vector<std::optional<Sizes>> shapes;
    list.each([&](const Field&, Message shape) { shapes.push_back(shape_sizes(shape)); });
    return shapes;
  }

  void strip_clusters() {
    for (const Node& node : out_.graph.nodes) {
      if (without_cluster(node.name).empty()) return;
    }
    for (Node& node : out_.graph.nodes) {
      node.name = without_cluster(node.name);
      for (std::string& input : node.op.inputs) {
        const bool control = input.starts_with('^');
        const std::string_view rest = without_cluster(std::string_view(input).substr(control ? 1 : 0));
        if (!rest.empty()) input = fmt::format("{}{}", control ? "^" : "", rest);
      }
    }
    note("clusters", "names have the prefixes of auto-clustering; they are taken off, the attribute _XlaCluster tells the cluster");
  }

  /// Index by name; of nodes with one name the first stays.
  void index() {
    std::vector<Node>& nodes = out_.graph.nodes;
    std::unordered_map<size_t, std::vector<Told>> shapes;
    size_t kept = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (!by_name_.try_emplace(nodes[i].name, static_cast<int32_t>(kept)).second) {
        ++out_.dropped;
        note("dropped-record", fmt::format("a second node is named '{}'", base::escaped(nodes[i].name)), nodes[i].op.line);
        continue;
      }
      if (const auto told = shapes_of_.find(i); told != shapes_of_.end()) shapes[kept] = std::move(told->second);
      if (kept != i) nodes[kept] = std::move(nodes[i]);
      ++kept;
    }
    nodes.resize(kept);
    shapes_of_ = std::move(shapes);
  }

  void connect() {
    for (Node& node : out_.graph.nodes) {
      for (const std::string& input : node.op.inputs) {
        const InputName from = input_name(input);
        const auto found = by_name_.find(std::string(from.node));
        if (found == by_name_.end()) {
          note("missing-input", fmt::format("'{}' reads '{}', which is not in the graph", base::escaped(node.name), base::escaped(input)),
               node.op.line);
          if (out_.missing.empty()) out_.missing = fmt::format("'{}' reads '{}', which is not in the graph", node.name, input);
        } else if (from.control) {
          node.control.push_back(found->second);
        } else {
          node.inputs.push_back({found->second, from.port});
        }
      }
    }
  }

  /// Constants of one value become fills, so that a program stays as small as its text.
  void spread_constants() {
    const size_t given = out_.graph.nodes.size();
    for (size_t i = 0; i < given; ++i) {
      const auto value = out_.graph.nodes[i].attributes.find("value");
      const Array* array = value == out_.graph.nodes[i].attributes.end() ? nullptr : std::get_if<Array>(&value->second);
      if (array == nullptr || !is_spread(*array)) continue;
      const Array one{ir::array_shape(array->shape.type, {}), array->literal};
      const int32_t dims = add_constant(out_.graph.nodes[i].name + "/dims", integers(array->shape.dims));
      const int32_t scalar = add_constant(out_.graph.nodes[i].name + "/value", one);
      Node& node = out_.graph.nodes[i];
      node.shapes = {array->shape};
      node.op.note = "a constant of one value";
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
    node.attributes.emplace("value", std::move(array));
    out_.graph.nodes.push_back(std::move(node));
    return static_cast<int32_t>(out_.graph.nodes.size()) - 1;
  }

  const std::vector<std::optional<Sizes>>* told(size_t node, bool of_handle) const {
    const auto found = shapes_of_.find(node);
    if (found == shapes_of_.end()) return nullptr;
    for (const Told& told : found->second) {
      if (told.of_handle == of_handle) return &told.shapes;
    }
    return nullptr;
  }

  /// A batch that is left open is what a person chooses.
  void choose_batch(Node& node, Sizes& sizes) {
    if (sizes.empty() || sizes.front() >= 0 || !is_known(std::span(sizes).subspan(1))) return;
    sizes.front() = batch();
    node.op.note = "its batch is assumed";
    out_.options = fmt::format("batch={}", batch());
    ++assumed_;
  }

  static bool is_input(const Node& node) { return node.type.starts_with("Placeholder") || node.type == "_Arg"; }

  /// What is told of a node's outputs: of variables and inputs their attribute, of a handle from outside what it holds, else all outputs.
  std::vector<std::optional<Sizes>> told_shapes(size_t i) const {
    const Node& node = out_.graph.nodes[i];
    const auto* outputs = told(i, false);
    const auto* held = told(i, true);
    const bool is_variable = node.type == "VarHandleOp" || node.type == "VariableV2" || node.type == "Variable";
    const auto found = node.attributes.find("shape");
    const Sizes* sizes = found == node.attributes.end() ? nullptr : std::get_if<Sizes>(&found->second);
    if ((is_variable || (is_input(node) && outputs == nullptr)) && sizes != nullptr) return {*sizes};
    if (held != nullptr) return *held;
    return outputs == nullptr ? std::vector<std::optional<Sizes>>() : *outputs;
  }

  std::optional<ir::Type> type_of_output(const Node& node, size_t port) const {
    if (const auto type = output_type(node, port)) return type;
    const auto held = attribute(node, "_handle_dtypes", std::vector<std::string>());
    return port < held.size() ? ir::find_type(held[port]) : std::nullopt;
  }

  void find_shapes(size_t i) {
    Node& node = out_.graph.nodes[i];
    std::vector<std::optional<Sizes>> given = told_shapes(i);
    for (size_t port = 0; port < given.size(); ++port) {
      if (is_input(node) && given[port]) choose_batch(node, *given[port]);
      const auto type = type_of_output(node, port);
      if (!given[port] || !is_known(*given[port]) || !type) return node.shapes.clear();
      node.shapes.push_back(ir::array_shape(*type, *given[port]));
    }
  }

  /// What the store gets of a node.
  void finish(size_t i) {
    Node& node = out_.graph.nodes[i];
    if (node.shapes.empty()) find_shapes(i);
    const bool filled = node.type == "Fill" && node.op.inputs.empty();
    model::Operator op = node_operator(node.name, filled ? "Const" : node.type, node.op.device, node.op.line);
    op.inputs = std::move(node.op.inputs);
    if (!node.op.note.empty()) op.note = std::move(node.op.note);
    op.attributes = attributes_json(node);
    if (node.shapes.size() == 1) op.shape = ir::print(node.shapes[0], ir::LayoutPrint::without);
    if (node.shapes.size() > 1) op.shape = ir::print(ir::tuple_shape(node.shapes), ir::LayoutPrint::without);
    op.shape_from = op.shape.empty() ? model::Known::no : model::Known::given;
    node.op = std::move(op);
  }

  struct Told {
    bool of_handle;
    std::vector<std::optional<Sizes>> shapes;
  };

  const Input& input_;
  TextProto proto_;
  GraphText out_;
  std::unordered_map<size_t, std::vector<Told>> shapes_of_;  ///< by node
  std::unordered_map<std::string, int32_t> by_name_;
  size_t placed_ = 0, operators_ = 0;
  int64_t line_ = 1, assumed_ = 0, more_ = 0;
};

}  // namespace

base::Result<GraphText> read_graph_text(const Input& input) { return GraphDefReader(input).run(); }

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

/// The module, or why there is none.
base::Result<Lowered> checked(const GraphText& text) {
  if (!text.missing.empty()) return base::Error{text.missing};
  return lower(text.graph);
}

}  // namespace

base::Result<model::Imported> read_graph_def(const Input& input, const TakeModule& take) {
  ASSIGN_OR_RETURN(GraphText text, read_graph_text(input));
  model::Imported imported;
  model::Source& source = imported.source;
  source.path = input.path;
  source.format = "tensorflow-graph";
  source.sha256 = base::sha256_hex(input.bytes);
  source.bytes = static_cast<int64_t>(input.bytes.size());
  source.options = text.options;
  source.read = text.read;
  source.dropped = text.dropped;
  source.kept = text.read - text.dropped;
  source.records = "nodes";
  imported.notes = std::move(text.notes);
  std::vector<model::Operator> operators;
  operators.reserve(text.operators);
  for (size_t i = 0; i < text.operators; ++i) operators.push_back(handed_over(text.graph.nodes[i].op));
  auto lowered = checked(text);
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

}  // namespace importers::tensorflow
