// Passes over the tree of blocks. A device sees only leaf steps; loops and branches are decided here by reading a scalar back.
//
// A sample is (step, pass): the sum over the executions within that pass. Steps under 20 µs that may be run again (they overwrite nothing
// that they read) are repeated inside their sample; steps in loops are not, their trips are executions already.
#include "replay/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "replay/alternation.h"
#include "replay/verifier.h"
#include "src/base/text.h"

namespace replay {
namespace {

constexpr double kShortStep_s = 20e-6;
constexpr int kMostExecutions = 1000;

}  // namespace

int64_t Device::clock_ns() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Engine::Impl {
  enum class Mode { run, verify, count };

  Impl(Plan& p, Device& d, EngineOptions o, const std::atomic<bool>& s)
      : plan(p),
        device(d),
        options(std::move(o)),
        stop(s),
        executions(p.steps.size(), 1),
        sums(p.steps.size()),
        evaluator(p, d),
        alternation(p, d, s) {}

  // --- one walk ---------------------------------------------------------------------------------------------------------------------
  /// False in the result: interrupted.
  base::Result<bool> walk(const Block& block, int depth) {
    for (const auto& item : block) {
      if (stop) return false;
      auto done = std::visit([&](const auto& part) { return visit(part, depth); }, item);
      if (!done.ok() || !*done) return done;
    }
    return true;
  }

  base::Result<bool> visit(const std::unique_ptr<Loop>& loop, int depth) {
    if (!device.keeps_values()) return on_paper(*loop, depth);
    for (int64_t trips = 0;; ++trips) {
      if (stop) return false;  // blocks without a step do not look
      ASSIGN_OR_RETURN(const bool cond_done, walk(loop->cond, depth + 1));
      if (!cond_done) return false;
      ASSIGN_OR_RETURN(const int64_t again, scalar(loop->predicate));
      if (again == 0) return true;
      if (trips == options.most_trips) return endless(*loop);
      ASSIGN_OR_RETURN(const bool body_done, walk(loop->body, depth + 1));
      if (!body_done) return false;
    }
  }

  /// Without values there is no condition: the trips that the text tells, else one, in one walk that counts for all.
  base::Result<bool> on_paper(const Loop& loop, int depth) {
    constexpr int64_t kMost = 1'000'000'000;
    const int64_t outside = times, trips = std::min(kMost, loop.known_trips < 0 ? 1 : loop.known_trips);
    times = std::min(kMost, outside * (trips + 1));
    auto done = walk(loop.cond, depth + 1);
    times = std::min(kMost, outside * trips);
    if (done.ok() && *done && trips > 0) done = walk(loop.body, depth + 1);
    times = outside;
    return done;
  }

  base::Error endless(const Loop& loop) const {
    return {
        fmt::format("{}: the condition of this while still holds after {} trips; give inputs with which it ends (--inputs), or replay "
                    "its body alone (--computation NAME)",
                    base::escaped(loop.name), options.most_trips)};
  }

  base::Result<bool> visit(const std::unique_ptr<Branch>& branch, int depth) {
    ASSIGN_OR_RETURN(const int64_t selected, scalar(branch->selector));
    const auto last = static_cast<int64_t>(branch->blocks.size()) - 1;
    const bool by_pred = plan.buffers[static_cast<size_t>(branch->selector)].shape.type == ir::Type::pred;
    const int64_t index = by_pred ? (selected != 0 ? 0 : 1) : selected < 0 || selected > last ? last : selected;
    return walk(branch->blocks[static_cast<size_t>(index)], depth);
  }

  base::Result<bool> visit(const Step& step, int depth) {
    if (step.cls == Class::skip) return leave_out(step);
    if (observer != nullptr) observer->progress({stage, step.id, static_cast<int32_t>(plan.steps.size()), pass, left_s});
    const bool compared = alternation.has(step.id) && (options.timed.empty() || options.timed[static_cast<size_t>(step.id)]);
    if (compared) RETURN_IF_ERROR(begin_comparison(step));
    if (mode == Mode::verify) RETURN_IF_ERROR(verifier->before(step));
    if (step.cls == Class::reference && !device.evaluates() && device.keeps_values()) {
      RETURN_IF_ERROR(evaluate(step));
    } else {
      RETURN_IF_ERROR(device.start(step.id, depth == 0 ? executions[static_cast<size_t>(step.id)] : static_cast<int>(times)));
    }
    if (mode == Mode::verify) {
      RETURN_IF_ERROR(collect());
      RETURN_IF_ERROR(verifier->after(step));
    } else if (compared && mode == Mode::run) {
      RETURN_IF_ERROR(collect());
      RETURN_IF_ERROR(alternation.run(step.id, depth == 0 ? Alternation::Place::straight : Alternation::Place::loop));
    }
    return true;
  }

  /// What a skipped step would have made is zeros: the same in every run, and no loop goes on because of it.
  base::Result<bool> leave_out(const Step& step) {
    if (!device.keeps_values()) return true;
    for (const BufferId id : step.out) {
      if (const auto memory = device.memory(id); !memory.empty()) {
        std::ranges::fill(memory, std::byte{0});
        continue;
      }
      RETURN_IF_ERROR(device.write(id, std::vector<std::byte>(static_cast<size_t>(plan.buffers[static_cast<size_t>(id)].bytes))));
    }
    if (mode == Mode::verify) RETURN_IF_ERROR(verifier->after(step));
    return true;
  }

  base::Status begin_comparison(const Step& step) {
    RETURN_IF_ERROR(collect());
    if (mode == Mode::count) return alternation.run_parts(step.id);
    return mode == Mode::verify ? alternation.verify(step.id, *verifier) : alternation.save(step.id);
  }

  /// A step without machine code: correct, not representative in time.
  base::Status evaluate(const Step& step) {
    model::Sample sample;
    sample.step = step.id;
    sample.begin_ns = device.clock_ns();
    RETURN_IF_ERROR(evaluator.evaluate(step));
    sample.duration_ns = device.clock_ns() - sample.begin_ns;
    add(sample);
    return {};
  }

  base::Result<int64_t> scalar(BufferId buffer) {
    RETURN_IF_ERROR(collect());
    std::array<std::byte, 8> bytes{};
    const ir::Shape& shape = plan.buffers[static_cast<size_t>(buffer)].shape;
    RETURN_IF_ERROR(device.read(buffer, std::span(bytes).first(static_cast<size_t>(ir::bytes(shape)))));
    const ir::Literal value{{bytes.begin(), bytes.end()}, {}, false};
    return ir::as_int(value, shape.type, 0);
  }

  // --- samples ----------------------------------------------------------------------------------------------------------------------
  void add(const model::Sample& sample) {
    model::Sample& sum = sums[static_cast<size_t>(sample.step)];
    if (sum.executions == 0) sum.begin_ns = sample.begin_ns - start_ns;
    sum.step = sample.step;
    sum.duration_ns += sample.duration_ns;
    sum.executions += sample.executions;
  }
  base::Status collect() {
    ASSIGN_OR_RETURN(const std::vector<model::Sample> samples, device.finish());
    for (const model::Sample& sample : samples) add(sample);
    return {};
  }
  void clear() {
    for (model::Sample& sum : sums) sum = {}, sum.executions = 0;
    alternation.clear();
  }

  struct PassTimes {
    bool complete = false;
    model::Pass pass;
    double steps_s = 0, wall_s = 0, straight_s = 0;
  };

  /// Every pass starts from the same inputs; the first has them already, chained ones go on with what the one before has left.
  base::Status restore() {
    if (!std::exchange(touched, true)) {
      ASSIGN_OR_RETURN(kept, device.keep(plan.overwritten));
      return {};
    }
    if (options.chain && pass > 0) return {};
    return kept ? device.restore() : restore_inputs(plan, device, options.inputs);
  }

  base::Result<PassTimes> run_pass() {
    RETURN_IF_ERROR(restore());
    clear();
    PassTimes times;
    const auto before = device.clocks();
    const int64_t begin = device.clock_ns();
    ASSIGN_OR_RETURN(times.complete, walk(plan.block, 0));
    RETURN_IF_ERROR(collect());
    const int64_t end = device.clock_ns();
    times.pass = {pass, begin - start_ns, end - start_ns, before, device.clocks()};
    double repeats_s = 0;
    for (const model::Sample& sum : sums) {
      if (sum.executions == 0) continue;
      const double seconds = static_cast<double>(sum.duration_ns) * 1e-9;
      const double once = seconds / executions[static_cast<size_t>(sum.step)];
      times.steps_s += once;
      repeats_s += seconds - once;
    }
    times.wall_s = static_cast<double>(end - begin) * 1e-9;
    times.straight_s = times.wall_s - repeats_s - static_cast<double>(alternation.spent_ns()) * 1e-9;
    return times;
  }

  /// From the warm-up: how often a short step runs within one sample.
  void choose_executions() {
    if (!options.repeat_short) return;
    for (const model::Sample& sum : sums) {
      if (sum.executions != 1) continue;  // in a loop, or not run
      const Step& step = *plan.steps[static_cast<size_t>(sum.step)];
      const double seconds = std::max(static_cast<double>(sum.duration_ns) * 1e-9, 20e-9);
      if (seconds >= kShortStep_s || !step.in_place.empty() || step.moves_state || step.cls == Class::reference) continue;
      executions[static_cast<size_t>(sum.step)] = std::min(kMostExecutions, static_cast<int>(std::ceil(kShortStep_s / seconds)));
    }
  }

  std::vector<model::Sample> timed_samples() const {
    std::vector<model::Sample> out;
    for (model::Sample sum : sums) {
      if (sum.executions == 0 || (!options.timed.empty() && !options.timed[static_cast<size_t>(sum.step)])) continue;
      sum.pass = pass;
      out.push_back(sum);
    }
    return out;
  }

  /// What a pass gives to be kept: the steps', then those of fusions in turns with their parts.
  std::vector<model::Sample> all_samples() const {
    std::vector<model::Sample> all = timed_samples();
    for (model::Sample& sample : alternation.samples(pass)) {
      sample.begin_ns -= start_ns;
      all.push_back(sample);
    }
    std::ranges::stable_sort(all, {}, &model::Sample::step);
    return all;
  }

  void remember(Outcome& outcome, const PassTimes& times) const {
    for (const model::Sample& sample : timed_samples()) {
      const auto s = static_cast<size_t>(sample.step);
      outcome.seconds[s].push_back(static_cast<double>(sample.duration_ns) * 1e-9 / sample.executions);
      outcome.executions[s].push_back(static_cast<double>(sample.executions) / executions[s]);
    }
    outcome.pass_seconds.push_back(times.straight_s);
  }

  // --- the protocol -----------------------------------------------------------------------------------------------------------------
  base::Result<Outcome> run(measure::Criterion& criterion, Observer& watching) {
    observer = &watching;
    start_ns = device.clock_ns();
    Outcome outcome;
    outcome.seconds.resize(plan.steps.size());
    outcome.executions.resize(plan.steps.size());
    ASSIGN_OR_RETURN(bool going, warm_up());
    if (going && options.verify) {
      ASSIGN_OR_RETURN(going, verify(outcome));
    }
    stage = Progress::Stage::measure;
    while (going && outcome.failed_step < 0 && wants_more(criterion)) {
      left_s = criterion.left_s();
      auto kept = keep_pass(outcome, criterion, watching);
      if (!kept.ok() && outcome.passes == 0) return kept.error();
      if (!kept.ok()) outcome.error = kept.error().message;  // what was measured before stays
      if (!kept.ok()) break;
      going = *kept;
    }
    outcome.part_seconds = alternation.part_seconds();
    if (!going) outcome.status = model::RunStatus::interrupted;
    if (outcome.failed_step >= 0 || !outcome.error.empty()) outcome.status = model::RunStatus::failed;
    return outcome;
  }

  base::Result<bool> count() {
    mode = Mode::count;
    ASSIGN_OR_RETURN(const PassTimes warm, run_pass());
    for (bool going = warm.complete, all = false; !all;) {
      if (!going) return false;
      RETURN_IF_ERROR(restore());
      RETURN_IF_ERROR(device.begin_counting());
      ASSIGN_OR_RETURN(going, walk(plan.block, 0));
      RETURN_IF_ERROR(collect());
      ASSIGN_OR_RETURN(all, device.end_counting());
      all = all && going;
    }
    return true;
  }

  /// The steps' times are known well enough long before small differences of fusions are.
  bool wants_more(const measure::Criterion& criterion) const { return !criterion.done() || (!criterion.spent() && !alternation.settled()); }

  /// One measured pass; false: interrupted.
  base::Result<bool> keep_pass(Outcome& outcome, measure::Criterion& criterion, Observer& watching) {
    ASSIGN_OR_RETURN(const PassTimes times, run_pass());
    if (!times.complete) return false;
    RETURN_IF_ERROR(watching.keep(times.pass, all_samples()));
    remember(outcome, times);
    alternation.learn();
    criterion.add(times.steps_s, times.wall_s);
    outcome.passes = ++pass;
    if (options.chain) RETURN_IF_ERROR(feed_back());
    return true;
  }

  base::Result<bool> warm_up() {
    stage = Progress::Stage::warm_up;
    for (int i = 0; i < std::max(options.warm_up, options.repeat_short ? 1 : 0); ++i) {
      ASSIGN_OR_RETURN(const PassTimes times, run_pass());
      if (!times.complete) return false;
    }
    choose_executions();
    if (options.repeat_short) alternation.choose();
    return true;
  }

  base::Result<bool> verify(Outcome& outcome) {
    stage = Progress::Stage::verify;
    RETURN_IF_ERROR(restore());
    mode = Mode::verify;
    verifier = std::make_unique<Verifier>(plan, device, options.seed);
    const std::vector<int> repeats = std::exchange(executions, std::vector<int>(plan.steps.size(), 1));
    clear();
    auto complete = walk(plan.block, 0);
    executions = repeats;
    mode = Mode::run;
    outcome.verdicts = verifier->verdicts();
    outcome.failed_step = verifier->failed_step();
    return complete;
  }

  /// Outputs that alias parameters become the inputs of the next pass, outside the timed window.
  base::Status feed_back() {
    for (const auto& [from, to] : aliased) {
      if (plan.buffers[static_cast<size_t>(from)].alias_of == to) continue;  // it is there already
      std::vector<std::byte> storage;
      ASSIGN_OR_RETURN(const auto bytes, host_bytes(plan, device, from, storage));
      RETURN_IF_ERROR(device.write(to, bytes));
    }
    return {};
  }

  Plan& plan;
  Device& device;
  EngineOptions options;
  const std::atomic<bool>& stop;
  int64_t times = 1;                ///< of a device without values: how often the step that is walked runs
  std::vector<int> executions;      ///< of a step within one sample
  std::vector<model::Sample> sums;  ///< of the current pass
  StepEvaluator evaluator;
  Alternation alternation;
  std::unique_ptr<Verifier> verifier;
  std::vector<std::pair<BufferId, BufferId>> aliased;  ///< output → parameter
  Observer* observer = nullptr;
  Mode mode = Mode::run;
  Progress::Stage stage = Progress::Stage::warm_up;
  int pass = 0;
  bool touched = false;  ///< a pass has run
  bool kept = false;     ///< the device has what the parameters held before it
  double left_s = 0;
  int64_t start_ns = 0;
};

Engine::Engine(Plan& plan, Device& device, EngineOptions options, const std::atomic<bool>& stop)
    : impl_(std::make_unique<Impl>(plan, device, std::move(options), stop)) {
  impl_->aliased = aliased_outputs(plan);
}
Engine::~Engine() = default;
base::Result<Outcome> Engine::run(measure::Criterion& criterion, Observer& observer) { return impl_->run(criterion, observer); }
base::Result<bool> Engine::count() { return impl_->count(); }

}  // namespace replay
