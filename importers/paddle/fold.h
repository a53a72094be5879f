// Content of small tensors that follows from what the text tells: shapes, axes and limits that a program computes.
#pragma once

#include "importers/paddle/lower.h"

namespace importers::paddle {

/// Tells the result's content where all operands' is known and the operator is one of the table. Its lowering has been written.
void fold(Call& call);

}  // namespace importers::paddle
