// Fusions as their parts, beside the fusions. A body that `with_parts` has laid open is planned like a call: one step for each instruction.
// What flows between the parts has memory of its own at the end of the arena, packed within each variant and shared by all of them, for
// only one runs at a time; the results go where the fusion's go. The program's own plan is made before and stays what it is.
#include <fmt/format.h>

#include <algorithm>

#include "replay/plan_builder.h"
#include "src/base/text.h"

namespace replay {
namespace {

/// The one kernel of a step; null where it launches something else too.
const KernelCall* only_kernel(const Step& step) { return step.launches.size() == 1 ? std::get_if<KernelCall>(&step.launches[0]) : nullptr; }

base::Status check_part(const Step& part) {
  if (part.cls == Class::kernel || part.cls == Class::library || part.cls == Class::copy) return {};
  return base::Error{fmt::format("its part {} has no machine code ({}{}{})", base::escaped(part.name), text(part.cls),
                                 part.why.empty() ? "" : ": ", part.why)};
}

}  // namespace

void PlanBuilder::note_fusion(const Scope& scope, const Step& step) {
  const ir::Instr& instr = module_.instr(scope.comp, step.instr.instr);
  if (!options_.parts || instr.op != ir::Op::fusion || plan_.program_buffers > 0) return;
  if (options_.parts(module_.name_of(instr)) != Parts::none) fused_.push_back({step.id, operand_leaves(scope, instr)});
}

void PlanBuilder::add_variants() {
  const int64_t program_bytes = plan_.arena_bytes;
  int64_t most = 0;
  for (const Fused& fused : fused_) {
    plan_.variants.push_back(variant_of(fused));
    most = std::max(most, plan_.variants.back().scratch_bytes);
  }
  plan_.variant_bytes = most;
  plan_.arena_bytes = program_bytes + most;
}

/// Where the parts can't be planned nothing of the attempt stays but kernels, which others may use by now.
Variant PlanBuilder::variant_of(const Fused& fused) {
  const size_t buffers = plan_.buffers.size(), constants = plan_.constants.size(), loops = loops_.size();
  const StepId next = next_step_;
  const int depth = depth_, maybe = maybe_;
  const Step& step = *plan_.steps[static_cast<size_t>(fused.step)];
  Variant variant;
  variant.fused = fused.step;
  variant.tried = options_.parts(step.name) == Parts::calls;
  const base::Status planned = plan_parts(variant, fused);
  if (planned.ok()) return variant;
  variant.why = planned.error().message;
  variant.parts.clear();
  plan_.buffers.resize(buffers);
  plan_.constants.resize(constants);
  loops_.resize(loops);
  next_step_ = next, depth_ = depth, maybe_ = maybe;
  return variant;
}

base::Status PlanBuilder::plan_parts(Variant& variant, const Fused& fused) {
  const Step& step = *plan_.steps[static_cast<size_t>(fused.step)];
  const size_t first_buffer = plan_.buffers.size();
  if (step.cls != Class::kernel && step.cls != Class::library && step.cls != Class::copy)
    return base::Error{fmt::format("the fusion itself has no machine code ({})", text(step.cls))};
  if (options_.parts(step.name) == Parts::itself) {
    variant.parts.push_back(step);
    variant.parts.back().id = next_step_++;
  } else {
    const Apart& apart = apart_.at(step.instr);
    variant.extra_flops = apart.extra_flops;
    ASSIGN_OR_RETURN(const Leaves results, walk_parts(variant, apart, fused));
    reuse_updated(variant, first_buffer);
    deliver(variant, results, first_buffer);
  }
  if (variant.parts.empty()) return base::Error{"it launches nothing: it only names parts of its operands"};
  add_restore(variant);
  finish_whole(variant);
  place_parts(variant, first_buffer);
  return {};
}

base::Result<PlanBuilder::Leaves> PlanBuilder::walk_parts(Variant& variant, const Apart& apart, const Fused& fused) {
  if (apart.body < 0) return base::Error{apart.why};
  const Step& step = *plan_.steps[static_cast<size_t>(fused.step)];
  Block block;
  ASSIGN_OR_RETURN(const Leaves made, inline_call(apart.body, fused.operands, block));
  const ir::Shape& shape = module_.shape(module_.instr(step.instr.comp, step.instr.instr));
  Leaves results = laid_out(made, shape, block, step.name, step.instr);
  for (auto& item : block) {
    auto* part = std::get_if<Step>(&item);
    if (part == nullptr) return base::Error{"it holds a loop or a branch"};
    RETURN_IF_ERROR(check_part(*part));
    part->trips = step.trips;
    variant.parts.push_back(std::move(*part));
  }
  std::erase_if(results, [](BufferId id) { return id < 0; });
  return results;
}

/// May what a part makes as `made` be made in `place` at once? Not where the place holds an operand that is still read: by a later part,
/// or by the part itself at another element than the one that it writes.
bool PlanBuilder::may_be_made_in(const Variant& variant, BufferId made, BufferId place) const {
  const auto reads = [&](const Step& part) { return std::ranges::count_if(part.in, [&](BufferId id) { return root(id) == place; }); };
  bool after = false;
  for (const Step& part : variant.parts) {
    if (after && reads(part) > 0) return false;
    const auto out = std::ranges::find_if(part.out, [&](BufferId id) { return root(id) == made; });
    if (after || out == part.out.end()) continue;
    after = true;
    if (reads(part) == 0) continue;
    const KernelCall* call = only_kernel(part);
    if (call == nullptr || reads(part) > 1) return false;
    const auto& may_alias = plan_.kernels[static_cast<size_t>(call->kernel)].may_alias;
    const auto k = static_cast<size_t>(out - part.out.begin());
    const int operand = k < may_alias.size() ? may_alias[k] : -1;
    if (operand < 0 || root(part.in[static_cast<size_t>(operand)]) != place) return false;
  }
  return after;
}

/// The results into the fusion's buffers: made there, or copied at the end where that is not possible.
void PlanBuilder::deliver(Variant& variant, const Leaves& results, size_t first_buffer) {
  const Step& step = *plan_.steps[static_cast<size_t>(variant.fused)];
  Block copies;
  for (size_t k = 0; k < results.size() && k < step.out.size(); ++k) {
    const BufferId made = root(results[k]), place = root(step.out[k]);
    const bool own = static_cast<size_t>(made) >= first_buffer && buffer(made).kind == Buffer::Kind::temporary;
    if (own && buffer(made).bytes == buffer(place).bytes && may_be_made_in(variant, made, place)) {
      for (size_t id = first_buffer; id < plan_.buffers.size(); ++id) {
        Buffer& moved = plan_.buffers[id];
        if (static_cast<BufferId>(id) == made || moved.alias_of == made) moved.alias_of = place;
      }
    } else {
      copy_leaves(copies, step.name + ".out", step.instr, {results[k]}, {step.out[k]});
    }
  }
  for (auto& item : copies) variant.parts.push_back(std::move(std::get<Step>(item)));
}

/// A part that changes a piece of an array that an earlier part has made does so in place, as it does between steps.
void PlanBuilder::reuse_updated(Variant& variant, size_t first_buffer) {
  for (Step& part : variant.parts) {
    const KernelCall* call = only_kernel(part);
    if (call == nullptr) continue;
    const std::vector<int>& updates = plan_.kernels[static_cast<size_t>(call->kernel)].updates;
    for (size_t k = 0; k < part.out.size() && k < updates.size(); ++k) {
      if (updates[k] < 0) continue;
      const BufferId from = root(part.in[static_cast<size_t>(updates[k])]), to = part.out[k];
      const bool own = static_cast<size_t>(from) >= first_buffer && buffer(from).kind == Buffer::Kind::temporary;
      if (!own || buffer(to).alias_of >= 0 || buffer(from).bytes != buffer(to).bytes || !may_be_made_in(variant, to, from)) continue;
      for (size_t id = first_buffer; id < plan_.buffers.size(); ++id) {
        Buffer& moved = plan_.buffers[id];
        if (static_cast<BufferId>(id) == to || moved.alias_of == to) moved.alias_of = from;
      }
    }
  }
}

/// Both ways must find the same operands: those that lie where a result goes are kept beside.
void PlanBuilder::add_restore(Variant& variant) {
  const Step& step = *plan_.steps[static_cast<size_t>(variant.fused)];
  for (Step* moves : {&variant.save, &variant.restore}) {
    moves->id = next_step_++;
    moves->name = step.name + (moves == &variant.save ? ".save" : ".restore");
    moves->instr = step.instr;
    moves->cls = Class::copy;
    moves->moves_state = true;
  }
  std::vector<BufferId> known;
  for (const BufferId operand : step.in) {
    const BufferId place = root(operand);
    const bool overwritten = std::ranges::any_of(step.out, [&](BufferId id) { return root(id) == place; });
    if (!overwritten || std::ranges::find(known, place) != known.end()) continue;
    known.push_back(place);
    const ir::Shape shape = buffer(place).shape;
    const BufferId kept = new_buffer(Buffer::Kind::scratch, step.name + ".saved", shape);
    variant.save.launches.emplace_back(Copy{place, kept});
    variant.restore.launches.emplace_back(Copy{kept, place});
    for (Step* moves : {&variant.save, &variant.restore}) moves->scratch.push_back(kept);
  }
}

void PlanBuilder::finish_whole(Variant& variant) {
  const Step& step = *plan_.steps[static_cast<size_t>(variant.fused)];
  Step& whole = variant.whole;
  whole.name = step.name + ".parts";
  whole.instr = step.instr;
  whole.trips = step.trips;
  whole.in = step.in;
  whole.out = step.out;
  whole.cls = Class::copy;
  for (Step& part : variant.parts) {
    whole.cls = std::min(whole.cls, part.cls);  // they stand from the weakest on
    whole.launches.insert(whole.launches.end(), part.launches.begin(), part.launches.end());
  }
  // By id: the parts, the whole, then the copies.
  StepId id = static_cast<StepId>(plan_.steps.size());
  for (const Variant& before : plan_.variants) id += before.why.empty() ? static_cast<StepId>(before.parts.size()) + 3 : 0;
  for (Step& part : variant.parts) {
    part.id = id++;
    for (const BufferId operand : part.in) {
      const auto output = std::ranges::find_if(part.out, [&](BufferId out) { return root(out) == root(operand); });
      if (output != part.out.end()) part.in_place.push_back({operand, *output});
    }
  }
  whole.id = id++;
  variant.save.id = id++;
  variant.restore.id = id++;
  next_step_ = id;
}

/// Within the variant by the order of the parts; what is saved lives through all of them.
void PlanBuilder::place_parts(Variant& variant, size_t first_buffer) {
  std::vector<Buffer> own(plan_.buffers.begin() + static_cast<std::ptrdiff_t>(first_buffer), plan_.buffers.end());
  std::vector<bool> used(own.size(), false);
  const auto touch = [&](BufferId id, StepId at) {
    const BufferId place = root(id);
    if (place < 0 || static_cast<size_t>(place) < first_buffer) return;
    const size_t i = static_cast<size_t>(place) - first_buffer;
    own[i].first = used[i] ? std::min(own[i].first, at) : at;
    own[i].last = used[i] ? std::max(own[i].last, at) : at;
    used[i] = true;
  };
  const auto last = static_cast<StepId>(variant.parts.size()) - 1;
  for (StepId at = 0; at <= last; ++at) {
    const Step& part = variant.parts[static_cast<size_t>(at)];
    for (const auto* list : {&part.in, &part.out, &part.scratch}) {
      for (const BufferId id : *list) touch(id, at);
    }
  }
  for (const BufferId id : variant.save.scratch) touch(id, 0), touch(id, last);
  variant.scratch_bytes = place(own);
  const int64_t begin = plan_.arena_bytes;  // where the program's ends
  for (size_t i = 0; i < own.size(); ++i) {
    Buffer& placed = plan_.buffers[first_buffer + i];
    if (own[i].offset >= 0) placed.offset = begin + own[i].offset;
    placed.first = placed.last = variant.fused;
  }
}

}  // namespace replay
