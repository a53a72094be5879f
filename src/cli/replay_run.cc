// The way of one module through plan, device and store. The run's row is committed before anything slow starts; passes are committed as
// they end.
#include "src/cli/replay_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <regex>

#include "replay/device/devices.h"
#include "replay/engine.h"
#include "replay/fuse.h"
#include "replay/measure/criterion.h"
#include "replay/prepare.h"
#include "src/base/clock.h"
#include "src/base/text.h"
#include "src/cli/count_steps.h"
#include "src/cli/fusion_records.h"
#include "src/cli/output.h"
#include "src/cli/replay_isolated.h"
#include "src/cli/step_records.h"
#include "src/ir/builder.h"
#include "src/stats/stats.h"

namespace cli {
namespace {

/// Saves passes and shows progress.
class Recorder : public replay::Observer {
 public:
  Recorder(model::Store& store, int64_t run, ProgressLine& line) : store_(store), run_(run), line_(line) {}
  void progress(const replay::Progress& progress) override { line_.show(progress); }
  base::Status keep(const model::Pass& pass, std::span<const model::Sample> samples) override { return store_.add(run_, pass, samples); }

 private:
  model::Store& store_;
  int64_t run_;
  ProgressLine& line_;
};

base::Error no_such(const ir::Module& module, std::string_view what, const std::string& name, std::span<const std::string_view> names) {
  const std::string_view near = base::nearest(name, names);
  const std::string hint = near.empty() ? "profile replay --list-steps shows the steps" : fmt::format("did you mean '{}'?", near);
  return {fmt::format("{}: no {} '{}'; {}", base::escaped(module.text(module.name)), what, base::escaped(name), hint),
          base::Exit::wrong_use};
}

std::string without_percent(const std::string& name) { return name.starts_with("%") ? name.substr(1) : name; }

base::Error wrong_kind(const ir::Module& module, const std::string& name, std::string_view what, std::string_view option) {
  const std::string shown = base::escaped(name);
  return {fmt::format("{}: '{}' is {}; use {} {}", base::escaped(module.text(module.name)), shown, what, option, shown),
          base::Exit::wrong_use};
}

/// Of several with this name the entry's.
std::optional<ir::InstrRef> instruction_named(const ir::Module& module, const std::string& name) {
  const std::string plain = without_percent(name);
  std::optional<ir::InstrRef> found;
  for (ir::CompId comp = 0; comp < static_cast<ir::CompId>(module.computations.size()); ++comp) {
    if (found && comp != module.entry) continue;
    const auto& instrs = module.comp(comp).instrs;
    const auto same = std::find_if(instrs.begin(), instrs.end(), [&](const ir::Instr& i) { return module.name_of(i) == plain; });
    if (same != instrs.end()) found = {comp, static_cast<ir::InstrId>(same - instrs.begin())};
  }
  return found;
}

base::Result<ir::Module> cut_computation(const ir::Module& module, const std::string& name) {
  const ir::CompId comp = module.find_computation(name);
  if (comp >= 0) {
    auto fusion = ir::extract_fusion(module, comp);
    return fusion ? *std::move(fusion) : ir::extract_computation(module, comp);
  }
  std::vector<std::string_view> names;
  for (const ir::Computation& c : module.computations) names.push_back(module.text(c.name));
  if (instruction_named(module, name)) return wrong_kind(module, name, "an instruction", "--instruction");
  return no_such(module, "computation", name, names);
}

base::Result<ir::Module> cut_instruction(const ir::Module& module, const std::string& name) {
  if (const auto found = instruction_named(module, name)) return ir::extract_instruction(module, *found);
  if (module.find_computation(name) >= 0) return wrong_kind(module, name, "a computation", "--computation");
  std::vector<std::string_view> names;
  for (const ir::Computation& c : module.computations) {
    for (const ir::Instr& instr : c.instrs) names.push_back(module.name_of(instr));
  }
  return no_such(module, "instruction", name, names);
}

base::Result<ir::Module> cut_out(const ir::Module& module, const ReplayOptions& options) {
  if (!options.computation.empty()) return cut_computation(module, options.computation);
  if (!options.instruction.empty()) return cut_instruction(module, options.instruction);
  return module;
}

base::Result<ir::InstrRef> step_named(const ir::Module& module, const std::string& name) {
  if (const auto found = instruction_named(module, name)) return *found;
  std::vector<std::string_view> names;
  for (const ir::Computation& c : module.computations) {
    for (const ir::Instr& instr : c.instrs) names.push_back(module.name_of(instr));
  }
  return no_such(module, "instruction", name, names);
}

base::Result<replay::Neighbours> pair_named(const ir::Module& module, const std::string& names) {
  ASSIGN_OR_RETURN(const auto pair, pair_of(names));
  ASSIGN_OR_RETURN(const ir::InstrRef first, step_named(module, pair.first));
  ASSIGN_OR_RETURN(const ir::InstrRef second, step_named(module, pair.second));
  if (first.comp != second.comp)
    return base::Error{fmt::format("--fuse {}: they stand in different computations", base::escaped(names)), base::Exit::wrong_use};
  return replay::Neighbours{first.comp, first.instr, second.instr};
}

base::Result<std::vector<bool>> timed_steps(const replay::Plan& plan, const std::string& pattern) {
  std::vector<bool> timed;
  if (pattern.empty()) return timed;
  ASSIGN_OR_RETURN(const std::regex expression, pattern_of("--steps", pattern));
  for (const replay::Step* step : plan.steps) {
    ASSIGN_OR_RETURN(const bool matched, matches(expression, "--steps", step->name));
    timed.push_back(matched);
  }
  if (std::find(timed.begin(), timed.end(), true) == timed.end())
    return base::Error{fmt::format("--steps {}: matches no step; see --list-steps", base::escaped(pattern)), base::Exit::wrong_use};
  return timed;
}

base::Status check_defused(const replay::Plan& plan, const ReplayOptions& options) {
  for (const std::string& pattern : options.defuse) {
    ASSIGN_OR_RETURN(const std::regex expression, pattern_of("--defuse", pattern));
    bool found = false;
    for (const replay::Variant& variant : plan.variants) {
      ASSIGN_OR_RETURN(const bool matched, matches(expression, "--defuse", plan.steps[static_cast<size_t>(variant.fused)]->name));
      found = found || matched;
    }
    if (!found)
      return base::Error{fmt::format("--defuse {}: matches no fusion; see --list-steps", base::escaped(pattern)), base::Exit::wrong_use};
  }
  return {};
}

double skipped_share(const std::vector<model::StepRecord>& steps) {
  const auto skipped = std::ranges::count(steps, replay::text(replay::Class::skip), &model::StepRecord::cls);
  return steps.empty() ? 0 : static_cast<double>(skipped) / static_cast<double>(steps.size());
}

void warn_of_skips(const replay::Plan& plan, ProgressLine& line) {
  int shown = 0, skipped = 0;
  for (const replay::Step* step : plan.steps) {
    if (step->cls != replay::Class::skip) continue;
    ++skipped;
    if (++shown <= 5) line.say(fmt::format("skipped {}: {}", base::escaped(step->name), step->why));
  }
  if (skipped > 5) line.say(fmt::format("… and {} more skipped steps: profile report coverage", skipped - 5));
}

/// One run in the making.
class Session {
 public:
  Session(const Subject& subject, const ReplayOptions& options, model::Store& store, ProgressLine& line)
      : subject_(subject), options_(options), store_(store), line_(line) {}

