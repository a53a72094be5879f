// Programs as modules: the Llama stage's numbers, both forms of one program, state, control flow, options, and what is said of operators.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "src/base/file.h"
#include "src/ir/attr.h"
#include "src/ir/cost.h"
#include "src/ir/verify.h"
#include "tests/unit/paddle/run.h"

namespace importers::paddle {
namespace {

int64_t count(const model::Imported& imported, std::string_view code) {
  return std::ranges::count(imported.notes, code, &model::Note::code);
}

double product_flops(const ir::Module& module) {
  double flops = 0;
  const ir::Computation& entry = module.comp(module.entry);
  for (size_t i = 0; i < entry.instrs.size(); ++i) {
    if (entry.instrs[i].op == ir::Op::dot)
      flops += ir::cost(module, {module.entry, static_cast<ir::InstrId>(i)}, ir::CostMethod::nominal).flops;
  }
  return flops;
}

std::map<std::string, int64_t> opcodes(const ir::Module& module) {
  std::map<std::string, int64_t> counts;
  for (const ir::Instr& instr : module.comp(module.entry).instrs) ++counts[std::string(ir::text(instr.op))];
  return counts;
}

class LlamaStage : public testing::Test {
 protected:
  void SetUp() override {
    const auto text = base::read_file(shared_folder() + "/samples/llama_stage.paddle.txt");
    if (!text.ok()) GTEST_SKIP() << text.error().message;
    text_ = *text;
  }
  std::string text_;
};

TEST_F(LlamaStage, IsOneModuleWithAllItsProducts) {
  const model::Imported stage = imported(text_);
  ASSERT_EQ(stage.modules.size(), 1u);
  EXPECT_EQ(stage.source.read, 682 + 558);
  EXPECT_EQ(stage.source.kept, stage.source.read);
  EXPECT_EQ(product_flops(stage.modules[0]), 8'791'798'054'912.0);
  const auto codes = opcodes(stage.modules[0]);
  EXPECT_EQ(codes.at("dot"), 37 + 2 * 19);
  EXPECT_EQ(codes.at("all-reduce"), 22);
  EXPECT_EQ(codes.at("collective-broadcast"), 20);
  EXPECT_FALSE(codes.contains("custom-call"));
  EXPECT_TRUE(ir::judge(stage.modules[0]).broken.empty());
}

TEST_F(LlamaStage, NotesTheTenWrongShapes) {
  const model::Imported stage = imported(text_);
  std::vector<int64_t> lines;
  for (const model::Note& note : stage.notes) {
    if (note.code == "shape-conflict") lines.push_back(note.line);
  }
  ASSERT_EQ(lines.size(), 10u);
  EXPECT_EQ(lines[4], 866);
  EXPECT_EQ(count(stage, "junk"), 1);
  EXPECT_EQ(count(stage, "bound"), 1);
  EXPECT_EQ(stage.notes.size(), 12u);
}

TEST_F(LlamaStage, KeepsStateInPlace) {
  const model::Imported stage = imported(text_);
  const ir::Module& module = stage.modules[0];
  size_t aliases = 0;
  for (const ir::Attr& attr : module.attrs) {
    if (module.text(attr.key) == "input_output_alias") aliases = ir::parse_aliases(module.text(attr.text))->size();
  }
  // 9 parameters with master, two moments and two powers; 11 parameters that their owner sends; the three of the loss scale.
  EXPECT_EQ(aliases, 9u * 6 + 11 + 3);
  EXPECT_EQ(module.comp(module.entry).parameters.size(), 73u + 2);  // persistables, labels, what is received
}

TEST_F(LlamaStage, TellsPhasesRecomputationAndRings) {
  const model::Imported stage = imported(text_);
  ASSERT_EQ(stage.module_operators.size(), 1u);
  const std::vector<model::Operator>& operators = stage.module_operators[0];
  ASSERT_EQ(operators.size(), 558u);
  std::map<model::Phase, int> phases;
  std::set<std::string> names;
  int recomputed = 0, recomputed_products = 0, rings = 0, accumulated = 0, mixed = 0;
  for (const model::Operator& op : operators) {
    ++phases[op.phase];
    names.insert(op.name);
    const auto json = nlohmann::json::parse(op.attributes);
    if (json.contains("recompute")) ++recomputed, recomputed_products += op.type == "matmul_v2" ? 1 : 0;
    rings += json.contains("ring") ? 1 : 0;
    accumulated += json.contains("accumulates") ? 1 : 0;
    mixed += json.contains("mixed_precision") ? 1 : 0;
  }
  EXPECT_EQ(names.size(), 558u);
  EXPECT_EQ(phases[model::Phase::communication], 44);
  EXPECT_EQ(recomputed_products, 18);
  EXPECT_EQ(accumulated, 13);
  EXPECT_EQ(rings, 44);
  EXPECT_EQ(mixed, 2);
  EXPECT_GT(recomputed, 18);
  EXPECT_EQ(operators[0].line, 685);
  EXPECT_EQ(operators[3].launches, model::Launches::host);
}

TEST_F(LlamaStage, IsScaledToASizeThatTheReferenceRuns) {
  Options options;
  options.scale = 16;
  const model::Imported stage = imported(text_, options);
  ASSERT_EQ(stage.modules.size(), 1u);
  EXPECT_EQ(count(stage, "shape-conflict"), 10);
  EXPECT_EQ(stage.source.options, "scale=16");
  EXPECT_LT(product_flops(stage.modules[0]), 3e9);
}

// ---------------------------------------------------------------- both forms of one program

std::string own(const std::string& name) {
  const auto text = base::read_file(shared_folder() + "/corpus/paddle/own/" + name);
  return text.ok() ? *text : "";
}

TEST(Forms, OfOneProgramBecomeTheSameOperations) {
  const std::string legacy = own("mlp.legacy.txt"), pir = own("mlp.pir.txt");
  if (legacy.empty() || pir.empty()) GTEST_SKIP() << "no corpus";
  Options options;
  options.batch = 4;
  const model::Imported a = imported(legacy, options), b = imported(pir, options);
  ASSERT_EQ(a.modules.size(), 1u);
  ASSERT_EQ(b.modules.size(), 1u);
  EXPECT_EQ(product_flops(a.modules[0]), product_flops(b.modules[0]));
  EXPECT_EQ(opcodes(a.modules[0])["fusion"], opcodes(b.modules[0])["fusion"]);
  EXPECT_EQ(opcodes(a.modules[0])["dot"], 5);
  EXPECT_EQ(opcodes(b.modules[0])["dot"], 5);
  const auto aliases = [](const ir::Module& module) {
    for (const ir::Attr& attr : module.attrs) {
      if (module.text(attr.key) == "input_output_alias") return ir::parse_aliases(module.text(attr.text))->size();
    }
    return size_t{0};
  };
  EXPECT_EQ(aliases(a.modules[0]), 4u * 5);
  EXPECT_EQ(aliases(b.modules[0]), 4u * 5);
  EXPECT_EQ(b.module_operators[0][23].scope, "Linear");
}

// ---------------------------------------------------------------- state

constexpr std::string_view kHead = "{ // block_idx:0  parent_idx:-1  forward_idx:-1  backward_idx:-1\n";

std::string tensor(std::string_view name, std::string_view dims, std::string_view dtype = "float32",
                   std::string_view prefix = "persist var") {
  return fmt::format("    {} {} : LOD_TENSOR.shape({}).dtype({}).stop_gradient(True)\n", prefix, name, dims, dtype);
}

TEST(State, AdamWStepsAsItsFormulaSays) {
  std::string text(kHead);
  for (const std::string_view name : {"p", "m", "v"}) text += tensor(name, "1,");
  text += tensor("g", "1,", "float32", "var") + tensor("b1", "1,") + tensor("b2", "1,") + tensor("lr", "") + "\n";
  text +=
      "    {Beta1PowOut=['b1'], Beta2PowOut=['b2'], Moment1Out=['m'], Moment2Out=['v'], ParamOut=['p']} = adamw(inputs={Beta1Pow=['b1'], "
      "Beta2Pow=['b2'], "
      "Grad=['g'], LearningRate=['lr'], MasterParam=[], Moment1=['m'], Moment2=['v'], Param=['p'], SkipUpdate=[]}, beta1 = 0.9, beta2 = "
      "0.99, "
      "coeff = 0.1, epsilon = 1e-08, lr_ratio = 1.0, with_decay = True)\n}\n";
  const model::Imported program = imported(text);
  ASSERT_EQ(program.modules.size(), 1u);
  const ir::Module& module = program.modules[0];
  const std::map<std::string, double> given{{"p", 2}, {"m", 0.5}, {"v", 0.25}, {"g", 3}, {"b1", 0.9}, {"b2", 0.99}, {"lr", 0.01}};
  std::vector<replay::Tensor> arguments;
  for (const ir::InstrId id : module.comp(module.entry).parameters) {
    const ir::Instr& instr = module.instr(module.entry, id);
    arguments.push_back(array(ir::Type::f32, module.shape(instr).dims, {given.at(std::string(module.name_of(instr)))}));
  }
  std::vector<double> results;
  for (const replay::Tensor& result : evaluated(module, arguments)) results.push_back(numbers(result)[0]);
  std::ranges::sort(results);
  const double m = 0.9 * 0.5 + 0.1 * 3, v = 0.99 * 0.25 + 0.01 * 9;
  const double p = 2 * (1 - 0.01 * 0.1) - 0.01 / (1 - 0.9) * m / (std::sqrt(v) / std::sqrt(1 - 0.99) + 1e-8);
  std::vector<double> expected{m, v, p, 0.81, 0.9801};
  std::ranges::sort(expected);
  ASSERT_EQ(results.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(results[i], expected[i], 1e-5);
}

TEST(State, LossScaleShrinksAfterInfinities) {
  std::string text(kHead);
  text += tensor("g", "2,", "float16", "var") + tensor("scale", "1,") + tensor("good", "1,", "int32") + tensor("bad", "1,", "int32") +
          tensor("found", "1,", "bool", "var") + "\n";
  text += "    {FoundInfinite=['found'], Out=['g']} = check_finite_and_unscale(inputs={Scale=['scale'], X=['g']}, op_role = 2)\n";
  text +=
      "    {LossScaling=['scale'], Out=['g'], OutBadSteps=['bad'], OutGoodSteps=['good']} = "
      "update_loss_scaling(inputs={FoundInfinite=['found'], "
      "InBadSteps=['bad'], InGoodSteps=['good'], PrevLossScaling=['scale'], StopUpdate=[], X=['g']}, decr_every_n_nan_or_inf = 2, "
      "decr_ratio = 0.5, "
      "incr_every_n_steps = 1000, incr_ratio = 2.0, stop_update = False)\n    fetch(inputs={X=['g']}, col = 0)\n}\n";
  const model::Imported program = imported(text);
  ASSERT_EQ(program.modules.size(), 1u);
  const ir::Module& module = program.modules[0];
  const std::map<std::string, std::vector<double>> given{{"g", {INFINITY, 8}}, {"scale", {4}}, {"good", {7}}, {"bad", {1}}};
  std::vector<replay::Tensor> arguments;
  for (const ir::InstrId id : module.comp(module.entry).parameters) {
    const ir::Instr& instr = module.instr(module.entry, id);
    arguments.push_back(array(module.shape(instr).type, module.shape(instr).dims, given.at(std::string(module.name_of(instr)))));
  }
  const std::vector<replay::Tensor> results = evaluated(module, arguments);
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(numbers(results[0]), (std::vector<double>{0, 0}));
  std::multiset<double> state;
  for (size_t i = 1; i < 4; ++i) state.insert(numbers(results[i])[0]);
  EXPECT_EQ(state, (std::multiset<double>{0, 0, 2}));  // the scale halved, both counters at 0
}

TEST(State, InputsHaveRecipesByTheirUse) {
  std::string text(kHead);
  text += tensor("ids", "2, 3", "int64", "var") + tensor("label", "6,", "int64", "var") + tensor("label2", "6, 1", "int64", "var") +
          tensor("table", "11, 5", "float32", "persist trainable param") + tensor("e", "2, 3, 5", "float32", "var") +
          tensor("z", "6, 5", "float32", "var") + tensor("loss", "6, 1", "float32", "var") + "\n";
  text +=
      "    {Out=['e']} = lookup_table_v2(inputs={Ids=['ids'], W=['table']}, padding_idx = -1)\n"
      "    {Out=['z'], XShape=[]} = reshape2(inputs={X=['e']}, shape = [6, 5])\n"
      "    {Out=['label2'], XShape=[]} = unsqueeze2(inputs={X=['label']}, axes = [1])\n"
      "    {Loss=['loss'], Softmax=[]} = softmax_with_cross_entropy(inputs={Label=['label2'], Logits=['z']}, axis = -1)\n}\n";
  const model::Imported program = imported(text);
  ASSERT_EQ(program.modules.size(), 1u);
  const ir::Module& module = program.modules[0];
  std::map<std::string, std::string> recipes;
  for (const ir::InstrId id : module.comp(module.entry).parameters) {
    const ir::Instr& instr = module.instr(module.entry, id);
    for (const ir::Attr& attr : instr.attrs) recipes[std::string(module.name_of(instr))] = std::string(module.text(attr.text));
  }
  EXPECT_NE(recipes["ids"].find("[0, 10]"), std::string::npos) << recipes["ids"];
  EXPECT_NE(recipes["label"].find("[0, 4]"), std::string::npos) << recipes["label"];
}

// ---------------------------------------------------------------- control flow, unknown operators, open sizes

std::vector<double> only_result(const std::string& text) {
  const model::Imported program = imported(text);
  EXPECT_EQ(program.modules.size(), 1u);
  if (program.modules.size() != 1) return {};
  const std::vector<replay::Tensor> results = evaluated(program.modules[0], {});
  return results.empty() ? std::vector<double>() : numbers(results.back());
}

/// PIR's own names, groups of heads, the mask of what comes later: a row of zeros looks at all places alike.
TEST(Attention, LooksBackAndSharesGroups) {
  const auto program = imported(R"({
    (%0) = "pd_op.data" () {name:"q"} : () -> tensor<1x2x2x2xf32>
    (%1) = "pd_op.data" () {name:"k"} : () -> tensor<1x2x1x2xf32>
    (%2) = "pd_op.data" () {name:"v"} : () -> tensor<1x2x1x2xf32>
    (%3, %4, %5, %6) = "pd_op.flash_attn" (%0, %1, %2, <<NULL VALUE>>, <<NULL VALUE>>) {causal:true,dropout:0,is_test:true} : (tensor<1x2x2x2xf32>, tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>, <<NULL TYPE>>, <<NULL TYPE>>) -> tensor<1x2x2x2xf32>, <<NULL TYPE>>, tensor<1x2x128xf32>, tensor<2xi64>
    () = "pd_op.fetch" (%3) {} : (tensor<1x2x2x2xf32>) -> <<NULL TYPE>>
})");
  ASSERT_EQ(program.modules.size(), 1u);
  const ir::Type f32 = ir::Type::f32;
  const double far = std::sqrt(2.0) * std::log(3.0);  // e^(far / √2) = 3: three parts of the second place, one of the first
  const auto out =
      numbers(evaluated(program.modules[0], {array(f32, {1, 2, 2, 2}, {5, 6, 7, 8, 0, 0, 0, far}), array(f32, {1, 2, 1, 2}, {0, 0, 0, 1}),
                                             array(f32, {1, 2, 1, 2}, {10, 20, 30, 60})})[0]);
  const std::vector<double> expected = {10, 20, 10, 20, 20, 40, 25, 50};
  ASSERT_EQ(out.size(), expected.size());
  for (size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], expected[i], 1e-4) << i;
}

TEST(Control, LoopsWhoseLimitTheTextTellsAreWrittenOut) {
  EXPECT_EQ(
      only_result(
          R"(    (%0) = "pd_op.full" () {dtype:(pd_op.DataType)int64,place:(pd_op.Place)Place(undefined:0),shape:(pd_op.IntArray)[1],value:(Float)0} : () -> pd_op.tensor<1xi64>
    (%1) = "pd_op.full" () {dtype:(pd_op.DataType)int64,place:(pd_op.Place)Place(undefined:0),shape:(pd_op.IntArray)[1],value:(Float)3} : () -> pd_op.tensor<1xi64>
    (%2) = "pd_op.full" () {dtype:(pd_op.DataType)int64,place:(pd_op.Place)Place(undefined:0),shape:(pd_op.IntArray)[1],value:(Float)10} : () -> pd_op.tensor<1xi64>
    (%3) = "pd_op.less_than" (%0, %2) {stop_gradient:[true]} : (pd_op.tensor<1xi64>, pd_op.tensor<1xi64>) -> pd_op.tensor<1xb>
    (%4) = "pd_op.while"(cond=%3, inputs=%0) {
    ^%arg_0
        (%5) = "pd_op.add" (%arg_0, %1) {stop_gradient:[true]} : (pd_op.tensor<1xi64>, pd_op.tensor<1xi64>) -> pd_op.tensor<1xi64>
        (%6) = "pd_op.less_than" (%5, %2) {stop_gradient:[true]} : (pd_op.tensor<1xi64>, pd_op.tensor<1xi64>) -> pd_op.tensor<1xb>
        () = "cf.yield" (%6, %5) {} : (pd_op.tensor<1xb>, pd_op.tensor<1xi64>) ->
    }
)"),
      std::vector<double>{12});
}

TEST(Control, BranchesThatTheRunDecidesAreBothWrittenAndNoted) {
  const model::Imported program = imported(R"({
    (%0) = "pd_op.data" () {dtype:bool,name:"c",place:Place(undefined:0),shape:[1]} : () -> tensor<1xb>
    (%1) = "pd_op.data" () {dtype:float32,name:"x",place:Place(undefined:0),shape:[2]} : () -> tensor<2xf32>
    (%2) = "pd_op.if" (%0) {} -> tensor<2xf32> {
        (%3) = "pd_op.exp" (%1) {} : (tensor<2xf32>) -> tensor<2xf32>
        () = "cf.yield" (%3) {} : (tensor<2xf32>) -> 
    } else {
        (%4) = "pd_op.relu" (%1) {} : (tensor<2xf32>) -> tensor<2xf32>
        () = "cf.yield" (%4) {} : (tensor<2xf32>) -> 
    }
}
)");
  ASSERT_EQ(program.modules.size(), 1u);
  EXPECT_EQ(count(program, "both-branches"), 1);
  ASSERT_EQ(program.module_operators[0].size(), 7u);  // those of both regions too
  const auto results = evaluated(program.modules[0], {array(ir::Type::pred, {1}, {0}), array(ir::Type::f32, {2}, {-1, 2})});
  ASSERT_FALSE(results.empty());
  EXPECT_EQ(numbers(results.back()), (std::vector<double>{0, 2}));
}

