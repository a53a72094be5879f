// Operators that work element by element on one operand, and their gradients, out of functions of scalars.
#pragma once

#include "importers/paddle/lower.h"

namespace importers::paddle {

inline Value from(Body& b, double x, Value y) { return b.binary(ir::Op::subtract, b.like(y, x), y); }
inline Value choose(Body& b, ir::Direction direction, Value x, double limit, Value yes, Value no) {
  return b.select(b.compare(direction, x, b.like(x, limit)), yes, no);
}
inline Value sigmoid(Body& b, Value x) { return b.unary(ir::Op::logistic, x); }
/// log(1 + e^x) without overflow
inline Value log_one_plus_exp(Body& b, Value x) {
  const Value below = b.unary(ir::Op::exponential, b.unary(ir::Op::negate, b.unary(ir::Op::abs, x)));
  return plus(b, b.binary(ir::Op::maximum, x, 0.0), b.unary(ir::Op::log_plus_one, below));
}

using Unary = Value (*)(Call&, Body&, Value);

template <Unary kFunction>
void unary(Call& c) {
  c.set("Out", c.fuse1({c.in("X")}, [&](Body& b, In in) { return b.convert(kFunction(c, b, widen(b, in[0])), b.type(in[0])); }));
}

/// What a gradient is a function of: x, out and dout, as far as the operator has them.
struct Point {
  Value x, out, dout;
};
using Slope = Value (*)(Call&, Body&, const Point&);

/// What the slope is a function of.
enum class Of : uint8_t { x, out };

template <Slope kSlope, Of kOf>
void unary_grad(Call& c) {
  c.set("X@GRAD", c.fuse1({c.in("Out@GRAD"), c.in(kOf == Of::x ? "X" : "Out")}, [&](Body& b, In in) {
    const Value dout = widen(b, in[0]), at = widen(b, in[1]);
    return b.convert(kSlope(c, b, kOf == Of::x ? Point{at, {}, dout} : Point{{}, at, dout}), b.type(in[0]));
  }));
}

}  // namespace importers::paddle