  /// What is wrong with the request is found before the run has a row; from then on a failure is kept as a failed run.
  base::Result<RunResult> run() {
    ASSIGN_OR_RETURN(module_, selected(*subject_.module, options_));
    RETURN_IF_ERROR(count());
    RETURN_IF_ERROR(plan());
    RETURN_IF_ERROR(begin());
    const base::Status done = within_memory([this] { return work(); });
    if (!done.ok()) {
      if (!finished_) RETURN_IF_ERROR(store_.finish(result_.run, model::RunStatus::failed, {}));
      return done.error();
    }
    if (!options_.dump_folder.empty() && result_.passes > 0) RETURN_IF_ERROR(replay::dump_outputs(*plan_, *device_, options_.dump_folder));
    return result_;
  }

 private:
  base::Status count() {
    ASSIGN_OR_RETURN(record_.counters, count_steps(module_, options_, subject_.recipe_file));
    if (!record_.counters.why.empty()) line_.say("nothing is counted: " + base::escaped(record_.counters.why));
    return {};
  }

  base::Status plan() {
    ASSIGN_OR_RETURN(device_, device_for(options_));
    const auto planning = base::Clock::now();
    ASSIGN_OR_RETURN(replay::Plan plan, plan_for(module_, options_, *device_));
    plan_.emplace(std::move(plan));
    record_.plan_ns = base::since_ns(planning);
    ASSIGN_OR_RETURN(timed_, timed_steps(*plan_, options_.steps));
    RETURN_IF_ERROR(check_defused(*plan_, options_));
    ASSIGN_OR_RETURN(inputs_, options_.input_options(subject_.recipe_file));
    RETURN_IF_ERROR(replay::check_inputs(*plan_, inputs_));
    if (!options_.dump_folder.empty()) RETURN_IF_ERROR(replay::make_folder(options_.dump_folder));
    return {};
  }