TEST(Unknown, OperatorsAreCallsByTheirNames) {
  const model::Imported program = imported(std::string(kHead) + tensor("x", "2,", "float32", "var") + tensor("y", "2,", "float32", "var") +
                                           "\n    {Out=['y']} = fancy_op(inputs={X=['x']}, op_role = 0)\n}\n");
  ASSERT_EQ(program.modules.size(), 1u);
  EXPECT_EQ(opcodes(program.modules[0])["custom-call"], 1);
  EXPECT_EQ(count(program, "not-lowered"), 1);
  EXPECT_EQ(program.module_operators[0][0].note, "fancy_op: has no lowering");
}

TEST(Open, SizesAreAssumedAndSaidSo) {
  Options options;
  options.batch = 5;
  const model::Imported program =
      imported(std::string(kHead) + tensor("x", "-1, 3", "float32", "var") + tensor("y", "-1, 3", "float32", "var") +
                   "\n    {Out=['y']} = exp(inputs={X=['x']}, op_role = 0)\n}\n",
               options);
  ASSERT_EQ(program.modules.size(), 1u);
  EXPECT_EQ(program.module_operators[0][0].shape, "f32[5,3]");
  EXPECT_EQ(count(program, "assumed-size"), 1);
  EXPECT_EQ(program.source.options, "batch=5");
}

