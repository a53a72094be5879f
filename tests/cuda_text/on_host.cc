// One shared object for all modules; each run fills the inputs anew and verifies every step.
#include "tests/cuda_text/on_host.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>

#include "importers/hlo/hlo.h"
#include "replay/device/cpu/cpu.h"

namespace cuda_text {
namespace {

struct Nothing : replay::Observer {
  base::Status keep(const model::Pass&, std::span<const model::Sample>) override { return {}; }
};

}  // namespace

OnHost::OnHost(const std::vector<std::string>& modules) : device_(*replay::cpu::open({})) {
  for (const std::string& text : modules) {
    auto module = importers::hlo::parse(text, "test");
    EXPECT_TRUE(module.ok()) << module.error().message << text;
    if (!module.ok()) continue;
    auto made = std::make_unique<Case>();
    made->module = *std::move(module);
    replay::PlanOptions options;
    options.target = device_->target();
    options.target.language = kernel::Language::cuda;
    auto plan = replay::make_plan(made->module, options);
    EXPECT_TRUE(plan.ok()) << text;
    if (!plan.ok()) continue;
    made->plan = *std::move(plan);
    cases_.push_back(std::move(made));
  }
}

void OnHost::compile() {
  std::vector<replay::Plan*> plans;
  for (const auto& one : cases_) plans.push_back(&one->plan);
  auto made = support::compile_cuda(plans);
  ASSERT_TRUE(made.ok()) << made.error().message;
  object_ = *std::move(made);
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
  return engine.run(*measure::exactly(1), nothing);
}

base::Result<std::vector<replay::Tensor>> OnHost::outputs(size_t module, support::Order order) {
  replay::Plan& plan = cases_.at(module)->plan;
  RETURN_IF_ERROR(run(plan, order, Verify::no));
  if (const std::string fault = support::fault(*object_); !fault.empty()) return base::Error{fault};
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

}  // namespace cuda_text
