// The inner loops of the packed product for AVX-512 F, BW, DQ and VL; gemm.cmake sets the flags of this file.
#include "replay/device/cpu/packed_kernels_impl.h"
#include "replay/device/cpu/packed_tables.h"

namespace replay::cpu {

const PackedKernels& avx512_kernels() {
  static constexpr PackedKernels kTable = table("avx512");
  return kTable;
}

}  // namespace replay::cpu
