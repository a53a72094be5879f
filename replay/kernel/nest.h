// What a kernel does, before any schedule: loops with values to compute and places to put them. Device-free.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replay/kernel/graph.h"

namespace kernel {

/// An array that a kernel touches.
struct Array {
  enum class Kind : uint8_t {
    operand,   ///< `position` in args
    output,    ///< `position` in args
    shared,    ///< at `offset` bytes of the shared scratch
    constant,  ///< `data`, part of the code
    thread,    ///< at `offset` bytes of the thread's scratch
  } kind = Kind::operand;
  int position = 0;
  int64_t offset = 0, bytes = 0;
  std::vector<std::byte> data;
};

struct Store {
  int array = 0;
  Index at;           ///< element
  NodeId value = -1;  ///< of the storage type
};

/// Combines values over the loops of a stage. n values at once (n > 1: tuples).
struct Reduction {
  std::vector<NodeId> values;
  std::vector<NodeId> start;     ///< what accumulators hold at first: the identity
  std::vector<NodeId> combined;  ///< n nodes over parameters 0 … n-1 (so far) and n … 2n-1 (new)
  std::vector<NodeId> results;   ///< n nodes `result`
  bool in_order = false;         ///< one accumulator, one value after another
  bool guarded = false;          ///< the last component says whether there is a value
};

/// Loops inside the outer loops of a nest. Stages run one after another; later ones may use the results of earlier ones.
struct Stage {
  std::vector<TermId> loops;
  std::vector<Reduction> reductions;
  std::vector<Store> stores;  ///< in each iteration
  NodeId condition = -1;      ///< the stage is skipped where this is false; it depends on outer loops only
};

/// Rows of elements in pairs of arrays, to be sorted: at first in the first array of each pair.
struct Merge {
  /// An element is one value of each column. A complex value is two columns that share their arrays.
  struct Column {
    int arrays[2];
    Reg reg = Reg::f32;              ///< in memory
    int64_t stride = 1, offset = 0;  ///< of element i: i · stride + offset
    bool predicate = false;          ///< i8 in memory, i1 for `before`
  };
  int64_t rows = 0, length = 0;
  std::vector<Column> columns;
  Reduction before;  ///< combined[0]: does the element of parameters 0 … n-1 come before that of n … 2n-1
};
/// The array of a pair in which the sorted rows end.
int sorted_in(int64_t length);

struct Nest {
  std::optional<Merge> merge;  ///< sorts; everything else is empty
  std::vector<TermId> outer;   ///< independent iterations
  std::vector<Stage> stages;
  std::vector<Store> finish;  ///< after all stages, once an outer iteration
  /// Updates in order: the outer loops run serially on every thread; each thread stores only where `condition` holds, which compares with
  /// the thread's range of `owned` destination rows through the terms `first_owned`, `end_owned`.
  bool serial = false;
  int64_t owned = 1;
  TermId first_owned = -1, end_owned = -1;
  int skip_if_same[2] = {-1, -1};  ///< arrays: nothing to do where both are the same memory
};

/// All nests of a kernel, in order, with a barrier between.
struct Lowered {
  Graph graph;
  std::vector<Array> arrays;  ///< operands, outputs, then what lowering added
  std::vector<Nest> nests;
  int operands = 0, outputs = 0;
  int64_t shared_bytes = 0;
  std::vector<std::pair<int, int>> may_share;  ///< (operand, output): the output may be in the operand's memory
};

std::string print(const Lowered& lowered);

}  // namespace kernel
