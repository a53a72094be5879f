// Questions about nests: what they touch, which loops are one, which loop is contiguous.
#pragma once

#include <vector>

#include "replay/kernel/nest.h"

namespace kernel {

struct Access {
  int array = 0;
  Reg reg = Reg::f32;
  Index at;
  bool store = false;
  NodeId node = -1;  ///< of a load
};

/// A loop of a nest after merging.
struct Loop {
  TermId variable = -1;
  int64_t extent = 1;
};

/// Everything that is needed for some nodes and stores.
struct Footprint {
  std::vector<Access> accesses;
  std::vector<Index> indices;  ///< all sums that are evaluated anywhere
  std::vector<NodeId> nodes;   ///< ascending
  std::vector<bool> in;        ///< by node
};
Footprint footprint(const Graph& graph, const std::vector<NodeId>& roots, const std::vector<Store>& stores);

/// Loops in which each pair that all indices see as one is one; the outer variable of a pair is appended to `gone` (it is 0).
std::vector<Loop> merged(const Terms& terms, const std::vector<TermId>& loops, const std::vector<Index>& indices,
                         std::vector<TermId>& gone);
int64_t extent_of(const Terms& terms, TermId variable);
int64_t product(const std::vector<Loop>& loops);
/// Does the index change with the variable, directly or through a term?
bool depends_on(const Graph& graph, const Index& index, TermId variable);
bool depends_on(const Graph& graph, NodeId node, TermId variable);
/// Values of all roots of a stage.
std::vector<NodeId> roots_of(const Stage& stage);
/// Elements that an access touches over the loops.
int64_t elements_touched(const Graph& graph, const Access& access, const std::vector<Loop>& loops);

}  // namespace kernel
