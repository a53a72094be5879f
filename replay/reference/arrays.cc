// Whole arrays: loading elements from memory, keeping results, running a computation in order.
#include <algorithm>

#include <fmt/format.h>
#include "replay/element.h"
#include "replay/reference/interpreter.h"

namespace replay::reference {

Indices row_major(const std::vector<int64_t>& dims) {
  Indices strides(dims.size(), 1);
  for (size_t d = strides.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  return strides;
}

Indices affine(const std::vector<int64_t>& dims, const Indices& strides, int64_t base, const Indices& at) {
  Indices out(at.size());
  Walker walker(dims);
  for (size_t i = 0; i < at.size(); ++i) {
    const Indices& place = walker.move_to(at[i]);
    int64_t sum = base;
    for (size_t d = 0; d < place.size(); ++d) sum += place[d] * strides[d];
    out[i] = sum;
  }
  return out;
}

Values load(Interpreter& in, const Array& array, const Indices& at) {
  const int64_t n = array.values != nullptr ? static_cast<int64_t>(size(*array.values)) : ir::elements(array.shape);
  const auto [low, high] = std::minmax_element(at.begin(), at.end());
  if (!at.empty() && (*low < 0 || *high >= n)) {
    in.fail(fmt::format("index {} of an array of {} elements", *low < 0 ? *low : *high, n));
    return zeros(array.shape.type, at.size());
  }
  if (array.values != nullptr) return take(*array.values, at);
  const Indices moved = array.strides.empty() ? Indices() : affine(array.shape.dims, array.strides, 0, at);
  const Indices& places = array.strides.empty() ? at : moved;
  const ir::Type type = array.shape.type;
  Values out = zeros(type, at.size());
  for (size_t i = 0; i < out.re.size(); ++i) out.re[i] = load_real(type, array.data, places[i]);
  for (size_t i = 0; i < out.im.size(); ++i) out.im[i] = load_real(type, array.data, places[i], 1);
  for (size_t i = 0; i < out.integer.size(); ++i) out.integer[i] = load_integer(type, array.data, places[i]);
  return out;
}

/// With bounds wanted values are kept as they are, else as bytes: an eighth of the memory.
ArrayPtr Interpreter::pack(Values&& values, const ir::Shape& shape) const {
  auto array = std::make_shared<Array>();
  array->shape = ir::array_shape(shape.type, shape.dims);
  if (bounds_) {
    array->values = share(std::move(values));
    return array;
  }
  auto bytes = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(ir::bytes(array->shape)));
  for (size_t i = 0; i < values.re.size(); ++i) store_real(shape.type, bytes->data(), static_cast<int64_t>(i), values.re[i]);
  for (size_t i = 0; i < values.im.size(); ++i) store_real(shape.type, bytes->data(), static_cast<int64_t>(i), values.im[i], 1);
  for (size_t i = 0; i < values.integer.size(); ++i) store_integer(shape.type, bytes->data(), static_cast<int64_t>(i), values.integer[i]);
  array->data = bytes->data();
  array->owner = std::move(bytes);
  return array;
}

Leaves Interpreter::whole_leaves(const OpRow& row, Frame& frame, ir::InstrId id) {
  const ir::Instr& instr = module_.instr(frame.comp, id);
  const ir::Shape& shape = module_.shape(instr);
  Leaves leaves;
  if (!knows_sizes(frame.comp, instr)) return leaves;
  in_scope([&] {
    const IndexList none = intern({});
    std::vector<Values> made = row.whole({*this, frame, id, instr, leaf_shape(shape, 0), 0, none});
    for (int leaf = 0; leaf < leaf_count(shape) && !failed_; ++leaf) {
      const ir::Shape& of = leaf_shape(shape, leaf);
      Values values = static_cast<size_t>(leaf) < made.size() ? std::move(made[static_cast<size_t>(leaf)]) : zeros(of.type, 0);
      const auto n = of.is_array() ? static_cast<size_t>(ir::elements(of)) : 0;
      if (size(values) != n || values.type != of.type) {
        if (of.is_array()) fail(fmt::format("{} ({}) makes other values than its shape says", module_.name_of(instr), ir::text(instr.op)));
        values = zeros(of.type, n);
      }
      if (row.rounds) round(frame, of.type, values);
      leaves.push_back(pack(std::move(values), of));
    }
  });
  return leaves;
}

Leaves Interpreter::evaluated_leaves(Frame& frame, ir::InstrId id) {
  const ir::Shape& shape = module_.shape(module_.instr(frame.comp, id));
  Leaves leaves;
  for (int leaf = 0; leaf < leaf_count(shape) && !failed_; ++leaf) {
    const ir::Shape& of = leaf_shape(shape, leaf);
    leaves.push_back(pack(of.is_array() ? eval_all(frame, id, leaf) : zeros(of.type, 0), of));
  }
  return leaves;
}

Leaves Interpreter::materialise(Frame& frame, ir::InstrId id) {
  if (const auto it = frame.given.find(id); it != frame.given.end()) return it->second;
  const ir::Instr& instr = module_.instr(frame.comp, id);
  const OpRow* const row = find_row(instr.op);
  Leaves leaves;
  const auto operand = [&](size_t k) { return k < instr.operands.size() ? materialise(frame, instr.operands[k]) : Leaves(); };
  if (instr.op == ir::Op::parameter && frame.caller != nullptr && !frame.in_lanes) {
    const auto& arguments = module_.instr(frame.caller->comp, frame.call).operands;
    if (static_cast<size_t>(instr.number) < arguments.size())
      return materialise(*frame.caller, arguments[static_cast<size_t>(instr.number)]);
  } else if (instr.op == ir::Op::tuple) {
    for (size_t k = 0; k < instr.operands.size(); ++k) {
      const Leaves part = operand(k);
      leaves.insert(leaves.end(), part.begin(), part.end());
    }
    return leaves;
  } else if (instr.op == ir::Op::get_tuple_element) {
    const Leaves all = operand(0);
    const ir::ShapeId tuple = module_.instr(frame.comp, instr.operands[0]).shape;
    const auto first = static_cast<size_t>(leaf_offset(tuple, ir::attr_int(module_, instr, "index").value_or(0)));
    const auto count = static_cast<size_t>(leaf_count(module_.shape(instr)));
    if (first + count <= all.size())
      return {all.begin() + static_cast<ptrdiff_t>(first), all.begin() + static_cast<ptrdiff_t>(first + count)};
    fail(fmt::format("{} picks what its tuple lacks", module_.name_of(instr)));
    return leaves;
  }
  if (row != nullptr && row->whole != nullptr)
    leaves = whole_leaves(*row, frame, id);
  else
    leaves = evaluated_leaves(frame, id);
  if (!failed_) frame.given[id] = leaves;
  frame.inner.erase(id);
  return leaves;
}

std::vector<ir::InstrId> operands_first(const ir::Computation& comp) {
  std::vector<ir::InstrId> order, stack;
  std::vector<uint8_t> state(comp.instrs.size(), 0);  // 0 new, 1 open, 2 done
  for (size_t first = 0; first < comp.instrs.size(); ++first) {
    stack.push_back(static_cast<ir::InstrId>(first));
    while (!stack.empty()) {
      const ir::InstrId id = stack.back();
      uint8_t& own = state[static_cast<size_t>(id)];
      if (own == 0) {
        for (const ir::InstrId operand : comp.instrs[static_cast<size_t>(id)].operands) {
          if (state[static_cast<size_t>(operand)] == 0) stack.push_back(operand);
        }
      } else {
        stack.pop_back();
        if (own == 1) order.push_back(id);
      }
      own = own == 0 ? 1 : 2;
    }
  }
  return order;
}

Leaves Interpreter::run(ir::CompId comp, const std::vector<Leaves>& arguments, Round round) {
  const ir::Computation& computation = module_.comp(comp);
  Frame frame;
  frame.comp = comp;
  frame.round = round;
  for (size_t k = 0; k < computation.parameters.size() && k < arguments.size(); ++k) frame.given[computation.parameters[k]] = arguments[k];
  const std::vector<ir::InstrId> order = operands_first(computation);
  constexpr size_t kNever = SIZE_MAX;
  std::vector<size_t> last_use(computation.instrs.size(), kNever);  // position in `order`; never: not needed
  last_use[static_cast<size_t>(computation.root)] = order.size();
  for (size_t i = order.size(); i-- > 0;) {
    if (last_use[static_cast<size_t>(order[i])] == kNever) continue;
    for (const ir::InstrId operand : computation.instrs[static_cast<size_t>(order[i])].operands) {
      size_t& last = last_use[static_cast<size_t>(operand)];
      last = last == kNever ? i : std::max(last, i);
    }
  }
  std::vector<std::vector<ir::InstrId>> ends(order.size() + 1);
  for (const ir::InstrId id : order) {
    if (last_use[static_cast<size_t>(id)] != kNever) ends[last_use[static_cast<size_t>(id)]].push_back(id);
  }
  Leaves root;
  for (size_t i = 0; i < order.size() && !failed_; ++i) {
    if (last_use[static_cast<size_t>(order[i])] == kNever) continue;
    frame.given[order[i]] = materialise(frame, order[i]);
    if (order[i] == computation.root) root = frame.given[computation.root];
    frame.inner.clear();
    frame.notes.clear();
    frame.dense.clear();
    for (const ir::InstrId id : ends[i]) frame.given.erase(id);
  }
  return root;
}

}  // namespace replay::reference
