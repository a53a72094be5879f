// Kernels as machine code of GPUs, without a GPU.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "replay/device/cuda/compiler.h"
#include "tests/cuda_text/distinct.h"

namespace cuda_text {

/// What ptxas says of a kernel, the worst of its functions and architectures.
struct Machine {
  int functions = 0;  ///< of all architectures
  int registers = 0;
  int64_t spilled_bytes = 0, stack_bytes = 0;
  std::string fault;  ///< "": none
};

/// By key. Kernels are compiled several to a program, programs on `threads` threads.
std::map<std::string, Machine> machine_code(const replay::cuda::Compiler& compiler, std::span<const Distinct* const> kernels,
                                            std::span<const int> architectures, int threads);

}  // namespace cuda_text
