// The cpu device against XLA: both steps as a whole, every distinct fusion and product of both samples alone, at real size, in both
// roundings.
#include <gtest/gtest.h>

#include <atomic>
#include <optional>

#include "replay/device/devices.h"
#include "replay/engine.h"
#include "src/ir/builder.h"
#include "tests/unit/reference/oracle.h"

namespace {

using oracle::Against;
using oracle::Json;
using replay::Rounding;

struct Nothing : replay::Observer {
  base::Status keep(const model::Pass&, std::span<const model::Sample>) override { return {}; }
};

/// Outputs of one pass, by leaf path.
using Outputs = std::map<std::vector<int64_t>, replay::Tensor>;

base::Result<Outputs> run(const ir::Module& module, const replay::Recipes& recipes, Rounding rounding) {
  ASSIGN_OR_RETURN(const auto device, replay::open_device("cpu", {}));
  replay::PlanOptions options;
  options.rounding = rounding;
  options.target = device->target();
  ASSIGN_OR_RETURN(replay::Plan plan, replay::make_plan(module, options));
  for (const replay::Step* step : plan.steps) {
    if (step->cls < replay::Class::library) return base::Error{step->name + ": " + step->why};
  }
  RETURN_IF_ERROR(device->prepare(plan));
  replay::InputOptions inputs;
  inputs.recipes = recipes;
  ASSIGN_OR_RETURN(const auto filled, replay::load_inputs(plan, *device, inputs));
  const std::atomic<bool> stop{false};
  replay::EngineOptions engine_options;
  engine_options.warm_up = 0;
  engine_options.repeat_short = false;
  Nothing nothing;
  replay::Engine engine(plan, *device, engine_options, stop);
  ASSIGN_OR_RETURN(const auto outcome, engine.run(*measure::exactly(1), nothing));
  Outputs outputs;
  for (const replay::PlanOutput& output : plan.outputs) {
    replay::Tensor tensor;
    tensor.shape = plan.buffers[static_cast<size_t>(output.buffer)].shape;
    std::vector<std::byte> storage;
    ASSIGN_OR_RETURN(const auto physical, replay::host_bytes(plan, *device, output.buffer, storage));
    tensor.data.resize(static_cast<size_t>(ir::bytes(tensor.shape)));
    replay::to_logical(tensor.shape, physical.first(tensor.data.size()), tensor.data);
    outputs.emplace(output.path, std::move(tensor));
  }
  return outputs;
}

/// The output as an array of its own: its tensor has been picked out of the tuple already.
Json alone(Json output) {
  output["index"] = "";
  return output;
}

int check(const Json& record, const Outputs& outputs, Against against, const std::string& what) {
  int failed = 0;
  for (const Json& output : record.at("outputs")) {
    if (!outputs.contains(oracle::path_of(output))) {
      ADD_FAILURE() << what << " lacks output " << output.at("index");
      ++failed;
      continue;
    }
    const replay::Tensor& tensor = outputs.at(oracle::path_of(output));
    std::string wrong = oracle::check_samples(output, oracle::pick(tensor, alone(output)), against);
    if (wrong.empty() && against == Against::samples) wrong = oracle::check_whole(alone(output), tensor);
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
