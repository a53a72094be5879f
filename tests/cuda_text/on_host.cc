// One shared object for all modules; each run fills the inputs anew and verifies every step.
#include "tests/cuda_text/on_host.h"

#include <fmt/format.h>

#include <atomic>

#include "importers/hlo/hlo.h"
#include "replay/device/cpu/cpu.h"
#include "replay/device/cuda/cudnn_plan.h"
#include "replay/device/cuda/own_kernels.h"

namespace cuda_text {
namespace {

struct Nothing : replay::Observer {
  base::Status keep(const model::Pass&, std::span<const model::Sample>) override { return {}; }
};

/// The device's own kernels instead of calls of libraries, as far as it has some.
void use_own_kernels(replay::Plan& plan) {
  for (replay::Step* step : plan.steps) {
    for (replay::Launch& launch : step->launches) {
      auto own = replay::cuda::own_kernel(launch);
      if (!own.ok()) continue;
      launch = replay::KernelCall{static_cast<int>(plan.kernels.size()), replay::cuda::args_of(launch)};
      plan.kernels.push_back(*std::move(own));
      step->cls = replay::Class::kernel;
    }
  }
}

}  // namespace

base::Result<std::unique_ptr<Planned>> planned(ir::Module module, const kernel::Target& target) {
  auto made = std::make_unique<Planned>();
  made->module = std::move(module);
  replay::PlanOptions options;
  options.target = target;
  options.accepts = replay::cuda::accepts;
  options.arranges = replay::cuda::arranged;
  ASSIGN_OR_RETURN(made->plan, replay::make_plan(made->module, options));
  use_own_kernels(made->plan);
  return made;
}

OnHost::OnHost() : device_(*replay::cpu::open({})) {}

kernel::Target OnHost::target(int multiprocessors) const {
  kernel::Target target = device_->target();
  target.language = kernel::Language::cuda;
  target.multiprocessors = multiprocessors;
  return target;
}

base::Status OnHost::add(const std::string& hlo) {
  ASSIGN_OR_RETURN(ir::Module module, importers::hlo::parse(hlo, "test"));
  ASSIGN_OR_RETURN(auto made, planned(std::move(module), target()));
  add(std::move(made));
  return {};
}

base::Status OnHost::compile() {
  std::vector<replay::Plan*> plans;
  plans.reserve(cases_.size());
  for (const auto& one : cases_) plans.push_back(&one->plan);
  ASSIGN_OR_RETURN(object_, support::compile_cuda(plans));
  return {};
}

base::Result<replay::Outcome> OnHost::run(replay::Plan& plan, support::Order order, Verify verify) {
  support::set_order(*object_, order);
  RETURN_IF_ERROR(device_->prepare(plan));
  RETURN_IF_ERROR(replay::load_inputs(plan, *device_, {}));
  replay::EngineOptions how;
  how.warm_up = 0;
  how.verify = verify == Verify::yes;
  how.repeat_short = false;
  const std::atomic<bool> stop{false};
  Nothing nothing;
  replay::Engine engine(plan, *device_, how, stop);
  return engine.run(*measure::exactly(verify == Verify::yes ? 0 : 1), nothing);  // to verify is a pass as well
}

base::Result<std::vector<replay::Tensor>> OnHost::read(const replay::Plan& plan) {
  std::vector<replay::Tensor> all;
  for (const replay::PlanOutput& output : plan.outputs) {
    replay::Tensor& array = all.emplace_back();
    array.shape = plan.buffers[static_cast<size_t>(output.buffer)].shape;
    std::vector<std::byte> storage;
    ASSIGN_OR_RETURN(const auto bytes, replay::host_bytes(plan, *device_, output.buffer, storage));
    array.data.resize(static_cast<size_t>(ir::bytes(array.shape)));
    replay::to_logical(array.shape, bytes.first(array.data.size()), array.data);
  }
  return all;
}

base::Result<std::vector<replay::Tensor>> OnHost::outputs(size_t module, support::Order order) {
  replay::Plan& plan = cases_.at(module)->plan;
  RETURN_IF_ERROR(run(plan, order, Verify::no));
  if (const std::string fault = support::fault(*object_); !fault.empty()) return base::Error{fault};
  return read(plan);
}

std::string OnHost::shows(size_t module, support::Order order) {
  if (object_ == nullptr) return "not compiled";
  replay::Plan& plan = cases_.at(module)->plan;
  const auto outcome = run(plan, order, Verify::yes);
  if (const std::string fault = support::fault(*object_); !fault.empty()) return fault;
  if (!outcome.ok()) return outcome.error().message;
  if (outcome->failed_step < 0) return "";
  const auto at = static_cast<size_t>(outcome->failed_step);
  return fmt::format("{} differs: {} of the tolerance at {}", plan.steps[at]->name, outcome->verdicts[at].worst,
                     outcome->verdicts[at].place);
}

std::string OnHost::shows(size_t module) {
  for (const auto order : kOrders)
    if (std::string found = shows(module, order); !found.empty()) return found;
  return "";
}

std::string OnHost::shows_alike(size_t module) {
  if (std::string found = shows(module, kOrders[0]); !found.empty()) return found;
  const auto first = read(cases_[module]->plan);
  if (!first.ok()) return first.error().message;
  for (const auto order : {support::Order::backward, support::Order::random}) {
    const auto again = outputs(module, order);
    if (!again.ok()) return again.error().message;
    for (size_t k = 0; k < first->size(); ++k)
      if (again->at(k).data != first->at(k).data) return fmt::format("output {} depends on the order of the threads", k);
  }
  return "";
}

}  // namespace cuda_text
