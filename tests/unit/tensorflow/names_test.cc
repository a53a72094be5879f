// What names tell: the rules one by one, the totals of the ResNet50 sample, and types against a GraphDef of the same nodes.
#include "importers/tensorflow/names.h"

#include <fmt/format.h>

#include <map>
#include <sstream>

#include "importers/tensorflow/node_list.h"
#include "tests/unit/tensorflow/fixture.h"

namespace {

using importers::tensorflow::NameContext;
using importers::tensorflow::node_name;
using importers::tensorflow::operator_of_name;
using importers::tensorflow::phase_of;
using importers::tensorflow::scope_of;
using importers::tensorflow::type_of_name;
using model::Launches;
using model::Phase;
using namespace tensorflow_test;

TEST(Names, EachRuleTellsItsType) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"resnet50/conv1_conv/Conv2D", "Conv2D"},
      {"model/conv2d/Conv2D_3", "Conv2D"},
      {"a/FusedBatchNormV3", "FusedBatchNormV3"},
      {"resnet50/conv1_bn/AssignNewValue_1", "AssignVariableOp"},
      {"x/add", "AddV2"},
      {"x/truediv_2", "RealDiv"},
      {"X-1-DataFormatVecPermuteNHWCToNCHW-LayoutOptimizer", "DataFormatVecPermute"},
      {"a/Relu-0-0-TransposeNCHWToNHWC-LayoutOptimizer", "Transpose"},
      {"a/Conv2D-0-PermConstNHWCToNCHW-LayoutOptimizer", "Const"},
      {"a/Conv2D-0-PermConstNHWCToNCHW-LayoutOptimizer/clone_1", "Const"},
      {"a/Mean-1-DataFormatDimMapNHWCToNCHW-LayoutOptimizer", "DataFormatDimMap"},
      {"ConstantFolding/a/Conv2D/ShapeN-matshapes-0", "Const"},
      {"ArithmeticOptimizer/ReorderCastLikeAndValuePreserving_float_Reshape", "Reshape"},
      {"ArithmeticOptimizer/ReorderCastLikeAndValuePreserving_int64_Cast_1", "Cast"},
      {"ArithmeticOptimizer/AddOpsRewrite_add_3", "AddN"},
      {"Func/DistributedGradientTape_Allreduce/cond_7/else/_57/input/_1773", "Identity"},
      {"DistributedGradientTape_Allreduce/cond_7/output/_62", "Identity"},
      {"a/Mean/reduction_indices", "Const"},
      {"a/strided_slice_2/stack_1", "Const"},
      {"a/stack", "Pack"},
      {"x", ""},
      {"conv1/kernel/Initializer/random_uniform/min", "Const"},
      {"conv1/kernel/Initializer/random_uniform", "Add"},
      {"gradients/fc/MatMul_grad/tuple/control_dependency_1", "Identity"},
      {"gradients/fc/MatMul_grad/tuple/group_deps", "NoOp"},
      {"HorovodAllreduce_gradients_a_b_0", "HorovodAllreduce"},
      {"sparse_softmax_cross_entropy_loss/xentropy/xentropy", "SparseSoftmaxCrossEntropyWithLogits"},
      {"softmax_cross_entropy_loss/xentropy", "SoftmaxCrossEntropyWithLogits"},
      {"bert/LayerNorm/moments/mean", "Mean"},
      {"GradientDescent/learning_rate", "Const"},
      {"final_shape/gradients/x_grad/BroadcastGradientArgs_0", ""},
      {"my_own_layer", ""},
      {"conv2d", ""},
      {"", ""},
  };
  for (const auto& [name, type] : kCases) EXPECT_EQ(type_of_name(name), type) << name;
}

TEST(Names, OtherNamesOfTheGraphDecideWhereOneAloneCannot) {
  NameContext context;
  context.add("ConstantFolding/g/truediv_recip");
  context.add("w/read");
  EXPECT_EQ(type_of_name("g/truediv", context), "Mul");
  EXPECT_EQ(type_of_name("w", context), "VariableV2");
  EXPECT_EQ(type_of_name("w/Assign", context), "Assign");
  EXPECT_EQ(type_of_name("w/Assign"), "AssignVariableOp");
  EXPECT_EQ(phase_of("AssignVariableOp_3", "AssignVariableOp", context), Phase::forward);
  context.add("HorovodBroadcast.w_0/ReadVariableOp");
  EXPECT_EQ(phase_of("AssignVariableOp_3", "AssignVariableOp", context), Phase::communication);
}

TEST(Names, PhasesAreThoseOfTheNameBehindItsCalls) {
  EXPECT_EQ(phase_of("StatefulPartitionedCall/adam/mul_3", "Mul"), Phase::optimizer);
  EXPECT_EQ(phase_of("StatefulPartitionedCall_1/StatefulPartitionedCall/Adam/mul_3", "Mul"), Phase::optimizer);
  EXPECT_EQ(phase_of("StatefulPartitionedCall/gradient_tape/net/dense/MatMul/MatMul", "MatMul"), Phase::backward);
  EXPECT_EQ(phase_of("PartitionedCall/gradients/Relu_grad/ReluGrad", "ReluGrad"), Phase::backward);
  EXPECT_EQ(phase_of("StatefulPartitionedCall/net/adam/MatMul", "MatMul"), Phase::forward);
}

