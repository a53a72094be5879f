// The nodes of a step while a model wires them: those of a list by name, and those that the model implies and the list lacks.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "importers/tensorflow/graph.h"
#include "importers/tensorflow/names.h"
#include "src/ir/hash_index.h"

namespace importers::tensorflow {

using Dims = std::vector<int64_t>;
using Attributes = std::map<std::string, Attribute, std::less<>>;

struct Definition {
  std::string_view type;
  std::vector<Edge> inputs = {};
  std::vector<ir::Shape> shapes = {};
  Attributes attributes = {};
};

class StepNodes {
 public:
  StepNodes(std::string name, std::vector<model::Operator> listed);

  bool is_listed(std::string_view name) const { return static_cast<uint64_t>(position(name)) < listed_; }
  /// The first of these names that the list has, else the first.
  std::string pick(std::initializer_list<std::string> names) const;
  const Node& node(Edge edge) const { return graph_.nodes[static_cast<size_t>(edge.node)]; }
  /// nullptr: neither listed nor implied so far.
  const Node* find(std::string_view name) const;
  size_t listed() const { return listed_; }
  const std::string& name(size_t node) const { return graph_.nodes[node].name; }
  const std::string& type(size_t node) const { return graph_.nodes[node].op.type; }

  /// Output 0 of the node of this name, made if the list lacks it. A node is wired once: the first definition stays.
  Edge define(std::string name, Definition definition);
  Edge constant(std::string name, Array value);
  /// A vector of int32, or [n, 2] in rows.
  Edge integers(std::string name, const Dims& values, bool rows = false);
  Edge parameter(std::string name, std::string_view type, const ir::Shape& shape, std::string input);
  void run_after(Edge node, Edge before) { graph_.nodes[static_cast<size_t>(node.node)].control.push_back(before.node); }

  /// The graph of all nodes that are wired: listed ones, and what they need of the implied ones. The operators of the list, with what the
  /// model tells of them, followed by implied ones that launch something.
  struct Result {
    Graph graph;
    std::vector<model::Operator> operators;
    int64_t wired = 0, implied = 0, launching = 0;  ///< listed nodes in the graph; implied ones in it, and those of them that launch
  };
  Result finish() &&;

 private:
  int64_t position(std::string_view name) const;  ///< -1: there is no such node
  std::vector<bool> needed() const;
  void describe(Node& node) const;

  Graph graph_;
  ir::HashIndex index_;  ///< of nodes by name
  size_t listed_ = 0;
  std::vector<bool> wired_;
};

/// Constants.
Array integer_array(const Dims& values, const Dims& dims, ir::Type type = ir::Type::s32);
Array filled_array(ir::Type type, const Dims& dims, double value);

}  // namespace importers::tensorflow
