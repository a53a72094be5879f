// A round is one pair of samples: of two runs of each the faster. In a loop every execution adds to the one round of the pass, so that a
// pair is a sum over the loop, as the step's own sample is; the order is drawn for each.
#include "replay/alternation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "src/stats/paired.h"
#include "src/stats/stats.h"

namespace replay {
namespace {

constexpr double kShort_ns = 20e3;  ///< shorter runs are repeated within a sample
constexpr int kMostExecutions = 1000;
constexpr int kMostCopies = 20;       ///< executions in a sample where each needs its operands restored
constexpr double kVisit_ns = 60e6;    ///< rounds of a fusion go on for this long in each pass, where all want more pairs
constexpr int kMostRounds = 32;       ///< the same
constexpr double kLargestShare = 64;  ///< that one gets where others are settled, in shares of one of all
constexpr size_t kMostPairs = 10'000;
constexpr size_t kPartRuns = 3;  ///< passes in which the parts are timed one by one too

/// Of the splitmix64 generator: neighbouring numbers give unrelated ones.
uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// What fits into a visit of so many shares of time.
int rounds_in(double shares, int64_t block_ns) {
  const double fitting = kVisit_ns * shares / static_cast<double>(std::max<int64_t>(block_ns, 1));
  return static_cast<int>(std::clamp(fitting, 1.0, kMostRounds * shares));
}

/// What disturbs a run makes it longer, never shorter.
void add_faster(const model::Sample& a, const model::Sample& b, model::Sample& sum) {
  const model::Sample& faster = b.duration_ns < a.duration_ns ? b : a;
  if (sum.executions == 0) sum.begin_ns = faster.begin_ns;
  sum.duration_ns += faster.duration_ns;
  sum.executions += faster.executions;
}

}  // namespace

Alternation::Alternation(const Plan& plan, Device& device, const std::atomic<bool>& stop) : plan_(plan), device_(device), stop_(stop) {
  for (const Variant& variant : plan.variants) {
    const bool whole = std::ranges::none_of(variant.parts, [](const Step& part) { return part.cls == Class::skip; });
    if (!variant.why.empty() || !whole) continue;
    State& state = by_step_[variant.fused];
    state.variant = &variant;
    state.parts_s.resize(variant.parts.size());
  }
}

bool Alternation::has(StepId step) const {
  const auto found = by_step_.find(step);
  return found != by_step_.end() && !found->second.settled;
}

base::Result<model::Sample> Alternation::one(StepId id, int executions) {
  RETURN_IF_ERROR(device_.start(id, executions));
  ASSIGN_OR_RETURN(const std::vector<model::Sample> samples, device_.finish());
  model::Sample sum;
  sum.executions = executions;
  for (const model::Sample& sample : samples) {
    if (sum.duration_ns == 0) sum.begin_ns = sample.begin_ns;
    sum.duration_ns += sample.duration_ns;
  }
  return sum;
}

base::Status Alternation::save(StepId step) {
  const Variant& variant = *by_step_.at(step).variant;
  if (variant.save.launches.empty()) return {};
  const int64_t begin = device_.clock_ns();
  ASSIGN_OR_RETURN(const model::Sample ignored, one(variant.save.id, 1));
  static_cast<void>(ignored);
  spent_ns_ += device_.clock_ns() - begin;
  return {};
}

base::Status Alternation::restore(const State& state) {
  if (state.variant->restore.launches.empty()) return {};
  const auto restored = one(state.variant->restore.id, 1);
  if (restored.ok()) return {};
  return base::Error{"cannot restore the operands of " + state.variant->whole.name + ": " + restored.error().message};
}

base::Status Alternation::time(State& state, StepId id, int executions, model::Sample& sum) {
  const bool restores = !state.variant->restore.launches.empty();
  const int runs = restores ? std::min(executions, kMostCopies) : 1;
  for (int run = 0; run < runs; ++run) {
    RETURN_IF_ERROR(restore(state));
    ASSIGN_OR_RETURN(const model::Sample sample, one(id, restores ? 1 : executions));
    if (sum.executions == 0) sum.begin_ns = sample.begin_ns;
    sum.duration_ns += sample.duration_ns;
    sum.executions += sample.executions;
  }
  return {};
}

bool Alternation::parts_first(StepId step, int round) const {
  return (mixed(mixed(pass_ << 32 | static_cast<uint32_t>(round)) ^ static_cast<uint64_t>(step)) & 1) != 0;
}

base::Status Alternation::round(State& state, Round& sums, int number) {
  struct Side {
    StepId id;
    int executions;
    model::Sample* sum;
  };
  Side outer{state.variant->fused, state.fused_executions, &sums.fused},
      inner{state.variant->whole.id, state.parts_executions, &sums.parts};
  state.ends_apart = parts_first(state.variant->fused, number);
  if (state.ends_apart) std::swap(outer, inner);
  std::array<model::Sample, 4> runs{};
  for (size_t i = 0; i < runs.size(); ++i) {
    const Side& side = i == 1 || i == 2 ? inner : outer;
    runs[i].executions = 0;
    RETURN_IF_ERROR(time(state, side.id, side.executions, runs[i]));
  }
  add_faster(runs[0], runs[3], *outer.sum);
  add_faster(runs[1], runs[2], *inner.sum);
  return {};
}

/// So many that a sample is not made of its begin and end; found by doubling, because the first run of anything is slow.
base::Result<int> Alternation::repeats_of(StepId id) {
  for (int executions = 1;; executions *= 2) {
    ASSIGN_OR_RETURN(const model::Sample sample, one(id, std::min(executions, kMostExecutions)));
    if (static_cast<double>(sample.duration_ns) >= kShort_ns || executions >= kMostExecutions) return std::min(executions, kMostExecutions);
  }
}

/// Where operands are restored before each run, by what a single run takes: it can't be repeated on what it has left.
base::Status Alternation::find_repeats(State& state) {
  const StepId fused = state.variant->fused, parts = state.variant->whole.id;
  if (state.variant->restore.launches.empty()) {
    ASSIGN_OR_RETURN(state.fused_executions, repeats_of(fused));
    ASSIGN_OR_RETURN(state.parts_executions, repeats_of(parts));
    return {};
  }
  model::Sample sample;
  for (int i = 0; i < 2; ++i) {  // the second is warm
    RETURN_IF_ERROR(restore(state));
    ASSIGN_OR_RETURN(sample, one(fused, 1));
    RETURN_IF_ERROR(restore(state));
    ASSIGN_OR_RETURN(const model::Sample ignored, one(parts, 1));
    static_cast<void>(ignored);
  }
  const auto once_ns = static_cast<double>(std::max<int64_t>(sample.duration_ns, 1));
  state.fused_executions = state.parts_executions = std::clamp(static_cast<int>(std::ceil(kShort_ns / once_ns)), 1, kMostCopies);
  return {};
}

base::Status Alternation::time_parts(State& state) {
  RETURN_IF_ERROR(restore(state));
  for (size_t i = 0; i < state.parts_s.size(); ++i) {
    ASSIGN_OR_RETURN(const model::Sample sample, one(state.variant->parts[i].id, 1));
    state.parts_s[i].push_back(static_cast<double>(sample.duration_ns) * 1e-9);
  }
  state.ends_apart = true;
  return {};
}

/// What the program goes on with is what the fusion makes: its parts round in other places.
base::Status Alternation::leave_fused(State& state) {
  if (!std::exchange(state.ends_apart, false)) return {};
  RETURN_IF_ERROR(restore(state));
  const auto left = one(state.variant->fused, 1);
  return left.ok() ? base::Status() : left.error();
}

base::Status Alternation::run(StepId step, Place place) {
  State& state = by_step_.at(step);
  const int64_t begin = device_.clock_ns();
  const int rounds = place == Place::loop ? 1 : state.rounds;
  if (!state.chosen && place == Place::straight) RETURN_IF_ERROR(find_repeats(state));
  if (state.pass.size() < static_cast<size_t>(rounds))
    state.pass.resize(static_cast<size_t>(rounds), {{.executions = 0}, {.executions = 0}});
  for (int r = 0; r < rounds && !stop_; ++r) {
    const int64_t round_begin = device_.clock_ns();
    RETURN_IF_ERROR(round(state, state.pass[static_cast<size_t>(r)], place == Place::loop ? state.trip++ : r));
    state.block_ns = device_.clock_ns() - round_begin;
  }
  if (state.chosen && !stop_ && state.parts_s[0].size() < kPartRuns) RETURN_IF_ERROR(time_parts(state));
  RETURN_IF_ERROR(leave_fused(state));
  spent_ns_ += device_.clock_ns() - begin;
  return {};
}

base::Status Alternation::verify(StepId step, Verifier& verifier) {
  State& state = by_step_.at(step);
  RETURN_IF_ERROR(save(step));
  if (std::exchange(state.verified, true)) return {};
  for (const Step& part : state.variant->parts) {
    RETURN_IF_ERROR(verifier.before(part));
    ASSIGN_OR_RETURN(const model::Sample ignored, one(part.id, 1));
    static_cast<void>(ignored);
    RETURN_IF_ERROR(verifier.after(part));
  }
  verifier.forget(plan_.steps[static_cast<size_t>(step)]->out);
  return restore(state);
}

base::Status Alternation::run_parts(StepId step) {
  const State& state = by_step_.at(step);
  RETURN_IF_ERROR(save(step));
  for (const Step& part : state.variant->parts) RETURN_IF_ERROR(one(part.id, 1));
  return restore(state);
}

void Alternation::clear() {
  spent_ns_ = 0;
  ++pass_;
  for (auto& [step, state] : by_step_) state.pass.clear(), state.trip = 0;
}

std::vector<model::Sample> Alternation::samples(int pass) const {
  std::vector<model::Sample> out;
  for (const auto& [step, state] : by_step_) {
    for (const int32_t variant : {1, 2}) {
      for (size_t r = 0; r < state.pass.size(); ++r) {
        const Round& round = state.pass[r];
        if (round.fused.executions == 0 || round.parts.executions == 0) continue;
        model::Sample sample = variant == 1 ? round.parts : round.fused;
        sample.step = step, sample.pass = pass, sample.variant = variant, sample.round = static_cast<int32_t>(r);
        out.push_back(sample);
      }
    }
  }
  return out;
}

void Alternation::choose() {
  for (auto& [step, state] : by_step_) {
    state.chosen = true;
    if (state.block_ns > 0) state.rounds = rounds_in(1, state.block_ns);
  }
}

void Alternation::take_pairs(State& state) const {
  for (const Round& round : state.pass) {
    if (round.fused.executions == 0 || round.parts.executions == 0) continue;
    state.fused_ns.push_back(static_cast<double>(round.fused.duration_ns) / round.fused.executions);
    state.parts_ns.push_back(static_cast<double>(round.parts.duration_ns) / round.parts.executions);
  }
}

void Alternation::learn() {
  open_ = 0;
  for (auto& [step, state] : by_step_) {
    if (state.settled || state.pass.empty()) continue;  // empty: the pass did not come here
    take_pairs(state);
    const bool enough = state.fused_ns.size() >= kMostPairs || stats::settled(stats::compare_pairs(state.fused_ns, state.parts_ns));
    state.settled = enough && state.parts_s[0].size() >= kPartRuns;
    open_ += state.settled ? 0 : 1;
  }
  if (open_ == 0) return;
  const double shares = std::min(static_cast<double>(by_step_.size()) / static_cast<double>(open_), kLargestShare);
  for (auto& [step, state] : by_step_) {
    if (!state.settled && state.block_ns > 0) state.rounds = rounds_in(shares, state.block_ns);
  }
}

std::vector<std::vector<double>> Alternation::part_seconds() const {
  std::vector<std::vector<double>> out;
  for (const Variant& variant : plan_.variants) {
    out.emplace_back(variant.parts.size(), 0);
    const auto state = by_step_.find(variant.fused);
    if (state == by_step_.end()) continue;
    for (size_t i = 0; i < variant.parts.size(); ++i) {
      if (!state->second.parts_s[i].empty()) out.back()[i] = stats::median(state->second.parts_s[i]);
    }
  }
  return out;
}

}  // namespace replay
