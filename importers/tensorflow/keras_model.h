// Models of Keras' applications: layers with their windows, strides and variables, from which the shapes of a whole training step follow.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace importers::tensorflow {

enum class LayerKind : uint8_t { image, pad, convolution, norm, relu, max_pool, add, mean, flatten, dense };

struct Layer {
  std::string name;
  LayerKind kind = LayerKind::image;
  std::vector<int32_t> inputs;  ///< layers
  int64_t features = 0;         ///< of what comes out of convolutions and dense layers
  int64_t window = 1;           ///< height and width; of a pad: what is added on each side
  int64_t stride = 1;
  bool same = false;       ///< padding SAME, or VALID
  bool bias = false;       ///< convolutions and dense layers: adds one
  std::string activation;  ///< op type of what is inside the layer: "Relu", "Softmax"
};

struct Model {
  std::string name;           ///< "ResNet50"
  std::vector<Layer> layers;  ///< as Keras' function makes them, each after its inputs; the first is the image
};

/// How many blocks (ResNet) or convolutions (VGG) each stage has, and what its last layer is called.
struct Variant {
  std::vector<int64_t> stages;
  std::string last = "predictions";
  std::vector<std::string> pools;  ///< names of ResNet V2's pooling shortcuts, which Keras numbers
  int64_t classes = 1000;
  bool pool_pad = true;  ///< ResNet: a pad of 1 before the first pool
};

/// Residual networks, Caffe's placement of strides: He et al. 2015, as keras_applications has them.
Model resnet(const Variant& variant);
/// With norm and activation before the convolution: He et al. 2016.
Model resnet_v2(const Variant& variant);
Model vgg(const Variant& variant);

/// The order of model.layers: by distance from the result, layers of one distance as they were made.
std::vector<int32_t> keras_order(const Model& model);

/// Names of a layer's variables, below the layer's: "kernel", "bias"; "gamma", "beta", "moving_mean", "moving_variance".
std::vector<std::string_view> variables_of(const Layer& layer);
inline bool is_trainable(std::string_view variable) { return !variable.starts_with("moving_"); }

}  // namespace importers::tensorflow
