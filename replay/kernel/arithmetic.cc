// HLO's elementwise ops in primitive nodes. The rules that are not those of C: x / 0 = -1 for integers, shifts by the width or more, maxima
// that keep NaN, conversions that saturate.
#include "replay/kernel/arithmetic.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace kernel {
namespace {

using ir::Op;
using ir::Type;

bool is_signed(Type type) { return ir::info(type).kind == ir::TypeInfo::Kind::signed_; }
NodeId number(Graph& g, Reg type, double value) {
  return is_float(type) ? g.real(type, value) : g.integer(type, static_cast<int64_t>(value));
}

/// A NaN that is given comes out; max(-0, 0) = 0, min(-0, 0) = -0: equal operands are joined bit by bit.
NodeId float_extreme(Graph& g, Op op, NodeId a, NodeId b) {
  if (g.is_constant(a)) std::swap(a, b);
  const Predicate wins = op == Op::maximum ? Predicate::ogt : Predicate::olt;
  NodeId best = g.select(g.compare(wins, a, b), a, b);
  if (!g.is_constant(b) && g[a].code != Code::parameter) {
    const Reg ints = g.type(a) == Reg::f64 ? Reg::i64 : Reg::i32;
    const NodeId joined =
        g.binary(op == Op::maximum ? Code::and_ : Code::or_, g.cast(Code::bitcast, ints, a), g.cast(Code::bitcast, ints, b));
    best = g.select(g.compare(Predicate::oeq, a, b), g.cast(Code::bitcast, g.type(a), joined), best);
  }
  return g.select(is_nan(g, a), a, best);
}

NodeId extreme(Graph& g, Op op, Type type, NodeId a, NodeId b) {
  if (ir::is_float(type)) return float_extreme(g, op, a, b);
  if (type == Type::pred) return g.binary(op == Op::maximum ? Code::or_ : Code::and_, a, b);
  const bool max = op == Op::maximum, sign = is_signed(type);
  const Predicate p = max ? (sign ? Predicate::sgt : Predicate::ugt) : (sign ? Predicate::slt : Predicate::ult);
  return g.select(g.compare(p, a, b), a, b);
}

/// x / 0 = -1, x rem 0 = x, smallest / -1 = smallest, smallest rem -1 = 0: such divisors are replaced by 1.
NodeId integer_division(Graph& g, Op op, Type type, NodeId a, NodeId b) {
  const Reg reg = g.type(a);
  const NodeId zero = g.compare(Predicate::eq, b, g.integer(reg, 0));
  NodeId unsafe = zero;
  if (is_signed(type)) {
    const NodeId smallest = g.integer(reg, std::numeric_limits<int64_t>::min() >> (64 - width(reg)));
    const NodeId overflow = g.binary(Code::and_, g.compare(Predicate::eq, b, g.integer(reg, -1)), g.compare(Predicate::eq, a, smallest));
    unsafe = g.binary(Code::or_, zero, overflow);
  }
  const NodeId divisor = g.select(unsafe, g.integer(reg, 1), b);
  if (op == Op::divide) {
    const NodeId quotient = g.binary(is_signed(type) ? Code::sdiv : Code::udiv, a, divisor);
    return g.select(zero, g.integer(reg, -1), quotient);
  }
  return g.select(zero, a, g.binary(is_signed(type) ? Code::srem : Code::urem, a, divisor));
}

/// The bits that an integer of less than 8 bits has, as an unsigned number.
NodeId unsigned_bits(Graph& g, Typed x) {
  const int bits = ir::info(x.type).significant_bits;
  return bits >= 8 || x.type == Type::pred ? x.node : g.binary(Code::and_, x.node, g.integer(Reg::i8, (int64_t{1} << bits) - 1));
}

NodeId shift(Graph& g, Op op, Typed x, NodeId by) {
  const Reg reg = g.type(x.node);
  const bool logical = op == Op::shift_right_logical;
  const int bits = ir::info(x.type).significant_bits;
  NodeId a = logical ? unsigned_bits(g, x) : x.node;
  if (op == Op::shift_right_arithmetic && !is_signed(x.type) && bits < 8) {  // the uppermost bit of so few is a sign, too
    const NodeId spare = g.integer(reg, width(reg) - bits);
    a = g.binary(Code::ashr, g.binary(Code::shl, a, spare), spare);
  }
  const NodeId b = unsigned_bits(g, {by, x.type});
  const NodeId inside = g.compare(Predicate::ult, b, g.integer(reg, bits));
  const NodeId amount = g.select(inside, b, g.integer(reg, op == Op::shift_right_arithmetic ? bits - 1 : 0));
  if (op == Op::shift_right_arithmetic) return g.binary(Code::ashr, a, amount);
  return g.select(inside, g.binary(op == Op::shift_left ? Code::shl : Code::lshr, a, amount), g.integer(reg, 0));
}

/// Squares and multiplies over all bits of the exponent. Negative exponents: 1 → 1, -1 → ±1, else 0.
NodeId integer_power(Graph& g, Type type, NodeId base, NodeId exponent) {
  const Reg reg = g.type(base);
  NodeId result = g.integer(reg, 1), square = base;
  for (int bit = 0; bit < width(reg); ++bit) {
    const NodeId set = g.compare(Predicate::ne, g.binary(Code::and_, exponent, g.integer(reg, int64_t{1} << bit)), g.integer(reg, 0));
    result = g.select(set, g.binary(Code::mul, result, square), result);
    square = g.binary(Code::mul, square, square);
  }
  if (!is_signed(type)) return result;
  const NodeId odd = g.compare(Predicate::ne, g.binary(Code::and_, exponent, g.integer(reg, 1)), g.integer(reg, 0));
  const NodeId one = g.integer(reg, 1), minus = g.integer(reg, -1);
  const NodeId of_minus = g.select(g.compare(Predicate::eq, base, minus), g.select(odd, minus, one), g.integer(reg, 0));
  const NodeId of_negative = g.select(g.compare(Predicate::eq, base, one), one, of_minus);
  return g.select(g.compare(Predicate::slt, exponent, g.integer(reg, 0)), of_negative, result);
}

/// The upper 64 bits by halves: with u = 2^32·u1 + u0 the middle products carry; a signed product is the unsigned one less what the signs
/// add.
NodeId high_product_64(Graph& g, Type type, NodeId a, NodeId b) {
  const auto c = [&](int64_t v) { return g.integer(Reg::i64, v); };
  const auto add = [&](NodeId x, NodeId y) { return g.binary(Code::add, x, y); };
  const auto mul = [&](NodeId x, NodeId y) { return g.binary(Code::mul, x, y); };
  const auto low = [&](NodeId x) { return g.binary(Code::and_, x, c(0xffffffff)); };
  const auto high = [&](NodeId x) { return g.binary(Code::lshr, x, c(32)); };
  const NodeId first = add(mul(high(a), low(b)), high(mul(low(a), low(b))));
  const NodeId second = add(mul(low(a), high(b)), low(first));
  const NodeId product = add(add(mul(high(a), high(b)), high(first)), high(second));
  if (!is_signed(type)) return product;
  const auto if_negative = [&](NodeId x, NodeId y) { return g.binary(Code::and_, g.binary(Code::ashr, x, c(63)), y); };
  return g.binary(Code::sub, g.binary(Code::sub, product, if_negative(a, b)), if_negative(b, a));
}

NodeId high_product(Graph& g, Type type, NodeId a, NodeId b) {
  if (g.type(a) == Reg::i64) return high_product_64(g, type, a, b);
  const Code widen = is_signed(type) ? Code::sext : Code::zext;
  const NodeId product = g.binary(Code::mul, g.cast(widen, Reg::i64, a), g.cast(widen, Reg::i64, b));
  return g.cast(Code::trunc, g.type(a), g.binary(Code::lshr, product, g.integer(Reg::i64, ir::info(type).significant_bits)));
}

Predicate predicate_of(ir::Direction direction, Type type) {
  constexpr Predicate kFloat[] = {Predicate::oeq, Predicate::une, Predicate::oge, Predicate::ogt, Predicate::ole, Predicate::olt};
  constexpr Predicate kSigned[] = {Predicate::eq, Predicate::ne, Predicate::sge, Predicate::sgt, Predicate::sle, Predicate::slt};
  constexpr Predicate kUnsigned[] = {Predicate::eq, Predicate::ne, Predicate::uge, Predicate::ugt, Predicate::ule, Predicate::ult};
  const auto i = static_cast<size_t>(direction);  // EQ, NE, GE, GT, LE, LT
  return ir::is_float(type) ? kFloat[i] : is_signed(type) ? kSigned[i] : kUnsigned[i];
}

/// Total order of floats: their bits, with all but the sign flipped where negative, as signed integers.
NodeId total_order_key(Graph& g, NodeId x) {
  const Reg ints = g.type(x) == Reg::f64 ? Reg::i64 : Reg::i32;
  const NodeId bits = g.cast(Code::bitcast, ints, x);
  const NodeId sign = g.binary(Code::ashr, bits, g.integer(ints, width(ints) - 1));
  return g.binary(Code::xor_, bits, g.binary(Code::lshr, sign, g.integer(ints, 1)));
}

NodeId compare(Graph& g, const ElementOp& op, Typed a, Typed b) {
  if (op.compare.total_order && ir::is_float(a.type))
    return g.compare(predicate_of(op.compare.direction, Type::s32), total_order_key(g, a.node), total_order_key(g, b.node));
  return g.compare(predicate_of(op.compare.direction, a.type), a.node, b.node);
}

NodeId sign_of(Graph& g, Typed x) {
  const Reg reg = g.type(x.node);
  const NodeId zero = number(g, reg, 0), one = number(g, reg, 1);
  if (ir::is_float(x.type)) {
    const NodeId unit = g.op(Code::copysign, reg, {one, x.node});
    const NodeId keeps = g.binary(Code::or_, is_nan(g, x.node), g.compare(Predicate::oeq, x.node, zero));
    return g.select(keeps, x.node, unit);
  }
  const NodeId positive = g.select(g.compare(Predicate::eq, x.node, zero), zero, one);
  return is_signed(x.type) ? g.select(g.compare(Predicate::slt, x.node, zero), number(g, reg, -1), positive) : positive;
}

NodeId absolute(Graph& g, Typed x) {
  if (ir::is_float(x.type)) return g.unary(Code::fabs, x.node);
  if (!is_signed(x.type)) return x.node;
  const NodeId zero = number(g, g.type(x.node), 0);
  return g.select(g.compare(Predicate::slt, x.node, zero), g.binary(Code::sub, zero, x.node), x.node);
}

NodeId negate(Graph& g, Typed x) {
  if (ir::is_float(x.type)) return g.unary(Code::fneg, x.node);
  return g.binary(Code::sub, number(g, g.type(x.node), 0), x.node);
}

/// Rounds to `mantissa` stored bits, to nearest even, by the bits; NaN stays a NaN.
NodeId round_mantissa(Graph& g, NodeId x, int64_t mantissa) {
  const Reg reg = g.type(x), ints = reg == Reg::f64 ? Reg::i64 : Reg::i32;
  const int64_t drop = (reg == Reg::f64 ? 52 : 23) - mantissa;
  if (drop <= 0) return x;
  const auto c = [&](int64_t v) { return g.integer(ints, v); };
  const NodeId u = g.cast(Code::bitcast, ints, x);
  const NodeId odd = g.binary(Code::and_, g.binary(Code::lshr, u, c(drop)), c(1));
  const NodeId sum = g.binary(Code::add, g.binary(Code::add, u, c((int64_t{1} << (drop - 1)) - 1)), odd);
  const NodeId kept = g.cast(Code::bitcast, reg, g.binary(Code::and_, sum, c(-(int64_t{1} << drop))));
  return g.select(is_nan(g, x), x, kept);
}

NodeId is_finite(Graph& g, Typed x) {
  if (!ir::is_float(x.type)) return g.integer(Reg::i1, 1);
  return g.compare(Predicate::olt, g.unary(Code::fabs, x.node), g.real(g.type(x.node), std::numeric_limits<double>::infinity()));
}

NodeId count_leading_zeros(Graph& g, Typed x) {
  const NodeId zeros = g.unary(Code::ctlz, unsigned_bits(g, x));
  const int spare = width(g.type(x.node)) - (x.type == Type::pred ? 1 : ir::info(x.type).significant_bits);
  return spare == 0 ? zeros : g.binary(Code::sub, zeros, g.integer(g.type(zeros), spare));
}
NodeId population(Graph& g, Typed x) { return g.unary(Code::ctpop, unsigned_bits(g, x)); }
NodeId invert(Graph& g, Typed x) { return g.binary(Code::xor_, x.node, g.integer(g.type(x.node), x.type == Type::pred ? 1 : -1)); }
NodeId square_root(Graph& g, Typed x) { return g.unary(Code::sqrt, x.node); }
NodeId inverse_root(Graph& g, Typed x) { return g.binary(Code::fdiv, number(g, g.type(x.node), 1), g.unary(Code::sqrt, x.node)); }
NodeId logistic(Graph& g, Typed x) {
  if (g.type(x.node) == Reg::f32) return logistic_f32(g, x.node);
  const NodeId one = g.real(Reg::f64, 1);
  return g.binary(Code::fdiv, one, g.binary(Code::add, one, g.call(Function::exp, {g.unary(Code::fneg, x.node)})));
}
template <Code code>
NodeId direct(Graph& g, Typed x) {
  return ir::is_float(x.type) ? g.unary(code, x.node) : x.node;
}
template <Function function>
NodeId called(Graph& g, Typed x) {
  return g.call(function, {x.node});
}
template <Function function, NodeId (*inlined)(Graph&, NodeId)>
NodeId inlined_f32(Graph& g, Typed x) {
  return g.type(x.node) == Reg::f32 ? inlined(g, x.node) : g.call(function, {x.node});
}

NodeId tangent(Graph& g, Typed x) {
  if (x.type == Type::f16 || x.type == Type::bf16) return tanh_f16(g, x.node);
  return inlined_f32<Function::tanh, tanh_f32>(g, x);
}

enum class Of : uint8_t { all, floats, bits };  ///< bits: integers and pred
struct RealUnary {
  Op op;
  Of of;
  NodeId (*make)(Graph&, Typed);
};
constexpr RealUnary kRealUnary[] = {
    {Op::abs, Of::all, absolute},
    {Op::negate, Of::all, negate},
    {Op::sign, Of::all, sign_of},
    {Op::floor, Of::floats, direct<Code::floor>},
    {Op::ceil, Of::floats, direct<Code::ceil>},
    {Op::round_nearest_afz, Of::floats, direct<Code::round>},
    {Op::round_nearest_even, Of::floats, direct<Code::rint>},
    {Op::sqrt, Of::floats, square_root},
    {Op::rsqrt, Of::floats, inverse_root},
    {Op::cbrt, Of::floats, called<Function::cbrt>},
    {Op::exponential, Of::floats, inlined_f32<Function::exp, exp_f32>},
    {Op::exponential_minus_one, Of::floats, called<Function::expm1>},
    {Op::log, Of::floats, inlined_f32<Function::log, log_f32>},
    {Op::log_plus_one, Of::floats, called<Function::log1p>},
    {Op::logistic, Of::floats, logistic},
    {Op::tanh, Of::floats, tangent},
    {Op::tan, Of::floats, called<Function::tan>},
    {Op::sine, Of::floats, called<Function::sin>},
    {Op::cosine, Of::floats, called<Function::cos>},
    {Op::sinh, Of::floats, called<Function::sinh>},
    {Op::cosh, Of::floats, called<Function::cosh>},
    {Op::asin, Of::floats, called<Function::asin>},
    {Op::acos, Of::floats, called<Function::acos>},
    {Op::asinh, Of::floats, called<Function::asinh>},
    {Op::acosh, Of::floats, called<Function::acosh>},
    {Op::atanh, Of::floats, called<Function::atanh>},
    {Op::erf, Of::floats, called<Function::erf>},
    {Op::not_, Of::bits, invert},
    {Op::popcnt, Of::bits, population},
    {Op::count_leading_zeros, Of::bits, count_leading_zeros},
    {Op::is_finite, Of::all, is_finite},
};

NodeId plain(Graph& g, Op op, Type type, NodeId a, NodeId b) {
  if (type == Type::pred) {  // add and multiply of booleans are or and and
    const Code code = op == Op::add || op == Op::or_ ? Code::or_ : op == Op::multiply || op == Op::and_ ? Code::and_ : Code::xor_;
    return g.binary(code, a, b);
  }
  constexpr std::pair<Op, Code> kCodes[] = {{Op::add, Code::add},   {Op::subtract, Code::sub}, {Op::multiply, Code::mul},
                                            {Op::and_, Code::and_}, {Op::or_, Code::or_},      {Op::xor_, Code::xor_}};
  const bool of_bits = op == Op::and_ || op == Op::or_ || op == Op::xor_;
  for (const auto& [hlo, code] : kCodes)
    if (hlo == op && !(of_bits && ir::is_float(type))) return g.binary(code, a, b);
  return -1;
}

/// What lies below the smallest normal of the format becomes a zero, what lies above its largest number an infinity.
NodeId reduce_precision(Graph& g, const ElementOp& op, Typed x) {
  const Reg reg = g.type(x.node);
  if (!ir::is_float(x.type) || op.exponent_bits < 1 || op.mantissa_bits < 0) return -1;
  const NodeId kept = round_mantissa(g, x.node, op.mantissa_bits);
  const int own_bits = ir::is_small_float(x.type) ? ir::info(x.type).small->exponent : reg == Reg::f64 ? 11 : 8;
  if (op.exponent_bits >= own_bits) return kept;
  const int bias = (1 << (op.exponent_bits - 1)) - 1;
  const double infinity = std::numeric_limits<double>::infinity();
  const double smallest = std::ldexp(1.0, 1 - bias), above = std::ldexp(1.0, bias + 1);
  const auto signed_like = [&](double value) { return g.op(Code::copysign, reg, {g.real(reg, value), x.node}); };
  const NodeId size = g.unary(Code::fabs, kept);
  const NodeId low = g.select(g.compare(Predicate::olt, size, g.real(reg, smallest)), signed_like(0), kept);
  return g.select(g.compare(Predicate::oge, size, g.real(reg, above)), signed_like(infinity), low);
}

/// Away from zero where the random bits, as a fraction of 1, lie below the fraction of x.
NodeId stochastic_convert(Graph& g, const ElementOp& op, Typed x, Typed random) {
  if (!ir::is_float(x.type) || ir::is_float(random.type)) return -1;
  if (ir::is_float(op.type)) return convert(g, x, op.type);
  const NodeId wide = g.cast(Code::fpext, Reg::f64, x.node);
  const NodeId size = g.unary(Code::fabs, wide), whole = g.unary(Code::floor, size);
  const NodeId drawn =
      g.binary(Code::mul, convert(g, random, Type::f64), g.real(Reg::f64, std::ldexp(1.0, -ir::info(random.type).significant_bits)));
  const NodeId up = g.compare(Predicate::olt, drawn, g.binary(Code::sub, size, whole));
  const NodeId chosen = g.select(up, g.binary(Code::add, whole, g.real(Reg::f64, 1)), whole);
  return convert(g, {g.op(Code::copysign, Reg::f64, {chosen, wide}), Type::f64}, op.type);
}

NodeId binary(Graph& g, const ElementOp& op, Typed a, Typed b) {
  const bool floats = ir::is_float(a.type);
  switch (op.op) {
    case Op::complex:
      return floats ? g.pair(a.node, b.node) : -1;
    case Op::stochastic_convert:
      return stochastic_convert(g, op, a, b);
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::and_:
    case Op::or_:
    case Op::xor_:
      return plain(g, op.op, a.type, a.node, b.node);
    case Op::divide:
      return floats ? g.binary(Code::fdiv, a.node, b.node) : integer_division(g, op.op, a.type, a.node, b.node);
    case Op::remainder:
      return floats ? g.binary(Code::frem, a.node, b.node) : integer_division(g, op.op, a.type, a.node, b.node);
    case Op::maximum:
    case Op::minimum:
      return extreme(g, op.op, a.type, a.node, b.node);
    case Op::power:
      return floats ? g.call(Function::pow, {a.node, b.node}) : integer_power(g, a.type, a.node, b.node);
    case Op::atan2:
      return floats ? g.call(Function::atan2, {a.node, b.node}) : -1;
    case Op::shift_left:
    case Op::shift_right_logical:
    case Op::shift_right_arithmetic:
      return floats ? -1 : shift(g, op.op, a, b.node);
    case Op::mulhi:
      return floats ? -1 : high_product(g, a.type, a.node, b.node);
    case Op::compare:
      return compare(g, op, a, b);
    default:
      return -1;
  }
}

NodeId clamp(Graph& g, Typed low, Typed x, Typed high) {
  const NodeId raised = extreme(g, Op::maximum, x.type, x.node, low.node);
  return extreme(g, Op::minimum, x.type, raised, high.node);
}

NodeId unary(Graph& g, const ElementOp& op, Typed x) {
  if (op.op == Op::reduce_precision) return reduce_precision(g, op, x);
  if (op.op == Op::real && ir::is_float(x.type)) return x.node;
  if (op.op == Op::imag && ir::is_float(x.type)) return number(g, g.type(x.node), 0);
  if (op.op == Op::bitcast_convert && x.type == op.type) return x.node;
  if (op.op == Op::bitcast_convert && bits_of(x.type) == bits_of(op.type)) return from_pattern(g, pattern_of(g, x), op.type);
  for (const RealUnary& row : kRealUnary)
    if (row.op == op.op && (row.of == Of::all || (row.of == Of::floats) == ir::is_float(x.type))) return row.make(g, x);
  return -1;
}

}  // namespace

