// Nodes are lowered in the program's order, each after what it needs. Shapes and permutations are folded on the way and never become
// instructions; a variable is the value that was assigned to it last, so an update reads and writes one parameter.
#include "importers/tensorflow/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "importers/lowering/builder.h"
#include "importers/lowering/key.h"
#include "importers/lowering/layout.h"
#include "importers/tensorflow/inline.h"
#include "importers/tensorflow/lower_rules.h"
#include "src/base/text.h"

namespace importers::tensorflow {
namespace {

const Rule* rule_of(std::string_view type) {
  static const auto* const kByType = [] {
    auto* rules = new std::unordered_map<std::string_view, const Rule*>;
    for (const auto table : {math_rules(), special_rules(), move_rules(), slice_rules(), index_rules(), segment_rules(), linear_rules(),
                             network_rules(), convolution_rules(), image_rules(), variable_rules()}) {
      for (const Rule& rule : table) rules->emplace(rule.type, &rule);
    }
    return rules;
  }();
  const auto found = kByType->find(type);
  return found == kByType->end() ? nullptr : found->second;
}

/// oneDNN's rewrites compute what the framework's own types do: "_MklMatMul", "_MklNativeFusedConv2D" (_FusedConv2D).
const Rule* find_rule(std::string_view type) {
  if (const Rule* rule = rule_of(type)) return rule;
  for (const std::string_view prefix : {"_MklNative", "_Mkl"}) {
    if (!type.starts_with(prefix)) continue;
    const std::string rest(type.substr(prefix.size()));
    const Rule* rule = rule_of(rest);
    return rule != nullptr ? rule : rule_of("_" + rest);
  }
  return nullptr;
}

bool among(std::span<const std::string_view> words, std::string_view word) { return std::ranges::find(words, word) != words.end(); }

/// What stands for a variable, what brings data in, and what computes nothing.
constexpr std::string_view kHandles[] = {"VarHandleOp", "VariableV2", "Variable"};
constexpr std::string_view kFeeds[] = {"Placeholder", "PlaceholderWithDefault", "_Arg", "_DeviceArg", "IteratorGetNext", "IteratorV2"};
constexpr std::string_view kSilent[] = {"NoOp",
                                        "Assert",
                                        "_Retval",
                                        "_DeviceRetval",
                                        "_HostSend",
                                        "_Send",
                                        "VarIsInitializedOp",
                                        "StatelessRandomGetKeyCounter",
                                        "StatelessRandomGetAlg"};
/// What runs functions of the graph's library.
constexpr std::string_view kCalls[] = {"If",   "StatelessIf",   "While",           "StatelessWhile",
                                       "Case", "StatelessCase", "PartitionedCall", "StatefulPartitionedCall"};

bool is_call(const Node& node) { return node.call == Call::kept || among(kCalls, node.type); }
std::string not_followed(const Node& node) {
  return node.call == Call::kept ? node.note : "it calls functions of the graph, and branches and loops are not followed";
}

constexpr std::string_view kConstants[] = {"Const", "HostConst"};

/// Graphs of TensorFlow 1 hold what runs before and between steps: initial values, checkpoints.
bool is_outside_step(const Node& node) {
  static constexpr std::string_view kTypes[] = {"SaveV2",          "RestoreV2",  "SaveSlices",    "RestoreSlice",     "MergeV2Checkpoints",
                                                "ShardedFilename", "StringJoin", "ScalarSummary", "HistogramSummary", "MergeSummary"};
  if (among(kTypes, node.type) || (among(kCalls, node.type) && saves_variables(attribute(node, "f", std::string())))) return true;
  const std::string_view name = node.name;
  return name.find("/Initializer/") != name.npos || name.starts_with("save/") || name.starts_with("save_1/");
}

bool is_sane(const ir::Shape& shape) { return shape.is_array() && are_sane(shape.dims); }

bool is_handle(const Node& node) {
  const auto is_resource = [&](std::string_view name) {
    return attribute(node, name, ir::Type::token) == ir::Type::opaque || attribute(node, name, std::string()) == "DT_RESOURCE";
  };
  return among(kHandles, node.type) || (among(kFeeds, node.type) && (is_resource("dtype") || is_resource("T")));
}
/// Of the host: the name of a checkpoint, examples that are not parsed yet.
bool is_text(const Node& node) {
  return (among(kFeeds, node.type) || node.type == "Const") && attribute(node, "dtype", std::string()) == "DT_STRING";
}
bool is_feed(const Node& node) { return among(kFeeds, node.type) && !is_handle(node); }

/// A variable: its parameter, made when it is first used, and the value that it holds now.
struct State {
  Value parameter, now;
};

constexpr Edge kNoOrigin{-1, 0};

/// By identity: what its chain of identities passes on, each walked once; of other nodes kNoOrigin. Of a circle it is one of its nodes.
std::vector<Edge> origins_of(const Graph& graph) {
  std::vector<Edge> origins(graph.nodes.size(), kNoOrigin);
  std::vector<size_t> chain;
  for (size_t start = 0; start < graph.nodes.size(); ++start) {
    Edge edge{static_cast<int32_t>(start), 0};
    while (edge.node >= 0) {
      const auto at = static_cast<size_t>(edge.node);
      const Node& node = graph.nodes[at];
      if (node.type != "Identity" || node.inputs.empty()) break;
      if (origins[at].node >= 0) {
        edge = origins[at];
        break;
      }
      origins[at] = edge;  // until it is known; ends the walk around a circle
      chain.push_back(at);
      edge = node.inputs[0];
    }
    for (const size_t at : chain) origins[at] = edge;
    chain.clear();
  }
  return origins;
}

class Lowerer final : public Variables {
 public:
  explicit Lowerer(const Graph& graph)
      : graph_(graph),
        program_(graph.name),
        origins_(origins_of(graph)),
        values_(graph.nodes.size()),
        constants_(graph.nodes.size()),
        used_(graph.nodes.size()),
        handles_(graph.nodes.size()) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const Node& node = graph.nodes[i];
      handles_[i] = is_handle(node);
      leaves_out_ = leaves_out_ || node.call == Call::left_out;
      for (const Edge& edge : node.inputs) {
        if (edge.node >= 0 && node.call != Call::left_out) used_[static_cast<size_t>(edge.node)] = true;
      }
      if (node.type != "ReadVariableOp" || node.inputs.empty() || node.shapes.empty()) continue;
      const Edge variable = resolved(node.inputs[0]);
      read_whole_.try_emplace({variable.node, variable.port}, &node.shapes[0]);
    }
    for (const Node& node : graph_.nodes) note_assigned(node);
  }

