// Elementwise functions that HLO has no operator of, operators on bits, and roundings that stand for smaller types. Each is one kernel.
#include <cmath>
#include <numbers>

#include "importers/tensorflow/elementwise.h"

namespace importers::tensorflow {
namespace {

using ir::Direction;
using ir::Op;

Value is(Body& b, Direction how, Value x, double y) { return b.compare(how, x, b.like(x, y)); }

// ---------------------------------------------------------------- bits

bool is_unsigned(ir::Type type) { return ir::info(type).kind == ir::TypeInfo::Kind::unsigned_; }

Value population(Body& b, std::span<const Value> x) { return b.convert(b.unary(Op::popcnt, x[0]), ir::Type::u8); }
/// The sign of a signed number moves in from above.
Value shift_right(Body& b, std::span<const Value> x) {
  return b.binary(is_unsigned(b.type(x[0])) ? Op::shift_right_logical : Op::shift_right_arithmetic, x[0], x[1]);
}

/// The same bits as another type: wider elements are several of the last dimension, narrower ones make one.
Values bitcast(Lowering& l) {
  const ir::Type from = l.shape(0).type, to = attribute(l.node, "type", ir::Type::token);
  const int64_t old_size = ir::bytes(from), size = ir::bytes(to);
  Dims dims = l.dims(0);
  const bool joins = size > old_size && !dims.empty() && dims.back() * old_size == size;
  if (from == ir::Type::pred || size < 1 || (size > old_size && !joins)) return l.fail("its bits fill no elements of the type");
  if (joins) dims.pop_back();
  if (size < old_size) dims.push_back(old_size / size);
  const ir::Shape shape = ir::array_shape(to, dims);
  return {l.program.fuse1({{l.in(0)}}, [&](Body& b, std::span<const Value> x) { return b.op(Op::bitcast_convert, x, {}, &shape); })};
}

// ---------------------------------------------------------------- complex numbers

Value conjugate(Body& b, std::span<const Value> x) {
  if (!ir::is_complex(b.type(x[0]))) return x[0];
  return b.binary(Op::complex, b.unary(Op::real, x[0]), b.unary(Op::negate, b.unary(Op::imag, x[0])));
}
Value angle(Body& b, std::span<const Value> x) { return b.binary(Op::atan2, b.unary(Op::imag, x[0]), b.unary(Op::real, x[0])); }

// ---------------------------------------------------------------- functions of angles, by arc tangents and logarithms

/// √(1 − x²) with few digits lost near ±1.
Value other_side(Body& b, Value x) { return b.unary(Op::sqrt, times(b, minus(b, b.like(x, 1), x), plus(b, x, 1))); }
Value asin(Body& b, std::span<const Value> x) { return b.binary(Op::atan2, x[0], other_side(b, x[0])); }
Value acos(Body& b, std::span<const Value> x) { return b.binary(Op::atan2, other_side(b, x[0]), x[0]); }
Value atan(Body& b, std::span<const Value> x) { return b.binary(Op::atan2, x[0], b.like(x[0], 1)); }
/// (e + e / (e + 1)) / 2 of e = exp(x) − 1: exact near 0.
Value sinh(Body& b, std::span<const Value> x) {
  const Value size = b.unary(Op::abs, x[0]), e = b.unary(Op::exponential_minus_one, size);
  const Value near = times(b, plus(b, e, over(b, e, plus(b, e, 1))), 0.5);
  const Value far = b.unary(Op::exponential, plus(b, size, -std::numbers::ln2));  // e / (e + 1) is ∞ / ∞ where e overflows
  return times(b, b.unary(Op::sign, x[0]), b.select(is(b, Direction::GT, size, 20), far, near));
}
Value cosh(Body& b, std::span<const Value> x) {
  const auto half = [&](Value v) { return b.unary(Op::exponential, plus(b, v, -std::numbers::ln2)); };
  return plus(b, half(x[0]), half(b.unary(Op::negate, x[0])));
}
/// log(a + √(a² + 1)) of a = |x|, whose square does not overflow.
Value asinh(Body& b, std::span<const Value> x) {
  const Value a = b.unary(Op::abs, x[0]), square = times(b, a, a);
  const Value root = plus(b, b.unary(Op::sqrt, plus(b, square, 1)), 1);
  const Value near = b.unary(Op::log_plus_one, plus(b, a, over(b, square, root)));
  const Value far = plus(b, b.unary(Op::log, a), std::numbers::ln2);
  return times(b, b.unary(Op::sign, x[0]), b.select(is(b, Direction::GT, a, 1e4), far, near));
}
Value acosh(Body& b, std::span<const Value> x) {
  const Value below = plus(b, x[0], -1), root = b.unary(Op::sqrt, times(b, below, plus(b, x[0], 1)));
  const Value far = plus(b, b.unary(Op::log, x[0]), std::numbers::ln2);
  return b.select(is(b, Direction::GT, x[0], 1e4), far, b.unary(Op::log_plus_one, plus(b, below, root)));
}
Value atanh(Body& b, std::span<const Value> x) {
  const auto log = [&](Value v) { return b.unary(Op::log_plus_one, v); };
  return times(b, minus(b, log(x[0]), log(b.unary(Op::negate, x[0]))), 0.5);
}

// ---------------------------------------------------------------- the gamma function

/// Lanczos 1964 with Godfrey's coefficients for g = 7: Γ(z + 1) = √2π (z + 7.5)^(z + ½) e^−(z + 7.5) A(z), A = c₀ + Σ cₖ / (z + k).
constexpr double kG = 7, kFirst = 0.99999999999980993227684700473478;
constexpr double kCoefficients[] = {676.520368121885098567009190444019, -1259.13921672240287047156078755283,
                                    771.3234287776530788486528258894,   -176.61502916214059906584551354,
                                    12.507343278686904814458936853,     -0.13857109526572011689554707,
                                    9.984369578019570859563e-6,         1.50563273514931155834e-7};

/// What both functions are made of. Below ½ the mirrored place is looked at: Γ(x) Γ(1 − x) = π / sin πx.
struct Lanczos {
  Value mirrored, z, sum, slope, log_t, t;
};
Lanczos lanczos(Body& b, Value x) {
  Lanczos of;
  of.mirrored = is(b, Direction::LT, x, 0.5);
  of.z = b.select(of.mirrored, b.unary(Op::negate, x), plus(b, x, -1));
  of.sum = b.like(x, kFirst), of.slope = b.like(x, 0);
  double k = 0;
  for (const double coefficient : kCoefficients) {
    const Value place = plus(b, of.z, ++k), part = over(b, b.like(x, coefficient), place);
    of.sum = plus(b, of.sum, part), of.slope = minus(b, of.slope, over(b, part, place));
  }
  of.t = plus(b, of.z, kG + 0.5);
  of.log_t = plus(b, b.unary(Op::log_plus_one, times(b, of.z, 1 / (kG + 0.5))), std::log(kG + 0.5));
  return of;
}

Value lgamma(Body& b, std::span<const Value> x) {
  const Lanczos of = lanczos(b, x[0]);
  const Value power = times(b, minus(b, plus(b, of.z, 0.5), over(b, of.t, of.log_t)), of.log_t);
  const Value log_y = plus(b, plus(b, power, 0.5 * std::log(2 * std::numbers::pi)), b.unary(Op::log, of.sum));
  const Value size = b.unary(Op::abs, x[0]), share = minus(b, size, b.unary(Op::floor, size));
  const Value from_pole = b.binary(Op::minimum, share, minus(b, b.like(share, 1), share));
  const Value log_sine = b.unary(Op::log, b.unary(Op::sine, times(b, from_pole, std::numbers::pi)));
  const Value beyond = minus(b, b.like(x[0], std::log(std::numbers::pi)), log_sine);
  const Value mirror = b.select(b.unary(Op::is_finite, log_sine), minus(b, beyond, log_y), beyond);  // a pole: +∞
  const Value value = b.select(of.mirrored, mirror, log_y);
  return b.select(is(b, Direction::EQ, size, INFINITY), size, value);
}

/// Its derivative.
Value digamma(Body& b, std::span<const Value> x) {
  const Lanczos of = lanczos(b, x[0]);
  const Value y = minus(b, plus(b, of.log_t, over(b, of.slope, of.sum)), over(b, b.like(x[0], kG), of.t));
  const Value from_pole = minus(b, x[0], b.unary(Op::floor, plus(b, x[0], 0.5))), angle = times(b, from_pole, std::numbers::pi);
  const Value mirror = minus(b, y, over(b, times(b, b.unary(Op::cosine, angle), std::numbers::pi), b.unary(Op::sine, angle)));
  const Value is_pole = b.binary(Op::and_, is(b, Direction::LE, x[0], 0), is(b, Direction::EQ, from_pole, 0));
  return b.select(is_pole, b.like(y, NAN), b.select(of.mirrored, mirror, y));
}

// ---------------------------------------------------------------- others

Value is_infinite(Body& b, std::span<const Value> x) { return is(b, Direction::EQ, b.unary(Op::abs, x[0]), INFINITY); }
Value x_log1p_y(Body& b, std::span<const Value> x) {
  const auto [a, y] = b.alike(x[0], x[1]);
  return b.select(is(b, Direction::EQ, a, 0), b.like(a, 0), times(b, a, b.unary(Op::log_plus_one, y)));
}

Values approximate_equal(Lowering& l) {
  const double tolerance = attribute(l.node, "tolerance", 1e-5);
  return l.fuse([&](Body& b, std::span<const Value> x) {
    const auto [left, right] = b.alike(x[0], x[1]);
    return Values{is(b, Direction::LT, b.unary(Op::abs, minus(b, left, right)), tolerance)};
  });
}

/// Of vectors of three along the last dimension.
Values cross(Lowering& l) {
  if (l.dims(0).empty() || l.dims(0).back() != 3 || l.dims(0) != l.dims(1)) return l.fail("of other than vectors of three");
  return l.fuse([](Body& b, std::span<const Value> x) {
    const int64_t last = b.rank(x[0]) - 1;
    const auto turned = [&](Value v, int64_t places) { return b.roll(v, last, places); };
    return Values{minus(b, times(b, turned(x[0], 2), turned(x[1], 1)), times(b, turned(x[0], 1), turned(x[1], 2)))};
  });
}

// ---------------------------------------------------------------- fake quantisation

/// A range that 0 is a step of, and its step (tensorflow/core/kernels/fake_quant_ops_functor.h). min and max: scalars, or one a channel.
struct Range {
  Value low, high, step;
};
Range nudged(Body& b, const Node& node, Value min, Value max) {
  const double first = attribute(node, "narrow_range", false) ? 1 : 0;
  const double last = std::ldexp(1, static_cast<int>(std::clamp<int64_t>(attribute(node, "num_bits", int64_t{8}), 2, 16))) - 1;
  const Value step = times(b, minus(b, max, min), 1 / (last - first));
  const Value zero = minus(b, b.like(min, first), over(b, min, step));
  const Value nearest = b.unary(Op::floor, plus(b, b.binary(Op::minimum, b.binary(Op::maximum, zero, first), b.like(zero, last)), 0.5));
  return {times(b, minus(b, b.like(min, first), nearest), step), times(b, minus(b, b.like(min, last), nearest), step), step};
}

Value fake_quantised(Body& b, const Node& node, Value x, Value min, Value max) {
  const Range range = nudged(b, node, min, max);
  const auto wide = [&](Value v) { return b.expand(v, b.dims(x)); };
  const Value low = wide(range.low), step = wide(range.step);
  const Value inside = b.binary(Op::minimum, b.binary(Op::maximum, x, low), wide(range.high));
  const Value steps = b.unary(Op::floor, plus(b, over(b, minus(b, inside, low), step), 0.5));
  return b.select(is(b, Direction::EQ, step, 0), b.like(x, 0), plus(b, times(b, steps, step), low));
}

Values fake_quant_args(Lowering& l) {
  return l.fuse([&](Body& b, std::span<const Value> x) {
    const ir::Type type = b.type(x[0]);
    return Values{
        fake_quantised(b, l.node, x[0], b.constant(type, attribute(l.node, "min", -6.0)), b.constant(type, attribute(l.node, "max", 6.0)))};
  });
}
Values fake_quant(Lowering& l) {
  return l.fuse([&](Body& b, std::span<const Value> x) { return Values{fake_quantised(b, l.node, x[0], x[1], x[2])}; });
}

/// (gradient, x, min, max): inside the range it passes; what lies below or above belongs to min or max.
Values fake_quant_grad(Lowering& l) {
  return l.fuse([&](Body& b, std::span<const Value> x) {
    const Range range = nudged(b, l.node, x[2], x[3]);
    const Value below = b.compare(Direction::LT, x[1], b.expand(range.low, b.dims(x[1])));
    const Value above = b.compare(Direction::GT, x[1], b.expand(range.high, b.dims(x[1])));
    Dims summed;
    for (int64_t d = 0; d < b.rank(x[1]) - b.rank(x[2]); ++d) summed.push_back(d);
    const auto part = [&](Value where) { return b.reduce(Op::add, b.select(where, x[0], b.like(x[0], 0)), summed); };
    return Values{b.select(b.binary(Op::or_, below, above), b.like(x[0], 0), x[0]), part(below), part(above)};
  });
}

/// (x, min, max): rounded to steps of which one is 0 (tensorflow/core/kernels/quantize_and_dequantize_op.h).
Values quantize_and_dequantize(Lowering& l) {
  if (attribute(l.node, "axis", int64_t{-1}) != -1) return l.fail("rounds slices of one dimension apart");
  int64_t bits = attribute(l.node, "num_bits", int64_t{8});
  if (l.node.type == "QuantizeAndDequantizeV3") {
    if (const Dims given = l.integers(3); given.size() == 1) bits = given[0];
  }
  if (!l.error.empty() || bits < 2 || bits > 30) return l.fail("its number of bits is not known");
  const bool is_signed = attribute(l.node, "signed_input", true), is_narrow = attribute(l.node, "narrow_range", false);
  const double last = std::ldexp(1, static_cast<int>(is_signed ? bits - 1 : bits)) - 1;
  const double first = is_signed ? -last - (is_narrow ? 0 : 1) : 0;
  const bool given = attribute(l.node, "range_given", false), up = attribute(l.node, "round_mode", std::string()) == "HALF_UP";
  return l.fuse([&](Body& b, std::span<const Value> x) {
    Dims all;
    for (int64_t d = 0; d < b.rank(x[0]); ++d) all.push_back(d);
    const Value min = given ? x[1] : b.reduce(Op::minimum, x[0], all), max = given ? x[2] : b.reduce(Op::maximum, x[0], all);
    const auto step_of = [&](Value end, double steps) {  // 0: that end has no say
      const Value step = steps == 0 ? b.like(end, 0) : times(b, end, 1 / steps);
      return b.binary(Op::maximum, step, 0);
    };
    const Value step = b.expand(b.binary(Op::maximum, step_of(min, first), step_of(max, last)), b.dims(x[0]));
    const Value low = times(b, step, first), high = times(b, step, last);
    const Value steps = over(b, b.binary(Op::minimum, b.binary(Op::maximum, x[0], low), high), step);
    const Value whole = up ? b.unary(Op::floor, plus(b, steps, 0.5)) : b.unary(Op::round_nearest_even, steps);
    return Values{b.select(is(b, Direction::EQ, step, 0), b.like(x[0], 0), times(b, whole, step))};
  });
}

constexpr Rule kSpecialRules[] = {
    {"Invert", unary<Op::not_>},
    {"Bitcast", bitcast},
    {"BitwiseAnd", binary<Op::and_>, 2},
    {"BitwiseOr", binary<Op::or_>, 2},
    {"BitwiseXor", binary<Op::xor_>, 2},
    {"LeftShift", binary<Op::shift_left>, 2},
    {"RightShift", kernel<shift_right>, 2},
    {"PopulationCount", kernel<population>},
    {"Real", unary<Op::real>},
    {"Imag", unary<Op::imag>},
    {"ComplexAbs", unary<Op::abs>},
    {"Angle", kernel<angle>},
    {"Conj", kernel<conjugate>},
    {"Complex", binary<Op::complex>, 2},
    {"Asin", kernel<asin>},
    {"Acos", kernel<acos>},
    {"Atan", kernel<atan>},
    {"Sinh", kernel<sinh>},
    {"Cosh", kernel<cosh>},
    {"Asinh", kernel<asinh>},
    {"Acosh", kernel<acosh>},
    {"Atanh", kernel<atanh>},
    {"Lgamma", kernel<lgamma>},
    {"Digamma", kernel<digamma>},
    {"IsInf", kernel<is_infinite>},
    {"Xlog1py", kernel<x_log1p_y>, 2},
    {"ApproximateEqual", approximate_equal, 2},
    {"Cross", cross, 2},
    {"FakeQuantWithMinMaxArgs", fake_quant_args},
    {"FakeQuantWithMinMaxVars", fake_quant, 3},
    {"FakeQuantWithMinMaxVarsPerChannel", fake_quant, 3},
    {"FakeQuantWithMinMaxVarsGradient", fake_quant_grad, 4},
    {"FakeQuantWithMinMaxVarsPerChannelGradient", fake_quant_grad, 4},
    {"QuantizeAndDequantizeV2", quantize_and_dequantize, 3},
    {"QuantizeAndDequantizeV3", quantize_and_dequantize, 4},
    {"QuantizeAndDequantizeV4", quantize_and_dequantize, 3},
};

}  // namespace

std::span<const Rule> special_rules() { return kSpecialRules; }

}  // namespace importers::tensorflow
