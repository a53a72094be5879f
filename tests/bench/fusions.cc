// Do verdicts on fusions hold? Every fusion runs beside itself; of every second one the second side takes a planted share longer, spent
// busily within the timed window. Prints how many of the others were called (false), and how many of these were not (missed).
//
// PART_OF_NAME: only fusions whose name holds it.
//
//   bench_fusions MODULE [SECONDS [PLANTED_PERCENT [PART_OF_NAME]]]      {"planted": …, "missed": …, "honest": …, "false": …, "pairs": …,
//   "passes": …}
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#include "importers/hlo/hlo.h"
#include "replay/device/devices.h"
#include "replay/engine.h"
#include "src/base/file.h"
#include "src/stats/paired.h"
#include "tests/bench/must.h"

namespace {

using bench::must;

/// A device on which some steps take longer: after each of their samples it waits for the planted share and counts it in.
class Slowed : public replay::Device {
 public:
  Slowed(replay::Device& real, double share) : real_(real), share_(share) {}
  void slow(replay::StepId step) { slowed_.insert(step); }

  model::DeviceRecord describe() const override { return real_.describe(); }
  kernel::Target target() const override { return real_.target(); }
  base::Status prepare(const replay::Plan& plan) override { return real_.prepare(plan); }
  std::vector<model::KernelRecord> kernels() const override { return real_.kernels(); }
  std::vector<int32_t> kernels_of(replay::StepId step) const override { return real_.kernels_of(step); }
  std::string precision_of(replay::StepId step) const override { return real_.precision_of(step); }
  base::Status write(replay::BufferId buffer, std::span<const std::byte> bytes) override { return real_.write(buffer, bytes); }
  base::Status read(replay::BufferId buffer, std::span<std::byte> bytes) override { return real_.read(buffer, bytes); }
  std::span<std::byte> memory(replay::BufferId buffer) override { return real_.memory(buffer); }
  int64_t clock_ns() const override { return real_.clock_ns(); }
  base::Status start(replay::StepId step, int executions) override {
    RETURN_IF_ERROR(real_.start(step, executions));
    ASSIGN_OR_RETURN(std::vector<model::Sample> made, real_.finish());
    for (model::Sample& sample : made) {
      if (slowed_.contains(step)) sample.duration_ns += wait(static_cast<double>(sample.duration_ns) * share_);
      samples_.push_back(sample);
    }
    return {};
  }
  base::Result<std::vector<model::Sample>> finish() override { return std::exchange(samples_, {}); }

 private:
  int64_t wait(double ns) const {
    const int64_t begin = real_.clock_ns();
    while (static_cast<double>(real_.clock_ns() - begin) < ns) continue;
    return static_cast<int64_t>(ns);
  }

  replay::Device& real_;
  double share_;
  std::set<replay::StepId> slowed_;
  std::vector<model::Sample> samples_;
};

struct Pairs : replay::Observer {
  base::Status keep(const model::Pass&, std::span<const model::Sample> samples) override {
    for (const model::Sample& s : samples) {
      if (s.variant > 0) times[s.step][static_cast<size_t>(s.variant - 1)].push_back(static_cast<double>(s.duration_ns) / s.executions);
    }
    return {};
  }
  std::map<int32_t, std::array<std::vector<double>, 2>> times;  ///< by step: second side, first side
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_fusions MODULE [SECONDS [PLANTED_PERCENT [PART_OF_NAME]]]\n");
    return 2;
  }
  const double seconds = argc > 2 ? std::atof(argv[2]) : 30, share = (argc > 3 ? std::atof(argv[3]) : 5) / 100;
  const std::string text = must(base::read_file(argv[1]));
  const ir::Module module = must(importers::hlo::parse(text, argv[1]));
  const auto real = must(replay::open_device("cpu", {}));
  replay::PlanOptions options;
  options.target = real->target();
  const std::string_view only = argc > 4 ? argv[4] : "";
  options.parts = [only](std::string_view name) { return name.find(only) == name.npos ? replay::Parts::none : replay::Parts::itself; };
  replay::Plan plan = must(replay::make_plan(module, options));
  Slowed device(*real, share);
  std::set<replay::StepId> planted;
  for (size_t i = 0; i < plan.variants.size(); i += 2) {
    if (plan.variants[i].why.empty()) device.slow(plan.variants[i].whole.id), planted.insert(plan.variants[i].fused);
  }
  must(device.prepare(plan));
  static_cast<void>(must(replay::load_inputs(plan, device, {})));
  std::atomic<bool> stop{false};
  replay::Engine engine(plan, device, {}, stop);
  measure::StableOptions stable;
  stable.budget_s = seconds;
  const auto criterion = measure::until_stable(stable);
  Pairs pairs;
  const replay::Outcome outcome = must(engine.run(*criterion, pairs));

  std::vector<stats::Paired> found;
  std::vector<int32_t> steps;
  double count = 0;
  for (const auto& [step, sides] : pairs.times) {
    found.push_back(stats::compare_pairs(sides[1], sides[0]));
    steps.push_back(step);
    count += static_cast<double>(sides[0].size());
  }
  const auto judged = stats::judge_pairs(found);
  int missed = 0, wrong = 0, honest = 0, all = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const bool slowed = planted.contains(steps[i]), called = judged[i].verdict == stats::PairVerdict::second_slower;
    all += slowed ? 1 : 0, honest += slowed ? 0 : 1;
    missed += slowed && !called ? 1 : 0;
    wrong += !slowed && judged[i].verdict != stats::PairVerdict::same ? 1 : 0;
    if (called == (slowed && share > 0)) continue;
    fmt::print(stderr, "{}: step {}, {:.0f} ns: ratio {:.4f}, {} pairs, p {:.1e}\n", called ? "false" : "missed", steps[i],
               found[i].first_median, found[i].ratio, found[i].n, judged[i].p_value);
  }
  fmt::print("{{\"planted\": {}, \"missed\": {}, \"honest\": {}, \"false\": {}, \"pairs\": {:.1f}, \"passes\": {}}}\n", all, missed, honest,
             wrong, count / static_cast<double>(std::max<size_t>(1, steps.size())), outcome.passes);
  return 0;
}
