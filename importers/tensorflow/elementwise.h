// Kernels of elementwise functions.
#pragma once

#include "importers/tensorflow/lower_rules.h"

namespace importers::tensorflow {

/// A function of one value, or of several that have one shape.
using Function = Value (*)(Body&, std::span<const Value>);
template <Function kFunction>
Values kernel(Lowering& l) {
  return l.fuse([](Body& b, std::span<const Value> x) { return Values{kFunction(b, x)}; });
}

inline Value plus(Body& b, Value x, Value y) { return b.binary(ir::Op::add, x, y); }
inline Value plus(Body& b, Value x, double y) { return b.binary(ir::Op::add, x, y); }
inline Value minus(Body& b, Value x, Value y) { return b.binary(ir::Op::subtract, x, y); }
inline Value times(Body& b, Value x, Value y) { return b.binary(ir::Op::multiply, x, y); }
inline Value times(Body& b, Value x, double y) { return b.binary(ir::Op::multiply, x, y); }
inline Value over(Body& b, Value x, Value y) { return b.binary(ir::Op::divide, x, y); }

}  // namespace importers::tensorflow
