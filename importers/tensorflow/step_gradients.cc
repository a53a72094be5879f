// Gradients, from the logits back to the first convolution. A gradient's name follows from that of the forward node: with gradient_tape/ in
// front (TensorFlow 2, below the node or beside it), or with gradients/ in front and _grad behind (TensorFlow 1).
#include <fmt/format.h>

#include "importers/tensorflow/step_parts.h"

namespace importers::tensorflow {
namespace {

class Gradients {
 public:
  explicit Gradients(Step& step) : step_(step), nodes_(step.nodes), incoming_(step.ops.size()) {}

  void run(OpGradient last) {
    incoming_[last.op].push_back(std::move(last.value));
    for (size_t at = step_.ops.size(); at-- > 0;) {
      op_ = &step_.ops[at];
      if (incoming_[at].empty() || !op_->learns) continue;
      dy_ = accumulated(incoming_[at]);
      static constexpr void (Gradients::*kParts[])() = {&Gradients::pad,  &Gradients::convolution, &Gradients::bias,     &Gradients::norm,
                                                        &Gradients::relu, &Gradients::softmax,     &Gradients::max_pool, &Gradients::sum,
                                                        &Gradients::mean, &Gradients::flatten,     &Gradients::dense};
      (this->*kParts[static_cast<size_t>(op_->kind)])();
    }
  }

 private:
  std::string name(std::string_view ending) const { return gradient_name(nodes_, *op_, ending); }
  void give(size_t input, Tensor gradient) {
    const int32_t to = op_->inputs[input];
    if (to >= 0) incoming_[static_cast<size_t>(to)].push_back(std::move(gradient));
  }
  bool wanted(size_t input) const { return op_->inputs[input] >= 0 && step_.ops[static_cast<size_t>(op_->inputs[input])].learns; }
  void gradient_of(size_t variable, Edge edge) { step_.variables[op_->variables[variable]].gradient = edge; }

  /// Values that several nodes read have several gradients; AddN_k sums them, k counts from the last such value to the first.
  Tensor accumulated(std::vector<Tensor>& parts) {
    if (parts.size() == 1) return parts[0];
    const std::string number = sums_ == 0 ? "" : fmt::format("_{}", sums_);
    ++sums_;
    const std::string sum = nodes_.pick({"AddN" + number, "gradients/AddN" + number});
    Definition definition{"AddN", {}, {parts[0].shape()}, {}};
    for (size_t k = 0; k < parts.size(); ++k) {
      const Tensor part = step_.as(parts[k], parts[0].features_first, sum, static_cast<int>(k));
      definition.inputs.push_back(part.edge);
    }
    Tensor result = parts[0];
    result.edge = nodes_.define(sum, std::move(definition));
    return result;
  }

  void pad() {
    if (!wanted(0)) return;
    const std::string slice = name("Slice_1");
    const Tensor& in = op_->in[0];
    const int64_t p = op_->layer->window;
    const Tensor dy = step_.as(dy_, in.features_first, slice, 0);
    // Both constants keep the names of the nodes that were folded into them.
    const std::string folded = directory_of(slice);
    const Edge begin = step_.about_image(slice, 1, folded + "Reshape", {0, p, p, 0}, in.features_first);
    if (nodes_.is_listed(folded + "Reshape/shape")) nodes_.integers(folded + "Reshape/shape", {4});
    const Edge size = step_.about_image(slice, 2, folded + "Shape", in.dims, in.features_first);
    Tensor dx = in;
    dx.edge = nodes_.define(slice, {"Slice", {dy.edge, begin, size}, {in.shape()}});
    give(0, dx);
  }

  /// The node that gives both sizes of a convolution, where the list has it: its results may have become constants.
  Edge shapes() {
    const std::string shape_n = name("ShapeN");
    const ir::Shape four = ir::array_shape(ir::Type::s32, {4});
    const Tensor& in = op_->in[0];
    return nodes_.define(shape_n, {"ShapeN", {in.edge, op_->weights}, {four, four}, {{"out_type", ir::Type::s32}}});
  }
  Edge filter_sizes() {
    const std::string shape_n = name("ShapeN"), constant = "ConstantFolding/" + shape_n + "-matshapes-1";
    const Edge both = shapes();
    if (!nodes_.is_listed(constant) && nodes_.is_listed(shape_n)) return {both.node, 1};
    return nodes_.integers(constant, step_.variables[op_->variables[0]].shape.dims);
  }
  Edge image_sizes(const std::string& consumer) {
    const std::string shape_n = name("ShapeN"), constant = "ConstantFolding/" + shape_n + "-matshapes-0";
    const std::string permute = fmt::format("{}-0-DataFormatVecPermute{}", consumer, kLayoutEnd);
    const Edge both = shapes();
    if (!nodes_.is_listed(constant) && nodes_.is_listed(shape_n) && !nodes_.is_listed(permute)) return both;
    return step_.about_image(consumer, 0, constant, op_->in[0].dims, op_->in[0].features_first);
  }

