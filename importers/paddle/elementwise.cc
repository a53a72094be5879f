// Operators that work element by element, and their gradients. Formulas: Paddle's phi kernels
// (paddle/phi/kernels/funcs/activation_functor.h, elementwise_functor.h).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "importers/paddle/attribute.h"
#include "importers/paddle/unary.h"

namespace importers::paddle {

void copy(Call& c) { c.set("Out", c.entry().unary(ir::Op::copy, c.in("X"))); }

namespace {

using ir::Op;

// ---------------------------------------------------------------- one operand

template <Op kOp>
Value plain(Call&, Body& b, Value x) {
  return b.unary(kOp, x);
}
Value relu(Call&, Body& b, Value x) { return b.binary(Op::maximum, x, 0.0); }
Value relu6(Call& c, Body& b, Value x) { return b.binary(Op::minimum, relu(c, b, x), c.number("threshold", 6)); }
Value silu(Call&, Body& b, Value x) { return times(b, x, sigmoid(b, x)); }
Value swish(Call& c, Body& b, Value x) { return times(b, x, sigmoid(b, times(b, x, c.number("beta", 1)))); }
Value increment(Call& c, Body& b, Value x) { return plus(b, x, c.number("step", c.number("value", 1))); }
Value square(Call&, Body& b, Value x) { return times(b, x, x); }
Value reciprocal(Call&, Body& b, Value x) { return over(b, b.like(x, 1), x); }
Value leaky_relu(Call& c, Body& b, Value x) {
  return choose(b, ir::Direction::GT, x, 0, x, times(b, x, c.number("alpha", c.number("negative_slope", 0.02))));
}
Value hard_sigmoid(Call& c, Body& b, Value x) {
  return b.binary(Op::minimum, b.binary(Op::maximum, plus(b, times(b, x, c.number("slope", 0.2)), c.number("offset", 0.5)), 0.0), 1.0);
}
/// x·min(max(x + offset, 0), threshold) / scale
Value hard_swish(Call& c, Body& b, Value x) {
  const Value gate = b.binary(Op::minimum, b.binary(Op::maximum, plus(b, x, c.number("offset", 3)), 0.0), c.number("threshold", 6));
  return times(b, times(b, x, gate), 1 / c.number("scale", 6));
}
Value softplus(Call& c, Body& b, Value x) {
  const double beta = c.number("beta", 1);
  return times(b, log_one_plus_exp(b, times(b, x, beta)), 1 / beta);
}

constexpr double kTanhScale = 0.7978845608028654;  ///< √(2/π)
constexpr double kTanhCubic = 0.044715;

Value tanh_of_gelu(Body& b, Value x) {
  return b.unary(Op::tanh, times(b, plus(b, x, times(b, times(b, times(b, x, x), x), kTanhCubic)), kTanhScale));
}
Value normal_cdf(Body& b, Value x) { return times(b, plus(b, b.unary(Op::erf, times(b, x, std::numbers::sqrt2 / 2)), 1), 0.5); }
Value gelu(Call& c, Body& b, Value x) {
  const Value weight = c.flag("approximate") ? times(b, plus(b, tanh_of_gelu(b, x), 1), 0.5) : normal_cdf(b, x);
  return times(b, x, weight);
}
Value clip(Call& c, Body& b, Value x) {
  return b.binary(Op::minimum, b.binary(Op::maximum, x, c.number("min", -INFINITY, "Min")), c.number("max", INFINITY, "Max"));
}
Value power(Call& c, Body& b, Value x) {
  const double factor = c.number("factor", 1, "FactorTensor");
  return factor == 2 ? times(b, x, x) : factor == 1 ? x : b.binary(Op::power, x, factor);
}

/// The result is a truth value.
template <Unary kFunction>
void test(Call& c) {
  c.set("Out", c.fuse1({c.in("X")}, [&](Body& b, In in) { return kFunction(c, b, in[0]); }));
}
Value is_finite(Call&, Body& b, Value x) { return b.unary(Op::is_finite, x); }
Value is_nan(Call&, Body& b, Value x) { return b.compare(ir::Direction::NE, x, x); }
Value logical_not(Call&, Body& b, Value x) { return b.unary(Op::not_, b.convert(x, ir::Type::pred)); }

// ---------------------------------------------------------------- gradients of one operand

Value relu_slope(Call&, Body& b, const Point& p) { return choose(b, ir::Direction::GT, p.out, 0, p.dout, b.like(p.dout, 0)); }
Value sigmoid_slope(Call&, Body& b, const Point& p) { return times(b, p.dout, times(b, p.out, from(b, 1, p.out))); }
Value tanh_slope(Call&, Body& b, const Point& p) { return times(b, p.dout, from(b, 1, times(b, p.out, p.out))); }
Value exp_slope(Call&, Body& b, const Point& p) { return times(b, p.dout, p.out); }
Value log_slope(Call&, Body& b, const Point& p) { return over(b, p.dout, p.x); }
Value sqrt_slope(Call&, Body& b, const Point& p) { return over(b, times(b, p.dout, 0.5), p.out); }
Value rsqrt_slope(Call&, Body& b, const Point& p) { return times(b, times(b, p.dout, -0.5), times(b, times(b, p.out, p.out), p.out)); }
Value square_slope(Call&, Body& b, const Point& p) { return times(b, times(b, p.dout, 2), p.x); }
Value abs_slope(Call&, Body& b, const Point& p) { return times(b, p.dout, b.unary(Op::sign, p.x)); }
Value reciprocal_slope(Call&, Body& b, const Point& p) { return b.unary(Op::negate, times(b, p.dout, times(b, p.out, p.out))); }
Value sin_slope(Call&, Body& b, const Point& p) { return times(b, p.dout, b.unary(Op::cosine, p.x)); }
Value cos_slope(Call&, Body& b, const Point& p) { return b.unary(Op::negate, times(b, p.dout, b.unary(Op::sine, p.x))); }
/// s·(1 + x·(1 − s)), s = sigmoid(x)
Value silu_slope(Call&, Body& b, const Point& p) {
  const Value s = sigmoid(b, p.x);
  return times(b, times(b, p.dout, s), plus(b, times(b, p.x, from(b, 1, s)), 1));
}
Value leaky_relu_slope(Call& c, Body& b, const Point& p) {
  return choose(b, ir::Direction::GT, p.x, 0, p.dout, times(b, p.dout, c.number("alpha", c.number("negative_slope", 0.02))));
}
Value softplus_slope(Call& c, Body& b, const Point& p) { return times(b, p.dout, sigmoid(b, times(b, p.x, c.number("beta", 1)))); }
Value power_slope(Call& c, Body& b, const Point& p) {
  const double factor = c.number("factor", 1, "FactorTensor");
  const Value inner = factor == 2 ? p.x : b.binary(Op::power, p.x, factor - 1);
  return times(b, times(b, p.dout, factor), inner);
}
/// Φ(x) + x·φ(x), or of the tanh form ½(1 + t) + ½·x·(1 − t²)·√(2/π)·(1 + 3·0.044715·x²)
Value gelu_slope(Call& c, Body& b, const Point& p) {
  const Value square = times(b, p.x, p.x);
  if (!c.flag("approximate")) {
    const Value density = times(b, b.unary(Op::exponential, times(b, square, -0.5)), std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    return times(b, p.dout, plus(b, normal_cdf(b, p.x), times(b, p.x, density)));
  }
  const Value t = tanh_of_gelu(b, p.x);
  const Value inner = times(b, plus(b, times(b, square, 3 * kTanhCubic), 1), kTanhScale);
  const Value slope = times(b, times(b, times(b, p.x, from(b, 1, times(b, t, t))), inner), 0.5);
  return times(b, p.dout, plus(b, times(b, plus(b, t, 1), 0.5), slope));
}
Value clip_slope(Call& c, Body& b, const Point& p) {
  const Value above = choose(b, ir::Direction::GE, p.x, c.number("min", -INFINITY, "Min"), p.dout, b.like(p.dout, 0));
  return choose(b, ir::Direction::LE, p.x, c.number("max", INFINITY, "Max"), above, b.like(p.dout, 0));
}
Value hard_swish_slope(Call& c, Body& b, const Point& p) {
  const double offset = c.number("offset", 3), threshold = c.number("threshold", 6), scale = c.number("scale", 6);
  const Value middle = times(b, p.dout, times(b, plus(b, times(b, p.x, 2), offset), 1 / scale));
  const Value below = choose(b, ir::Direction::GT, p.x, -offset, middle, b.like(p.dout, 0));
  return choose(b, ir::Direction::LT, p.x, threshold - offset, below, p.dout);
}

// ---------------------------------------------------------------- two operands

template <Op kOp>
void binary(Call& c) {
  const int64_t axis = c.integer("axis", -1);
  if (!c.pair_fits(axis)) return;
  c.set("Out", c.fuse1({c.in("X"), c.in("Y")}, [&](Body& b, In in) {
    const Value x = widen(b, in[0]), y = b.convert(in[1], b.type(x));
    return b.convert(b.binary(kOp, x, aligned(b, x, y, axis)), b.type(in[0]));
  }));
}

/// ⌊x / y⌋ and what is left of it, which has the divisor's sign.
void floor_divide(Call& c) {
  if (!c.pair_fits(c.integer("axis", -1))) return;
  c.set("Out", c.fuse1({c.in("X"), c.in("Y")}, [&](Body& b, In in) {
    const bool exact = ir::is_integer(b.type(in[0]));
    const Value x = exact ? b.convert(in[0], ir::Type::f64) : widen(b, in[0]);
    const Value y = b.convert(in[1], b.type(x));
    return b.convert(b.unary(Op::floor, b.binary(Op::divide, x, aligned(b, x, y, c.integer("axis", -1)))), b.type(in[0]));
  }));
}

/// x − ⌊x / y⌋·y
void modulo(Call& c) {
  if (!c.pair_fits(c.integer("axis", -1))) return;
  c.set("Out", c.fuse1({c.in("X"), c.in("Y")}, [&](Body& b, In in) {
    const bool exact = ir::is_integer(b.type(in[0]));
    const Value wide_x = exact ? b.convert(in[0], ir::Type::f64) : widen(b, in[0]);
    const auto [x, y] = b.alike(wide_x, aligned(b, wide_x, b.convert(in[1], b.type(wide_x)), c.integer("axis", -1)));
    const Value rest = b.binary(Op::subtract, x, times(b, b.unary(Op::floor, over(b, x, y)), y));
    return b.convert(rest, b.type(in[0]));
  }));
}

template <ir::Direction kDirection>
void comparison(Call& c) {
  const int64_t axis = c.integer("axis", -1);
  if (!c.pair_fits(axis)) return;
  c.set("Out", c.fuse1({c.in("X"), c.in("Y")}, [&](Body& b, In in) {
    const Value y = aligned(b, in[0], b.convert(in[1], b.type(in[0])), axis);
    const Dims both = joined(b.dims(in[0]), b.dims(y));
    return b.compare(kDirection, b.expand(in[0], both), b.expand(y, both));
  }));
}

template <Op kOp>
void logical(Call& c) {
  if (!c.pair_fits(-1)) return;
  c.set("Out", c.fuse1({c.in("X"), c.in("Y")},
                       [&](Body& b, In in) { return b.binary(kOp, b.convert(in[0], ir::Type::pred), b.convert(in[1], ir::Type::pred)); }));
}

/// dX and dY of x and y that were broadcast together: the slopes' product with dout, summed where an operand was repeated.
struct Pair {
  Value x, y, dout;
};
using Slopes = Value (*)(Body&, const Pair&);

template <Slopes kX, Slopes kY>
void binary_grad(Call& c) {
  const int64_t axis = c.integer("axis", -1);
  if (!c.pair_fits(axis)) return;
  const Dims to_x = c.dims("X"), to_y = c.dims("Y");
  const ir::Type type_x = c.type("X"), type_y = c.type("Y");
  const Dims given = c.dims("Out@GRAD"), whole = joined(to_x, to_y);
  if (axis < 0 && given != whole && elements_of(given) == elements_of(whole))
    c.note("shape-conflict", fmt::format("Out@GRAD is ({}), but its operands give ({})", fmt::join(given, ", "), fmt::join(whole, ", ")));
  if (axis < 0 && elements_of(given) != elements_of(whole)) return c.fail("the gradient has another size than the result");
  const auto write = [&](Body& b, In in) {
    Pair p{widen(b, in[0]), {}, widen(b, in[2])};
    const Value y = widen(b, in[1]);
    p.y = aligned(b, p.x, y, axis);
    const Dims under = b.dims(p.y);
    const Dims both = joined(b.dims(p.x), under);
    if (given != both) p.dout = b.reshape(p.dout, both);
    p.x = b.expand(p.x, both), p.y = b.expand(p.y, both);
    Values results;
    if (c.wants("X@GRAD")) results.push_back(b.convert(reduce_to(b, kX(b, p), to_x), type_x));
    if (c.wants("Y@GRAD")) results.push_back(b.convert(b.reshape(reduce_to(b, kY(b, p), under), to_y), type_y));
    return results;
  };
  const Values operands{c.in("X"), c.in("Y"), c.in("Out@GRAD")};
  if (!c.wants("X@GRAD") && !c.wants("Y@GRAD")) return;
  const Values results = c.program().fuse(operands, write);
  if (c.wants("X@GRAD")) c.set("X@GRAD", results.front());
  if (c.wants("Y@GRAD")) c.set("Y@GRAD", results.back());
}

Value dout_of(Body&, const Pair& p) { return p.dout; }
Value minus_dout(Body& b, const Pair& p) { return b.unary(Op::negate, p.dout); }
Value dout_y(Body& b, const Pair& p) { return times(b, p.dout, p.y); }
Value dout_x(Body& b, const Pair& p) { return times(b, p.dout, p.x); }
Value dout_over_y(Body& b, const Pair& p) { return over(b, p.dout, p.y); }
Value divisor_slope(Body& b, const Pair& p) { return b.unary(Op::negate, over(b, over(b, times(b, p.dout, p.x), p.y), p.y)); }
Value minus_dout_times(Body& b, const Pair& p) { return times(b, minus_dout(b, p), b.unary(Op::floor, over(b, p.x, p.y))); }
/// y·x^(y − 1) and x^y·log x
Value base_slope(Body& b, const Pair& p) { return times(b, times(b, p.dout, p.y), b.binary(Op::power, p.x, plus(b, p.y, -1))); }
Value exponent_slope(Body& b, const Pair& p) { return times(b, times(b, p.dout, b.binary(Op::power, p.x, p.y)), b.unary(Op::log, p.x)); }
/// Of atan2: y / (x² + y²) and −x / (x² + y²)
Value square_length(Body& b, const Pair& p) { return plus(b, times(b, p.x, p.x), times(b, p.y, p.y)); }
Value angle_slope_x(Body& b, const Pair& p) { return over(b, times(b, p.dout, p.y), square_length(b, p)); }
Value angle_slope_y(Body& b, const Pair& p) { return over(b, times(b, minus_dout(b, p), p.x), square_length(b, p)); }
template <ir::Direction kDirection>
Value where_x(Body& b, const Pair& p) {
  return b.select(b.compare(kDirection, p.x, p.y), p.dout, b.like(p.dout, 0));
}
template <ir::Direction kDirection>
Value where_y(Body& b, const Pair& p) {
  return b.select(b.compare(kDirection, p.x, p.y), b.like(p.dout, 0), p.dout);
}

// ---------------------------------------------------------------- with weights

/// α of prelu over X's dimensions: one, one for each channel, or one for each element of an image.
std::optional<Dims> alpha_dims(Call& c) {
  const Dims x = c.dims("X"), alpha = c.dims("Alpha");
  if (elements_of(alpha) == 1) return Dims(x.size(), 1);
  const std::string_view mode = c.text("mode");
  Dims dims = mode == "element" ? x : Dims(x.size(), 1);
  const size_t channel = c.text("data_format") == "NHWC" ? x.size() - 1 : 1;
  if (mode == "element" && !x.empty()) dims[0] = 1;
  if (mode == "channel" && channel < x.size()) dims[channel] = x[channel];
  if (elements_of(dims) == elements_of(alpha)) return dims;
  return c.fail("alpha does not fit its mode"), std::nullopt;
}
void prelu(Call& c) {
  const auto dims = alpha_dims(c);
  if (!dims) return;
  c.set("Out", c.fuse1({c.in("X"), c.in("Alpha")}, [&](Body& b, In in) {
    const Value x = widen(b, in[0]), alpha = b.expand(b.reshape(b.convert(in[1], b.type(x)), *dims), b.dims(x));
    return b.convert(choose(b, ir::Direction::GT, x, 0, x, times(b, x, alpha)), b.type(in[0]));
  }));
}
void prelu_grad(Call& c) {
  const auto dims = alpha_dims(c);
  if (!dims) return;
  const Dims to = c.dims("Alpha");
  const Values results = c.program().fuse({{c.in("X"), c.in("Alpha"), c.in("Out@GRAD")}}, [&](Body& b, In in) {
    const Value x = widen(b, in[0]), dout = widen(b, in[2]);
    const Value alpha = b.expand(b.reshape(b.convert(in[1], b.type(x)), *dims), b.dims(x));
    const Value dalpha = choose(b, ir::Direction::GT, x, 0, b.like(x, 0), times(b, dout, x));
    return Values{b.convert(choose(b, ir::Direction::GT, x, 0, dout, times(b, dout, alpha)), b.type(in[0])),
                  b.convert(b.reshape(reduce_to(b, dalpha, *dims), to), b.type(in[1]))};
  });
  c.set("X@GRAD", results[0]);
  c.set("Alpha@GRAD", results[1]);
}

/// silu(x)·y; one operand holds both halves if y is missing.
void swiglu(Call& c) {
  if (c.has("Y") && c.dims("X") != c.dims("Y")) return c.fail("the operands differ in size");
  if (!c.has("Y")) return c.fail("an operand that holds both halves is not lowered");
  c.set("Out", c.fuse1({c.in("X"), c.in("Y")}, [&](Body& b, In in) {
    const Value x = widen(b, in[0]);
    return b.convert(times(b, silu(c, b, x), widen(b, in[1])), b.type(in[0]));
  }));
}
void swiglu_grad(Call& c) {
  const Values results = c.program().fuse({{c.in("X"), c.in("Y"), c.in("Out@GRAD")}}, [&](Body& b, In in) {
    const Value x = widen(b, in[0]), dout = widen(b, in[2]);
    const Value dx = silu_slope(c, b, {x, {}, times(b, dout, widen(b, in[1]))});
    return Values{b.convert(dx, b.type(in[0])), b.convert(times(b, dout, silu(c, b, x)), b.type(in[1]))};
  });
  if (c.wants("X@GRAD")) c.set("X@GRAD", results[0]);
  if (c.wants("Y@GRAD")) c.set("Y@GRAD", results[1]);
}

// ---------------------------------------------------------------- scale, cast, where

/// scale·x + bias, or scale·(x + bias). The factor may be an operand.
void scale(Call& c) {
  const double bias = c.number("bias", 0);
  const bool after = c.flag("bias_after_scale", true);
  const bool given = c.has("ScaleTensor") && !c.known("ScaleTensor");
  const double factor = given ? 1 : c.number("scale", 1, "ScaleTensor");
  Values operands{c.in("X")};
  if (given) operands.push_back(c.in("ScaleTensor"));
  c.set("Out", c.program().fuse1(operands, [&](Body& b, In in) {
    Value x = widen(b, in[0]);
    if (!after && bias != 0) x = plus(b, x, bias);
    if (given) x = times(b, x, b.expand(b.reshape(b.convert(in[1], b.type(x)), {}), b.dims(x)));
    if (factor != 1) x = times(b, x, factor);
    if (after && bias != 0) x = plus(b, x, bias);
    return b.convert(x, b.type(in[0]));
  }));
}

/// A cast to the type that a value has already is a copy: Paddle runs it.
void cast(Call& c) {
  const auto to = c.named_type("out_dtype");
  if (!to) return c.fail("the type to cast to is not known");
  if (*to == c.type("X")) return c.set("Out", c.entry().unary(Op::copy, c.in("X")));
  c.set("Out", c.fuse1({c.in("X")}, [&](Body& b, In in) { return b.convert(in[0], *to); }));
}

void where(Call& c) {
  if (!c.pair_fits(-1) || !broadcast_fits(c.dims("Condition"), joined(c.dims("X"), c.dims("Y"))))
    return c.fail("the operands do not broadcast");
  c.set("Out", c.fuse1({c.in("Condition"), c.in("X"), c.in("Y")}, [&](Body& b, In in) {
    const Dims both = joined(joined(b.dims(in[0]), b.dims(in[1])), b.dims(in[2]));
    return b.select(b.expand(in[0], both), b.expand(in[1], both), b.expand(in[2], both));
  }));
}

void where_grad(Call& c) {
  const Dims whole = joined(joined(c.dims("X"), c.dims("Y")), c.dims("Condition"));
  if (!c.pair_fits(-1) || c.dims("Out@GRAD") != whole) return c.fail("the operands do not broadcast");
  const Values results = c.program().fuse({{c.in("Condition"), c.in("Out@GRAD")}}, [&](Body& b, In in) {
    const Value zero = b.like(in[1], 0), condition = b.expand(in[0], b.dims(in[1]));
    return Values{reduce_to(b, b.select(condition, in[1], zero), c.dims("X")), reduce_to(b, b.select(condition, zero, in[1]), c.dims("Y"))};
  });
  if (c.wants("X@GRAD")) c.set("X@GRAD", results[0]);
  if (c.wants("Y@GRAD")) c.set("Y@GRAD", results[1]);
}

/// x0 + x1 + …: gradients of a tensor that is used more than once.
void sum(Call& c) {
  const Values values = c.all("X");
  if (values.empty()) return c.fail("has no operand");
  const Dims dims = c.entry().dims(values[0]);
  if (std::ranges::any_of(values, [&](Value value) { return c.entry().dims(value) != dims; })) return c.fail("the operands differ in size");
  if (values.size() == 1) return c.set("Out", c.entry().unary(Op::copy, values[0]));
  c.set("Out", c.program().fuse1(values, [&](Body& b, In in) {
    Value total = widen(b, in[0]);
    for (const Value value : in.subspan(1)) total = plus(b, total, widen(b, value));
    return b.convert(total, b.type(in[0]));
  }));
}

constexpr Row kElementwiseRows[] = {
    {"abs", unary<plain<Op::abs>>, "X"},
    {"assign", copy, "X"},
    {"atan2", binary<Op::atan2>, "X Y"},
    {"bitwise_and", binary<Op::and_>, "X Y"},
    {"bitwise_not", unary<plain<Op::not_>>, "X"},
    {"bitwise_or", binary<Op::or_>, "X Y"},
    {"bitwise_xor", binary<Op::xor_>, "X Y"},
    {"cast", cast, "X"},
    {"ceil", unary<plain<Op::ceil>>, "X"},
    {"clip", unary<clip>, "X"},
    {"cos", unary<plain<Op::cosine>>, "X"},
    {"elementwise_add", binary<Op::add>, "X Y"},
    {"elementwise_div", binary<Op::divide>, "X Y"},
    {"elementwise_floordiv", floor_divide, "X Y"},
    {"elementwise_max", binary<Op::maximum>, "X Y"},
    {"elementwise_fmax", binary<Op::maximum>, "X Y"},
    {"elementwise_fmin", binary<Op::minimum>, "X Y"},
    {"elementwise_min", binary<Op::minimum>, "X Y"},
    {"elementwise_mod", modulo, "X Y"},
    {"elementwise_mul", binary<Op::multiply>, "X Y"},
    {"elementwise_pow", binary<Op::power>, "X Y"},
    {"elementwise_sub", binary<Op::subtract>, "X Y"},
    {"equal", comparison<ir::Direction::EQ>, "X Y"},
    {"erf", unary<plain<Op::erf>>, "X"},
    {"exp", unary<plain<Op::exponential>>, "X"},
    {"floor", unary<plain<Op::floor>>, "X"},
    {"gelu", unary<gelu>, "X"},
    {"greater_equal", comparison<ir::Direction::GE>, "X Y"},
    {"greater_than", comparison<ir::Direction::GT>, "X Y"},
    {"hard_sigmoid", unary<hard_sigmoid>, "X"},
    {"hard_swish", unary<hard_swish>, "X"},
    {"increment", unary<increment>, "X"},
    {"isfinite_v2", test<is_finite>, "X"},
    {"isnan_v2", test<is_nan>, "X"},
    {"leaky_relu", unary<leaky_relu>, "X"},
    {"less_equal", comparison<ir::Direction::LE>, "X Y"},
    {"less_than", comparison<ir::Direction::LT>, "X Y"},
    {"log", unary<plain<Op::log>>, "X"},
    {"log1p", unary<plain<Op::log_plus_one>>, "X"},
    {"logical_and", logical<Op::and_>, "X Y"},
    {"logical_not", test<logical_not>, "X"},
    {"logical_or", logical<Op::or_>, "X Y"},
    {"logical_xor", logical<Op::xor_>, "X Y"},
    {"not_equal", comparison<ir::Direction::NE>, "X Y"},
    {"pow", unary<power>, "X"},
    {"prelu", prelu, "X Alpha"},
    {"reciprocal", unary<reciprocal>, "X"},
    {"relu", unary<relu>, "X"},
    {"relu6", unary<relu6>, "X"},
    {"rsqrt", unary<plain<Op::rsqrt>>, "X"},
    {"scale", scale, "X"},
    {"share_data", copy, "X"},
    {"sigmoid", unary<plain<Op::logistic>>, "X"},
    {"sign", unary<plain<Op::sign>>, "X"},
    {"silu", unary<silu>, "X"},
    {"sin", unary<plain<Op::sine>>, "X"},
    {"softplus", unary<softplus>, "X"},
    {"sqrt", unary<plain<Op::sqrt>>, "X"},
    {"square", unary<square>, "X"},
    {"sum", sum, "X"},
    {"swiglu", swiglu, "X"},
    {"swish", unary<swish>, "X"},
    {"tanh", unary<plain<Op::tanh>>, "X"},
    {"where", where, "Condition X Y"},
    // gradients
    {"abs_grad", unary_grad<abs_slope, Of::x>, "X Out@GRAD"},
    {"atan2_grad", binary_grad<angle_slope_x, angle_slope_y>, "X Y Out@GRAD"},
    {"clip_grad", unary_grad<clip_slope, Of::x>, "X Out@GRAD"},
    {"cos_grad", unary_grad<cos_slope, Of::x>, "X Out@GRAD"},
    {"elementwise_add_grad", binary_grad<dout_of, dout_of>, "X Y Out@GRAD"},
    {"elementwise_div_grad", binary_grad<dout_over_y, divisor_slope>, "X Y Out@GRAD"},
    {"elementwise_max_grad", binary_grad<where_x<ir::Direction::GE>, where_y<ir::Direction::GE>>, "X Y Out@GRAD"},
    {"elementwise_fmax_grad", binary_grad<where_x<ir::Direction::GE>, where_y<ir::Direction::GE>>, "X Y Out@GRAD"},
    {"elementwise_fmin_grad", binary_grad<where_x<ir::Direction::LE>, where_y<ir::Direction::LE>>, "X Y Out@GRAD"},
    {"elementwise_min_grad", binary_grad<where_x<ir::Direction::LT>, where_y<ir::Direction::LT>>, "X Y Out@GRAD"},
    {"elementwise_mod_grad", binary_grad<dout_of, minus_dout_times>, "X Y Out@GRAD"},
    {"elementwise_pow_grad", binary_grad<base_slope, exponent_slope>, "X Y Out@GRAD"},
    {"elementwise_mul_grad", binary_grad<dout_y, dout_x>, "X Y Out@GRAD"},
    {"elementwise_sub_grad", binary_grad<dout_of, minus_dout>, "X Y Out@GRAD"},
    {"exp_grad", unary_grad<exp_slope, Of::out>, "Out Out@GRAD"},
    {"gelu_grad", unary_grad<gelu_slope, Of::x>, "X Out@GRAD"},
    {"hard_swish_grad", unary_grad<hard_swish_slope, Of::x>, "X Out@GRAD"},
    {"leaky_relu_grad", unary_grad<leaky_relu_slope, Of::x>, "X Out@GRAD"},
    {"log_grad", unary_grad<log_slope, Of::x>, "X Out@GRAD"},
    {"pow_grad", unary_grad<power_slope, Of::x>, "X Out@GRAD"},
    {"prelu_grad", prelu_grad, "X Alpha Out@GRAD"},
    {"reciprocal_grad", unary_grad<reciprocal_slope, Of::out>, "Out Out@GRAD"},
    {"relu_grad", unary_grad<relu_slope, Of::out>, "Out Out@GRAD"},
    {"rsqrt_grad", unary_grad<rsqrt_slope, Of::out>, "Out Out@GRAD"},
    {"sigmoid_grad", unary_grad<sigmoid_slope, Of::out>, "Out Out@GRAD"},
    {"silu_grad", unary_grad<silu_slope, Of::x>, "X Out@GRAD"},
    {"sin_grad", unary_grad<sin_slope, Of::x>, "X Out@GRAD"},
    {"softplus_grad", unary_grad<softplus_slope, Of::x>, "X Out@GRAD"},
    {"sqrt_grad", unary_grad<sqrt_slope, Of::out>, "Out Out@GRAD"},
    {"square_grad", unary_grad<square_slope, Of::x>, "X Out@GRAD"},
    {"swiglu_grad", swiglu_grad, "X Y Out@GRAD"},
    {"tanh_grad", unary_grad<tanh_slope, Of::out>, "Out Out@GRAD"},
    {"where_grad", where_grad, "Condition X Y Out@GRAD"},
};

}  // namespace

std::span<const Row> elementwise_rows() { return kElementwiseRows; }

}  // namespace importers::paddle
