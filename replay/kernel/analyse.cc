// Two loops are one when every index has the outer coefficient = the inner coefficient times the inner extent: walking the inner loop
// further is walking the outer one. Elementwise work on arrays of equal layout becomes a single loop that way.
#include "replay/kernel/analyse.h"

#include <algorithm>

namespace kernel {
namespace {

struct Walk {
  const Graph& graph;
  Footprint print;
  std::vector<bool> term_seen;

  void index(const Index& at) {
    print.indices.push_back(at);
    for (const auto& [t, c] : at.terms) term(t);
  }
  void term(TermId id) {
    if (term_seen[static_cast<size_t>(id)]) return;
    term_seen[static_cast<size_t>(id)] = true;
    const Term& t = graph.terms[id];
    if (t.kind == Term::Kind::value) node(t.node);
    if (t.kind == Term::Kind::quotient || t.kind == Term::Kind::remainder) index(t.base);
  }
  void node(NodeId id) {
    std::vector<NodeId> todo{id};
    while (!todo.empty()) {
      const NodeId next = todo.back();
      todo.pop_back();
      if (next < 0 || print.in[static_cast<size_t>(next)]) continue;
      print.in[static_cast<size_t>(next)] = true;
      const Node& n = graph[next];
      todo.insert(todo.end(), n.in.begin(), n.in.end());
      if (n.code == Code::load) print.accesses.push_back({static_cast<int>(n.imm), n.type, n.index, false, next});
      if (n.code == Code::load || n.code == Code::index) index(n.index);
    }
  }
};

}  // namespace

Footprint footprint(const Graph& graph, const std::vector<NodeId>& roots, const std::vector<Store>& stores) {
  Walk walk{graph, {}, std::vector<bool>(graph.terms.size())};
  walk.print.in.resize(graph.size());
  for (const NodeId id : roots) walk.node(id);
  for (const Store& s : stores) {
    walk.node(s.value);
    walk.index(s.at);
    walk.print.accesses.push_back({s.array, graph.type(s.value), s.at, true, -1});
  }
  for (size_t id = 0; id < walk.print.in.size(); ++id)
    if (walk.print.in[id]) walk.print.nodes.push_back(static_cast<NodeId>(id));
  return std::move(walk.print);
}

int64_t extent_of(const Terms& terms, TermId variable) { return terms[variable].range.high + 1; }

std::vector<Loop> merged(const Terms& terms, const std::vector<TermId>& loops, const std::vector<Index>& indices,
                         std::vector<TermId>& gone) {
  std::vector<Loop> left;
  left.reserve(loops.size());
  for (const TermId v : loops) left.push_back({v, extent_of(terms, v)});
  const auto are_one = [&](const Loop& outer, const Loop& inner) {
    return std::ranges::all_of(
        indices, [&](const Index& i) { return coefficient(i, outer.variable) == coefficient(i, inner.variable) * inner.extent; });
  };
  for (bool again = true; again;) {
    again = false;
    for (size_t a = 0; a < left.size() && !again; ++a)
      for (size_t b = 0; b < left.size() && !again; ++b) {
        if (a == b || !are_one(left[a], left[b])) continue;
        left[b].extent *= left[a].extent;
        gone.push_back(left[a].variable);
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(a));
        again = true;
      }
  }
  return left;
}

/// At most 2^48, more than any memory holds: loops over arrays that are made and read inside a kernel may multiply beyond 64 bits.
int64_t product(const std::vector<Loop>& loops) {
  constexpr int64_t kMost = int64_t{1} << 48;
  int64_t p = 1;
  for (const Loop& l : loops) p = l.extent > 0 && p > kMost / l.extent ? kMost : p * l.extent;
  return p;
}

bool depends_on(const Graph& graph, NodeId node, TermId variable) {
  const Footprint print = footprint(graph, {node}, {});
  return std::ranges::any_of(print.indices, [&](const Index& i) { return coefficient(i, variable) != 0; });
}

bool depends_on(const Graph& graph, const Index& index, TermId variable) {
  for (const auto& [t, c] : index.terms) {
    if (t == variable) return true;
    const Term& term = graph.terms[t];
    if (term.kind == Term::Kind::value && depends_on(graph, term.node, variable)) return true;
    if (term.kind != Term::Kind::value && depends_on(graph, term.base, variable)) return true;
  }
  return false;
}

std::vector<NodeId> roots_of(const Stage& stage) {
  std::vector<NodeId> roots;
  for (const Reduction& r : stage.reductions) {
    roots.insert(roots.end(), r.values.begin(), r.values.end());
    roots.insert(roots.end(), r.start.begin(), r.start.end());
  }
  for (const Store& s : stage.stores) roots.push_back(s.value);
  if (stage.condition >= 0) roots.push_back(stage.condition);
  return roots;
}

int64_t elements_touched(const Graph& graph, const Access& access, const std::vector<Loop>& loops) {
  int64_t count = 1;
  for (const Loop& l : loops)
    if (depends_on(graph, access.at, l.variable)) count *= l.extent;
  return count;
}

}  // namespace kernel
