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
#include <map>
#include <string>
#include <unordered_map>

#include "replay/reference/values.h"
#include "src/ir/attr.h"

namespace replay::reference {

class Interpreter;
struct Frame;

/// Where floats are rounded inside a frame.
enum class Round : uint8_t {
  none,   ///< nowhere: reducers
  inner,  ///< small floats like f32: fusions with rounding at the border
  each,   ///< to the declared type
};

/// An array that is there as a whole: bytes in the physical order of `shape`, or values in logical order.
struct Array {
  ir::Shape shape;
  const std::byte* data = nullptr;
  std::vector<int64_t> strides;  ///< of the bytes; empty: logical row-major order
  std::shared_ptr<const std::vector<std::byte>> owner;
  Batch values;
};
using ArrayPtr = std::shared_ptr<const Array>;
using Leaves = std::vector<ArrayPtr>;

/// One request to an op.
struct Call {
  Interpreter& in;
  Frame& frame;
  ir::InstrId id;
  const ir::Instr& instr;
  const ir::Shape& shape;  ///< of the leaf asked for
  int leaf;
  const IndexList& at;

  const ir::Module& module() const;
  size_t count() const { return at->size(); }
  /// Shape of operand k (a leaf of it).
  const ir::Shape& operand_shape(size_t k, int leaf = 0) const;
  /// Operand k at the same indices, at others, at one element.
  Batch operand(size_t k) const;
  Batch operand(size_t k, Indices indices, int leaf = 0) const;
  Values scalar(size_t k, int leaf = 0) const;
  /// Like operand(k, indices) for lists with many repetitions: each element is asked for once.
  Batch gathered(size_t k, const Indices& indices, int leaf = 0) const;
  /// All elements of operand k, kept in the frame.
  Batch whole(size_t k, int leaf = 0) const;
  Batch fail(const std::string& why) const;
};

using EvalFn = Batch (*)(const Call&);
using WholeFn = std::vector<Values> (*)(const Call&);  ///< all elements of all leaves

/// A row of the table of ops; exactly one function is set.
struct OpRow {
  ir::Op op;
  EvalFn eval = nullptr;
  WholeFn whole = nullptr;
  bool rounds = true;  ///< false: values pass unchanged
  bool heavy = false;  ///< many operand elements an element: remembered in fusions
  bool lanes = false;  ///< may stand in the scalar computation of a reduce, a sort, …
};
const OpRow* find_row(ir::Op op);

/// One activation of a computation.
struct Frame {
  ir::CompId comp = 0;
  Frame* caller = nullptr;  ///< parameters are operands of `call` there
  ir::InstrId call = 0;
  Round round = Round::each;
  const std::vector<Batch>* lanes = nullptr;  ///< scalar computation: values of the parameters, one element a lane; its lists are n zeros
  bool in_lanes = false;                      ///< this frame or a caller has lanes
  std::unordered_map<ir::InstrId, Leaves> given;
  /// Elements computed so far of (instruction, leaf).
  struct Partial {
    Values values;
    std::unordered_map<int64_t, int64_t> slot;  ///< index → position
  };
  std::map<std::pair<ir::InstrId, int>, Partial> partial;
  std::map<std::pair<ir::InstrId, int>, Batch> dense;
  std::map<std::pair<ir::InstrId, int>, int64_t> asked;
  std::map<ir::InstrId, std::shared_ptr<void>> notes;   ///< what an op prepares once: the inverse of scatter indices
  std::map<ir::InstrId, std::unique_ptr<Frame>> inner;  ///< of fusions and calls
};

constexpr size_t kBatch = 4096;  ///< elements of the outermost result that are computed together

class Interpreter {
 public:
  Interpreter(const ir::Module& module, Rounding rounding) : module_(module), rounding_(rounding) {}

  const ir::Module& module() const { return module_; }
  Rounding rounding() const { return rounding_; }
  bool bounds() const { return bounds_; }
  void want_bounds(bool wanted) { bounds_ = wanted; }

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
  /// A scalar computation on lanes: arguments are leaf values of equal size; returns all leaves of the root.
  std::vector<Values> run_lanes(ir::CompId comp, const std::vector<Batch>& arguments);

  /// The one object for a list in the current scope.
  IndexList intern(Indices indices);
  /// Runs `work` with a scope of its own.
  void in_scope(const std::function<void()>& work);
  /// Rounds to what `frame` asks of `type` and adds to the bounds what a device's rounding may differ by.
  void round(const Frame& frame, ir::Type type, Values& values) const;

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
  bool asked_too_often(Frame& frame, ir::InstrId id, const ir::Shape& shape, int leaf, size_t count) const;
  ArrayPtr pack(Values&& values, const ir::Shape& shape) const;

  const ir::Module& module_;
  const Rounding rounding_;
  bool bounds_ = false, failed_ = false;
  std::string failure_;
  int depth_ = 0;
  Scope* scope_ = nullptr;
  std::unordered_map<ir::CompId, std::vector<int>> uses_;
  std::unordered_map<uint32_t, std::vector<int>> offsets_;
};

/// Elements of an array.
Values load(Interpreter& in, const Array& array, const Indices& at);
/// Logical row-major strides.
Indices row_major(const std::vector<int64_t>& dims);
/// base + Σ coordinate[d] · stride[d] for each index into an array of `dims`.
Indices affine(const std::vector<int64_t>& dims, const Indices& strides, int64_t base, const Indices& at);

/// Coordinates of indices that mostly follow each other: one division a dimension only where they do not.
class Walker {
 public:
  explicit Walker(const std::vector<int64_t>& dims) : dims_(dims), at_(dims.size()) {}
  const Indices& move_to(int64_t index) {
    if (index == last_ + 1 && last_ >= 0) {
      for (size_t d = dims_.size(); d-- > 0;) {
        if (++at_[d] < dims_[d]) break;
        at_[d] = 0;
      }
    } else if (index != last_) {
      int64_t rest = index;
      for (size_t d = dims_.size(); d-- > 0; rest /= dims_[d]) at_[d] = rest % dims_[d];
    }
    last_ = index;
    return at_;
  }

 private:
  const std::vector<int64_t>& dims_;
  Indices at_;
  int64_t last_ = -1;
};

}  // namespace replay::reference
