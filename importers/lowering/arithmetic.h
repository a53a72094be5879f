// Sums and products as short as they are often written.
#pragma once

#include "importers/lowering/body.h"

namespace importers::lowering {

inline Value plus(Body& b, Value x, Value y) { return b.binary(ir::Op::add, x, y); }
inline Value plus(Body& b, Value x, double y) { return b.binary(ir::Op::add, x, y); }
inline Value minus(Body& b, Value x, Value y) { return b.binary(ir::Op::subtract, x, y); }
inline Value times(Body& b, Value x, Value y) { return b.binary(ir::Op::multiply, x, y); }
inline Value times(Body& b, Value x, double y) { return b.binary(ir::Op::multiply, x, y); }
inline Value over(Body& b, Value x, Value y) { return b.binary(ir::Op::divide, x, y); }

}  // namespace importers::lowering