  base::Result<Lowered> run() {
    ASSIGN_OR_RETURN(const std::vector<int32_t> order, ordered());
    for (const int32_t id : order) RETURN_IF_ERROR(lower(id));
    for (const auto& [handle, state] : states_) {
      if (state.parameter.id >= 0 && state.now != state.parameter) program_.result_in_place(state.now, state.parameter);
    }
    if (outside_ > 0)
      notes_.push_back({0, 0, "outside-step", fmt::format("{} nodes initialise variables or save them: no part of a step", outside_)});
    ASSIGN_OR_RETURN(ir::Module module, program_.finish());
    lowering::channels_last(module);
    return Lowered{std::move(module), std::move(notes_)};
  }

  Value read(Edge handle, const ir::Shape* shape) override {
    const Edge variable = resolved(handle);
    State& state = states_[{variable.node, variable.port}];
    if (state.now.id < 0) {
      const Node& node = graph_.nodes[static_cast<size_t>(variable.node)];
      const ir::Shape* own = told(variable);
      if (own == nullptr) own = shape;
      if (own == nullptr && !node.shapes.empty()) own = &node.shapes[0];
      if (own == nullptr || !is_sane(*own)) return {};
      state.parameter = state.now = program_.parameter(node.name, *own, node.input);
    }
    return state.now;
  }

