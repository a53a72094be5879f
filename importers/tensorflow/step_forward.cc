// The forward pass: each layer becomes the nodes that Keras makes of it, in the names that TensorFlow gives them.
#include <fmt/format.h>

#include <utility>

#include "importers/tensorflow/step_parts.h"

namespace importers::tensorflow {
namespace {

constexpr double kEpsilon = 1.001e-5;  ///< of all batch norms of keras_applications
constexpr double kMomentum = 0.99;     ///< of their running statistics

/// strides or ksize of a window.
Dims over_image(int64_t size, bool features_first) { return features_first ? Dims{1, 1, size, size} : Dims{1, size, size, 1}; }
std::string format_name(bool features_first) { return features_first ? "NCHW" : "NHWC"; }

Attributes window_attributes(const Layer& layer, bool features_first) {
  return {{"strides", over_image(layer.stride, features_first)},
          {"padding", std::string(layer.same ? "SAME" : "VALID")},
          {"data_format", format_name(features_first)}};
}

/// Lays one op after the other; a layer hands on what its last op gives.
class ForwardPass {
 public:
  explicit ForwardPass(Step& step) : step_(step), last_(step.family.model.layers.size(), -1) {}

  base::Status run() {
    const Model& model = step_.family.model;
    const Dims dims{step_.sizes.batch, step_.sizes.image, step_.sizes.image, 3};
    step_.images = {step_.nodes.parameter("images", "Placeholder", ir::array_shape(ir::Type::f32, dims), R"({"uniform": [-1, 1]})"), dims,
                    false};
    for (size_t at = 1; at < model.layers.size(); ++at) add(at);
    return {};
  }

 private:
  void add(size_t at) {
    layer_ = &step_.family.model.layers[at];
    scope_ = step_.family.root + layer_->name + "/";
    from_.clear();
    for (const int32_t input : layer_->inputs) from_.push_back(last_[static_cast<size_t>(input)]);
    static constexpr void (ForwardPass::*kParts[])() = {
        nullptr,           &ForwardPass::pad,  &ForwardPass::convolution, &ForwardPass::norm, &ForwardPass::relu, &ForwardPass::max_pool,
        &ForwardPass::sum, &ForwardPass::mean, &ForwardPass::flatten,     &ForwardPass::dense};
    (this->*kParts[static_cast<size_t>(layer_->kind)])();
    last_[at] = from_[0];
  }

  const Tensor& result(int32_t op) const { return op < 0 ? step_.images : step_.ops[static_cast<size_t>(op)].out; }
  bool learns(int32_t op) const { return op >= 0 && step_.ops[static_cast<size_t>(op)].learns; }
  size_t variable(std::string_view name) const { return step_.variable_index.at(fmt::format("{}/{}", layer_->name, name)); }
  /// Images of ops that care for the order of dimensions.
  bool net() const { return step_.features_first; }

  /// Ops that follow are after this one.
  void push(ForwardOp op) {
    op.layer = layer_;
    op.inputs = from_;
    op.learns = !op.variables.empty();
    for (const int32_t input : from_) op.learns = op.learns || learns(input);
    from_ = {static_cast<int32_t>(step_.ops.size())};
    step_.ops.push_back(std::move(op));
  }
  /// An op of one tensor that keeps its sizes.
  void push_like(OpKind kind, std::string name, Definition definition, Tensor in) {
    ForwardOp op{kind, name, {}, {in}, in, nullptr, {}, {}, false};
    definition.inputs.insert(definition.inputs.begin(), in.edge);
    definition.shapes = {in.shape()};
    op.out.edge = step_.nodes.define(std::move(name), std::move(definition));
    push(std::move(op));
  }

  void pad() {
    const std::string name = scope_ + "Pad";
    const Tensor in = result(from_[0]);
    const int64_t p = layer_->window;
    ForwardOp op{OpKind::pad, name, {}, {in}, in, nullptr, {}, {}, false};
    op.out.dims[1] += 2 * p, op.out.dims[2] += 2 * p;
    const Edge amounts = step_.about_image(name, 1, name + "/paddings", {0, 0, p, p, p, p, 0, 0}, in.features_first);
    op.out.edge = step_.nodes.define(name, {"Pad", {in.edge, amounts}, {op.out.shape()}});
    push(std::move(op));
  }

