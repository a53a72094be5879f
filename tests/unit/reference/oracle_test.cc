// The reference against XLA: the MNIST step as a whole, and every fusion and product of both samples alone, at real size.
#include "tests/unit/reference/oracle.h"

#include <gtest/gtest.h>

#include <chrono>

namespace {

using oracle::Against;
using oracle::Json;
using replay::Rounding;

void check_records(const std::string& sample, Rounding rounding, Against against) {
  const std::string shared = oracle::folder();
  if (shared.empty()) GTEST_SKIP() << "no oracle data on this machine";
  ir::Module module = oracle::read_module(SOURCE_DIR "/samples/" + sample + ".hlo.txt");
  const auto constants = replay::parse_recipes(oracle::read_json(shared + "/oracle/" + sample + ".recipe.json").dump(), sample);
  ASSERT_TRUE(constants.ok());
  oracle::fill_elided(module, *constants);
  int failed = 0, outputs = 0;
  for (const Json& record : oracle::read_lines(shared + "/oracle/" + sample + ".fusions.jsonl")) {
    const ir::InstrRef at = oracle::find_instruction(module, record.at("users")[0].get<std::string>());
    ASSERT_GE(at.comp, 0) << record.at("users").dump();
    const auto recipes = replay::parse_recipes(record.dump(), sample);
    ASSERT_TRUE(recipes.ok());
    const oracle::Inputs inputs = oracle::operands_of(module, at, *recipes, record.contains("instruction"));
    replay::reference::Evaluator evaluator(module, rounding);
    for (const Json& output : record.at("outputs")) {
      ++outputs;
      const auto values = evaluator.elements(at, inputs.views, oracle::path_of(output), oracle::sample_indices(output));
      const std::string wrong = values.ok() ? oracle::check_samples(output, *values, against) : values.error().message;
      if (wrong.empty()) continue;
      ++failed;
      ADD_FAILURE() << module.name_of(module.instr(at.comp, at.instr)) << " output " << output.at("index") << ": " << wrong;
    }
  }
  std::printf("%s: %d of %d outputs agree\n", sample.c_str(), outputs - failed, outputs);
}

TEST(Oracle, MnistStepAsAWhole) {
  const std::string shared = oracle::folder();
  if (shared.empty()) GTEST_SKIP() << "no oracle data on this machine";
  const Json record = oracle::read_json(shared + "/oracle/mnist_train_step.json");
  const ir::Module module = oracle::read_module(SOURCE_DIR "/samples/mnist_train_step.hlo.txt");
  const auto recipes = replay::parse_recipes(record.dump(), "mnist");
  ASSERT_TRUE(recipes.ok());
  const auto arguments = oracle::arguments_of(module, *recipes);
  replay::reference::Evaluator evaluator(module, Rounding::each);
  const auto begin = std::chrono::steady_clock::now();
  const auto result = evaluator.run(module.entry, arguments);
  std::printf("mnist step: %.3f s\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  ASSERT_TRUE(result.ok()) << result.error().message;
  for (const Json& output : record.at("outputs")) {
    EXPECT_EQ(oracle::check_samples(output, oracle::pick(*result, output), Against::samples), "") << output.at("index");
    EXPECT_EQ(oracle::check_whole(output, *result), "") << output.at("index");
  }
}

TEST(Oracle, MnistFusions) { check_records("mnist_train_step", Rounding::each, Against::samples); }
TEST(Oracle, MnistFusionsRoundedAtTheBorder) { check_records("mnist_train_step", Rounding::border, Against::upcast); }
TEST(Oracle, BertFusions) { check_records("bert_pretrain_step", Rounding::each, Against::samples); }
TEST(Oracle, BertFusionsRoundedAtTheBorder) { check_records("bert_pretrain_step", Rounding::border, Against::upcast); }

}  // namespace