TEST(Unknown, OperandsThatDoNotFitAreOneOperatorsLoss) {
  const model::Imported program = imported(std::string(kHead) + tensor("x", "2,", "float32", "var") + tensor("y", "3,", "float32", "var") +
                                           tensor("z", "3,", "float32", "var") + tensor("w", "3,", "float32", "var") +
                                           "\n    {Out=['z']} = elementwise_add(inputs={X=['x'], Y=['y']}, axis = -1)\n    {Out=['w']} = "
                                           "exp(inputs={X=['z']}, op_role = 0)\n}\n");
  ASSERT_EQ(program.modules.size(), 1u);
  EXPECT_EQ(program.module_operators[0][0].note, "elementwise_add: (2) and (3) do not broadcast");
  EXPECT_EQ(opcodes(program.modules[0])["fusion"], 1);
}

/// Numbers that no program means: nothing is computed with them beyond 64 bits.
TEST(Unknown, NumbersThatFitNoWindowAreOneOperatorsLoss) {
  for (const std::string numbers : {"ksize = [2, 2], paddings = [9223372036854775807, 0], strides = [1, 1]",
                                    "ksize = [2, 2], paddings = [0, 0], strides = [9223372036854775807, 1]"}) {
    const model::Imported program =
        imported(std::string(kHead) + tensor("x", "1, 1, 4, 4", "float32", "var") + tensor("y", "1, 1, 4, 4", "float32", "var") +
                 "\n    {Out=['y']} = pool2d(inputs={X=['x']}, " + numbers + ", pooling_type = max)\n}\n");
    ASSERT_EQ(program.modules.size(), 1u);
    EXPECT_EQ(program.module_operators[0][0].note, "pool2d: has a window that is too large");
  }
}

