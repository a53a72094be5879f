// Which instructions of a module do the same. Programs repeat their layers: what follows from an instruction's opcode, attributes, shapes
// and callees alone (whether it is well formed, what it costs) is found once for all that are alike.
#pragma once

#include <cstdint>
#include <vector>

#include "src/ir/module.h"

namespace ir {

class Alike {
 public:
  /// Operands must stand before their users, callees before their callers (verify.h). The module must outlive this and stay as it is.
  explicit Alike(const Module& module);

  /// Equal numbers: equal opcodes, attributes, shapes of result and operands, the same value twice among the operands or not, and callees
  /// that differ in names, metadata and values of constants at most. Numbers are dense.
  size_t number(const Computation& comp, const Instr& instr);

 private:
  void begin(const Instr& instr);
  void begin_body(const Computation& comp);
  uint32_t number_of_key();

  const Module& module_;
  Strings keys_;                  ///< one of an instruction or of a body: 32-bit numbers as bytes
  std::vector<uint32_t> bodies_;  ///< by CompId; the last computation is nobody's callee and has none
  std::vector<uint32_t> key_;     ///< in hand
};

}  // namespace ir
