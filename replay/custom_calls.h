// Custom calls that only annotate their operand: one list for the plan, which runs nothing for them, and for the reference.
#pragma once

#include "src/ir/module.h"

namespace replay {

/// The value is that of operand 0, element for element.
bool is_annotation(const ir::Module& module, ir::CompId comp, const ir::Instr& instr);

}  // namespace replay
