// Each model is written as the function that Keras makes it with; blocks follow keras_applications/resnet.py (block1, block2) and vgg16.py.
#include "importers/tensorflow/keras_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace importers::tensorflow {
namespace {

/// Adds layers to a model one after the other; each call takes the layer before and returns its own.
class Stack {
 public:
  explicit Stack(std::string name) {
    model_.name = std::move(name);
    model_.layers.push_back({"image", LayerKind::image, {}, 3, 1, 1, false, false, ""});
  }
  int32_t pad(std::string name, int32_t x, int64_t amount) {
    return add({std::move(name), LayerKind::pad, {x}, 0, amount, 1, false, false, ""});
  }
  int32_t convolution(std::string name, int32_t x, int64_t features, int64_t window, int64_t stride, bool same, bool bias = true,
                      std::string activation = "") {
    return add({std::move(name), LayerKind::convolution, {x}, features, window, stride, same, bias, std::move(activation)});
  }
  int32_t norm(std::string name, int32_t x) { return add({std::move(name), LayerKind::norm, {x}, 0, 1, 1, false, false, ""}); }
  int32_t relu(std::string name, int32_t x) { return add({std::move(name), LayerKind::relu, {x}, 0, 1, 1, false, false, ""}); }
  int32_t max_pool(std::string name, int32_t x, int64_t window, int64_t stride) {
    return add({std::move(name), LayerKind::max_pool, {x}, 0, window, stride, false, false, ""});
  }
  int32_t sum(std::string name, int32_t a, int32_t b) { return add({std::move(name), LayerKind::add, {a, b}, 0, 1, 1, false, false, ""}); }
  int32_t mean(std::string name, int32_t x) { return add({std::move(name), LayerKind::mean, {x}, 0, 1, 1, false, false, ""}); }
  int32_t flatten(std::string name, int32_t x) { return add({std::move(name), LayerKind::flatten, {x}, 0, 1, 1, false, false, ""}); }
  int32_t dense(std::string name, int32_t x, int64_t features, std::string activation) {
    return add({std::move(name), LayerKind::dense, {x}, features, 1, 1, false, true, std::move(activation)});
  }
  Model take() { return std::move(model_); }

 private:
  int32_t add(Layer layer) {
    model_.layers.push_back(std::move(layer));
    return static_cast<int32_t>(model_.layers.size()) - 1;
  }
  Model model_;
};

/// Convolution 1×1 to f, 3×3, 1×1 to 4f, around it the shortcut: x itself, or a convolution 1×1 of it in the first block of a stage.
int32_t block(Stack& stack, const std::string& name, int32_t x, int64_t features, int64_t stride, bool first) {
  int32_t shortcut = x;
  if (first) shortcut = stack.norm(name + "_0_bn", stack.convolution(name + "_0_conv", x, 4 * features, 1, stride, false));
  x = stack.norm(name + "_1_bn", stack.convolution(name + "_1_conv", x, features, 1, stride, false));
  x = stack.relu(name + "_1_relu", x);
  x = stack.norm(name + "_2_bn", stack.convolution(name + "_2_conv", x, features, 3, 1, true));
  x = stack.relu(name + "_2_relu", x);
  x = stack.norm(name + "_3_bn", stack.convolution(name + "_3_conv", x, 4 * features, 1, 1, false));
  return stack.relu(name + "_out", stack.sum(name + "_add", shortcut, x));
}

/// The same with norm and activation in front; the last block of a stage halves the image, and its shortcut picks every second pixel.
int32_t block_v2(Stack& stack, const std::string& name, int32_t x, int64_t features, int64_t stride, bool first, const std::string& pool) {
  const int32_t active = stack.relu(name + "_preact_relu", stack.norm(name + "_preact_bn", x));
  int32_t shortcut = x;
  if (first)
    shortcut = stack.convolution(name + "_0_conv", active, 4 * features, 1, stride, false);
  else if (stride > 1)
    shortcut = stack.max_pool(pool, x, 1, stride);
  x = stack.norm(name + "_1_bn", stack.convolution(name + "_1_conv", active, features, 1, 1, false, false));
  x = stack.pad(name + "_2_pad", stack.relu(name + "_1_relu", x), 1);
  x = stack.norm(name + "_2_bn", stack.convolution(name + "_2_conv", x, features, 3, stride, false, false));
  x = stack.convolution(name + "_3_conv", stack.relu(name + "_2_relu", x), 4 * features, 1, 1, false);
  return stack.sum(name + "_out", shortcut, x);
}

/// "ResNet50" is named after its layers with weights: the first, three a block, the last.
std::string resnet_name(const Variant& variant, std::string_view ending) {
  const int64_t blocks = std::accumulate(variant.stages.begin(), variant.stages.end(), int64_t{0});
  return fmt::format("ResNet{}{}", 2 + 3 * blocks, ending);
}

}  // namespace

