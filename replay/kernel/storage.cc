// Between memory and registers. Small floats are decoded and encoded by their bits, from the description of their format: shifted to the
// place of an f32's bits and multiplied by a power of two, so that subnormals need no case of their own; back, the same rounding on bits,
// and for subnormals the sum with a constant whose last place is theirs.
#include <limits>

#include "replay/kernel/arithmetic.h"
#include "src/base/small_float.h"

namespace kernel {
namespace {

using ir::Type;
using Format = base::FloatFormat;
using Special = base::FloatFormat::Special;

NodeId integer(Graph& g, int64_t value) { return g.integer(Reg::i32, value); }
NodeId bits_of(Graph& g, NodeId x) { return g.cast(Code::bitcast, Reg::i32, x); }
NodeId as_float(Graph& g, NodeId bits) { return g.cast(Code::bitcast, Reg::f32, bits); }

/// Patterns of a format, without the sign.
struct Patterns {
  int64_t sign, all, largest, overflow, nan;
};
Patterns patterns_of(const Format& f) {
  Patterns p{int64_t{1} << (f.exponent + f.mantissa), 0, 0, 0, 0};
  p.all = p.sign - 1;
  const int64_t infinity = ((int64_t{1} << f.exponent) - 1) << f.mantissa;
  switch (f.special) {
    case Special::ieee:
      p.largest = infinity - 1, p.overflow = infinity, p.nan = infinity | int64_t{1} << (f.mantissa - 1);
      break;
    case Special::finite:
      p.largest = p.all - 1, p.overflow = p.nan = p.all;
      break;
    case Special::unsigned_zero:
      p.largest = p.all, p.overflow = p.nan = p.sign;
      break;
    case Special::none:
      p.largest = p.overflow = p.all, p.nan = 0;
      break;
  }
  return p;
}

/// f8e8m0fnu: 2^(bits - 127), 255 is NaN.
NodeId decode_exponent(Graph& g, NodeId bits) {
  const NodeId smallest = g.compare(Predicate::eq, bits, integer(g, 0)), nan = g.compare(Predicate::eq, bits, integer(g, 255));
  const NodeId value = g.select(smallest, integer(g, 0x00400000), g.binary(Code::shl, bits, integer(g, 23)));
  return as_float(g, g.select(nan, integer(g, 0x7fc00000), value));
}

NodeId decode(Graph& g, NodeId byte, const Format& f) {
  const NodeId bits = g.cast(Code::zext, Reg::i32, byte);
  if (!f.has_sign) return decode_exponent(g, bits);
  const Patterns p = patterns_of(f);
  const NodeId magnitude = g.binary(Code::and_, bits, integer(g, p.all));
  const NodeId in_place = g.binary(Code::shl, magnitude, integer(g, 23 - f.mantissa));
  const NodeId value = g.binary(Code::mul, as_float(g, in_place), g.real(Reg::f32, std::bit_cast<float>((254 - f.bias) << 23)));
  NodeId out = bits_of(g, value);
  if (f.special == Special::ieee) {  // infinity and NaN keep their mantissa
    const NodeId special = g.compare(Predicate::ugt, magnitude, integer(g, p.largest));
    out = g.select(special, g.binary(Code::or_, in_place, integer(g, 0x7f800000)), out);
  } else if (f.special == Special::finite) {
    out = g.select(g.compare(Predicate::eq, magnitude, integer(g, p.nan)), integer(g, 0x7fc00000), out);
  }
  const NodeId sign = g.binary(Code::and_, bits, integer(g, p.sign));
  out = g.binary(Code::or_, out, g.binary(Code::shl, sign, integer(g, 31 - f.exponent - f.mantissa)));
  if (f.special == Special::unsigned_zero) {
    const NodeId pattern = g.binary(Code::and_, bits, integer(g, p.sign | p.all));
    out = g.select(g.compare(Predicate::eq, pattern, integer(g, p.nan)), integer(g, 0x7fc00000), out);
  }
  return as_float(g, out);
}

/// To the nearest power of two, up from the middle; what is negative or too large is NaN.
NodeId encode_exponent(Graph& g, NodeId x) {
  const NodeId bits = bits_of(g, x);  // as a signed integer: negative numbers lie below 0, NaN above infinity
  const NodeId normal = g.binary(Code::lshr, g.binary(Code::add, bits, integer(g, 0x400000)), integer(g, 23));
  const NodeId small = g.select(g.compare(Predicate::sge, bits, integer(g, 0x600000)), integer(g, 1), integer(g, 0));
  const NodeId value = g.select(g.compare(Predicate::slt, bits, integer(g, 0x800000)), small, normal);
  const NodeId beyond =
      g.binary(Code::or_, g.compare(Predicate::slt, bits, integer(g, 0)), g.compare(Predicate::sge, bits, integer(g, 0x7f800000)));
  return g.cast(Code::trunc, Reg::i8, g.select(beyond, integer(g, 255), value));
}

/// The magnitude's pattern; may run past the largest.
NodeId round_magnitude(Graph& g, NodeId magnitude, const Format& f) {
  const int drop = 23 - f.mantissa;
  const NodeId odd = g.binary(Code::and_, g.binary(Code::lshr, magnitude, integer(g, drop)), integer(g, 1));
  const NodeId sum = g.binary(Code::add, g.binary(Code::add, magnitude, integer(g, (int64_t{1} << (drop - 1)) - 1)), odd);
  const NodeId normal = g.binary(Code::sub, g.binary(Code::lshr, sum, integer(g, drop)), integer(g, int64_t{127 - f.bias} << f.mantissa));
  const auto step = std::bit_cast<float>((127 + 24 - f.bias - f.mantissa) << 23);  // its last place: the smallest subnormal
  const NodeId shifted = g.binary(Code::add, as_float(g, magnitude), g.real(Reg::f32, step));
  const NodeId subnormal = g.binary(Code::sub, bits_of(g, shifted), integer(g, std::bit_cast<int32_t>(step)));
  const NodeId is_small = g.compare(Predicate::slt, magnitude, integer(g, int64_t{128 - f.bias} << 23));
  return g.select(is_small, subnormal, normal);
}

NodeId encode(Graph& g, NodeId x, const Format& f) {
  if (!f.has_sign) return encode_exponent(g, x);
  const Patterns p = patterns_of(f);
  const NodeId bits = bits_of(g, x);
  NodeId out = round_magnitude(g, g.binary(Code::and_, bits, integer(g, 0x7fffffff)), f);
  out = g.select(g.compare(Predicate::sgt, out, integer(g, p.largest)), integer(g, p.overflow), out);
  out = g.select(is_nan(g, x), integer(g, p.nan), out);
  const NodeId sign = g.binary(Code::shl, g.binary(Code::lshr, bits, integer(g, 31)), integer(g, f.exponent + f.mantissa));
  NodeId result = g.binary(Code::or_, out, sign);
  if (f.special == Special::unsigned_zero)  // zero has no sign
    result = g.select(g.compare(Predicate::eq, out, integer(g, 0)), out, result);
  return g.cast(Code::trunc, Reg::i8, result);
}

/// (u + 0x7fff + bit 16) >> 16; a NaN keeps its upper half and becomes quiet.
NodeId encode_bf16(Graph& g, NodeId value) {
  const NodeId u = bits_of(g, value), upper = g.binary(Code::lshr, u, integer(g, 16));
  const NodeId sum = g.binary(Code::add, g.binary(Code::add, u, integer(g, 0x7fff)), g.binary(Code::and_, upper, integer(g, 1)));
  const NodeId bits = g.select(is_nan(g, value), g.binary(Code::or_, upper, integer(g, 0x40)), g.binary(Code::lshr, sum, integer(g, 16)));
  return g.cast(Code::trunc, Reg::i16, bits);
}

}  // namespace

NodeId rounded(Graph& g, NodeId value, Type type) {
  if (!ir::is_small_float(type)) return value;
  return from_storage(g, to_storage(g, value, type), type);
}

NodeId wrapped(Graph& g, NodeId value, Type type) {
  if (!ir::is_integer(type) || ir::info(type).significant_bits >= 8) return value;
  const NodeId unused = g.integer(Reg::i8, 8 - ir::info(type).significant_bits);
  const bool sign = ir::info(type).kind == ir::TypeInfo::Kind::signed_;
  return g.binary(sign ? Code::ashr : Code::lshr, g.binary(Code::shl, value, unused), unused);
}

int bits_of(Type type) {
  if (ir::is_small_float(type)) return ir::info(type).small->bits();
  return ir::is_integer(type) ? ir::info(type).significant_bits : ir::info(type).bits;
}

NodeId pattern_of(Graph& g, Typed value) {
  if (value.type == Type::c64) {
    const auto half = [&](size_t k) { return g.cast(Code::zext, Reg::i64, bits_of(g, g.part(value.node, k))); };
    return g.binary(Code::or_, half(0), g.binary(Code::shl, half(1), g.integer(Reg::i64, 32)));
  }
  const NodeId stored = to_storage(g, value.node, value.type);
  const int bits = bits_of(value.type);
  if (bits < 8) return g.binary(Code::and_, stored, g.integer(Reg::i8, (int64_t{1} << bits) - 1));
  constexpr Reg kIntegers[] = {Reg::i8, Reg::i16, Reg::i32, Reg::i64};
  return g.cast(Code::bitcast, kIntegers[bits == 64 ? 3 : bits == 32 ? 2 : bits == 16 ? 1 : 0], stored);
}

NodeId from_pattern(Graph& g, NodeId bits, Type type) {
  if (type == Type::c64) {
    const NodeId upper = g.binary(Code::lshr, bits, g.integer(Reg::i64, 32));
    return g.pair(as_float(g, g.cast(Code::trunc, Reg::i32, bits)), as_float(g, g.cast(Code::trunc, Reg::i32, upper)));
  }
  const Reg stored = storage_of(type);
  constexpr Reg kIntegers[] = {Reg::i8, Reg::i16, Reg::i32, Reg::i64};
  const int size = bytes(stored);
  const Reg ints = kIntegers[size == 8 ? 3 : size == 4 ? 2 : size == 2 ? 1 : 0];
  return from_storage(g, g.cast(Code::bitcast, stored, g.cast(Code::trunc, ints, bits)), type);
}

NodeId to_storage(Graph& g, NodeId value, Type type) {
  if (type == Type::pred) return g.cast(Code::zext, Reg::i8, value);
  if (type == Type::f16) return g.cast(Code::fptrunc, Reg::f16, value);
  if (type == Type::bf16) return encode_bf16(g, value);
  return ir::is_small_float(type) ? encode(g, value, *ir::info(type).small) : value;
}

NodeId from_storage(Graph& g, NodeId value, Type type) {
  if (type == Type::pred) return g.compare(Predicate::ne, value, g.integer(Reg::i8, 0));
  if (type == Type::f16) return g.cast(Code::fpext, Reg::f32, value);
  if (type == Type::bf16) return as_float(g, g.binary(Code::shl, g.cast(Code::zext, Reg::i32, value), integer(g, 16)));
  return ir::is_small_float(type) ? decode(g, value, *ir::info(type).small) : wrapped(g, value, type);
}

}  // namespace kernel
