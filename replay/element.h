// Single elements in memory: every type to f64 or i64 and back, and the two conversions that inputs need quickly.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "src/ir/shape.h"

namespace replay {

/// Nearest f16 or bf16, ties to even; NaN stays NaN (quiet, payload dropped). Without branches, so that loops over them vectorise.
inline uint16_t f16_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  const uint32_t rounded = (magnitude + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  const uint32_t normal = rounded - ((127u - 15u) << 10);  // 65520 and more carry into the exponent of infinity
  // Below 2^-14 the sum with 0.5 has its last place at 2^-24, the step of f16 subnormals: the FPU rounds.
  const uint32_t subnormal = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - std::bit_cast<uint32_t>(0.5f);
  uint32_t out = magnitude < 0x38800000u ? subnormal : normal;
  out = magnitude >= 0x47800000u ? 0x7c00u : out;
  out = magnitude > 0x7f800000u ? 0x7e00u : out;
  return static_cast<uint16_t>(sign | out);
}
inline uint16_t bf16_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? (bits >> 16) | 0x40u : rounded);
}

/// Rounded once to the nearest value of a floating type, ties to even. For complex types: of one part.
double round_to(ir::Type type, double value);
/// round_to for each value, without a branch on the type inside the loop.
void round_all(ir::Type type, std::span<double> values);
/// Distance between neighbours of `type` around |value| (of subnormals near 0); 0 for types that are exact.
double ulp(ir::Type type, double value);

/// Element `index` of an array at `from`. Complex: `part` 0 is real, 1 imaginary. Integers and pred: load_integer (u64 bit-cast, pred 0 or
/// 1).
double load_real(ir::Type type, const std::byte* from, int64_t index, int part = 0);
int64_t load_integer(ir::Type type, const std::byte* from, int64_t index);
/// Rounds; integers wrap to the width of the type.
void store_real(ir::Type type, std::byte* to, int64_t index, double value, int part = 0);
void store_integer(ir::Type type, std::byte* to, int64_t index, int64_t value);
/// The lowest significant_bits of `value`, sign- or zero-extended as the type says; pred: value ≠ 0.
int64_t wrap(ir::Type type, int64_t value);

}  // namespace replay