  static int64_t windows(int64_t size, const Layer& layer) {
    return layer.same ? (size + layer.stride - 1) / layer.stride : (size - layer.window) / layer.stride + 1;
  }

  void convolution() {
    const std::string name = step_.nodes.pick({scope_ + "Conv2D", scope_ + "convolution"});
    const Tensor in = step_.as(result(from_[0]), net(), name, 0);
    ForwardOp op{OpKind::convolution, name, {}, {in}, in, nullptr, {}, {variable("kernel")}, false};
    op.out.dims = {in.dims[0], windows(in.dims[1], *layer_), windows(in.dims[2], *layer_), layer_->features};
    op.weights = step_.read(name + "/ReadVariableOp", op.variables[0]);
    op.out.edge = step_.nodes.define(name, {"Conv2D", {in.edge, op.weights}, {op.out.shape()}, window_attributes(*layer_, net())});
    push(std::move(op));
    bias();
    activation();
  }

  void bias() {
    if (!layer_->bias) return;
    const std::string name = scope_ + "BiasAdd";
    const Tensor in = result(from_[0]);
    const Edge value = step_.read(name + "/ReadVariableOp", variable("bias"));
    push_like(OpKind::bias, name, {"BiasAdd", {value}, {}, {{"data_format", format_name(in.features_first)}}}, in);
    step_.ops.back().variables = {variable("bias")};
    step_.ops.back().learns = true;
  }

  void activation() {
    if (layer_->activation == "Relu") push_like(OpKind::relu, scope_ + "Relu", {"Relu"}, result(from_[0]));
    if (layer_->activation == "Softmax" && step_.nodes.is_listed(scope_ + "Softmax"))
      push_like(OpKind::softmax, scope_ + "Softmax", {"Softmax"}, result(from_[0]));
  }

  void relu() { push_like(OpKind::relu, scope_ + "Relu", {"Relu"}, result(from_[0])); }

  /// Where nothing reads the running statistics (TensorFlow 1 averages them elsewhere), a step of training gets empty ones.
  Edge statistics(const std::string& name, std::string_view suffix, size_t variable) {
    const std::string read = name + "/ReadVariableOp" + std::string(suffix);
    if (step_.training && !step_.nodes.is_listed(read)) return step_.nodes.constant(name + "/empty", filled_array(ir::Type::f32, {0}, 0));
    return step_.read(read, variable);
  }

  void norm() {
    const std::string name = step_.nodes.pick({scope_ + "FusedBatchNormV3", scope_ + "FusedBatchNorm"});
    const Tensor in = step_.as(result(from_[0]), net(), name, 0);
    const size_t gamma = variable("gamma"), mean = variable("moving_mean"), variance = variable("moving_variance");
    ForwardOp op{OpKind::norm, name, {}, {in}, in, nullptr, {}, {gamma, variable("beta")}, false};
    op.weights = step_.read(scope_ + "ReadVariableOp", gamma);
    const Edge offset = step_.read(scope_ + "ReadVariableOp_1", op.variables[1]);
    const Edge before_mean = statistics(name, "", mean), before_variance = statistics(name, "_1", variance);
    const bool averages = step_.nodes.is_listed(name + "/ReadVariableOp");
    const ir::Shape features = step_.variables[gamma].shape;
    op.out.edge = step_.nodes.define(name, {"FusedBatchNormV3",
                                            {in.edge, op.weights, offset, before_mean, before_variance},
                                            {in.shape(), features, features, features, features, ir::array_shape(ir::Type::f32, {0})},
                                            {{"is_training", step_.training},
                                             {"epsilon", kEpsilon},
                                             {"exponential_avg_factor", step_.training && averages ? 1 - kMomentum : 1.0},
                                             {"data_format", format_name(net())}}});
    if (averages) {
      average(scope_ + "AssignNewValue", mean, {op.out.edge.node, 1});
      average(scope_ + "AssignNewValue_1", variance, {op.out.edge.node, 2});
    }
    push(std::move(op));
  }
  void average(const std::string& name, size_t variable, Edge value) {
    if (!step_.nodes.is_listed(name)) return;
    step_.variables[variable].assignments.push_back(
        step_.nodes.define(name, {"AssignVariableOp", {step_.variables[variable].handle, value}}));
  }

