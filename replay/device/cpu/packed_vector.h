// Vectors of one instruction set, as GCC vector types: the flags of the including file choose their width. Like all of
// packed_*.h that packed_kernels_impl.h includes, this has internal linkage: the linker would merge copies that were compiled with
// different flags.
#pragma once

#include <cstdint>

namespace replay::cpu {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64, kRows = 14;  // 28 of 32 registers
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32, kRows = 6;  // 12 of 16
#else
constexpr int kVectorBytes = 16, kRows = 4;
#endif

template <typename T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));
  static constexpr int lanes = kVectorBytes / static_cast<int>(sizeof(T));
};
template <typename T>
using Vector = typename VectorOf<T>::type;
template <typename T>
constexpr int kLanes = VectorOf<T>::lanes;
template <typename T>
constexpr int kColumns = 2 * kLanes<T>;

}  // namespace
}  // namespace replay::cpu
