// The inner loops of the packed product for AVX2, FMA and F16C; gemm.cmake sets the flags of this file.
#include "replay/device/cpu/packed_kernels_impl.h"
#include "replay/device/cpu/packed_tables.h"

namespace replay::cpu {

const PackedKernels& avx2_kernels() {
  static constexpr PackedKernels kTable = table("avx2");
  return kTable;
}

}  // namespace replay::cpu
