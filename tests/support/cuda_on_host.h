// Names with which the text of a CUDA kernel runs on the CPU, unchanged (replay/kernel/cuda_prelude.h).
#pragma once

#include <cmath>

#include "tests/support/on_host.h"

#define DEVICE static inline
#define KERNEL(threads) static void
#define BLOCK_MEMORY(bytes) char* const block_memory = on_host::block_memory(bytes)
#define CONSTANTS alignas(16) static const u8
#define THREAD (on_host::block.current)
#define BLOCK (on_host::block.number)

struct f16 {
  u16 bits;
};
template <class T, int N = 1>
T& at(void* array, i64 element, i64 bytes) {
  return *on_host::checked(static_cast<T*>(array), element, N, bytes);
}
template <class T, int N = 1>
const T& at(const void* array, i64 element, i64 bytes) {
  return *on_host::checked(static_cast<const T*>(array), element, N, bytes);
}
static inline float as_float(u32 bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
static inline float to_f32(f16 x) {
  const u32 sign = static_cast<u32>(x.bits & 0x8000) << 16, exponent = x.bits >> 10 & 31, mantissa = x.bits & 0x3ff;
  if (exponent == 31) return as_float(sign | 0x7f800000u | mantissa << 13);
  if (exponent != 0) return as_float(sign | (exponent + 112) << 23 | mantissa << 13);
  const float small = static_cast<float>(mantissa) * 0x1p-24f;
  return sign != 0 ? -small : small;
}
static inline f16 to_f16(float x) {
  u32 bits;
  memcpy(&bits, &x, sizeof bits);
  const u32 sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffffu;
  if (bits > 0x7f800000u) return {0x7fff};
  if (bits >= 0x477ff000u) return {static_cast<u16>(sign | 0x7c00)};
  if (bits < 0x38800000u) return {static_cast<u16>(sign | static_cast<u32>(lrintf(as_float(bits) * 0x1p24f)))};
  const u32 rounded = bits + 0xfffu + (bits >> 13 & 1);
  return {static_cast<u16>(sign | (rounded - 0x38000000u) >> 13)};
}
static inline void meet() { on_host::meet(); }
template <class T>
T down(T x, int by) {
  const int lane = THREAD % on_host::kWarp;
  return on_host::exchanged(x, lane + by < on_host::kWarp ? lane + by : lane);
}
template <class T>
T leader(T x, int of) {
  return on_host::exchanged(x, THREAD % on_host::kWarp / of * of);
}
static inline u64 __umul64hi(u64 a, u64 b) { return static_cast<u64>(static_cast<unsigned __int128>(a) * b >> 64); }
static inline int __popcll(u64 x) { return __builtin_popcountll(x); }
static inline int __clzll(i64 x) { return x == 0 ? 64 : __builtin_clzll(static_cast<u64>(x)); }
