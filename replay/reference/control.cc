// Tuples, calls, loops, branches, and custom calls whose meaning is known.
#include <algorithm>

#include <fmt/format.h>
#include "replay/callees.h"
#include "replay/reference/ops.h"

namespace replay::reference {

Batch tuple(const Call& call) {
  int leaf = call.leaf;
  for (size_t k = 0; k < call.instr.operands.size(); ++k) {
    const int count = call.in.leaf_count(call.module().shape(call.module().instr(call.frame.comp, call.instr.operands[k])));
    if (leaf < count) return call.in.eval(call.frame, call.instr.operands[k], leaf, call.at);
    leaf -= count;
  }
  return call.fail("has fewer operands than its shape says");
}

Batch get_tuple_element(const Call& call) {
  if (call.instr.operands.empty()) return call.fail("lacks an operand");
  const ir::ShapeId from = call.module().instr(call.frame.comp, call.instr.operands[0]).shape;
  const int64_t k = ir::attr_int(call.module(), call.instr, "index").value_or(0);
  if (k < 0 || k >= static_cast<int64_t>(call.module().shape(from).elements.size())) return call.fail("picks what its tuple lacks");
  return call.in.eval(call.frame, call.instr.operands[0], call.in.leaf_offset(from, k) + call.leaf, call.at);
}

Batch forward(const Call& call) {
  if (call.instr.operands.empty()) return call.fail("lacks an operand");
  return call.in.eval(call.frame, call.instr.operands[0], call.leaf, call.at);
}

Batch called(const Call& call) {
  if (call.instr.calls.empty()) return call.fail("lacks its computation");
  std::unique_ptr<Frame>& inner = call.frame.inner[call.id];
  if (inner == nullptr) {
    inner = std::make_unique<Frame>();
    inner->comp = call.instr.calls[0];
    inner->caller = &call.frame;
    inner->call = call.id;
    inner->in_lanes = call.frame.in_lanes;
    const bool border = call.in.rounding() == Rounding::border && call.instr.op == ir::Op::fusion;
    inner->round = call.frame.round == Round::each && border ? Round::inner : call.frame.round;
  }
  return call.in.eval(*inner, call.module().comp(inner->comp).root, call.leaf, call.at);
}

Batch map(const Call& call) {
  if (call.instr.calls.empty()) return call.fail("lacks its computation");
  std::vector<Batch> arguments;
  for (size_t k = 0; k < call.instr.operands.size(); ++k) arguments.push_back(call.operand(k));
  std::vector<Values> made = call.in.run_lanes(call.instr.calls[0], arguments);
  if (made.size() != 1) return share(zeros(call.shape.type, call.count()));
  return share(std::move(made[0]));
}

namespace {

/// Of one loop inside one step; loops of a program are the engine's, which asks whether to stop.
constexpr int64_t kMostTrips = 1'000'000;

/// All leaves of operand k as arrays.
Leaves operand_leaves(const Call& call, size_t k) {
  if (k < call.instr.operands.size()) return call.in.materialise(call.frame, call.instr.operands[k]);
  call.fail("lacks an operand");
  return {};
}

/// One element of an array as an integer.
Values first_of(const Call& call, const Leaves& leaves) {
  return leaves.empty() ? zeros(ir::Type::pred, 1) : load(call.in, *leaves[0], {0});
}

std::vector<Values> values_of(const Call& call, const Leaves& leaves) {
  std::vector<Values> out;
  for (const ArrayPtr& array : leaves) {
    Indices all(array->shape.is_array() ? static_cast<size_t>(ir::elements(array->shape)) : 0);
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
    out.push_back(load(call.in, *array, all));
  }
  return out;
}

}  // namespace

std::vector<Values> while_loop(const Call& call) {
  const auto conditions = ir::attr_calls(call.module(), call.instr, "condition"),
             bodies = ir::attr_calls(call.module(), call.instr, "body");
  if (conditions.empty() || bodies.empty()) return call.fail("lacks its computations"), std::vector<Values>();
  Leaves state = operand_leaves(call, 0);
  for (int64_t trips = 0; !call.in.failed(); ++trips) {
    const Values again = first_of(call, call.in.run(conditions[0], {state}, call.frame.round));
    if (again.integer.empty() || again.integer[0] == 0) break;
    if (trips == kMostTrips) return call.fail(fmt::format("still goes on after {} trips", kMostTrips)), std::vector<Values>();
    state = call.in.run(bodies[0], {state}, call.frame.round);
  }
  return values_of(call, state);
}

std::vector<Values> conditional(const Call& call) {
  const Values selector = first_of(call, operand_leaves(call, 0));
  const std::vector<ir::CompId> computations = branches_of(call.module(), call.instr);
  const auto branches = static_cast<int64_t>(computations.size());
  if (branches == 0 || selector.integer.empty()) return call.fail("lacks its computations"), std::vector<Values>();
  int64_t which = selector.integer[0];
  if (selector.type == ir::Type::pred) which = which != 0 ? 0 : 1;
  if (which < 0 || which >= branches) which = branches - 1;
  const auto chosen = static_cast<size_t>(which);
  std::vector<Values> made = values_of(call, call.in.run(computations[chosen], {operand_leaves(call, chosen + 1)}, call.frame.round));
  if (unsure_at(selector, 0)) {
    for (Values& values : made) values.unsure.assign(size(values), 1);
  }
  return made;
}

/// ((operands…), results…, contexts…).
Batch async_start(const Call& call) {
  int leaf = call.leaf;
  for (const ir::InstrId operand : call.instr.operands) {
    const int count = call.in.leaf_count(call.module().shape(call.module().instr(call.frame.comp, operand)));
    if (leaf < count) return call.in.eval(call.frame, operand, leaf, call.at);
    leaf -= count;
  }
  if (call.instr.calls.empty()) return call.fail("lacks its computation");
  const ir::Computation& body = call.module().comp(call.instr.calls[0]);
  const int results = call.in.leaf_count(call.module().shape(call.module().instr(call.instr.calls[0], body.root)));
  if (leaf >= results) return share(zeros(call.shape.type, call.count()));
  return called({call.in, call.frame, call.id, call.instr, call.shape, leaf, call.at});
}

Batch async_done(const Call& call) {
  if (call.instr.operands.empty()) return call.fail("lacks an operand");
  const ir::Shape& start = call.module().shape(call.module().instr(call.frame.comp, call.instr.operands[0]));
  const int first = start.is_tuple() && start.elements.size() > 1 ? call.in.leaf_count(start.elements[0]) : 0;
  return call.in.eval(call.frame, call.instr.operands[0], first + call.leaf, call.at);
}

Batch collective(const Call& call) {
  const size_t inputs = call.instr.operands.size();
  if (inputs == 0) return call.fail("lacks an operand");
  // Variadic ones have a result for each operand; starts of gathers and permutes give operands, then results.
  const size_t k = static_cast<size_t>(call.leaf) % inputs;
  const ir::Shape& from = call.operand_shape(k);
  if (from.type != call.shape.type) return share(zeros(call.shape.type, call.count()));  // the context of a start
  if (from.dims == call.shape.dims) return call.operand(k);
  if (from.rank() != call.shape.rank()) return call.fail("has a result of another rank");
  const Indices strides = row_major(from.dims);
  Indices places(call.count());
  Walker walker(call.shape.dims);
  for (size_t i = 0; i < places.size(); ++i) {
    const Indices& at = walker.move_to((*call.at)[i]);
    for (size_t d = 0; d < at.size(); ++d) {
      if (from.dims[d] == 0) return call.fail("has an empty operand");
      places[i] += at[d] % from.dims[d] * strides[d];
    }
  }
  return call.operand(k, std::move(places));
}

}  // namespace replay::reference