  base::Status begin() {
    record_.module = subject_.row;
    record_.kind = options_.predicts() ? model::RunKind::predicted : model::RunKind::replay;
    record_.device = device_->describe();
    RETURN_IF_ERROR(add_published());
    record_.options = options_.settings();
    const model::Counters& counters = record_.counters;
    if (!options_.counters.empty())
      record_.options.push_back({"counters_how", counters.why.empty() ? counters.how : "nothing is counted: " + counters.why});
    record_.started_unix_ns =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
    ASSIGN_OR_RETURN(result_.run, store_.begin(record_));
    return {};
  }

  /// The limits that are published for the device: of the machine that was named, else of the one that reports itself like this.
  base::Status add_published() {
    if (options_.predicts()) return {};
    std::vector<model::CeilingRecord> published;
    if (!options_.published.empty()) {
      ASSIGN_OR_RETURN(const replay::Machine machine, replay::machine_named(options_.published));
      published = replay::published_ceilings(machine);
    } else if (const replay::Machine* machine = replay::machine_reported_as(record_.device.model)) {
      published = replay::published_ceilings(*machine);
    }
    record_.device.ceilings.insert(record_.device.ceilings.end(), published.begin(), published.end());
    return {};
  }

  base::Status work() {
    if (options_.isolated) return isolated();
    const auto compiling = base::Clock::now();
    RETURN_IF_ERROR(replay::prepare(*plan_, *device_));
    record_.compile_ns = base::since_ns(compiling);
    warn_of_skips(*plan_, line_);
    if (stop_requested()) return stopped();
    ASSIGN_OR_RETURN(const std::vector<model::Setting> filled, replay::load_inputs(*plan_, *device_, inputs_, &stop_requested()));
    record_.options.push_back({"seed", std::to_string(inputs_.recipes.seed)});
    record_.options.insert(record_.options.end(), filled.begin(), filled.end());
    RETURN_IF_ERROR(describe_plan());
    return stop_requested() ? stopped() : measure();
  }

  /// Ctrl-C before the first pass: the run is kept, with its plan and no measurement.
  base::Status stopped() {
    RETURN_IF_ERROR(describe_plan());
    result_.status = model::RunStatus::interrupted;
    return store_.finish(result_.run, result_.status, {});
  }

  base::Status describe_plan() {
    record_.kernels = device_->kernels();
    record_.steps = step_records(*plan_, *device_, subject_);
    result_.skipped_share = skipped_share(record_.steps);
    record_.buffers = buffer_records(*plan_);
    record_.fusions = fusion_records(*plan_, *device_);
    record_.arena_bytes = plan_->arena_bytes - plan_->variant_bytes;
    record_.peak_bytes = record_.arena_bytes + plan_->parameter_bytes;
    if (!plan_->steps.empty()) record_.peak_step = plan_->steps[static_cast<size_t>(plan_->peak_step)]->name;
    return store_.describe(result_.run, record_);
  }

  /// The whole plan is described, but never prepared: its memory may be more than there is.
  base::Status isolated() {
    warn_of_skips(*plan_, line_);
    RETURN_IF_ERROR(device_->measure_ceilings(record_.device));
    record_.options.push_back({"seed", std::to_string(options_.seed)});
    RETURN_IF_ERROR(describe_plan());
    ASSIGN_OR_RETURN(const Isolated found, replay_isolated(*plan_, options_, timed_, record_, result_.run, store_, line_));
    line_.clear();
    RETURN_IF_ERROR(store_.describe(result_.run, record_));
    RETURN_IF_ERROR(store_.finish(result_.run, found.status, found.stats));
    result_.status = found.status;
    result_.distinct = found.distinct;
    result_.pass_seconds = found.pass_seconds;
    result_.skipped_share = skipped_share(record_.steps);
    result_.failure = found.failure;
    return {};
  }

  base::Status measure() {
    replay::EngineOptions engine_options;
    engine_options.warm_up = options_.predicts() ? 0 : options_.warm_up;
    engine_options.verify = options_.verify;
    engine_options.chain = options_.chain > 0;
    engine_options.inputs = inputs_;
    engine_options.repeat_short = options_.repeats_short();
    engine_options.seed = options_.seed;
    engine_options.timed = timed_;
    RETURN_IF_ERROR(device_->measure_ceilings(record_.device));
    if (stop_requested()) return stopped();
    replay::Engine engine(*plan_, *device_, engine_options, stop_requested());
    Recorder recorder(store_, result_.run, line_);
    const auto criterion = criterion_for(options_, options_.budget_s);
    ASSIGN_OR_RETURN(const replay::Outcome outcome, engine.run(*criterion, recorder));
    line_.clear();
    add_verdicts(record_.steps, outcome);
    add_part_times(record_.fusions, *plan_, outcome);
    RETURN_IF_ERROR(store_.describe(result_.run, record_));
    RETURN_IF_ERROR(store_.finish(result_.run, outcome.status, step_stats(outcome)));
    finished_ = true;
    if (!outcome.error.empty())
      return base::Error{fmt::format("{}; {} passes before it are kept as run {}", outcome.error, outcome.passes, result_.run)};
    result_.status = outcome.status;
    result_.passes = outcome.passes;
    if (criterion->done()) result_.ended = criterion->reason();
    if (!outcome.pass_seconds.empty()) result_.pass_seconds = stats::median(outcome.pass_seconds);
    if (outcome.failed_step >= 0) result_.failure = outcome.verdicts[static_cast<size_t>(outcome.failed_step)].place;
    return {};
  }

