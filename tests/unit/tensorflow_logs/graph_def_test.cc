// GraphDef text: nodes, edges, attributes, constants, and what is completed.
#include "importers/tensorflow/graph_def.h"

#include <fmt/format.h>

#include "importers/tensorflow/attribute_text.h"
#include "src/ir/literal.h"
#include "tests/unit/tensorflow_logs/fixture.h"

using importers::tensorflow::Array;
using importers::tensorflow::attribute;
using importers::tensorflow::Graph;
using importers::tensorflow::Node;

namespace {

Graph graph(std::string_view text, const importers::Options& options = {}) {
  auto read = importers::tensorflow::read_graph_text({"dir/test.pbtxt", text, options});
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().message);
  return read.ok() ? read->graph : Graph();
}

std::string constant(std::string_view tensor) {
  return fmt::format(R"(node {{ name: "c" op: "Const" attr {{ key: "value" value {{ tensor {{ {} }} }} }} }})", tensor);
}

/// The printed constant of that tensor, or "none".
std::string value(std::string_view tensor) {
  const Graph read = graph(constant(tensor));
  const auto* array = importers::tensorflow::find_attribute<Array>(read.nodes.at(0), "value");
  if (array == nullptr) return "none";
  return fmt::format("{} {}", ir::print(array->shape, ir::LayoutPrint::without),
                     array->literal.elided ? "elided" : ir::print(array->literal, array->shape));
}

constexpr std::string_view kSmall = R"(
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shape" value { shape { dim { size: -1 } dim { size: 3 } } } } }
node { name: "w" op: "VarHandleOp" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shape" value { shape { dim { size: 3 } dim { size: 2 } } } } }
node { name: "w/Read" op: "ReadVariableOp" input: "w" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "init" op: "NoOp" }
node { name: "y" op: "MatMul" input: "x" input: "w/Read:0" input: "^init" attr { key: "T" value { type: DT_FLOAT } }
       attr { key: "transpose_b" value { b: false } } attr { key: "pads" value { list { i: 1 i: 2 } } } }
versions { producer: 27 })";

}  // namespace

/// Long enough to be read in several pieces, if it can be cut.
std::string many_nodes(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("node {{\n  name: \"n{}\"\n  op: \"{}\"\n}}\n", i, i % 1000 == 7 ? "" : "NoOp");
  return text;
}

