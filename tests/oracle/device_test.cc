// The cpu device against XLA: both steps as a whole, every distinct fusion and product of both samples alone, at real size, in both
// roundings.
#include <gtest/gtest.h>

#include <optional>

#include "src/ir/builder.h"
#include "tests/corpus/check.h"
#include "tests/unit/reference/oracle.h"

namespace {

using oracle::Against;
using oracle::Json;
using replay::Rounding;

base::Result<corpus::Outputs> run(const ir::Module& module, const replay::Recipes& recipes, Rounding rounding) {
  ASSIGN_OR_RETURN(corpus::Planned planned, corpus::plan_on("cpu", module, rounding));
  for (const replay::Step* step : planned.plan.steps) {
    if (step->cls < replay::Class::library) return base::Error{step->name + ": " + step->why};
  }
  return corpus::replay_once(planned, recipes);
}

int check(const Json& record, const corpus::Outputs& outputs, Against against, const std::string& what) {
  int failed = 0;
  for (const Json& output : record.at("outputs")) {
    const std::string wrong = corpus::compare(output, outputs, against);
    if (wrong.empty()) continue;
    ++failed;
    ADD_FAILURE() << what << " output " << output.at("index") << ": " << wrong;
  }
  return failed;
}

/// The computation or instruction of a record, as a module of its own.
std::optional<ir::Module> cut(const ir::Module& module, const Json& record) {
  if (record.contains("computation"))
    return ir::extract_fusion(module, module.find_computation(record.at("computation").get<std::string>()));
  const ir::InstrRef at = oracle::find_instruction(module, record.at("instruction").get<std::string>());
  return at.comp < 0 ? std::nullopt : std::optional(ir::extract_instruction(module, at));
}

replay::Recipes recipes_of(const Json& json) {
  auto recipes = replay::parse_recipes(json.dump(), "record");
  EXPECT_TRUE(recipes.ok()) << recipes.error().message;
  return recipes.ok() ? *std::move(recipes) : replay::Recipes{};
}

void check_parts(const std::string& sample, Rounding rounding, Against against) {
  const std::string shared = oracle::folder();
  if (shared.empty()) GTEST_SKIP() << "no oracle data on this machine";
  const ir::Module module = oracle::read_module(SOURCE_DIR "/samples/" + sample + ".hlo.txt");
  int records = 0, failed = 0;
  for (const Json& record : oracle::read_lines(shared + "/oracle/" + sample + ".fusions.jsonl")) {
    const auto part = cut(module, record);
    ASSERT_TRUE(part) << record.at("users").dump();
    const auto outputs = run(*part, recipes_of(record), rounding);
    ASSERT_TRUE(outputs.ok()) << record.at("users").dump() << ": " << outputs.error().message;
    ++records;
    failed += check(record, *outputs, against, record.at("users")[0].get<std::string>());
  }
  EXPECT_GT(records, 0);
  std::printf("%s: %d fusions and products alone, %d outputs differ\n", sample.c_str(), records, failed);
}

void check_step(const std::string& sample, const std::string& expected, Rounding rounding) {
  const std::string shared = oracle::folder();
  if (shared.empty()) GTEST_SKIP() << "no oracle data on this machine";
  const ir::Module module = oracle::read_module(SOURCE_DIR "/samples/" + sample + ".hlo.txt");
  const Json record = oracle::read_json(shared + "/oracle/" + expected + ".json");
  const auto outputs = run(module, recipes_of(oracle::read_json(shared + "/oracle/" + sample + ".recipe.json")), rounding);
  ASSERT_TRUE(outputs.ok()) << outputs.error().message;
  check(record, *outputs, Against::samples, sample);
}

TEST(CpuAgainstXla, MnistStepEach) { check_step("mnist_train_step", "mnist_train_step", Rounding::each); }
TEST(CpuAgainstXla, MnistStepBorder) { check_step("mnist_train_step", "mnist_train_step", Rounding::border); }
TEST(CpuAgainstXla, BertStepEach) { check_step("bert_pretrain_step", "bert_pretrain_step", Rounding::each); }
TEST(CpuAgainstXla, BertStepBorder) { check_step("bert_pretrain_step", "bert_pretrain_step.f32inside", Rounding::border); }
TEST(CpuAgainstXla, MnistPartsEach) { check_parts("mnist_train_step", Rounding::each, Against::samples); }
TEST(CpuAgainstXla, MnistPartsBorder) { check_parts("mnist_train_step", Rounding::border, Against::upcast); }
TEST(CpuAgainstXla, BertPartsEach) { check_parts("bert_pretrain_step", Rounding::each, Against::samples); }
TEST(CpuAgainstXla, BertPartsBorder) { check_parts("bert_pretrain_step", Rounding::border, Against::upcast); }

}  // namespace