  /// The convolution's image, for the gradient of its filter: in TensorFlow 2 it comes through a transpose of its own.
  Tensor as_read_again(const std::string& consumer) {
    const Tensor& in = op_->in[0];
    if (!nodes_.is_listed(fmt::format("{}-0-Transpose{}", consumer, kLayoutEnd))) return in;
    const Tensor& image = op_->inputs[0] < 0 ? step_.images : step_.ops[static_cast<size_t>(op_->inputs[0])].out;
    return step_.as(image, in.features_first, consumer, 0);
  }

  void convolution() {
    const Tensor& in = op_->in[0];
    const std::string filter = name("Conv2DBackpropFilter"), input = name("Conv2DBackpropInput");
    const ir::Shape& kernel = step_.variables[op_->variables[0]].shape;
    const Tensor x = as_read_again(filter), dy = step_.as(dy_, in.features_first, filter, 2);
    const Edge dw =
        nodes_.define(filter, {"Conv2DBackpropFilter", {x.edge, filter_sizes(), dy.edge}, {kernel}, nodes_.node(op_->out.edge).attributes});
    gradient_of(0, dw);
    if (!wanted(0)) return;
    Tensor dx = in;
    const Tensor dy_in = step_.as(dy_, in.features_first, input, 2);
    dx.edge = nodes_.define(
        input,
        {"Conv2DBackpropInput", {image_sizes(input), op_->weights, dy_in.edge}, {in.shape()}, nodes_.node(op_->out.edge).attributes});
    give(0, dx);
  }

  void bias() {
    const std::string grad = name("BiasAddGrad");
    const Tensor dy = step_.as(dy_, op_->out.features_first, grad, 0);
    gradient_of(0, nodes_.define(grad, {"BiasAddGrad",
                                        {dy.edge},
                                        {step_.variables[op_->variables[0]].shape},
                                        {{"data_format", std::string(dy.features_first ? "NCHW" : "NHWC")}}}));
    give(0, dy);
  }

  void norm() {
    const std::string grad = nodes_.pick({name("FusedBatchNormGradV3"), name("FusedBatchNormGrad")});
    const Tensor& in = op_->in[0];
    const Tensor dy = step_.as(dy_, in.features_first, grad, 0);
    const int32_t forward = op_->out.edge.node;
    const ir::Shape features = step_.variables[op_->variables[0]].shape, none = ir::array_shape(ir::Type::f32, {0});
    Tensor dx = in;
    dx.edge = nodes_.define(grad, {"FusedBatchNormGradV3",
                                   {dy.edge, in.edge, op_->weights, {forward, 3}, {forward, 4}, {forward, 5}},
                                   {in.shape(), features, features, none, none},
                                   {{"is_training", true},
                                    {"epsilon", attribute(nodes_.node(op_->out.edge), "epsilon", 0.0)},
                                    {"data_format", std::string(in.features_first ? "NCHW" : "NHWC")}}});
    gradient_of(0, {dx.edge.node, 1});
    gradient_of(1, {dx.edge.node, 2});
    give(0, dx);
  }

  void relu() {
    const std::string grad = name("ReluGrad");
    const Tensor dy = step_.as(dy_, op_->out.features_first, grad, 0);
    Tensor dx = op_->out;
    dx.edge = nodes_.define(grad, {"ReluGrad", {dy.edge, op_->out.edge}, {dx.shape()}});
    give(0, dx);
  }

