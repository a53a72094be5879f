// The inner loops of the packed product for every CPU; gemm.cmake sets the flags of this file.
#include "replay/device/cpu/packed_kernels_impl.h"
#include "replay/device/cpu/packed_tables.h"

namespace replay::cpu {

const PackedKernels& baseline_kernels() {
  static constexpr PackedKernels kTable = table("baseline");
  return kTable;
}

}  // namespace replay::cpu
