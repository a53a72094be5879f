// Kernels of programs on the host, at sizes that it can run.
#pragma once

#include <map>
#include <span>
#include <string>

#include "tests/cuda_text/distinct.h"

namespace cuda_text {

/// What the step of a kernel shows on the host.
struct Shown {
  int64_t elements = 0;     ///< of the largest array that was run
  bool same_class = false;  ///< the smaller kernel has the full one's classes, blocks and vectors
  double seconds = 0;       ///< in all orders, the reference's included
  std::string fault;        ///< "": none; it agrees with the reference, and gives the same bits in every order of the threads
};

/// By key. Steps are made smaller (tests/support/shrink.h), and those
/// that become equal run once. Kernels are compiled a hundred to a shared object, one of them while the one before runs.
std::map<std::string, Shown> on_host(std::span<const Distinct* const> kernels);

}  // namespace cuda_text
