// Elements of arrays in the memory of the GPU, by the numbers of cudaDataType_t.
#pragma once

#include <complex>
#include <cstddef>
#include <cstring>
#include <map>

#include "tests/support/fake_gpu/gpu.h"

namespace fake_gpu {

inline constexpr int kF32 = 0, kF64 = 1, kF16 = 2, kS8 = 3, kC64 = 4, kC128 = 5, kS32 = 10, kBf16 = 14, kE4m3 = 28, kE5m2 = 29;

/// By type.
const std::map<int, size_t>& element_bytes();
double read(int type, Address array, int64_t element);
void write(int type, Address array, int64_t element, double value);
/// The same for all types, complex ones too.
std::complex<double> read_complex(int type, Address array, int64_t element);
void write_complex(int type, Address array, int64_t element, std::complex<double> value);

template <typename T>
double read_as(Address at) {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(at), sizeof value);
  return static_cast<double>(value);
}

}  // namespace fake_gpu
