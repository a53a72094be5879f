// Kernels of our own for what libraries do elsewhere: products, convolutions and changes of layout. Right, and of a GPU's order of
// magnitude; not what a framework runs, which calls cuBLASLt and cuDNN.
#pragma once

#include "replay/device.h"
#include "replay/kernel/kernel.h"

namespace replay::cuda {

/// Text and launch of a product: tiles of 64 × 64 in a block's memory, 16 results a thread; args A, B, D. Error: types without a kernel, or
/// more tiles than a grid has.
base::Result<kernel::Kernel> product_kernel(const Gemm& gemm);
/// A sum a thread, or a block where sums are long and few; args X, W, what its epilogue takes, Y. Error: types without a kernel, or more
/// sums than a grid has threads.
base::Result<kernel::Kernel> convolution_kernel(const Convolution& op);
/// One element a thread, in the order of the result; args: source, result.
base::Result<kernel::Kernel> permute_kernel(const Permute& op);
/// The kernel of a launch that is none of the plan's; the Error says why there is none.
base::Result<kernel::Kernel> own_kernel(const Launch& launch);
/// Buffers of a launch of a kernel, in the order of its args.
std::vector<BufferId> args_of(const Launch& launch);
/// For PlanOptions::accepts.
base::Status accepts(const Launch& launch);

}  // namespace replay::cuda