  void max_pool() {
    const std::string name = scope_ + "MaxPool";
    const Tensor in = step_.as(result(from_[0]), net(), name, 0);
    ForwardOp op{OpKind::max_pool, name, {}, {in}, in, nullptr, {}, {}, false};
    op.out.dims[1] = windows(in.dims[1], *layer_), op.out.dims[2] = windows(in.dims[2], *layer_);
    Attributes attributes = window_attributes(*layer_, net());
    attributes.set("ksize", over_image(layer_->window, net()));
    op.out.edge = step_.nodes.define(name, {"MaxPool", {in.edge}, {op.out.shape()}, std::move(attributes)});
    push(std::move(op));
  }

  void sum() {
    const std::string name = scope_ + "add";
    const Tensor a = result(from_[0]), b = step_.as(result(from_[1]), a.features_first, name, 1);
    ForwardOp op{OpKind::add, name, {}, {a, b}, a, nullptr, {}, {}, false};
    op.out.edge = step_.nodes.define(name, {"AddV2", {a.edge, b.edge}, {a.shape()}});
    push(std::move(op));
  }

  /// Over height and width, which are dimensions 1 and 2, or 2 and 3 after the layout optimizer.
  void mean() {
    const std::string name = scope_ + "Mean", constant = name + "/reduction_indices";
    const std::string map = fmt::format("{}-1-DataFormatDimMap{}", name, kLayoutEnd);
    const Tensor in = result(from_[0]);
    ForwardOp op{OpKind::mean, name, {}, {in}, {}, nullptr, {}, {}, false};
    op.out.dims = {in.dims[0], in.dims[3]};
    Edge over;
    if (in.features_first && step_.nodes.is_listed(map))
      over = step_.nodes.define(map, {"DataFormatDimMap",
                                      {step_.nodes.integers(constant, {1, 2})},
                                      {ir::array_shape(ir::Type::s32, {2})},
                                      {{"src_format", std::string("NHWC")}, {"dst_format", std::string("NCHW")}}});
    else
      over = step_.nodes.integers(constant, in.features_first ? Dims{2, 3} : Dims{1, 2});
    op.out.edge = step_.nodes.define(name, {"Mean", {in.edge, over}, {op.out.shape()}, {{"keep_dims", false}}});
    push(std::move(op));
  }

  void flatten() {
    const std::string name = scope_ + "Reshape";
    const Tensor in = step_.as(result(from_[0]), false, name, 0);
    ForwardOp op{OpKind::flatten, name, {}, {in}, {}, nullptr, {}, {}, false};
    op.out.dims = {in.dims[0], in.dims[1] * in.dims[2] * in.dims[3]};
    op.out.edge =
        step_.nodes.define(name, {"Reshape", {in.edge, step_.nodes.integers(name + "/shape", {-1, op.out.dims[1]})}, {op.out.shape()}});
    push(std::move(op));
  }

  void dense() {
    const std::string name = scope_ + "MatMul";
    const Tensor in = result(from_[0]);
    ForwardOp op{OpKind::dense, name, {}, {in}, {}, nullptr, {}, {variable("kernel")}, false};
    op.out.dims = {in.dims[0], layer_->features};
    op.weights = step_.read(name + "/ReadVariableOp", op.variables[0]);
    op.out.edge =
        step_.nodes.define(name, {"MatMul", {in.edge, op.weights}, {op.out.shape()}, {{"transpose_a", false}, {"transpose_b", false}}});
    push(std::move(op));
    bias();
    activation();
  }

  Step& step_;
  std::vector<int32_t> last_;  ///< by layer: its last op; -1: the image
  const Layer* layer_ = nullptr;
  std::string scope_;
  std::vector<int32_t> from_;  ///< ops that the next one reads
};

}  // namespace

base::Status wire_forward(Step& step) { return ForwardPass(step).run(); }

}  // namespace importers::tensorflow
