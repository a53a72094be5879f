// Random modules through a device, every step judged by the reference:
//
//   differential [--from 1] [--count 500] [--device cpu] [--language llvm-ir] [--print SEED]
//
// Exit 1: a module differs, is refused by the parser, or fails. With --language c or cuda the kernels of every 100 modules are one shared
// object; the text of CUDA kernels runs on the host, with the threads of a block in one of three orders.
//
// What a device refuses is counted by reason; --print writes a seed's module.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>

#include "importers/hlo/hlo.h"
#include "replay/device/devices.h"
#include "replay/engine.h"
#include "src/ir/verify.h"
#include "tests/differential/generate.h"
#include "tests/support/compile_c.h"

namespace {

struct Nothing : replay::Observer {
  base::Status keep(const model::Pass&, std::span<const model::Sample>) override { return {}; }
};

/// A seed's module with what it becomes.
struct Case {
  uint64_t seed = 0;
  ir::Module module;
  replay::Plan plan;
  replay::Rounding rounding() const { return seed % 2 == 0 ? replay::Rounding::border : replay::Rounding::each; }
};

/// Error: what stopped it; "refused: …" if a step has no code.
base::Result<std::unique_ptr<Case>> planned(uint64_t seed, const kernel::Target& target) {
  auto made = std::make_unique<Case>();
  made->seed = seed;
  ASSIGN_OR_RETURN(made->module, importers::hlo::parse(differential::random_module(seed), fmt::format("seed {}", seed)));
  if (const auto findings = ir::verify(made->module); !findings.empty()) return base::Error{findings.front().what};
  replay::PlanOptions options;
  options.rounding = made->rounding();
  options.target = target;
  ASSIGN_OR_RETURN(made->plan, replay::make_plan(made->module, options));
  for (const replay::Step* step : made->plan.steps) {
    if (step->cls == replay::Class::skip) return base::Error{"refused: " + step->why};
  }
  return made;
}

/// "": every step agrees with the reference.
base::Result<std::string> difference(replay::Plan& plan, replay::Device& device) {
  RETURN_IF_ERROR(device.prepare(plan));
  RETURN_IF_ERROR(replay::load_inputs(plan, device, {}));
  replay::EngineOptions engine_options;
  engine_options.warm_up = 0;
  engine_options.verify = true;
  engine_options.repeat_short = false;
  const std::atomic<bool> stop{false};
  Nothing nothing;
  replay::Engine engine(plan, device, engine_options, stop);
  ASSIGN_OR_RETURN(const replay::Outcome outcome, engine.run(*measure::exactly(1), nothing));
  if (outcome.failed_step < 0) return std::string();
  const auto at = static_cast<size_t>(outcome.failed_step);
  return fmt::format("{}: {} of the tolerance at {}", plan.steps[at]->name, outcome.verdicts[at].worst, outcome.verdicts[at].place);
}

struct Counts {
  int64_t equal = 0, failed = 0;
  std::map<std::string, int64_t> refused;
};

void fail(Counts& counts, uint64_t seed, const std::string& what) {
  ++counts.failed;
  fmt::print("seed {}: {}\n", seed, what);
}

/// Plans a block of seeds, compiles them together if they are written in C, and runs each.
void check(uint64_t from, uint64_t end, const kernel::Target& target, replay::Device& device, Counts& counts) {
  std::vector<std::unique_ptr<Case>> cases;
  for (uint64_t seed = from; seed < end; ++seed) {
    auto made = planned(seed, target);
    if (made.ok()) {
      cases.push_back(*std::move(made));
    } else if (made.error().message.starts_with("refused: ")) {
      ++counts.refused[made.error().message];
    } else {
      fail(counts, seed, made.error().message);
    }
  }
  std::unique_ptr<support::SharedObject> object;
  const bool cuda = target.language == kernel::Language::cuda;
  if (cuda || target.language == kernel::Language::c) {
    std::vector<replay::Plan*> plans;
    for (const auto& one : cases) plans.push_back(&one->plan);
    auto compiled = cuda ? support::compile_cuda(plans) : support::compile_c(plans);
    if (!compiled.ok()) return fail(counts, from, compiled.error().message);
    object = *std::move(compiled);
  }
  for (const auto& one : cases) {
    if (cuda) support::set_order(*object, static_cast<support::Order>(one->seed % 3));
    const auto found = difference(one->plan, device);
    std::string what = found.ok() ? *found : found.error().message;
    if (cuda && what.empty()) what = support::fault(*object);
    if (what.empty())
      ++counts.equal;
    else
      fail(counts, one->seed, fmt::format("{} ({})", what, one->rounding() == replay::Rounding::each ? "each" : "border"));
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"random modules: a device against the reference"};
  uint64_t from = 1, count = 500, print = 0;
  std::string device_name = "cpu", language = "llvm-ir";
  app.add_option("--from", from);
  app.add_option("--count", count);
  app.add_option("--device", device_name);
  app.add_option("--language", language)->check(CLI::IsMember({"llvm-ir", "c", "cuda"}));
  app.add_option("--print", print);
  CLI11_PARSE(app, argc, argv);
  if (print != 0) {
    fmt::print("{}", differential::random_module(print));
    return 0;
  }
  auto device = replay::open_device(device_name, {});
  if (!device.ok()) {
    fmt::print(stderr, "differential: {}\n", device.error().message);
    return 1;
  }
  Counts counts;
  kernel::Target target = (*device)->target();
  if (language == "c") target.language = kernel::Language::c;
  if (language == "cuda") target.language = kernel::Language::cuda;
  constexpr uint64_t kBlock = 100;
  for (uint64_t seed = from; seed < from + count; seed += kBlock)
    check(seed, std::min(seed + kBlock, from + count), target, **device, counts);
  for (const auto& [reason, n] : counts.refused) fmt::print("{:6} {}\n", n, reason);
  fmt::print("{} equal, {} failed\n", counts.equal, counts.failed);
  return counts.failed == 0 ? 0 : 1;
}