  /// y·(dy - sum(dy·y)).
  void softmax() {
    const ir::Shape shape = op_->out.shape(), column = ir::array_shape(ir::Type::f32, {op_->out.dims[0], 1});
    const std::string sum = name("Sum");
    const Edge product = nodes_.define(name("mul"), {"Mul", {dy_.edge, op_->out.edge}, {shape}});
    const Edge last = nodes_.constant(sum + "/reduction_indices", integer_array({-1}, {}));
    const Edge total = nodes_.define(sum, {"Sum", {product, last}, {column}, {{"keep_dims", true}}});
    const Edge rest = nodes_.define(name("sub"), {"Sub", {dy_.edge, total}, {shape}});
    Tensor dx = op_->out;
    dx.edge = nodes_.define(name("mul_1"), {"Mul", {rest, op_->out.edge}, {shape}});
    give(0, dx);
  }

  void max_pool() {
    const std::string grad = name("MaxPoolGrad");
    const Tensor& in = op_->in[0];
    const Tensor dy = step_.as(dy_, in.features_first, grad, 2);
    Tensor dx = in;
    dx.edge = nodes_.define(grad, {"MaxPoolGrad", {in.edge, op_->out.edge, dy.edge}, {in.shape()}, nodes_.node(op_->out.edge).attributes});
    give(0, dx);
  }

  void sum() {
    give(0, dy_);
    give(1, dy_);
  }

  /// [batch, features] to [batch, 1, 1, features], repeated over the image, divided by its pixels. Always in the order NHWC.
  void mean() {
    Tensor dx = op_->in[0];
    dx.features_first = false;
    const Dims small{dx.dims[0], 1, 1, dx.dims[3]}, times{1, dx.dims[1], dx.dims[2], 1};
    const auto pixels = static_cast<double>(dx.dims[1] * dx.dims[2]);
    const std::string reshape = name("Reshape"), tile = name("Tile"), divide = name("truediv");
    const Edge column = nodes_.define(
        reshape, {"Reshape", {dy_.edge, nodes_.integers(reshape + "/shape", small)}, {ir::array_shape(ir::Type::f32, small)}});
    const Edge wide = nodes_.define(tile, {"Tile", {column, nodes_.integers(tile + "/multiples", times)}, {dx.shape()}});
    const std::string reciprocal = "ConstantFolding/" + divide + "_recip";
    const bool multiplies = nodes_.is_listed(reciprocal);
    const Edge by =
        nodes_.constant(multiplies ? reciprocal : divide + "/y", filled_array(ir::Type::f32, {}, multiplies ? 1 / pixels : pixels));
    dx.edge = nodes_.define(divide, {multiplies ? "Mul" : "RealDiv", {wide, by}, {dx.shape()}});
    give(0, dx);
  }

  void flatten() {
    const std::string reshape = name("Reshape");
    Tensor dx = op_->in[0];
    dx.edge = nodes_.define(reshape, {"Reshape", {dy_.edge, nodes_.integers(directory_of(reshape) + "Shape", dx.dims)}, {dx.shape()}});
    give(0, dx);
  }

  /// dX = dY·Wᵀ, dW = Xᵀ·dY.
  void dense() {
    const Tensor& in = op_->in[0];
    const Edge dw = nodes_.define(
        name("MatMul_1"),
        {"MatMul", {in.edge, dy_.edge}, {step_.variables[op_->variables[0]].shape}, {{"transpose_a", true}, {"transpose_b", false}}});
    gradient_of(0, dw);
    if (!wanted(0)) return;
    Tensor dx = in;
    dx.edge =
        nodes_.define(name("MatMul"), {"MatMul", {dy_.edge, op_->weights}, {in.shape()}, {{"transpose_a", false}, {"transpose_b", true}}});
    give(0, dx);
  }

  Step& step_;
  StepNodes& nodes_;
  std::vector<std::vector<Tensor>> incoming_;  ///< gradients of what each op gives
  const ForwardOp* op_ = nullptr;              ///< whose gradient is being wired
  Tensor dy_;
  int sums_ = 0;
};

}  // namespace

std::string gradient_name(const StepNodes& nodes, const ForwardOp& op, std::string_view ending) {
  return nodes.pick({fmt::format("gradient_tape/{}/{}", op.name, ending), fmt::format("gradient_tape/{}{}", directory_of(op.name), ending),
                     fmt::format("gradients/{}_grad/{}", op.name, ending)});
}

void wire_gradients(Step& step, OpGradient logits) { Gradients(step).run(std::move(logits)); }

}  // namespace importers::tensorflow
