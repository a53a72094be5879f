// oneDNN's matrix products and convolutions. dnnl*.cc alone know the library and its two versions (2.6 of Debian 12, 3.7 of Debian 13).
#pragma once

#include <memory>
#include <string>

#include "replay/device/cpu/native.h"
#include "replay/device/cpu/product.h"

namespace replay::cpu {

/// "oneDNN 2.6.3"
std::string dnnl_version_text();

/// A primitive on the operands' own strides, prepared once. Error: no such primitive here (types, strides, CPU), or only a
/// reference implementation of it. Should an execution fail, `fallback` computes the product.
base::Result<std::unique_ptr<Product>> make_dnnl_matmul(const replay::Gemm& gemm, int threads, std::shared_ptr<Scratch> scratch,
                                                        std::unique_ptr<Product> fallback);

/// The call without a primitive: f32, batch 1, alpha ≠ 0. Costs 2–3 µs less than a primitive.
base::Result<std::unique_ptr<Product>> make_dnnl_sgemm(const replay::Gemm& gemm, int threads, std::shared_ptr<Scratch>,
                                                       std::unique_ptr<Product> fallback);

/// What a convolution's operands are brought into at every run, where it is not what they lie in.
enum class DnnlFormats : uint8_t {
  chosen,              ///< images_as_they_lie, or preferred where the library is slow so
  as_they_lie,         ///< nothing
  images_as_they_lie,  ///< the weights are as the library prefers them, and images whose features are not adjacent
  preferred,           ///< all are as the library prefers them
  winograd,            ///< the same for its Winograd's algorithm, which few versions and shapes have
};

/// f32 convolutions: as a forward pass, as the gradient of the input (dilated operands), as that of the weights (windows larger than the
/// result). Should an execution fail, `fallback` computes it. Error: no form fits, or oneDNN has a reference implementation only.
base::Result<std::unique_ptr<Native>> make_dnnl_convolution(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch,
                                                            std::unique_ptr<Native> fallback, DnnlFormats formats = DnnlFormats::chosen);

}  // namespace replay::cpu
