// A transform of one length as data, and the functions that run it on a vector of lines at once, compiled once per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace replay::cpu {

/// One pass of Stockham's algorithm: `count` butterflies of `radix` points for each of `stride` neighbours.
struct FftPass {
  int radix = 2;
  int64_t count = 1, stride = 1;
  size_t twiddles = 0;  ///< into FftPlan::factors: (radix − 1) complex factors a butterfly; generic radixes: their roots first
};

/// How lines of n points are transformed: by passes, or (Bluestein) as a convolution with a chirp by transforms of `inner->n` points.
/// Pointers only: code that is compiled for several instruction sets must share no inline functions.
template <typename T>
struct FftPlan {
  int64_t n = 1;
  const FftPass* passes = nullptr;
  int64_t pass_count = 0;
  const T* factors = nullptr;  ///< re, im alternating
  const FftPlan<T>* inner = nullptr;
  const T* chirp = nullptr;     ///< n complex numbers
  const T* spectrum = nullptr;  ///< inner->n complex numbers
};

/// Where the points of a vector of lines lie, in numbers (half a complex number each).
template <typename T>
struct FftLines {
  T* data = nullptr;
  int64_t step = 2;       ///< between points
  int64_t imaginary = 1;  ///< from a real to its imaginary part; 0: there is none
  int64_t points = 1;
  const int64_t* offsets = nullptr;  ///< of the lines
  int lines = 1;                     ///< at most `lanes`
  bool adjacent = false;             ///< each line's offset is 2 (complex) after the last, and all lanes are there
};

/// Points are kept as vectors: lanes real parts, then lanes imaginary parts.
template <typename T>
struct FftKernels {
  int lanes;
  void (*load)(const FftLines<T>& from, bool swapped, T* to);
  /// Each number times `scale`. Swapped: real and imaginary parts change places, which turns a transform into its inverse.
  void (*store)(const T* from, bool swapped, T scale, const FftLines<T>& to);
  /// Transforms in place; `other` has room for as many points, and twice inner->n where Bluestein's way is taken.
  void (*transform)(const FftPlan<T>& plan, T* data, T* other);
  /// Multiplies point k of line i by the complex number at factors + k·step + 2·i.
  void (*twist)(T* points, int64_t n, const T* factors, int64_t step, int lines);
  /// The spectrum of 2n real values from that of n complex ones (even values real, odd ones imaginary), and back. n + 1 points; roots of
  /// 2n.
  void (*split_real)(T* points, int64_t n, const T* roots);
  void (*join_real)(T* points, int64_t n, const T* roots);
};

struct FftTables {
  const char* name;
  FftKernels<float> f32;
  FftKernels<double> f64;
};

const FftTables& baseline_fft();
#if defined(__x86_64__)
const FftTables& avx2_fft();
const FftTables& avx512_fft();
#endif

}  // namespace replay::cpu
