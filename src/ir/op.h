// The opcodes: one table, op.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ir {

enum class Op : uint8_t {
#define OP(identifier, text, operands, cls) identifier,
#include "src/ir/op.def"
#undef OP
};

enum class OpClass : uint8_t { source, math, transcendental, move, contract, reduce, control, collective, alias, order, other };

struct OpInfo {
  std::string_view text;
  int operands;  ///< -1: any number
  OpClass cls;
};

const OpInfo& info(Op op);
inline std::string_view text(Op op) { return info(op).text; }
std::optional<Op> find_op(std::string_view text);
/// The nearest opcode, for "did you mean 'add'?"; "" when none is near.
std::string_view nearest_op(std::string_view text);
inline bool is_elementwise(Op op) { return info(op).cls == OpClass::math || info(op).cls == OpClass::transcendental; }

}  // namespace ir
