// Our own matrix product, for the types, strides and shapes where oneDNN has none or is weak.
#pragma once

#include "replay/device/cpu/packed_kernels.h"
#include "replay/device/cpu/product.h"

namespace replay::cpu {

/// All element types and strides. A result's bits depend neither on the number of threads nor on how the work is cut. Error: as
/// make_product.
base::Result<std::unique_ptr<Product>> make_packed(const replay::Gemm& gemm, int threads, std::shared_ptr<Scratch> scratch,
                                                   Isa isa = best_isa());

}  // namespace replay::cpu
