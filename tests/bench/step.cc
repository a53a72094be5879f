// One pass on command, for fair comparison with a peer that runs alternately: reads a line from stdin, runs a pass, prints its seconds.
//
//   bench_step MODULE [RECIPE]      first line out: {"parse_s":…, "open_s":…, "plan_s":…, "compile_s":…, "memory_s":…, "first_pass_s":…,
//   "rss_mb":…}
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "importers/hlo/hlo.h"
#include "replay/device/devices.h"
#include "replay/engine.h"
#include "src/base/file.h"
#include "tests/bench/must.h"

namespace {

using bench::must;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

int64_t peak_rss_mb() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word != "VmHWM:") continue;
    int64_t kilobytes = 0;
    status >> kilobytes;
    return kilobytes / 1000;
  }
  return 0;
}

struct Nothing : replay::Observer {
  base::Status keep(const model::Pass&, std::span<const model::Sample>) override { return {}; }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_step MODULE [RECIPE]\n");
    return 2;
  }
  const std::string text = must(base::read_file(argv[1]));
  const auto start = Clock::now();
  const ir::Module module = must(importers::hlo::parse(text, argv[1]));
  const double parse_s = seconds_since(start);
  const auto opening = Clock::now();
  const auto device = must(replay::open_device("cpu", {}));
  const double open_s = seconds_since(opening);
  const auto planning = Clock::now();
  replay::PlanOptions options;
  options.target = device->target();
  replay::Plan plan = must(replay::make_plan(module, options));
  const double plan_s = seconds_since(planning);
  must(device->prepare(plan));
  const replay::PrepareTimes times = device->prepare_times();
  replay::InputOptions inputs;
  if (argc > 2) inputs.recipes = must(replay::parse_recipes(must(base::read_file(argv[2])), argv[2]));
  must(replay::load_inputs(plan, *device, inputs));

  const std::atomic<bool> stop{false};
  replay::EngineOptions engine_options;
  engine_options.warm_up = 0;
  engine_options.repeat_short = false;
  Nothing nothing;
  double overhead_us = 0;
  const auto pass = [&] {
    must(replay::restore_inputs(plan, *device, inputs));
    replay::Engine engine(plan, *device, engine_options, stop);
    const auto once = measure::exactly(1);
    const replay::Outcome outcome = must(engine.run(*once, nothing));
    double steps_s = 0;
    for (const auto& seconds : outcome.seconds) steps_s += seconds.empty() ? 0 : seconds[0];
    overhead_us = (outcome.pass_seconds.at(0) - steps_s) / static_cast<double>(plan.steps.size()) * 1e6;
    return outcome.pass_seconds[0];
  };
  const double first_pass_s = pass();
  fmt::print(
      R"({{"parse_s":{:.6f},"open_s":{:.6f},"plan_s":{:.6f},"compile_s":{:.6f},"memory_s":{:.6f},"first_pass_s":{:.6f},"rss_mb":{},"steps":{},"kernels":{}}})"
      "\n",
      parse_s, open_s, plan_s, static_cast<double>(times.compile_ns) * 1e-9, static_cast<double>(times.memory_ns) * 1e-9, first_pass_s,
      peak_rss_mb(), plan.steps.size(), plan.kernels.size());
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    fmt::print("{:.9f}\n", pass());
    std::fflush(stdout);
  }
  fmt::print(R"({{"rss_mb":{},"engine_overhead_us_per_step":{:.3f}}})"
             "\n",
             peak_rss_mb(), overhead_us);
  return 0;
}
