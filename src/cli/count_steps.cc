// Comes before any timing: CUPTI cannot count what it traces, and once it traces a process it does not end.
#include "src/cli/count_steps.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "replay/device/cuda/cuda.h"
#include "replay/engine.h"
#include "replay/prepare.h"
#include "src/cli/output.h"
#include "src/cli/progress.h"
#include "src/cli/replay_run.h"

namespace cli {
namespace {

model::Counters not_counted(std::string why) {
  model::Counters counters;
  counters.why = std::move(why);
  return counters;
}

/// Parts of fusions have StepIds of their own; in the store they stand with the fusion's.
void name_parts(const replay::Plan& plan, std::vector<model::CounterValue>& values) {
  std::map<int32_t, std::pair<int32_t, int32_t>> parts;
  for (const replay::Variant& variant : plan.variants)
    for (size_t part = 0; part < variant.parts.size(); ++part) parts[variant.parts[part].id] = {variant.fused, static_cast<int32_t>(part)};
  for (model::CounterValue& value : values)
    if (const auto found = parts.find(value.step); found != parts.end()) std::tie(value.step, value.part) = found->second;
}

base::Result<model::Counters> count_on(replay::Device& device, const ir::Module& module, const ReplayOptions& options,
                                       const replay::InputOptions& inputs) {
  ASSIGN_OR_RETURN(replay::Plan plan, plan_for(module, options, device));
  RETURN_IF_ERROR(replay::prepare(plan, device));
  RETURN_IF_ERROR(replay::load_inputs(plan, device, inputs, &stop_requested()));
  replay::EngineOptions engine_options;
  engine_options.inputs = inputs;
  replay::Engine engine(plan, device, engine_options, stop_requested());
  ASSIGN_OR_RETURN(const bool complete, engine.count());
  if (!complete) return not_counted("interrupted");
  ASSIGN_OR_RETURN(model::Counters counters, device.counted());
  name_parts(plan, counters.values);
  return counters;
}

bool required(const ReplayOptions& options) { return std::ranges::find(options.required, "counters") != options.required.end(); }

base::Result<model::Counters> count(const ir::Module& module, const ReplayOptions& options, const replay::InputOptions& inputs) {
  if (replay::cuda::traces())
    return not_counted("another program was timed before, and what CUPTI traces it cannot count; give each program a run of its own");
  const auto device = device_for(options, Purpose::counting);
  if (!device.ok()) return not_counted(device.error().message);
  model::Counters counters;
  const base::Status done = within_memory([&]() -> base::Status {
    ASSIGN_OR_RETURN(counters, count_on(**device, module, options, inputs));
    return {};
  });
  if (done.ok()) return counters;
  if ((*device)->lost()) return done.error();
  return not_counted(done.error().message);
}

}  // namespace

base::Result<model::Counters> count_steps(const ir::Module& module, const ReplayOptions& options, const std::string& recipe_file) {
  if (options.counters.empty()) return model::Counters();
  ASSIGN_OR_RETURN(const replay::InputOptions inputs, options.input_options(recipe_file));
  auto counted = count(module, options, inputs);
  if (counted.ok() && !counted->why.empty() && required(options))
    return base::Error{"--require counters: " + counted->why, base::Exit::missing_capability};
  return counted;
}

}  // namespace cli
