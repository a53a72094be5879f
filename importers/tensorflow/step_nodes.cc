// A name is looked up, and what the model knows is written into its node. Implied nodes come behind the listed ones and are dropped again
// unless something listed needs them, so that half a list gives half a step.
#include "importers/tensorflow/step_nodes.h"

#include <fmt/format.h>

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
        else if constexpr (std::is_same_v<T, Array>)
          return ir::print(value.literal, value.shape);
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

}  // namespace

StepNodes::StepNodes(std::string name, std::vector<model::Operator> listed) : listed_(listed.size()), wired_(listed.size(), false) {
  graph_.name = std::move(name);
  graph_.nodes.reserve(listed_ + listed_ / 4);
  for (model::Operator& op : listed) {
    Node& node = graph_.nodes.emplace_back();
    node.name = op.name;
    node.op = std::move(op);
    index_.find_or_add(base::hash64(node.name), graph_.nodes.size() - 1, [&](size_t at) { return graph_.nodes[at].name == node.name; });
  }
}

int64_t StepNodes::position(std::string_view name) const {
  return index_.find(base::hash64(name), [&](size_t at) { return graph_.nodes[at].name == name; });
}

const Node* StepNodes::find(std::string_view name) const {
  const int64_t at = position(name);
  return at < 0 ? nullptr : &graph_.nodes[static_cast<size_t>(at)];
}

std::string StepNodes::pick(std::initializer_list<std::string> names) const {
  for (const std::string& name : names)
    if (is_listed(name)) return name;
  return *names.begin();
}

Edge StepNodes::define(std::string name, Definition definition) {
  const size_t next = graph_.nodes.size();
  const size_t at = index_.find_or_add(base::hash64(name), next, [&](size_t k) { return graph_.nodes[k].name == name; });
  if (at == next) {
    wired_.push_back(false);
    Node node;
    node.name = name;
    node.op = operator_of_name(name);
    node.op.note = kImplied;
    graph_.nodes.push_back(std::move(node));
  }
  const Edge edge{static_cast<int32_t>(at), 0};
  if (wired_[at]) return edge;
  wired_[at] = true;
  Node& node = graph_.nodes[at];
  node.type = definition.type;
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
  graph_.nodes[static_cast<size_t>(edge.node)].input = std::move(input);
  return edge;
}

/// Listed nodes that are wired, everything that they read or wait for, and results that return one of them.
std::vector<bool> StepNodes::needed() const {
  std::vector<bool> needed(graph_.nodes.size(), false);
  std::vector<size_t> open;
  const auto visit = [&](int32_t node) {
    if (node < 0 || needed[static_cast<size_t>(node)] || !wired_[static_cast<size_t>(node)]) return;
    needed[static_cast<size_t>(node)] = true;
    open.push_back(static_cast<size_t>(node));
  };
  for (size_t at = 0; at < listed_; ++at) visit(static_cast<int32_t>(at));
  while (!open.empty()) {
    const Node& node = graph_.nodes[open.back()];
    open.pop_back();
    for (const Edge& edge : node.inputs) visit(edge.node);
    for (const int32_t before : node.control) visit(before);
  }
  for (size_t at = listed_; at < graph_.nodes.size(); ++at) {
    const Node& node = graph_.nodes[at];
    if (node.type == "_Retval") needed[at] = needed[static_cast<size_t>(node.inputs[0].node)];
  }
  return needed;
}

/// What the model knows goes into the node's operator.
void StepNodes::describe(Node& node) const {
  if (node.op.type != node.type) {
    node.op.type = node.type;
    node.op.type_from = model::Known::by_model;
    node.op.launches = launches_of(node.type);
    node.op.phase = phase_of(node.name, node.type);
  }
  node.op.shape = shapes_text(node.shapes);
  node.op.shape_from = node.shapes.empty() ? model::Known::no : model::Known::by_model;
  for (const Edge& edge : node.inputs) {
    const std::string& from = graph_.nodes[static_cast<size_t>(edge.node)].name;
    node.op.inputs.push_back(edge.port == 0 ? from : fmt::format("{}:{}", from, edge.port));
  }
  for (const int32_t before : node.control) node.op.inputs.push_back("^" + graph_.nodes[static_cast<size_t>(before)].name);
  node.op.attributes = json_of(node.attributes, node.op.attributes);
}

StepNodes::Result StepNodes::finish() && {
  const std::vector<bool> kept = needed();
  for (size_t at = 0; at < kept.size(); ++at)
    if (kept[at]) describe(graph_.nodes[at]);
  Result result;
  result.operators.reserve(kept.size());
  std::vector<int32_t> renumbered(kept.size(), -1);
  for (size_t at = 0; at < kept.size(); ++at) {
    Node& node = graph_.nodes[at];
    const bool launches = node.op.launches != model::Launches::nothing;
    if (at < listed_ || (kept[at] && launches)) result.operators.push_back(handed_over(node.op));
    if (!kept[at]) continue;
    (at < listed_ ? result.wired : result.implied) += 1;
    result.launching += at >= listed_ && launches ? 1 : 0;
    renumbered[at] = static_cast<int32_t>(result.graph.nodes.size());
    result.graph.nodes.push_back(std::move(node));
  }
  for (Node& node : result.graph.nodes) {
    for (Edge& edge : node.inputs) edge.node = renumbered[static_cast<size_t>(edge.node)];
    for (int32_t& before : node.control) before = renumbered[static_cast<size_t>(before)];
  }
  result.graph.name = std::move(graph_.name);
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
