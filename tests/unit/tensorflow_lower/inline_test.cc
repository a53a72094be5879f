// Calls of functions: their bodies become part of the graph, and what cannot be followed says why.
#include "importers/tensorflow/inline.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "importers/tensorflow/graph_def.h"
#include "tests/unit/tensorflow_lower/small_graph.h"

namespace importers::tensorflow::inlining {
namespace {

using Names = std::vector<std::string>;

/// The text stays, for the nodes' inputs lie in it.
GraphText read(std::string text) {
  static std::deque<std::string> texts;
  auto result = read_graph_text({"dir/calls.pbtxt", texts.emplace_back(std::move(text)), {}});
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return result.ok() ? *std::move(result) : GraphText();
}

std::string attr(std::string_view key, std::string_view value) { return fmt::format("attr {{ key: \"{}\" value {{ {} }} }} ", key, value); }
std::string floats() { return attr("T", "type: DT_FLOAT") + attr("dtype", "type: DT_FLOAT"); }
std::string of(std::string_view function) { return attr("f", fmt::format("func {{ name: \"{}\" }}", function)); }

/// `inputs` separated by blanks.
std::string node(std::string_view field, std::string_view name, std::string_view op, std::string_view inputs, std::string_view rest = "") {
  std::string text = fmt::format("{} {{ name: \"{}\" op: \"{}\" ", field, name, op);
  while (!inputs.empty()) {
    const size_t end = std::min(inputs.find(' '), inputs.size());
    text += fmt::format("input: \"{}\" ", inputs.substr(0, end));
    inputs.remove_prefix(std::min(end + 1, inputs.size()));
  }
  return fmt::format("{}{}}}\n", text, rest);
}
std::string top(std::string_view name, std::string_view op, std::string_view inputs, std::string_view rest = "") {
  return node("node", name, op, inputs, rest);
}
std::string inner(std::string_view name, std::string_view op, std::string_view inputs, std::string_view rest = "") {
  return node("node_def", name, op, inputs, rest);
}
std::string feed(std::string_view name) {
  return top(name, "Placeholder", "", attr("dtype", "type: DT_FLOAT") + attr("shape", "shape { dim { size: 2 } dim { size: 4 } }"));
}
std::string variable(std::string_view name) {
  return top(name, "VarHandleOp", "", attr("dtype", "type: DT_FLOAT") + attr("shape", "shape { dim { size: 2 } dim { size: 4 } }"));
}
std::string integer(std::string_view name, int value) {
  return inner(
      name, "Const", "",
      attr("dtype", "type: DT_INT32") + attr("value", fmt::format("tensor {{ dtype: DT_INT32 tensor_shape {{ }} int_val: {} }}", value)));
}

struct Results {
  std::vector<std::pair<std::string, std::string>> returns;
  Names control;
};
std::string function(std::string_view name, const Names& inputs, const Results& results, std::string_view nodes) {
  std::string text = fmt::format("function {{ signature {{ name: \"{}\" ", name);
  for (const std::string& input : inputs) text += fmt::format("input_arg {{ name: \"{}\" type: DT_FLOAT }} ", input);
  for (const auto& [output, from] : results.returns) text += fmt::format("output_arg {{ name: \"{}\" type: DT_FLOAT }} ", output);
  text += fmt::format("}}\n{}", nodes);
  for (auto at = results.returns.rbegin(); at != results.returns.rend(); ++at) {
    text += fmt::format("ret {{ key: \"{}\" value: \"{}\" }}\n", at->first, at->second);
  }
  for (const std::string& node : results.control) text += fmt::format("control_ret {{ key: \"{0}\" value: \"{0}\" }}\n", node);
  return text + "}\n";
}
std::string library(std::string_view functions) { return fmt::format("library {{\n{}}}\n", functions); }

Names names(const Graph& graph) {
  Names all;
  for (const Node& node : graph.nodes) all.push_back(node.name);
  return all;
}
const Node& named(const Graph& graph, std::string_view name) {
  const auto found = std::ranges::find(graph.nodes, name, &Node::name);
  EXPECT_NE(found, graph.nodes.end()) << name;
  return found == graph.nodes.end() ? graph.nodes.front() : *found;
}
Names inputs(const Graph& graph, std::string_view name) {
  const Node& node = named(graph, name);
  return {node.written.begin(), node.written.end()};
}
std::string note(const GraphText& from, std::string_view code) {
  const auto found = std::ranges::find(from.notes, code, &model::Note::code);
  return found == from.notes.end() ? "" : found->text;
}

/// pick(x, w) → x·w, where the three largest of x's halves the other way round are, x itself.
const std::string kPick =
    function("pick", {"x", "w"}, {{{"product", "mul:z:0"}, {"places", "top:indices:0"}, {"same", "x"}}, {}},
             inner("mul", "Mul", "x w", floats()) + integer("axis", 1) + integer("k", 3) +
                 inner("split", "Split", "axis:output:0 x", floats() + attr("num_split", "i: 2")) +
                 inner("cat", "ConcatV2", "split:output:1 split:output:0 axis:output:0", floats() + attr("N", "i: 2")) +
                 inner("top", "TopKV2", "cat:output:0 k:output", floats()));
const std::string kTwice =
    function("twice", {"a"}, {{{"sum", "sum:z:0"}, {"places", "call:output:1"}}, {}},
             inner("sum", "AddV2", "call:output:0 call:output:2", floats()) + inner("call", "PartitionedCall", "a a", of("pick")));

}  // namespace

TEST(Inline, NestedCallsGiveWhatTheirBodiesCompute) {
  const GraphText text =
      read(top("y", "Neg", "c", floats()) + feed("x") + top("c", "twice", "x") + top("i", "Identity", "c:1") + library(kTwice + kPick));
  EXPECT_EQ(names(text.graph), (Names{"y", "x", "c/sum", "c/call/mul", "c/call/axis", "c/call/k", "c/call/split", "c/call/cat",
                                      "c/call/top", "c/call", "c", "i"}));
  EXPECT_EQ(inputs(text.graph, "c/call/cat"), (Names{"c/call/split:1", "c/call/split", "c/call/axis"}));
  EXPECT_EQ(inputs(text.graph, "c/call"), (Names{"c/call/mul", "c/call/top:1", "x"}));
  EXPECT_EQ(inputs(text.graph, "c"), (Names{"c/sum", "c/call:1"}));
  EXPECT_EQ(named(text.graph, "c").type, "twice");
  EXPECT_EQ(text.read, 12);
  EXPECT_EQ(text.operators, 12);
  EXPECT_EQ(note(text, "functions-inlined"),
            "2 calls of 2 functions of the library are followed: 8 nodes of their bodies stand under the names of the calls");
  EXPECT_EQ(note(text, "functions-not-inlined"), "");
  const auto results = computed(text.graph, {{"x", {1, 2, 3, 4, 5, 6, -7, 8}}});
  EXPECT_EQ(results, (std::vector<Numbers>{{-2, -6, -12, -20, -30, -42, -42, -72}, {1, 0, 3, 1, 3, 2}}));
}

TEST(Inline, WhatACallReturnsAndNobodyReadsIsAResult) {
  const std::string nodes = feed("x") + top("c", "PartitionedCall", "x", of("twice"));
  const auto results = computed(read(nodes + library(kTwice + kPick)).graph, {{"x", {1, 2, 3, 4, 5, 6, -7, 8}}});
  ASSERT_EQ(results.size(), 2);
  EXPECT_EQ(results[0], (Numbers{2, 6, 12, 20, 30, 42, 42, 72}));
}

TEST(Inline, OfACallThatIsReadTheRestIsNoResult) {
  const std::string nodes = feed("x") + top("c", "PartitionedCall", "x x", of("pick")) + top("y", "Neg", "c", floats());
  const auto results = computed(read(nodes + library(kPick)).graph, {{"x", {1, 2, 3, 4, 5, 6, -7, 8}}});
  EXPECT_EQ(results, (std::vector<Numbers>{{-1, -4, -9, -16, -25, -36, -49, -64}}));
}

/// `second` is written first and waits for `first` only by its control edge.
TEST(Inline, ABodyWaitsForWhatItsCallWaitsFor) {
  const std::string store = function("store", {"v", "x"}, {{}, {"put"}}, inner("put", "AssignVariableOp", "v x", floats()));
  const std::string load = function("load", {"v"}, {{{"now", "get:value:0"}}, {"get", "nothing"}},
                                    integer("one", 1) + inner("nothing", "NoOp", "") + inner("get", "ReadVariableOp", "v", floats()));
  const GraphText text =
      read(top("y", "Neg", "second", floats()) + top("second", "StatefulPartitionedCall", "v ^first", of("load")) + feed("x") +
           variable("v") + top("first", "StatefulPartitionedCall", "v x", of("store")) + library(store + load));
  EXPECT_EQ(inputs(text.graph, "first"), (Names{"^first/put"}));
  EXPECT_EQ(inputs(text.graph, "second/nothing"), (Names{"^first"}));
  EXPECT_EQ(inputs(text.graph, "second/get"), (Names{"v", "^second/nothing"}));
  EXPECT_EQ(inputs(text.graph, "second"), (Names{"second/get", "^second/get", "^second/nothing", "^first"}));
  const Numbers x{1, 2, 3, 4, 5, 6, 7, 8}, before(8, 100);
  EXPECT_EQ(computed(text.graph, {{"x", x}, {"v", before}}).at(0), (Numbers{-1, -2, -3, -4, -5, -6, -7, -8}));
}

TEST(Inline, OutputsOfAFunctionAreNamedByItsSignature) {
  const std::string outer = function("outer", {"a"}, {{{"second", "c:places:0"}, {"third", "c:same"}}, {}}, inner("c", "pick", "a a"));
  const GraphText text = read(feed("x") + top("c", "outer", "x") + library(outer + kPick));
  EXPECT_EQ(inputs(text.graph, "c"), (Names{"c/c:1", "c/c:2"}));
}

TEST(Inline, TheCallFillsInWhatTheBodyLeavesOpen) {
  const std::string body = function("f", {"x"}, {{{"y", "y:y:0"}}, {}}, inner("y", "Neg", "x", attr("T", "placeholder: \"T\"")));
  const GraphText text = read(feed("x") + top("c", "f", "x", floats()) + library(body));
  EXPECT_EQ(attribute(named(text.graph, "c/y"), "T", ir::Type::token), ir::Type::f32);
}

TEST(Inline, ManyCallsOfOneNameGiveUniqueNames) {
  const std::string body = function("f", {"x"}, {{{"y", "y:y:0"}}, {}}, inner("y", "Neg", "x", floats()));
  std::string nodes = feed("x");
  for (int i = 0; i < 2000; ++i) nodes += top("c", "f", "x");
  const GraphText text = read(nodes + library(body));
  EXPECT_EQ(text.graph.nodes.size(), 1 + 2000 + 1);
  EXPECT_EQ(text.dropped, 1999);
  EXPECT_EQ(named(text.graph, "c/y_1999").type, "Neg");
}

/// As TensorFlow prunes functions: what changes a variable counts where the function does not say what a call waits for.
TEST(Inline, WhatServesNothingIsLeftOut) {
  const std::string nodes = inner("dead", "Abs", "x", floats()) + inner("deader", "Neg", "dead:y:0", attr("T", "placeholder: \"T\"")) +
                            inner("put", "AssignVariableOp", "v x", floats()) + inner("y", "Neg", "x", attr("T", "placeholder: \"T\""));
  const std::string says = function("says", {"x", "v"}, {{{"y", "y:y:0"}}, {"y"}}, nodes);
  const std::string silent = function("silent", {"x", "v"}, {{{"y", "y:y:0"}}, {}}, nodes);
  const GraphText text =
      read(feed("x") + variable("v") + top("a", "says", "x v", floats()) + top("b", "silent", "x v", floats()) + library(says + silent));
  EXPECT_EQ(names(text.graph), (Names{"x", "v", "a/y", "a", "b/put", "b/y", "b"}));
  EXPECT_EQ(attribute(named(text.graph, "b/y"), "T", ir::Type::token), ir::Type::f32);
  EXPECT_EQ(
      note(text, "functions-inlined"),
      "2 calls of 2 functions of the library are followed: 3 nodes of their bodies stand under the names of the calls; 5 more are left "
      "out, which serve nothing that is returned or changed");
}

TEST(Inline, OfSeveralSignaturesTheDefaultOneIsTheProgram) {
  const std::string one = function("__inference_signature_wrapper_1", {"x"}, {{{"y", "y:y:0"}}, {}}, inner("y", "Abs", "x", floats()));
  const std::string two = function("__inference_signature_wrapper_2", {"x"}, {{{"y", "y:y:0"}}, {}}, inner("y", "Neg", "x", floats()));
  const auto call = [](std::string_view name, std::string_view input, std::string_view function) {
    return feed(input) + top(name, "StatefulPartitionedCall", input, of(function));
  };
  const GraphText text = read(call("c", "serve_x", "__inference_signature_wrapper_1") +
                              call("d", "serving_default_x", "__inference_signature_wrapper_2") + library(one + two));
  EXPECT_EQ(names(text.graph), (Names{"serve_x", "c", "serving_default_x", "d/y", "d"}));
  EXPECT_EQ(named(text.graph, "c").note, "another signature, which is not replayed");
  EXPECT_EQ(note(text, "signatures"), "the file has 2 signatures, programs of their own; 'd' is taken");
  EXPECT_EQ(computed(text.graph, {{"serving_default_x", {1, 2, 3, 4, 5, 6, 7, 8}}}),
            (std::vector<Numbers>{{-1, -2, -3, -4, -5, -6, -7, -8}}));
}

TEST(Inline, NamesStayUnique) {
  const std::string body = function("f", {"x"}, {{{"y", "y:y:0"}}, {}}, inner("y", "Neg", "x", floats()));
  const GraphText text = read(feed("x") + top("c/y", "Abs", "x", floats()) + top("c", "f", "x") + library(body));
  EXPECT_EQ(names(text.graph), (Names{"x", "c/y", "c/y_1", "c"}));
  EXPECT_EQ(inputs(text.graph, "c"), (Names{"c/y_1"}));
}

TEST(Inline, WhatIsNotFollowedSaysWhy) {
  const std::string self = function("self", {"x"}, {{{"y", "y:output:0"}}, {}}, inner("y", "PartitionedCall", "x", of("self")));
  const std::string ping = function("ping", {"x"}, {{{"y", "y:output:0"}}, {}}, inner("y", "PartitionedCall", "x", of("pong")));
  const std::string pong = function("pong", {"x"}, {{{"y", "y:output:0"}}, {}}, inner("y", "PartitionedCall", "x", of("ping")));
  const std::string odd = function("odd", {"x"}, {{{"y", "y:b:0"}}, {}}, inner("y", "MyOwnOp", "x"));
  const std::string gone = function("gone", {"x"}, {{{"y", "z:y:0"}}, {}}, inner("y", "Neg", "x"));
  const std::string list = "function { signature { name: \"list\" input_arg { name: \"x\" number_attr: \"N\" } } }\n";
  const std::string plain = function("plain", {"x", "y"}, {}, "");
  std::string nodes = feed("x");
  for (const std::string_view name : {"none", "self", "ping", "odd", "gone", "list", "plain"}) {
    nodes += top(fmt::format("c_{}", name), "PartitionedCall", "x", of(name));
  }
  const GraphText text = read(nodes + library(self + ping + pong + odd + gone + list + plain));
  const auto why = [&](std::string_view name) { return named(text.graph, name).note; };
  EXPECT_EQ(why("c_none"), "the function 'none' that it calls is not in the library");
  EXPECT_EQ(why("c_self"), "the function 'self' that it calls calls itself");
  EXPECT_EQ(why("c_ping"), "the function 'ping' that it calls calls itself");
  EXPECT_EQ(why("c_odd"), "the function 'odd' that it calls reads what is not known");
  EXPECT_EQ(why("c_gone"), "the function 'gone' that it calls reads what is not known");
  EXPECT_EQ(why("c_list"), "the function 'list' that it calls takes or returns lists of tensors");
  EXPECT_EQ(why("c_plain"), "the function 'plain' that it calls takes 2 arguments, not 1");
  EXPECT_EQ(note(text, "missing-input"), "in function 'odd' 'odd' reads 'y:b:0', and no output of that name is known of a MyOwnOp");
  EXPECT_EQ(note(text, "functions-not-inlined"),
            "7 of 7 functions of the library are not part of the graph: no call that is followed leads to them");
  const auto lowered = lower(text.graph);
  ASSERT_TRUE(lowered.ok());
  EXPECT_EQ(lowered->notes.at(0).text, "node 'c_none' (PartitionedCall): the function 'none' that it calls is not in the library");
}

/// Each function calls the next one twice: the last one's node would be there 2⁴⁰ times.
TEST(Inline, CallsThatMultiplyAreRefusedBeforeTheyAreCopied) {
  std::string functions = function("f40", {"x"}, {{{"y", "y:y:0"}}, {}}, inner("y", "Neg", "x", floats()));
  for (int i = 0; i < 40; ++i) {
    const std::string next = of(fmt::format("f{}", i + 1));
    functions += function(fmt::format("f{}", i), {"x"}, {{{"y", "b:output:0"}}, {}},
                          inner("a", "PartitionedCall", "x", next) + inner("b", "PartitionedCall", "a:output:0", next));
  }
  const GraphText text =
      read(feed("x") + top("c", "PartitionedCall", "x", of("f0")) + top("d", "PartitionedCall", "x", of("f38")) + library(functions));
  EXPECT_EQ(named(text.graph, "c").note,
            "the function 'f0' that it calls would with all that it calls make the graph larger than 8388608 fields");
  EXPECT_EQ(named(text.graph, "d").call, Call::results);
  EXPECT_EQ(text.graph.nodes.size(), 3 + 2 + 4 + 4);
}

TEST(Inline, DeepCallsAreRefusedWithoutDepth) {
  std::string functions = function("f5000", {"x"}, {{{"y", "y:y:0"}}, {}}, inner("y", "Neg", "x", floats()));
  for (int i = 0; i < 5000; ++i) {
    functions += function(fmt::format("f{}", i), {"x"}, {{{"y", "y:output:0"}}, {}},
                          inner("y", "PartitionedCall", "x", of(fmt::format("f{}", i + 1))));
  }
  const GraphText text = read(feed("x") + top("c", "PartitionedCall", "x", of("f0")) + library(functions));
  EXPECT_EQ(named(text.graph, "c").note, "the function 'f0' that it calls nests more than 64 calls in each other");
}

/// Calls that hand on each other's results.
TEST(Inline, ACircleOfCallsIsACycle) {
  const std::string same = function("same", {"x"}, {{{"y", "x"}}, {}}, "");
  const GraphText text = read(top("a", "same", "b") + top("b", "same", "a") + top("y", "Neg", "a", floats()) + library(same));
  const auto lowered = lower(text.graph);
  ASSERT_FALSE(lowered.ok());
  EXPECT_NE(lowered.error().message.find("needs its own result"), std::string::npos) << lowered.error().message;
}

TEST(Inline, CheckpointsAreNoPartOfAStep) {
  const std::string save = function("__inference__traced_save_12", {"x"}, {{{"y", "x"}}, {}}, "");
  const GraphText text = read(feed("x") + top("c", "StatefulPartitionedCall", "x", of("__inference__traced_save_12")) + library(save));
  EXPECT_EQ(named(text.graph, "c").call, Call::none);
  const auto lowered = lower(text.graph);
  ASSERT_TRUE(lowered.ok());
  ASSERT_EQ(lowered->notes.size(), 1);
  EXPECT_EQ(lowered->notes[0].code, "outside-step");
}

}  // namespace importers::tensorflow::inlining