  const ir::Shape* told(Edge handle) const override {
    const Edge variable = resolved(handle);
    const Node& node = graph_.nodes[static_cast<size_t>(variable.node)];
    const auto read_whole = read_whole_.find({variable.node, variable.port});
    if (node.shapes.empty() || is_feed(node)) return read_whole != read_whole_.end() ? read_whole->second : nullptr;
    if (!among(kFeeds, node.type)) return &node.shapes[0];
    if (read_whole != read_whole_.end()) return read_whole->second;
    return node.shapes[0].rank() > 0 ? &node.shapes[0] : nullptr;  // or the shape of the handle itself
  }

  void assign(Edge handle, Value value) override {
    const ir::Shape shape = program_.entry().shape(value);
    read(handle, &shape);
    const Edge variable = resolved(handle);
    states_[{variable.node, variable.port}].now = value;
  }

 private:
  /// What a variable is assigned, or added to it, has its shape.
  void note_assigned(const Node& node) {
    static constexpr std::string_view kAssigns[] = {"AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp"};
    if (!among(kAssigns, node.type) || node.inputs.size() < 2 || node.inputs[0].node < 0 || node.inputs[1].node < 0) return;
    const Edge variable = resolved(node.inputs[0]), value = node.inputs[1];
    const std::vector<ir::Shape>& shapes = graph_.nodes[static_cast<size_t>(value.node)].shapes;
    if (value.port < 0 || static_cast<size_t>(value.port) >= shapes.size() || !is_sane(shapes[static_cast<size_t>(value.port)])) return;
    read_whole_.try_emplace({variable.node, variable.port}, &shapes[static_cast<size_t>(value.port)]);
  }
  /// Handles pass through identities.
  Edge resolved(Edge edge) const {
    const Edge origin = edge.node < 0 ? kNoOrigin : origins_[static_cast<size_t>(edge.node)];
    return origin.node < 0 ? edge : origin;
  }

  /// The program's order, each node after its inputs. Error: a cycle.
  base::Result<std::vector<int32_t>> ordered() const {
    enum class Mark : uint8_t { fresh, open, done };
    std::vector<Mark> marks(graph_.nodes.size(), Mark::fresh);
    std::vector<int32_t> order, stack;
    for (int32_t start = 0; start < static_cast<int32_t>(graph_.nodes.size()); ++start) {
      stack.push_back(start);
      while (!stack.empty()) {
        const auto at = static_cast<size_t>(stack.back());
        if (marks[at] != Mark::fresh) {
          if (std::exchange(marks[at], Mark::done) == Mark::open) order.push_back(stack.back());
          stack.pop_back();
          continue;
        }
        marks[at] = Mark::open;
        bool circle = false;
        each_need(graph_.nodes[at], [&](int32_t need) {
          circle |= marks[static_cast<size_t>(need)] == Mark::open;
          if (marks[static_cast<size_t>(need)] == Mark::fresh) stack.push_back(need);
        });
        if (circle) return in_circle(graph_.nodes[at]);
      }
    }
    return order;
  }
  static std::string placed(const Node& node) {
    const std::string line = node.line > 0 ? fmt::format("line {}: ", node.line) : "";
    return fmt::format("{}node '{}' ({})", line, base::escaped(node.name), base::escaped(node.type));
  }
  static base::Error in_circle(const Node& node) {
    static constexpr std::string_view kLoops[] = {"Enter",  "RefEnter",  "Merge",         "RefMerge",
                                                  "Switch", "RefSwitch", "NextIteration", "RefNextIteration"};
    const std::string_view why = among(kLoops, node.type) ? ": it stands in a loop, and loops are not lowered; unroll it" : "";
    return {fmt::format("{} needs its own result{}", placed(node), why)};
  }
  template <typename Each>
  static void each_need(const Node& node, Each each) {
    for (const int32_t before : node.control) {
      if (before >= 0) each(before);
    }
    for (const Edge& edge : node.inputs) {
      if (edge.node >= 0) each(edge.node);
    }
  }

