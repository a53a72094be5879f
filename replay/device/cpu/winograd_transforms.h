// Winograd's transforms of tiles, F(4×4, 3×3), as tables of functions: four by four results of windows of three by three come of 36
// products instead of 144.
#pragma once

#include <cstdint>

namespace replay::cpu {

/// M·d·Mᵀ of a square d of planes, `count` floats of each, a multiple of 16: plane (i, j) of n × n is from[n·i + j].
using TileTransform = void (*)(const float* const* from, float* const* to, int64_t count);

/// With the matrices A, B and G of Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2016), §4.2: the results of a tile
/// are Aᵀ[(G·g·Gᵀ) ⊙ (Bᵀ·d·B)]A. That is linear in g, so its derivative turns the gradient of the results into that of g with the same
/// ones.
struct WinogradTransforms {
  TileTransform image;            ///< d, 6 × 6 places, to 6 × 6 factors: Bᵀ
  TileTransform window;           ///< g, 3 × 3 places, to 6 × 6 factors: G
  TileTransform result;           ///< 6 × 6 sums to 4 × 4 places: Aᵀ
  TileTransform result_gradient;  ///< 4 × 4 places to 6 × 6 factors: A
  TileTransform window_gradient;  ///< 6 × 6 sums to 3 × 3 places: Gᵀ
};
inline constexpr int64_t kTileResults = 4, kTileWindow = 3, kTilePlaces = 6, kTileFactors = kTilePlaces * kTilePlaces;

}  // namespace replay::cpu
