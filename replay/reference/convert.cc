// Changes of element type: by value (convert), by pattern (bitcast-convert).
#include <algorithm>
#include <cmath>

#include "replay/element.h"
#include "replay/reference/ops.h"

namespace replay::reference {
namespace {

/// Least and largest value of an integer type as f64 (the largest rounded up where f64 lacks it).
struct Range {
  double low, high;
};
Range range_of(ir::Type type) {
  const ir::TypeInfo& info = ir::info(type);
  const bool is_signed = info.kind == ir::TypeInfo::Kind::signed_;
  const int bits = info.significant_bits - (is_signed ? 1 : 0);
  return {is_signed ? -std::ldexp(1.0, bits) : 0, std::ldexp(1.0, bits) - (bits > 53 ? 0 : 1)};
}

/// Truncates and saturates; NaN gives 0.
int64_t saturated(ir::Type type, double x) {
  if (std::isnan(x)) return 0;
  const Range range = range_of(type);
  const double whole = std::trunc(x);
  if (type == ir::Type::u64) return whole >= 0x1p64 ? -1 : whole <= 0 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(whole));
  if (whole <= range.low) return static_cast<int64_t>(range.low);
  if (whole >= range.high) return type == ir::Type::s64 ? INT64_MAX : static_cast<int64_t>(range.high);
  return static_cast<int64_t>(whole);
}

int64_t to_integer(ir::Type type, double x) { return type == ir::Type::pred ? x != 0 : saturated(type, x); }

void real_to_integer(const Values& x, Values& out) {
  for (size_t i = 0; i < x.re.size(); ++i) {
    out.integer[i] = to_integer(out.type, x.re[i]);
    const double e = bound_at(x, i);
    if (e == 0) continue;
    const bool doubt = out.type == ir::Type::pred
                           ? std::fabs(x.re[i]) <= e
                           : to_integer(out.type, x.re[i] - e) != out.integer[i] || to_integer(out.type, x.re[i] + e) != out.integer[i];
    if (doubt) set_unsure(out, i);
  }
}

void integer_to_real(const Values& x, Values& out) {
  for (size_t i = 0; i < x.integer.size(); ++i) {
    out.re[i] = x.type == ir::Type::u64 ? static_cast<double>(static_cast<uint64_t>(x.integer[i])) : static_cast<double>(x.integer[i]);
    if (x.type == ir::Type::pred && unsure_at(x, i)) set_bound(out, i, 1);
  }
}

}  // namespace

Values converted(Values x, ir::Type type) {
  if (x.type == type) return x;
  Values out = zeros(type, size(x));
  const Kind from = kind_of(x), to = kind_of(out);
  if (from == Kind::integer && to == Kind::integer) {
    for (size_t i = 0; i < out.integer.size(); ++i) out.integer[i] = wrap(out.type, x.integer[i]);
  } else if (to == Kind::integer) {
    real_to_integer(x, out);
  } else if (from == Kind::integer) {
    integer_to_real(x, out);
    if (x.type == ir::Type::pred) return out;  // its doubts are bounds now
  } else {
    out.re = x.re;
    out.bound = x.bound;
    if (from == Kind::complex && to == Kind::complex) out.im = x.im;
  }
  spread_unsure(out, x);
  return out;
}

Batch convert(const Call& call) {
  Batch x = call.operand(0);
  if (x->type == call.shape.type) return x;
  if (size(*x) != call.count()) return call.fail("has operands of different sizes");
  return share(converted(*x, call.shape.type));
}

