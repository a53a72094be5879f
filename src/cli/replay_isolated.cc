// A step alone needs the memory of its own operands and results, not of a program's parameters and everything alive beside it; and a model
// of 64 equal layers has few distinct steps. The price: what flows between steps is lost, so operands are generated, and the caches hold
// nothing that a step before has left there.
#include "src/cli/replay_isolated.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "replay/prepare.h"
#include "src/base/clock.h"
#include "src/base/text.h"
#include "src/cli/fusion_records.h"
#include "src/cli/output.h"
#include "src/cli/step_records.h"
#include "src/ir/builder.h"

namespace cli {
namespace {

/// Saves the samples of the step under its number in the whole plan; passes are counted on through all steps.
class IsolatedRecorder : public replay::Observer {
 public:
  IsolatedRecorder(model::Store& store, int64_t run, ProgressLine& line, int32_t steps)
      : store_(store), run_(run), line_(line), steps_(steps) {}

  /// The next passes are of this step, which is number `alone` in the plan that it has alone.
  void begin(replay::StepId step, replay::StepId alone, int32_t done) {
    step_ = step;
    alone_ = alone;
    offset_ns_ = base::since_ns(start_);
    replay::Progress progress;
    progress.stage = replay::Progress::Stage::measure;
    progress.step = done;
    progress.steps = steps_;
    progress.left_s = done == 0 ? 0 : 1e-9 * static_cast<double>(offset_ns_) / done * (steps_ - done);
    line_.show(progress);
  }
  base::Status keep(const model::Pass& pass, std::span<const model::Sample> samples) override {
    model::Pass renumbered = pass;
    renumbered.pass = pass_++;
    renumbered.begin_ns += offset_ns_;
    renumbered.end_ns += offset_ns_;
    std::vector<model::Sample> own;
    for (model::Sample sample : samples) {
      if (sample.step != alone_) continue;
      sample.step = step_;
      sample.pass = renumbered.pass;
      sample.begin_ns += offset_ns_;
      own.push_back(sample);
    }
    return saved_ = store_.add(run_, renumbered, own);
  }
  /// An Error: the store could not take it, which no other step would mend.
  const base::Status& saved() const { return saved_; }

 private:
  model::Store& store_;
  int64_t run_;
  ProgressLine& line_;
  int32_t steps_;
  base::Clock::time_point start_ = base::Clock::now();
  replay::StepId step_ = 0, alone_ = 0;
  int32_t pass_ = 0;
  int64_t offset_ns_ = 0;  ///< of this step's clock since the run's start
  base::Status saved_;
};

class Runner {
 public:
  Runner(const replay::Plan& plan, const ReplayOptions& options, model::Run& record, int64_t run, model::Store& store, ProgressLine& line)
      : plan_(plan), options_(options), record_(record), run_(run), store_(store), line_(line) {}

  base::Result<Isolated> run(const std::vector<bool>& timed) {
    const std::vector<std::vector<replay::StepId>> groups = distinct_steps(timed);
    const double budget_s = options_.budget_s / static_cast<double>(std::max<size_t>(groups.size(), 1));
    IsolatedRecorder recorder(store_, run_, line_, static_cast<int32_t>(groups.size()));
    for (size_t g = 0; g < groups.size() && !stop_requested() && result_.failure.empty(); ++g) {
      const base::Status measured = within_memory([&] { return measure(groups[g], recorder, static_cast<int32_t>(g), budget_s); });
      RETURN_IF_ERROR(recorder.saved());
      if (lost_) return base::Error{fmt::format("{}: {}", base::escaped(step(groups[g].front()).name), measured.error().message)};
      if (!measured.ok()) refuse(groups[g], measured.error().message);
    }
    for (model::StepRecord& record : record_.steps) {
      if (step(record.step).moves_state) record.why = "carries a loop's state, which is nothing alone: not measured";
    }
    if (!result_.failure.empty())
      result_.status = model::RunStatus::failed;
    else if (stop_requested())
      result_.status = model::RunStatus::interrupted;
    return result_;
  }

 private:
  const replay::Step& step(replay::StepId id) const { return *plan_.steps[static_cast<size_t>(id)]; }

  /// Steps by identity, in plan order of their first. Copies of a loop's state are nothing alone.
  std::vector<std::vector<replay::StepId>> distinct_steps(const std::vector<bool>& timed) const {
    std::vector<std::vector<replay::StepId>> groups;
    std::map<std::string_view, size_t> known;
    for (const replay::Step* s : plan_.steps) {
      const bool wanted = timed.empty() || timed[static_cast<size_t>(s->id)];
      if (!wanted || s->moves_state || s->cls == replay::Class::skip) continue;
      const auto [group, fresh] = known.try_emplace(s->key, groups.size());
      if (fresh) groups.emplace_back();
      groups[group->second].push_back(s->id);
    }
    return groups;
  }

  base::Status measure(const std::vector<replay::StepId>& group, IsolatedRecorder& recorder, int32_t done, double budget_s) {
    const replay::Step& first = step(group.front());
    const ir::Module module = ir::extract_instruction(*plan_.module, first.instr, replay::overwritten_operands(*plan_.module, first));
    ASSIGN_OR_RETURN(const auto device, device_for(options_));
    const base::Status measured = measure(group, module, *device, recorder, done, budget_s);
    lost_ = device->lost();
    return measured;
  }

