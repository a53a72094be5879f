// A name is looked up, and what the model knows is written into its node. Implied nodes come behind the listed ones and are dropped again
// unless something listed needs them, so that half a list gives half a step.
#include "importers/tensorflow/step_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "importers/tensorflow/node_kind.h"
#include "src/base/hash.h"

namespace importers::tensorflow {
namespace {

constexpr std::string_view kImplied = "not in the list: the model implies it";

nlohmann::json json_of(const Attribute& attribute) {
  return std::visit(
      [](const auto& value) -> nlohmann::json {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, ir::Type>)
          return std::string(ir::text(value));
        else if constexpr (std::is_same_v<T, Boxed<Array>>)
          return ir::print((*value).literal, (*value).shape);
        else
          return value;
      },
      attribute);
}

std::string json_of(const Attributes& attributes, const std::string& before) {
  nlohmann::json object = before.empty() ? nlohmann::json::object() : nlohmann::json::parse(before);
  for (const auto& [key, value] : attributes) object[key] = json_of(value);
  return object.empty() ? "" : object.dump();
}

std::string shapes_text(const std::vector<ir::Shape>& shapes) {
  if (shapes.size() == 1) return ir::print(shapes[0], ir::LayoutPrint::without);
  std::string text;
  for (const ir::Shape& shape : shapes) text += (text.empty() ? "" : ", ") + ir::print(shape, ir::LayoutPrint::without);
  return text.empty() ? text : "(" + text + ")";
}

std::string input_text(const Graph& graph, const Edge& edge) {
  const std::string& from = graph.nodes[static_cast<size_t>(edge.node)].name;
  return edge.port == 0 ? from : fmt::format("{}:{}", from, edge.port);
}

/// What the model knows goes into the node's operator.
void describe(const Graph& graph, const Node& node, model::Operator& op) {
  if (op.type != node.type) {
    op.type = node.type;
    op.type_from = model::Known::by_model;
    op.launches = node.launches;
    op.phase = phase_of(node.name, node.type);
  }
  op.shape = shapes_text(node.shapes);
  op.shape_from = node.shapes.empty() ? model::Known::no : model::Known::by_model;
  for (const Edge& edge : node.inputs) op.inputs.push_back(input_text(graph, edge));
  for (const int32_t before : node.control) op.inputs.push_back("^" + input_text(graph, {before, 0}));
  op.attributes = json_of(node.attributes, op.attributes);
}

}  // namespace

model::Operator operator_of(const TypedList& list, const StepNodes::Result& step, size_t i) {
  const bool listed = i < step.nodes.size();
  const int32_t at = listed ? step.nodes[i] : step.launching[i - step.nodes.size()];
  if (at < 0) return operator_of(list, i);
  const Node& node = step.graph.nodes[static_cast<size_t>(at)];
  model::Operator op = listed ? operator_of(list, i) : operator_of_name(node.name);
  if (!listed) op.note = kImplied;
  describe(step.graph, node, op);
  return op;
}

int64_t StepNodes::position(std::string_view name) const {
  if (const int64_t place = list_.list.find(name); place >= 0) return place;
  return implied_.find(base::hash64(name), [&](size_t place) { return this->name(place) == name; });
}

const Node* StepNodes::find(std::string_view name) const {
  const int64_t place = position(name);
  if (place < 0 || !is_wired(static_cast<size_t>(place))) return nullptr;
  return &node({static_cast<int32_t>(place), 0});
}

std::string StepNodes::pick(std::initializer_list<std::string> names) const {
  for (const std::string& name : names)
    if (is_listed(name)) return name;
  return *names.begin();
}

Edge StepNodes::define(std::string name, Definition definition) {
  int64_t place = list_.list.find(name);
  if (place < 0) place = implied_.find_or_add(base::hash64(name), at_.size(), [&](size_t other) { return this->name(other) == name; });
  const auto at = static_cast<size_t>(place);
  if (at == at_.size()) at_.push_back(-1);
  const Edge edge{static_cast<int32_t>(place), 0};
  if (is_wired(at)) return edge;
  at_[at] = static_cast<int32_t>(nodes_.size());
  Node& node = nodes_.emplace_back();
  node.name = std::move(name);
  node.type = definition.type;
  node.launches = launches_of(node.type);
  if (at < listed()) node.line = list_.list.names[at].line;
  node.inputs = std::move(definition.inputs);
  node.shapes = std::move(definition.shapes);
  node.attributes = std::move(definition.attributes);
  return edge;
}

