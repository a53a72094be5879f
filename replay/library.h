// Ops that a device runs by functions of its own or of a library, as data: sizes and strides, no instruction. Strides are in elements of
// the physical layout.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "src/base/result.h"
#include "src/ir/module.h"

namespace replay {

/// Which of the three arrays of a forward convolution y = x ∗ w a convolution computes: y, or the gradient of x or of w.
enum class Gradient : uint8_t { none, input, weights };

/// What follows the sums of a forward convolution before they are stored: f(scale·Σ + side_scale·side + bias), where f(x) is x, or slope·x
/// below 0 and at most `upper` above it. Operands behind X and W: the bias, the side input.
struct ConvolutionEpilogue {
  double scale = 1, side_scale = 1;
  std::optional<ir::Type> bias{};  ///< one element a feature of Y; nothing: no bias
  bool side = false;               ///< in type and places of Y
  bool activates = false;
  double slope = 0, upper = std::numeric_limits<double>::infinity();
  bool operator==(const ConvolutionEpilogue&) const = default;
};

/// Y[g,n,o,p] = Σ_{i,k} X[g, n, i, (p·stride + k·window_dilation − pad_low) / base_dilation] · W[g,o,i,k]; places between the elements of X
/// (base dilation) and outside of it are 0. Groups of features and of the batch are one dimension g here.
struct Convolution {
  int64_t groups = 1, batch = 1, in_features = 1, out_features = 1;  ///< features of one group
  struct Operand {
    ir::Type type = ir::Type::f32;
    int64_t group = 0, outer = 0, inner = 0;  ///< strides; x: batch and in feature; w: out and in feature; y: batch and out feature
  } x, w, y;
  struct Dim {
    int64_t in = 1, window = 1, out = 1;
    int64_t stride = 1, pad_low = 0, base_dilation = 1, window_dilation = 1;
    bool reversed = false;
    int64_t x = 0, w = 0, y = 0;  ///< strides
    bool operator==(const Dim&) const = default;
  };
  std::vector<Dim> dims;               ///< spatial
  std::optional<Gradient> gradient{};  ///< as which the program calls it; nothing: it does not say
  ConvolutionEpilogue after{};         ///< only where Accepts takes it
  double flops() const;
};

/// What computes the gradient of x of a convolution from dy, in X's place, and w; and what such a gradient is one of: it is its own
/// inverse.
Convolution gradient_of_input(const Convolution& c);
/// The same for the gradient of w: x in X's place, dy in W's, dw in Y's. Windows are not reversed, and inputs have no base dilation.
Convolution gradient_of_weights(const Convolution& c);

/// Discrete transforms of the last `lengths.size()` dimensions. Inverses divide by the number of points. rfft keeps the first n/2+1 points
/// of the last dimension, irfft takes them.
struct Fft {
  enum class Kind : uint8_t { fft, ifft, rfft, irfft } kind = Kind::fft;
  std::vector<int64_t> lengths;
  ir::Shape from, to;
};

/// L with A = L·Lᴴ (lower), or U with A = Uᴴ·U, of the matrices in the last two dimensions; the other triangle is 0. A matrix that is not
/// positive definite gives NaN.
struct Cholesky {
  ir::Shape from, to;
  bool lower = true;
};

/// X with op(A)·X = B (left) or X·op(A) = B.
struct TriangularSolve {
  ir::Shape a, b, to;
  bool left = true, lower = true, unit_diagonal = false, transposed = false, conjugated = false;
};

/// The k largest (or smallest) elements of every line of the last dimension, in order, and their places; of equals the first comes first.
/// Floats are in total order, a NaN without sign above all numbers.
struct TopK {
  ir::Shape from, values, places;
  bool largest = true;
};

/// The same elements in another physical order: to[Σ i·to_stride] = from[from_offset + Σ i·from_stride].
struct Permute {
  int64_t element_bytes = 4, from_offset = 0;
  struct Dim {
    int64_t size = 1, from = 0, to = 0;
    bool operator==(const Dim&) const = default;
  };
  std::vector<Dim> dims;
};

/// A convolution over arrays that lie otherwise than the program's: how its first and second operand are brought into that order, and the
/// result out of it; nothing: it lies so.
struct ArrangedConvolution {
  Convolution op;
  std::optional<Permute> first, second, result;
};

using LibraryOp = std::variant<Convolution, Fft, Cholesky, TriangularSolve, TopK, Permute>;

/// "convolution_f32_8x64x56x56_…": readable; and all that distinguishes one op from another, over several lines.
std::string name_of(const LibraryOp& op);
std::string text_of(const LibraryOp& op);

/// Elements of an array in one layout brought into another.
Permute permute_between(const ir::Shape& from, const ir::Shape& to);

/// What `instr` is, or the Error that says why no library function computes it.
base::Result<std::shared_ptr<const LibraryOp>> library_op(const ir::Module& module, ir::InstrRef instr);

}  // namespace replay
