// Elementwise ops: tables of plain functions by kind of operand. Bounds follow the value: what monotone functions may differ by is seen
// at both ends of their operand's interval, the others have a Lipschitz constant of 1; a function adds what libraries are off by.
#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>

#include "replay/element.h"
#include "replay/reference/ops.h"

namespace replay::reference {
namespace {

using Op = ir::Op;
using Complex = std::complex<double>;

// ---- real, one operand
double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double rsqrt(double x) { return 1 / std::sqrt(x); }
double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
double negate(double x) { return -x; }

enum class Growth : uint8_t { monotone, lipschitz };  ///< how the operand's bound becomes the result's

struct RealUnary {
  Op op;
  double (*f)(double);
  double ulps;  ///< that a device's function may be off by
  Growth growth = Growth::monotone;
  double of_halves = 0;  ///< of f16 and bf16: what it may be off by beside, as a share; less than the type itself can say
};
constexpr RealUnary kRealUnary[] = {
    {Op::abs, std::fabs, 0, Growth::lipschitz},
    {Op::negate, negate, 0, Growth::lipschitz},
    {Op::sign, sign, 0},
    {Op::floor, std::floor, 0},
    {Op::ceil, std::ceil, 0},
    {Op::round_nearest_afz, std::round, 0},
    {Op::round_nearest_even, std::nearbyint, 0},
    {Op::sqrt, std::sqrt, 1},
    {Op::rsqrt, rsqrt, 4},
    {Op::cbrt, std::cbrt, 4},
    {Op::exponential, std::exp, 4},
    {Op::exponential_minus_one, std::expm1, 6},
    {Op::log, std::log, 4},
    {Op::log_plus_one, std::log1p, 4},
    {Op::logistic, logistic, 4},
    {Op::tanh, std::tanh, 5, Growth::monotone, 0x1p-16},
    {Op::tan, std::tan, 4},
    {Op::sine, std::sin, 4, Growth::lipschitz},
    {Op::cosine, std::cos, 4, Growth::lipschitz},
    {Op::sinh, std::sinh, 4},
    {Op::cosh, std::cosh, 4},
    {Op::asin, std::asin, 4},
    {Op::acos, std::acos, 4},
    {Op::asinh, std::asinh, 4},
    {Op::acosh, std::acosh, 4},
    {Op::atanh, std::atanh, 4},
    {Op::erf, std::erf, 6},
};

template <typename Row, size_t N>
const Row* find(const Row (&rows)[N], Op op) {
  const auto it = std::find_if(std::begin(rows), std::end(rows), [&](const Row& row) { return row.op == op; });
  return it == std::end(rows) ? nullptr : it;
}

/// The bound of f over [x - e, x + e]; infinite where a border of f's domain lies inside.
double spread(double (*f)(double), double x, double e, double y) {
  const double low = f(x - e), high = f(x + e);
  if (std::isfinite(low) != std::isfinite(y) || std::isfinite(high) != std::isfinite(y)) return INFINITY;
  return std::max(std::fabs(low - y), std::fabs(high - y));
}

Values real_unary(const Call& call, const RealUnary& row, const Values& x) {
  Values out = zeros(call.shape.type, size(x));
  for (size_t i = 0; i < out.re.size(); ++i) out.re[i] = row.f(x.re[i]);
  if (!call.in.bounds() || (x.bound.empty() && row.ulps == 0)) return out;
  const ir::Type device = device_type(call.shape.type);
  const double share = call.shape.type == ir::Type::f16 || call.shape.type == ir::Type::bf16 ? row.of_halves : 0;
  for (size_t i = 0; i < out.re.size(); ++i) {
    const double e = bound_at(x, i), y = out.re[i];
    double bound = row.ulps == 0 ? 0 : row.ulps * ulp(device, y) + share * std::fabs(y);
    if (e > 0) bound += row.growth == Growth::lipschitz ? e : spread(row.f, x.re[i], e, y);
    set_bound(out, i, bound);
  }
  return out;
}

// ---- real, two operands
double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return NAN;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return NAN;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

/// Operands and bounds of one application.
struct Two {
  double a, ea, b, eb, y;
};

double bound_sum(const Two& v) { return v.ea + v.eb; }
double bound_product(const Two& v) { return std::fabs(v.a) * v.eb + std::fabs(v.b) * v.ea + v.ea * v.eb; }
double bound_larger(const Two& v) { return std::max(v.ea, v.eb); }
double bound_quotient(const Two& v) {
  const double room = std::fabs(v.b) - v.eb;
  return room > 0 ? (v.ea + std::fabs(v.y) * v.eb) / room : v.ea == 0 && v.eb == 0 ? 0 : INFINITY;
}
double bound_remainder(const Two& v) {
  const auto whole = [](double a, double b) { return std::trunc(a / b); };
  const double q = whole(v.a, v.b);
  const bool same =
      whole(v.a - v.ea, v.b) == q && whole(v.a + v.ea, v.b) == q && whole(v.a, v.b - v.eb) == q && whole(v.a, v.b + v.eb) == q;
  return same ? v.ea + std::fabs(q) * v.eb : INFINITY;
}
/// The four corners of the operands' intervals, for functions that are monotone in each.
double corners(double (*f)(double, double), const Two& v) {
  double worst = 0;
  for (const double a : {v.a - v.ea, v.a + v.ea}) {
    for (const double b : {v.b - v.eb, v.b + v.eb}) {
      const double y = f(a, b);
      if (std::isfinite(y) != std::isfinite(v.y)) return INFINITY;
      worst = std::max(worst, std::fabs(y - v.y));
    }
  }
  return worst;
}
double bound_power(const Two& v) { return corners(std::pow, v); }
double bound_atan2(const Two& v) { return corners(std::atan2, v); }

double add(double a, double b) { return a + b; }
double subtract(double a, double b) { return a - b; }
double multiply(double a, double b) { return a * b; }
double divide(double a, double b) { return a / b; }

struct RealBinary {
  Op op;
  double (*f)(double, double);
  double (*bound)(const Two&);
  double ulps = 0;
};
constexpr RealBinary kRealBinary[] = {
    {Op::add, add, bound_sum},
    {Op::subtract, subtract, bound_sum},
    {Op::multiply, multiply, bound_product},
    {Op::divide, divide, bound_quotient, 1},
    {Op::remainder, std::fmod, bound_remainder},
    {Op::maximum, maximum, bound_larger},
    {Op::minimum, minimum, bound_larger},
    {Op::power, std::pow, bound_power, 4},
    {Op::atan2, std::atan2, bound_atan2, 4},
};

Values real_binary(const Call& call, const RealBinary& row, const Values& a, const Values& b) {
  Values out = zeros(call.shape.type, size(a));
  for (size_t i = 0; i < out.re.size(); ++i) out.re[i] = row.f(a.re[i], b.re[i]);
  if (!call.in.bounds() || (a.bound.empty() && b.bound.empty() && row.ulps == 0)) return out;
  const ir::Type device = device_type(call.shape.type);
  for (size_t i = 0; i < out.re.size(); ++i) {
    const Two v{a.re[i], bound_at(a, i), b.re[i], bound_at(b, i), out.re[i]};
    const double own = row.ulps == 0 ? 0 : row.ulps * ulp(device, v.y);
    const double carried = v.ea == 0 && v.eb == 0 ? 0 : row.bound(v);
    set_bound(out, i, std::isnan(carried) ? INFINITY : own + carried);
  }
  return out;
}

// ---- complex
Complex c_logistic(Complex x) { return 1.0 / (1.0 + std::exp(-x)); }
Complex c_expm1(Complex x) {
  return {std::expm1(x.real()) * std::cos(x.imag()) - 2 * std::pow(std::sin(x.imag() / 2), 2), std::exp(x.real()) * std::sin(x.imag())};
}
Complex c_log1p(Complex x) {
  return {0.5 * std::log1p(x.real() * (2 + x.real()) + x.imag() * x.imag()), std::atan2(x.imag(), 1 + x.real())};
}
Complex c_rsqrt(Complex x) { return 1.0 / std::sqrt(x); }
Complex c_cbrt(Complex x) { return std::pow(x, 1.0 / 3); }
Complex c_sign(Complex x) { return x == 0.0 ? x : x / std::abs(x); }
Complex c_negate(Complex x) { return -x; }
struct ComplexUnary {
  Op op;
  Complex (*f)(Complex);
};
constexpr ComplexUnary kComplexUnary[] = {
    {Op::negate, c_negate},
    {Op::sign, c_sign},
    {Op::exponential, [](Complex x) { return std::exp(x); }},
    {Op::exponential_minus_one, c_expm1},
    {Op::log, [](Complex x) { return std::log(x); }},
    {Op::log_plus_one, c_log1p},
    {Op::logistic, c_logistic},
    {Op::sqrt, [](Complex x) { return std::sqrt(x); }},
    {Op::rsqrt, c_rsqrt},
    {Op::cbrt, c_cbrt},
    {Op::tanh, [](Complex x) { return std::tanh(x); }},
    {Op::tan, [](Complex x) { return std::tan(x); }},
    {Op::sine, [](Complex x) { return std::sin(x); }},
    {Op::cosine, [](Complex x) { return std::cos(x); }},
    {Op::sinh, [](Complex x) { return std::sinh(x); }},
    {Op::cosh, [](Complex x) { return std::cosh(x); }},
    {Op::asin, [](Complex x) { return std::asin(x); }},
    {Op::acos, [](Complex x) { return std::acos(x); }},
    {Op::asinh, [](Complex x) { return std::asinh(x); }},
    {Op::acosh, [](Complex x) { return std::acosh(x); }},
    {Op::atanh, [](Complex x) { return std::atanh(x); }},
};
Complex c_power(Complex a, Complex b) {
  if (b == 0.0) return 1.0;
  if (a == 0.0) return b.real() > 0 ? Complex(0) : Complex(NAN, NAN);
  return std::pow(a, b);
}
struct ComplexBinary {
  Op op;
  Complex (*f)(Complex, Complex);
};
constexpr ComplexBinary kComplexBinary[] = {
    {Op::add, [](Complex a, Complex b) { return a + b; }},
    {Op::subtract, [](Complex a, Complex b) { return a - b; }},
    {Op::multiply, [](Complex a, Complex b) { return a * b; }},
    {Op::divide, [](Complex a, Complex b) { return a / b; }},
    {Op::power, c_power},
    {Op::atan2, [](Complex y, Complex x) { return Complex(0, -1) * std::log((x + Complex(0, 1) * y) / std::sqrt(x * x + y * y)); }},
};

Complex at(const Values& v, size_t i) { return {v.re[i], v.im[i]}; }
double relative(const Values& v, size_t i) { return bound_at(v, i) == 0 ? 0 : bound_at(v, i) / std::max(std::abs(at(v, i)), 1e-300); }

/// Bounds of complex functions are relative ones: 8 units, and the operands' own.
void set_complex(const Call& call, Values& out, size_t i, Complex y, double operands) {
  out.re[i] = y.real(), out.im[i] = y.imag();
  if (call.in.bounds()) set_bound(out, i, std::abs(y) * (16 * unit(out.type) + operands));
}

// ---- integers and pred, exact: i64, wrapped to the width of the type afterwards
bool is_signed(ir::Type type) { return ir::info(type).kind == ir::TypeInfo::Kind::signed_; }
int width(ir::Type type) { return ir::info(type).significant_bits; }
uint64_t bits(ir::Type type, int64_t x) {
  return width(type) >= 64 ? static_cast<uint64_t>(x) : static_cast<uint64_t>(x) & ((uint64_t{1} << width(type)) - 1);
}
int64_t from(uint64_t x) { return static_cast<int64_t>(x); }
uint64_t to(int64_t x) { return static_cast<uint64_t>(x); }

int64_t i_divide(ir::Type t, int64_t a, int64_t b) {
  if (b == 0) return -1;
  if (!is_signed(t)) return from(to(a) / to(b));
  return b == -1 ? from(-to(a)) : a / b;
}
int64_t i_remainder(ir::Type t, int64_t a, int64_t b) {
  if (b == 0) return a;
  if (!is_signed(t)) return from(to(a) % to(b));
  return b == -1 ? 0 : a % b;
}
bool i_less(ir::Type t, int64_t a, int64_t b) { return is_signed(t) ? a < b : to(a) < to(b); }
int64_t i_power(ir::Type t, int64_t a, int64_t b) {
  if (is_signed(t) && b < 0) return a == 1 ? 1 : 0;
  uint64_t out = 1, base = to(a);
  for (uint64_t e = to(b); e != 0; e >>= 1, base *= base) {
    if (e & 1) out *= base;
  }
  return from(out);
}
bool in_width(ir::Type t, int64_t amount) { return to(amount) < to(width(t)); }
int64_t i_mulhi(ir::Type t, int64_t a, int64_t b) {
  __extension__ using Wide = __int128;
  __extension__ using UnsignedWide = unsigned __int128;
  if (is_signed(t)) return static_cast<int64_t>((static_cast<Wide>(a) * b) >> width(t));
  return static_cast<int64_t>((static_cast<UnsignedWide>(to(a)) * to(b)) >> width(t));
}

struct IntegerBinary {
  Op op;
  int64_t (*f)(ir::Type, int64_t, int64_t);
};
constexpr IntegerBinary kIntegerBinary[] = {
    {Op::add, [](ir::Type, int64_t a, int64_t b) { return from(to(a) + to(b)); }},
    {Op::subtract, [](ir::Type, int64_t a, int64_t b) { return from(to(a) - to(b)); }},
    {Op::multiply, [](ir::Type, int64_t a, int64_t b) { return from(to(a) * to(b)); }},
    {Op::divide, i_divide},
    {Op::remainder, i_remainder},
    {Op::maximum, [](ir::Type t, int64_t a, int64_t b) { return i_less(t, a, b) ? b : a; }},
    {Op::minimum, [](ir::Type t, int64_t a, int64_t b) { return i_less(t, b, a) ? b : a; }},
    {Op::power, i_power},
    {Op::and_, [](ir::Type, int64_t a, int64_t b) { return a & b; }},
    {Op::or_, [](ir::Type, int64_t a, int64_t b) { return a | b; }},
    {Op::xor_, [](ir::Type, int64_t a, int64_t b) { return a ^ b; }},
    {Op::shift_left, [](ir::Type t, int64_t a, int64_t b) { return in_width(t, b) ? from(to(a) << b) : 0; }},
    {Op::shift_right_logical, [](ir::Type t, int64_t a, int64_t b) { return in_width(t, b) ? from(bits(t, a) >> b) : 0; }},
    {Op::shift_right_arithmetic,
     [](ir::Type t, int64_t a, int64_t b) {
       const int64_t extended = is_signed(t) ? a : from(to(a) << (64 - width(t))) >> (64 - width(t));
       return in_width(t, b) ? extended >> b : extended < 0 ? -1 : 0;
     }},
    {Op::mulhi, i_mulhi},
};

struct IntegerUnary {
  Op op;
  int64_t (*f)(ir::Type, int64_t);
};
constexpr IntegerUnary kIntegerUnary[] = {
    {Op::abs, [](ir::Type t, int64_t a) { return is_signed(t) && a < 0 ? from(-to(a)) : a; }},
    {Op::negate, [](ir::Type, int64_t a) { return from(-to(a)); }},
    {Op::sign, [](ir::Type t, int64_t a) { return a == 0                  ? int64_t{0}
                                                  : is_signed(t) && a < 0 ? int64_t{-1}
                                                                          : int64_t{1}; }},
    {Op::not_, [](ir::Type t, int64_t a) { return t == ir::Type::pred ? int64_t{a == 0} : ~a; }},
    {Op::popcnt, [](ir::Type t, int64_t a) { return int64_t{std::popcount(bits(t, a))}; }},
    {Op::count_leading_zeros, [](ir::Type t, int64_t a) { return int64_t{std::countl_zero(bits(t, a))} - (64 - width(t)); }},
};

/// pred adds with or, multiplies with and.
Op logical(Op op) {
  switch (op) {
    case Op::add:
    case Op::maximum:
      return Op::or_;
    case Op::multiply:
    case Op::minimum:
      return Op::and_;
    case Op::subtract:
      return Op::xor_;
    default:
      return op;
  }
}

/// `and` with a sure false, `or` with a sure true: the other side's doubt does not matter.
bool decided(Op op, const Values& a, const Values& b, size_t i) {
  const auto decides = [&](const Values& v) {
    return !unsure_at(v, i) && ((op == Op::and_ && v.integer[i] == 0) || (op == Op::or_ && v.integer[i] != 0));
  };
  return a.type == ir::Type::pred && (decides(a) || decides(b));
}

Values integer_binary(const Call& call, const IntegerBinary& row, const Values& a, const Values& b) {
  const ir::Type type = call.shape.type;
  Values out = zeros(type, size(a));
  for (size_t i = 0; i < out.integer.size(); ++i) out.integer[i] = wrap(type, row.f(type, a.integer[i], b.integer[i]));
  if (a.unsure.empty() && b.unsure.empty()) return out;
  for (size_t i = 0; i < out.integer.size(); ++i) {
    if ((unsure_at(a, i) || unsure_at(b, i)) && !decided(row.op, a, b, i)) set_unsure(out, i);
  }
  return out;
}

Values binary_values(const Call& call, Op op, const Values& a, const Values& b) {
  if (kind_of(a) == Kind::integer) {
    const IntegerBinary* row = find(kIntegerBinary, a.type == ir::Type::pred ? logical(op) : op);
    if (row != nullptr) return integer_binary(call, *row, a, b);
  } else if (kind_of(a) == Kind::real) {
    const RealBinary* row = find(kRealBinary, op);
    if (row != nullptr) {
      Values out = real_binary(call, *row, a, b);
      spread_unsure(out, a);
      spread_unsure(out, b);
      return out;
    }
  } else if (const ComplexBinary* row = find(kComplexBinary, op)) {
    Values out = zeros(call.shape.type, size(a));
    const bool sum = op == Op::add || op == Op::subtract;
    for (size_t i = 0; i < size(a); ++i) {
      const Complex y = row->f(at(a, i), at(b, i));
      set_complex(call, out, i, y, sum ? 0 : relative(a, i) + relative(b, i));
      if (sum && call.in.bounds()) set_bound(out, i, bound_at(a, i) + bound_at(b, i));
    }
    return out;
  }
  return *call.fail("has no meaning for these types");
}

bool same_sizes(const Call& call, const Values& a, const Values& b) {
  if (size(a) == size(b) && kind_of(a) == kind_of(b)) return true;
  call.fail("has operands of different types or sizes");
  return false;
}

}  // namespace

Batch unary(const Call& call) {
  const Batch x = call.operand(0);
  const Op op = call.instr.op;
  if (kind_of(*x) == Kind::real) {
    if (const RealUnary* row = find(kRealUnary, op)) {
      Values out = real_unary(call, *row, *x);
      spread_unsure(out, *x);
      return share(std::move(out));
    }
  } else if (kind_of(*x) == Kind::integer) {
    if (const IntegerUnary* row = find(kIntegerUnary, op)) {
      Values out = zeros(call.shape.type, size(*x));
      for (size_t i = 0; i < out.integer.size(); ++i) out.integer[i] = wrap(x->type, row->f(x->type, x->integer[i]));
      spread_unsure(out, *x);
      return share(std::move(out));
    }
  } else if (op == Op::abs) {
    Values out = zeros(call.shape.type, size(*x));
    for (size_t i = 0; i < size(*x); ++i) {
      out.re[i] = std::hypot(x->re[i], x->im[i]);
      if (call.in.bounds()) set_bound(out, i, bound_at(*x, i) + 8 * unit(out.type) * out.re[i]);
    }
    return share(std::move(out));
  } else if (const ComplexUnary* row = find(kComplexUnary, op)) {
    Values out = zeros(call.shape.type, size(*x));
    for (size_t i = 0; i < size(*x); ++i) set_complex(call, out, i, row->f(at(*x, i)), relative(*x, i));
    return share(std::move(out));
  }
  return call.fail("has no meaning for this type");
}

Batch binary(const Call& call) {
  const Batch a = call.operand(0), b = call.operand(1);
  if (!same_sizes(call, *a, *b)) return share(zeros(call.shape.type, call.count()));
  return share(binary_values(call, call.instr.op, *a, *b));
}

void combine(Op op, Values& a, size_t i, const Values& b, size_t j) {
  if (kind_of(a) == Kind::integer) {
    const IntegerBinary* row = find(kIntegerBinary, a.type == ir::Type::pred ? logical(op) : op);
    a.integer[i] = wrap(a.type, row->f(a.type, a.integer[i], b.integer[j]));
  } else if (kind_of(a) == Kind::complex) {
    const Complex y = find(kComplexBinary, op)->f(at(a, i), at(b, j));
    if (bound_at(a, i) + bound_at(b, j) > 0) {
      set_bound(
          a, i,
          op == Op::add ? bound_at(a, i) + bound_at(b, j) : std::abs(at(a, i)) * bound_at(b, j) + std::abs(at(b, j)) * bound_at(a, i));
    }
    a.re[i] = y.real(), a.im[i] = y.imag();
  } else {
    const RealBinary& row = *find(kRealBinary, op);
    const double y = row.f(a.re[i], b.re[j]), ea = bound_at(a, i), eb = bound_at(b, j);
    if (ea > 0 || eb > 0) set_bound(a, i, row.bound({a.re[i], ea, b.re[j], eb, y}));
    a.re[i] = y;
  }
  if (unsure_at(b, j)) set_unsure(a, i);
}

namespace {

/// A key that orders floats as IEEE's totalOrder: −NaN < −inf < … < −0 < +0 < … < +inf < +NaN.
int64_t total_key(double x) {
  const auto pattern = std::bit_cast<int64_t>(x);
  return pattern < 0 ? INT64_MIN - pattern - 1 : pattern;
}

bool compare_at(const ir::Compare& how, const Values& a, const Values& b, size_t i) {
  if (kind_of(a) == Kind::integer) {
    return is_signed(a.type) ? ir::holds(how.direction, a.integer[i], b.integer[i])
                             : ir::holds(how.direction, to(a.integer[i]), to(b.integer[i]));
  }
  if (kind_of(a) == Kind::complex) {
    const bool equal = at(a, i) == at(b, i);
    return how.direction == ir::Direction::NE ? !equal : equal;
  }
  return how.total_order ? ir::holds(how.direction, total_key(a.re[i]), total_key(b.re[i])) : ir::holds(how.direction, a.re[i], b.re[i]);
}

}  // namespace

Batch compare(const Call& call) {
  const Batch a = call.operand(0), b = call.operand(1);
  const auto how = ir::attr_compare(call.module(), call.instr);
  if (!how.ok()) return call.fail(how.error().message);
  if (!same_sizes(call, *a, *b)) return share(zeros(call.shape.type, call.count()));
  Values out = zeros(ir::Type::pred, size(*a));
  for (size_t i = 0; i < out.integer.size(); ++i) {
    out.integer[i] = compare_at(*how, *a, *b, i);
    const double slack = bound_at(*a, i) + bound_at(*b, i);
    if (slack > 0 && std::fabs(a->re[i] - b->re[i]) <= slack) set_unsure(out, i);
  }
  spread_unsure(out, *a);
  spread_unsure(out, *b);
  return share(std::move(out));
}

namespace {

/// A scalar that stands for all elements, or the operand itself.
Batch spread_scalar(const Call& call, size_t k) {
  if (call.frame.in_lanes || call.operand_shape(k).rank() == call.shape.rank()) return call.operand(k);
  return share(repeat(call.scalar(k), 0, call.count()));
}

/// Either answer may be right: what they differ by is the bound, where that can be said.
void doubt(Values& out, size_t i, const Values& a, const Values& b) {
  if (kind_of(out) == Kind::integer) {
    if (a.integer[i] != b.integer[i]) set_unsure(out, i);
    return;
  }
  double difference = std::fabs(a.re[i] - b.re[i]);
  if (!a.im.empty()) difference += std::fabs(a.im[i] - b.im[i]);
  if (std::isfinite(difference))
    set_bound(out, i, difference + std::max(bound_at(a, i), bound_at(b, i)));
  else
    set_unsure(out, i);
}

}  // namespace

Batch select(const Call& call) {
  const Batch which = spread_scalar(call, 0), a = call.operand(1), b = call.operand(2);
  if (!same_sizes(call, *a, *b) || which->integer.size() != size(*a)) return call.fail("has operands of different sizes");
  Values out = *b;
  for (size_t i = 0; i < which->integer.size(); ++i) {
    if (which->integer[i] != 0) {
      if (!out.re.empty()) out.re[i] = a->re[i];
      if (!out.im.empty()) out.im[i] = a->im[i];
      if (!out.integer.empty()) out.integer[i] = a->integer[i];
      set_bound(out, i, bound_at(*a, i));
      if (unsure_at(*a, i))
        set_unsure(out, i);
      else if (!out.unsure.empty())
        out.unsure[i] = 0;
    }
    if (unsure_at(*which, i)) doubt(out, i, *a, *b);
  }
  return share(std::move(out));
}

Batch clamp(const Call& call) {
  const Batch low = spread_scalar(call, 0), x = call.operand(1), high = spread_scalar(call, 2);
  if (!same_sizes(call, *low, *x) || !same_sizes(call, *high, *x)) return share(zeros(call.shape.type, call.count()));
  return share(binary_values(call, Op::minimum, *high, binary_values(call, Op::maximum, *x, *low)));
}

Batch is_finite(const Call& call) {
  const Batch x = call.operand(0);
  Values out = zeros(ir::Type::pred, call.count());
  for (size_t i = 0; i < x->re.size(); ++i) out.integer[i] = std::isfinite(x->re[i]);
  for (size_t i = 0; i < x->integer.size(); ++i) out.integer[i] = 1;
  spread_unsure(out, *x);
  return share(std::move(out));
}

Batch complex_parts(const Call& call) {
  const Batch x = call.operand(0);
  Values out = zeros(call.shape.type, call.count());
  const bool imaginary = call.instr.op == Op::imag;
  if (kind_of(*x) == Kind::complex)
    out.re = imaginary ? x->im : x->re;
  else if (!imaginary)
    out.re = x->re;
  if (!imaginary || kind_of(*x) == Kind::complex) out.bound = x->bound;
  out.unsure = x->unsure;
  return share(std::move(out));
}

Batch make_complex(const Call& call) {
  const Batch re = call.operand(0), im = call.operand(1);
  Values out = zeros(call.shape.type, call.count());
  if (re->re.size() != out.re.size() || im->re.size() != out.im.size()) return call.fail("has operands of different sizes");
  out.re = re->re, out.im = im->re;
  for (size_t i = 0; i < out.re.size(); ++i) set_bound(out, i, bound_at(*re, i) + bound_at(*im, i));
  spread_unsure(out, *re);
  spread_unsure(out, *im);
  return share(std::move(out));
}

Batch reduce_precision(const Call& call) {
  const Batch x = call.operand(0);
  const int exponent = static_cast<int>(std::clamp<int64_t>(ir::attr_int(call.module(), call.instr, "exponent_bits").value_or(8), 1, 11));
  const int mantissa = static_cast<int>(std::clamp<int64_t>(ir::attr_int(call.module(), call.instr, "mantissa_bits").value_or(23), 0, 52));
  if (kind_of(*x) != Kind::real) return call.fail("has no meaning for this type");
  const int bias = (1 << (exponent - 1)) - 1;
  const double largest = std::ldexp(2 - std::ldexp(1, -mantissa), bias);
  Values out = *x;
  for (size_t i = 0; i < out.re.size(); ++i) {
    if (!std::isfinite(x->re[i]) || x->re[i] == 0) continue;
    const int place = std::ilogb(x->re[i]);
    const double step = std::ldexp(1.0, std::min(place, bias) - mantissa);
    double rounded = std::copysign(std::nearbyint(x->re[i] / step) * step, x->re[i]);
    if (std::fabs(rounded) < std::ldexp(1, 1 - bias)) rounded = std::copysign(0.0, rounded);  // subnormals of the format are flushed
    out.re[i] = std::fabs(rounded) > largest ? std::copysign(INFINITY, rounded) : rounded;
    if (bound_at(*x, i) > 0) set_bound(out, i, bound_at(*x, i) + step);
  }
  return share(std::move(out));
}

}  // namespace replay::reference
