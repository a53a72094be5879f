// Elementwise operators, gradients of activations, reductions: each is one kernel.
#include <cmath>
#include <numbers>

#include "importers/tensorflow/elementwise.h"

namespace importers::tensorflow {
namespace {

using ir::Direction;
using ir::Op;

template <Direction kDirection>
Values compare(Lowering& l) {
  return l.fuse([](Body& b, std::span<const Value> x) {
    const auto [left, right] = b.alike(x[0], x[1]);
    return Values{b.compare(kDirection, left, right)};
  });
}

Value one_minus(Body& b, Value x) { return b.binary(Op::subtract, b.like(x, 1), x); }
Value where_positive(Body& b, Value of, Value yes, Value no) { return b.select(b.compare(Direction::GT, of, b.like(of, 0)), yes, no); }

Value relu(Body& b, std::span<const Value> x) { return b.binary(Op::maximum, x[0], 0); }
Value relu6(Body& b, std::span<const Value> x) { return b.binary(Op::minimum, relu(b, x), 6); }
Value elu(Body& b, std::span<const Value> x) { return where_positive(b, x[0], x[0], b.unary(Op::exponential_minus_one, x[0])); }
Value softplus(Body& b, std::span<const Value> x) {
  const Value tail = b.unary(Op::log_plus_one, b.unary(Op::exponential, b.unary(Op::negate, b.unary(Op::abs, x[0]))));
  return b.binary(Op::add, b.binary(Op::maximum, x[0], 0), tail);
}
Value square(Body& b, std::span<const Value> x) { return times(b, x[0], x[0]); }
Value reciprocal(Body& b, std::span<const Value> x) { return b.binary(Op::divide, b.like(x[0], 1), x[0]); }
Value squared_difference(Body& b, std::span<const Value> x) {
  const Value d = b.binary(Op::subtract, x[0], x[1]);
  return times(b, d, d);
}
Value zeros_like(Body& b, std::span<const Value> x) { return b.like(x[0], 0); }
Value ones_like(Body& b, std::span<const Value> x) { return b.like(x[0], 1); }
Value div_no_nan(Body& b, std::span<const Value> x) {
  const auto [a, d] = b.alike(x[0], x[1]);
  return b.select(b.compare(Direction::EQ, d, b.like(d, 0)), b.like(d, 0), b.binary(Op::divide, a, d));
}
/// Does a truncated division leave something whose sign differs from the divisor's?
Value is_below(Body& b, Value rest, Value divisor) {
  const auto negative = [&](Value v) { return b.compare(Direction::LT, v, b.like(v, 0)); };
  return b.binary(Op::and_, b.compare(Direction::NE, rest, b.like(rest, 0)), b.compare(Direction::NE, negative(rest), negative(divisor)));
}
Value floor_div(Body& b, std::span<const Value> x) {
  const auto [a, d] = b.alike(x[0], x[1]);
  const Value q = b.binary(Op::divide, a, d);
  if (ir::is_float(b.type(q))) return b.unary(Op::floor, q);
  return b.binary(Op::subtract, q, b.convert(is_below(b, b.binary(Op::remainder, a, d), d), b.type(q)));
}
Value floor_mod(Body& b, std::span<const Value> x) {
  const auto [a, d] = b.alike(x[0], x[1]);
  const Value rest = b.binary(Op::remainder, a, d);
  return b.select(is_below(b, rest, d), b.binary(Op::add, rest, d), rest);
}

/// What a function gives where `zero` is 0 is 0.
Value zero_where(Body& b, Value zero, Value otherwise) {
  return b.select(b.compare(Direction::EQ, zero, b.like(zero, 0)), b.like(otherwise, 0), otherwise);
}
Value mul_no_nan(Body& b, std::span<const Value> x) {
  const auto [a, d] = b.alike(x[0], x[1]);
  return zero_where(b, d, times(b, a, d));
}
Value x_div_y(Body& b, std::span<const Value> x) {
  const auto [a, d] = b.alike(x[0], x[1]);
  return zero_where(b, a, b.binary(Op::divide, a, d));
}
Value x_log_y(Body& b, std::span<const Value> x) {
  const auto [a, d] = b.alike(x[0], x[1]);
  return zero_where(b, a, times(b, a, b.unary(Op::log, d)));
}

constexpr double kSeluScale = 1.0507009873554805, kSeluAlpha = 1.6732632423543772;  // Klambauer et al. 2017
Value selu(Body& b, std::span<const Value> x) {
  const Value below = b.binary(Op::multiply, b.unary(Op::exponential_minus_one, x[0]), kSeluScale * kSeluAlpha);
  return where_positive(b, x[0], b.binary(Op::multiply, x[0], kSeluScale), below);
}
Value selu_grad(Body& b, std::span<const Value> x) {
  const Value below = times(b, x[0], b.binary(Op::add, x[1], kSeluScale * kSeluAlpha));
  return where_positive(b, x[1], b.binary(Op::multiply, x[0], kSeluScale), below);
}
Value softsign(Body& b, std::span<const Value> x) { return b.binary(Op::divide, x[0], b.binary(Op::add, b.unary(Op::abs, x[0]), 1)); }
Value softsign_grad(Body& b, std::span<const Value> x) {
  const Value size = b.binary(Op::add, b.unary(Op::abs, x[1]), 1);
  return b.binary(Op::divide, x[0], times(b, size, size));
}
Value erfc(Body& b, std::span<const Value> x) { return one_minus(b, b.unary(Op::erf, x[0])); }
Value is_nan(Body& b, std::span<const Value> x) { return b.compare(Direction::NE, x[0], x[0]); }
Value clip(Body& b, std::span<const Value> x) { return b.binary(Op::minimum, b.binary(Op::maximum, x[0], x[1]), x[2]); }

/// Gradients. TensorFlow gives those of relu the gradient first, those of tanh and the like the result first.
Value relu_grad(Body& b, std::span<const Value> x) { return where_positive(b, x[1], x[0], b.like(x[0], 0)); }
Value relu6_grad(Body& b, std::span<const Value> x) {
  const Value below = b.compare(Direction::LT, x[1], b.like(x[1], 6));
  return b.select(below, relu_grad(b, x), b.like(x[0], 0));
}
Value elu_grad(Body& b, std::span<const Value> x) { return where_positive(b, x[1], x[0], times(b, x[0], b.binary(Op::add, x[1], 1))); }
Value softplus_grad(Body& b, std::span<const Value> x) { return times(b, x[0], b.unary(Op::logistic, x[1])); }
Value tanh_grad(Body& b, std::span<const Value> x) { return times(b, x[1], one_minus(b, times(b, x[0], x[0]))); }
Value sigmoid_grad(Body& b, std::span<const Value> x) { return times(b, x[1], times(b, x[0], one_minus(b, x[0]))); }
Value sqrt_grad(Body& b, std::span<const Value> x) { return b.binary(Op::divide, b.binary(Op::multiply, x[1], 0.5), x[0]); }
Value rsqrt_grad(Body& b, std::span<const Value> x) {
  return times(b, b.binary(Op::multiply, x[1], -0.5), times(b, x[0], times(b, x[0], x[0])));
}
Value reciprocal_grad(Body& b, std::span<const Value> x) { return b.unary(Op::negate, times(b, x[1], times(b, x[0], x[0]))); }

Value l2_loss(Body& b, std::span<const Value> x) {
  Dims all;
  for (int64_t d = 0; d < b.rank(x[0]); ++d) all.push_back(d);
  return b.binary(Op::multiply, b.reduce(Op::add, times(b, x[0], x[0]), all), 0.5);
}

Values leaky_relu(Lowering& l) {
  const double alpha = attribute(l.node, "alpha", 0.2);
  return l.fuse(
      [&](Body& b, std::span<const Value> x) { return Values{where_positive(b, x[0], x[0], b.binary(Op::multiply, x[0], alpha))}; });
}

/// (gradient, x).
Values leaky_relu_grad(Lowering& l) {
  const double alpha = attribute(l.node, "alpha", 0.2);
  return l.fuse(
      [&](Body& b, std::span<const Value> x) { return Values{where_positive(b, x[1], x[0], b.binary(Op::multiply, x[0], alpha))}; });
}

/// 32 bits that look random, each from its number: the end of MurmurHash3 (Appleby 2011).
Value mixed(Body& b, Value h) {
  const auto fold = [&](Value v, double shift) { return b.binary(Op::xor_, v, b.binary(Op::shift_right_logical, v, shift)); };
  return fold(b.binary(Op::multiply, fold(b.binary(Op::multiply, fold(h, 16), 0x85ebca6b), 13), 0xc2b2ae35), 16);
}
/// From 0 to below 1.
Value share_of(Body& b, Value bits) {
  return b.binary(Op::multiply, b.convert(b.binary(Op::shift_right_logical, bits, 8), ir::Type::f32), std::ldexp(1, -24));
}
/// Box and Muller 1958.
Value normal_of(Body& b, Value bits) {
  const Value radius = b.unary(Op::sqrt, b.binary(Op::multiply, b.unary(Op::log, one_minus(b, share_of(b, bits))), -2));
  return times(b, radius, b.unary(Op::cosine, b.binary(Op::multiply, share_of(b, mixed(b, bits)), 2 * std::numbers::pi)));
}

/// Uniform or normal numbers of a shape; which ones is nothing that a time depends on, and every pass makes the same.
template <bool kNormal>
Values random(Lowering& l) {
  const Dims dims = l.integers(0);
  const ir::Type type = attribute(l.node, "dtype", ir::Type::f32);
  if (!l.error.empty() || !are_sane(dims)) return l.fail("its shape is not known");
  if (!ir::is_float(type)) return l.fail("makes no floats");
  return l.program.fuse({}, [&](Body& b, std::span<const Value>) {
    const Value bits = mixed(b, b.iota(ir::Type::u32, {ir::elements(ir::array_shape(type, dims))}, 0));
    return Values{b.convert(b.reshape(kNormal ? normal_of(b, bits) : share_of(b, bits), dims), type)};
  });
}

Values select(Lowering& l) {
  return l.fuse([](Body& b, std::span<const Value> x) {
    const auto [yes, no] = b.alike(x[1], x[2]);
    Value condition = x[0];
    const bool by_rows = b.rank(condition) == 1 && b.rank(yes) > 1;  // Select, not SelectV2: a condition a row
    condition = by_rows ? b.broadcast(condition, b.dims(yes), {0}) : b.expand(condition, b.dims(yes));
    return Values{b.select(condition, yes, no)};
  });
}

Values cast(Lowering& l) {
  const ir::Type to = attribute(l.node, "DstT", l.node.shapes.empty() ? ir::Type::f32 : l.node.shapes[0].type);
  if (l.entry().type(l.in(0)) == to) return {l.in(0)};
  return l.fuse([&](Body& b, std::span<const Value> x) { return Values{b.convert(x[0], to)}; });
}

Values add_n(Lowering& l) {
  return l.fuse([](Body& b, std::span<const Value> x) {
    Value sum = x[0];
    for (const Value next : x.subspan(1)) sum = b.binary(Op::add, sum, next);
    return Values{sum};
  });
}

enum class Scaled : uint8_t { no, by_count, root_of_squares };

/// The dimensions are the second input.
template <Op kOp, Scaled kScaled = Scaled::no>
Values reduction(Lowering& l) {
  const int64_t rank = l.shape(0).rank();
  Dims dimensions = l.integers(1);
  if (!l.error.empty()) return {};
  for (int64_t& d : dimensions) d = from_end(d, rank);
  for (const int64_t d : dimensions) {
    if (d < 0 || d >= rank) return l.fail("reduces over a dimension that its input lacks");
  }
  const bool keep = attribute(l.node, "keep_dims", false);
  const Value operand = l.in(0);
  return {l.program.fuse1({{operand}}, [&](Body& b, std::span<const Value> x) {
    double count = 1;
    for (const int64_t d : dimensions) count *= static_cast<double>(b.dims(x[0])[static_cast<size_t>(d)]);
    const Value summed = kScaled == Scaled::root_of_squares ? times(b, x[0], x[0]) : x[0];
    const Value sum = keep ? b.reduce_keep(kOp, summed, dimensions) : b.reduce(kOp, summed, dimensions);
    if (kScaled == Scaled::root_of_squares) return b.unary(Op::sqrt, sum);
    return kScaled == Scaled::by_count && count > 0 ? b.binary(Op::multiply, sum, 1 / count) : sum;
  })};
}

constexpr Rule kMathRules[] = {
    {"Abs", unary<Op::abs>},
    {"Neg", unary<Op::negate>},
    {"Exp", unary<Op::exponential>},
    {"Expm1", unary<Op::exponential_minus_one>},
    {"Log", unary<Op::log>},
    {"Log1p", unary<Op::log_plus_one>},
    {"Sqrt", unary<Op::sqrt>},
    {"Rsqrt", unary<Op::rsqrt>},
    {"Tanh", unary<Op::tanh>},
    {"Sigmoid", unary<Op::logistic>},
    {"Sin", unary<Op::sine>},
    {"Cos", unary<Op::cosine>},
    {"Erf", unary<Op::erf>},
    {"Erfc", kernel<erfc>},
    {"Floor", unary<Op::floor>},
    {"Ceil", unary<Op::ceil>},
    {"Round", unary<Op::round_nearest_even>},
    {"Sign", unary<Op::sign>},
    {"IsFinite", unary<Op::is_finite>},
    {"LogicalNot", unary<Op::not_>},
    {"Relu", kernel<relu>},
    {"Relu6", kernel<relu6>},
    {"Elu", kernel<elu>},
    {"LeakyRelu", leaky_relu},
    {"Softplus", kernel<softplus>},
    {"Square", kernel<square>},
    {"Reciprocal", kernel<reciprocal>},
    {"Inv", kernel<reciprocal>},
    {"ZerosLike", kernel<zeros_like>},
    {"OnesLike", kernel<ones_like>},
    {"Cast", cast},
    {"Tan", unary<Op::tan>},
    {"Rint", unary<Op::round_nearest_even>},
    {"IsNan", kernel<is_nan>},
    {"Selu", kernel<selu>},
    {"Softsign", kernel<softsign>},
    {"ClipByValue", kernel<clip>, 3},
    {"RandomUniform", random<false>},
    {"RandomStandardNormal", random<true>},
    {"TruncatedNormal", random<true>},
    {"StatelessRandomUniform", random<false>},
    {"StatelessRandomUniformV2", random<false>},
    {"StatelessRandomNormal", random<true>},
    {"StatelessRandomNormalV2", random<true>},
    {"StatelessTruncatedNormal", random<true>},
    {"StatelessTruncatedNormalV2", random<true>},
    {"Add", binary<Op::add>, 2},
    {"AddV2", binary<Op::add>, 2},
    {"Sub", binary<Op::subtract>, 2},
    {"Mul", binary<Op::multiply>, 2},
    {"RealDiv", binary<Op::divide>, 2},
    {"Div", binary<Op::divide>, 2},
    {"DivNoNan", kernel<div_no_nan>, 2},
    {"FloorDiv", kernel<floor_div>, 2},
    {"FloorMod", kernel<floor_mod>, 2},
    {"Mod", binary<Op::remainder>, 2},
    {"TruncateDiv", binary<Op::divide>, 2},
    {"TruncateMod", binary<Op::remainder>, 2},
    {"MulNoNan", kernel<mul_no_nan>, 2},
    {"Xdivy", kernel<x_div_y>, 2},
    {"Xlogy", kernel<x_log_y>, 2},
    {"Atan2", binary<Op::atan2>, 2},
    {"Maximum", binary<Op::maximum>, 2},
    {"Minimum", binary<Op::minimum>, 2},
    {"Pow", binary<Op::power>, 2},
    {"SquaredDifference", kernel<squared_difference>, 2},
    {"LogicalAnd", binary<Op::and_>, 2},
    {"LogicalOr", binary<Op::or_>, 2},
    {"Equal", compare<Direction::EQ>, 2},
    {"NotEqual", compare<Direction::NE>, 2},
    {"Greater", compare<Direction::GT>, 2},
    {"GreaterEqual", compare<Direction::GE>, 2},
    {"Less", compare<Direction::LT>, 2},
    {"LessEqual", compare<Direction::LE>, 2},
    {"Select", select, 3},
    {"SelectV2", select, 3},
    {"AddN", add_n},
    {"AccumulateNV2", add_n},
    {"ReluGrad", kernel<relu_grad>, 2},
    {"Relu6Grad", kernel<relu6_grad>, 2},
    {"EluGrad", kernel<elu_grad>, 2},
    {"SeluGrad", kernel<selu_grad>, 2},
    {"LeakyReluGrad", leaky_relu_grad, 2},
    {"SoftsignGrad", kernel<softsign_grad>, 2},
    {"SoftplusGrad", kernel<softplus_grad>, 2},
    {"TanhGrad", kernel<tanh_grad>, 2},
    {"SigmoidGrad", kernel<sigmoid_grad>, 2},
    {"SqrtGrad", kernel<sqrt_grad>, 2},
    {"RsqrtGrad", kernel<rsqrt_grad>, 2},
    {"ReciprocalGrad", kernel<reciprocal_grad>, 2},
    {"InvGrad", kernel<reciprocal_grad>, 2},
    {"L2Loss", kernel<l2_loss>},
    {"Sum", reduction<Op::add>, 2},
    {"Mean", reduction<Op::add, Scaled::by_count>, 2},
    {"EuclideanNorm", reduction<Op::add, Scaled::root_of_squares>, 2},
    {"Max", reduction<Op::maximum>, 2},
    {"Min", reduction<Op::minimum>, 2},
    {"Prod", reduction<Op::multiply>, 2},
    {"All", reduction<Op::and_>, 2},
    {"Any", reduction<Op::or_>, 2},
};

}  // namespace

std::span<const Rule> math_rules() { return kMathRules; }

}  // namespace importers::tensorflow
