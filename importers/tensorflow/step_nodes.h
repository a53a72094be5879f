// The nodes of a step while a model wires them: those of a list by name, and those that the model implies and the list lacks.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "importers/tensorflow/graph.h"
#include "importers/tensorflow/typed_list.h"
#include "src/ir/hash_index.h"

namespace importers::tensorflow {

using Dims = std::vector<int64_t>;

struct Definition {
  std::string_view type;
  std::vector<Edge> inputs = {};
  std::vector<ir::Shape> shapes = {};
  Attributes attributes = {};
};

class StepNodes {
 public:
  StepNodes(std::string name, const TypedList& list) : name_(std::move(name)), list_(list), at_(list.size(), -1) {}

  bool is_listed(std::string_view name) const { return list_.list.find(name) >= 0; }
  /// The first of these names that the list has, else the first.
  std::string pick(std::initializer_list<std::string> names) const;
  const Node& node(Edge edge) const { return nodes_[static_cast<size_t>(at_[static_cast<size_t>(edge.node)])]; }
  /// nullptr: not wired so far.
  const Node* find(std::string_view name) const;
  size_t listed() const { return list_.size(); }
  std::string_view name(size_t place) const {
    return place < listed() ? list_.name(place) : std::string_view(nodes_[static_cast<size_t>(at_[place])].name);
  }
  std::string_view type(size_t place) const { return list_.types[place]; }

  /// Output 0 of the node of this name, made if the list lacks it. A node is wired once: the first definition stays.
  Edge define(std::string name, Definition definition);
  Edge constant(std::string name, Array value);
  /// A vector of int32, or [n, 2] in rows.
  Edge integers(std::string name, const Dims& values, bool rows = false);
  Edge parameter(std::string name, std::string_view type, const ir::Shape& shape, std::string input);
  void run_after(Edge edge, Edge before) { wired(edge).control.push_back(before.node); }

  /// The graph of all nodes that are wired: listed ones, and what they need of the implied ones.
  struct Result {
    Graph graph;
    std::vector<int32_t> nodes;      ///< of the graph, by place in the list; -1: not wired
    std::vector<int32_t> launching;  ///< implied ones that launch something
    int64_t wired = 0, implied = 0;  ///< listed nodes in the graph; implied ones in it

    size_t operators() const { return nodes.size() + launching.size(); }
  };
  Result finish() &&;

 private:
  int64_t position(std::string_view name) const;  ///< -1: there is no such node
  Node& wired(Edge edge) { return nodes_[static_cast<size_t>(at_[static_cast<size_t>(edge.node)])]; }
  bool is_wired(size_t place) const { return at_[place] >= 0; }
  std::vector<bool> needed() const;

  // Places: of the list in its order, then of what is implied. Of a large list most are in no model that is wired, and have no node.
  std::string name_;
  const TypedList& list_;
  ir::HashIndex implied_;    ///< by name, in at_ behind the list
  std::vector<int32_t> at_;  ///< by place, in nodes_; -1: not wired
  std::deque<Node> nodes_;   ///< their edges are places
};

/// What the store gets of operator i of a step: those of the list, with what the model tells of them, then implied ones that launch
/// something.
model::Operator operator_of(const TypedList& list, const StepNodes::Result& step, size_t i);

/// Constants.
Array integer_array(const Dims& values, const Dims& dims, ir::Type type = ir::Type::s32);
Array filled_array(ir::Type type, const Dims& dims, double value);

}  // namespace importers::tensorflow
