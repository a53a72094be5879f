// Gradients of the weights of windows of one place: a product whose sums run over all places of all images.
#pragma once

#include <memory>

#include "replay/device/cpu/native.h"

namespace replay::cpu {

/// dW[c, k] = Σ_p x[p, c]·dy[p, k] in f32, with any strides between places. Error: another shape or type, or features that are not
/// adjacent.
base::Result<std::unique_ptr<Native>> make_long_weights(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch);

}  // namespace replay::cpu
