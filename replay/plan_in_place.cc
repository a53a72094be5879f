// Values that may stand where an old value stood: an update of a part of an array (dynamic-update-slice, scatter) in the array's own
// buffer, what a loop's body leaves in the loop's state, and results that the program gives a parameter's memory (input_output_alias), as
// weights and their updates. Without this a loop that fills an array slice by slice copies all of it in every trip, and a training step
// holds its weights twice. A parameter that is overwritten gets its values back before the next pass.
//
// Times are 2·step while a step runs and 2·step + 1 between it and the next, where the engine reads predicates and selectors. An old value
// dies at its last time; a new one is born at its first. The new one takes the old one's buffer if it is born later, or at that time by a
// step that only changes a part of it.
#include <algorithm>
#include <utility>

#include "replay/plan_builder.h"

namespace replay {
namespace {

using Time = int64_t;

class Sharing {
 public:
  Sharing(Plan& plan, const std::vector<BufferId>& kept) : plan_(plan), times_(plan.buffers.size()), bound_(plan.buffers.size(), false) {
    aliases_.resize(plan.buffers.size());
    for (size_t i = 0; i < plan.buffers.size(); ++i) {
      if (plan.buffers[i].alias_of >= 0) aliases_[static_cast<size_t>(plan.buffers[i].alias_of)].push_back(static_cast<BufferId>(i));
    }
    for (const BufferId id : kept) bind(id);
  }

  /// Results in the memory of parameters that nothing reads later.
  void donate(const std::vector<std::pair<BufferId, BufferId>>& pairs) {
    for (const auto& [result, parameter] : pairs) {
      if (may_donate(parameter, result)) overwrite(parameter, result);
    }
  }

  void run() {
    collect(plan_.block, -1, 0);
    for (auto& [step, begin] : steps_) update(*step, begin);
    for (const Frame& frame : loops_) {
      start_in_state(frame);
      share_state(frame);
    }
  }

 private:
  struct Frame {
    Loop* loop;
    StepId first, last;  ///< steps of the body; the last one moves the state
    Step* init;
  };

  Buffer& buffer(BufferId id) { return plan_.buffers[static_cast<size_t>(id)]; }
  BufferId root(BufferId id) { return id < 0 || buffer(id).alias_of < 0 ? id : buffer(id).alias_of; }
  std::vector<Time>& times(BufferId id) { return times_[static_cast<size_t>(root(id))]; }
  /// Is the step in a loop's condition or body? What it overwrites is needed in the next trip.
  bool in_loop(int64_t step) const { return steps_[static_cast<size_t>(step)].second > 0; }
  /// Stays where it is: its place is known outside of the steps.
  void bind(BufferId id) {
    if (id >= 0) bound_[static_cast<size_t>(root(id))] = true;
  }
  bool is_free(BufferId id) {
    return id >= 0 && buffer(root(id)).kind == Buffer::Kind::temporary && !bound_[static_cast<size_t>(root(id))];
  }
  void touch(BufferId id, Time at) {
    if (id >= 0) times(id).push_back(at);
  }

  /// Times of all that steps and the engine touch. `begin`: first step of the innermost loop's body. Returns the last step.
  StepId collect(Block& block, StepId before, StepId begin);
  StepId collect(Loop& loop, Step* init, StepId before);
  void update(Step& step, StepId begin);
  void share_state(const Frame& frame);
  bool may_take(const Frame& frame, size_t i);
  /// Nothing of `id` is needed before `begin` or after the step.
  bool lives_within(BufferId id, StepId begin, const Step& step) {
    const auto& used = times(id);
    return std::ranges::max(used) <= Time{2} * step.id && std::ranges::min(used) >= Time{2} * begin;
  }
  bool may_donate(BufferId parameter, BufferId result);
  void overwrite(BufferId parameter, BufferId result);
  Step& maker(BufferId result) { return *steps_[static_cast<size_t>(std::ranges::min(times(result)) / 2)].first; }
  bool updates_in_place(Step& step, BufferId from, BufferId to);
  bool moves(const Step& step, BufferId from, BufferId to);
  void take(BufferId from, BufferId to);
  void drop_copies(Step& step);
  void start_in_state(const Frame& frame);

