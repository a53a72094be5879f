// One activation of a computation, one request to an op, and a row of the table of ops.
#pragma once

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

}  // namespace replay::reference
