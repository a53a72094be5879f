// Each op file on the reference, and on each device that opens.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "importers/hlo/hlo.h"
#include "replay/device/cpu/cpu.h"
#include "replay/device/cuda/cuda.h"
#include "replay/device/reference/reference.h"
#include "replay/engine.h"
#include "replay/reference/reference.h"
#include "tests/ops/op_file.h"
#include "tests/support/compile_c.h"

namespace ops {
namespace {

using replay::Rounding;
using replay::Tensor;

struct Device {
  const char* name;
  base::Result<std::unique_ptr<replay::Device>> (*open)(const replay::DeviceOptions&);
};
constexpr Device kDevices[] = {{"cpu", replay::cpu::open}, {"cuda", replay::cuda::open}, {"reference", replay::reference::open}};

std::vector<std::string> files() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(SOURCE_DIR "/tests/ops")) {
    if (entry.path().extension() == ".hlo") out.push_back(entry.path().stem().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// Arrays by the path of their leaf.
using Outputs = std::map<std::string, Tensor>;

void collect(const Tensor& tensor, const std::string& path, Outputs& out) {
  if (!tensor.shape.is_tuple()) {
    out[path] = tensor;
    return;
  }
  for (size_t k = 0; k < tensor.elements.size(); ++k)
    collect(tensor.elements[k], (path.empty() ? "" : path + ".") + std::to_string(k), out);
}

Tensor argument(const ir::Shape& shape, const replay::Recipes& recipes, const std::string& name) {
  Tensor out;
  out.shape = shape;
  if (!shape.is_tuple()) {
    const auto it = recipes.params.find(name);
    return replay::generate(it == recipes.params.end() ? replay::Recipe() : it->second, shape, recipes.seed, name);
  }
  for (size_t k = 0; k < shape.elements.size(); ++k)
    out.elements.push_back(argument(shape.elements[k], recipes, name + "." + std::to_string(k)));
  return out;
}

base::Result<Outputs> on_reference(const OpFile& file, const ir::Module& module, Rounding rounding) {
  std::vector<Tensor> arguments;
  const ir::Computation& entry = module.comp(module.entry);
  for (size_t k = 0; k < entry.parameters.size(); ++k) {
    arguments.push_back(argument(module.shape(entry.instrs[static_cast<size_t>(entry.parameters[k])]), file.inputs, std::to_string(k)));
  }
  replay::reference::Evaluator evaluator(module, rounding);
  ASSIGN_OR_RETURN(const Tensor result, evaluator.run(module.entry, arguments));
  Outputs out;
  collect(result, "", out);
  return out;
}

class Silent : public replay::Observer {
 public:
  base::Status keep(const model::Pass&, std::span<const model::Sample>) override { return {}; }
};

replay::PlanOptions options_for(const replay::Device& device, Rounding rounding) {
  replay::PlanOptions options;
  options.rounding = rounding;
  options.target = device.target();
  options.reference_only = device.evaluates();
  options.accepts = device.accepts();
  options.arranges = device.arranges();
  return options;
}

base::Result<Outputs> run(const OpFile& file, replay::Plan& plan, replay::Device& device) {
  RETURN_IF_ERROR(device.prepare(plan));
  replay::InputOptions inputs;
  inputs.recipes = file.inputs;
  RETURN_IF_ERROR(replay::load_inputs(plan, device, inputs));
  const std::atomic<bool> stop = false;
  replay::EngineOptions how;
  how.warm_up = 0;
  replay::Engine engine(plan, device, how, stop);
  const auto criterion = measure::exactly(1);
  Silent silent;
  RETURN_IF_ERROR(engine.run(*criterion, silent));
  Outputs out;
  for (const replay::PlanOutput& output : plan.outputs) {
    Tensor array;
    array.shape = plan.buffers[static_cast<size_t>(output.buffer)].shape;
    std::vector<std::byte> storage;
    ASSIGN_OR_RETURN(const auto bytes, replay::host_bytes(plan, device, output.buffer, storage));
    array.data.resize(static_cast<size_t>(ir::bytes(array.shape)));
    replay::to_logical(array.shape, bytes.first(array.data.size()), array.data);
    out[ir::path_text(output.path)] = std::move(array);
  }
  return out;
}

base::Result<Outputs> on_device(const OpFile& file, const ir::Module& module, replay::Device& device, Rounding rounding) {
  ASSIGN_OR_RETURN(replay::Plan plan, replay::make_plan(module, options_for(device, rounding)));
  return run(file, plan, device);
}

void expect_values(const OpFile& file, const base::Result<Outputs>& outputs, const std::string& where) {
  ASSERT_TRUE(outputs.ok()) << where << ": " << outputs.error().message;
  for (const auto& [path, expected] : file.expected) {
    const auto it = outputs->find(path);
    ASSERT_NE(it, outputs->end()) << where << ": no output " << path;
    EXPECT_EQ(check(it->second, expected, file.tolerance), "") << where << " output " << path;
  }
}

class OpFiles : public testing::TestWithParam<std::string> {};

TEST_P(OpFiles, HaveTheExpectedValues) {
  const auto file = read_op_file(SOURCE_DIR "/tests/ops/" + GetParam() + ".hlo");
  ASSERT_TRUE(file.ok()) << file.error().message;
  const auto module = importers::hlo::parse(file->text, GetParam());
  ASSERT_TRUE(module.ok()) << module.error().message;
  for (const Rounding rounding : {Rounding::each, Rounding::border}) {
    const std::string mode = rounding == Rounding::each ? " (each)" : " (border)";
    expect_values(*file, on_reference(*file, *module, rounding), "evaluator" + mode);
    for (const Device& kind : kDevices) {
      if (!file->devices.empty() && std::find(file->devices.begin(), file->devices.end(), kind.name) == file->devices.end()) continue;
      auto device = kind.open({});
      if (!device.ok()) continue;
      expect_values(*file, on_device(*file, *module, **device, rounding), kind.name + mode);
    }
  }
}

/// The kernels of an op file written in another language than LLVM's, for the cpu device to run.
struct Written {
  OpFile file;
  ir::Module module;
  replay::Plan plan;
  std::string name;
};

base::Result<std::unique_ptr<Written>> written(const std::string& name, const replay::Device& cpu, Rounding rounding,
                                               kernel::Language language) {
  auto made = std::make_unique<Written>();
  made->name = name + (rounding == Rounding::each ? " (each)" : " (border)");
  ASSIGN_OR_RETURN(made->file, read_op_file(SOURCE_DIR "/tests/ops/" + name + ".hlo"));
  ASSIGN_OR_RETURN(made->module, importers::hlo::parse(made->file.text, name));
  replay::PlanOptions options = options_for(cpu, rounding);
  options.target.language = language;
  ASSIGN_OR_RETURN(made->plan, replay::make_plan(made->module, options));
  return made;
}

/// Those that the cpu device is to run.
std::vector<std::unique_ptr<Written>> all_written(const replay::Device& cpu, kernel::Language language) {
  std::vector<std::unique_ptr<Written>> all;
  for (const std::string& name : files()) {
    for (const Rounding rounding : {Rounding::each, Rounding::border}) {
      auto made = written(name, cpu, rounding, language);
      EXPECT_TRUE(made.ok()) << name << ": " << made.error().message;
      if (!made.ok()) continue;
      const auto& devices = (*made)->file.devices;
      if (!devices.empty() && std::find(devices.begin(), devices.end(), "cpu") == devices.end()) continue;
      all.push_back(*std::move(made));
    }
  }
  return all;
}

std::vector<replay::Plan*> plans_of(const std::vector<std::unique_ptr<Written>>& all) {
  std::vector<replay::Plan*> plans;
  plans.reserve(all.size());
  for (const auto& one : all) plans.push_back(&one->plan);
  return plans;
}

TEST(OpFilesInC, HaveTheExpectedValues) {
  const auto cpu = replay::cpu::open({});
  if (!cpu.ok()) GTEST_SKIP() << cpu.error().message;
  const auto all = all_written(**cpu, kernel::Language::c);
  const auto object = support::compile_c(plans_of(all));
  ASSERT_TRUE(object.ok()) << object.error().message;
  for (const auto& one : all) expect_values(one->file, run(one->file, one->plan, **cpu), one->name);
}

/// The text that a GPU would compile, on the host, with the threads of a block in three orders.
TEST(OpFilesInCuda, HaveTheExpectedValues) {
  const auto cpu = replay::cpu::open({});
  if (!cpu.ok()) GTEST_SKIP() << cpu.error().message;
  const auto all = all_written(**cpu, kernel::Language::cuda);
  const auto object = support::compile_cuda(plans_of(all));
  ASSERT_TRUE(object.ok()) << object.error().message;
  for (const auto order : {support::Order::forward, support::Order::backward, support::Order::random}) {
    for (const auto& one : all) {
      support::set_order(**object, order);
      const std::string where = fmt::format("{} order {}", one->name, static_cast<int>(order));
      expect_values(one->file, run(one->file, one->plan, **cpu), where);
      EXPECT_EQ(support::fault(**object), "") << where;
    }
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& info) { return info.param; }
INSTANTIATE_TEST_SUITE_P(Op, OpFiles, testing::ValuesIn(files()), test_name);

}  // namespace
}  // namespace ops