TEST(Unknown, SizesWhoseProductExceedsAllNumbersAreOneOperatorsLoss) {
  const model::Imported program =
      imported(std::string(kHead) + tensor("x", "2, 4", "float32", "var") + tensor("y", "8,", "float32", "var") +
               "\n    {Out=['y'], XShape=[]} = reshape2(inputs={X=['x']}, shape = [9000000000000000, 2048, -1])\n}\n");
  ASSERT_EQ(program.modules.size(), 1u);
  EXPECT_EQ(program.module_operators[0][0].note, "reshape2: the shape holds another number of elements");
}

TEST(Unknown, PartsOfAnotherRankAreOneOperatorsLoss) {
  const model::Imported program =
      imported(std::string(kHead) + tensor("x", "2,", "float32", "var") + tensor("g", "2, 4", "float32", "var") +
               tensor("d", "2,", "float32", "var") + "\n    {X@GRAD=['d']} = concat_grad(inputs={X=['x'], Out@GRAD=['g']}, axis = 1)\n}\n");
  ASSERT_EQ(program.modules.size(), 1u);
  EXPECT_EQ(program.module_operators[0][0].note, "concat_grad: the parts have another rank");
}

TEST(Unknown, IntegersBeyondTheirTypeAreItsLast) {
  const model::Imported program =
      imported(std::string(kHead) + tensor("y", "2,", "int64", "var") +
               "\n    {Out=['y']} = fill_constant(inputs={}, dtype = 3, shape = [2], str_value = 1e30, value = 1e30)\n}\n");
  ASSERT_EQ(program.modules.size(), 1u);
  const auto results = evaluated(program.modules[0], {});
  ASSERT_FALSE(results.empty());
  EXPECT_EQ(numbers(results.back())[0], static_cast<double>(INT64_MAX));
}

}  // namespace
}  // namespace importers::paddle
