// f32 convolutions on matrix units: parts.h.
#pragma once

#include <memory>

#include "replay/device/cpu/native.h"
#include "replay/device/cpu/parts.h"

namespace replay::cpu {

/// f32 convolutions of adjacent features: forward passes and gradients of inputs without strides under their windows, windows of one place
/// with any, and gradients of weights. `fallback` computes what bf16's range does not cover. Error: no matrix unit, or another shape.
base::Result<std::unique_ptr<Native>> make_parts_convolution(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch,
                                                             std::unique_ptr<Native>& fallback);

/// Its kinds. All are called for shapes that they take.
std::unique_ptr<Native> make_parts_spatial(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch,
                                           std::unique_ptr<Native> fallback);
std::unique_ptr<Native> make_parts_pointwise(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch,
                                             std::unique_ptr<Native> fallback);
std::unique_ptr<Native> make_parts_weights(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch,
                                           std::unique_ptr<Native> fallback);

/// Is the result so large that it should pass the caches by?
bool streams(const Convolution& c);

/// The weights as blocks of B: for every 32 results all places of the window, for each place all features.
Magnitudes pack_weights(const Convolution& c, const PartsKernels& kernels, int threads, const float* w, std::byte* packed);

}  // namespace replay::cpu
