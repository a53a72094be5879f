// Labels, loss and the gradient of the logits: as Keras' sparse_categorical_crossentropy of TensorFlow 2 has them, and
// tf.losses.sparse_softmax_cross_entropy of TensorFlow 1.
#include <fmt/format.h>

#include "importers/tensorflow/step_parts.h"

namespace importers::tensorflow {
namespace {

constexpr std::string_view kType = "SparseSoftmaxCrossEntropyWithLogits";

class Loss {
 public:
  Loss(Step& step, std::string name) : step_(step), nodes_(step.nodes), name_(std::move(name)) {
    scope_ = directory_of(name_);
    if (!scope_.empty()) scope_ = directory_of(scope_.substr(0, scope_.size() - 1));
  }

  OpGradient run() {
    const size_t op = logits_op();
    const Tensor top = step_.ops[op].out;
    batch_ = step_.sizes.batch;
    classes_ = top.dims.back();
    Tensor logits = top;
    if (nodes_.is_listed(scope_ + "Reshape_1")) logits.edge = reshaped(scope_ + "Reshape_1", top.edge, {-1, classes_}, top.shape());
    const ir::Shape rows = ir::array_shape(ir::Type::f32, {batch_});
    const Edge loss = nodes_.define(name_, {kType, {logits.edge, labels()}, {rows, top.shape()}});
    nodes_.define("retval_loss", {"_Retval", {loss}, {rows}});
    return {op, gradient(loss, top)};
  }

 private:
  /// Keras takes the loss from what goes into a Softmax; one whose gradient is listed stands between.
  size_t logits_op() const {
    const size_t last = step_.ops.size() - 1;
    const ForwardOp& op = step_.ops[last];
    const bool aside = op.kind == OpKind::softmax && last > 0 && !nodes_.is_listed(gradient_name(nodes_, op, "Sum"));
    return aside ? last - 1 : last;
  }

  Edge reshaped(const std::string& name, Edge from, const Dims& to, const ir::Shape& shape) {
    return nodes_.define(name, {"Reshape", {from, nodes_.integers(name + "/shape", to)}, {shape}});
  }

  /// int64 [batch]; fed as [batch, 1] where something takes the second dimension away.
  Edge labels() {
    const auto shape = [&](ir::Type type, bool column) { return ir::array_shape(type, column ? Dims{batch_, 1} : Dims{batch_}); };
    const std::string recipe = fmt::format(R"({{"integers": [0, {}]}})", classes_ - 1);
    const std::string moved_reshape = "ArithmeticOptimizer/ReorderCastLikeAndValuePreserving_float_Reshape";
    const std::string moved_cast = "ArithmeticOptimizer/ReorderCastLikeAndValuePreserving_int64_Cast_1";
    const std::string squeeze = scope_ + "remove_squeezable_dimensions/Squeeze";
    const std::string reshape = nodes_.is_listed(moved_reshape) ? moved_reshape : scope_ + "Reshape";
    const std::string back = nodes_.is_listed(moved_cast) ? moved_cast : scope_ + "Cast_1";
    const bool has_reshape = nodes_.is_listed(reshape), has_squeeze = nodes_.is_listed(squeeze);
    bool column = has_reshape || has_squeeze;
    Edge edge = nodes_.parameter("labels", "Placeholder", shape(ir::Type::s64, column), recipe);
    if (has_squeeze) return nodes_.define(squeeze, {"Squeeze", {edge}, {shape(ir::Type::s64, false)}, {{"squeeze_dims", Dims{-1}}}});
    const bool floats = nodes_.is_listed(scope_ + "Cast") && nodes_.is_listed(back);
    if (floats)
      edge = nodes_.define(scope_ + "Cast",
                           {"Cast", {edge}, {shape(ir::Type::f32, column)}, {{"SrcT", ir::Type::s64}, {"DstT", ir::Type::f32}}});
    const auto to_rows = [&] {
      if (!column) return;
      column = false;
      edge = reshaped(reshape, edge, {-1}, shape(floats && reshape == moved_reshape ? ir::Type::f32 : ir::Type::s64, false));
    };
    if (reshape == moved_reshape) to_rows();  // the optimizer has put it before the cast
    if (floats)
      edge = nodes_.define(back, {"Cast", {edge}, {shape(ir::Type::s64, column)}, {{"SrcT", ir::Type::f32}, {"DstT", ir::Type::s64}}});
    to_rows();
    return edge;
  }

  /// The loss's second result times the gradient of the loss, which is 1 a row, or of their mean.
  Tensor gradient(Edge loss, const Tensor& top) {
    Tensor result{{loss.node, 1}, top.dims, false};
    const std::string in = "gradient_tape/" + directory_of(name_), before = "gradients/" + name_ + "_grad/";
    const std::string mul = nodes_.pick({in + "mul", before + "mul"});
    if (nodes_.is_listed(mul))
      result.edge = nodes_.define(mul, {"Mul", {weight(mul.starts_with(before) ? before : in), result.edge}, {top.shape()}});
    const std::string reshape = "gradient_tape/" + scope_ + "Reshape";
    if (nodes_.is_listed(reshape)) result.edge = reshaped(reshape, result.edge, {-1, classes_}, top.shape());
    return result;
  }

  Edge weight(const std::string& scope) {
    const std::string expand = scope + "ExpandDims";
    const ir::Shape column = ir::array_shape(ir::Type::f32, {batch_, 1});
    const bool mean = nodes_.is_listed(expand);
    if (!mean) return nodes_.constant(scope + "ones", filled_array(ir::Type::f32, {batch_, 1}, 1));
    const Edge rows = nodes_.constant(scope + "mean", filled_array(ir::Type::f32, {batch_}, 1 / static_cast<double>(batch_)));
    const Edge dim = nodes_.constant(expand + "/dim", integer_array({-1}, {}));
    return nodes_.define(expand, {"ExpandDims", {rows, dim}, {column}});
  }

  Step& step_;
  StepNodes& nodes_;
  std::string name_, scope_;  ///< the scope that the casts and reshapes of Keras' loss stand in
  int64_t batch_ = 0, classes_ = 0;
};

}  // namespace

std::optional<OpGradient> wire_loss(Step& step) {
  if (step.ops.empty() || step.ops.back().out.dims.size() != 2) return std::nullopt;
  for (size_t at = 0; at < step.nodes.listed(); ++at)
    if (step.nodes.type(at) == kType) return Loss(step, std::string(step.nodes.name(at))).run();
  OpGradient fed{step.ops.size() - 1, step.ops.back().out};
  fed.value.edge = step.nodes.parameter("gradient_of_" + step.ops.back().name, "Placeholder", fed.value.shape(), "");
  return fed;
}

}  // namespace importers::tensorflow
