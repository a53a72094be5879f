// The walk over computations: scopes, aliases, calls, loops, branches.
#include <fmt/format.h>

#include <algorithm>

#include "replay/callees.h"
#include "replay/order.h"
#include "replay/plan_builder.h"
#include "replay/trip_count.h"
#include "src/base/text.h"

namespace replay {
namespace {

constexpr int kMostCalls = 200;  ///< nested calls; XLA modules are acyclic, files need not be

std::string leaf_name(std::string_view name, const std::vector<int64_t>& path) {
  return path.empty() ? std::string(name) : fmt::format("{}.{}", name, ir::path_text(path));
}

/// The value is the operand's memory as it stands.
bool is_alias(const ir::Module& module, ir::CompId comp, const ir::Instr& instr) {
  if (ir::info(instr.op).cls != ir::OpClass::alias || instr.op == ir::Op::parameter) return false;
  if (instr.op != ir::Op::bitcast || instr.operands.empty()) return true;
  return shares_memory(module.shape(module.instr(comp, instr.operands[0])), module.shape(instr));
}

/// Talks to the world or to other devices, itself or in what it calls.
bool acts(const ir::Module& module, const ir::Instr& instr) {
  const auto itself = [&](const ir::Instr& one) {
    const ir::OpClass cls = ir::info(one.op).cls;
    return cls == ir::OpClass::order || cls == ir::OpClass::collective || ir::attr_true(module, one, "custom_call_has_side_effect");
  };
  if (itself(instr)) return true;
  std::vector<ir::CompId> callees = instr.calls;
  for (size_t next = 0; next < callees.size(); ++next) {
    for (const ir::Instr& inner : module.comp(callees[next]).instrs) {
      if (itself(inner)) return true;
      for (const ir::CompId callee : inner.calls) {
        if (std::ranges::find(callees, callee) == callees.end()) callees.push_back(callee);
      }
    }
  }
  return false;
}

/// Loops whose result nobody needs, and what uses them: compilers remove them, and they may never end.
std::vector<bool> idle_loops(const ir::Module& module, const ir::Computation& comp, const std::vector<ir::InstrId>& order) {
  std::vector<bool> needed(comp.instrs.size(), false), idle(comp.instrs.size(), false);
  needed[static_cast<size_t>(comp.root)] = true;
  for (size_t i = order.size(); i-- > 0;) {
    const ir::Instr& instr = comp.instrs[static_cast<size_t>(order[i])];
    const bool own = needed[static_cast<size_t>(order[i])] || acts(module, instr);
    needed[static_cast<size_t>(order[i])] = own;
    for (const ir::InstrId operand : instr.operands) needed[static_cast<size_t>(operand)] = needed[static_cast<size_t>(operand)] || own;
  }
  for (const ir::InstrId id : order) {
    const ir::Instr& instr = comp.instrs[static_cast<size_t>(id)];
    const bool uses = std::ranges::any_of(instr.operands, [&](ir::InstrId operand) { return idle[static_cast<size_t>(operand)]; });
    idle[static_cast<size_t>(id)] = !needed[static_cast<size_t>(id)] && (instr.op == ir::Op::while_ || uses);
  }
  return idle;
}

/// As many as ir::leaves gives, without their paths.
size_t leaf_count(const ir::Shape& shape) {
  if (!shape.is_tuple()) return 1;
  size_t count = 0;
  for (const ir::Shape& element : shape.elements) count += leaf_count(element);
  return count;
}

void collect(Block& block, std::vector<Step*>& steps) {
  for (auto& item : block) {
    if (auto* step = std::get_if<Step>(&item)) {
      steps.push_back(step);
    } else if (auto* loop = std::get_if<std::unique_ptr<Loop>>(&item)) {
      collect((*loop)->cond, steps);
      collect((*loop)->body, steps);
    } else {
      for (Block& inner : std::get<std::unique_ptr<Branch>>(item)->blocks) collect(inner, steps);
    }
  }
}

/// Steps of loops inside are already scaled by their own trips.
void scale_trips(Block& block, double trips) {
  for (auto& item : block) {
    if (auto* step = std::get_if<Step>(&item)) {
      step->trips *= trips;
    } else if (auto* loop = std::get_if<std::unique_ptr<Loop>>(&item)) {
      scale_trips((*loop)->cond, trips);
      scale_trips((*loop)->body, trips);
    } else {
      for (Block& inner : std::get<std::unique_ptr<Branch>>(item)->blocks) scale_trips(inner, trips);
    }
  }
}

}  // namespace

LeafRange leaf_range(const ir::Shape& tuple, int64_t index) {
  size_t first = 0;
  for (int64_t i = 0; i < index; ++i) first += leaf_count(tuple.elements[static_cast<size_t>(i)]);
  return {first, leaf_count(tuple.elements[static_cast<size_t>(index)])};
}

PlanBuilder::PlanBuilder(const ir::Module& module, const PlanOptions& options, std::map<ir::InstrRef, Apart> apart)
    : module_(module), options_(options), apart_(std::move(apart)) {
  plan_.module = &module;
  plan_.rounding = options.rounding;
  plan_.target = options.target;
}

base::Status PlanBuilder::build() {
  Scope scope{module_.entry, {}};
  scope.leaves.resize(module_.comp(module_.entry).instrs.size());
  RETURN_IF_ERROR(add_parameters(scope));
  ASSIGN_OR_RETURN(const Leaves root, walk(scope, plan_.block));
  const ir::Computation& entry = module_.comp(module_.entry);
  const auto paths = ir::leaves(module_.shape(entry.instrs[static_cast<size_t>(entry.root)]));
  for (size_t i = 0; i < root.size(); ++i) {
    if (root[i] >= 0) plan_.outputs.push_back({paths[i].path, root[i]});
  }
  kept_.insert(kept_.end(), root.begin(), root.end());
  share_buffers();
  place_buffers();
  collect(plan_.block, plan_.steps);
  plan_.program_buffers = plan_.buffers.size();
  add_variants();
  return {};
}

base::Status PlanBuilder::add_parameters(Scope& scope) {
  for (const ir::InstrId id : module_.comp(scope.comp).parameters) {
    const ir::Instr& instr = module_.instr(scope.comp, id);
    for (const ir::Leaf& leaf : ir::leaves(module_.shape(instr))) {
      BufferId made = -1;
      if (leaf.shape->is_array()) {
        made = new_buffer(Buffer::Kind::parameter, leaf_name(module_.name_of(instr), leaf.path), *leaf.shape);
        plan_.parameters.push_back({instr.number, leaf.path, made});
      }
      scope.leaves[static_cast<size_t>(id)].push_back(made);
    }
  }
  return {};
}

base::Result<PlanBuilder::Leaves> PlanBuilder::walk(Scope& scope, Block& block) {
  if (++depth_ > kMostCalls) {
    return base::Error{
        fmt::format("{}: calls nest deeper than {}; does it call itself?", module_.text(module_.comp(scope.comp).name), kMostCalls)};
  }
  const ir::Computation& comp = module_.comp(scope.comp);
  const std::vector<ir::InstrId> order = topological(comp);
  const std::vector<bool> idle = idle_loops(module_, comp, order);
  for (const ir::InstrId id : order) {
    if (!idle[static_cast<size_t>(id)]) RETURN_IF_ERROR(visit(scope, block, id));
  }
  --depth_;
  return scope.leaves[static_cast<size_t>(comp.root)];
}

base::Status PlanBuilder::visit(Scope& scope, Block& block, ir::InstrId id) {
  const ir::Instr& instr = module_.instr(scope.comp, id);
  switch (instr.op) {
    case ir::Op::parameter:
      return {};
    case ir::Op::constant:
      set_constant(scope, id);
      return {};
    case ir::Op::call:
      return add_call(scope, block, id);
    case ir::Op::while_:
      return add_while(scope, block, id);
    case ir::Op::conditional:
      return add_conditional(scope, block, id);
    case ir::Op::async_start:
      return add_async_start(scope, block, id);
    case ir::Op::async_update:
      set_alias(scope, id);
      return {};
    case ir::Op::async_done:
    case ir::Op::all_gather_done:
    case ir::Op::collective_permute_done:
      set_async_done(scope, id);
      return {};
    case ir::Op::all_reduce_done:
      set_alias(scope, id);
      return {};
    case ir::Op::after_all:
      scope.leaves[static_cast<size_t>(id)] = {-1};
      return {};
    default:
      break;  // every other op is an alias or a step
  }
  if (is_view(scope, instr)) {
    set_alias(scope, id);
    return {};
  }
  if (is_alias(module_, scope.comp, instr)) {
    set_alias(scope, id);
    Leaves& own = scope.leaves[static_cast<size_t>(id)];
    if (instr.op != ir::Op::bitcast)
      own = laid_out(own, module_.shape(instr), block, std::string(module_.name_of(instr)), {scope.comp, id});
    return {};
  }
  return add_step(scope, block, id);
}

/// A reshape that changes nothing in memory: compilers make a bitcast of it, frameworks a view.
bool PlanBuilder::is_view(const Scope& scope, const ir::Instr& instr) const {
  if (instr.op != ir::Op::reshape) return false;
  const BufferId from = operand_leaves(scope, instr).at(0);
  return from >= 0 && keeps_order(buffer(from).shape, module_.shape(instr));
}

void PlanBuilder::set_constant(Scope& scope, ir::InstrId id) {
  const ir::Instr& instr = module_.instr(scope.comp, id);
  const ir::Literal& literal = module_.literal(instr);
  for (const ir::Leaf& leaf : ir::leaves(module_.shape(instr))) {
    const BufferId made = new_buffer(Buffer::Kind::constant, leaf_name(module_.name_of(instr), leaf.path), *leaf.shape);
    plan_.constants.push_back({made, {scope.comp, id}, literal.elided});
    scope.leaves[static_cast<size_t>(id)].push_back(made);
  }
}

/// Texts from before layout assignment may give a value one layout where it is made and another where it arrives: at a parameter of a
/// computation, in a tuple, in the state of a loop. Such leaves are rearranged.
PlanBuilder::Leaves PlanBuilder::laid_out(const Leaves& leaves, const ir::Shape& shape, Block& block, const std::string& name,
                                          ir::InstrRef at) {
  Leaves out = leaves;
  const auto wanted = ir::leaves(shape);
  for (size_t i = 0; i < out.size() && i < wanted.size(); ++i) {
    if (out[i] < 0 || !wanted[i].shape->is_array() || ir::same_physical(buffer(out[i]).shape, *wanted[i].shape) ||
        !ir::same_dims(buffer(out[i]).shape, *wanted[i].shape)) {
      continue;
    }
    out[i] = rearrange(out[i], *wanted[i].shape, block, leaf_name(name, wanted[i].path) + ".laid_out", at);
  }
  return out;
}

void PlanBuilder::set_alias(Scope& scope, ir::InstrId id) {
  const ir::Instr& instr = module_.instr(scope.comp, id);
  Leaves& own = scope.leaves[static_cast<size_t>(id)];
  const Leaves all = operand_leaves(scope, instr);
  if (instr.op == ir::Op::get_tuple_element) {
    const ir::Shape& tuple = module_.shape(module_.instr(scope.comp, instr.operands[0]));
    const LeafRange range = leaf_range(tuple, ir::attr_int(module_, instr, "index").value_or(0));
    own.assign(all.begin() + static_cast<std::ptrdiff_t>(range.first),
               all.begin() + static_cast<std::ptrdiff_t>(range.first + range.count));
  } else if (instr.op == ir::Op::bitcast || instr.op == ir::Op::reshape) {
    own = {alias(all[0], std::string(module_.name_of(instr)), module_.shape(instr))};
  } else {
    own = all;                                            // tuple; opt-barrier, domain, copy-done, …: the same value
    own.resize(ir::leaves(module_.shape(instr)).size());  // add-dependency and the like: without the trailing tokens
  }
}

/// The operand's leaves under the shapes of this instruction: an annotation may change layouts' tiles and memory spaces, not places.
void PlanBuilder::alias_leaves(Scope& scope, ir::InstrId id) {
  const ir::Instr& instr = module_.instr(scope.comp, id);
  const Leaves from = operand_leaves(scope, instr);
  const auto shapes = ir::leaves(module_.shape(instr));
  Leaves& own = scope.leaves[static_cast<size_t>(id)];
  for (size_t i = 0; i < shapes.size(); ++i) {
    const BufferId of = i < from.size() ? from[i] : -1;
    own.push_back(alias(of, leaf_name(module_.name_of(instr), shapes[i].path), *shapes[i].shape));
  }
}

/// ((operands…), results…, contexts…): what the body makes is made here, before anything that could run beside it.
base::Status PlanBuilder::add_async_start(Scope& scope, Block& block, ir::InstrId id) {
  const ir::Instr& instr = module_.instr(scope.comp, id);
  Leaves all = operand_leaves(scope, instr);
  if (!instr.calls.empty()) {
    ASSIGN_OR_RETURN(const Leaves made, inline_call(instr.calls[0], all, block));
    all.insert(all.end(), made.begin(), made.end());
  }
  all.resize(ir::leaves(module_.shape(instr)).size(), -1);
  scope.leaves[static_cast<size_t>(id)] = std::move(all);
  return {};
}

/// Element 1 of what the start gave.
void PlanBuilder::set_async_done(Scope& scope, ir::InstrId id) {
  const ir::Instr& instr = module_.instr(scope.comp, id);
  const Leaves all = operand_leaves(scope, instr);
  const ir::Shape& start = module_.shape(module_.instr(scope.comp, instr.operands.at(0)));
  Leaves& own = scope.leaves[static_cast<size_t>(id)];
  const LeafRange range = start.is_tuple() && start.elements.size() > 1 ? leaf_range(start, 1) : LeafRange{0, all.size()};
  for (size_t i = 0; i < range.count && range.first + i < all.size(); ++i) own.push_back(all[range.first + i]);
  own.resize(leaf_count(module_.shape(instr)), -1);
}

base::Result<PlanBuilder::Leaves> PlanBuilder::inline_call(ir::CompId comp, const Leaves& arguments, Block& block) {
  Scope scope{comp, {}};
  scope.leaves.resize(module_.comp(comp).instrs.size());
  size_t next = 0;
  for (const ir::InstrId id : module_.comp(comp).parameters) {
    const ir::Instr& parameter = module_.instr(comp, id);
    Leaves& own = scope.leaves[static_cast<size_t>(id)];
    const size_t count = ir::leaves(module_.shape(parameter)).size();
    for (size_t i = 0; i < count; ++i) own.push_back(next < arguments.size() ? arguments[next++] : -1);
    own = laid_out(own, module_.shape(parameter), block, std::string(module_.name_of(parameter)), {comp, id});
  }
  return walk(scope, block);
}

base::Status PlanBuilder::add_call(Scope& scope, Block& block, ir::InstrId id) {
  const ir::Instr& instr = module_.instr(scope.comp, id);
  ASSIGN_OR_RETURN(const Leaves result, inline_call(instr.calls.at(0), operand_leaves(scope, instr), block));
  scope.leaves[static_cast<size_t>(id)] =
      laid_out(result, module_.shape(instr), block, std::string(module_.name_of(instr)), {scope.comp, id});
  return {};
}

/// The state of a loop has the layouts in which its body reads it: what the text says outside would be rearranged in each iteration.
const ir::Shape& PlanBuilder::state_shape(const ir::Instr& loop) const {
  const ir::Computation& body = module_.comp(ir::attr_calls(module_, loop, "body").at(0));
  if (body.parameters.size() != 1) return module_.shape(loop);
  const ir::Shape& inside = module_.shape(body.instrs[static_cast<size_t>(body.parameters[0])]);
  return ir::same_dims(inside, module_.shape(loop)) ? inside : module_.shape(loop);
}

base::Status PlanBuilder::add_while(Scope& scope, Block& block, ir::InstrId id) {
  const ir::Instr& instr = module_.instr(scope.comp, id);
  if (never_ends(module_, {scope.comp, id})) {
    // Compilers remove a loop without effect even if it never ends, so texts that ran have some.
    if (leaves_its_state_alone(module_, {scope.comp, id})) {
      scope.leaves[static_cast<size_t>(id)] =
          laid_out(operand_leaves(scope, instr), module_.shape(instr), block, std::string(module_.name_of(instr)), {scope.comp, id});
      return {};
    }
    if (maybe_ == 0)
      return base::Error{
          fmt::format("{}: its condition stays true, so it never ends; try --computation NAME", base::escaped(module_.name_of(instr)))};
  }
  auto loop = std::make_unique<Loop>();
  loop->name = module_.name_of(instr);
  loop->instr = {scope.comp, id};
  const ir::Shape& state = state_shape(instr);
  const Leaves init = laid_out(operand_leaves(scope, instr), state, block, loop->name + ".init", loop->instr);
  const auto shapes = ir::leaves(state);
  for (size_t i = 0; i < init.size(); ++i) {
    loop->state.push_back(init[i] < 0 ? -1 : new_buffer(Buffer::Kind::temporary, leaf_name(loop->name, shapes[i].path), *shapes[i].shape));
  }
  copy_leaves(block, loop->name + ".init", loop->instr, init, loop->state);
  const StepId first = next_step_ - (block.empty() ? 0 : 1);
  ASSIGN_OR_RETURN(const Leaves predicate, inline_call(ir::attr_calls(module_, instr, "condition").at(0), loop->state, loop->cond));
  loop->predicate = predicate.at(0);
  ++maybe_;
  ASSIGN_OR_RETURN(const Leaves next, inline_call(ir::attr_calls(module_, instr, "body").at(0), loop->state, loop->body));
  --maybe_;
  loop->next = laid_out(next, state, loop->body, loop->name + ".next", loop->instr);
  copy_leaves(loop->body, loop->name + ".next", loop->instr, loop->next, loop->state);
  loops_.emplace_back(first, std::max(first, next_step_ - 1));
  if (const auto trips = trip_count(module_, loop->instr)) {
    loop->known_trips = *trips;
    scale_trips(loop->cond, static_cast<double>(*trips) + 1);
    scale_trips(loop->body, static_cast<double>(*trips));
  }
  const Leaves last = loop->state;
  block.emplace_back(std::move(loop));
  scope.leaves[static_cast<size_t>(id)] =
      laid_out(last, module_.shape(instr), block, std::string(module_.name_of(instr)), {scope.comp, id});
  return {};
}

base::Status PlanBuilder::add_conditional(Scope& scope, Block& block, ir::InstrId id) {
  const ir::Instr& instr = module_.instr(scope.comp, id);
  auto branch = std::make_unique<Branch>();
  branch->name = module_.name_of(instr);
  branch->instr = {scope.comp, id};
  branch->selector = scope.leaves[static_cast<size_t>(instr.operands.at(0))].at(0);
  Leaves& out = scope.leaves[static_cast<size_t>(id)];
  for (const ir::Leaf& leaf : ir::leaves(module_.shape(instr))) {
    out.push_back(leaf.shape->is_array() ? new_buffer(Buffer::Kind::temporary, leaf_name(branch->name, leaf.path), *leaf.shape) : -1);
  }
  const std::vector<ir::CompId> comps = branches_of(module_, instr);
  for (size_t i = 0; i < comps.size(); ++i) {
    Block inner;
    const Leaves& argument = scope.leaves[static_cast<size_t>(instr.operands.at(i + 1))];
    ++maybe_;
    ASSIGN_OR_RETURN(const Leaves result, inline_call(comps[i], argument, inner));
    --maybe_;
    const std::string name = fmt::format("{}.branch{}", branch->name, i);
    copy_leaves(inner, name, branch->instr, laid_out(result, module_.shape(instr), inner, name, branch->instr), out);
    branch->blocks.push_back(std::move(inner));
  }
  block.emplace_back(std::move(branch));
  return {};
}

PlanBuilder::Leaves PlanBuilder::operand_leaves(const Scope& scope, const ir::Instr& instr) const {
  Leaves all;
  for (const ir::InstrId operand : instr.operands) {
    const Leaves& leaves = scope.leaves[static_cast<size_t>(operand)];
    all.insert(all.end(), leaves.begin(), leaves.end());
  }
  return all;
}

}  // namespace replay