base::Result<NodeId> elementwise(Graph& graph, const ElementOp& op, std::span<const Typed> in) {
  NodeId result = -1;
  const bool chooses = in.size() == 3 && op.op == Op::select;
  if (!in.empty() && op.op == Op::convert) {
    result = convert(graph, in[0], op.type);
  } else if (!in.empty() && !chooses && ir::is_complex(in[0].type)) {
    result = complex_op(graph, op, in);
  } else {
    if (in.size() == 1) result = unary(graph, op, in[0]);
    if (in.size() == 2) result = binary(graph, op, in[0], in[1]);
    if (chooses) result = graph.select(in[0].node, in[1].node, in[2].node);
    if (in.size() == 3 && op.op == Op::clamp) result = clamp(graph, in[0], in[1], in[2]);
  }
  if (result < 0) {
    const std::string_view type = in.empty() ? ir::text(op.type) : ir::text(in[0].type);
    return base::Error{fmt::format("not for {}", type)};
  }
  const Reg reg = register_of(op.type);
  const bool other_precision = is_float(reg) && is_float(graph.type(result)) && reg != graph.type(result) && !graph.is_pair(result);
  if (other_precision) return graph.cast(reg == Reg::f64 ? Code::fpext : Code::fptrunc, reg, result);  // as the program declares it
  return wrapped(graph, result, op.type);
}

