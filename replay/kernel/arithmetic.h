// What HLO's elementwise ops mean, in primitive nodes: once for all devices. Numbers as XLA's CPU compiler has them, but subnormals are
// kept.
#pragma once

#include <span>

#include "replay/kernel/graph.h"
#include "src/base/result.h"
#include "src/ir/attr.h"
#include "src/ir/op.h"

namespace kernel {

/// A value of an HLO type in a register of register_of(type).
struct Typed {
  NodeId node = -1;
  ir::Type type = ir::Type::f32;
};

struct ElementOp {
  ir::Op op = ir::Op::add;
  ir::Type type = ir::Type::f32;                  ///< of the result
  ir::Compare compare;                            ///< of compare
  int64_t exponent_bits = 8, mantissa_bits = 23;  ///< of reduce-precision
};
/// The result is not rounded to a small float. Error: an op that has no elementwise meaning here.
base::Result<NodeId> elementwise(Graph& graph, const ElementOp& op, std::span<const Typed> in);

/// Small floats stay f32 values: no rounding.
NodeId convert(Graph& graph, Typed value, ir::Type to);

inline NodeId is_nan(Graph& graph, NodeId x) { return graph.compare(Predicate::uno, x, x); }

// storage.cc
/// An f32 value rounded to the precision of a small float; others as they are.
NodeId rounded(Graph& graph, NodeId value, ir::Type type);
/// An i8 value as an integer of less than 8 bits has it: the other bits are copies of the sign, or 0. Others as they are.
NodeId wrapped(Graph& graph, NodeId value, ir::Type type);
/// Between registers and memory: pred i1 ↔ i8, small floats ↔ f32; complex: of a part. Rounds to nearest even.
NodeId to_storage(Graph& graph, NodeId value, ir::Type type);
NodeId from_storage(Graph& graph, NodeId value, ir::Type type);

/// Bits of an element as XLA counts them: s4 4, f8 8.
int bits_of(ir::Type type);
/// The bits of a value in the integer register of its storage, and back from any integer register; what is above bits_of is 0.
NodeId pattern_of(Graph& graph, Typed value);
NodeId from_pattern(Graph& graph, NodeId bits, ir::Type type);

/// Ops on pairs (complex.cc); -1: has no meaning.
NodeId complex_op(Graph& graph, const ElementOp& op, std::span<const Typed> in);

/// Inline f32 functions (functions.cc): max. 1.5 to 2.3 ulp, right at infinities, NaN, zeros and subnormals.
NodeId exp_f32(Graph& graph, NodeId x);
NodeId log_f32(Graph& graph, NodeId x);
NodeId tanh_f32(Graph& graph, NodeId x);
NodeId tanh_f16(Graph& graph, NodeId x);  ///< in f32 with 18 bits, for results of 11 or fewer
NodeId logistic_f32(Graph& graph, NodeId x);

}  // namespace kernel
