// Random modules through a device, every step judged by the reference:
//
//   differential [--from 1] [--count 500] [--device cpu] [--print SEED]      exit 1: a module differs, is refused by the parser, or fails
//
// What a device refuses is counted by reason; --print writes a seed's module.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <map>
#include <string>

#include "importers/hlo/hlo.h"
#include "replay/device/devices.h"
#include "replay/engine.h"
#include "src/ir/verify.h"
#include "tests/differential/generate.h"

namespace {

struct Nothing : replay::Observer {
  base::Status keep(const model::Pass&, std::span<const model::Sample>) override { return {}; }
};

/// "": every step agrees with the reference. Error: what stopped it; "refused: …" if a step has no code.
base::Result<std::string> difference(const ir::Module& module, replay::Device& device, replay::Rounding rounding) {
  replay::PlanOptions options;
  options.rounding = rounding;
  options.target = device.target();
  ASSIGN_OR_RETURN(replay::Plan plan, replay::make_plan(module, options));
  for (const replay::Step* step : plan.steps) {
    if (step->cls == replay::Class::skip) return base::Error{"refused: " + step->why};
  }
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

void check(uint64_t seed, replay::Device& device, Counts& counts) {
  const auto module = importers::hlo::parse(differential::random_module(seed), fmt::format("seed {}", seed));
  if (!module.ok()) return fail(counts, seed, module.error().message);
  if (const auto findings = ir::verify(*module); !findings.empty()) return fail(counts, seed, findings.front().what);
  const auto rounding = seed % 2 == 0 ? replay::Rounding::border : replay::Rounding::each;
  const auto found = difference(*module, device, rounding);
  if (!found.ok()) {
    if (!found.error().message.starts_with("refused: ")) return fail(counts, seed, found.error().message);
    ++counts.refused[found.error().message];
    return;
  }
  if (!found->empty()) return fail(counts, seed, fmt::format("{} ({})", *found, rounding == replay::Rounding::each ? "each" : "border"));
  ++counts.equal;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"random modules: a device against the reference"};
  uint64_t from = 1, count = 500, print = 0;
  std::string device_name = "cpu";
  app.add_option("--from", from);
  app.add_option("--count", count);
  app.add_option("--device", device_name);
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
  for (uint64_t seed = from; seed < from + count; ++seed) check(seed, **device, counts);
  for (const auto& [reason, n] : counts.refused) fmt::print("{:6} {}\n", n, reason);
  fmt::print("{} equal, {} failed\n", counts.equal, counts.failed);
  return counts.failed == 0 ? 0 : 1;
}
