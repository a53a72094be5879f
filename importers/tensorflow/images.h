// Images of convolutions and pools: where features and space stand, and how windows move over them.
#pragma once

#include <string>

#include "importers/tensorflow/lower_rules.h"

namespace importers::tensorflow {

/// A window over the two or three dimensions of space: what the forward operator does, whichever of its gradients is lowered.
struct Space {
  Format format;
  Dims size, window, stride, dilation, result;
  std::vector<Padding> padding;
  int64_t extent(size_t s) const { return (window[s] - 1) * dilation[s] + 1; }
  std::vector<ir::WindowDim> windows() const;
  /// The same over all dimensions.
  std::vector<ir::WindowDim> windows_of_image() const;
  bool gives(const Dims& image) const;  ///< is this image as large as the result?
  std::string letters() const;          ///< "bf01", "b01f", "b012f"
};

/// Of images of two dimensions more than the window's. Error in `l`: other ranks, sizes that are none, a window that does not fit.
Space space_of(Lowering& l, const Dims& image, const Dims& window);
/// Of a pool: the window is `ksize`.
Space pool_of(Lowering& l, const Dims& image);

}  // namespace importers::tensorflow
