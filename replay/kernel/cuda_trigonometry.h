// Sine, cosine and tangent of CUDA kernels. CUDA's own keep an array on a thread's stack for large arguments, which costs every kernel that
// calls them a stack frame; these read 2/π from a table of bits instead, and have none. Within 1.5 ulp (tangent 3), for all arguments.
#pragma once

#include <string_view>

namespace kernel::cuda {

/// After kPrelude: sine, cosine and tangent of float and of double.
inline constexpr std::string_view kTrigonometry = R"(#ifndef PROFILE_TRIGONOMETRY
#define PROFILE_TRIGONOMETRY
/// 64 bits of 2/pi; `at` counts from the bit of weight 1/2, and bits before it are 0.
DEVICE u64 two_over_pi(int at) {
  static const u64 words[] = {0,
    0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull,
    0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull,
    0x9c845f8bbdf9283bull, 0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull,
    0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull, 0xf0cfbc209af4361dull};
  const int word = at + 64 >> 6, shift = at + 64 & 63;
  return shift == 0 ? words[word] : words[word] << shift | words[word + 1] >> (64 - shift);
}
/// Payne and Hanek: of x * 2/pi only the 192 bits below 4 are computed; the first two are the quadrant. For |x| >= 2^14.
DEVICE double near_zero_far(double x, int& quadrant) {
  const u64 bits = bits_as<u64>(x), m = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
  const int at = (int)(bits >> 52 & 2047) - 1075 - 2;  // |x| = m * 2^(at + 2): bits before `at` give multiples of 4
  const u64 a = two_over_pi(at), b = two_over_pi(at + 64), c = two_over_pi(at + 128);
  const u64 low = c * m, middle = b * m + __umul64hi(c, m);
  const u64 high = a * m + __umul64hi(b, m) + (middle < b * m ? 1 : 0);
  u64 fraction = high << 2 | middle >> 62, rest = middle << 2 | low >> 62;
  quadrant = (int)(high >> 62);
  const bool above = fraction >> 63;  // nearer to the next quadrant
  if (above) ++quadrant, rest = ~rest + 1, fraction = ~fraction + (rest == 0 ? 1 : 0);
  const double first = (double)(fraction & ~2047ull) * 0x1p-64, second = (double)(fraction & 2047) * 0x1p-64 + (double)rest * 0x1p-128;
  const double r = fma(first, 0x1.921fb54442d18p+0, fma(second, 0x1.921fb54442d18p+0, first * 0x1.1a62633145c07p-54));
  if (bits >> 63) quadrant = -quadrant;
  return above != (bits >> 63 != 0) ? -r : r;
}
/// x less the multiple of pi/2 that is nearest to it; Cody and Waite: pi/2 in three parts. NaN of infinities.
DEVICE double near_zero(double x, int& quadrant) {
  quadrant = 0;
  if (fabs(x) <= 0.785) return x;
  if (x - x != 0) return x - x;
  if (fabs(x) > 0x1p+26) return near_zero_far(x, quadrant);
  const double q = rint(x * 0x1.45f306dc9c883p-1);
  quadrant = (int)q;
  return fma(-q, -0x1.f1976b7ed8fbcp-110, fma(-q, 0x1.1a62633145c07p-54, fma(-q, 0x1.921fb54442d18p+0, x)));
}
DEVICE float near_zero(float x, int& quadrant) {
  quadrant = 0;
  if (fabsf(x) <= 0.785f) return x;
  if (x - x != 0) return x - x;
  if (fabsf(x) > 0x1p+16f) return (float)near_zero_far((double)x, quadrant);
  const float q = rintf(x * 0x1.45f306p-1f);
  quadrant = (int)q;
  return fmaf(-q, -0x1.ee59dap-50f, fmaf(-q, -0x1.777a5cp-25f, fmaf(-q, 0x1.921fb6p+0f, x)));
}
/// Taylor's series for |r| < 0.8, as far as the type sees them. -0 stays.
DEVICE double sine_near_zero(double r) {
  const double z = r * r;
  return r == 0 ? r : r + r * z * (-1. / 6 + z * (1. / 120 + z * (-1. / 5040 + z * (1. / 362880 + z * (-1. / 39916800 + z * (1. / 6227020800 +
    z * (-1. / 1307674368000 + z * (1. / 355687428096000))))))));
}
DEVICE double cosine_near_zero(double r) {
  const double z = r * r, w = 1 - 0.5 * z;
  return w + (1 - w - 0.5 * z + z * z * (1. / 24 + z * (-1. / 720 + z * (1. / 40320 + z * (-1. / 3628800 + z * (1. / 479001600 +
    z * (-1. / 87178291200 + z * (1. / 20922789888000))))))));
}
DEVICE float sine_near_zero(float r) {
  const float z = r * r;
  return r == 0 ? r : r + r * z * (-1.f / 6 + z * (1.f / 120 + z * (-1.f / 5040 + z * (1.f / 362880))));
}
DEVICE float cosine_near_zero(float r) {
  const float z = r * r, w = 1 - 0.5f * z;
  return w + (1 - w - 0.5f * z + z * z * (1.f / 24 + z * (-1.f / 720 + z * (1.f / 40320 + z * (-1.f / 3628800)))));
}
template <class R> DEVICE R sine(R x) {
  int quadrant;
  const R r = near_zero(x, quadrant), y = quadrant & 1 ? cosine_near_zero(r) : sine_near_zero(r);
  return quadrant & 2 ? -y : y;
}
template <class R> DEVICE R cosine(R x) {
  int quadrant;
  const R r = near_zero(x, quadrant), y = quadrant & 1 ? sine_near_zero(r) : cosine_near_zero(r);
  return quadrant + 1 & 2 ? -y : y;
}
template <class R> DEVICE R tangent(R x) {
  int quadrant;
  const R r = near_zero(x, quadrant), s = sine_near_zero(r), c = cosine_near_zero(r);
  return quadrant & 1 ? -c / s : s / c;
}
#endif
)";

}  // namespace kernel::cuda
