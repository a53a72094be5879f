// Writes the loops of a part: vector loops with their tails, serial loops, the split over threads, stages of a nest.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "replay/kernel/analyse.h"
#include "replay/kernel/emit.h"
#include "replay/kernel/kernel.h"

namespace kernel {

/// from … to, at most `extent`; exact: always that many.
struct Span {
  ValueId from = -1, to = -1;
  int64_t extent = 1;
  bool exact = true;
};

class Writer {
 public:
  Writer(List& list, const Lowered& lowered, const Target& target)
      : list(list), emit(list, lowered), graph_(lowered.graph), target_(target) {}

  List& list;
  Emitter emit;
  using Body = std::function<void()>;

  Span whole(int64_t extent) { return {list.integer(0), list.integer(extent), extent, true}; }
  /// Block `number` of `size` iterations of a loop of `extent`.
  Span block(ValueId number, int64_t size, int64_t extent);
  /// The body runs for vectors · lanes iterations at once, then for the rest: masked where the target has masks, else one by one.
  void vector_loop(TermId variable, const Span& span, int vectors, const Body& body);
  void serial_loop(TermId variable, const Span& span, const Body& body);
  /// `at_once` rows from distant parts of the span together, then the rest one by one.
  void row_loop(TermId variable, const Span& span, int at_once, const Body& body);
  void serial_loops(const std::vector<Loop>& loops, size_t first, const Body& body);
  /// The iterations begin … end of a part: `loops` flattened, the last one fastest.
  void parallel(const std::vector<Loop>& loops, const std::function<void(ValueId)>& body);
  ValueId minimum(ValueId a, ValueId b);

  /// Loops of a stage that run over less than their whole extent.
  std::map<TermId, Span> spans;
  /// Accumulates over a stage's loops and binds its results (scalars, or vectors where an outer loop is the vector loop).
  void stage(const Stage& stage, int vectors);
  void store_all(const std::vector<Store>& stores);
  /// Arrays whose stores pass the caches by.
  std::set<int> streamed;
  std::vector<NodeId> everything(const Nest& nest) const;
  Span span_of(const Loop& loop);

 protected:
  struct Cells {
    std::vector<ValueId> vectors;
    ValueId scalar = -1;
  };
  void once(TermId variable, ValueId first, int lanes, int vectors, ValueId mask, const Body& body);
  void tail(TermId variable, ValueId from, const Span& span, int64_t rest, const Body& body);
  void stage_in_vector_loop(const Stage& stage, const std::vector<Loop>& loops);
  void stage_with_vector_loop(const Stage& stage, std::vector<Loop> loops, TermId across, int vectors);
  void accumulate(const Reduction& reduction, const std::vector<Cells>& cells);
  std::vector<ValueId> gathered(const Reduction& reduction, const std::vector<Cells>& cells);
  std::vector<Cells> cells_of(const Reduction& reduction, int lanes, int vectors, bool scalar);

  const Graph& graph_;
  const Target& target_;
};

/// Outermost first by the coefficients of the largest access.
void sort_by_stride(const Footprint& print, const Graph& graph, std::vector<Loop>& loops);
/// The loop in which most bytes are contiguous; -1 if there is none.
TermId contiguous_loop(const Graph& graph, const Footprint& print, const std::vector<Loop>& loops);

}  // namespace kernel
