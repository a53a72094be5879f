// Ops that make or move values: each maps indices of its result to indices of its operand.
#include <algorithm>

#include <fmt/format.h>
#include "replay/element.h"
#include "replay/reference/ops.h"

namespace replay::reference {

Batch constant(const Call& call) {
  const ir::Literal& literal = call.module().literal(call.instr);
  if (literal.elided) return call.fail("is elided: its values are not in the text; give them as an input");
  const ir::Literal* leaf = &literal;
  int rest = call.leaf;
  const ir::Shape* shape = &call.module().shape(call.instr);
  while (shape->is_tuple()) {
    size_t k = 0;
    for (; k + 1 < shape->elements.size() && rest >= call.in.leaf_count(shape->elements[k]); ++k)
      rest -= call.in.leaf_count(shape->elements[k]);
    if (k >= leaf->elements.size()) return call.fail("lacks an element");
    leaf = &leaf->elements[k];
    shape = &shape->elements[k];
  }
  Array array;
  array.shape = *shape;
  array.data = leaf->data.data();
  if (leaf->data.size() < static_cast<size_t>(ir::elements(*shape) * ir::bytes(shape->type)))
    return call.fail("has fewer values than its shape says");
  return share(load(call.in, array, *call.at));
}

Batch iota(const Call& call) {
  const auto dim = ir::attr_int(call.module(), call.instr, "iota_dimension").value_or(0);
  if (dim < 0 || dim >= std::max(1, call.shape.rank())) return call.fail("has a dimension that its shape lacks");
  Indices strides(call.shape.dims.size(), 0);
  if (!strides.empty()) strides[static_cast<size_t>(dim)] = 1;
  const Indices places = affine(call.shape.dims, strides, 0, *call.at);
  Values out = zeros(call.shape.type, places.size());
  for (size_t i = 0; i < out.re.size(); ++i) out.re[i] = static_cast<double>(places[i]);
  for (size_t i = 0; i < out.integer.size(); ++i) out.integer[i] = wrap(out.type, places[i]);
  return share(std::move(out));
}

Batch parameter(const Call& call) {
  Frame& frame = call.frame;
  if (frame.lanes != nullptr) {
    size_t first = 0;
    const ir::Computation& comp = call.module().comp(frame.comp);
    for (int64_t k = 0; k < call.instr.number && k < static_cast<int64_t>(comp.parameters.size()); ++k) {
      first += static_cast<size_t>(
          call.in.leaf_count(call.module().shape(comp.instrs[static_cast<size_t>(comp.parameters[static_cast<size_t>(k)])])));
    }
    const size_t index = first + static_cast<size_t>(call.leaf);
    if (index >= frame.lanes->size() || size(*(*frame.lanes)[index]) != call.count()) return call.fail("has no argument");
    return (*frame.lanes)[index];
  }
  if (frame.caller == nullptr) return call.fail("has no argument");
  const auto& arguments = call.module().instr(frame.caller->comp, frame.call).operands;
  if (call.instr.number < 0 || static_cast<size_t>(call.instr.number) >= arguments.size()) return call.fail("has no argument");
  return call.in.eval(*frame.caller, arguments[static_cast<size_t>(call.instr.number)], call.leaf, call.at);
}

Batch identity(const Call& call) { return call.operand(0); }

Batch zero(const Call& call) { return share(zeros(call.shape.type, call.count())); }

Batch device_number(const Call& call) {
  Values out = zeros(call.shape.type, call.count());
  std::fill(out.integer.begin(), out.integer.end(), call.instr.op == ir::Op::replica_id ? call.in.replica() : call.in.partition());
  return share(std::move(out));
}

Batch dimension_size(const Call& call) {
  const Indices dims = ir::attr_dims(call.module(), call.instr, "dimensions");
  const ir::Shape& shape = call.operand_shape(0);
  if (dims.size() != 1 || dims[0] < 0 || dims[0] >= shape.rank()) return call.fail("names no dimension of its operand");
  Values out = zeros(call.shape.type, call.count());
  std::fill(out.integer.begin(), out.integer.end(), shape.dims[static_cast<size_t>(dims[0])]);
  return share(std::move(out));
}

Batch set_dimension_size(const Call& call) {
  const Indices dims = ir::attr_dims(call.module(), call.instr, "dimensions");
  const ir::Shape& shape = call.operand_shape(0);
  if (dims.size() != 1 || dims[0] < 0 || dims[0] >= shape.rank()) return call.fail("names no dimension of its operand");
  const Values size = call.scalar(1);
  const int64_t bound = shape.dims[static_cast<size_t>(dims[0])];
  if (size.integer.empty() || size.integer[0] != bound)
    return call.fail(
        fmt::format("makes dimension {} smaller than its bound of {}: ops on a part of their arrays are not supported", dims[0], bound));
  return call.operand(0);
}

namespace {

/// Sizes of the dimensions in memory order, slowest first, and their strides in the logical order.
struct Memory {
  Indices dims, logical_strides;
};
Memory memory_of(const ir::Shape& shape) {
  const Indices strides = row_major(shape.dims), order = ir::minor_to_major(shape);
  Memory memory;
  for (size_t i = order.size(); i-- > 0;) {
    memory.dims.push_back(shape.dims[static_cast<size_t>(order[i])]);
    memory.logical_strides.push_back(strides[static_cast<size_t>(order[i])]);
  }
  return memory;
}

}  // namespace

Batch bitcast(const Call& call) {
  if (ir::elements(call.operand_shape(0)) == 0) return call.fail("reads an array without elements");
  const Indices in_memory = affine(call.shape.dims, ir::strides(call.shape), 0, *call.at);
  const Memory memory = memory_of(call.operand_shape(0));
  return reinterpreted(call, in_memory, [&](const Indices& elements) { return affine(memory.dims, memory.logical_strides, 0, elements); });
}

Batch broadcast(const Call& call) {
  const ir::Shape& from = call.operand_shape(0);
  const Indices dims = ir::attr_dims(call.module(), call.instr, "dimensions"), strides = row_major(from.dims);
  if (from.dims.empty()) {
    if (call.frame.in_lanes) return call.operand(0);
    return share(repeat(call.scalar(0), 0, call.count()));
  }
  Indices steps(call.shape.dims.size(), 0);
  for (size_t d = 0; d < from.dims.size(); ++d) {
    const int64_t to = d < dims.size() ? dims[d] : -1;
    if (to < 0 || to >= call.shape.rank()) return call.fail("has dimensions that its result lacks");
    if (from.dims[d] != 1) steps[static_cast<size_t>(to)] = strides[d];
    if (from.dims[d] != 1 && from.dims[d] != call.shape.dims[static_cast<size_t>(to)]) return call.fail("changes the size of a dimension");
  }
  return call.gathered(0, affine(call.shape.dims, steps, 0, *call.at));
}

Batch transpose(const Call& call) {
  const ir::Shape& from = call.operand_shape(0);
  const Indices dims = ir::attr_dims(call.module(), call.instr, "dimensions"), strides = row_major(from.dims);
  Indices steps(call.shape.dims.size(), 0);
  for (size_t d = 0; d < steps.size(); ++d) {
    if (d >= dims.size() || dims[d] < 0 || dims[d] >= from.rank()) return call.fail("is no permutation of dimensions");
    steps[d] = strides[static_cast<size_t>(dims[d])];
  }
  return call.operand(0, affine(call.shape.dims, steps, 0, *call.at));
}

Batch reverse(const Call& call) {
  Indices steps = row_major(call.shape.dims);
  int64_t base = 0;
  for (const int64_t d : ir::attr_dims(call.module(), call.instr, "dimensions")) {
    if (d < 0 || d >= call.shape.rank() || steps[static_cast<size_t>(d)] < 0)
      return call.fail("names a dimension that is not there, or twice");
    base += steps[static_cast<size_t>(d)] * (call.shape.dims[static_cast<size_t>(d)] - 1);
    steps[static_cast<size_t>(d)] = -steps[static_cast<size_t>(d)];
  }
  return call.operand(0, affine(call.shape.dims, steps, base, *call.at));
}

Batch slice(const Call& call) {
  const auto dims = ir::attr_slice(call.module(), call.instr);
  if (!dims.ok()) return call.fail(dims.error().message);
  Indices steps = row_major(call.operand_shape(0).dims);
  if (dims->size() != steps.size()) return call.fail("has another rank than its operand");
  int64_t base = 0;
  for (size_t d = 0; d < steps.size(); ++d) {
    base += steps[d] * (*dims)[d].start;
    steps[d] *= (*dims)[d].stride;
  }
  return call.operand(0, affine(call.shape.dims, steps, base, *call.at));
}

Batch pad(const Call& call) {
  const auto dims = ir::attr_padding(call.module(), call.instr);
  if (!dims.ok()) return call.fail(dims.error().message);
  const ir::Shape& from = call.operand_shape(0);
  if (dims->size() != from.dims.size() || from.rank() != call.shape.rank()) return call.fail("has another rank than its operand");
  const Indices strides = row_major(from.dims);
  Indices inside, places;
  Walker walker(call.shape.dims);
  for (size_t i = 0; i < call.count(); ++i) {
    const Indices& at = walker.move_to((*call.at)[i]);
    int64_t sum = 0;
    bool in = true;
    for (size_t d = 0; d < at.size() && in; ++d) {
      const int64_t place = at[d] - (*dims)[d].low, step = (*dims)[d].interior + 1;
      in = place >= 0 && place % step == 0 && place / step < from.dims[d];
      sum += place / step * strides[d];
    }
    if (!in) continue;
    inside.push_back(static_cast<int64_t>(i));
    places.push_back(sum);
  }
  if (inside.size() == call.count()) return call.operand(0, std::move(places));
  Values out = repeat(call.scalar(1), 0, call.count());
  if (!inside.empty()) put(out, inside, *call.operand(0, std::move(places)));
  return share(std::move(out));
}

Batch concatenate(const Call& call) {
  const Indices dims = ir::attr_dims(call.module(), call.instr, "dimensions");
  if (dims.size() != 1 || dims[0] < 0 || dims[0] >= call.shape.rank()) return call.fail("names no dimension");
  const auto along = static_cast<size_t>(dims[0]);
  const size_t n = call.instr.operands.size();
  std::vector<Indices> strides(n), positions(n), places(n);
  Indices begins{0};
  for (size_t k = 0; k < n; ++k) {
    const ir::Shape& shape = call.operand_shape(k);
    if (shape.rank() != call.shape.rank()) return call.fail("has operands of different ranks");
    strides[k] = row_major(shape.dims);
    begins.push_back(begins.back() + shape.dims[along]);
  }
  Walker walker(call.shape.dims);
  for (size_t i = 0; i < call.count(); ++i) {
    const Indices& at = walker.move_to((*call.at)[i]);
    const auto after = std::upper_bound(begins.begin(), begins.end(), at[along]);
    const auto k = static_cast<size_t>(after - begins.begin()) - 1;
    if (k >= n) return call.fail("is longer than its operands");
    int64_t sum = -begins[k] * strides[k][along];
    for (size_t d = 0; d < at.size(); ++d) sum += at[d] * strides[k][d];
    positions[k].push_back(static_cast<int64_t>(i));
    places[k].push_back(sum);
  }
  Values out = zeros(call.shape.type, call.count());
  for (size_t k = 0; k < n; ++k) {
    if (!positions[k].empty()) put(out, positions[k], *call.operand(k, std::move(places[k])));
  }
  return share(std::move(out));
}

}  // namespace replay::reference
