// Functions of f32 as polynomials: no call, so that vectors stay in registers. Coefficients are minimax fits with f32 coefficients
// (Sollya); errors were measured against f64 over every 101st bit pattern: exp 1.5, log 1.0, tanh 1.5, logistic 2.2 units in the last
// place.
#include <bit>
#include <initializer_list>
#include <limits>

#include "replay/kernel/arithmetic.h"

namespace kernel {
namespace {

/// An f32 or i32 node with operators.
struct F {
  Graph* g;
  NodeId id;
};
F constant(F like, double value) { return {like.g, like.g->real(Reg::f32, value)}; }
F integer(F like, int64_t value) { return {like.g, like.g->integer(Reg::i32, value)}; }
F op(Code code, F a, F b) { return {a.g, a.g->binary(code, a.id, b.id)}; }
F operator+(F a, F b) { return op(Code::add, a, b); }
F operator-(F a, F b) { return op(Code::sub, a, b); }
F operator*(F a, F b) { return op(Code::mul, a, b); }
F operator/(F a, F b) { return op(Code::fdiv, a, b); }
F operator+(F a, double b) { return a + constant(a, b); }
F operator-(F a, double b) { return a - constant(a, b); }
F operator*(F a, double b) { return a * constant(a, b); }
F operator-(F a) { return {a.g, a.g->unary(Code::fneg, a.id)}; }
F fma(F a, F b, F c) { return {a.g, a.g->fma(a.id, b.id, c.id)}; }
F fma(F a, double b, F c) { return fma(a, constant(a, b), c); }
F abs(F a) { return {a.g, a.g->unary(Code::fabs, a.id)}; }
F less(F a, double b) { return {a.g, a.g->compare(Predicate::olt, a.id, constant(a, b).id)}; }
F greater(F a, double b) { return {a.g, a.g->compare(Predicate::ogt, a.id, constant(a, b).id)}; }
F select(F which, F a, F b) { return {a.g, a.g->select(which.id, a.id, b.id)}; }
F low(F a, double b) { return select(greater(a, b), constant(a, b), a); }  // NaN stays
F high(F a, double b) { return select(less(a, b), constant(a, b), a); }
F bits(F a) { return {a.g, a.g->cast(Code::bitcast, Reg::i32, a.id)}; }
F value(F a) { return {a.g, a.g->cast(Code::bitcast, Reg::f32, a.id)}; }
F or_nan(F x, F result) { return select({x.g, x.g->compare(Predicate::uno, x.id, x.id)}, x, result); }
/// Horner, highest coefficient first.
F polynomial(F x, std::initializer_list<double> coefficients) {
  auto c = coefficients.begin();
  F sum = constant(x, *c++);
  while (c != coefficients.end()) sum = fma(sum, x, constant(x, *c++));
  return sum;
}

F power_of_two(F n) { return value(op(Code::shl, op(Code::add, n, integer(n, 127)), integer(n, 23))); }
struct Reduced {
  F r, n;
};
/// x = n·ln2 + r, |r| ≤ ln2 / 2. The first part of ln2 has 15 bits: n times it is exact.
Reduced reduce_ln2(F x) {
  const F n{x.g, x.g->unary(Code::rint, (x * 1.44269504).id)};
  const F r = fma(n, -1.42860682e-6, fma(n, -0.693145751953125, x));
  return {r, {x.g, x.g->cast(Code::toint, Reg::i32, n.id)}};
}
/// e^r - 1 for |r| ≤ ln2 / 2.
F exp_minus_one(F r) {
  const F q = polynomial(r, {1.393496873788535594940185546875e-3, 8.3632506430149078369140625e-3, 4.16664667427539825439453125e-2,
                             0.1666657626628875732421875, 0.5});
  return fma(r * r, q, r);
}

/// 2^n in two factors: subnormal and nearly overflowing results stay right.
F exponential(F x) {
  const auto [r, n] = reduce_ln2(high(low(x, 89), -105));
  const F half = op(Code::ashr, n, integer(n, 1)), rest = power_of_two(op(Code::sub, n, half));
  const F to_zero = less(x, -103.98);  // e^x < 2^-150: a masked attention score; a product that underflows takes 200 times as long
  return or_nan(x, (exp_minus_one(r) + 1) * power_of_two(half) * select(to_zero, constant(x, 0), rest));
}

}  // namespace

NodeId exp_f32(Graph& graph, NodeId x) { return exponential({&graph, x}).id; }

NodeId log_f32(Graph& graph, NodeId node) {
  const F x{&graph, node};
  const F tiny = less(x, std::numeric_limits<float>::min());
  const F y = select(tiny, x * 8388608.0, x);
  const F shifted = op(Code::sub, bits(y), integer(x, 0x3f3504f3));  // f + 1 in [√½, √2)
  const F e_int = op(Code::ashr, shifted, integer(x, 23));
  const F mantissa = op(Code::add, op(Code::and_, shifted, integer(x, 0x7fffff)), integer(x, 0x3f3504f3));
  const F e = F{&graph, graph.cast(Code::sitofp, Reg::f32, e_int.id)} - select(tiny, constant(x, 23), constant(x, 0));
  const F f = value(mantissa) - 1;
  const F q = polynomial(
      f, {-0.083311505616, 0.12812408805, -0.12940080464, 0.14188085496, -0.16643600166, 0.20001979172, -0.25000280142, 0.33333325386});
  const F small = fma(f * f * f, q, e * 1.42860682e-6);
  const F sum = fma(e, 0.693145751953125, fma(f * f, -0.5, f) + small);
  const double infinity = std::numeric_limits<double>::infinity();
  const F zero{&graph, graph.compare(Predicate::oeq, x.id, constant(x, 0).id)};
  const F finite = select(zero, constant(x, -infinity), sum);
  const F whole = select({&graph, graph.compare(Predicate::oeq, x.id, constant(x, infinity).id)}, x, finite);
  const F negative = less(x, 0);
  return or_nan(x, select(negative, constant(x, std::numeric_limits<double>::quiet_NaN()), whole)).id;
}

namespace {

/// a / b with 18 bits, for b in [2^-100, 2^100]: a first guess from the exponent, a cubic and a quadratic step of Newton's. A division of
/// vectors takes as long as thirty of its operations.
F nearly_divided(F a, F b) {
  const F guess = value(op(Code::sub, integer(b, 0x7ef311c7), bits(b)));
  const F off = fma(-b, guess, constant(b, 1));
  const F better = fma(fma(off, off, off), guess, guess);
  return a * fma(fma(-b, better, constant(b, 1)), better, better);
}

F with_sign_of(F x, F size) { return or_nan(x, {x.g, x.g->op(Code::copysign, Reg::f32, {size.id, x.id})}); }

}  // namespace

NodeId tanh_f32(Graph& graph, NodeId node) {
  const F x{&graph, node}, s = x * x, size = abs(x);
  const F p = polynomial(s, {-6.2976633198559284210205078125e-3, 2.113278396427631378173828125e-2, -5.3879372775554656982421875e-2,
                             0.1333296298980712890625, -0.333333313465118408203125});
  const F near_zero = fma(s * x, p, x);
  const F a = low(size, 10);
  const auto [r, n] = reduce_ln2(a + a);
  const F two = power_of_two(n);
  const F e = fma(exp_minus_one(r), two, two - 1);
  return select(less(size, 0.6), near_zero, with_sign_of(x, e / (e + 2))).id;
}

/// tanh x = e / (e + 2), e = e^2x - 1. With 2x = n·ln2 + 2r, adding kMagic rounds to n and leaves n + 127 in the last bits. Below ln2 / 4,
/// n is 0 and e is the polynomial alone, which keeps its bits; it ends at r^5: 17 bits.
NodeId tanh_f16(Graph& graph, NodeId node) {
  constexpr double kMagic = 12582912 + 127, kLog2E = 1.4426950408889634, kLn2 = 0.6931471805599453;
  const F x{&graph, node}, a = low(abs(x), 10);
  const F shifted = fma(a, 2 * kLog2E, constant(x, kMagic));
  const F r = fma(shifted - kMagic, -kLn2 / 2, a), two = value(op(Code::shl, bits(shifted), integer(x, 23)));
  const F e = fma(polynomial(r, {4.0 / 15, 2.0 / 3, 4.0 / 3, 2, 2}) * r, two, two - 1);
  return with_sign_of(x, nearly_divided(e, e + 2)).id;
}

NodeId logistic_f32(Graph& graph, NodeId node) {
  const F x{&graph, node};
  const F z = exponential(-abs(x));
  return or_nan(x, select(less(x, 0), z, constant(x, 1)) / (z + 1)).id;
}

}  // namespace kernel
