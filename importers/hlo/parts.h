// What the parser holds while names are not ids yet, and the bounds of what it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/ir/infer.h"
#include "src/ir/module.h"

namespace importers::hlo {

using ir::kNoShape;
inline constexpr int kMaxDepth = 200;                      ///< of nested shapes, literals, instructions, bodies
inline constexpr int kMaxCallDepth = 256;                  ///< of computations that call computations
inline constexpr size_t kMaxAttributes = 1000;             ///< of one instruction, one header
inline constexpr int64_t kMaxInferred = int64_t{1} << 18;  ///< elements of all tuple shapes that the text leaves out
inline constexpr int64_t kMaxBytes = int64_t{1} << 62;     ///< of one array
inline constexpr size_t kMaxText = size_t{1} << 31;        ///< offsets are 32 bits

/// A note with the offset of its place; lines are counted at the end, once.
struct PlacedNote {
  size_t offset;
  std::string code, text;
};

/// An operand before names are known. Instr::operands holds the position in Scope::uses, or ~id of a nested instruction.
struct Use {
  ir::StringId name;
  ir::ShapeId shape;
  uint32_t offset;
};
/// A computation being read.
struct Scope {
  std::vector<ir::Instr> instrs;
  std::vector<Use> uses;
  int64_t root = -1;
};
/// A computation before names are known. Instr::calls holds the position in call_uses_, or ~id of a body in place.
struct CallUse {
  ir::StringId name;
  uint32_t offset;
};

/// The innermost line of a stack frame.
struct FramePlace {
  ir::StringId file{};
  int32_t line = 0, column = 0;
};

/// Running numbers and what is left of bounds.
struct Counters {
  int64_t next_fresh = 1, next_body = 1;  ///< of made-up names of instructions and bodies
  int64_t made_parameters = 0;            ///< of a single instruction
  int64_t inferred_elements = 0;
  int64_t fill_budget = int64_t{64} << 20;  ///< bytes of constants that the text does not spell out
};

}  // namespace importers::hlo