  const Subject& subject_;
  const ReplayOptions& options_;
  model::Store& store_;
  ProgressLine& line_;
  ir::Module module_;
  std::unique_ptr<replay::Device> device_;
  std::optional<replay::Plan> plan_;
  replay::InputOptions inputs_;
  std::vector<bool> timed_;
  model::Run record_;
  RunResult result_;
  bool finished_ = false;  ///< the run has its end in the store
};

}  // namespace

base::Result<ir::Module> selected(const ir::Module& module, const ReplayOptions& options) {
  ASSIGN_OR_RETURN(ir::Module cut, cut_out(module, options));
  if (options.fuse.empty()) return cut;
  std::vector<replay::Neighbours> pairs;
  for (const std::string& names : options.fuse) {
    ASSIGN_OR_RETURN(const replay::Neighbours pair, pair_named(cut, names));
    pairs.push_back(pair);
  }
  const auto fused = replay::with_fused(cut, pairs);
  if (!fused.ok()) return base::Error{"--fuse: " + fused.error().message, base::Exit::wrong_use};
  return **fused;
}

base::Result<std::unique_ptr<replay::Device>> device_for(const ReplayOptions& options, Purpose purpose) {
  replay::DeviceOptions device;
  device.cold = options.cold;
  if (purpose == Purpose::counting) device.counters = options.counters;
  device.threads = options.threads;
  device.mode = options.mode;
  device.autotune = options.autotune;
  if (options.predicts()) {
    ASSIGN_OR_RETURN(device.as, replay::machine_named(options.as));
  }
  return replay::open_device(options.device_name(), device);
}

base::Result<replay::Plan> plan_for(const ir::Module& module, const ReplayOptions& options, const replay::Device& device) {
  replay::PlanOptions plan;
  plan.rounding = options.rounding_mode();
  plan.target = device.target();
  plan.device_class = options.device_name();
  plan.reference_only = device.evaluates();
  plan.accepts = device.accepts();
  plan.arranges = device.arranges();
  plan.parts = options.parts();
  return replay::make_plan(module, plan);
}

std::unique_ptr<measure::Criterion> criterion_for(const ReplayOptions& options, double budget_s) {
  if (options.predicts()) return measure::exactly(1);
  if (options.chain > 0) return measure::exactly(options.chain);
  if (options.repeats > 0) return measure::exactly(options.repeats);
  measure::StableOptions stable;
  stable.budget_s = budget_s;
  return measure::until_stable(stable);
}

base::Result<RunResult> replay_module(const Subject& subject, const ReplayOptions& options, model::Store& store, ProgressLine& progress) {
  return Session(subject, options, store, progress).run();
}

base::Status list_steps(const Subject& subject, const ReplayOptions& options) {
  ASSIGN_OR_RETURN(const ir::Module module, selected(*subject.module, options));
  ASSIGN_OR_RETURN(const auto device, device_for(options));
  ASSIGN_OR_RETURN(const replay::Plan plan, plan_for(module, options, *device));
  model::Rows rows;
  rows.columns = {"step", "name", "op", "class", "shape", "why"};
  const auto text = [](std::string_view value) {
    model::Cell cell;
    cell.kind = model::Cell::Kind::text;
    cell.text = value;
    return cell;
  };
  const auto why = [&](const replay::Step& step) {
    const bool planned = step.cls == replay::Class::library && device->accepts() != nullptr;
    return planned ? "planned: a kernel runs where the library is missing or refuses" : step.why;
  };
  for (const replay::Step* step : plan.steps) {
    const ir::Instr& instr = plan.module->instr(step->instr.comp, step->instr.instr);
    model::Cell id;
    id.kind = model::Cell::Kind::integer;
    id.integer = step->id;
    rows.rows.push_back({id, text(step->name), text(ir::text(instr.op)), text(replay::text(step->cls)),
                         text(ir::print(plan.module->shape(instr))), text(why(*step))});
  }
  return print_rows(rows, options.output);
}

}  // namespace cli