/// Saturates at the ends of an integer type of less than 8 bits.
NodeId saturated(Graph& g, NodeId value, Type to) {
  const int bits = ir::info(to).significant_bits;
  if (bits >= 8) return value;
  const int64_t high = is_signed(to) ? (int64_t{1} << (bits - 1)) - 1 : (int64_t{1} << bits) - 1;
  value = extreme(g, Op::minimum, to, value, g.integer(Reg::i8, high));
  return is_signed(to) ? extreme(g, Op::maximum, to, value, g.integer(Reg::i8, -high - 1)) : value;
}

/// Complex to real takes the real part; what becomes complex has an imaginary part of 0.
NodeId convert_complex(Graph& g, Typed value, Type to) {
  const Type from = part_type(value.type), part = part_type(to);
  const NodeId re = g.part(value.node, 0), im = g.is_pair(value.node) ? g.part(value.node, 1) : -1;
  if (to == Type::pred) return g.binary(Code::or_, convert(g, {re, from}, to), convert(g, {im, from}, to));
  const NodeId converted = convert(g, {re, from}, part);
  if (!ir::is_complex(to)) return converted;
  return g.pair(converted, im < 0 ? g.real(register_of(to), 0) : convert(g, {im, from}, part));
}

NodeId convert(Graph& g, Typed value, ir::Type to) {
  const Reg from_reg = g.type(value.node), reg = register_of(to);
  const bool floats = ir::is_float(value.type);
  if (ir::is_complex(value.type) || ir::is_complex(to)) return convert_complex(g, value, to);
  if (to == Type::pred) {
    if (value.type == Type::pred) return value.node;
    return g.compare(floats ? Predicate::une : Predicate::ne, value.node, number(g, from_reg, 0));
  }
  if (floats && ir::is_float(to))
    return from_reg == reg ? value.node : g.cast(reg == Reg::f64 ? Code::fpext : Code::fptrunc, reg, value.node);
  if (floats) return saturated(g, g.op(is_signed(to) ? Code::fptosi : Code::fptoui, reg, {value.node}), to);
  if (ir::is_float(to)) return g.op(is_signed(value.type) ? Code::sitofp : Code::uitofp, reg, {value.node});
  if (width(reg) <= width(from_reg)) return wrapped(g, g.cast(Code::trunc, reg, value.node), to);
  return wrapped(g, g.cast(is_signed(value.type) ? Code::sext : Code::zext, reg, value.node), to);
}

}  // namespace kernel
