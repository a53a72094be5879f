// The tables of packed_kernels.h, one per instruction set of this build.
#pragma once

#include "replay/device/cpu/packed_kernels.h"

namespace replay::cpu {

const PackedKernels& baseline_kernels();
#if defined(__x86_64__)
const PackedKernels& avx2_kernels();
const PackedKernels& avx512_kernels();
#endif

}  // namespace replay::cpu