  Plan& plan_;
  std::vector<std::vector<Time>> times_;  ///< by root
  std::vector<bool> bound_;               ///< by root
  std::vector<std::vector<BufferId>> aliases_;
  std::vector<std::pair<Step*, StepId>> steps_;  ///< by id, with `begin`
  std::vector<Frame> loops_;                     ///< inner ones first
};

StepId Sharing::collect(Block& block, StepId before, StepId begin) {
  Step* previous = nullptr;
  for (auto& item : block) {
    if (auto* step = std::get_if<Step>(&item)) {
      for (const auto* list : {&step->in, &step->out, &step->scratch}) {
        for (const BufferId id : *list) touch(id, Time{2} * step->id);
      }
      steps_.emplace_back(step, begin);
      before = step->id;
      previous = step;
      continue;
    }
    if (auto* loop = std::get_if<std::unique_ptr<Loop>>(&item)) {
      before = collect(**loop, previous != nullptr && previous->moves_state ? previous : nullptr, before);
    } else {
      Branch& branch = *std::get<std::unique_ptr<Branch>>(item);
      touch(branch.selector, 2 * Time{before} + 1);
      for (Block& inner : branch.blocks) before = collect(inner, before, begin);
    }
    previous = nullptr;
  }
  return before;
}

StepId Sharing::collect(Loop& loop, Step* init, StepId before) {
  const StepId first = before + 1, condition = collect(loop.cond, before, first);
  touch(loop.predicate, 2 * Time{condition} + 1);
  const StepId last = collect(loop.body, condition, first);
  loops_.push_back({&loop, condition + 1, last, init});
  return last;
}

/// The buffer of `from` becomes that of `to` and of all that lives in it.
void Sharing::take(BufferId from, BufferId to) {
  const BufferId old = root(from), gone = root(to);
  std::vector<BufferId> moved = std::move(aliases_[static_cast<size_t>(gone)]);
  moved.push_back(gone);
  for (const BufferId id : moved) buffer(id).alias_of = old;
  if (bound_[static_cast<size_t>(gone)]) bind(old);
  auto& all = aliases_[static_cast<size_t>(old)];
  all.insert(all.end(), moved.begin(), moved.end());
  auto& ours = times_[static_cast<size_t>(old)];
  const auto& theirs = times_[static_cast<size_t>(gone)];
  ours.insert(ours.end(), theirs.begin(), theirs.end());
}

/// The step makes `to` by changing a part of `from`, or element by element, and reads it nowhere else.
bool Sharing::updates_in_place(Step& step, BufferId from, BufferId to) {
  const auto* call = step.launches.size() == 1 ? std::get_if<KernelCall>(&step.launches[0]) : nullptr;
  if (call == nullptr) return false;
  const kernel::Kernel& code = plan_.kernels[static_cast<size_t>(call->kernel)];
  // An element is stored only after all that is made of it in the same part is loaded, and other parts do not touch it.
  const auto& updates = code.may_alias;
  const auto is = [&](BufferId id, BufferId other) { return root(id) == root(other); };
  if (std::ranges::count_if(step.in, [&](BufferId id) { return is(id, from); }) != 1) return false;
  for (size_t k = 0; k < step.out.size() && k < updates.size(); ++k) {
    if (!is(step.out[k], to) || updates[k] < 0) continue;
    const BufferId operand = step.in[static_cast<size_t>(updates[k])];
    return is(operand, from) && buffer(operand).bytes == buffer(step.out[k]).bytes;
  }
  return false;
}

/// The step moves `from` to `to` as it is, and makes nothing else of it.
bool Sharing::moves(const Step& step, BufferId from, BufferId to) {
  if (!step.moves_state) return false;
  int others = 0, pairs = 0;
  for (const Launch& launch : step.launches) {
    const auto* copy = std::get_if<Copy>(&launch);
    if (copy == nullptr) return false;
    const bool reads = root(copy->from) == root(from), writes = root(copy->to) == root(to);
    pairs += reads && writes ? 1 : 0;
    others += reads != writes && writes ? 1 : 0;
  }
  return pairs == 1 && others == 0;
}

/// An operand that dies in the step that changes a part of it. What was made outside the loop is needed in the next trip.
void Sharing::update(Step& step, StepId begin) {
  const auto* call = step.launches.size() == 1 ? std::get_if<KernelCall>(&step.launches[0]) : nullptr;
  if (call == nullptr) return;
  const auto& updates = plan_.kernels[static_cast<size_t>(call->kernel)].updates;
  for (size_t k = 0; k < step.out.size() && k < updates.size(); ++k) {
    if (updates[k] < 0) continue;
    const BufferId from = step.in[static_cast<size_t>(updates[k])], to = step.out[k];
    if (!is_free(from) || root(from) == root(to) || buffer(to).alias_of >= 0 || !updates_in_place(step, from, to)) continue;
    if (!lives_within(from, begin, step) || buffer(root(from)).bytes != buffer(to).bytes) continue;
    take(from, to);
    step.in_place.push_back({from, to});
  }
}

/// Is the parameter dead once the result is made, and is the result's memory its own, made by a step outside of loops and branches?
bool Sharing::may_donate(BufferId parameter, BufferId result) {
  if (parameter < 0 || result < 0 || root(parameter) == root(result) || buffer(root(parameter)).kind != Buffer::Kind::parameter)
    return false;
  const Buffer& made = buffer(root(result));
  if (made.kind != Buffer::Kind::temporary || made.bytes != buffer(root(parameter)).bytes || times(result).empty()) return false;
  const Time born = std::ranges::min(times(result));
  const auto read = [&](BufferId id) { return times(id).empty() ? Time{-1} : std::ranges::max(times(id)); };
  if (born % 2 != 0 || in_loop(born / 2) || read(parameter) > born) return false;
  return read(parameter) < born || updates_in_place(maker(result), parameter, result);
}

void Sharing::overwrite(BufferId parameter, BufferId result) {
  Step& step = maker(result);
  const auto is = [&](BufferId of) { return [this, of](BufferId id) { return root(id) == root(of); }; };
  const auto operand = std::ranges::find_if(step.in, is(parameter));
  const auto output = std::ranges::find_if(step.out, is(result));
  if (operand != step.in.end() && output != step.out.end()) step.in_place.push_back({*operand, *output});
  plan_.overwritten.push_back(root(parameter));
  take(parameter, result);
  drop_copies(step);
}

/// May what the body leaves for state i be made in the state's buffer?
bool Sharing::may_take(const Frame& frame, size_t i) {
  const Loop& loop = *frame.loop;
  const BufferId state = loop.state[i], next = loop.next[i];
  if (state < 0 || next < 0 || root(state) == root(next) || !is_free(next) || buffer(root(state)).bytes != buffer(root(next)).bytes)
    return false;
  const auto is_state = [&](BufferId id) { return id >= 0 && root(id) == root(next); };
  if (std::ranges::any_of(loop.state, is_state)) return false;
  for (size_t k = 0; k < loop.next.size(); ++k) {  // the old value goes on in another place
    if (k != i && loop.next[k] >= 0 && root(loop.next[k]) == root(state)) return false;
  }
  const auto& made = times(next);
  const Time born = std::ranges::min(made);
  if (born < Time{2} * frame.first || std::ranges::max(made) > Time{2} * frame.last) return false;
  Time dies = -1;
  for (const Time at : times(state)) {
    if (at >= Time{2} * frame.first && at < Time{2} * frame.last) dies = std::max(dies, at);
  }
  if (dies < born) return true;
  Step& step = *steps_[static_cast<size_t>(born / 2)].first;
  return dies == born && born % 2 == 0 && (updates_in_place(step, state, next) || moves(step, state, next));
}

/// What a loop begins with becomes its state, if nothing else needs it.
void Sharing::start_in_state(const Frame& frame) {
  if (frame.init == nullptr) return;
  Step& step = *frame.init;
  const StepId begin = steps_[static_cast<size_t>(step.id)].second;
  for (const Launch& launch : std::vector<Launch>(step.launches)) {
    const auto* copy = std::get_if<Copy>(&launch);
    if (copy == nullptr || !is_free(copy->from) || buffer(copy->to).alias_of >= 0 || !moves(step, copy->from, copy->to)) continue;
    const auto reads = [&](const Launch& other) {
      const auto* second = std::get_if<Copy>(&other);
      return second != nullptr && root(second->from) == root(copy->from);
    };
    if (std::ranges::count_if(step.launches, reads) != 1 || buffer(root(copy->from)).bytes != buffer(copy->to).bytes) continue;
    if (lives_within(copy->from, begin, step)) take(copy->from, copy->to);
  }
  drop_copies(step);
}

void Sharing::share_state(const Frame& frame) {
  Loop& loop = *frame.loop;
  if (frame.last < frame.first) return;
  Step& move = *steps_[static_cast<size_t>(frame.last)].first;
  for (size_t i = 0; i < loop.state.size(); ++i) {
    if (move.moves_state && i < loop.next.size() && may_take(frame, i)) {
      Step& maker = *steps_[static_cast<size_t>(std::ranges::min(times(loop.next[i])) / 2)].first;
      if (updates_in_place(maker, loop.state[i], loop.next[i])) {
        const auto is = [&](BufferId of) { return [this, of](BufferId id) { return root(id) == root(of); }; };
        maker.in_place.push_back({*std::ranges::find_if(maker.in, is(loop.state[i])), *std::ranges::find_if(maker.out, is(loop.next[i]))});
      }
      take(loop.state[i], loop.next[i]);
    }
  }
  drop_copies(move);
}

/// Copies within one buffer.
void Sharing::drop_copies(Step& step) {
  std::erase_if(step.launches, [&](const Launch& launch) {
    const auto* copy = std::get_if<Copy>(&launch);
    return copy != nullptr && root(copy->from) == root(copy->to);
  });
}

}  // namespace

std::vector<std::pair<BufferId, BufferId>> aliased_outputs(const Plan& plan) {
  std::vector<std::pair<BufferId, BufferId>> pairs;
  for (const ir::Attr& attr : plan.module->attrs) {
    if (plan.module->text(attr.key) != "input_output_alias") continue;
    const auto aliases = ir::parse_aliases(plan.module->text(attr.text));
    if (!aliases.ok()) continue;  // the importer has noted it
    for (const ir::Alias& alias : *aliases) {
      const auto out = std::find_if(plan.outputs.begin(), plan.outputs.end(), [&](const PlanOutput& o) { return o.path == alias.output; });
      const auto in = std::find_if(plan.parameters.begin(), plan.parameters.end(),
                                   [&](const PlanParameter& p) { return p.number == alias.parameter && p.path == alias.input; });
      if (out != plan.outputs.end() && in != plan.parameters.end() && out->buffer != in->buffer)
        pairs.emplace_back(out->buffer, in->buffer);
    }
  }
  return pairs;
}

void PlanBuilder::share_buffers() {
  Sharing sharing(plan_, kept_);
  sharing.run();
  sharing.donate(aliased_outputs(plan_));
}

}  // namespace replay
