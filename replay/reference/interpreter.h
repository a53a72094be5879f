// How values are asked for: frames of computations, batches of indices, and what is remembered between them.
//
// eval(frame, instruction, leaf, indices) asks the instruction's op, which asks its operands at the indices that it needs. An element is
// computed when it is asked for, so a sample of a large step costs little. Three things keep that from growing without bound:
//   * within a scope (one batch of the outermost result) equal index lists are one object, and (instruction, list) is computed once;
//   * results of reductions and products inside fusions are remembered by element in their frame;
//   * an instruction that was asked for more elements than it has, several times over, is computed as a whole and kept.
// Errors are sticky, like a stream's: an op that cannot go on calls fail() and returns zeros; run() and elements() look at the end.
#pragma once

#include <functional>

#include "replay/reference/frame.h"
#include "replay/reference/indices.h"

namespace replay::reference {

class Interpreter {
 public:
  Interpreter(const ir::Module& module, Rounding rounding);

  const ir::Module& module() const { return module_; }
  Rounding rounding() const { return rounding_; }
  bool bounds() const { return bounds_; }
  void want_bounds(bool wanted) { bounds_ = wanted; }
  /// What replica-id and partition-id give.
  void be_device(int64_t replica, int64_t partition) { replica_ = replica, partition_ = partition; }
  int64_t replica() const { return replica_; }
  int64_t partition() const { return partition_; }

  void fail(const std::string& why);
  bool failed() const { return failed_; }
  /// The first failure since the last call.
  base::Status take_failure();

  /// Values of a leaf at some indices.
  Batch eval(Frame& frame, ir::InstrId id, int leaf, const IndexList& at);
  /// All elements, in pieces with a scope each.
  Values eval_all(Frame& frame, ir::InstrId id, int leaf);
  /// All leaves as arrays; tuples and the like share those of their operands.
  Leaves materialise(Frame& frame, ir::InstrId id);
  /// Runs a computation in order, as a whole.
  Leaves run(ir::CompId comp, const std::vector<Leaves>& arguments, Round round);
  /// A scalar computation on lanes: arguments are leaf values of equal size; returns all leaves of the root (of `wanted`; nothing
  /// where the computation makes arrays inside).
  std::vector<Values> run_lanes(ir::CompId comp, const std::vector<Batch>& arguments);
  std::vector<Values> run_lanes(ir::CompId comp, const std::vector<Batch>& arguments, ir::InstrId wanted);

  /// The one object for a list in the current scope.
  IndexList intern(Indices indices);
  /// Runs `work` with a scope of its own.
  void in_scope(const std::function<void()>& work);
  /// Rounds to what `frame` asks of `type` and adds to the bounds what a device's rounding may differ by.
  void round(const Frame& frame, ir::Type type, Values& values) const;

  /// All values of an array, to be kept.
  ArrayPtr pack(Values&& values, const ir::Shape& shape) const;
  int leaf_count(const ir::Shape& shape) const;
  const ir::Shape& leaf_shape(const ir::Shape& shape, int leaf) const;
  /// Leaves before element k of a tuple.
  int leaf_offset(ir::ShapeId shape, int64_t k);

 private:
  struct Key {
    const Frame* frame;
    ir::InstrId id;
    int leaf;
    const Indices* at;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };
  struct Scope {
    std::unordered_map<Key, Batch, KeyHash> memo;
    std::unordered_multimap<uint64_t, IndexList> lists;
  };

  const std::vector<int>& uses(ir::CompId comp);
  Batch compute(const OpRow& row, const Call& call);
  Batch remembered(const OpRow& row, const Call& call);
  Leaves whole_leaves(const OpRow& row, Frame& frame, ir::InstrId id);
  Leaves evaluated_leaves(Frame& frame, ir::InstrId id);
  /// Scalars and ops on lanes only, also in what it calls.
  bool fits_lanes(ir::CompId comp);
  std::vector<Values> run_each(ir::CompId comp, const std::vector<Batch>& arguments);
  /// A size of its result or operands that is known at run time only (`?`) fails.
  bool knows_sizes(ir::CompId comp, const ir::Instr& instr);
  bool asked_too_often(Frame& frame, ir::InstrId id, const ir::Shape& shape, int leaf, size_t count) const;

  const ir::Module& module_;
  const Rounding rounding_;
  const bool open_sizes_;  ///< does the module have any?
  bool bounds_ = false, failed_ = false;
  std::string failure_;
  int depth_ = 0;
  int64_t replica_ = 0, partition_ = 0;
  Scope* scope_ = nullptr;
  std::unordered_map<ir::CompId, std::vector<int>> uses_;
  std::unordered_map<ir::CompId, bool> fits_lanes_;
  std::unordered_map<uint32_t, std::vector<int>> offsets_;
};

/// Operands before users, in whatever order the text has them.
std::vector<ir::InstrId> operands_first(const ir::Computation& comp);
/// evaluator.cc: leaves in order, and a tensor of them; the tensor that they come from outlives them.
Leaves leaves_of(const Tensor& tensor);
Tensor tensor_of(const ir::Shape& shape, const Leaves& leaves);
/// Elements of an array.
Values load(Interpreter& in, const Array& array, const Indices& at);

}  // namespace replay::reference
