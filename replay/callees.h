// Computations that an instruction calls, by what they are for.
#pragma once

#include <vector>

#include "src/ir/module.h"

namespace replay {

/// Branches of a conditional in the order of their operands, whatever the order of its attributes: true before false.
std::vector<ir::CompId> branches_of(const ir::Module& module, const ir::Instr& conditional);

}  // namespace replay