  base::Status measure(const std::vector<replay::StepId>& group, const ir::Module& module, replay::Device& device,
                       IsolatedRecorder& recorder, int32_t done, double budget_s) {
    const replay::Step& first = step(group.front());
    ASSIGN_OR_RETURN(replay::Plan plan, plan_for(module, options_, device));
    const auto own = std::find_if(plan.steps.begin(), plan.steps.end(), [&](const replay::Step* s) { return s->name == first.name; });
    if (own == plan.steps.end()) return base::Error{"has no step of its own"};
    const auto preparing = base::Clock::now();
    RETURN_IF_ERROR(replay::prepare(plan, device));
    if ((*own)->cls == replay::Class::skip) return base::Error{(*own)->why};
    record_.compile_ns += base::since_ns(preparing);
    replay::InputOptions inputs;
    inputs.recipes.seed = options_.seed;
    RETURN_IF_ERROR(replay::load_inputs(plan, device, inputs, &stop_requested()));
    recorder.begin(first.id, (*own)->id, done);
    replay::EngineOptions engine_options;
    engine_options.warm_up = options_.warm_up;
    engine_options.repeat_short = options_.repeats_short();
    engine_options.verify = options_.verify;
    engine_options.seed = options_.seed;
    replay::Engine engine(plan, device, engine_options, stop_requested());
    const auto criterion = criterion_for(options_, budget_s);
    ASSIGN_OR_RETURN(const replay::Outcome outcome, engine.run(*criterion, recorder));
    const auto first_kernel = static_cast<int32_t>(record_.kernels.size());
    keep(group, (*own)->id, outcome, device);
    keep_parts(group, plan, outcome, device, first_kernel);
    if (device.lost()) return base::Error{outcome.error};  // else what was kept before counts
    return {};
  }

  /// What one step told holds for all that are like it.
  void keep(const std::vector<replay::StepId>& group, replay::StepId alone, const replay::Outcome& outcome, const replay::Device& device) {
    const std::vector<model::StepStat> stats = step_stats(outcome);
    const auto own = std::ranges::find(stats, alone, &model::StepStat::step);
    const auto first_kernel = static_cast<int32_t>(record_.kernels.size());
    for (model::KernelRecord& kernel : device.kernels()) record_.kernels.push_back(std::move(kernel));
    for (const replay::StepId id : group) {
      model::StepRecord& record = record_.steps[static_cast<size_t>(id)];
      record.precision = device.precision_of(alone);
      record.cls = replay::text(device.class_of(alone, step(id).cls));
      for (const int32_t kernel : device.kernels_of(alone)) record.kernels.push_back(first_kernel + kernel);
      if (!outcome.verdicts.empty()) add_verdict(record, outcome.verdicts[static_cast<size_t>(alone)]);
      if (own == stats.end()) continue;
      model::StepStat stat = *own;
      stat.step = id;
      stat.calls = step(id).trips;
      result_.pass_seconds += stat.median_ns * stat.calls * 1e-9;
      result_.stats.push_back(std::move(stat));
    }
    if (own != stats.end()) ++result_.distinct;
    if (outcome.failed_step >= 0) result_.failure = outcome.verdicts[static_cast<size_t>(outcome.failed_step)].place;
  }

  /// Of a fusion that ran as its parts too: their kernels, which begin at `first_kernel` in the record, times and verdicts.
  void keep_parts(const std::vector<replay::StepId>& group, const replay::Plan& alone, const replay::Outcome& outcome,
                  const replay::Device& device, int32_t first_kernel) {
    std::vector<model::FusionRecord> fusions = fusion_records(alone, device);
    if (fusions.empty()) return;
    add_part_times(fusions, alone, outcome);
    for (model::FusionPart& part : fusions.front().parts) {
      if (part.kernel >= 0) part.kernel += first_kernel;
    }
    for (model::FusionRecord& record : record_.fusions) {
      if (std::ranges::count(group, record.step) == 0) continue;
      const int32_t step = std::exchange(record, fusions.front()).step;
      record.step = step;
    }
  }

  /// `error`: "what; what to do", of which the second is for a whole program.
  void refuse(const std::vector<replay::StepId>& group, const std::string& error) {
    const std::string why = error.substr(0, error.find(';'));
    line_.say(fmt::format("skipped {}{}: {}", base::escaped(step(group.front()).name),
                          group.size() > 1 ? fmt::format(" and {} like it", group.size() - 1) : "", why));
    for (const replay::StepId id : group) {
      record_.steps[static_cast<size_t>(id)].cls = "skip";
      record_.steps[static_cast<size_t>(id)].why = why;
    }
  }

  const replay::Plan& plan_;
  const ReplayOptions& options_;
  model::Run& record_;
  int64_t run_;
  model::Store& store_;
  ProgressLine& line_;
  Isolated result_;
  bool lost_ = false;  ///< the device: no other step can be measured
};

}  // namespace

base::Result<Isolated> replay_isolated(const replay::Plan& plan, const ReplayOptions& options, const std::vector<bool>& timed,
                                       model::Run& record, int64_t run, model::Store& store, ProgressLine& line) {
  return Runner(plan, options, record, run, store, line).run(timed);
}

}  // namespace cli
