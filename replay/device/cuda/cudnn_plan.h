// A convolution as cuDNN's graphs are told of it, as plain data: which tensor is which and how it lies, what the window does, what follows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/library.h"
#include "src/base/result.h"

namespace replay::cuda {

/// cudnnDataType_t.
enum class CudnnType : int { f32 = 0, f64 = 1, f16 = 2, bf16 = 9 };

/// Dimensions in cuDNN's order, whatever the order in memory: batch, features, places; of weights: features out, features in of one
/// group, places. There are two or three dimensions of places. Strides in elements.
struct GraphTensor {
  CudnnType type = CudnnType::f32;
  std::vector<int64_t> dims, strides;
  bool operator==(const GraphTensor&) const = default;
};

/// One operation behind the sums x: alpha1·x + alpha2·(bias or side), or x clipped.
struct GraphStep {
  enum class Kind : uint8_t { add_bias, add_side, clip } kind = Kind::clip;
  double alpha1 = 1, alpha2 = 1;
  double slope = 0, upper = 0;  ///< clip: slope·x below 0, at most `upper`
  bool operator==(const GraphStep&) const = default;
};

/// y = x ∗ w, of which one is computed from the other two.
struct ConvolutionGraph {
  Gradient gradient = Gradient::none;  ///< none: y is computed
  GraphTensor x, w, y;
  CudnnType sums = CudnnType::f32;
  bool turned = false;  ///< weights are read from their end (CUDNN_CONVOLUTION); else CUDNN_CROSS_CORRELATION
  std::vector<int64_t> pad_before, pad_after, strides, dilations;
  std::vector<GraphStep> steps;  ///< where there are some, the sums are no array in memory, and are in `sums`
  GraphTensor bias;              ///< if a step adds it; a side input lies as y does
  bool operator==(const ConvolutionGraph&) const = default;
};

/// A convolution that is a gradient by its form (between the elements of its input lie places; its window is read from its end; its window
/// is larger than its result, as XLA tells them apart) or by what the program calls it is one here. Error: what cuDNN has no words for,
/// the reason as a clause.
base::Result<ConvolutionGraph> plan_convolution(const Convolution& convolution);
/// The same over arrays in one of the two orders that cuDNN's engines know, features first or last: that of the program's images where they
/// have one, else features last. As it is: one that cuDNN has no words for, or that has an epilogue. For PlanOptions::arranges.
ArrangedConvolution arranged(const Convolution& convolution);
/// "forward f16, x 8x64x56x56 by 200704 1 3584 64, …": all that distinguishes one from another.
std::string text_of(const ConvolutionGraph& graph);

}  // namespace replay::cuda
