// Where the tiles of a convolution by Winograd's algorithm lie in its images.
#pragma once

#include <algorithm>
#include <cstdint>

#include "replay/device/cpu/winograd_transforms.h"
#include "replay/library.h"
#include "src/base/math.h"

namespace replay::cpu {

inline constexpr int64_t kFeatures = 16;  ///< features come in whole vectors of any instruction set
inline constexpr int64_t kStrip = 32;     ///< and results in whole strips

/// Images of rows and columns of places, features adjacent; steps in floats.
struct TileImages {
  int64_t rows, columns, row_step, column_step, image_step;
};

inline TileImages tile_images(const Convolution& c, int64_t Convolution::Dim::*size, int64_t Convolution::Dim::*step, int64_t image_step) {
  return {c.dims[0].*size, c.dims[1].*size, c.dims[0].*step, c.dims[1].*step, image_step};
}

/// Tiles of 4 × 4 places of one array of images, and the 6 × 6 places of another one that they are computed of, which begin `pad` before.
class Tiles {
 public:
  Tiles(int64_t images, const TileImages& small, const TileImages& large, int64_t row_pad, int64_t column_pad)
      : images_(images), small_(small), large_(large), row_pad_(row_pad), column_pad_(column_pad) {}

  int64_t of_image() const { return down() * across(); }
  int64_t count() const { return images_ * of_image(); }
  /// The 4 × 4 places of a tile; `outside` for those that the images lack.
  template <typename T>
  void small(int64_t tile, T* data, T* outside, T** places) const {
    const At at = place(tile);
    fill<kTileResults>(small_, data + at.image * small_.image_step, at.row, at.column, outside, places);
  }
  /// The 6 × 6 places that they are computed of.
  void large(int64_t tile, const float* data, const float* outside, const float** places) const {
    const At at = place(tile);
    fill<kTilePlaces>(large_, data + at.image * large_.image_step, at.row - row_pad_, at.column - column_pad_, outside, places);
  }

  /// Transforms cost little beside the products that they spare where features are not few, tiles not so few that transforming the windows
  /// outweighs them, and not too much of them is outside (on two cores 0.36 to 0.95 times
  /// oneDNN's direct convolutions with AVX-512, 0.25 to 0.67 with AVX2).
  bool worth(int64_t features, int64_t results) const {
    const int64_t places = images_ * small_.rows * small_.columns;
    return std::min(features, results) >= 32 && count() >= 128 && places * 10 >= count() * kTileResults * kTileResults * 6;
  }

 private:
  struct At {
    int64_t image, row, column;
  };
  int64_t down() const { return base::ceil_div(small_.rows, kTileResults); }
  int64_t across() const { return base::ceil_div(small_.columns, kTileResults); }
  At place(int64_t tile) const { return {tile / of_image(), tile % of_image() / across() * kTileResults, tile % across() * kTileResults}; }
  template <int64_t Size, typename T>
  static void fill(const TileImages& images, T* data, int64_t row, int64_t column, T* outside, T** places) {
    for (int64_t i = 0; i < Size; ++i) {
      const bool inside = row + i >= 0 && row + i < images.rows;
      const int64_t line = (row + i) * images.row_step + column * images.column_step;
      for (int64_t j = 0; j < Size; ++j)
        places[i * Size + j] = inside && column + j >= 0 && column + j < images.columns ? data + line + j * images.column_step : outside;
    }
  }

  int64_t images_;
  TileImages small_, large_;
  int64_t row_pad_, column_pad_;
};

}  // namespace replay::cpu
