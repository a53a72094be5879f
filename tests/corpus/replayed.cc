// Plan, prepare, fill, one pass, read back.
#include "tests/corpus/replayed.h"

#include <atomic>

#include "replay/device/devices.h"
#include "replay/engine.h"

namespace corpus {
namespace {

struct Nothing : replay::Observer {
  base::Status keep(const model::Pass&, std::span<const model::Sample>) override { return {}; }
};

}  // namespace

base::Result<Planned> plan_on(std::string_view name, const ir::Module& module, replay::Rounding rounding, int threads) {
  replay::DeviceOptions device_options;
  device_options.threads = threads;
  ASSIGN_OR_RETURN(auto device, replay::open_device(std::string(name), device_options));
  replay::PlanOptions options;
  options.rounding = rounding;
  options.target = device->target();
  options.reference_only = device->evaluates();
  ASSIGN_OR_RETURN(replay::Plan plan, replay::make_plan(module, options));
  return Planned{std::move(device), std::move(plan)};
}

base::Result<Outputs> replay_once(Planned& planned, const replay::Recipes& recipes) {
  auto& [device, plan] = planned;
  RETURN_IF_ERROR(device->prepare(plan));
  replay::InputOptions inputs;
  inputs.recipes = recipes;
  RETURN_IF_ERROR(replay::load_inputs(plan, *device, inputs));
  const std::atomic<bool> stop{false};
  replay::EngineOptions options;
  options.warm_up = 0;
  options.repeat_short = false;
  Nothing nothing;
  replay::Engine engine(plan, *device, options, stop);
  RETURN_IF_ERROR(engine.run(*measure::exactly(1), nothing));
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

}  // namespace corpus
