// Small floating-point formats (f16, bf16, f8…, f4…) as descriptions, with one encoder and one decoder for all of them.
#pragma once

#include <cstdint>

namespace base {

/// A format of 1 sign bit, `exponent` bits and `mantissa` bits.
struct FloatFormat {
  int exponent, mantissa, bias;
  enum class Special : uint8_t {
    ieee,           ///< the largest exponent holds infinities and NaN
    finite,         ///< "fn": no infinity; all ones is NaN; what overflows becomes NaN
    unsigned_zero,  ///< "fnuz": no infinity, no -0; the pattern of -0 is NaN
    none,           ///< neither infinity nor NaN (f4e2m1fn, f6…): what overflows saturates
  } special;
  bool has_sign = true;  ///< f8e8m0fnu has neither sign nor mantissa
  int bits() const { return int{has_sign} + exponent + mantissa; }
};

inline constexpr FloatFormat kF16{5, 10, 15, FloatFormat::Special::ieee};
inline constexpr FloatFormat kBf16{8, 7, 127, FloatFormat::Special::ieee};
inline constexpr FloatFormat kF8e5m2{5, 2, 15, FloatFormat::Special::ieee};
inline constexpr FloatFormat kF8e4m3{4, 3, 7, FloatFormat::Special::ieee};
inline constexpr FloatFormat kF8e3m4{3, 4, 3, FloatFormat::Special::ieee};
inline constexpr FloatFormat kF8e4m3fn{4, 3, 7, FloatFormat::Special::finite};
inline constexpr FloatFormat kF8e4m3b11fnuz{4, 3, 11, FloatFormat::Special::unsigned_zero};
inline constexpr FloatFormat kF8e5m2fnuz{5, 2, 16, FloatFormat::Special::unsigned_zero};
inline constexpr FloatFormat kF8e4m3fnuz{4, 3, 8, FloatFormat::Special::unsigned_zero};
inline constexpr FloatFormat kF8e8m0fnu{8, 0, 127, FloatFormat::Special::finite, false};
inline constexpr FloatFormat kF4e2m1fn{2, 1, 1, FloatFormat::Special::none};

/// Rounds to nearest even. `value` is rounded once, directly from f64 (an f32 passes through unchanged).
uint32_t encode(double value, const FloatFormat& format);
/// Exact.
double decode(uint32_t bits, const FloatFormat& format);

}  // namespace base
