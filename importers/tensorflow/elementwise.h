// Kernels of elementwise functions.
#pragma once

#include "importers/lowering/arithmetic.h"
#include "importers/tensorflow/lower_rules.h"

namespace importers::tensorflow {

/// A function of one value, or of several that have one shape.
using Function = Value (*)(Body&, std::span<const Value>);
template <Function kFunction>
Values kernel(Lowering& l) {
  return l.fuse([](Body& b, std::span<const Value> x) { return Values{kFunction(b, x)}; });
}

template <ir::Op kOp>
Values unary(Lowering& l) {
  return l.fuse([](Body& b, std::span<const Value> x) { return Values{b.unary(kOp, x[0])}; });
}

template <ir::Op kOp>
Values binary(Lowering& l) {
  return l.fuse([](Body& b, std::span<const Value> x) { return Values{b.binary(kOp, x[0], x[1])}; });
}

}  // namespace importers::tensorflow