  const Array* constant(Edge edge) const {
    if (edge.node < 0) return nullptr;
    if (edge.port == 0) return constants_[static_cast<size_t>(edge.node)];
    const auto found = folded_.find({edge.node, edge.port});
    return found == folded_.end() ? nullptr : &found->second;
  }
  /// A value that is there, or a constant's, which becomes an instruction here.
  Value value(Edge edge) {
    if (edge.node < 0) return {};
    Values& by_port = values_[static_cast<size_t>(edge.node)];
    const auto port = static_cast<size_t>(edge.port);
    if (port < by_port.size() && by_port[port].id >= 0) return by_port[port];
    if (handles_[static_cast<size_t>(edge.node)]) return read(edge, nullptr);
    const Array* array = constant(edge);
    if (array == nullptr) return {};
    if (by_port.size() <= port) by_port.resize(port + 1);
    return by_port[port] = program_.entry().constant(array->shape, array->literal);
  }

  base::Status lower(int32_t id) {
    const auto at = static_cast<size_t>(id);
    const Node& node = graph_.nodes[at];
    program_.at({node.name, node.type});
    if (node.call == Call::results) return results(node);
    if (handles_[at] || node.call == Call::followed || node.call == Call::left_out || is_text(node)) return {};
    if (is_feed(node)) return leaves_out_ && !used(node) ? base::Status() : feed(node, values_[at]);
    if (among(kSilent, node.type)) return silent(node);
    if (starts_outside(node)) return ++outside_, base::Status();
    if (fold_node(node, id)) return {};
    return compute(node, values_[at]);
  }

  /// Is it outside the step, or does it give a variable a value from there?
  bool starts_outside(const Node& node) const {
    if (is_outside_step(node)) return true;
    if (!node.type.starts_with("Assign") || node.inputs.size() < 2 || node.inputs[1].node < 0) return false;
    const Node& value = graph_.nodes[static_cast<size_t>(node.inputs[1].node)];
    return is_outside_step(value) || node.name.ends_with("/Assign");
  }

  base::Status feed(const Node& node, Values& values) {
    for (size_t port = 0; port < node.shapes.size(); ++port) {
      const ir::Shape& shape = node.shapes[port];
      if (!is_sane(shape)) return unknown_shape(node);
      values.push_back(program_.parameter(port == 0 ? node.name : fmt::format("{}.{}", node.name, port), shape, node.input));
    }
    return values.empty() ? unknown_shape(node) : base::Status();
  }
  static base::Status unknown_shape(const Node& node) {
    const std::string why = node.type.find("TensorList") != std::string::npos
                                ? "lists of tensors, which loops fill, are not lowered; unroll the loop (Keras: unroll=True)"
                            : is_call(node) ? not_followed(node)
                                            : "its shape is not told, or depends on data or on sizes left open; dump the "
                                              "graph with add_shapes=True, traced with whole shapes";
    return base::Error{fmt::format("{}: {}", placed(node), why)};
  }

  /// What a call returns that nobody reads, where it is computed.
  base::Status results(const Node& call) {
    for (const Edge& edge : call.inputs) {
      const auto at = static_cast<size_t>(edge.node);
      if (handles_[at] || is_feed(graph_.nodes[at]) || constant(edge) != nullptr) continue;
      if (const Value made = value(edge); made.id >= 0) program_.result(made);
    }
    return {};
  }

  base::Status silent(const Node& node) {
    if (!node.type.ends_with("etval") || node.inputs.empty()) return {};
    if (const Value result = value(node.inputs[0]); result.id >= 0) program_.result(result);
    return {};
  }

