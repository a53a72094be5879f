// A program made with the builder is what its text says: verified by XLA's rules, printed, parsed back, and evaluated.
#include "importers/lowering/builder.h"

#include <gtest/gtest.h>

#include "importers/hlo/hlo.h"
#include "src/ir/print.h"
#include "src/ir/verify.h"

namespace importers::lowering {
namespace {

ir::Shape f32(Dims dims) { return ir::array_shape(ir::Type::f32, std::move(dims)); }

/// The text of a finished module, after the checks that every module must pass.
std::string checked(Program& program) {
  const auto module = program.finish();
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().message);
  if (!module.ok()) return "";
  for (const ir::Finding& finding : ir::judge(*module).broken) ADD_FAILURE() << finding.what;
  std::string text = ir::print(*module);
  const auto again = hlo::parse(text, "printed");
  EXPECT_TRUE(again.ok()) << (again.ok() ? "" : again.error().message);
  EXPECT_TRUE(again.ok() && *again == *module) << text;
  return text;
}

TEST(Builder, AnOperatorBecomesOneFusionWithItsName) {
  Program program("relu");
  const Value x = program.parameter("x", f32({2, 3}));
  program.at({"layer/Relu", "Relu"});
  program.result(program.fuse1({{x}}, [](Body& body, std::span<const Value> in) { return body.binary(ir::Op::maximum, in[0], 0); }));
  const std::string text = checked(program);
  EXPECT_NE(text.find("layer.Relu = f32[2,3]{1,0} fusion("), std::string::npos) << text;
  EXPECT_NE(text.find("metadata={op_type=\"Relu\" op_name=\"layer/Relu\"}"), std::string::npos) << text;
  EXPECT_EQ(text.find("fusion("), text.rfind("fusion(")) << text;
}

TEST(Builder, OperandsOfUnlikeShapesAreBroadcastAsNumpyDoes) {
  Program program("add");
  const Value x = program.parameter("x", f32({2, 3, 4})), bias = program.parameter("bias", f32({3, 1}));
  program.result(program.fuse1({{x, bias}}, [](Body& body, std::span<const Value> in) {
    const Value sum = body.binary(ir::Op::add, in[0], in[1]);
    EXPECT_EQ(body.dims(sum), (Dims{2, 3, 4}));
    return sum;
  }));
  EXPECT_NE(checked(program).find("dimensions={1}"), std::string::npos);
}

TEST(Builder, SeveralResultsAreElementsOfOneFusion) {
  Program program("moments");
  const Value x = program.parameter("x", f32({4, 8}));
  program.at({"moments", "Moments"});
  const Values two = program.fuse({{x}}, [](Body& body, std::span<const Value> in) {
    const Value sum = body.reduce(ir::Op::add, in[0], {1});
    return Values{sum, body.reduce(ir::Op::maximum, in[0], {1})};
  });
  ASSERT_EQ(two.size(), 2U);
  for (const Value value : two) program.result(value);
  const std::string text = checked(program);
  EXPECT_NE(text.find("get-tuple-element"), std::string::npos) << text;
}

size_t computations(Program& program) {
  const auto module = program.finish();
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().message);
  return module.ok() ? module->computations.size() : 0;
}

TEST(Builder, FusionsThatDoTheSameShareTheirBody) {
  Program program("layers");
  const Value x = program.parameter("x", f32({2, 3})), y = program.parameter("y", f32({2, 4}));
  const auto add = [&](std::string_view name, Value value, double number) {
    program.at({name, "Add"});
    program.result(
        program.fuse1({{value}}, [&](Body& body, std::span<const Value> in) { return body.binary(ir::Op::add, in[0], number); }));
  };
  add("a", x, 1), add("b", x, 1);  // the same
  add("c", x, 2), add("d", y, 1);  // another constant, another shape
  EXPECT_EQ(computations(program), 4U);
}

