// The parts of fusions, as a program without fusion would run them. Pure: a module in, a module with more computations out.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "src/ir/module.h"

namespace replay {

/// How far a fusion is to be taken apart.
enum class Parts : uint8_t {
  none,
  ops,     ///< one launch per operation, those of inner fusions too
  calls,   ///< one for each instruction of its body, inner fusions whole: what `fuse` has put together
  itself,  ///< the fusion again: what a comparison says where there is nothing to say (A/A)
};
using ChooseParts = std::function<Parts(std::string_view fusion)>;

/// The body of a fusion as a computation that runs instruction by instruction.
struct Apart {
  ir::CompId body = -1;
  std::string why;         ///< why there is none; "" if there is
  double extra_flops = 0;  ///< recomputed().operations() of the fused computation
};
struct Defused {
  std::shared_ptr<const ir::Module> module;  ///< ids of the given one stay valid
  std::map<ir::InstrRef, Apart> fusions;     ///< those that were chosen, except for Parts::itself
};

/// Adds to a copy of the module, for each fusion that is chosen, a computation with the same parameters and root. In it every operation is
/// one instruction, as a framework launches one kernel for each, with these exceptions: calls and (Parts::ops) inner fusions are inlined;
/// broadcasts and iotas that feed elementwise operations are not stored but read through: such an operation is a fusion of itself with
/// them, as frameworks' operations broadcast their operands. Reshapes that keep the order of elements are bitcasts. Instructions that
/// nothing needs are left out.
Defused with_parts(const ir::Module& module, const ChooseParts& choose);

/// Nominal operations that a kernel does again when every use of a value at another place computes the value anew, as loop emitters inline
/// operands: inlined less each value once. Reductions, products, sorts and scatters are made once, whoever reads them. A model.
struct Recomputed {
  double flops = 0, functions = 0;
  double operations() const { return flops + functions; }
};
Recomputed recomputed(const ir::Module& module, ir::CompId fused);

}  // namespace replay