TEST(Names, WhatIsWrittenAroundANameIsDropped) {
  EXPECT_EQ(node_name("^a/b"), "a/b");
  EXPECT_EQ(node_name("a/b:1"), "a/b");
  EXPECT_EQ(node_name("{{node a/b}}"), "a/b");
  EXPECT_EQ(node_name("\"a/b\""), "a/b");
  EXPECT_EQ(node_name(":1"), ":1");
}

TEST(Names, ScopesAreThoseOfTheModelInBothDirections) {
  EXPECT_EQ(scope_of("resnet50/conv1_conv/Conv2D"), "resnet50/conv1_conv");
  EXPECT_EQ(scope_of("resnet50/conv1_conv/Conv2D/ReadVariableOp"), "resnet50/conv1_conv");
  EXPECT_EQ(scope_of("gradient_tape/resnet50/conv1_conv/Conv2D/Conv2DBackpropFilter"), "resnet50/conv1_conv");
  EXPECT_EQ(scope_of("gradients/vgg19/block1_conv1/Conv2D_grad/Conv2DBackpropFilter"), "vgg19/block1_conv1");
  EXPECT_EQ(scope_of("ConstantFolding/gradient_tape/resnet50/avg_pool/truediv_recip"), "resnet50/avg_pool");
  EXPECT_EQ(scope_of("AddN_3"), "");
  EXPECT_EQ(scope_of("StatefulPartitionedCall_1/StatefulPartitionedCall/net/dense/MatMul"),
            "StatefulPartitionedCall_1/StatefulPartitionedCall/net/dense");
  EXPECT_EQ(scope_of("StatefulPartitionedCall/gradient_tape/net/dense/MatMul/MatMul_1"), "StatefulPartitionedCall/net/dense");
  EXPECT_EQ(scope_of("net/dense/StatefulPartitionedCall/MatMul"), "net/dense");
  EXPECT_EQ(scope_of("StatefulPartitionedCall/MatMul"), "StatefulPartitionedCall");
  EXPECT_EQ(scope_of("StatefulPartitionedCall"), "");
}

TEST(Names, EndlessClonesAreReadInOneLoop) {
  std::string name = "a/Relu";
  for (int i = 0; i < 200'000; ++i) name += "/clone_0";
  EXPECT_EQ(type_of_name(name), "Relu");
}

TEST(Names, TheSampleHasTheClassesOfTheFacts) {
  const std::string text = bytes_of(kResNet);
  const auto list = importers::tensorflow::read_node_list(text);
  NameContext context;
  for (const auto& listed : list.names) context.add(listed.name);
  std::map<Phase, int> phases;
  std::map<Launches, int> launches;
  std::map<std::string, int> types;
  for (const auto& listed : list.names) {
    const model::Operator op = operator_of_name(listed.name, context);
    ++phases[op.phase];
    ++launches[op.launches];
    ++types[op.type];
  }
  // Two constants keep the names of the nodes that were folded into them, pool1_pad/{Reshape,Shape}: a name alone cannot tell.
  EXPECT_EQ(phases, (std::map<Phase, int>{{Phase::communication, 1071},
                                          {Phase::forward, 662},
                                          {Phase::backward, 288 + 1},
                                          {Phase::auxiliary, 228 - 1},
                                          {Phase::optimizer, 218}}));
  EXPECT_EQ(launches, (std::map<Launches, int>{{Launches::device, 735}, {Launches::host, 109 + 1}, {Launches::nothing, 1623 - 1}}));
  EXPECT_EQ(types["Const"], 121 - 2);
  EXPECT_EQ(types.count(""), 0u);
}

/// Node names and op types of a GraphDef's text, by its two-blank indent.
std::map<std::string, std::string> graph_types(const std::string& text) {
  std::map<std::string, std::string> types;
  std::istringstream lines(text);
  for (std::string line, name; std::getline(lines, line);) {
    if (line.starts_with("  name: \"")) name = line.substr(9, line.size() - 10);
    if (line.starts_with("  op: \"")) types[name] = line.substr(7, line.size() - 8);
  }
  return types;
}

TEST(Names, TypesOfARealGraphAreRightOrUnknown) {
  if (!has_corpus()) GTEST_SKIP() << "needs the corpus";
  const auto types = graph_types(bytes_of(corpus("own/mlp.graphdef.pbtxt")));
  ASSERT_EQ(types.size(), 60u);
  int known = 0;
  for (const auto& [name, type] : types) {
    const std::string_view told = type_of_name(name);
    if (name == "head/SparseSoftmaxCrossEntropyWithLogits/Shape") continue;  // folded into a Const under its old name
    if (told.empty()) continue;
    ++known;
    EXPECT_EQ(told, type) << name;
  }
  EXPECT_EQ(known, 48);
}

}  // namespace
