// Ops on complex values, as formulas on their parts. Sums, products and negations are computed in the parts' type; everything else of c64
// in f64, where squares neither overflow nor cancel; that of c128 by the same formulas. Sources: C99 annex G (quotients), W. Kahan,
// "Branch cuts for complex elementary functions" (tanh, inverse functions).
#include <limits>

#include "replay/kernel/arithmetic.h"

namespace kernel {
namespace {

using ir::Op;
using ir::Type;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPart = 1e150;  ///< parts above this have squares that overflow

/// A real node with operators.
struct R {
  Graph* g;
  NodeId id;
};
R make(R like, double value) { return {like.g, like.g->real(like.g->type(like.id), value)}; }
R op(Code code, R a, R b) { return {a.g, a.g->binary(code, a.id, b.id)}; }
R operator+(R a, R b) { return op(Code::add, a, b); }
R operator-(R a, R b) { return op(Code::sub, a, b); }
R operator*(R a, R b) { return op(Code::mul, a, b); }
R operator/(R a, R b) { return op(Code::fdiv, a, b); }
R operator+(double a, R b) { return make(b, a) + b; }
R operator-(double a, R b) { return make(b, a) - b; }
R operator*(double a, R b) { return make(b, a) * b; }
R operator-(R a) { return {a.g, a.g->unary(Code::fneg, a.id)}; }
R abs(R a) { return {a.g, a.g->unary(Code::fabs, a.id)}; }
R sqrt(R a) { return {a.g, a.g->unary(Code::sqrt, a.id)}; }
R copysign(R a, R sign) { return {a.g, a.g->op(Code::copysign, a.g->type(a.id), {a.id, sign.id})}; }
R call(Function f, R a) { return {a.g, a.g->call(f, {a.id})}; }
R atan2(R y, R x) { return {y.g, y.g->call(Function::atan2, {y.id, x.id})}; }
R compare(Predicate p, R a, R b) { return {a.g, a.g->compare(p, a.id, b.id)}; }
R equal(R a, double b) { return compare(Predicate::oeq, a, make(a, b)); }
R both(R a, R b) { return op(Code::and_, a, b); }
R either(R a, R b) { return op(Code::or_, a, b); }
R negated(R a) { return {a.g, a.g->binary(Code::xor_, a.id, a.g->integer(Reg::i1, 1))}; }
R select(R which, R a, R b) { return {a.g, a.g->select(which.id, a.id, b.id)}; }
R is_nan(R a) { return compare(Predicate::uno, a, a); }
R is_infinite(R a) { return equal(abs(a), kInfinity); }
R is_finite(R a) { return compare(Predicate::olt, abs(a), make(a, kInfinity)); }
R larger(R a, R b) { return select(compare(Predicate::ogt, a, b), a, b); }
R smaller(R a, R b) { return select(compare(Predicate::ogt, a, b), b, a); }

struct C {
  R re, im;
};
C operator+(C a, C b) { return {a.re + b.re, a.im + b.im}; }
C operator-(C a, C b) { return {a.re - b.re, a.im - b.im}; }
C operator*(C a, C b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
C operator-(C a) { return {-a.re, -a.im}; }
C select(R which, C a, C b) { return {select(which, a.re, b.re), select(which, a.im, b.im)}; }
C number(C like, double re, double im = 0) { return {make(like.re, re), make(like.re, im)}; }
C conjugate(C a) { return {a.re, -a.im}; }
C times_i(C a) { return {-a.im, a.re}; }
C over_i(C a) { return {a.im, -a.re}; }
R is_zero(C a) { return both(equal(a.re, 0), equal(a.im, 0)); }

/// |a|: the larger part times √(1 + ratio²).
R magnitude(C a) {
  const R x = abs(a.re), y = abs(a.im), most = larger(x, y), ratio = smaller(x, y) / most;
  const R value = select(equal(most, 0), most, most * sqrt(1 + ratio * ratio));
  const R nan = select(either(is_nan(x), is_nan(y)), x + y, value);
  return select(either(is_infinite(x), is_infinite(y)), make(x, kInfinity), nan);
}

/// Smith's quotient, and what annex G says of zeros and infinities where that is NaN.
C operator/(C a, C b) {
  const R by_re = compare(Predicate::oge, abs(b.re), abs(b.im));
  const R p = select(by_re, b.re, b.im), q = select(by_re, b.im, b.re), ratio = q / p, scale = p + q * ratio;
  const C straight{(a.re + a.im * ratio) / scale, (a.im - a.re * ratio) / scale};
  const C crossed{(a.re * ratio + a.im) / scale, (a.im * ratio - a.re) / scale};
  const C value = select(by_re, straight, crossed);
  const R infinity = copysign(make(a.re, kInfinity), b.re);
  const R over_zero = both(is_zero(b), negated(both(is_nan(a.re), is_nan(a.im))));
  const R infinite_a = either(is_infinite(a.re), is_infinite(a.im)), infinite_b = either(is_infinite(b.re), is_infinite(b.im));
  const auto unit = [](R x) { return copysign(select(is_infinite(x), make(x, 1), make(x, 0)), x); };
  const auto joined = [](C x, C y) { return C{x.re * y.re + x.im * y.im, x.im * y.re - x.re * y.im}; };
  const C from_infinity = joined({unit(a.re), unit(a.im)}, b), to_zero = joined(a, {unit(b.re), unit(b.im)});
  const R case_a = both(infinite_a, both(is_finite(b.re), is_finite(b.im)));
  const R case_b = both(infinite_b, both(is_finite(a.re), is_finite(a.im)));
  const R lost = both(is_nan(value.re), is_nan(value.im));
  C out = select(both(lost, case_b), C{0 * to_zero.re, 0 * to_zero.im}, value);
  out = select(both(lost, case_a), C{kInfinity * from_infinity.re, kInfinity * from_infinity.im}, out);
  return select(over_zero, C{infinity * a.re, infinity * a.im}, out);
}

/// e^x in two factors, so that e^x·cos y may be finite where e^x is not.
C exp(C a) {
  const R half = call(Function::exp, 0.5 * a.re), c = call(Function::cos, a.im), s = call(Function::sin, a.im);
  const C value{half * c * half, select(equal(a.im, 0), a.im, half * s * half)};
  return select(equal(a.re, -kInfinity), number(a, 0), value);
}
C expm1(C a) {
  const R s = call(Function::sin, 0.5 * a.im);
  return {call(Function::expm1, a.re) * call(Function::cos, a.im) - 2 * (s * s),
          select(equal(a.im, 0), a.im, call(Function::exp, a.re) * call(Function::sin, a.im))};
}
/// log |a| = log(larger) + log1p(ratio²) / 2.
C log(C a) {
  const R x = abs(a.re), y = abs(a.im), most = larger(x, y), ratio = smaller(x, y) / most;
  const R value = call(Function::log, most) + 0.5 * call(Function::log1p, ratio * ratio);
  const R special = select(either(is_infinite(x), is_infinite(y)), make(x, kInfinity), value);
  const R nan = select(both(either(is_nan(x), is_nan(y)), is_finite(x + 0 * y)), x + y, special);
  return {select(equal(most, 0), make(x, -kInfinity), nan), atan2(a.im, a.re)};
}
C log1p(C a) {
  const R small = 0.5 * call(Function::log1p, a.re * (2 + a.re) + a.im * a.im);
  const C large = log({1 + a.re, a.im});
  return {select(compare(Predicate::olt, larger(abs(a.re), abs(a.im)), make(a.re, 4)), small, large.re), large.im};
}
C logistic(C a) { return number(a, 1) / (number(a, 1) + exp(-a)); }

C sqrt(C a) {
  const R huge = compare(Predicate::ogt, larger(abs(a.re), abs(a.im)), make(a.re, kPart));
  const C x = select(huge, C{0x1p-4 * a.re, 0x1p-4 * a.im}, a);
  const R t = sqrt(0.5 * (abs(x.re) + magnitude(x))), other = x.im / (2 * t);
  const C right{t, other}, left{abs(other), copysign(t, x.im)};
  const C root = select(compare(Predicate::oge, x.re, make(x.re, 0)), right, left);
  const C value = select(huge, C{4 * root.re, 4 * root.im}, root);
  const C zero{make(a.re, 0), a.im}, infinite{make(a.re, kInfinity), a.im};
  const C right_end{a.re, select(is_finite(a.im), copysign(make(a.im, 0), a.im), a.im)};
  const C left_end{select(is_finite(a.im), make(a.re, 0), a.im), copysign(make(a.re, kInfinity), a.im)};
  C out = select(equal(a.re, kInfinity), right_end, select(equal(a.re, -kInfinity), left_end, value));
  out = select(is_zero(a), zero, out);
  return select(is_infinite(a.im), infinite, out);
}
C rsqrt(C a) { return number(a, 1) / sqrt(a); }

C power(C a, C b) {
  const C value = exp(b * log(a)), nan = number(a, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN());
  const C of_zero = select(compare(Predicate::ogt, b.re, make(b.re, 0)), number(a, 0), nan);
  return select(is_zero(b), number(a, 1), select(is_zero(a), of_zero, value));
}
C cbrt(C a) { return power(a, number(a, 1.0 / 3)); }

/// Kahan: with t = tan y, s = sinh x, β = 1 + t²: (β·√(1 + s²)·s + i·t) / (1 + β·s²); beyond |x| = 22 the real part is 1.
C tanh(C a) {
  const R t = call(Function::tan, a.im), s = call(Function::sinh, a.re), beta = 1 + t * t, below = 1 + beta * (s * s);
  const C value{beta * sqrt(1 + s * s) * s / below, t / below};
  const R decay = call(Function::exp, -2 * abs(a.re)), round = 2 * call(Function::sin, 2 * a.im) * decay;
  const C far{copysign(make(a.re, 1), a.re), select(is_finite(a.im), round, copysign(make(a.im, 0), a.im))};
  return select(compare(Predicate::ogt, abs(a.re), make(a.re, 22)), far, value);
}
C tan(C a) { return over_i(tanh(times_i(a))); }
C sinh(C a) {
  const C value{call(Function::sinh, a.re) * call(Function::cos, a.im), call(Function::cosh, a.re) * call(Function::sin, a.im)};
  return {select(equal(a.re, 0), a.re, value.re), select(equal(a.im, 0), a.im, value.im)};
}
C cosh(C a) {
  const R im = call(Function::sinh, a.re) * call(Function::sin, a.im);
  return {call(Function::cosh, a.re) * call(Function::cos, a.im), select(either(equal(a.re, 0), equal(a.im, 0)), a.re * a.im, im)};
}
C sin(C a) { return over_i(sinh(times_i(a))); }
C cos(C a) { return cosh(times_i(a)); }

C asin(C a) {
  const C minus = sqrt(number(a, 1) - a), plus = sqrt(number(a, 1) + a);
  return {atan2(a.re, (minus * plus).re), call(Function::asinh, (conjugate(minus) * plus).im)};
}
C acos(C a) {
  const C minus = sqrt(number(a, 1) - a), plus = sqrt(number(a, 1) + a);
  return {2 * atan2(minus.re, plus.re), call(Function::asinh, (conjugate(plus) * minus).im)};
}
C asinh(C a) { return over_i(asin(times_i(a))); }
C acosh(C a) {
  const C minus = sqrt(a - number(a, 1)), plus = sqrt(a + number(a, 1));
  return {call(Function::asinh, (conjugate(minus) * plus).re), 2 * atan2(minus.im, plus.re)};
}
C atanh(C a) {
  const R near = 1 - a.re, square = a.im * a.im;
  return {0.25 * call(Function::log1p, 4 * a.re / (near * near + square)), 0.5 * atan2(2 * a.im, near * (1 + a.re) - square)};
}
C sign(C a) {
  const R size = magnitude(a);
  return select(is_zero(a), a, C{a.re / size, a.im / size});
}
C atan2(C y, C x) { return over_i(log((x + times_i(y)) / sqrt(x * x + y * y))); }

struct ComplexUnary {
  Op op;
  C (*f)(C);
};
constexpr ComplexUnary kComplexUnary[] = {
    {Op::sign, sign},
    {Op::exponential, exp},
    {Op::exponential_minus_one, expm1},
    {Op::log, log},
    {Op::log_plus_one, log1p},
    {Op::logistic, logistic},
    {Op::sqrt, sqrt},
    {Op::rsqrt, rsqrt},
    {Op::cbrt, cbrt},
    {Op::tanh, tanh},
    {Op::tan, tan},
    {Op::sine, sin},
    {Op::cosine, cos},
    {Op::sinh, sinh},
    {Op::cosh, cosh},
    {Op::asin, asin},
    {Op::acos, acos},
    {Op::asinh, asinh},
    {Op::acosh, acosh},
    {Op::atanh, atanh},
};
struct Binary {
  Op op;
  C (*f)(C, C);
};
constexpr Binary kPlain[] = {{Op::add, [](C a, C b) { return a + b; }},
                             {Op::subtract, [](C a, C b) { return a - b; }},
                             {Op::multiply, [](C a, C b) { return a * b; }}};
constexpr Binary kWide[] = {{Op::divide, [](C a, C b) { return a / b; }}, {Op::power, power}, {Op::atan2, atan2}};

C parts(Graph& g, NodeId id) { return {{&g, g.part(id, 0)}, {&g, g.part(id, 1)}}; }
NodeId joined(C a) { return a.re.g->pair(a.re.id, a.im.id); }
C as(Reg reg, C a) {
  const Code code = reg == Reg::f64 ? Code::fpext : Code::fptrunc;
  return {{a.re.g, a.re.g->cast(code, reg, a.re.id)}, {a.re.g, a.re.g->cast(code, reg, a.im.id)}};
}

template <typename Row, size_t N>
auto find(const Row (&rows)[N], Op op) -> decltype(rows[0].f) {
  for (const Row& row : rows)
    if (row.op == op) return row.f;
  return nullptr;
}

NodeId on_one(Graph& g, Op op, C a) {
  const Reg reg = g.type(a.re.id);
  if (op == Op::real) return a.re.id;
  if (op == Op::imag) return a.im.id;
  if (op == Op::negate) return joined(-a);
  const C wide = as(Reg::f64, a);
  if (op == Op::abs) return g.cast(Code::fptrunc, reg, magnitude(wide).id);
  const auto f = find(kComplexUnary, op);
  return f ? joined(as(reg, f(wide))) : -1;
}

NodeId on_two(Graph& g, const ElementOp& op, C a, C b) {
  const Reg reg = g.type(a.re.id);
  if (op.op == Op::compare) {
    const NodeId same = both(compare(Predicate::oeq, a.re, b.re), compare(Predicate::oeq, a.im, b.im)).id;
    if (op.compare.direction == ir::Direction::EQ) return same;
    return op.compare.direction == ir::Direction::NE ? negated({&g, same}).id : -1;
  }
  if (const auto plain = find(kPlain, op.op)) return joined(plain(a, b));
  const auto f = find(kWide, op.op);
  return f ? joined(as(reg, f(as(Reg::f64, a), as(Reg::f64, b)))) : -1;
}

}  // namespace

NodeId complex_op(Graph& g, const ElementOp& op, std::span<const Typed> in) {
  if (in.size() == 1) return on_one(g, op.op, parts(g, in[0].node));
  if (in.size() == 2) return on_two(g, op, parts(g, in[0].node), parts(g, in[1].node));
  return -1;
}

}  // namespace kernel
