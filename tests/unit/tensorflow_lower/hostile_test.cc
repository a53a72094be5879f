// Graphs of any content: a module that keeps all rules, or an error with a node's name.
#include <algorithm>
#include <array>
#include <random>

#include "importers/tensorflow/lower_rules.h"
#include "src/ir/verify.h"
#include "tests/unit/tensorflow_lower/small_graph.h"

namespace importers::tensorflow {
namespace {

/// All types that have a rule, what is folded, and what the lowering treats by name.
std::vector<std::string_view> all_types() {
  std::vector<std::string_view> types{"BroadcastGradientArgs",
                                      "ConcatOffset",
                                      "DataFormatVecPermute",
                                      "DataFormatDimMap",
                                      "InvertPermutation",
                                      "Unheard",
                                      "StatelessIf",
                                      "TensorListReserve",
                                      "_Send",
                                      "NoOp",
                                      "VarHandleOp",
                                      "Placeholder"};
  for (const auto rules :
       {math_rules(), move_rules(), slice_rules(), index_rules(), convolution_rules(), image_rules(), network_rules(), variable_rules()}) {
    for (const Rule& rule : rules) types.push_back(rule.type);
  }
  return types;
}
constexpr int64_t kNumbers[] = {0, 1, 2, 3, 4, 7, -1, -2, -5, 32, 1 << 20, int64_t{1} << 40, INT64_MAX, INT64_MIN, INT32_MAX};

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(engine_); }
  int64_t number() { return kNumbers[below(below(3) == 0 ? std::size(kNumbers) : 6)]; }
  Dims dims(size_t most) {
    Dims dims;
    for (size_t n = below(most + 1); n > 0; --n) dims.push_back(number());
    return dims;
  }
  Attribute attribute() {
    switch (below(5)) {
      case 0:
        return dims(4);
      case 1:
        return number();
      case 2:
        return std::string(std::array{"NCHW", "NHWC", "SAME", "VALID", "EXPLICIT", "DT_RESOURCE", ""}[below(7)]);
      case 3:
        return below(2) == 0;
      default:
        return std::array{ir::Type::f32, ir::Type::s32, ir::Type::opaque, ir::Type::f16, ir::Type::pred}[below(5)];
    }
  }

 private:
  std::mt19937 engine_;
};

/// Shapes are small and whole most of the time, so that rules get beyond their first look.
ir::Shape shape(Random& random) {
  Dims dims;
  for (size_t n = random.below(6); n > 0; --n)
    dims.push_back(random.below(20) == 0 ? random.number() : static_cast<int64_t>(1 + random.below(6)));
  return ir::array_shape(random.below(4) == 0 ? ir::Type::s32 : ir::Type::f32, dims);
}

Graph any_graph(uint32_t seed) {
  static const std::vector<std::string_view> types = all_types();
  Random random(seed);
  SmallGraph s;
  for (size_t k = 0; k < 4; ++k) {
    s.feed("x" + std::to_string(k), {});
    s.graph.nodes.back().shapes = {shape(random)};
    s.integers(random.dims(5), false);
  }
  s.variable("w", {2, 3});
  s.variable("v", random.dims(3));  // most are no sizes
  s.feed("handle", random.dims(2));
  s.graph.nodes.back().attributes.set("dtype", ir::Type::opaque);
  static constexpr std::string_view kAttributes[] = {"strides",           "dilations",     "ksize",         "data_format", "padding",
                                                     "explicit_paddings", "axis",          "num_split",     "T",           "dtype",
                                                     "transpose_a",       "keep_dims",     "batch_dims",    "block_size",  "DstT",
                                                     "shrink_axis_mask",  "ellipsis_mask", "new_axis_mask", "is_training", "squeeze_dims",
                                                     "depth_radius"};
  for (size_t k = 0; k < 8; ++k) {
    std::vector<Output> inputs;
    for (size_t n = random.below(6); n > 0; --n)
      inputs.emplace_back(static_cast<int>(random.below(s.graph.nodes.size())), static_cast<int>(random.below(8) == 0));
    Attributes attributes;
    for (size_t n = random.below(6); n > 0; --n)
      attributes.set(std::string(kAttributes[random.below(std::size(kAttributes))]), random.attribute());
    s.op(std::string(types[random.below(types.size())]), inputs, attributes);
    if (random.below(3) == 0) s.graph.nodes.back().shapes = {shape(random)};
  }
  return s.graph;
}

TEST(AnyGraph, GivesAModuleThatKeepsAllRulesOrAnError) {
  int modules = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    const auto lowered = lower(any_graph(seed));
    if (!lowered.ok()) {
      EXPECT_FALSE(lowered.error().message.empty()) << seed;
      continue;
    }
    ++modules;
    for (const ir::Finding& broken : ir::verify(lowered->module))
      ADD_FAILURE() << seed << ": " << broken.what << "\n" << ir::print(lowered->module);
  }
  EXPECT_GT(modules, 150);
}

TEST(AnyGraph, LoopsAndEdgesToNowhereAreErrors) {
  SmallGraph loop;
  loop.op("Neg", {1});
  loop.op("Neg", {0});
  EXPECT_FALSE(lower(loop.graph).ok());
  SmallGraph nowhere;
  nowhere.op("Neg", {17});
  EXPECT_FALSE(lower(nowhere.graph).ok());
}

TEST(AnyGraph, ALongChainIsLoweredInLinearTime) {
  SmallGraph s;
  int x = s.feed("x", {2});
  for (int k = 0; k < 20000; ++k) x = s.op("Neg", {x});
  std::ranges::reverse(s.graph.nodes);
  for (Node& node : s.graph.nodes) {
    for (Edge& edge : node.inputs) edge.node = static_cast<int32_t>(s.graph.nodes.size()) - 1 - edge.node;
  }
  const auto lowered = lower(s.graph);
  ASSERT_TRUE(lowered.ok()) << lowered.error().message;
  EXPECT_GT(lowered->module.comp(lowered->module.entry).instrs.size(), 20000U);
}

}  // namespace
}  // namespace importers::tensorflow