  /// Is it a constant, or does one follow from its inputs?
  bool fold_node(const Node& node, int32_t id) {
    static constexpr std::string_view kOfShapes[] = {"Shape", "ShapeN", "Size", "Rank"};
    const Array*& constant_0 = constants_[static_cast<size_t>(id)];
    if (among(kConstants, node.type) && (constant_0 = find_attribute<Array>(node, "value")) != nullptr) return true;
    const auto is_constant = [&](const Edge& edge) { return constant(edge) != nullptr; };
    if (!node.inputs.empty() && std::ranges::none_of(node.inputs, is_constant) && !among(kOfShapes, node.type)) return false;
    std::vector<const Array*> in;
    std::vector<ir::Shape> shapes(node.inputs.size());
    std::vector<const ir::Shape*> known(node.inputs.size(), nullptr);
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      in.push_back(constant(node.inputs[k]));
      const Values* values = node.inputs[k].node < 0 ? nullptr : &values_[static_cast<size_t>(node.inputs[k].node)];
      const auto port = static_cast<size_t>(node.inputs[k].port);
      if (in[k] != nullptr) shapes[k] = in[k]->shape, known[k] = &shapes[k];
      if (in[k] == nullptr && values != nullptr && port < values->size() && (*values)[port].id >= 0)
        shapes[k] = program_.entry().shape((*values)[port]), known[k] = &shapes[k];
    }
    std::vector<Array> arrays = fold_integers(node, in, known);
    if (arrays.empty()) {
      const int32_t ports = node.type == "ShapeN" ? static_cast<int32_t>(node.inputs.size()) : 1;
      for (int32_t port = 0; port < ports; ++port) {
        if (auto array = fold(node, in, known, port)) folded_.try_emplace({id, port}, std::move(*array));
      }
    }
    for (size_t port = 0; port < arrays.size(); ++port) folded_.try_emplace({id, static_cast<int32_t>(port)}, std::move(arrays[port]));
    const auto first = folded_.lower_bound({id, 0});
    if (first == folded_.end() || first->first.first != id) return false;
    if (first->first.second == 0) constant_0 = &first->second;
    return true;
  }

  /// All that a rule sees of a node but for the values that its inputs are; "" if a constant is too long to be told apart by.
  /// Until the next one.
  const std::string& key_of(const Node& node, const Lowering& lowering) {
    constexpr size_t kMostBytes = 1024;  // of constants
    lowering::Key& key = key_;
    key.clear();
    key.add(node.type);
    for (const auto& [name, value] : node.attributes) {
      key.add(name), key.add(value.index());
      std::visit([&](const auto& held) { add(key, held); }, value);
    }
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const Array* array = lowering.constants[k];
      const Value value = lowering.inputs[k];
      if (array != nullptr && array->literal.data.size() > kMostBytes) return key.clear(), key.text();
      key.add(array != nullptr), key.add(value.id >= 0);
      if (array != nullptr) add(key, *array);
      if (value.id >= 0) key.add(program_.entry().shape_id(value));
    }
    for (const ir::Shape& shape : node.shapes) add(key, shape);
    return key.text();
  }
  static void add(lowering::Key& key, const ir::Shape& shape) { key.add(shape.type), key.add(shape.dims); }
  static void add(lowering::Key& key, const Array& array) {
    add(key, array.shape);
    key.add(array.literal.elided);
    key.add(std::string_view(reinterpret_cast<const char*>(array.literal.data.data()), array.literal.data.size()));
  }
  static void add(lowering::Key& key, const Boxed<Array>& array) { add(key, *array); }
  static void add(lowering::Key& key, const std::string& text) { key.add(text); }
  template <typename T>
  static void add(lowering::Key& key, const T& value) {
    key.add(value);
  }

  base::Status compute(const Node& node, Values& values) {
    Lowering lowering{graph_, node, program_, *this, {}, {}};
    lowering.inputs.reserve(node.inputs.size());
    lowering.constants.reserve(node.inputs.size());
    for (const Edge& edge : node.inputs) {
      const bool handle = edge.node >= 0 && handles_[static_cast<size_t>(resolved(edge).node)];
      const Array* array = constant(edge);
      lowering.inputs.push_back(handle || array != nullptr ? Value{} : value(edge));
      lowering.constants.push_back(array);
    }
    const std::string& key = key_of(node, lowering);
    program_.alike(failed_.contains(key) ? std::string_view() : key);
    resolve_ = [&](size_t k) { return value(node.inputs[k]); };
    lowering.resolve = &resolve_;
    const Rule* rule = find_rule(node.type);
    if (rule != nullptr && node.inputs.size() < rule->inputs)
      lowering.error = fmt::format("has {} of {} inputs", node.inputs.size(), rule->inputs);
    else if (rule != nullptr)
      values = rule->lower(lowering);
    if (rule != nullptr && !lowering.error.empty()) failed_.insert(key);
    if (rule == nullptr || !lowering.error.empty()) return unknown(node, lowering, values);
    if (!lowering.assumed.empty()) note(node, "assumed", lowering.assumed);
    const bool writes = std::ranges::find(variable_rules(), std::string_view(node.type), &Rule::type) != variable_rules().end();
    if (!used(node) && !writes && !values.empty() && values[0].id >= 0) program_.result(values[0]);
    return {};
  }

  void note(const Node& node, const char* code, std::string_view what) {
    notes_.push_back({node.line, 0, code, fmt::format("node '{}' ({}): {}", base::escaped(node.name), base::escaped(node.type), what)});
  }

  bool used(const Node& node) const { return used_[static_cast<size_t>(&node - graph_.nodes.data())]; }

  /// A call by name with the shapes that the program tells. What nothing reads and has no shape is left out.
  base::Status unknown(const Node& node, Lowering& lowering, Values& values) {
    const std::string why = !lowering.error.empty() ? lowering.error : is_call(node) ? not_followed(node) : "has no lowering";
    note(node, "not-lowered", why);
    std::vector<ir::Shape> arrays;
    for (const ir::Shape& shape : node.shapes) {
      if (shape.is_array() && !is_sane(shape)) return unknown_shape(node);
      if (shape.is_array()) arrays.push_back(shape);
    }
    // What the host does has no instructions; if a device needs a result of it, that node says so.
    if (arrays.empty()) return used(node) && node.launches == model::Launches::device ? unknown_shape(node) : base::Status();
    Values operands;
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      if (lowering.inputs[k].id >= 0) operands.push_back(lowering.inputs[k]);
    }
    const Values made = program_.unknown("tf." + (node.type.empty() ? std::string("unknown") : node.type), operands, arrays);
    values.clear();
    size_t next = 0;
    for (const ir::Shape& shape : node.shapes) values.push_back(shape.is_array() ? made[next++] : Value{});
    if (!used(node)) program_.result(made[0]);
    return {};
  }

  const Graph& graph_;
  lowering::Program program_;
  std::vector<Edge> origins_;                            ///< of identities
  std::vector<Values> values_;                           ///< by node, by port
  std::vector<const Array*> constants_;                  ///< by node: what its port 0 is known to give; nullptr of most
  std::map<std::pair<int32_t, int32_t>, Array> folded_;  ///< by node and port: those that stand nowhere in the graph
  std::vector<bool> used_;                               ///< is some output of the node read?
  bool leaves_out_ = false;                              ///< does the graph hold more than the program?
  std::vector<bool> handles_;                            ///< does the node stand for a variable?
  lowering::Key key_;                                    ///< of the node in hand
  std::map<std::pair<int32_t, int32_t>, State> states_;
  std::map<std::pair<int32_t, int32_t>, const ir::Shape*> read_whole_;  ///< shapes of variables that some node reads or assigns
  std::function<Value(size_t)> resolve_;
  std::unordered_set<std::string> failed_;  ///< keys of nodes that could not be lowered: each tells why
  std::vector<model::Note> notes_;
  int64_t outside_ = 0;  ///< nodes that are no part of a step
};

