// Convolutions with windows of three by three places by Winograd's algorithm, F(4×4, 3×3): a quarter of the products.
#pragma once

#include <memory>

#include "replay/device/cpu/native.h"

namespace replay::cpu {

/// How the precision of such a convolution begins, and the name of its ceiling.
inline constexpr const char* kWinogradOperands = "winograd f32×f32→f32";
/// Of the multiplications that a convolution counts it makes one in so many: 36 for the 16 · 9 of a tile.
inline constexpr double kWinogradSaves = 4;

/// f32 convolutions of two dimensions with dense 3×3 windows, adjacent features of images, no strides and no groups: forward passes and
/// gradients of inputs (make_winograd), and gradients of such windows (make_winograd_weights). Errors are some two to three times those of
/// direct sums (tests/unit/device_cpu/winograd_test.cc), and what is infinite or no number spreads over a tile of four by four results.
/// Error: another shape or type, or one that it is not quicker for.
base::Result<std::unique_ptr<Native>> make_winograd(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch);
base::Result<std::unique_ptr<Native>> make_winograd_weights(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch);

}  // namespace replay::cpu
