// Result shapes from operands and attributes.
#pragma once

#include "src/base/result.h"
#include "src/ir/module.h"

namespace ir {

/// Shape of the result of `instr` in `comp` with descending layouts. An Error says which rule is broken, or that the shape must be written
/// (parameter, custom-call, …: nothing it follows from). Operands need shapes; ids must be valid.
base::Result<Shape> infer_shape(const Module& module, const Computation& comp, const Instr& instr);

}  // namespace ir