TEST(GraphDef, PiecesAreTheWhole) {
  const std::string text = many_nodes(40'000);
  const auto pieces = importers::tensorflow::text_pieces(text, true);
  ASSERT_GT(pieces.pieces.size(), 8);
  std::string joined;
  for (const auto& piece : pieces.pieces) joined += piece.bytes;
  EXPECT_EQ(joined, text);
  const auto read = importers::tensorflow::read_graph_text({"dir/test.pbtxt", text});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->read, 40'000);
  EXPECT_EQ(read->dropped, 40);
  ASSERT_EQ(read->graph.nodes.size(), 39'960);
  EXPECT_EQ(read->graph.nodes.back().name, "n39999");
  EXPECT_EQ(read->graph.nodes.back().line, 4 * 39'999 + 1);
  ASSERT_EQ(read->notes.size(), 21);  // the first 20, and how many more
  EXPECT_EQ(read->notes[19].line, 4 * 19'007 + 1);
  EXPECT_EQ(read->notes[20].text, "20 more notes like those before are left out");
}

TEST(GraphDef, NodesInsideAnotherMessageAreNoPieces) {
  const std::string nodes = many_nodes(40'000);
  const auto read = importers::tensorflow::read_graph_text({"a", "meta_graphs {\ngraph_def {\n" + nodes + "}\n}\n"});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->read, 40'000);
  EXPECT_EQ(read->graph.nodes.back().line, 4 * 39'999 + 3);
  const auto skipped = importers::tensorflow::read_graph_text({"a", "other {\n" + nodes + "}\nnode { name: \"x\" op: \"NoOp\" }\n"});
  ASSERT_TRUE(skipped.ok());
  EXPECT_EQ(skipped->read, 1);
  const auto cut = importers::tensorflow::read_graph_text({"a", nodes + "node {\n  name: \"x"});
  ASSERT_FALSE(cut.ok());
  EXPECT_TRUE(cut.error().message.starts_with("a:160002:11: ")) << cut.error().message;
}

TEST(GraphDef, EdgesPortsAndControls) {
  const Graph read = graph(kSmall);
  ASSERT_EQ(read.nodes.size(), 5);
  const Node& y = read.nodes[4];
  EXPECT_EQ(y.type, "MatMul");
  ASSERT_EQ(y.inputs.size(), 2);
  EXPECT_EQ(y.inputs[1].node, 2);
  EXPECT_EQ(y.control, std::vector<int32_t>{3});
  EXPECT_EQ(attribute(y, "transpose_b", true), false);
  EXPECT_EQ(attribute(y, "pads", std::vector<int64_t>()), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(y.written, (std::vector<std::string_view>{"x", "w/Read:0", "^init"}));
  EXPECT_EQ(y.line, 8);
  EXPECT_EQ(read.name, "test");
}

TEST(GraphDef, AnOpenBatchIsChosenAndNoted) {
  importers::Options five;
  five.batch = 5;
  EXPECT_EQ(graph(kSmall, five).nodes[0].shapes[0].dims, (std::vector<int64_t>{5, 3}));
  const model::Imported read = imported(kSmall);
  EXPECT_EQ(read.source.options, "batch=32");
  EXPECT_EQ(note(read, "assumed-batch"), "1 inputs leave their batch open: 32 is taken (--batch)");
  EXPECT_EQ(op(read, "x").shape, "f32[32,3]");
  ASSERT_EQ(read.modules.size(), 1);
}

TEST(GraphDef, ShapesOfOutputsTakeTheirTypesFromTheOp) {
  const Graph read = graph(R"(node { name: "s" op: "SparseSoftmaxCrossEntropyWithLogits" attr { key: "T" value { type: DT_HALF } }
    attr { key: "_output_shapes" value { list { shape { dim { size: 8 } } shape { dim { size: 8 } dim { size: 10 } } } } } }
    node { name: "e" op: "Equal" attr { key: "T" value { type: DT_HALF } }
    attr { key: "_output_shapes" value { list { shape { } } } } }
    node { name: "u" op: "Relu" attr { key: "T" value { type: DT_HALF } }
    attr { key: "_output_shapes" value { list { shape { unknown_rank: true } } } } })");
  EXPECT_EQ(operator_of(read.nodes[0]).shape, "(f16[8], f16[8,10])");
  EXPECT_EQ(operator_of(read.nodes[1]).shape, "pred[]");
  EXPECT_TRUE(read.nodes[2].shapes.empty());
}

TEST(GraphDef, AnEmptyDimensionIsOfSizeZero) { EXPECT_EQ(value("dtype: DT_INT32 tensor_shape { dim { } }"), "s32[0] {}"); }

TEST(GraphDef, ConstantsInAllForms) {
  EXPECT_EQ(value(R"(dtype: DT_INT32 tensor_shape { dim { size: 2 } } tensor_content: "\001\000\000\000\002\000\000\000")"),
            "s32[2] {1, 2}");
  EXPECT_EQ(value("dtype: DT_FLOAT tensor_shape { } float_val: 0.5"), "f32[] 0.5");
  EXPECT_EQ(value("dtype: DT_FLOAT tensor_shape { dim { size: 4 } } float_val: 1 float_val: 2"), "f32[4] {1, 2, 2, 2}");
  EXPECT_EQ(value("dtype: DT_HALF tensor_shape { dim { size: 2 } } half_val: 15360"), "f16[2] {1, 1}");
  EXPECT_EQ(value("dtype: DT_BFLOAT16 tensor_shape { } half_val: 16256"), "bf16[] 1");
  EXPECT_EQ(value("dtype: DT_BOOL tensor_shape { dim { size: 2 } } bool_val: true bool_val: false"), "pred[2] {1, 0}");
  EXPECT_EQ(value("dtype: DT_INT64 tensor_shape { } int64_val: -5"), "s64[] -5");
  EXPECT_EQ(value("dtype: DT_UINT8 tensor_shape { } int_val: 255"), "u8[] 255");
  EXPECT_EQ(value("dtype: DT_DOUBLE tensor_shape { dim { size: 1 } }"), "f64[1] {0}");
  EXPECT_EQ(value("dtype: DT_COMPLEX64 tensor_shape { } scomplex_val: 1 scomplex_val: 2"), "c64[] (1, 2)");
  EXPECT_EQ(value(R"(dtype: DT_STRING tensor_shape { } string_val: "a")"), "none");
  EXPECT_EQ(value(R"(dtype: DT_INT32 tensor_shape { dim { size: 2 } } tensor_content: "\001")"), "none");
}

TEST(GraphDef, AConstantOfOneValueForManyIsAFill) {
  const Graph read = graph(constant("dtype: DT_FLOAT tensor_shape { dim { size: 1000000 } dim { size: 1000000 } } float_val: 3"));
  ASSERT_EQ(read.nodes.size(), 3);
  EXPECT_EQ(read.nodes[0].type, "Fill");
  EXPECT_EQ(operator_of(read.nodes[0]).type, "Const");
  EXPECT_EQ(operator_of(read.nodes[0]).shape, "f32[1000000,1000000]");
}

TEST(GraphDef, PrefixesOfAutoClusteringAreTakenOff) {
  const Graph read = graph(R"(node { name: "cluster_0/a" op: "NoOp" } node { name: "unclustered/b/c" op: "Identity" input: "cluster_0/a"
    input: "^cluster_0/a" attr { key: "T" value { type: DT_FLOAT } } })");
  EXPECT_EQ(read.nodes[0].name, "a");
  EXPECT_EQ(read.nodes[1].name, "b/c");
  EXPECT_EQ(read.nodes[1].written, (std::vector<std::string_view>{"a", "^a"}));
  EXPECT_EQ(graph(R"(node { name: "cluster_0/a" op: "NoOp" } node { name: "b" op: "NoOp" })").nodes[0].name, "cluster_0/a");
}

TEST(GraphDef, WhatIsMissingIsSaidAndKeepsOperators) {
  const model::Imported read = imported(R"(node { name: "a" op: "Relu" input: "gone" } node { name: "a" op: "NoOp" } node { op: "NoOp" })");
  EXPECT_EQ(read.operators.size(), 1);
  EXPECT_EQ(read.source.read, 3);
  EXPECT_EQ(read.source.dropped, 2);
  EXPECT_EQ(note(read, "not-replayable"), "'a' reads 'gone', which is not in the graph");
}

TEST(GraphDef, ACycleIsNotReplayable) {
  const model::Imported read = imported(R"(node { name: "a" op: "Relu" input: "b" } node { name: "b" op: "Relu" input: "a" })");
  EXPECT_EQ(read.operators.size(), 2);
  EXPECT_NE(note(read, "not-replayable").find("needs its own result"), std::string::npos);
}

TEST(GraphDef, HandlesPassThroughIdentitiesInAnyOrder) {
  const std::string reader = R"(node { name: "r" op: "ReadVariableOp" input: "c" attr { key: "dtype" value { type: DT_FLOAT } }
    attr { key: "_output_shapes" value { list { shape { dim { size: 3 } } } } } })";
  const std::string chain = R"(node { name: "c" op: "Identity" input: "b" } node { name: "b" op: "Identity" input: "a" }
    node { name: "a" op: "Identity" input: "%" })";
  const auto chain_of = [&](std::string_view first) { return reader + std::string(chain).replace(chain.find('%'), 1, first); };
  const model::Imported circle = imported(chain_of("c"));
  EXPECT_NE(note(circle, "not-replayable").find("needs its own result"), std::string::npos);
  const model::Imported read = imported(chain_of("v") + R"(node { name: "v" op: "VarHandleOp" attr { key: "dtype" value { type: DT_FLOAT } }
    attr { key: "shape" value { shape { dim { size: 3 } } } } } node { name: "x" op: "Relu" input: "r"
    attr { key: "_output_shapes" value { list { shape { dim { size: 3 } } } } } })");
  EXPECT_EQ(note(read, "not-replayable"), "");
  ASSERT_EQ(read.source.modules, 1);
}

TEST(GraphDef, CutTextIsRefusedWithThePlace) {
  EXPECT_EQ(refusal("node { name: \"a\" op: \"NoOp\"").substr(0, 41), "test:1:28: the text ends inside a message");
}

TEST(GraphDef, AHandleFromOutsideIsAVariableOfTheShapeThatItHolds) {
  const model::Imported read = imported(R"(node { name: "h" op: "_Arg" attr { key: "T" value { type: DT_RESOURCE } }
      attr { key: "_handle_dtypes" value { list { type: DT_FLOAT } } } attr { key: "_handle_shapes" value { list { shape { dim { size: 3 } } } } } }
    node { name: "r" op: "ReadVariableOp" input: "h" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "y" op: "Relu" input: "r" attr { key: "T" value { type: DT_FLOAT } } })");
  ASSERT_EQ(read.modules.size(), 1);
  EXPECT_EQ(op(read, "h").shape, "f32[3]");
}