TEST(Builder, OperatorsAlikeAreWrittenOnce) {
  Program program("layers");
  const Value x = program.parameter("x", f32({2, 3})), y = program.parameter("y", f32({2, 4}));
  int written = 0;
  const auto two = [&](std::string_view name, std::string key, Value a, Value b) {
    program.at({name, "Two"});
    program.alike(std::move(key));
    for (const ir::Op op : {ir::Op::add, ir::Op::multiply}) {
      program.result(program.fuse1({{a, b}}, [&](Body& body, std::span<const Value> in) {
        ++written;
        return body.op(op, {{in[0], in[1]}});
      }));
    }
  };
  two("a", "key", x, x), two("b", "key", x, x);
  EXPECT_EQ(written, 2);
  const Value z = program.parameter("z", f32({2, 3}));
  two("c", "key", x, z), two("d", "key", y, y), two("e", "", x, x);  // two values instead of one; another shape; nothing known of it
  EXPECT_EQ(written, 8);
  EXPECT_EQ(computations(program), 7U);
}

TEST(Builder, WhatIsUpdatedInPlaceIsAliasedOnceWithItsLastValue) {
  Program program("sgd");
  const Value w = program.parameter("w", f32({5}));
  const auto halve = [&](Value value) {
    return program.fuse1({{value}}, [](Body& body, std::span<const Value> in) { return body.binary(ir::Op::multiply, in[0], 0.5); });
  };
  const Value once = halve(w), twice = halve(once);
  program.result_in_place(once, w);
  program.result_in_place(twice, w);
  const std::string text = checked(program);
  EXPECT_NE(text.find("input_output_alias={{0}:(0,{},may-alias)}"), std::string::npos) << text;
}

TEST(Builder, ConvolutionsPoolsAndTheirGradientsHaveXlasShapes) {
  Program program("conv");
  const Value x = program.parameter("x", f32({2, 3, 9, 9})), w = program.parameter("w", f32({3, 3, 3, 8}));
  const std::vector<ir::WindowDim> window(2, ir::WindowDim{3, 2, 1, 1});
  const Value y = program.entry().convolution(x, w, {window, "bf01_01io->bf01"});
  EXPECT_EQ(program.entry().dims(y), (Dims{2, 8, 5, 5}));
  const std::vector<ir::WindowDim> pool = {{}, {}, {3, 2}, {3, 2}};
  const Value pooled =
      program.fuse1({{y}}, [&](Body& body, std::span<const Value> in) { return body.reduce_window(ir::Op::maximum, in[0], pool); });
  EXPECT_EQ(program.entry().dims(pooled), (Dims{2, 8, 2, 2}));
  program.result(
      program.fuse1({{y, pooled}}, [&](Body& body, std::span<const Value> in) { return body.select_and_scatter(in[0], pool, in[1]); }));
  checked(program);
}

TEST(Builder, ABrokenRuleNamesTheOperator) {
  Program program("broken");
  const Value x = program.parameter("x", f32({2, 3})), y = program.parameter("y", f32({4}));
  program.at({"scope/op_1", "AddV2"});
  program.result(program.fuse1({{x, y}}, [](Body& body, std::span<const Value> in) { return body.binary(ir::Op::add, in[0], in[1]); }));
  const auto module = program.finish();
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.error().message, "operator 'scope/op_1' (AddV2): [4] does not broadcast to [2,3]");
}

TEST(Builder, NamesOfAnyBytesBecomeNamesThatParse) {
  Program program("a \"program\"\n");
  for (const std::string_view name : {"", "9", "x y", "\"};", "..", "x y", "%", "a*/b"}) program.result(program.parameter(name, f32({})));
  checked(program);
}

TEST(Builder, AnInputKeepsItsRecipe) {
  Program program("labels");
  program.result(program.parameter("labels", ir::array_shape(ir::Type::s32, {4}), R"({"integers": [0, 999]})"));
  EXPECT_NE(checked(program).find(R"(frontend_attributes={profile_input="{\"integers\": [0, 999]}"})"), std::string::npos);
}

TEST(Builder, WhatHasNoLoweringIsACallByName) {
  Program program("unknown");
  const Value x = program.parameter("x", f32({4}));
  program.at({"u", "Unheard"});
  const Values results = program.unknown("tf.Unheard", {{x}}, std::vector<ir::Shape>{f32({4}), f32({2})});
  ASSERT_EQ(results.size(), 2U);
  program.result(results[1]);
  EXPECT_NE(checked(program).find("custom_call_target=\"tf.Unheard\""), std::string::npos);
}

}  // namespace
}  // namespace importers::lowering
