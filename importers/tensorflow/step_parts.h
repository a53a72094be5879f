// What the parts of a step hand to each other: forward, gradients, updates.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "importers/tensorflow/step.h"

namespace importers::tensorflow {

/// "a/b/" of "a/b/c": what is before the last component, with the slash.
inline std::string directory_of(std::string_view name) { return std::string(name.substr(0, name.rfind('/') + 1)); }

/// A value of the step. Sizes of images are batch, height, width, features, whatever their order in memory.
struct Tensor {
  Edge edge;
  Dims dims;
  bool features_first = false;  ///< NCHW

  Dims stored() const;  ///< sizes in their order in memory
  ir::Shape shape(ir::Type type = ir::Type::f32) const { return ir::array_shape(type, stored()); }
};

struct Variable {
  std::string name;  ///< "conv1_conv/kernel"
  Edge handle;
  ir::Shape shape;
  bool trainable = true;
  std::optional<Edge> gradient;   ///< where it comes from
  std::vector<Edge> assignments;  ///< nodes that write it in the step
};

enum class OpKind : uint8_t { pad, convolution, bias, norm, relu, softmax, max_pool, add, mean, flatten, dense };

/// A node of the forward pass that has a gradient.
struct ForwardOp {
  OpKind kind = OpKind::pad;
  std::string name;             ///< of its node
  std::vector<int32_t> inputs;  ///< ops; -1: the image
  std::vector<Tensor> in;       ///< as they go into the node
  Tensor out;
  const Layer* layer = nullptr;
  Edge weights;                   ///< kernel, scale
  std::vector<size_t> variables;  ///< of this node
  bool learns = false;            ///< some variable at or before it is trained
};

/// A step that is being wired.
struct Step {
  const Family& family;
  StepSizes sizes;
  StepNodes nodes;
  bool features_first = false;                             ///< the layout optimizer has been here
  bool training = false;                                   ///< statistics of batch norms are those of the batch
  std::vector<Variable> variables;                         ///< in the order of model.variables
  std::unordered_map<std::string, size_t> variable_index;  ///< by name
  std::vector<ForwardOp> ops;
  Tensor images;

  /// `t` in the order of dimensions that input `port` of `consumer` wants: through the transpose that the layout optimizer put there, or an
  /// implied one.
  Tensor as(Tensor t, bool features_first, const std::string& consumer, int port);
  /// A constant about images for a host input: sizes, begins (rows of two: paddings) in the order NHWC, permuted where the node wants NCHW.
  Edge about_image(const std::string& consumer, int port, const std::string& constant, const Dims& nhwc, bool features_first);
  /// A read of a variable.
  Edge read(const std::string& name, size_t variable);
};

constexpr std::string_view kLayoutEnd = "NHWCToNCHW-LayoutOptimizer";

/// The gradient of what an op gives.
struct OpGradient {
  size_t op = 0;
  Tensor value;
};

/// Each adds its nodes. Forward first, then the loss with the gradient of the logits, gradients, updates.
base::Status wire_forward(Step& step);
std::optional<OpGradient> wire_loss(Step& step);
void wire_gradients(Step& step, OpGradient logits);
/// The names that a gradient node of an op may have, by TensorFlow's versions.
std::string gradient_name(const StepNodes& nodes, const ForwardOp& op, std::string_view ending);
void wire_updates(Step& step);

}  // namespace importers::tensorflow
