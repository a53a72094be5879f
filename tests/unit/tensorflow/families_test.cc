// Steps that names tell: totals, flops and parameters of the facts for each ResNet, lists of both versions of TensorFlow, parts of lists.
#include "importers/tensorflow/families.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "src/ir/cost.h"
#include "tests/unit/tensorflow/fixture.h"

namespace {

using importers::tensorflow::is_trainable;
using importers::tensorflow::Layer;
using importers::tensorflow::LayerKind;
using importers::tensorflow::Model;
using importers::tensorflow::resnet;
using importers::tensorflow::resnet_v2;
using importers::tensorflow::Variant;
using importers::tensorflow::vgg;
using model::Launches;
using model::Phase;
using namespace tensorflow_test;

std::string op_type(const ir::Module& module, const ir::Instr& instr) {
  const ir::Origin* origin = module.origin(instr);
  return origin == nullptr ? "" : std::string(module.text(origin->op_type));
}

/// Two for each product of a pixel of a convolution's result with a weight, padding counted as work, as the facts count: elements of the
/// kernel, times pixels of the result. Of a product: what ir::cost says. By the operator's type.
std::map<std::string, double> flops(const ir::Module& module) {
  std::map<std::string, double> sums;
  const auto& instrs = module.comp(module.entry).instrs;
  for (size_t i = 0; i < instrs.size(); ++i) {
    const ir::Instr& instr = instrs[i];
    const std::string type = op_type(module, instr);
    const auto operand = [&](size_t k) { return module.shape(instrs[static_cast<size_t>(instr.operands[k])]); };
    if (instr.op != ir::Op::convolution) {
      sums[type] += ir::cost(module, {module.entry, static_cast<ir::InstrId>(i)}, ir::CostMethod::nominal).flops;
      continue;
    }
    const ir::Shape kernel = type == "Conv2DBackpropFilter" ? module.shape(instr) : operand(1);
    const ir::Shape result = type == "Conv2D" ? module.shape(instr) : operand(type == "Conv2DBackpropFilter" ? 1 : 0);
    sums[type] += 2. * static_cast<double>(ir::elements(kernel)) * static_cast<double>(ir::elements(result) / kernel.dims[3]);
  }
  return sums;
}

/// Elements of the parameters that are variables of layers.
int64_t parameters(const ir::Module& module) {
  int64_t sum = 0;
  for (const ir::Instr& instr : module.computations[static_cast<size_t>(module.entry)].instrs) {
    const bool feed =
        module.text(instr.name) == "images" || module.text(instr.name) == "labels" || module.text(instr.name).starts_with("SGD");
    if (instr.op == ir::Op::parameter && !feed) sum += ir::elements(module.shape(instr));
  }
  return sum;
}

TEST(Families, TheSampleHasTheTotalsOfTheFacts) {
  const auto imported = read_list(bytes_of(kResNet));
  EXPECT_EQ(imported.source.read, 2467);
  EXPECT_EQ(imported.source.kept, 2467);
  EXPECT_EQ(imported.source.options, "batch=32 image=224");
  ASSERT_EQ(imported.module_operators.size(), 1u);
  std::map<std::string, int> types;
  std::map<Phase, int> phases;
  std::map<Launches, int> launches;
  for (const model::Operator& op : imported.module_operators[0]) {
    ++types[op.type];
    ++phases[op.phase];
    ++launches[op.launches];
    EXPECT_EQ(op.shape.empty(),
              op.type == "AssignVariableOp" || op.type == "AssignAddVariableOp" || op.type == "ResourceApplyGradientDescent")
        << op.name;
  }
  EXPECT_EQ(types, (std::map<std::string, int>{{"ReadVariableOp", 643},
                                               {"Identity", 428},
                                               {"AssignVariableOp", 427},
                                               {"ResourceApplyGradientDescent", 214},
                                               {"Const", 121},
                                               {"DataFormatVecPermute", 55},
                                               {"BiasAdd", 54},
                                               {"BiasAddGrad", 54},
                                               {"Conv2D", 53},
                                               {"Conv2DBackpropFilter", 53},
                                               {"FusedBatchNormV3", 53},
                                               {"FusedBatchNormGradV3", 53},
                                               {"ShapeN", 53},
                                               {"Conv2DBackpropInput", 52},
                                               {"Relu", 49},
                                               {"ReluGrad", 49},
                                               {"AddN", 16},
                                               {"AddV2", 16},
                                               {"Reshape", 4},
                                               {"MatMul", 3},
                                               {"Transpose", 3},
                                               {"Cast", 2},
                                               {"Mul", 2},
                                               {"Pad", 2},
                                               {"MaxPool", 1},
                                               {"MaxPoolGrad", 1},
                                               {"Mean", 1},
                                               {"Tile", 1},
                                               {"Slice", 1},
                                               {"DataFormatDimMap", 1},
                                               {"SparseSoftmaxCrossEntropyWithLogits", 1},
                                               {"AssignAddVariableOp", 1}}));
  EXPECT_EQ(
      phases,
      (std::map<Phase, int>{
          {Phase::communication, 1071}, {Phase::forward, 662}, {Phase::backward, 288}, {Phase::auxiliary, 228}, {Phase::optimizer, 218}}));
  EXPECT_EQ(launches, (std::map<Launches, int>{{Launches::device, 735}, {Launches::host, 109}, {Launches::nothing, 1623}}));
  EXPECT_EQ(note(imported, "outside-the-model"), nullptr);
  EXPECT_EQ(note(imported, "implied-nodes"), nullptr);
  EXPECT_EQ(note(imported, "not-lowered"), nullptr);
}

TEST(Families, TheSampleHasTheFlopsAndParametersOfTheFacts) {
  const auto imported = read_list(bytes_of(kResNet));
  ASSERT_EQ(imported.modules.size(), 1u);
  auto by_type = flops(imported.modules[0]);
  EXPECT_EQ(by_type["Conv2D"], 246'779'215'872.);
  EXPECT_EQ(by_type["Conv2DBackpropInput"], 239'226'322'944.);
  EXPECT_EQ(by_type["Conv2DBackpropFilter"], 246'779'215'872.);
  EXPECT_EQ(by_type["MatMul"], 393'216'000.);
  EXPECT_EQ(parameters(imported.modules[0]), 25'636'712);
}

TEST(Families, EveryDeviceNodeOfTheSampleIsOneInstruction) {
  const auto imported = read_list(bytes_of(kResNet), sized(2, 64));
  ASSERT_EQ(imported.modules.size(), 1u);
  const ir::Module& module = imported.modules[0];
  std::map<std::string, int> instructions;
  for (const ir::Instr& instr : module.computations[static_cast<size_t>(module.entry)].instrs) {
    const ir::Origin* origin = module.origin(instr);
    const bool computes =
        instr.op == ir::Op::fusion || instr.op == ir::Op::convolution || instr.op == ir::Op::dot || instr.op == ir::Op::transpose;
    if (origin != nullptr && computes) ++instructions[std::string(module.text(origin->op_name))];
    EXPECT_NE(instr.op, ir::Op::custom_call);
  }
  int64_t device = 0;
  for (const model::Operator& op : imported.module_operators[0]) {
    if (op.launches != Launches::device) continue;
    ++device;
    EXPECT_LE(instructions[op.name], 1) << op.name;
    if (op.type != "Cast") {
      EXPECT_EQ(instructions[op.name], 1) << op.name;
    }
  }
  EXPECT_EQ(device, 735);
}

/// Names of a forward pass as Keras gives them.
std::string forward_list(const Model& model, const std::string& root) {
  static const std::map<LayerKind, std::vector<std::string>> kNodes = {
      {LayerKind::pad, {"Pad"}},
      {LayerKind::convolution, {"Conv2D/ReadVariableOp", "Conv2D"}},
      {LayerKind::norm,
       {"ReadVariableOp", "ReadVariableOp_1", "FusedBatchNormV3/ReadVariableOp", "FusedBatchNormV3/ReadVariableOp_1", "FusedBatchNormV3"}},
      {LayerKind::relu, {"Relu"}},
      {LayerKind::max_pool, {"MaxPool"}},
      {LayerKind::add, {"add"}},
      {LayerKind::mean, {"Mean"}},
      {LayerKind::flatten, {"Reshape"}},
      {LayerKind::dense, {"MatMul/ReadVariableOp", "MatMul"}},
      {LayerKind::image, {}}};
  std::string text;
  for (const Layer& layer : model.layers) {
    for (const std::string& node : kNodes.at(layer.kind)) text += fmt::format("{}/{}/{}\n", root, layer.name, node);
    if (layer.bias) text += fmt::format("{0}/{1}/BiasAdd/ReadVariableOp\n{0}/{1}/BiasAdd\n", root, layer.name);
    if (!layer.activation.empty()) text += fmt::format("{}/{}/{}\n", root, layer.name, layer.activation);
  }
  return text;
}

TEST(Families, ParametersAndFlopsOfEveryModelAreThePublishedOnes) {
  struct Case {
    Model model;
    int64_t macs, parameters;  ///< of an image's convolutions; published by Keras
    size_t convolutions, norms;
  };
  const auto variant = [](std::vector<int64_t> stages, std::string last = "predictions") {
    return Variant{std::move(stages), std::move(last), {}};
  };
  const Case kCases[] = {{resnet(variant({3, 4, 6, 3}, "probs")), 3'855'925'248, 25'636'712, 53, 53},
                         {resnet(variant({3, 4, 23, 3})), 7'568'146'432, 44'707'176, 104, 104},
                         {resnet(variant({3, 8, 36, 3})), 11'280'367'616, 60'419'944, 155, 155},
                         {resnet_v2(variant({3, 4, 6, 3})), 3'480'207'360, 25'613'800, 53, 49},
                         {resnet_v2(variant({3, 4, 23, 3}, "probs")), 7'192'428'544, 44'675'560, 104, 100},
                         {resnet_v2(variant({3, 8, 36, 3})), 10'904'649'728, 60'380'648, 155, 151},
                         {vgg(variant({2, 2, 3, 3, 3})), 15'346'630'656, 138'357'544, 13, 0},
                         {vgg(variant({2, 2, 4, 4, 4})), 19'508'428'800, 143'667'240, 16, 0}};
  for (const Case& expected : kCases) {
    const auto imported = read_list(forward_list(expected.model, "net"), sized(1, 224));
    ASSERT_EQ(imported.modules.size(), 1u) << expected.model.name;
    EXPECT_NE(note(imported, "inferred-model")->text.find(" " + expected.model.name + ":"), std::string::npos);
    EXPECT_EQ(parameters(imported.modules[0]), expected.parameters) << expected.model.name;
    EXPECT_EQ(flops(imported.modules[0])["Conv2D"], 2. * static_cast<double>(expected.macs)) << expected.model.name;
    const auto count = [&](LayerKind kind) { return static_cast<size_t>(std::ranges::count(expected.model.layers, kind, &Layer::kind)); };
    EXPECT_EQ(count(LayerKind::convolution), expected.convolutions);
    EXPECT_EQ(count(LayerKind::norm), expected.norms);
    EXPECT_EQ(note(imported, "implied-nodes"), nullptr) << expected.model.name;
    EXPECT_EQ(note(imported, "outside-the-model"), nullptr) << expected.model.name;
  }
}

TEST(Families, ListsOfTensorFlow1AreStepsToo) {
  if (!has_corpus()) GTEST_SKIP() << "needs the corpus";
  const importers::Options small = sized(2, 64);
  const auto vgg = read_list(bytes_of(corpus("dpro__TF1.15_xla_candidates_vgg19.txt")), small);
  ASSERT_EQ(vgg.modules.size(), 1u);
  EXPECT_EQ(note(vgg, "implied-nodes"), nullptr);
  auto by_type = flops(vgg.modules[0]);
  EXPECT_EQ(by_type["Conv2D"], by_type["Conv2DBackpropFilter"]);
  EXPECT_GT(by_type["Conv2DBackpropInput"], 0.9 * by_type["Conv2D"]);
  EXPECT_EQ(std::ranges::count(vgg.module_operators[0], "ResourceApplyGradientDescent", &model::Operator::type), 38);

  const auto resnet = read_list(bytes_of(corpus("dpro__TF1.15_xla_candidates_resnet.txt")), small);
  ASSERT_EQ(resnet.modules.size(), 1u);
  EXPECT_EQ(note(resnet, "implied-nodes"), nullptr);
  EXPECT_EQ(note(resnet, "inferred-model")->text.find(" ResNet50:") == std::string::npos, false);
}

/// Names of gradients and updates as TensorFlow 2 gives them.
std::string training_list(const Model& model, const std::string& root, int sums) {
  static const std::map<LayerKind, std::vector<std::string>> kNodes = {
      {LayerKind::pad, {"Slice_1"}},
      {LayerKind::convolution, {"Conv2D/ShapeN", "Conv2D/Conv2DBackpropFilter", "Conv2D/Conv2DBackpropInput"}},
      {LayerKind::norm, {"FusedBatchNormGradV3"}},
      {LayerKind::relu, {"ReluGrad"}},
      {LayerKind::max_pool, {"MaxPool/MaxPoolGrad"}},
      {LayerKind::add, {}},
      {LayerKind::mean, {"Reshape", "Tile", "truediv"}},
      {LayerKind::flatten, {"Reshape"}},
      {LayerKind::dense, {"MatMul/MatMul", "MatMul/MatMul_1"}},
      {LayerKind::image, {}}};
  std::string text =
      "SparseSoftmaxCrossEntropyWithLogits/SparseSoftmaxCrossEntropyWithLogits\ngradient_tape/SparseSoftmaxCrossEntropyWithLogits/mul\n";
  size_t trained = 0;
  for (const Layer& layer : model.layers) {
    for (const std::string& node : kNodes.at(layer.kind)) {
      if (layer.name == "conv1_pad" || (layer.name == "conv1_conv" && node.ends_with("Input"))) continue;  // nothing before them is trained
      text += fmt::format("gradient_tape/{}/{}/{}\n", root, layer.name, node);
    }
    if (layer.bias) text += fmt::format("gradient_tape/{}/{}/BiasAdd/BiasAddGrad\n", root, layer.name);
    for (const std::string_view variable : variables_of(layer)) trained += is_trainable(variable) ? 1 : 0;
  }
  for (int k = 0; k < sums; ++k) text += k == 0 ? "AddN\n" : fmt::format("AddN_{}\n", k);
  for (size_t k = 0; k < trained; ++k)
    text += fmt::format("SGD/SGD/update{}/ResourceApplyGradientDescent\n", k == 0 ? "" : fmt::format("_{}", k));
  return text;
}

TEST(Families, TrainingOfEveryResNetIsWiredWithoutTheLayoutOptimizerToo) {
  for (const Model& model : {resnet({{3, 4, 23, 3}, "probs", {}}), resnet_v2({{3, 4, 6, 3}, "predictions", {}})}) {
    const int blocks = model.name == "ResNet101" ? 33 : 16;
    const auto imported = read_list(forward_list(model, "net") + training_list(model, "net", blocks), sized(2, 64));
    ASSERT_EQ(imported.modules.size(), 1u);
    for (const char* code : {"implied-nodes", "outside-the-model", "not-lowered", "unknown-type"})
      EXPECT_EQ(note(imported, code), nullptr) << model.name << ": " << note(imported, code)->text;
    auto by_type = flops(imported.modules[0]);
    EXPECT_EQ(by_type["Conv2D"], by_type["Conv2DBackpropFilter"]);
    EXPECT_LT(by_type["Conv2DBackpropInput"], by_type["Conv2D"]);
    EXPECT_GT(by_type["Conv2DBackpropInput"], 0.9 * by_type["Conv2D"]);
  }
}

TEST(Families, TheOlderSpellingOfResNet50IsTheSameModel) {
  std::string list = "net/conv1_pad/Pad\nnet/conv1/Conv2D\nnet/bn_conv1/FusedBatchNormV3\nnet/activation_4/Relu\nnet/pool1_pad/Pad\n";
  list += "net/max_pooling2d_2/MaxPool\n";
  const int kBlocks[] = {3, 4, 6, 3};
  int activation = 5, sum = 1;
  for (int stage = 2; stage <= 5; ++stage) {
    for (int block = 0; block < kBlocks[stage - 2]; ++block) {
      for (const char* branch : {"1", "2a", "2b", "2c"}) {
        if (branch[0] == '1' && block > 0) continue;
        const std::string name = fmt::format("{}{}_branch{}", stage, static_cast<char>('a' + block), branch);
        list += fmt::format("net/res{0}/Conv2D\nnet/res{0}/BiasAdd\nnet/bn{0}/FusedBatchNormV3\n", name);
      }
      list += fmt::format("net/add_{}/add\n", sum++);
      for (int k = 0; k < 3; ++k) list += fmt::format("net/activation_{}/Relu\n", activation++);
    }
  }
  list += "net/avg_pool/Mean\nnet/fc1000/MatMul\nnet/fc1000/BiasAdd\nnet/conv1/BiasAdd\n";
  const auto imported = read_list(list, sized(1, 224));
  ASSERT_EQ(imported.modules.size(), 1u);
  EXPECT_EQ(parameters(imported.modules[0]), 25'636'712);
  EXPECT_EQ(flops(imported.modules[0])["Conv2D"], 2. * 3'855'925'248);
  for (const char* code : {"implied-nodes", "outside-the-model", "not-lowered", "unknown-type"})
    EXPECT_EQ(note(imported, code), nullptr) << code;
}

TEST(Families, ANumberThatNoNeighbourHasIsASlip) {
  const std::string list = forward_list(resnet({{3, 4, 6, 3}, "predictions", {}}), "net");
  for (const char* slip :
       {"net/conv4_block44_2_conv/Conv2D\n", "net/conv4_block900_2_conv/Conv2D\n", "net/conv5_block4294967296_out/Relu\n"}) {
    const auto imported = read_list(list + slip, sized(1, 64));
    ASSERT_NE(note(imported, "inferred-model"), nullptr);
    EXPECT_NE(note(imported, "inferred-model")->text.find("of ResNet50:"), std::string::npos) << slip;
    EXPECT_EQ(note(imported, "implied-nodes"), nullptr) << slip;
    EXPECT_NE(note(imported, "outside-the-model"), nullptr) << slip;
  }
}

TEST(Families, RandomEditsGiveAStepOrAnError) {
  const std::string whole = bytes_of(kResNet);
  uint64_t state = 1;
  const auto random = [&](size_t below) { return state = state * 6364136223846793005u + 1442695040888963407u, (state >> 33) % below; };
  for (int round = 0; round < 20; ++round) {
    std::string text = whole;
    for (int edit = 0; edit < 30; ++edit) text[random(text.size())] = static_cast<char>(random(256));
    importers::Input input{"list.txt", text};
    input.options = sized(1, 64);
    const auto imported = importers::keep_modules(input, importers::tensorflow::read_nodes);
    if (!imported.ok()) continue;
    EXPECT_EQ(imported->source.read, imported->source.kept + imported->source.dropped);
  }
}

TEST(Families, PartsOfAListGivePartsOfAStep) {
  const std::string text = bytes_of(kResNet);
  for (const size_t part : {60u, 300u, 430u, 600u, 800u, 990u}) {
    const auto imported = read_list(std::string_view(text).substr(0, text.size() * part / 1000), sized(2, 64));
    EXPECT_EQ(note(imported, "implied-nodes"), nullptr) << part;
    EXPECT_EQ(note(imported, "not-lowered"), nullptr) << part;
  }
}

TEST(Families, ImagesThatAreTooSmallAreRefusedWithTheLayer) {
  importers::Input input{"list.txt",
                         "a/conv1_conv/Conv2D\na/conv2_block1_1_conv/Conv2D\na/conv3_block1_1_conv/Conv2D\na/conv4_block1_1_conv/Conv2D\n"
                         "a/conv5_block1_1_conv/Conv2D\n"};
  input.options.image = 1;
  const auto refused = importers::keep_modules(input, importers::tensorflow::read_nodes);
  EXPECT_TRUE(refused.ok());  // one pixel is padded to seven, which one window of the first convolution covers
  input.bytes = "v/block1_conv1/Conv2D\nv/block2_conv1/Conv2D\nv/block3_conv1/Conv2D\nv/block4_conv1/Conv2D\nv/block5_conv1/Conv2D\n";
  const auto vgg = importers::keep_modules(input, importers::tensorflow::read_nodes);
  ASSERT_FALSE(vgg.ok());
  EXPECT_NE(vgg.error().message.find("'block1_pool'"), std::string::npos) << vgg.error().message;
}

}  // namespace
