// Reduce and scan. A result asks for all elements of its row; rows are cut into pieces so that memory stays small.
#include <algorithm>

#include "replay/reference/combiner.h"
#include "replay/reference/ops.h"

namespace replay::reference {
namespace {

constexpr size_t kPiece = 4 * kBatch;  ///< operand elements asked for together

/// Dimensions of a reduce's operand: those that stay, in order, and those that go.
struct Split {
  Indices kept_strides, reduced_sizes, reduced_strides;
  int64_t row = 1;  ///< elements combined into one
};
Split split(const ir::Shape& from, const Indices& reduced) {
  const Indices strides = row_major(from.dims);
  Split out;
  for (size_t d = 0; d < strides.size(); ++d) {
    if (std::find(reduced.begin(), reduced.end(), static_cast<int64_t>(d)) == reduced.end()) {
      out.kept_strides.push_back(strides[d]);
    } else {
      out.reduced_sizes.push_back(from.dims[d]);
      out.reduced_strides.push_back(strides[d]);
      out.row *= from.dims[d];
    }
  }
  return out;
}

/// Combines elements first … first + n of the rows that begin at `bases` into acc.
void combine_piece(const Call& call, Combiner& combiner, std::vector<Values>& acc, const Split& split, const Indices& bases, int64_t first,
                   int64_t n) {
  Indices columns(static_cast<size_t>(n));
  for (size_t k = 0; k < columns.size(); ++k) columns[k] = first + static_cast<int64_t>(k);
  columns = affine(split.reduced_sizes, split.reduced_strides, 0, columns);
  Indices places;
  places.reserve(bases.size() * columns.size());
  for (const int64_t base : bases) {
    for (const int64_t column : columns) places.push_back(base + column);
  }
  call.in.in_scope([&] {
    std::vector<Values> x;
    x.reserve(acc.size());
    for (size_t k = 0; k < acc.size(); ++k) x.push_back(*call.operand(k, places));
    if (!call.in.failed()) combiner.combine_rows(acc, x, columns.size());
  });
}

}  // namespace

Batch reduce(const Call& call) {
  const size_t inputs = call.instr.operands.size() / 2;
  if (inputs == 0 || call.instr.calls.empty()) return call.fail("lacks operands or its computation");
  const ir::Shape& from = call.operand_shape(0);
  const Indices reduced = ir::attr_dims(call.module(), call.instr, "dimensions");
  const Split parts = split(from, reduced);
  if (parts.kept_strides.size() != call.shape.dims.size()) return call.fail("has a result of another rank than its dimensions say");
  const Indices bases = affine(call.shape.dims, parts.kept_strides, 0, *call.at);
  std::vector<Values> inits, out;
  for (size_t k = 0; k < inputs; ++k) {
    inits.push_back(call.scalar(inputs + k));
    out.push_back(zeros(call.operand_shape(k).type, 0));
  }
  const auto row = static_cast<size_t>(std::max<int64_t>(1, parts.row));
  const size_t together = std::max<size_t>(1, kPiece / row);
  for (size_t begin = 0; begin < bases.size() && !call.in.failed(); begin += together) {
    const Indices rows(bases.begin() + static_cast<ptrdiff_t>(begin),
                       bases.begin() + static_cast<ptrdiff_t>(std::min(begin + together, bases.size())));
    std::vector<Values> acc;
    acc.reserve(inits.size());
    for (const Values& init : inits) acc.push_back(repeat(init, 0, rows.size()));
    Combiner combiner(call.in, call.instr.calls[0]);
    for (int64_t first = 0; first < parts.row && !call.in.failed(); first += static_cast<int64_t>(kPiece)) {
      combine_piece(call, combiner, acc, parts, rows, first, std::min(parts.row - first, static_cast<int64_t>(kPiece)));
    }
    combiner.finish(acc);
    for (size_t k = 0; k < inputs; ++k) append(out[k], acc[k]);
  }
  if (call.in.failed()) return share(zeros(call.shape.type, call.count()));
  Values& made = out[std::min(static_cast<size_t>(call.leaf), inputs - 1)];
  made.type = call.shape.type;
  return share(std::move(made));
}

namespace {

/// Shape of one step of a scan: `shape` without dimension `along`.
ir::Shape step_shape(const ir::Shape& shape, size_t along) {
  std::vector<int64_t> dims = shape.dims;
  if (along < dims.size()) dims.erase(dims.begin() + static_cast<ptrdiff_t>(along));
  return ir::array_shape(shape.type, std::move(dims));
}

/// Places of step `step` in an array, in the order of step_shape.
Indices places_of(const ir::Shape& shape, size_t along, int64_t step) {
  const ir::Shape part = step_shape(shape, along);
  const Indices strides = row_major(shape.dims);
  Indices steps = strides, list(static_cast<size_t>(ir::elements(part)));
  steps.erase(steps.begin() + static_cast<ptrdiff_t>(along));
  for (size_t i = 0; i < list.size(); ++i) list[i] = static_cast<int64_t>(i);
  return affine(part.dims, steps, step * strides[along], list);
}

ArrayPtr array_of(const ir::Shape& shape, Values&& values) {
  auto array = std::make_shared<Array>();
  array->shape = shape;
  array->values = share(std::move(values));
  return array;
}

/// Whether the computation is applied to whole steps of the arrays: its parameters have the shapes of those, not of scalars.
bool takes_arrays(const Call& call) {
  const ir::Computation& comp = call.module().comp(call.instr.calls[0]);
  for (size_t k = 0; k < comp.parameters.size() && k < call.instr.operands.size(); ++k) {
    const ir::Shape& parameter = call.module().shape(comp.instrs[static_cast<size_t>(comp.parameters[k])]);
    if (parameter.rank() > 0 && parameter.dims != std::vector<int64_t>{1}) return true;
  }
  return false;
}

/// One value a step where a computation takes scalars: every array has the dimensions of the first. Where it takes arrays, as many steps.
bool scans_alike(const Call& call, size_t along, size_t inputs, bool by_arrays) {
  const ir::Shape &result = call.module().shape(call.instr), &first = call.operand_shape(0);
  const size_t carries = call.instr.operands.size() - inputs, leaves = static_cast<size_t>(call.in.leaf_count(result));
  const auto is_alike = [&](const ir::Shape& shape) {
    return by_arrays ? along < shape.dims.size() && shape.dims[along] == first.dims[along] : shape.dims == first.dims;
  };
  bool alike = leaves >= carries;
  for (size_t k = 0; k < inputs; ++k) alike = alike && is_alike(call.operand_shape(k));
  for (size_t k = 0; alike && k < leaves - carries; ++k) alike = is_alike(call.in.leaf_shape(result, static_cast<int>(k)));
  return alike;
}

/// The values of one step go where they belong, if they are of that type and as many.
bool stack(const Call& call, Values& into, const Indices& at, const Values& step) {
  if (kind_of(into) == kind_of(step) && into.im.empty() == step.im.empty() && size(step) == at.size()) return put(into, at, step), true;
  call.fail("has a computation that returns values of another type or number");
  return false;
}

/// (xs…, carries…) → (ys…, carries…), one step after another, each on arrays.
std::vector<Values> scan_arrays(const Call& call, size_t along, size_t inputs, bool backwards) {
  const ir::Shape& result = call.module().shape(call.instr);
  const size_t carries = call.instr.operands.size() - inputs, leaves = static_cast<size_t>(call.in.leaf_count(result));
  const int64_t steps = call.operand_shape(0).dims[along];
  std::vector<Values> made;
  for (size_t k = 0; k < leaves; ++k) {
    const ir::Shape& of = call.in.leaf_shape(result, static_cast<int>(k));
    made.push_back(zeros(of.type, static_cast<size_t>(ir::elements(of))));
  }
  for (size_t k = 0; k < carries; ++k) made[leaves - carries + k] = *call.whole(inputs + k);
  for (int64_t i = 0; i < steps && !call.in.failed(); ++i) {
    const int64_t step = backwards ? steps - 1 - i : i;
    std::vector<Leaves> arguments;
    for (size_t k = 0; k < inputs; ++k) {
      const ir::Shape& shape = call.operand_shape(k);
      arguments.push_back({array_of(step_shape(shape, along), take(*call.whole(k), places_of(shape, along, step)))});
    }
    for (size_t k = 0; k < carries; ++k)
      arguments.push_back({array_of(call.operand_shape(inputs + k), Values(made[leaves - carries + k]))});
    const Leaves out = call.in.run(call.instr.calls[0], arguments, call.frame.round);
    if (out.size() != leaves) return call.fail("has a computation that returns another number of values"), std::vector<Values>();
    for (size_t k = 0; k < leaves; ++k) {
      Indices all(static_cast<size_t>(ir::elements(out[k]->shape)));
      for (size_t j = 0; j < all.size(); ++j) all[j] = static_cast<int64_t>(j);
      Values values = load(call.in, *out[k], all);
      if (k >= leaves - carries) {
        made[k] = std::move(values);
      } else {
        if (!stack(call, made[k], places_of(call.in.leaf_shape(result, static_cast<int>(k)), along, step), values)) return {};
      }
    }
  }
  return made;
}

}  // namespace

std::vector<Values> scan(const Call& call) {
  const Indices dims = ir::attr_dims(call.module(), call.instr, "dimensions");
  const auto carries = static_cast<size_t>(std::max<int64_t>(0, ir::attr_int(call.module(), call.instr, "num_carries").value_or(1)));
  const bool backwards = ir::attr_true(call.module(), call.instr, "is_reverse");
  const size_t inputs = call.instr.operands.size() - std::min(carries, call.instr.operands.size());
  if (dims.size() != 1 || call.instr.calls.empty() || inputs == 0)
    return call.fail("lacks operands, its dimension or its computation"), std::vector<Values>();
  const ir::Shape& from = call.operand_shape(0);
  if (dims[0] < 0 || dims[0] >= from.rank()) return call.fail("names no dimension of its operand"), std::vector<Values>();
  const auto along = static_cast<size_t>(dims[0]);
  if (!scans_alike(call, along, inputs, takes_arrays(call)))
    return call.fail("has arrays of different dimensions or numbers of steps"), std::vector<Values>();
  if (takes_arrays(call)) return scan_arrays(call, along, inputs, backwards);
  const Indices strides = row_major(from.dims);
  Indices lane_dims = from.dims;
  lane_dims.erase(lane_dims.begin() + static_cast<ptrdiff_t>(along));
  Indices lane_strides = strides, lane_list(static_cast<size_t>(from.dims[along] == 0 ? 0 : ir::elements(from) / from.dims[along]));
  lane_strides.erase(lane_strides.begin() + static_cast<ptrdiff_t>(along));
  for (size_t i = 0; i < lane_list.size(); ++i) lane_list[i] = static_cast<int64_t>(i);
  const Indices bases = affine(lane_dims, lane_strides, 0, lane_list);
  std::vector<Values> stacked, state;
  const ir::Shape& result = call.module().shape(call.instr);
  const auto outputs = static_cast<size_t>(call.in.leaf_count(result)) - carries;
  for (size_t k = 0; k < outputs; ++k)
    stacked.push_back(zeros(call.in.leaf_shape(result, static_cast<int>(k)).type, static_cast<size_t>(ir::elements(from))));
  for (size_t k = 0; k < carries; ++k) state.push_back(*call.whole(inputs + k));
  for (int64_t step = 0; step < from.dims[along] && !call.in.failed(); ++step) {
    const int64_t place = (backwards ? from.dims[along] - 1 - step : step) * strides[along];
    Indices at = bases;
    for (int64_t& index : at) index += place;
    std::vector<Batch> arguments;
    arguments.reserve(inputs + state.size());
    for (size_t k = 0; k < inputs; ++k) arguments.push_back(share(take(*call.whole(k), at)));
    for (Values& value : state) arguments.push_back(share(size(value) == at.size() ? std::move(value) : repeat(value, 0, at.size())));
    std::vector<Values> made = call.in.run_lanes(call.instr.calls[0], arguments);
    if (made.size() != outputs + carries)
      return call.fail("has a computation that returns another number of values"), std::vector<Values>();
    for (size_t k = 0; k < outputs; ++k) {
      if (!stack(call, stacked[k], at, made[k])) return {};
    }
    state.assign(std::make_move_iterator(made.begin() + static_cast<ptrdiff_t>(outputs)), std::make_move_iterator(made.end()));
  }
  for (Values& value : state) stacked.push_back(std::move(value));
  return stacked;
}

}  // namespace replay::reference
