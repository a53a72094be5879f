// What the text of every CUDA kernel begins with. What a GPU does in its own way stands in the first part; a host that runs the text for a
// test gives these names in another way (tests/support/cuda_on_host.h).
#pragma once

#include <string_view>

namespace kernel::cuda {

inline constexpr std::string_view kPrelude = R"(#ifndef PROFILE_KERNELS
#define PROFILE_KERNELS
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32; typedef unsigned long long u64;
typedef signed char i8; typedef short i16; typedef int i32; typedef long long i64;
#define DEVICE static __device__ __forceinline__
#define KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads, 1)
#define BLOCK_MEMORY(bytes) __shared__ __align__(16) char block_memory[bytes]
#define CONSTANTS static const __align__(16) u8
struct __align__(2) f16 { u16 bits; };
DEVICE float to_f32(f16 x) { float y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits)); return y; }
DEVICE f16 to_f16(float x) { f16 y; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x)); return y; }
template <class T, int N = 1> DEVICE T& at(void* array, i64 element, i64) { return ((T*)array)[element]; }
template <class T, int N = 1> DEVICE const T& at(const void* array, i64 element, i64) { return ((const T*)array)[element]; }
template <class T, int N = 1> DEVICE T& at(void* array, int element, i64) { return ((T*)array)[element]; }
template <class T, int N = 1> DEVICE const T& at(const void* array, int element, i64) { return ((const T*)array)[element]; }
DEVICE void meet() { __syncthreads(); }
template <class T> DEVICE T down(T x, int by) {
  if constexpr (sizeof(T) < 4) return (T)__shfl_down_sync(0xffffffffu, (int)x, by);
  else return __shfl_down_sync(0xffffffffu, x, by);
}
template <class T> DEVICE T leader(T x, int of) {
  if constexpr (sizeof(T) < 4) return (T)__shfl_sync(0xffffffffu, (int)x, 0, of);
  else return __shfl_sync(0xffffffffu, x, 0, of);
}
#define THREAD ((int)threadIdx.x)
#define BLOCK ((int)blockIdx.x)
#endif
template <class T, int N> struct alignas(sizeof(T) * N > 16 ? 16 : sizeof(T) * N) vec { T v[N]; };
template <class To, class From> DEVICE To bits_as(From x) { static_assert(sizeof(To) == sizeof(From), ""); To y; memcpy(&y, &x, sizeof y); return y; }
/// K elements at once; the address is a multiple of theirs.
template <int K, class T, int N> DEVICE void load(vec<T, N>& to, const T* from) {
#pragma unroll
  for (int i = 0; i < N; i += K) *(vec<T, K>*)&to.v[i] = *(const vec<T, K>*)&from[i];
}
template <int K, class T, int N> DEVICE void store(T* to, const vec<T, N>& from) {
#pragma unroll
  for (int i = 0; i < N; i += K) *(vec<T, K>*)&to[i] = *(const vec<T, K>*)&from.v[i];
}
template <int K, class T, class U, int N> DEVICE void store(T* to, const vec<U, N>& from) {  // what is known to fit int is kept as int
  vec<T, N> whole;
#pragma unroll
  for (int i = 0; i < N; ++i) whole.v[i] = (T)from.v[i];
  store<K>(to, whole);
}
#define SIGNED(T, bits, low, high) template <class F> DEVICE T to_s##bits(F x) { \
  return x != x ? 0 : x >= -(F)low ? high : x <= (F)low ? low : (T)x; }
#define UNSIGNED(T, bits, high, beyond) template <class F> DEVICE T to_u##bits(F x) { return x != x || x <= 0 ? 0 : x >= (F)beyond ? high : (T)x; }
SIGNED(i8, 8, (-128), 127) SIGNED(i16, 16, (-32768), 32767) SIGNED(i32, 32, (-2147483647 - 1), 2147483647)
SIGNED(i64, 64, (-9223372036854775807ll - 1), 9223372036854775807ll)
UNSIGNED(u8, 8, 255, 255) UNSIGNED(u16, 16, 65535, 65535) UNSIGNED(u32, 32, 4294967295u, 4294967296.0) UNSIGNED(u64, 64, ~0ull, 18446744073709551616.0)
#endif
)";

}  // namespace kernel::cuda
