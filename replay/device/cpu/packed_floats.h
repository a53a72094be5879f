// f16 and bf16 to and from f32 with the conversions of one instruction set.
#pragma once

#include <cstring>
#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "replay/device/cpu/packed_vector.h"
#include "src/base/small_float.h"

namespace replay::cpu {
namespace {

/// Runs `vector` over whole vectors of `Step` elements of every row and `scalar` over the rest.
template <int Step, typename From, typename To, typename VectorStep, typename ScalarStep>
inline __attribute__((always_inline)) void each(const void* from, int64_t from_stride, void* to, int64_t to_stride, int64_t rows,
                                                int64_t columns, VectorStep vector, ScalarStep scalar) {
  for (int64_t r = 0; r < rows; ++r) {
    const From* source = static_cast<const From*>(from) + r * from_stride;
    To* target = static_cast<To*>(to) + r * to_stride;
    int64_t c = 0;
    for (; c + Step <= columns; c += Step) vector(source + c, target + c);
    for (; c < columns; ++c) target[c] = scalar(source[c]);
  }
}

constexpr int kFloats = kLanes<float>;
typedef uint16_t Halves __attribute__((vector_size(kVectorBytes / 2), aligned(2), may_alias));

inline float bf16_value(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}
/// To nearest even by integers: half a unit is added to the dropped bits, less one where the kept number is even. NaN keeps its upper bits,
/// quiet.
inline uint16_t bf16_bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

void bf16_to_f32(const void* from, int64_t from_stride, void* to, int64_t to_stride, int64_t rows, int64_t columns) {
  each<kFloats, uint16_t, float>(
      from, from_stride, to, to_stride, rows, columns,
      [](const uint16_t* s, float* d) {
        const Vector<uint32_t> wide = __builtin_convertvector(*reinterpret_cast<const Halves*>(s), Vector<uint32_t>) << 16;
        *reinterpret_cast<Vector<uint32_t>*>(d) = wide;
      },
      bf16_value);
}

void f32_to_bf16(const void* from, int64_t from_stride, void* to, int64_t to_stride, int64_t rows, int64_t columns) {
  each<kFloats, float, uint16_t>(
      from, from_stride, to, to_stride, rows, columns,
      [](const float* s, uint16_t* d) {
        const Vector<uint32_t> bits = *reinterpret_cast<const Vector<uint32_t>*>(s);
        const Vector<uint32_t> rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16, quiet = bits >> 16 | 0x40;
        const Vector<uint32_t> chosen = (bits & 0x7FFFFFFF) > 0x7F800000 ? quiet : rounded;
        *reinterpret_cast<Halves*>(d) = __builtin_convertvector(chosen, Halves);
      },
      bf16_bits);
}

#if defined(__F16C__)
inline float f16_value(uint16_t bits) { return _cvtsh_ss(bits); }
inline uint16_t f16_bits(float value) { return static_cast<uint16_t>(_cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT)); }
#else
inline float f16_value(uint16_t bits) { return static_cast<float>(base::decode(bits, base::kF16)); }
inline uint16_t f16_bits(float value) { return static_cast<uint16_t>(base::encode(value, base::kF16)); }
#endif

void f16_to_f32(const void* from, int64_t from_stride, void* to, int64_t to_stride, int64_t rows, int64_t columns) {
  each<kFloats, uint16_t, float>(
      from, from_stride, to, to_stride, rows, columns,
      [](const uint16_t* s, float* d) {
#if defined(__AVX512F__)
        _mm512_storeu_ps(d, _mm512_maskz_cvtph_ps(0xFFFF, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(s))));
#elif defined(__F16C__)
        _mm256_storeu_ps(d, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(s))));
#else
        for (int i = 0; i < kFloats; ++i) d[i] = f16_value(s[i]);
#endif
      },
      f16_value);
}

void f32_to_f16(const void* from, int64_t from_stride, void* to, int64_t to_stride, int64_t rows, int64_t columns) {
  each<kFloats, float, uint16_t>(
      from, from_stride, to, to_stride, rows, columns,
      [](const float* s, uint16_t* d) {
#if defined(__AVX512F__)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(d), _mm512_maskz_cvtps_ph(0xFFFF, _mm512_loadu_ps(s), _MM_FROUND_TO_NEAREST_INT));
#elif defined(__F16C__)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(d), _mm256_cvtps_ph(_mm256_loadu_ps(s), _MM_FROUND_TO_NEAREST_INT));
#else
        for (int i = 0; i < kFloats; ++i) d[i] = f16_bits(s[i]);
#endif
      },
      f16_bits);
}

}  // namespace
}  // namespace replay::cpu
