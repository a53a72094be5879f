// Small floats by arithmetic on the description: encode() finds the exponent with frexp, rounds the significand as an integer, and packs.
#include "src/base/small_float.h"

#include <cmath>
#include <limits>

namespace base {
namespace {

using Special = FloatFormat::Special;

uint32_t sign_bit(const FloatFormat& f) { return 1u << (f.exponent + f.mantissa); }
uint32_t all_ones(const FloatFormat& f) { return sign_bit(f) - 1; }

uint32_t nan_bits(const FloatFormat& f) {
  if (!f.has_sign) return (1u << f.exponent) - 1;
  switch (f.special) {
    case Special::ieee:
      return (((1u << f.exponent) - 1) << f.mantissa) | (1u << (f.mantissa - 1));
    case Special::finite:
      return all_ones(f);
    case Special::unsigned_zero:
      return sign_bit(f);
    case Special::none:
      return 0;
  }
  return 0;
}

/// The largest finite magnitude as bits.
uint32_t max_bits(const FloatFormat& f) {
  if (!f.has_sign) return (1u << f.exponent) - 2;
  switch (f.special) {
    case Special::ieee:
      return (((1u << f.exponent) - 1) << f.mantissa) - 1;
    case Special::finite:
      return all_ones(f) - 1;
    case Special::unsigned_zero:
    case Special::none:
      return all_ones(f);
  }
  return 0;
}

uint32_t overflow_bits(const FloatFormat& f) {
  if (f.special == Special::ieee) return ((1u << f.exponent) - 1) << f.mantissa;
  return f.special == Special::none ? max_bits(f) : nan_bits(f);
}

/// Magnitude bits of a positive finite value; may run past max_bits.
uint64_t round_magnitude(double value, const FloatFormat& f) {
  int exponent = 0;
  std::frexp(value, &exponent);        // value = s · 2^exponent, s in [0.5, 1)
  int biased = exponent - 1 + f.bias;  // of 1.m · 2^(exponent-1)
  const int lowest = f.has_sign ? 1 : 0;
  const int shift = f.mantissa - (exponent - 1) + (biased < lowest ? biased - lowest : 0);
  const double scaled = std::ldexp(value, shift);  // an integer of mantissa + 1 bits and a fraction
  const auto significand = static_cast<uint64_t>(std::nearbyint(scaled));
  if (biased < lowest) return f.has_sign ? significand : 0;  // subnormal: rounding up to the first normal carries by itself
  return (static_cast<uint64_t>(biased) << f.mantissa) + significand - (uint64_t{1} << f.mantissa);
}

}  // namespace

uint32_t encode(double value, const FloatFormat& f) {
  if (std::isnan(value)) {
    const bool keep_sign = f.has_sign && f.special != Special::unsigned_zero && std::signbit(value);
    return nan_bits(f) | (keep_sign ? sign_bit(f) : 0);
  }
  if (!f.has_sign && (value < 0 || std::signbit(value))) return nan_bits(f);
  uint32_t sign = std::signbit(value) ? sign_bit(f) : 0;
  uint32_t magnitude = 0;
  if (std::isinf(value)) {
    magnitude = overflow_bits(f);
  } else if (value != 0) {
    const uint64_t rounded = round_magnitude(std::fabs(value), f);
    magnitude = rounded > max_bits(f) ? overflow_bits(f) : static_cast<uint32_t>(rounded);
  }
  if (f.special == Special::unsigned_zero && (magnitude == 0 || magnitude == sign_bit(f))) sign = 0;
  return sign | magnitude;
}

double decode(uint32_t bits, const FloatFormat& f) {
  const bool negative = f.has_sign && (bits & sign_bit(f)) != 0;
  const uint32_t magnitude = f.has_sign ? bits & all_ones(f) : bits & ((1u << f.exponent) - 1);
  if (f.special == Special::unsigned_zero && bits == sign_bit(f)) return std::numeric_limits<double>::quiet_NaN();
  if (magnitude > max_bits(f)) {
    if (f.special == Special::ieee && magnitude == overflow_bits(f)) return negative ? -INFINITY : INFINITY;
    return std::copysign(std::numeric_limits<double>::quiet_NaN(), negative ? -1.0 : 1.0);
  }
  const int biased = static_cast<int>(magnitude >> f.mantissa);
  const auto fraction = static_cast<double>(magnitude & ((1u << f.mantissa) - 1));
  const double significand = f.has_sign && biased == 0 ? fraction : fraction + std::ldexp(1.0, f.mantissa);
  const double value = std::ldexp(significand, (biased == 0 && f.has_sign ? 1 : biased) - f.bias - f.mantissa);
  return negative ? -value : value;
}

}  // namespace base
