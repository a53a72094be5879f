// Transforms for one instruction set; see gemm.cmake for the flags.
#include "replay/device/cpu/fft_passes_impl.h"

namespace replay::cpu {

const FftTables& baseline_fft() {
  static const FftTables kTables = {"baseline", fft_kernels<float>(), fft_kernels<double>()};
  return kTables;
}

}  // namespace replay::cpu