namespace {

/// Patterns of floats that are not known exactly are no patterns.
void doubt_inexact(Values& out, const Values& from, size_t per) {
  for (size_t i = 0; i < size(from); ++i) {
    if (bound_at(from, i) == 0 && !unsure_at(from, i)) continue;
    for (size_t k = 0; k < per && i * per + k < size(out); ++k) set_unsure(out, i * per + k);
  }
}

int bits_of(ir::Type type) {
  return ir::is_integer(type)       ? ir::info(type).significant_bits
         : ir::is_small_float(type) ? ir::info(type).small->bits()
                                    : ir::info(type).bits;
}

/// Each result is part `element mod k` of the bits of an operand k times as large.
Batch narrower(const Call& call, const Indices& elements, const ToLogical& to_logical, int64_t k, int bits) {
  Indices wide(elements.size());
  for (size_t i = 0; i < wide.size(); ++i) wide[i] = elements[i] / k;
  const Batch x = call.operand(0, to_logical(wide));
  Values out = zeros(call.shape.type, call.count());
  for (size_t i = 0; i < wide.size(); ++i) {
    set_bits(out, i, bits_at(*x, i) >> (elements[i] % k * bits) & ((uint64_t{1} << bits) - 1));
  }
  doubt_inexact(out, *x, 1);
  return share(std::move(out));
}

/// Each result joins the bits of k operands.
Batch wider(const Call& call, const Indices& elements, const ToLogical& to_logical, int64_t k, int bits) {
  Indices parts;
  for (const int64_t element : elements) {
    for (int64_t j = 0; j < k; ++j) parts.push_back(element * k + j);
  }
  const Batch x = call.operand(0, to_logical(parts));
  Values out = zeros(call.shape.type, call.count());
  for (size_t i = 0; i < call.count(); ++i) {
    uint64_t pattern = 0;
    for (size_t j = static_cast<size_t>(k); j-- > 0;) {
      const size_t part = i * static_cast<size_t>(k) + j;
      pattern = pattern << bits | (bits_at(*x, part) & ((uint64_t{1} << bits) - 1));
      if (bound_at(*x, part) > 0 || unsure_at(*x, part)) set_unsure(out, i);
    }
    set_bits(out, i, pattern);
  }
  return share(std::move(out));
}

}  // namespace

Batch reinterpreted(const Call& call, const Indices& elements, const ToLogical& to_logical) {
  const ir::Shape& from = call.operand_shape(0);
  const int before = bits_of(from.type), after = bits_of(call.shape.type);
  if (from.type == call.shape.type) return call.operand(0, to_logical(elements));
  if (from.type == ir::Type::c128 || call.shape.type == ir::Type::c128) return call.fail("on c128 is not supported");
  if (before * ir::elements(from) != after * ir::elements(call.shape)) return call.fail("changes the number of bits");
  if (before > after && before % after == 0) return narrower(call, elements, to_logical, before / after, after);
  if (after > before && after % before == 0) return wider(call, elements, to_logical, after / before, before);
  if (before != after) return call.fail("between sizes that do not divide each other");
  const Batch x = call.operand(0, to_logical(elements));
  Values out = zeros(call.shape.type, call.count());
  for (size_t i = 0; i < size(out); ++i) set_bits(out, i, bits_at(*x, i));
  doubt_inexact(out, *x, 1);
  return share(std::move(out));
}

Batch bitcast_convert(const Call& call) {
  return reinterpreted(call, *call.at, [](const Indices& elements) { return elements; });
}

Batch stochastic_convert(const Call& call) {
  const Batch x = call.operand(0), random = call.operand(1);
  Values out = zeros(call.shape.type, call.count());
  if (kind_of(*x) != Kind::real || kind_of(*random) != Kind::integer) return call.fail("takes a float and unsigned bits");
  const double scale = std::ldexp(1.0, -ir::info(random->type).significant_bits);
  for (size_t i = 0; i < size(*x); ++i) {
    const double whole = std::trunc(x->re[i]), fraction = std::fabs(x->re[i] - whole);
    const bool up = static_cast<double>(static_cast<uint64_t>(random->integer[i])) * scale < fraction;
    const double chosen = up ? whole + std::copysign(1.0, x->re[i]) : whole;
    if (kind_of(out) == Kind::integer)
      out.integer[i] = to_integer(out.type, chosen);
    else
      out.re[i] = round_to(out.type, x->re[i]);
    if (bound_at(*x, i) > 0) set_unsure(out, i);
  }
  return share(std::move(out));
}

}  // namespace replay::reference
