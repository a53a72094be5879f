// The tables of packed_kernels.h, one per instruction set of this build.
#pragma once

#include "replay/device/cpu/packed_kernels.h"

namespace replay::cpu {

const PackedKernels& baseline_kernels();
#if defined(__x86_64__)
const PackedKernels& avx2_kernels();
const PackedKernels& avx512_kernels();
const PackedKernels& amx_kernels();
/// Asks the system for the tile registers, once a process. False: this CPU, this system or this build has none.
bool amx_permitted();
struct PartsKernels;
const PartsKernels& parts_kernels_amx();
#endif

}  // namespace replay::cpu
