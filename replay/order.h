// The order in which the instructions of a computation can run.
#pragma once

#include <vector>

#include "src/ir/module.h"

namespace replay {

/// Operands before users. Dumps are in this order already; files edited by hand need not be.
std::vector<ir::InstrId> topological(const ir::Computation& comp);

}  // namespace replay
