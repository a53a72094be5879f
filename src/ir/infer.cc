#include "src/ir/infer.h"
namespace ir {
base::Result<Shape> infer_shape(const Module& module, const Computation& comp, const Instr& instr) {
  if (is_elementwise(instr.op) && instr.op != Op::convert && !instr.operands.empty()) {
    return module.shape(comp.instrs[static_cast<size_t>(instr.operands[instr.op == Op::select ? 1 : 0])]);
  }
  return base::Error{"write the shape"};
}
}  // namespace ir
