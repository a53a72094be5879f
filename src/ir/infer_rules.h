// What the inference rules share. A rule sees one instruction and returns its shape or the rule that is broken.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>

#include "src/ir/attr.h"
#include "src/ir/infer.h"

namespace ir::rules {

/// One instruction with its operands' shapes.
struct In {
  const Module& module;
  const Computation& comp;
  const Instr& instr;

  size_t count() const { return instr.operands.size(); }
  const Shape& operand(size_t i) const { return module.shape(comp.instrs[static_cast<size_t>(instr.operands[i])]); }
  /// The shape as written, if it is.
  const Shape* declared() const { return instr.shape == kNoShape ? nullptr : &module.shape(instr.shape); }
  std::vector<int64_t> dims(std::string_view key) const { return attr_dims(module, instr, key); }
  /// Root shape of the first computation under `key`; nullptr if there is none.
  const Shape* result_of(std::string_view key) const;
};

using Rule = Inferred (*)(const In&);

template <typename... Args>
Inferred broken(fmt::format_string<Args...> format, Args&&... args) {
  return {Inferred::broken, {}, fmt::format(format, std::forward<Args>(args)...)};
}
inline Inferred follows(Shape shape) { return {Inferred::follows, std::move(shape), {}}; }
inline Inferred as_written() { return {}; }
inline std::string show(const Shape& shape) { return print(shape, LayoutPrint::without); }

/// a + b, a · b without overflow: clamped to ±2^62.
int64_t add(int64_t a, int64_t b);
int64_t multiply(int64_t a, int64_t b);
/// Size of one dimension after a window has moved over it.
int64_t windowed(int64_t size, const WindowDim& window);
/// Every dimension in [0, rank), none twice.
bool are_dims(std::span<const int64_t> dims, int64_t rank);
Shape with_type(Shape shape, Type type);

/// Why the computations that an instruction applies to single elements don't fit it; "" if they do. Once the rule of its op has accepted
/// the operands (infer_callee.cc).
std::string callee_problem(const In& in);

Rule movement_rule(Op op);     ///< infer_move.cc
Rule indexed_rule(Op op);      ///< infer_indexed.cc: gather, scatter
Rule contraction_rule(Op op);  ///< infer_contract.cc: products, reductions, windows
Rule control_rule(Op op);      ///< infer_control.cc: calls, loops, tuples, tokens
Rule collective_rule(Op op);   ///< infer_collective.cc: between devices, asynchronous pairs
Rule special_rule(Op op);      ///< infer_special.cc: solvers, random numbers, normalisation, and what else has rules of its own

}  // namespace ir::rules
