// What the parser holds while names are not ids yet, and the bounds of what it takes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
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

class Notes {
 public:
  void add(size_t offset, std::string code, std::string text) { notes_.push_back({offset, std::move(code), std::move(text)}); }
  /// The first of its code and key only.
  void add_once(size_t offset, std::string code, std::string_view key, std::string text) {
    if (seen_.insert(code + ' ' + std::string(key)).second) add(offset, std::move(code), std::move(text));
  }
  const std::vector<PlacedNote>& all() const { return notes_; }

 private:
  std::vector<PlacedNote> notes_;
  std::unordered_set<std::string> seen_;
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

/// Instructions of the computation being read, by name: a slot for each string of the module, marked with the number of its scope.
class NamedInstructions {
 public:
  void begin_scope() { ++scope_; }
  std::optional<ir::InstrId> find(ir::StringId name) const {
    const auto slot = static_cast<size_t>(name);
    if (slot >= slots_.size() || slots_[slot].first != scope_) return std::nullopt;
    return slots_[slot].second;
  }
  void set(ir::StringId name, ir::InstrId id) {
    const auto slot = static_cast<size_t>(name);
    if (slot >= slots_.size()) slots_.resize(std::max(slot + 1, 2 * slots_.size()));
    slots_[slot] = {scope_, id};
  }

 private:
  std::vector<std::pair<uint32_t, ir::InstrId>> slots_;
  uint32_t scope_ = 0;
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
  int64_t fill_budget = int64_t{256} << 20;  ///< bytes of constants that the text does not spell out
};

}  // namespace importers::hlo