Model resnet(const Variant& variant) {
  Stack stack(resnet_name(variant, ""));
  int32_t x = stack.convolution("conv1_conv", stack.pad("conv1_pad", 0, 3), 64, 7, 2, false);
  x = stack.relu("conv1_relu", stack.norm("conv1_bn", x));
  x = stack.max_pool("pool1_pool", variant.pool_pad ? stack.pad("pool1_pad", x, 1) : x, 3, 2);
  for (size_t stage = 0; stage < variant.stages.size(); ++stage) {
    for (int64_t b = 1; b <= variant.stages[stage]; ++b)
      x = block(stack, fmt::format("conv{}_block{}", stage + 2, b), x, int64_t{64} << stage, b == 1 && stage > 0 ? 2 : 1, b == 1);
  }
  stack.dense(variant.last, stack.mean("avg_pool", x), variant.classes, "Softmax");
  return stack.take();
}

Model resnet_v2(const Variant& variant) {
  Stack stack(resnet_name(variant, "V2"));
  int32_t x = stack.convolution("conv1_conv", stack.pad("conv1_pad", 0, 3), 64, 7, 2, false);
  x = stack.max_pool("pool1_pool", stack.pad("pool1_pad", x, 1), 3, 2);
  for (size_t stage = 0; stage < variant.stages.size(); ++stage) {
    const bool halves = stage + 1 < variant.stages.size();
    const std::string pool = stage < variant.pools.size() ? variant.pools[stage] : fmt::format("max_pooling2d_{}", stage);
    for (int64_t b = 1; b <= variant.stages[stage]; ++b) {
      const int64_t stride = halves && b == variant.stages[stage] ? 2 : 1;
      x = block_v2(stack, fmt::format("conv{}_block{}", stage + 2, b), x, int64_t{64} << stage, stride, b == 1, pool);
    }
  }
  x = stack.relu("post_relu", stack.norm("post_bn", x));
  stack.dense(variant.last, stack.mean("avg_pool", x), variant.classes, "Softmax");
  return stack.take();
}

Model vgg(const Variant& variant) {
  const int64_t convolutions = std::accumulate(variant.stages.begin(), variant.stages.end(), int64_t{0});
  Stack stack(fmt::format("VGG{}", convolutions + 3));
  int32_t x = 0;
  for (size_t stage = 0; stage < variant.stages.size(); ++stage) {
    const int64_t features = std::min<int64_t>(512, int64_t{64} << stage);
    for (int64_t c = 1; c <= variant.stages[stage]; ++c)
      x = stack.convolution(fmt::format("block{}_conv{}", stage + 1, c), x, features, 3, 1, true, true, "Relu");
    x = stack.max_pool(fmt::format("block{}_pool", stage + 1), x, 2, 2);
  }
  x = stack.flatten("flatten", x);
  x = stack.dense("fc1", x, 4096, "Relu");
  x = stack.dense("fc2", x, 4096, "Relu");
  stack.dense(variant.last, x, variant.classes, "Softmax");
  return stack.take();
}

std::vector<int32_t> keras_order(const Model& model) {
  std::vector<int32_t> distance(model.layers.size(), 0), order(model.layers.size());
  for (size_t at = model.layers.size(); at-- > 0;) {
    for (const int32_t input : model.layers[at].inputs) {
      int32_t& farther = distance[static_cast<size_t>(input)];
      farther = std::max(farther, distance[at] + 1);
    }
  }
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(), [&](int32_t layer) { return distance[static_cast<size_t>(layer)]; });
  return order;
}

std::vector<std::string_view> variables_of(const Layer& layer) {
  if (layer.kind == LayerKind::norm) return {"gamma", "beta", "moving_mean", "moving_variance"};
  if (layer.kind != LayerKind::convolution && layer.kind != LayerKind::dense) return {};
  return layer.bias ? std::vector<std::string_view>{"kernel", "bias"} : std::vector<std::string_view>{"kernel"};
}

}  // namespace importers::tensorflow
