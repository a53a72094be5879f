// The parts of a step in their order, and what they share: variables, feeds, and the nodes around the layout of images.
#include "importers/tensorflow/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "importers/tensorflow/step_parts.h"

namespace importers::tensorflow {
namespace {

/// Kernels keep the variance of what flows through them; what must be positive is. A residual branch begins small (Goyal et al. 2017 begin
/// with 0), and so do the logits: then gradients do not grow with depth, and steps of the program's own rate lower the loss.
std::string recipe(const Layer& layer, std::string_view variable, const Dims& dims) {
  const bool ends_branch = layer.name.ends_with("_3_bn") || layer.name.ends_with("_branch2c");
  if (variable == "gamma" && ends_branch) return R"({"uniform": [0, 0.2]})";
  if (variable == "gamma" || variable == "moving_variance") return R"({"uniform": [0.5, 1.5]})";
  if (variable != "kernel") return R"({"uniform": [-0.1, 0.1]})";
  double fan_in = 1;
  for (size_t d = 0; d + 1 < dims.size(); ++d) fan_in *= static_cast<double>(dims[d]);
  const double range = std::sqrt(3 / fan_in) * (layer.kind == LayerKind::dense && layer.activation != "Relu" ? 0.1 : 1);
  return fmt::format(R"({{"uniform": [{:.6g}, {:.6g}]}})", -range, range);
}

Dims variable_dims(const Layer& layer, std::string_view variable, int64_t in, int64_t out) {
  if (variable != "kernel") return {out};
  return layer.kind == LayerKind::dense ? Dims{in, out} : Dims{layer.window, layer.window, in, out};
}

int64_t windows(int64_t size, int64_t window, int64_t stride) { return size < window ? 0 : (size - window) / stride + 1; }

/// Height and features of what each layer gives. 0: the image is too small.
struct Extent {
  int64_t size = 0, features = 0;
};
Extent extent_of(const Layer& layer, const Extent& in) {
  switch (layer.kind) {
    case LayerKind::pad:
      return {in.size + 2 * layer.window, in.features};
    case LayerKind::convolution:
      return {layer.same ? (in.size + layer.stride - 1) / layer.stride : windows(in.size, layer.window, layer.stride), layer.features};
    case LayerKind::max_pool:
      return {windows(in.size, layer.window, layer.stride), in.features};
    case LayerKind::mean:
      return {1, in.features};
    case LayerKind::flatten:
      return {1, in.size * in.size * in.features};
    case LayerKind::dense:
      return {1, layer.features};
    default:
      return in;
  }
}

base::Status add_variables(Step& step) {
  const Model& model = step.family.model;
  std::vector<Extent> extents(model.layers.size(), {step.sizes.image, 3});
  for (size_t at = 1; at < model.layers.size(); ++at) {
    extents[at] = extent_of(model.layers[at], extents[static_cast<size_t>(model.layers[at].inputs[0])]);
    if (extents[at].size < 1)
      return base::Error{fmt::format("images of {0}×{0} are too small for {1}: nothing is left at layer '{2}'; give a larger --image",
                                     step.sizes.image, model.name, model.layers[at].name)};
  }
  for (const int32_t id : keras_order(model)) {
    const auto at = static_cast<size_t>(id);
    const Layer& layer = model.layers[at];
    for (const std::string_view variable : variables_of(layer)) {
      const int64_t in = extents[static_cast<size_t>(layer.inputs[0])].features;
      const Dims dims = variable_dims(layer, variable, in, extents[at].features);
      const ir::Shape shape = ir::array_shape(ir::Type::f32, dims);
      std::string name = fmt::format("{}/{}", layer.name, variable);
      const Edge handle = step.nodes.parameter(name, "VarHandleOp", shape, recipe(layer, variable, dims));
      step.variable_index.emplace(name, step.variables.size());
      step.variables.push_back({std::move(name), handle, shape, is_trainable(variable), {}, {}});
    }
  }
  return {};
}

bool any_name(const StepNodes& nodes, const auto& predicate) {
  for (size_t at = 0; at < nodes.listed(); ++at)
    if (predicate(nodes.name(at))) return true;
  return false;
}

/// Constants that the graph was given copies of: "X/clone_0".
void wire_clones(StepNodes& nodes) {
  for (size_t at = 0; at < nodes.listed(); ++at) {
    const std::string_view name = nodes.name(at);
    const size_t end = name.rfind('/');
    if (end == std::string_view::npos || !name.substr(end).starts_with("/clone_")) continue;
    const Node* original = nodes.find(name.substr(0, end));
    if (original == nullptr || original->type != "Const") continue;
    nodes.constant(std::string(name), attribute(*original, "value", Array{}));
  }
}

}  // namespace

Dims Tensor::stored() const {
  if (dims.size() != 4 || !features_first) return dims;
  return {dims[0], dims[3], dims[1], dims[2]};
}

Tensor Step::as(Tensor t, bool first, const std::string& consumer, int port) {
  if (t.dims.size() != 4 || t.features_first == first) return t;
  const std::string_view change = first ? "NHWCToNCHW" : "NCHWToNHWC";
  const std::string_view producer = nodes.name(static_cast<size_t>(t.edge.node));
  const auto named = [&](std::string_view op, std::string_view ports) { return fmt::format("{}{}{}-LayoutOptimizer", ports, op, change); };
  const std::string in = fmt::format("{}-{}-", consumer, port), out = fmt::format("{}-{}-", producer, t.edge.port);
  std::string at = in;
  for (const std::string& ports : {in, out + "0-", out + "1-", out + "2-"}) {
    if (!nodes.is_listed(named("Transpose", ports))) continue;
    at = ports;
    break;
  }
  const Edge permutation = nodes.integers(named("PermConst", at), first ? Dims{0, 3, 1, 2} : Dims{0, 2, 3, 1});
  Tensor moved{{}, t.dims, first};
  moved.edge = nodes.define(named("Transpose", at), {"Transpose", {t.edge, permutation}, {moved.shape()}});
  return moved;
}

Edge Step::about_image(const std::string& consumer, int port, const std::string& constant, const Dims& nhwc, bool first) {
  const size_t width = nhwc.size() / 4;
  const auto shape = nhwc.size() == 4 ? Dims{4} : Dims{4, 2};
  const std::string permute = fmt::format("{}-{}-DataFormatVecPermute{}", consumer, port, kLayoutEnd);
  if (first && nodes.is_listed(permute)) {
    const Edge value = nodes.integers(constant, nhwc, width == 2);
    return nodes.define(permute, {"DataFormatVecPermute",
                                  {value},
                                  {ir::array_shape(ir::Type::s32, shape)},
                                  {{"src_format", std::string("NHWC")}, {"dst_format", std::string("NCHW")}}});
  }
  Dims values;
  for (const size_t d : {size_t{0}, first ? size_t{3} : size_t{1}, first ? size_t{1} : size_t{2}, first ? size_t{2} : size_t{3}})
    values.insert(values.end(), nhwc.begin() + static_cast<int64_t>(d * width), nhwc.begin() + static_cast<int64_t>((d + 1) * width));
  return nodes.integers(constant, values, width == 2);
}

Edge Step::read(const std::string& name, size_t variable) {
  return nodes.define(name, {"ReadVariableOp", {variables[variable].handle}, {variables[variable].shape}});
}

base::Result<StepNodes::Result> wire_step(const Family& family, const TypedList& list, const StepSizes& sizes) {
  Step step{family, sizes, StepNodes(family.model.name, list), false, false, {}, {}, {}, {}};
  step.features_first = any_name(step.nodes, [](std::string_view name) { return name.find(kLayoutEnd) != std::string_view::npos; });
  step.training = any_name(step.nodes, [](std::string_view name) {
    return name.find("FusedBatchNormGrad") != std::string_view::npos || name.find("AssignNewValue") != std::string_view::npos;
  });
  RETURN_IF_ERROR(add_variables(step));
  RETURN_IF_ERROR(wire_forward(step));
  if (const auto gradient = wire_loss(step)) wire_gradients(step, *gradient);
  wire_updates(step);
  wire_clones(step.nodes);
  return std::move(step.nodes).finish();
}

}  // namespace importers::tensorflow
