// Writes the values of a nest into a flat list: each node at the loop that it depends on, in as many vectors as are interleaved.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "replay/kernel/list.h"
#include "replay/kernel/nest.h"

namespace kernel {

/// How the loop that runs now is spread over vectors.
struct Spread {
  int lanes = 1;      ///< of the vector loop
  int vectors = 1;    ///< interleaved along the vector loop
  int rows = 1;       ///< interleaved along the row loop
  ValueId mask = -1;  ///< lanes that exist
};

class Emitter {
 public:
  Emitter(List& list, const Lowered& lowered) : list(list), lowered_(lowered), graph_(lowered.graph) {}

  List& list;

  /// Scopes end with the loop that they belong to; what was emitted in them is forgotten.
  void push();
  void pop();
  /// A loop variable: one value; the vector loop (lanes follow from the spread); or one value per interleaved row.
  void bind(TermId variable, ValueId value);
  void bind_vector(TermId variable, ValueId first);
  void bind_rows(TermId variable, std::vector<ValueId> values);
  void bind_node(NodeId node, std::vector<ValueId> values, bool vector, bool rows);
  Spread spread;
  bool in_vector_loop() const { return vector_ >= 0; }

  /// Emits all nodes below `roots` that depend on bound variables only and are not there yet. Called at every loop, with everything that
  /// the loops inside need: what does not change in them stays out of them.
  void prepare(const std::vector<NodeId>& roots);
  /// Copy (row, vector) of a node that was prepared, in `lanes` lanes.
  ValueId value(NodeId node, int row, int vector, int lanes);
  ValueId value(NodeId node) { return value(node, 0, 0, 1); }
  ValueId scalar_index(const Index& index, int row);
  /// `masked` by spread.mask.
  void store(const Store& store, bool streaming);
  /// combined(old, fresh): n new accumulators.
  std::vector<ValueId> combine(const Reduction& reduction, const std::vector<ValueId>& old, const std::vector<ValueId>& fresh);
  bool is_vector(NodeId node) { return depends(node) & kVector; }
  bool is_vector(const Index& index) { return depends(index) & kVector; }

  /// Loads that read a tile instead of their array: address by array and index.
  struct Tile {
    int array;
    Index at;
  };
  std::map<NodeId, Tile> tiles;

 private:
  static constexpr unsigned kVector = 1, kRows = 2, kUnbound = 4;
  struct Values {
    std::vector<ValueId> ids;
    bool vector = false, rows = false;
  };
  struct Scope {
    std::unordered_map<NodeId, Values> nodes;
    std::map<std::pair<TermId, int>, ValueId> terms;  ///< scalar terms by row
    std::map<std::pair<ValueId, int>, ValueId> splats;
    std::unordered_map<NodeId, unsigned> depends;
    std::map<TermId, unsigned> term_depends;
  };
  struct Bound {
    std::vector<ValueId> ids;
    bool vector = false;
  };
  unsigned depends(NodeId node);
  unsigned depends(const Index& index);
  unsigned depends_term(TermId term);
  const Values* find(NodeId node) const;
  void emit(NodeId node);
  ValueId emit_copy(const Node& node, int row, int vector, int lanes);
  void prefetch(int array, ValueId pointer);
  Values emit_load(NodeId id, unsigned how);
  std::vector<ValueId> joined(std::vector<ValueId> parts);
  void store_row(const Store& store, int row, bool vector, bool streaming);
  ValueId scalar_term(TermId term, int row);
  ValueId vector_term(TermId term, int row, int vector, Reg reg);
  ValueId vector_index(const Index& index, int row, int vector, Reg reg);
  ValueId spread_to(ValueId value, int lanes);
  Scope& top() { return scopes_.back(); }
  void forget_dependences();
  bool contiguous(const Index& index);

  const Lowered& lowered_;
  const Graph& graph_;
  std::vector<Scope> scopes_{1};
  std::map<TermId, Bound> bound_;
  std::vector<std::vector<TermId>> bound_in_{{}};
  TermId vector_ = -1, rows_ = -1;
};

}  // namespace kernel
