#include "importers/paddle/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace importers::paddle {

/// Multiplication and shifts as in MurmurHash3's finalizer (https://github.com/aappleby/smhasher).
Value random_bits(Body& b, const Dims& dims, int64_t salt) {
  Value bits = b.reshape(b.iota(ir::Type::u32, {elements_of(dims)}, 0), dims);
  if (salt != 0) bits = plus(b, bits, static_cast<double>(salt));
  for (const double factor : {2246822507.0, 3266489909.0}) {
    bits = b.op(ir::Op::xor_, {{bits, b.op(ir::Op::shift_right_logical, {{bits, b.like(bits, 16)}})}});
    bits = times(b, bits, factor);
  }
  return bits;
}

namespace {

using ir::Op;

constexpr int64_t kSecond = 0x3C6EF372;  ///< salt of a second number for an element

/// Of [0, 1), with 24 bits: what an f32 holds.
Value unit(Body& b, const Dims& dims, int64_t salt = 0) {
  const Value bits = random_bits(b, dims, salt);
  return times(b, b.convert(b.op(Op::shift_right_logical, {{bits, b.like(bits, 8)}}), ir::Type::f32), 1.0 / (1 << 24));
}
/// Box and Muller: √(−2·log u)·cos(2π·v), u of (0, 1].
Value normal(Body& b, const Dims& dims) {
  const Value u = b.binary(Op::subtract, b.fill(ir::Type::f32, dims, 1), unit(b, dims));
  const Value angle = times(b, unit(b, dims, kSecond), 2 * std::numbers::pi);
  return times(b, b.unary(Op::sqrt, times(b, b.unary(Op::log, u), -2)), b.unary(Op::cosine, angle));
}

void say(Call& c) { c.note("random", "the numbers are made from places, not from the seed"); }

/// Type and size of what is made from nothing.
struct Drawn {
  ir::Type type;
  Dims dims;
};
std::optional<Drawn> drawn(Call& c) {
  const auto type = c.named_type("dtype");
  const auto dims = c.sizes("shape", {"ShapeTensor", "ShapeTensorList"});
  if (!type || !dims || elements_of(*dims) >= int64_t{1} << 32) return c.fail("type or shape are not known"), std::nullopt;
  return Drawn{*type, *dims};
}

void uniform(Call& c) {
  const auto m = drawn(c);
  if (!m) return;
  const double min = c.number("min", -1, "Min"), max = c.number("max", 1, "Max");
  say(c);
  c.set("Out", c.fuse1({}, [&](Body& b, In) { return b.convert(plus(b, times(b, unit(b, m->dims), max - min), min), m->type); }));
}
void gaussian(Call& c) {
  const auto m = drawn(c);
  if (!m) return;
  say(c);
  c.set("Out", c.fuse1({}, [&](Body& b, In) {
    return b.convert(plus(b, times(b, normal(b, m->dims), c.number("std", 1)), c.number("mean", 0)), m->type);
  }));
}
/// Whole numbers of [low, high).
void randint(Call& c) {
  const auto m = drawn(c);
  if (!m) return;
  const double low = c.number("low", 0), high = c.number("high", 1);
  say(c);
  c.set("Out", c.fuse1({}, [&](Body& b, In) {
    return b.convert(b.unary(Op::floor, plus(b, times(b, unit(b, m->dims), high - low), low)), m->type);
  }));
}
/// 1 with the probability that X gives.
void bernoulli(Call& c) {
  say(c);
  c.set("Out", c.fuse1({c.in("X")}, [&](Body& b, In in) {
    return b.convert(b.compare(ir::Direction::LT, unit(b, b.dims(in[0])), b.convert(in[0], ir::Type::f32)), b.type(in[0]));
  }));
}

constexpr Row kRandomRows[] = {
    {"bernoulli", bernoulli, "X"},
    {"gaussian_random", gaussian, ""},
    {"randint", randint, ""},
    {"uniform_random", uniform, ""},
};

}  // namespace

std::span<const Row> random_rows() { return kRandomRows; }

}  // namespace importers::paddle
