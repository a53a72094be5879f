// What lowering names and learns: instructions, and why an attempt starts anew.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "replay/kernel/index.h"
#include "replay/kernel/place.h"
#include "src/ir/module.h"

namespace kernel {

/// An instruction in one inlining of its computation.
struct Ref {
  int frame = 0;
  ir::InstrId instr = 0;
  auto operator<=>(const Ref&) const = default;
};

/// Products with a sum over them.
inline bool is_product(ir::Op op) { return op == ir::Op::dot || op == ir::Op::convolution; }

/// The instruction that makes a leaf.
struct Maker {
  Ref ref;
  std::vector<int64_t> path;
  auto operator<=>(const Maker&) const = default;
};

/// Arrays with the leaves of a result; in each, dimension `last` (-1: none) comes last, the others in order.
struct Materialised {
  std::vector<int> arrays;
  int64_t last = -1;
};

/// Which dimension a loop variable runs over: those of one key are its factors, outermost first.
struct LoopOf {
  std::string key;
  int position;
};

/// Where a reduction reads its operand: other roots of the same space join there.
struct PlacedReduction {
  Ref ref;
  Place result;  ///< of the reduction
  Place place;   ///< of its operand, in the loops of its stage
  size_t stage = 0;
};

/// Arrays hold elements as memory has them, or in register types (materialised results).
enum class Held : uint8_t { stored, computed };

/// Under a window: the place in the array, and whether there is an element.
struct Tap {
  Index at;
  NodeId inside;
};

/// Why an attempt to lower a nest has to start anew, with what was learnt.
struct Retry {
  bool wanted = false;
  std::optional<Ref> materialise;  ///< a reduction whose result must be in memory
  std::vector<TermId> outer;       ///< loops that a reduction inside the nest leaves
  struct Cut {
    TermId variable;
    int64_t at;
  };
  std::optional<Cut> cut;  ///< iterations below and from here on behave differently
};

}  // namespace kernel
