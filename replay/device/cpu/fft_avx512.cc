// Transforms for one instruction set; see gemm.cmake for the flags.
#include "replay/device/cpu/fft_passes_impl.h"

#if defined(__x86_64__)
namespace replay::cpu {

const FftTables& avx512_fft() {
  static const FftTables kTables = {"avx512", fft_kernels<float>(), fft_kernels<double>()};
  return kTables;
}

}  // namespace replay::cpu
#endif
