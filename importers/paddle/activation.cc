// Activations and functions that the Llama sample lacks, and their gradients. Formulas: Paddle's phi kernels
// (paddle/phi/kernels/funcs/activation_functor.h).
#include <cmath>
#include <numbers>

#include "importers/paddle/unary.h"

namespace importers::paddle {
namespace {

using ir::Direction;
using ir::Op;

Value zero(Body& b, Value x) { return b.like(x, 0); }
Value exp_of(Body& b, Value x) { return b.unary(Op::exponential, x); }

// ---------------------------------------------------------------- bent lines

Value elu(Call& c, Body& b, Value x) {
  return choose(b, Direction::GT, x, 0, x, times(b, b.unary(Op::exponential_minus_one, x), c.number("alpha", 1)));
}
Value elu_slope(Call& c, Body& b, const Point& p) {
  return choose(b, Direction::GT, p.x, 0, p.dout, times(b, times(b, p.dout, exp_of(b, p.x)), c.number("alpha", 1)));
}
/// max(0, x) + min(0, α·(e^(x/α) − 1))
Value celu(Call& c, Body& b, Value x) {
  const double alpha = c.number("alpha", 1);
  return choose(b, Direction::GT, x, 0, x, times(b, b.unary(Op::exponential_minus_one, times(b, x, 1 / alpha)), alpha));
}
Value celu_slope(Call& c, Body& b, const Point& p) {
  return choose(b, Direction::GT, p.x, 0, p.dout, times(b, p.dout, exp_of(b, times(b, p.x, 1 / c.number("alpha", 1)))));
}
constexpr double kSeluAlpha = 1.6732632423543772, kSeluScale = 1.0507009873554805;  ///< Klambauer et al., arXiv:1706.02515
Value selu(Call& c, Body& b, Value x) {
  const Value below = times(b, b.unary(Op::exponential_minus_one, x), c.number("alpha", kSeluAlpha));
  return times(b, choose(b, Direction::GT, x, 0, x, below), c.number("scale", kSeluScale));
}
Value selu_slope(Call& c, Body& b, const Point& p) {
  const double scale = c.number("scale", kSeluScale);
  const Value slope = plus(b, p.out, scale * c.number("alpha", kSeluAlpha));
  return times(b, p.dout, choose(b, Direction::GT, p.out, 0, b.like(p.out, scale), slope));
}
Value relu6_slope(Call& c, Body& b, const Point& p) {
  const Value above = choose(b, Direction::GT, p.out, 0, p.dout, zero(b, p.dout));
  return choose(b, Direction::LT, p.out, c.number("threshold", 6), above, zero(b, p.dout));
}
Value hard_sigmoid_slope(Call& c, Body& b, const Point& p) {
  const Value above = choose(b, Direction::GT, p.out, 0, times(b, p.dout, c.number("slope", 0.2)), zero(b, p.dout));
  return choose(b, Direction::LT, p.out, 1, above, zero(b, p.dout));
}
Value hard_tanh(Call& c, Body& b, Value x) {
  return b.binary(Op::minimum, b.binary(Op::maximum, x, c.number("t_min", -1)), c.number("t_max", 1));
}
Value hard_tanh_slope(Call& c, Body& b, const Point& p) {
  const Value above = choose(b, Direction::GT, p.x, c.number("t_min", -1), p.dout, zero(b, p.dout));
  return choose(b, Direction::LT, p.x, c.number("t_max", 1), above, zero(b, p.dout));
}
double width(Call& c) { return c.number("threshold", c.number("lambda", 0.5)); }
Value hard_shrink(Call& c, Body& b, Value x) { return choose(b, Direction::GT, b.unary(Op::abs, x), width(c), x, zero(b, x)); }
/// Of both shrinks: dout outside of ±threshold.
Value shrink_slope(Call& c, Body& b, const Point& p) {
  return choose(b, Direction::GT, b.unary(Op::abs, p.x), width(c), p.dout, zero(b, p.dout));
}
/// What is left of |x| above the threshold, with x's sign.
Value soft_shrink(Call& c, Body& b, Value x) {
  return times(b, b.unary(Op::sign, x), b.binary(Op::maximum, plus(b, b.unary(Op::abs, x), -width(c)), 0.0));
}
Value thresholded_relu(Call& c, Body& b, Value x) {
  return choose(b, Direction::GT, x, c.number("threshold", 1), x, b.like(x, c.number("value", 0)));
}
Value thresholded_relu_slope(Call& c, Body& b, const Point& p) {
  return choose(b, Direction::GT, p.x, c.number("threshold", 1), p.dout, zero(b, p.dout));
}

// ---------------------------------------------------------------- smooth ones

Value log_sigmoid(Call&, Body& b, Value x) { return b.unary(Op::negate, log_one_plus_exp(b, b.unary(Op::negate, x))); }
Value log_sigmoid_slope(Call&, Body& b, const Point& p) { return times(b, p.dout, sigmoid(b, b.unary(Op::negate, p.x))); }
Value soft_sign(Call&, Body& b, Value x) { return over(b, x, plus(b, b.unary(Op::abs, x), 1)); }
Value soft_sign_slope(Call&, Body& b, const Point& p) {
  const Value below = plus(b, b.unary(Op::abs, p.x), 1);
  return over(b, p.dout, times(b, below, below));
}
Value tanh_shrink(Call&, Body& b, Value x) { return b.binary(Op::subtract, x, b.unary(Op::tanh, x)); }
Value tanh_shrink_slope(Call&, Body& b, const Point& p) {
  const Value t = b.unary(Op::tanh, p.x);
  return times(b, p.dout, times(b, t, t));
}
/// x·tanh(log(1 + e^x)), Misra, arXiv:1908.08681
Value mish(Call&, Body& b, Value x) { return times(b, x, b.unary(Op::tanh, log_one_plus_exp(b, x))); }
Value mish_slope(Call&, Body& b, const Point& p) {
  const Value t = b.unary(Op::tanh, log_one_plus_exp(b, p.x));
  return times(b, p.dout, plus(b, t, times(b, times(b, p.x, from(b, 1, times(b, t, t))), sigmoid(b, p.x))));
}
/// β·(x·s)' with s = sigmoid(β·x): s + β·x·s·(1 − s)
Value swish_slope(Call& c, Body& b, const Point& p) {
  const Value x = times(b, p.x, c.number("beta", 1)), s = sigmoid(b, x);
  return times(b, p.dout, plus(b, s, times(b, x, times(b, s, from(b, 1, s)))));
}
/// b·tanh(a·x)
Value stanh(Call& c, Body& b, Value x) {
  return times(b, b.unary(Op::tanh, times(b, x, c.number("scale_a", 0.67))), c.number("scale_b", 1.7159));
}
Value stanh_slope(Call& c, Body& b, const Point& p) {
  const double inner = c.number("scale_a", 0.67);
  const Value t = b.unary(Op::tanh, times(b, p.x, inner));
  return times(b, times(b, p.dout, inner * c.number("scale_b", 1.7159)), from(b, 1, times(b, t, t)));
}
/// log(x / (1 − x)) of x cut to [ε, 1 − ε]
Value logit(Call& c, Body& b, Value x) {
  const double epsilon = c.number("eps", 0);
  if (epsilon > 0) x = b.binary(Op::minimum, b.binary(Op::maximum, x, epsilon), 1 - epsilon);
  return b.unary(Op::log, over(b, x, from(b, 1, x)));
}
Value logit_slope(Call& c, Body& b, const Point& p) {
  const double epsilon = c.number("eps", 0);
  const Value slope = over(b, p.dout, times(b, p.x, from(b, 1, p.x)));
  const Value above = choose(b, Direction::GE, p.x, epsilon, slope, zero(b, slope));
  return choose(b, Direction::LE, p.x, 1 - epsilon, above, zero(b, slope));
}

// ---------------------------------------------------------------- functions

template <Op kOp>
Value function(Call&, Body& b, Value x) {
  return b.unary(kOp, x);
}
Value atan(Call&, Body& b, Value x) { return b.binary(Op::atan2, x, 1.0); }
Value log2(Call&, Body& b, Value x) { return times(b, b.unary(Op::log, x), std::numbers::log2e); }
Value log10(Call&, Body& b, Value x) { return times(b, b.unary(Op::log, x), std::numbers::log10e); }
/// Halves go away from 0, as std::round does; `decimals` places stay.
Value round(Call& c, Body& b, Value x) {
  const double tens = std::pow(10, c.number("decimals", 0));
  return tens == 1 ? b.unary(Op::round_nearest_afz, x) : times(b, b.unary(Op::round_nearest_afz, times(b, x, tens)), 1 / tens);
}
Value trunc(Call&, Body& b, Value x) { return times(b, b.unary(Op::sign, x), b.unary(Op::floor, b.unary(Op::abs, x))); }

Value square_of(Body& b, Value x) { return times(b, x, x); }
Value erf_slope(Call&, Body& b, const Point& p) {
  return times(b, times(b, p.dout, 2 * std::numbers::inv_sqrtpi), exp_of(b, b.unary(Op::negate, square_of(b, p.x))));
}
Value expm1_slope(Call&, Body& b, const Point& p) { return times(b, p.dout, plus(b, p.out, 1)); }
Value log1p_slope(Call&, Body& b, const Point& p) { return over(b, p.dout, plus(b, p.x, 1)); }
Value log2_slope(Call&, Body& b, const Point& p) { return over(b, times(b, p.dout, std::numbers::log2e), p.x); }
Value log10_slope(Call&, Body& b, const Point& p) { return over(b, times(b, p.dout, std::numbers::log10e), p.x); }
Value sinh_slope(Call&, Body& b, const Point& p) { return times(b, p.dout, b.unary(Op::cosh, p.x)); }
Value cosh_slope(Call&, Body& b, const Point& p) { return times(b, p.dout, b.unary(Op::sinh, p.x)); }
Value tan_slope(Call&, Body& b, const Point& p) { return over(b, p.dout, square_of(b, b.unary(Op::cosine, p.x))); }
Value asin_slope(Call&, Body& b, const Point& p) { return times(b, p.dout, b.unary(Op::rsqrt, from(b, 1, square_of(b, p.x)))); }
Value acos_slope(Call& c, Body& b, const Point& p) { return b.unary(Op::negate, asin_slope(c, b, p)); }
Value atan_slope(Call&, Body& b, const Point& p) { return over(b, p.dout, plus(b, square_of(b, p.x), 1)); }
Value asinh_slope(Call&, Body& b, const Point& p) { return times(b, p.dout, b.unary(Op::rsqrt, plus(b, square_of(b, p.x), 1))); }
Value acosh_slope(Call&, Body& b, const Point& p) { return times(b, p.dout, b.unary(Op::rsqrt, plus(b, square_of(b, p.x), -1))); }
Value atanh_slope(Call&, Body& b, const Point& p) { return over(b, p.dout, from(b, 1, square_of(b, p.x))); }

/// Of steps: 0 everywhere.
void flat_grad(Call& c) {
  c.set("X@GRAD", c.fuse1({c.in("Out@GRAD")}, [&](Body& b, In in) { return b.like(in[0], 0); }));
}

constexpr Row kActivationRows[] = {
    {"acos", unary<function<Op::acos>>, "X"},
    {"acosh", unary<function<Op::acosh>>, "X"},
    {"asin", unary<function<Op::asin>>, "X"},
    {"asinh", unary<function<Op::asinh>>, "X"},
    {"atan", unary<atan>, "X"},
    {"atanh", unary<function<Op::atanh>>, "X"},
    {"celu", unary<celu>, "X"},
    {"cosh", unary<function<Op::cosh>>, "X"},
    {"elu", unary<elu>, "X"},
    {"expm1", unary<function<Op::exponential_minus_one>>, "X"},
    {"hard_shrink", unary<hard_shrink>, "X"},
    {"brelu", unary<hard_tanh>, "X"},
    {"log10", unary<log10>, "X"},
    {"log2", unary<log2>, "X"},
    {"logit", unary<logit>, "X"},
    {"logsigmoid", unary<log_sigmoid>, "X"},
    {"mish", unary<mish>, "X"},
    {"round", unary<round>, "X"},
    {"selu", unary<selu>, "X"},
    {"sinh", unary<function<Op::sinh>>, "X"},
    {"softshrink", unary<soft_shrink>, "X"},
    {"softsign", unary<soft_sign>, "X"},
    {"stanh", unary<stanh>, "X"},
    {"tan", unary<function<Op::tan>>, "X"},
    {"tanh_shrink", unary<tanh_shrink>, "X"},
    {"thresholded_relu", unary<thresholded_relu>, "X"},
    {"trunc", unary<trunc>, "X"},
    // gradients
    {"acos_grad", unary_grad<acos_slope, Of::x>, "X Out@GRAD"},
    {"acosh_grad", unary_grad<acosh_slope, Of::x>, "X Out@GRAD"},
    {"asin_grad", unary_grad<asin_slope, Of::x>, "X Out@GRAD"},
    {"asinh_grad", unary_grad<asinh_slope, Of::x>, "X Out@GRAD"},
    {"atan_grad", unary_grad<atan_slope, Of::x>, "X Out@GRAD"},
    {"atanh_grad", unary_grad<atanh_slope, Of::x>, "X Out@GRAD"},
    {"brelu_grad", unary_grad<hard_tanh_slope, Of::x>, "X Out@GRAD"},
    {"ceil_grad", flat_grad, "Out@GRAD"},
    {"celu_grad", unary_grad<celu_slope, Of::x>, "X Out@GRAD"},
    {"cosh_grad", unary_grad<cosh_slope, Of::x>, "X Out@GRAD"},
    {"elu_grad", unary_grad<elu_slope, Of::x>, "X Out@GRAD"},
    {"erf_grad", unary_grad<erf_slope, Of::x>, "X Out@GRAD"},
    {"expm1_grad", unary_grad<expm1_slope, Of::out>, "Out Out@GRAD"},
    {"floor_grad", flat_grad, "Out@GRAD"},
    {"hard_shrink_grad", unary_grad<shrink_slope, Of::x>, "X Out@GRAD"},
    {"hard_sigmoid_grad", unary_grad<hard_sigmoid_slope, Of::out>, "Out Out@GRAD"},
    {"log10_grad", unary_grad<log10_slope, Of::x>, "X Out@GRAD"},
    {"log1p_grad", unary_grad<log1p_slope, Of::x>, "X Out@GRAD"},
    {"log2_grad", unary_grad<log2_slope, Of::x>, "X Out@GRAD"},
    {"logit_grad", unary_grad<logit_slope, Of::x>, "X Out@GRAD"},
    {"logsigmoid_grad", unary_grad<log_sigmoid_slope, Of::x>, "X Out@GRAD"},
    {"mish_grad", unary_grad<mish_slope, Of::x>, "X Out@GRAD"},
    {"relu6_grad", unary_grad<relu6_slope, Of::out>, "Out Out@GRAD"},
    {"round_grad", flat_grad, "Out@GRAD"},
    {"selu_grad", unary_grad<selu_slope, Of::out>, "Out Out@GRAD"},
    {"sinh_grad", unary_grad<sinh_slope, Of::x>, "X Out@GRAD"},
    {"softshrink_grad", unary_grad<shrink_slope, Of::x>, "X Out@GRAD"},
    {"softsign_grad", unary_grad<soft_sign_slope, Of::x>, "X Out@GRAD"},
    {"stanh_grad", unary_grad<stanh_slope, Of::x>, "X Out@GRAD"},
    {"swish_grad", unary_grad<swish_slope, Of::x>, "X Out@GRAD"},
    {"tan_grad", unary_grad<tan_slope, Of::x>, "X Out@GRAD"},
    {"tanh_shrink_grad", unary_grad<tanh_shrink_slope, Of::x>, "X Out@GRAD"},
    {"thresholded_relu_grad", unary_grad<thresholded_relu_slope, Of::x>, "X Out@GRAD"},
    {"trunc_grad", flat_grad, "Out@GRAD"},
};

}  // namespace

std::span<const Row> activation_rows() { return kActivationRows; }

}  // namespace importers::paddle
