// A TensorFlow graph, wherever it comes from: a GraphDef's text, or the names of a list and the model that they tell.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/ir/literal.h"
#include "src/ir/shape.h"
#include "src/model/operator_records.h"

namespace importers::tensorflow {

/// A constant of the graph.
struct Array {
  ir::Shape shape;
  ir::Literal literal;
};

/// Types (DT_FLOAT) are ir::Type, shapes are their sizes (-1: not known), functions and everything else are texts as written.
using Attribute =
    std::variant<bool, int64_t, double, std::string, ir::Type, std::vector<int64_t>, std::vector<double>, std::vector<std::string>, Array>;

/// Output `port` of a node of the graph.
struct Edge {
  int32_t node = -1;
  int32_t port = 0;
};

struct Node {
  std::string name, type;        ///< type "Conv2D"; "": not known, and then it is not lowered
  std::vector<Edge> inputs;      ///< of data, in order
  std::vector<int32_t> control;  ///< nodes that must run before
  std::map<std::string, Attribute, std::less<>> attributes;
  std::vector<ir::Shape> shapes;  ///< of its outputs as the program tells them or the model implies; empty: not told
  model::Operator op;             ///< what the store gets: name, type, scope, phase, launches, line, …
  std::string input;              ///< of a variable or feed: how a replay fills it, a recipe; "": by use
};

/// Attributes by name, with the value that holds where the program leaves them out.
template <typename T>
T attribute(const Node& node, std::string_view name, T otherwise) {
  const auto found = node.attributes.find(name);
  const T* value = found == node.attributes.end() ? nullptr : std::get_if<T>(&found->second);
  return value == nullptr ? otherwise : *value;
}

struct Graph {
  std::string name;
  std::vector<Node> nodes;  ///< in the program's order, which need not be that of the data
};

}  // namespace importers::tensorflow