/// A receive has no operands: it gets what the send of the same name is given.
void join_transfers(Graph& graph) {
  std::unordered_map<std::string, Edge> sent;
  for (const Node& node : graph.nodes) {
    const std::string name = attribute(node, "tensor_name", std::string());
    if (!name.empty() && !node.inputs.empty()) sent.emplace(name, node.inputs.front());
  }
  for (Node& node : graph.nodes) {
    if (!node.inputs.empty()) continue;
    const auto found = sent.find(attribute(node, "tensor_name", std::string()));
    if (found != sent.end()) node.inputs.push_back(found->second);
  }
}
bool is_sound(const Graph& graph) {
  const auto count = static_cast<int32_t>(graph.nodes.size());
  const auto is_edge = [&](const Edge& edge) { return edge.node >= 0 && edge.node < count && edge.port >= 0; };
  return std::ranges::all_of(graph.nodes, [&](const Node& node) {
    return std::ranges::all_of(node.inputs, is_edge) &&
           std::ranges::all_of(node.control, [&](int32_t id) { return id >= 0 && id < count; });
  });
}

}  // namespace

bool are_sane(const Dims& sizes) {
  constexpr int64_t kMost = int64_t{1} << 40;  // elements
  int64_t elements = 1;
  for (const int64_t size : sizes) {
    if (size < 0 || size > kMost || (size > 0 && elements > kMost / size)) return false;
    elements *= size;
  }
  return true;
}