Edge StepNodes::constant(std::string name, Array value) {
  const ir::Shape shape = value.shape;
  return define(std::move(name), {"Const", {}, {shape}, {{"value", std::move(value)}}});
}

Edge StepNodes::integers(std::string name, const Dims& values, bool rows) {
  const auto count = static_cast<int64_t>(values.size());
  return constant(std::move(name), integer_array(values, rows ? Dims{count / 2, 2} : Dims{count}));
}

Edge StepNodes::parameter(std::string name, std::string_view type, const ir::Shape& shape, std::string input) {
  const Edge edge = define(std::move(name), {type, {}, {shape}});
  wired(edge).input = std::move(input);
  return edge;
}

/// Listed nodes that are wired, everything that they read or wait for, and results that return one of them.
std::vector<bool> StepNodes::needed() const {
  std::vector<bool> needed(at_.size(), false);
  std::vector<size_t> open;
  const auto visit = [&](int32_t place) {
    if (place < 0 || needed[static_cast<size_t>(place)] || !is_wired(static_cast<size_t>(place))) return;
    needed[static_cast<size_t>(place)] = true;
    open.push_back(static_cast<size_t>(place));
  };
  for (size_t place = 0; place < listed(); ++place) visit(static_cast<int32_t>(place));
  while (!open.empty()) {
    const Node& node = nodes_[static_cast<size_t>(at_[open.back()])];
    open.pop_back();
    for (const Edge& edge : node.inputs) visit(edge.node);
    for (const int32_t before : node.control) visit(before);
  }
  for (size_t place = listed(); place < at_.size(); ++place) {
    const Node& node = nodes_[static_cast<size_t>(at_[place])];
    if (node.type == "_Retval") needed[place] = needed[static_cast<size_t>(node.inputs[0].node)];
  }
  return needed;
}

StepNodes::Result StepNodes::finish() && {
  const std::vector<bool> kept = needed();
  Result result;
  result.graph.name = std::move(name_);
  result.graph.nodes.reserve(static_cast<size_t>(std::ranges::count(kept, true)));
  std::vector<int32_t>& renumbered = result.nodes;
  renumbered.resize(kept.size(), -1);
  for (size_t place = 0; place < kept.size(); ++place) {
    if (!kept[place]) continue;
    Node& node = nodes_[static_cast<size_t>(at_[place])];
    const auto number = static_cast<int32_t>(result.graph.nodes.size());
    renumbered[place] = number;
    (place < listed() ? result.wired : result.implied) += 1;
    if (place >= listed() && node.launches != model::Launches::nothing) result.launching.push_back(number);
    result.graph.nodes.push_back(std::move(node));
  }
  for (Node& node : result.graph.nodes) {
    for (Edge& edge : node.inputs) edge.node = renumbered[static_cast<size_t>(edge.node)];
    for (int32_t& before : node.control) before = renumbered[static_cast<size_t>(before)];
  }
  renumbered.resize(listed());
  return result;
}

Array integer_array(const Dims& values, const Dims& dims, ir::Type type) {
  Array array{ir::array_shape(type, dims), {}};
  for (const int64_t value : values) {
    const ir::Literal one = ir::scalar_literal(type, value);
    array.literal.data.insert(array.literal.data.end(), one.data.begin(), one.data.end());
  }
  return array;
}

Array filled_array(ir::Type type, const Dims& dims, double value) {
  Array array{ir::array_shape(type, dims), {}};
  const ir::Literal one = ir::scalar_literal(type, value);
  for (int64_t i = 0; i < ir::elements(array.shape); ++i)
    array.literal.data.insert(array.literal.data.end(), one.data.begin(), one.data.end());
  return array;
}

}  // namespace importers::tensorflow
