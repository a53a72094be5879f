// Gradient operators against finite differences of the operators that they are gradients of.
#include <cmath>
#include <functional>
#include <numeric>

#include "tests/unit/tensorflow_lower/small_graph.h"

namespace importers::tensorflow {
namespace {

size_t elements(const Dims& dims) {
  return static_cast<size_t>(std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()));
}

/// An operator y = f(x, …) and the operator that gives the gradient of Σ g·y with respect to input `of`.
struct Case {
  std::string name;
  std::map<std::string, Dims> inputs;
  std::string of;
  std::function<void(SmallGraph&, std::map<std::string, int>&)> forward;   ///< its last node's first output is y
  std::function<void(SmallGraph&, std::map<std::string, int>&)> gradient;  ///< reads also "y" and "g"; its last node gives the gradient
  int port = 0;                                                            ///< of the gradient
  double step = 1e-2, tolerance = 2e-3;
  std::map<std::string, Numbers> values = {};  ///< of inputs that are not varied numbers
};

std::map<std::string, int> feeds(SmallGraph& small, const Case& test) {
  std::map<std::string, int> ids;
  for (const auto& [name, dims] : test.inputs) ids[name] = small.feed(name, dims, name == "labels" ? ir::Type::s32 : ir::Type::f32);
  return ids;
}

double weighted(const Numbers& y, const Numbers& g) { return std::inner_product(y.begin(), y.end(), g.begin(), 0.0); }

class Gradient : public testing::TestWithParam<Case> {};

TEST_P(Gradient, IsWhatFiniteDifferencesSay) {
  const Case& test = GetParam();
  SmallGraph forward;
  auto ids = feeds(forward, test);
  test.forward(forward, ids);
  std::map<std::string, Numbers> values = test.values;
  for (const auto& [name, dims] : test.inputs) values.try_emplace(name, varied(elements(dims)));
  const Numbers y = computed(forward.graph, values)[0], g = varied(y.size(), 0.7);

  SmallGraph backward;
  Case with = test;
  ids = feeds(backward, test);
  test.forward(backward, ids);
  ids["y"] = backward.last();
  const auto lowered = lower(forward.graph);
  const ir::Module& module = lowered->module;
  ids["g"] = backward.feed("g", module.shape(module.instr(module.entry, module.comp(module.entry).root)).elements[0].dims);
  test.gradient(backward, ids);
  if (test.port > 0) backward.op("Identity", {Output(backward.last(), test.port)});
  auto all = values;
  all["g"] = g;
  const std::vector<Numbers> results = computed(backward.graph, all);
  ASSERT_FALSE(results.empty());
  const Numbers& gradient = results.back();
  ASSERT_EQ(gradient.size(), values[test.of].size());

  const size_t count = gradient.size(), stride = std::max<size_t>(1, count / 12);
  for (size_t i = 0; i < count; i += stride) {
    auto up = values, down = values;
    up[test.of][i] += test.step, down[test.of][i] -= test.step;
    const double expected = (weighted(computed(forward.graph, up)[0], g) - weighted(computed(forward.graph, down)[0], g)) / (2 * test.step);
    EXPECT_NEAR(gradient[i], expected, test.tolerance * (1 + std::abs(expected))) << "element " << i;
  }
}

using Ids = std::map<std::string, int>;

/// f(x) with a gradient op of (first, second).
Case unary(const std::string& forward, const std::string& gradient, const std::string& first, const std::string& second, double shift = 0) {
  Numbers x = varied(24);
  for (double& value : x) value = shift > 0 ? shift + std::abs(value) : value;
  return {gradient,
          {{"x", {4, 6}}},
          "x",
          [=](SmallGraph& s, Ids& i) { s.op(forward, {i["x"]}); },
          [=](SmallGraph& s, Ids& i) {
            s.op(gradient, {i[first], i[second]});
          },
          0,
          1e-2,
          2e-3,
          {{"x", x}}};
}

Case resized(const std::string& name, const Attributes& places) {
  return {"ResizeBilinearGrad_" + name,
          {{"x", {2, 2, 3, 2}}},
          "x",
          [=](SmallGraph& s, Ids& i) {
            s.op("ResizeBilinear", {i["x"], s.integers({5, 4})}, places);
          },
          [=](SmallGraph& s, Ids& i) {
            s.op("ResizeBilinearGrad", {i["g"], i["x"]}, places);
          }};
}

struct Convolved {
  std::string format, padding;
  Dims image, filter, stride, dilation = {1, 1, 1, 1};
};

Attributes attributes(const Convolved& c) {
  return {{"data_format", c.format}, {"padding", c.padding}, {"strides", c.stride}, {"dilations", c.dilation}};
}

/// Of volumes [n, d, h, w, c]: gradients have a number in their names.
Case volume(const std::string& of, const Convolved& c) {
  const bool of_input = of == "x";
  return {std::string("Conv3DBackprop") + (of_input ? "Input_" : "Filter_") + c.format,
          {{"x", c.image}, {"w", c.filter}},
          of,
          [=](SmallGraph& s, Ids& i) {
            s.op("Conv3D", {i["x"], i["w"]}, attributes(c));
          },
          [=](SmallGraph& s, Ids& i) {
            const int sizes = s.integers(of_input ? c.image : c.filter);
            if (of_input)
              s.op("Conv3DBackpropInputV2", {sizes, i["w"], i["g"]}, attributes(c));
            else
              s.op("Conv3DBackpropFilterV2", {i["x"], sizes, i["g"]}, attributes(c));
          }};
}

Case pooled_volume(const std::string& type, const std::string& format, const Dims& window, const Dims& stride) {
  const Attributes attributes{{"padding", std::string("SAME")}, {"ksize", window}, {"strides", stride}, {"data_format", format}};
  const Dims x = format == "NDHWC" ? Dims{1, 4, 3, 5, 2} : Dims{1, 2, 4, 3, 5};
  return {type + "Grad_" + format,
          {{"x", x}},
          "x",
          [=](SmallGraph& s, Ids& i) { s.op(type, {i["x"]}, attributes); },
          [=](SmallGraph& s, Ids& i) {
            if (type == "AvgPool3D")
              s.op("AvgPool3DGrad", {s.integers(x), i["g"]}, attributes);
            else
              s.op("MaxPool3DGrad", {i["x"], i["y"], i["g"]}, attributes);
          },
          0,
          1e-3};
}

Case input_gradient(const std::string& name, const Convolved& c) {
  return {"Conv2DBackpropInput_" + name,
          {{"x", c.image}, {"w", c.filter}},
          "x",
          [=](SmallGraph& s, Ids& i) {
            s.op("Conv2D", {i["x"], i["w"]}, attributes(c));
          },
          [=](SmallGraph& s, Ids& i) {
            const int sizes = s.integers(c.image);
            s.op("Conv2DBackpropInput", {sizes, i["w"], i["g"]}, attributes(c));
          }};
}

Case filter_gradient(const std::string& name, const Convolved& c) {
  return {"Conv2DBackpropFilter_" + name,
          {{"x", c.image}, {"w", c.filter}},
          "w",
          [=](SmallGraph& s, Ids& i) {
            s.op("Conv2D", {i["x"], i["w"]}, attributes(c));
          },
          [=](SmallGraph& s, Ids& i) {
            const int sizes = s.integers(c.filter);
            s.op("Conv2DBackpropFilter", {i["x"], sizes, i["g"]}, attributes(c));
          }};
}

/// A depthwise convolution's, or one in groups: w is [h, w, in, m] or [h, w, in / groups, out].
Case grouped(const std::string& type, const std::string& of, const Convolved& c) {
  const bool of_input = of == "x";
  return {type + (of_input ? "BackpropInput_" : "BackpropFilter_") + (c.format == "NCHW" ? "grouped_nchw" : "grouped_nhwc"),
          {{"x", c.image}, {"w", c.filter}},
          of,
          [=](SmallGraph& s, Ids& i) {
            s.op(type, {i["x"], i["w"]}, attributes(c));
          },
          [=](SmallGraph& s, Ids& i) {
            const int sizes = s.integers(of_input ? c.image : c.filter);
            if (of_input)
              s.op(type + "BackpropInput", {sizes, i["w"], i["g"]}, attributes(c));
            else
              s.op(type + "BackpropFilter", {i["x"], sizes, i["g"]}, attributes(c));
          }};
}

Case average(const std::string& name, const std::string& padding, Dims window, Dims stride) {
  const Attributes attributes{{"padding", padding}, {"ksize", window}, {"strides", stride}};
  return {"AvgPoolGrad_" + name,
          {{"x", {2, 5, 6, 2}}},
          "x",
          [=](SmallGraph& s, Ids& i) { s.op("AvgPool", {i["x"]}, attributes); },
          [=](SmallGraph& s, Ids& i) {
            s.op("AvgPoolGrad", {s.integers({2, 5, 6, 2}), i["g"]}, attributes);
          }};
}

/// Begin, end and strides of x [4, 5, 6] with masks.
Case strided(const std::string& name, const Dims& begin, const Dims& end, const Dims& step, Attributes masks) {
  return {"StridedSliceGrad_" + name,
          {{"x", {4, 5, 6}}},
          "x",
          [=](SmallGraph& s, Ids& i) {
            s.op("StridedSlice", {i["x"], s.integers(begin), s.integers(end), s.integers(step)}, masks);
          },
          [=](SmallGraph& s, Ids& i) {
            s.op("StridedSliceGrad", {s.integers({4, 5, 6}), s.integers(begin), s.integers(end), s.integers(step), i["g"]}, masks);
          }};
}

Case norm(const std::string& name, const std::string& format, const std::string& of, int port) {
  const Dims image = format == "NCHW" ? Dims{2, 3, 3, 2} : Dims{2, 3, 2, 3};
  Attributes attributes{{"data_format", format}, {"epsilon", 1e-2}};
  return {"FusedBatchNormGradV3_" + name,
          {{"x", image}, {"scale", {3}}, {"offset", {3}}, {"mean", {3}}, {"variance", {3}}},
          of,
          [=](SmallGraph& s, Ids& i) {
            s.op("FusedBatchNormV3", {i["x"], i["scale"], i["offset"], i["mean"], i["variance"]}, attributes);
          },
          [=](SmallGraph& s, Ids& i) {
            const int y = i["y"];
            s.op("FusedBatchNormGradV3", {i["g"], i["x"], i["scale"], Output(y, 3), Output(y, 4), Output(y, 5)}, attributes);
          },
          port,
          1e-2,
          5e-3};
}

const Convolved kSame{"NHWC", "SAME", {2, 5, 6, 3}, {3, 3, 3, 4}, {1, 2, 2, 1}};
const Convolved kValid{"NCHW", "VALID", {2, 3, 7, 6}, {3, 2, 3, 4}, {1, 1, 2, 2}};
const Convolved kPlain{"NCHW", "SAME", {2, 3, 4, 4}, {1, 1, 3, 5}, {1, 1, 2, 2}};
const Convolved kDilated{"NHWC", "SAME", {1, 7, 7, 2}, {3, 3, 2, 3}, {1, 1, 1, 1}, {1, 2, 2, 1}};

const Case kCases[] = {
    unary("Relu", "ReluGrad", "g", "y"),
    unary("Relu6", "Relu6Grad", "g", "y"),
    unary("Elu", "EluGrad", "g", "y"),
    unary("Softplus", "SoftplusGrad", "g", "x"),
    unary("Tanh", "TanhGrad", "y", "g"),
    unary("Sigmoid", "SigmoidGrad", "y", "g"),
    unary("Sqrt", "SqrtGrad", "y", "g", 0.5),
    unary("Rsqrt", "RsqrtGrad", "y", "g", 0.5),
    unary("Reciprocal", "ReciprocalGrad", "y", "g", 0.5),
    input_gradient("same", kSame),
    input_gradient("valid", kValid),
    input_gradient("strided_1x1", kPlain),
    input_gradient("dilated", kDilated),
    filter_gradient("same", kSame),
    filter_gradient("valid", kValid),
    filter_gradient("strided_1x1", kPlain),
    filter_gradient("dilated", kDilated),
    grouped("DepthwiseConv2dNative", "x", {"NHWC", "SAME", {1, 5, 6, 3}, {3, 2, 3, 2}, {1, 2, 2, 1}}),
    grouped("DepthwiseConv2dNative", "w", {"NHWC", "SAME", {1, 5, 6, 3}, {3, 2, 3, 2}, {1, 2, 2, 1}}),
    grouped("DepthwiseConv2dNative", "x", {"NCHW", "VALID", {2, 2, 5, 5}, {3, 3, 2, 1}, {1, 1, 1, 1}}),
    grouped("DepthwiseConv2dNative", "w", {"NCHW", "VALID", {2, 2, 5, 5}, {3, 3, 2, 1}, {1, 1, 1, 1}}),
    grouped("Conv2D", "x", {"NHWC", "SAME", {2, 4, 4, 4}, {3, 3, 2, 6}, {1, 1, 1, 1}}),
    grouped("Conv2D", "w", {"NHWC", "SAME", {2, 4, 4, 4}, {3, 3, 2, 6}, {1, 1, 1, 1}}),
    volume("x", {"NDHWC", "SAME", {1, 4, 5, 3, 2}, {2, 3, 3, 2, 3}, {1, 1, 2, 1, 1}, {1, 1, 1, 1, 1}}),
    volume("w", {"NDHWC", "SAME", {1, 4, 5, 3, 2}, {2, 3, 3, 2, 3}, {1, 1, 2, 1, 1}, {1, 1, 1, 1, 1}}),
    volume("x", {"NCDHW", "VALID", {2, 2, 3, 4, 4}, {2, 2, 3, 2, 2}, {1, 1, 1, 2, 1}, {1, 1, 1, 1, 1}}),
    volume("w", {"NCDHW", "VALID", {2, 2, 3, 4, 4}, {2, 2, 3, 2, 2}, {1, 1, 1, 2, 1}, {1, 1, 1, 1, 1}}),
    pooled_volume("AvgPool3D", "NDHWC", {1, 2, 2, 3, 1}, {1, 2, 1, 2, 1}),
    pooled_volume("AvgPool3D", "NCDHW", {1, 1, 2, 2, 3}, {1, 1, 2, 1, 2}),
    pooled_volume("MaxPool3D", "NDHWC", {1, 2, 2, 3, 1}, {1, 2, 1, 2, 1}),
    average("valid", "VALID", {1, 2, 3, 1}, {1, 2, 3, 1}),
    average("overlapping_same", "SAME", {1, 3, 3, 1}, {1, 2, 1, 1}),
    strided("parts", {1, 0, 2}, {4, 5, 6}, {2, 1, 3}, {}),
    strided("backwards", {3, 4, 5}, {0, 0, 1}, {-1, -2, -1}, {{"end_mask", int64_t{2}}}),
    strided("masks", {0, 2, -1}, {0, 3, 0}, {1, 1, 1},
            {{"ellipsis_mask", int64_t{1}}, {"new_axis_mask", int64_t{2}}, {"shrink_axis_mask", int64_t{4}}}),
    unary("Selu", "SeluGrad", "g", "y"),
    unary("LeakyRelu", "LeakyReluGrad", "g", "x"),
    unary("Softsign", "SoftsignGrad", "g", "x"),
    {"ResizeNearestNeighborGrad",
     {{"x", {1, 2, 3, 2}}},
     "x",
     [](SmallGraph& s, Ids& i) {
       s.op("ResizeNearestNeighbor", {i["x"], s.integers({4, 9})});
     },
     [](SmallGraph& s, Ids& i) {
       s.op("ResizeNearestNeighborGrad", {i["g"], s.integers({2, 3})});
     }},
    {"LRNGrad",
     {{"x", {1, 2, 2, 7}}},
     "x",
     [](SmallGraph& s, Ids& i) {
       s.op("LRN", {i["x"]}, {{"depth_radius", int64_t{2}}, {"alpha", 0.3}, {"beta", 0.75}, {"bias", 1.5}});
     },
     [](SmallGraph& s, Ids& i) {
       s.op("LRNGrad", {i["g"], i["x"], i["y"]}, {{"depth_radius", int64_t{2}}, {"alpha", 0.3}, {"beta", 0.75}, {"bias", 1.5}});
     }},
    resized("legacy", {}),
    resized("centres", {{"half_pixel_centers", true}}),
    resized("corners", {{"align_corners", true}}),
    norm("x_nhwc", "NHWC", "x", 0),
    norm("x_nchw", "NCHW", "x", 0),
    norm("scale", "NCHW", "scale", 1),
    norm("offset", "NHWC", "offset", 2),
    {"BiasAddGrad",
     {{"x", {2, 3, 4, 2}}, {"bias", {3}}},
     "bias",
     [](SmallGraph& s, Ids& i) {
       s.op("BiasAdd", {i["x"], i["bias"]}, {{"data_format", std::string("NCHW")}});
     },
     [](SmallGraph& s, Ids& i) {
       s.op("BiasAddGrad", {i["g"]}, {{"data_format", std::string("NCHW")}});
     }},
    {"MaxPoolGrad",
     {{"x", {1, 2, 7, 7}}},
     "x",
     [](SmallGraph& s, Ids& i) {
       s.op("MaxPool", {i["x"]},
            {{"data_format", std::string("NCHW")},
             {"padding", std::string("SAME")},
             {"ksize", Dims{1, 1, 3, 3}},
             {"strides", Dims{1, 1, 2, 2}}});
     },
     [](SmallGraph& s, Ids& i) {
       s.op("MaxPoolGrad", {i["x"], i["y"], i["g"]},
            {{"data_format", std::string("NCHW")},
             {"padding", std::string("SAME")},
             {"ksize", Dims{1, 1, 3, 3}},
             {"strides", Dims{1, 1, 2, 2}}});
     },
     0,
     1e-3,
     2e-3},
    {"SparseSoftmaxCrossEntropyWithLogits",
     {{"x", {3, 5}}, {"labels", {3}}},
     "x",
     [](SmallGraph& s, Ids& i) {
       s.op("SparseSoftmaxCrossEntropyWithLogits", {i["x"], i["labels"]});
     },
     [](SmallGraph& s, Ids& i) {
       const int rows = s.op("ExpandDims", {i["g"], s.integers({-1}, true)});
       s.op("Mul", {rows, Output(i["y"], 1)});
     },
     0,
     1e-2,
     2e-3,
     {{"labels", {4, 0, 2}}}},
};

INSTANTIATE_TEST_SUITE_P(Op, Gradient, testing::ValuesIn(kCases), [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace importers::tensorflow