Value Lowering::in(size_t k) {
  if (k < inputs.size() && inputs[k].id < 0) inputs[k] = (*resolve)(k);
  if (k < inputs.size() && inputs[k].id >= 0) return inputs[k];
  if (error.empty()) error = fmt::format("input {} has no value", k);
  return entry().constant(ir::Type::f32, 0);  // what the rule goes on with until it looks at the error
}

Value Lowering::held(size_t k, const ir::Shape* shape) {
  const Value value = variables.read(node.inputs[k], shape);
  if (value.id < 0 && error.empty()) error = "nothing tells the shape of its variable";
  return value;
}

Dims Lowering::integers(size_t k) {
  Dims values;
  if (k >= constants.size() || constants[k] == nullptr || !ir::is_integer(constants[k]->shape.type)) {
    if (error.empty()) error = fmt::format("input {} is no constant", k);
    return values;
  }
  for (int64_t i = 0; i < ir::elements(constants[k]->shape); ++i) {
    values.push_back(ir::as_int(constants[k]->literal, constants[k]->shape.type, i));
  }
  return values;
}

Values Lowering::fuse(const std::function<Values(Body&, std::span<const Value>)>& write) {
  Values operands;
  for (size_t k = 0; k < node.inputs.size(); ++k) operands.push_back(in(k));
  if (!error.empty() || operands.empty()) return fail(error.empty() ? "has no inputs" : error);
  return program.fuse(operands, write);
}

base::Result<Lowered> lower(const Graph& graph) {
  const auto lowered_by = [](const Graph& whole) -> base::Result<Lowered> {
    const auto lowerer = std::make_shared<Lowerer>(whole);
    ASSIGN_OR_RETURN(Lowered lowered, lowerer->run());
    lowered.remains = lowerer;
    return lowered;
  };
  if (!is_sound(graph)) return base::Error{"an input of a node is no node of its graph"};
  const bool has_transfers = std::ranges::any_of(graph.nodes, [](const Node& node) {
    return (node.type.ends_with("Send") || node.type.ends_with("Recv")) && node.attributes.find("tensor_name") != nullptr;
  });
  if (!has_transfers) return lowered_by(graph);
  Graph joined = graph;
  join_transfers(joined);
  return lowered_by(joined);
}

bool is_lowered(std::string_view type) { return find_rule(type) != nullptr; }

}  // namespace importers::tensorflow
