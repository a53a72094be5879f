// What lowering functions work with, and the tables that they stand in.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "importers/lowering/builder.h"
#include "importers/tensorflow/graph.h"

namespace importers::tensorflow {

using lowering::Body;
using lowering::counting;
using lowering::Dims;
using lowering::Value;
using lowering::Values;

/// The variables of a graph while its nodes are lowered in order: each is a parameter and the value that it holds now.
class Variables {
 public:
  virtual ~Variables() = default;
  /// The value now. A variable that nothing has told the shape of gets this one.
  virtual Value read(Edge handle, const ir::Shape* shape) = 0;
  /// The shape that something in the graph tells; nullptr: nothing does.
  virtual const ir::Shape* told(Edge handle) const = 0;
  virtual void assign(Edge handle, Value value) = 0;
};

/// A node that is being lowered.
struct Lowering {
  const Graph& graph;
  const Node& node;
  lowering::Program& program;
  Variables& variables;
  Values inputs;                                          ///< id -1: a resource, or a constant that nobody has asked for
  std::vector<const Array*> constants;                    ///< of inputs whose values are known; nullptr: not known
  const std::function<Value(size_t)>* resolve = nullptr;  ///< makes the value of an input that is a constant or a variable
  std::string error{};                                    ///< why it cannot be lowered; "": it can
  std::string assumed{};                                  ///< what the graph does not tell and the lowering goes by

  Body& entry() { return program.entry(); }
  /// Input k as a value of the entry; constants become instructions when they are first asked for.
  Value in(size_t k);
  /// What the variable whose handle is input k holds now; `shape` where nothing tells its own. Sets `error` if nothing does.
  Value held(size_t k, const ir::Shape* shape = nullptr);
  ir::Shape shape(size_t k) { return entry().shape(in(k)); }
  Dims dims(size_t k) { return shape(k).dims; }
  /// Integers of a constant input. Sets `error` if it is none.
  Dims integers(size_t k);
  Values fail(std::string why) {
    error = std::move(why);
    return {};
  }
  /// All inputs as one kernel.
  Values fuse(const std::function<Values(Body&, std::span<const Value>)>& write);
};

/// The results by output port; a port without a value (a placeholder output) has id -1.
struct Rule {
  std::string_view type;
  Values (*lower)(Lowering&);
  size_t inputs = 1;  ///< at least; with fewer it is not called
};

std::span<const Rule> math_rules();     ///< elementwise, gradients of activations, reductions
std::span<const Rule> special_rules();  ///< functions that HLO lacks, bits, fake quantisation
std::span<const Rule> move_rules();     ///< shapes and places
std::span<const Rule> slice_rules();    ///< parts of arrays, and their gradients
std::span<const Rule> index_rules();    ///< places that data names
std::span<const Rule> segment_rules();  ///< rows that belong together
std::span<const Rule> linear_rules();   ///< Einstein sums, diagonals, factorisations, Fourier transforms
std::span<const Rule> convolution_rules();
std::span<const Rule> image_rules();     ///< pools, blocks, sizes
std::span<const Rule> network_rules();   ///< products, biases, normalisation, losses
std::span<const Rule> variable_rules();  ///< reading, assigning, optimizers, communication

/// What `start` makes of the operands and, in the same kernel, what fused_ops names behind it: ["BiasAdd", "Relu"]. `features`: dimension
/// that the bias runs along.
Values fused(Lowering& l, int64_t features, const std::function<Value(Body&, std::span<const Value>)>& start);

/// Where features and space stand: "NCHW", "NHWC".
struct Format {
  int64_t features = 3, first_space = 1;
};
Format format_of(const Node& node);
/// A window over one dimension: what is padded before and after by "SAME", "VALID" or the explicit numbers.
struct Padding {
  int64_t low = 0, high = 0;
};
Padding padding_of(const Node& node, int64_t dimension, int64_t size, int64_t window, int64_t stride);

/// Values of ops on small integers (shapes, permutations) that run on the host: from constants and shapes; nothing for other ops.
std::optional<Array> fold(const Node& node, std::span<const Array* const> constants, std::span<const ir::Shape* const> shapes,
                          int32_t port);

/// The same for arithmetic on integers: all outputs of the node; none where something is not known.
std::vector<Array> fold_integers(const Node& node, std::span<const Array* const> constants, std::span<const ir::Shape* const> shapes);

/// What a strided slice takes of each dimension of its input, once those that run backwards are reversed; the sizes of its result.
struct Strides {
  std::vector<ir::SliceDim> slices;
  Dims reversed, sizes;
  std::string error{};
};
/// From begin, end and strides and the masks of the node, for an input of these sizes.
Strides strides_of(const Node& node, const Dims& dims, const Dims& begin, const Dims& end, const Dims& step);

/// Sizes that are none negative and whose product no machine's memory exceeds.
bool are_sane(const Dims& sizes);

/// -1 counts from the end.
inline int64_t from_end(int64_t dimension, int64_t rank) { return dimension < 0 ? dimension + rank : dimension; }

}  // namespace importers::tensorflow
