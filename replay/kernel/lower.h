// The first move: an instruction (a fusion or a single op) becomes loop nests.
#pragma once

#include "replay/kernel/nest.h"
#include "replay/rounding.h"
#include "src/base/result.h"
#include "src/ir/module.h"

namespace kernel {

/// Error: "no kernel for sort: …".
base::Result<Lowered> lower(const ir::Module& module, ir::InstrRef instr, replay::Rounding rounding);

}  // namespace kernel
