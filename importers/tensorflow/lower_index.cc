// Operators whose places are data: gathers, scatters, the place of a maximum, running sums, sorted heads. Where a number of rows
// decides about shapes it must be a constant.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "importers/tensorflow/rows.h"

namespace importers::tensorflow {
namespace {

using ir::Direction;
using ir::Op;

int64_t axis_of(Lowering& l, int64_t axis, int64_t rank) {
  axis = from_end(axis, rank);
  if (axis < 0 || axis >= rank) l.fail("has a dimension out of range");
  return axis;
}
int64_t axis_of_input(Lowering& l, size_t k, int64_t rank) {
  const Dims at = l.integers(k);
  if (l.error.empty() && at.size() != 1) l.fail("its dimension is not known");
  return l.error.empty() ? axis_of(l, at[0], rank) : -1;
}

Values gather_along(Lowering& l, int64_t axis) {
  const int64_t batch = from_end(attribute(l.node, "batch_dims", int64_t{0}), l.shape(1).rank());
  if (!ir::is_integer(l.shape(1).type)) return l.fail("its indices are no integers");
  if (batch < 0 || batch > axis || batch > l.shape(1).rank()) return l.fail("has more batch dimensions than dimensions");
  if (!l.error.empty()) return {};
  return {l.program.fuse1({{l.in(0), l.in(1)}}, [&](Body& b, std::span<const Value> x) { return take(b, x[0], x[1], axis, batch); })};
}
Values gather(Lowering& l) {
  const int64_t axis = l.node.inputs.size() > 2 ? axis_of_input(l, 2, l.shape(0).rank()) : axis_of(l, 0, l.shape(0).rank());
  return l.error.empty() ? gather_along(l, axis) : Values{};
}
/// The last dimension of the indices holds places in the first dimensions of x.
Values gather_nd(Lowering& l) {
  const Dims indices = l.dims(1);
  if (indices.empty() || indices.back() > l.shape(0).rank() || !ir::is_integer(l.shape(1).type))
    return l.fail("its indices fit no dimensions");
  return l.fuse([](Body& b, std::span<const Value> x) { return Values{take_deep(b, x[0], x[1])}; });
}

/// (indices [n, depth], updates, shape).
Values scatter_nd(Lowering& l) {
  const Dims indices = l.dims(0), result = l.integers(2);
  if (!l.error.empty() || !are_sane(result)) return l.fail("its shape is not known");
  if (indices.empty() || indices.back() > static_cast<int64_t>(result.size()) || !ir::is_integer(l.shape(0).type))
    return l.fail("its indices fit no dimensions");
  return {l.program.fuse1({{l.in(0), l.in(1)}}, [&](Body& b, std::span<const Value> x) {
    return give_deep(b, b.fill(b.type(x[1]), result, 0), x[0], x[1], combining(l, Op::add, b.type(x[1])));
  })};
}

/// (array, indices [n, depth], updates): the array with others at or combined into places of it.
template <Op kOp, bool kNegated = false>
Values tensor_scatter(Lowering& l) {
  const Dims into = l.dims(0), indices = l.dims(1);
  if (indices.empty() || indices.back() > static_cast<int64_t>(into.size()) || !ir::is_integer(l.shape(1).type))
    return l.fail("its indices fit no dimensions");
  if (joined({indices.begin(), indices.end() - 1}, from(into, indices.back())) != l.dims(2))
    return l.fail("has updates of other dimensions than its places");
  return l.fuse([&](Body& b, std::span<const Value> x) {
    const Value updates = kNegated ? b.unary(Op::negate, x[2]) : x[2];
    return Values{give_deep(b, x[0], x[1], updates, combining(l, kOp, b.type(x[0])))};
  });
}

/// (x, k): the k greatest of each line of the last dimension, in order, and their places.
Values top_k(Lowering& l) {
  const Dims k = l.integers(1), dims = l.dims(0);
  if (!l.error.empty() || k.size() != 1) return l.fail("its number is not known");
  if (dims.empty() || k[0] < 0 || k[0] > dims.back()) return l.fail("takes more than there are");
  const Value both = l.entry().op(Op::topk, {{l.in(0)}}, {{"k", std::to_string(k[0])}, {"largest", "true"}});
  const Value places = l.entry().element(both, 1);
  const ir::Type type = attribute(l.node, "index_type", ir::Type::s32);
  const auto as_asked = [&](Body& b, std::span<const Value> x) { return b.convert(x[0], type); };
  return {l.entry().element(both, 0), type == ir::Type::s32 ? places : l.program.fuse1({{places}}, as_asked)};
}

/// Each number once, in the order in which they first stand, and for every element the place of its number there. How many there are is
/// data: the result is as long as x, and behind them stands -1, which no scatter takes for a row.
Values unique(Lowering& l) {
  constexpr int64_t kMost = 1 << 16;  // every element is compared with every other
  const Dims dims = l.dims(0);
  const ir::Type type = l.shape(0).type, index = attribute(l.node, "out_idx", ir::Type::s32);
  if (dims.size() != 1 || dims[0] == 0 || !ir::is_integer(type)) return l.fail("of other than a vector of integers");
  const int64_t n = dims[0];
  if (n > kMost) return l.fail(fmt::format("compares more than {} elements with one another", kMost));
  l.assumed = "how many it finds is data; it runs with its bound, and what is over is -1";
  return l.program.fuse({{l.in(0)}}, [&](Body& b, std::span<const Value> x) {
    const Dims square{n, n};
    const Value equal = b.compare(Direction::EQ, b.broadcast(x[0], square, {0}), b.broadcast(x[0], square, {1}));
    const Value places = b.iota(ir::Type::s32, square, 1);
    const Value first = b.reduce(Op::minimum, b.select(equal, places, b.like(places, static_cast<double>(n))), {1});
    const Value is_first = b.compare(Direction::EQ, first, b.iota(ir::Type::s32, dims, 0));
    std::vector<ir::WindowDim> before(1);
    before[0].size = std::max<int64_t>(1, n), before[0].pad_low = n - 1;
    const Value rank = b.binary(Op::subtract, b.reduce_window(Op::add, b.convert(is_first, ir::Type::s32), before), 1);
    const Value at = b.select(is_first, rank, b.like(rank, -1));
    const Value found = give(b, b.fill(type, dims, -1), at, x[0], 0, combining(l, Op::copy, type));
    return Values{found, b.convert(take(b, rank, first, 0), index)};
  });
}

/// (x, shifts, dimensions): elements move on, those at the end to the beginning.
Values roll(Lowering& l) {
  const Dims shifts = l.integers(1), axes = l.integers(2), dims = l.dims(0);
  if (!l.error.empty() || shifts.size() != axes.size()) return l.fail("its shifts are not known");
  for (const int64_t axis : axes) axis_of(l, axis, static_cast<int64_t>(dims.size()));
  if (!l.error.empty()) return {};
  return l.program.fuse({{l.in(0)}}, [&](Body& b, std::span<const Value> x) {
    Value rolled = x[0];
    for (size_t k = 0; k < axes.size(); ++k) rolled = b.roll(rolled, from_end(axes[k], b.rank(rolled)), shifts[k]);
    return Values{rolled};
  });
}

/// A table of rows as its variable holds it now, for indices of these dimensions and rows of those. Where nothing tells how many rows it
/// has, a number is assumed.
Value table(Lowering& l, const Dims& indices, const Dims& rows) {
  constexpr int64_t kRows = 10'000;
  if (l.variables.told(l.node.inputs[0]) != nullptr) return l.held(0);
  const Dims dims = joined({kRows}, from(rows, static_cast<int64_t>(indices.size())));
  if (!are_sane(dims) || !begins_with(rows, indices)) return l.fail("nothing tells the shape of its variable"), Value{};
  l.assumed = fmt::format("nothing tells how many rows its variable has; {} are assumed", kRows);
  const ir::Shape shape = ir::array_shape(l.node.shapes.empty() ? l.shape(2).type : l.node.shapes[0].type, dims);
  return l.held(0, &shape);
}

/// (variable, indices): rows of what the variable holds.
Values resource_gather(Lowering& l) {
  const Dims indices = l.dims(1);
  const int64_t axis = from_end(attribute(l.node, "batch_dims", int64_t{0}), static_cast<int64_t>(indices.size()));
  const bool told = axis == 0 && !l.node.shapes.empty();
  l.inputs[0] = told ? table(l, indices, l.node.shapes[0].dims) : l.held(0);
  if (axis_of(l, axis, l.shape(0).rank()); !l.error.empty()) return {};
  return gather_along(l, axis);
}

/// Operators on the variables of TensorFlow 1 give their variable on.
bool is_reference(const Node& node) { return !node.type.starts_with("Resource"); }

enum class Rows : uint8_t { replace, add, subtract, multiply, greater, less };

/// (variable, indices, updates): rows of what the variable holds are replaced by or combined with others, in place.
template <Rows kRows>
Values resource_scatter(Lowering& l) {
  static constexpr Op kOps[] = {Op::copy, Op::add, Op::add, Op::multiply, Op::maximum, Op::minimum};
  const Dims indices = l.dims(1), updates = l.dims(2);
  if (!ir::is_integer(l.shape(1).type) || !begins_with(updates, indices)) return l.fail("has updates of other dimensions than its indices");
  const Value before = table(l, indices, updates);
  if (!l.error.empty()) return {};
  const Dims held = l.entry().dims(before);
  if (held.empty() || joined(indices, from(held, 1)) != updates) return l.fail("has updates that are no rows of its variable");
  const Value after = l.program.fuse1({{before, l.in(1), l.in(2)}}, [&](Body& b, std::span<const Value> x) {
    const Value rows = kRows == Rows::subtract ? b.unary(Op::negate, x[2]) : x[2];
    return give(b, x[0], x[1], rows, 0, combining(l, kOps[static_cast<size_t>(kRows)], b.type(x[0])));
  });
  l.variables.assign(l.node.inputs[0], after);
  return is_reference(l.node) ? Values{after} : Values{};
}

/// (variable, indices [n, depth], updates): the same for places of it.
template <Op kOp, bool kNegated = false>
Values variable_scatter_nd(Lowering& l) {
  l.inputs[0] = l.held(0);
  if (!l.error.empty()) return {};
  const Values after = tensor_scatter<kOp, kNegated>(l);
  if (!l.error.empty()) return {};
  l.variables.assign(l.node.inputs[0], after[0]);
  return is_reference(l.node) ? after : Values{};
}

/// (x, lengths): of each sequence its first so many elements backwards, the others as they are.
Values reverse_sequence(Lowering& l) {
  const Dims dims = l.dims(0);
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t along = axis_of(l, attribute(l.node, "seq_dim", int64_t{0}), rank);
  const int64_t batch = axis_of(l, attribute(l.node, "batch_dim", int64_t{0}), rank);
  if (!l.error.empty() || l.dims(1) != Dims{dims[static_cast<size_t>(batch)]} || !ir::is_integer(l.shape(1).type))
    return l.fail("has lengths that are not one for each sequence");
  return l.fuse([&](Body& b, std::span<const Value> x) {
    const Value place = b.iota(b.type(x[1]), dims, along), length = b.broadcast(x[1], dims, {batch});
    const Value turned = b.binary(Op::subtract, b.binary(Op::subtract, length, place), 1);
    return Values{take_along(b, x[0], b.select(b.compare(Direction::LT, place, length), turned, place), along)};
  });
}

/// (indices, depth, on, off): a new dimension of `depth` at `axis`.
Values one_hot(Lowering& l) {
  const Dims depth = l.integers(1), indices = l.dims(0);
  if (!l.error.empty() || depth.size() != 1) return l.fail("its depth is not known");
  const auto rank = static_cast<int64_t>(indices.size());
  const int64_t axis = axis_of(l, attribute(l.node, "axis", int64_t{-1}), rank + 1);
  if (!l.error.empty()) return {};
  Dims to = indices, at = counting(0, rank);
  to.insert(to.begin() + axis, depth[0]);
  for (int64_t& d : at) d += d >= axis ? 1 : 0;
  if (!are_sane(to)) return l.fail("is too deep");
  return {l.program.fuse1({{l.in(0), l.in(2), l.in(3)}}, [&](Body& b, std::span<const Value> x) {
    const Value hit = b.compare(Direction::EQ, b.broadcast(x[0], to, at), b.iota(b.type(x[0]), to, axis));
    return b.select(hit, b.expand(x[1], to), b.expand(x[2], to));
  })};
}

/// The least index of a greatest (least) element.
template <Op kOp>
Values place_of(Lowering& l) {
  const int64_t axis = axis_of_input(l, 1, l.shape(0).rank());
  if (!l.error.empty()) return {};
  const ir::Type type = attribute(l.node, "output_type", ir::Type::s64);
  return {l.program.fuse1({{l.in(0)}}, [&](Body& b, std::span<const Value> x) {
    const Dims dims = b.dims(x[0]);
    const Value best = b.expand(b.reduce_keep(kOp, x[0], {axis}), dims), index = b.iota(type, dims, axis);
    const Value beyond = b.like(index, static_cast<double>(dims[static_cast<size_t>(axis)]));
    return b.reduce(Op::minimum, b.select(b.compare(Direction::EQ, x[0], best), index, beyond), {axis});
  })};
}

/// Sum (product) of all elements up to each, or before it; from the end where `reverse`. A window as long as the dimension.
template <Op kOp>
Values running(Lowering& l) {
  const int64_t axis = axis_of_input(l, 1, l.shape(0).rank());
  if (!l.error.empty()) return {};
  const bool reverse = attribute(l.node, "reverse", false), exclusive = attribute(l.node, "exclusive", false);
  return {l.program.fuse1({{l.in(0)}}, [&](Body& b, std::span<const Value> x) {
    std::vector<ir::WindowDim> window(b.dims(x[0]).size());
    ir::WindowDim& along = window[static_cast<size_t>(axis)];
    const int64_t n = b.dims(x[0])[static_cast<size_t>(axis)], shift = exclusive ? 1 : 0;
    along.size = std::max<int64_t>(1, n);
    (reverse ? along.pad_high : along.pad_low) = n - 1 + shift;
    (reverse ? along.pad_low : along.pad_high) = -shift;
    return b.reduce_window(kOp, x[0], window);
  })};
}

/// Rows of N arrays, each where its index says; later ones win. N arrays of indices come first, then N of data.
Values dynamic_stitch(Lowering& l) {
  const size_t n = l.node.inputs.size() / 2;
  constexpr int64_t kMostRows = 1 << 20;
  Dims source;  // of each row of the result: which of all rows of data
  Dims rest;
  int64_t row = 0;
  Values data;
  for (size_t k = 0; k < n; ++k) {
    const Dims indices = l.integers(k), dims = l.dims(n + k);
    if (!l.error.empty()) return {};
    const Dims index_dims = l.constants[k]->shape.dims;
    if (!begins_with(dims, index_dims)) return l.fail("has indices of other dimensions than its data");
    rest = from(dims, static_cast<int64_t>(index_dims.size()));
    for (const int64_t index : indices) {
      if (index < 0 || index >= kMostRows) return l.fail("has an index out of range");
      if (static_cast<size_t>(index) >= source.size()) source.resize(static_cast<size_t>(index) + 1, 0);
      source[static_cast<size_t>(index)] = row++;
    }
    data.push_back(l.in(n + k));
  }
  Array rows{ir::array_shape(ir::Type::s32, {static_cast<int64_t>(source.size())}), {}};
  for (const int64_t r : source) {
    const ir::Literal one = ir::scalar_literal(ir::Type::s32, r);
    rows.literal.data.insert(rows.literal.data.end(), one.data.begin(), one.data.end());
  }
  return {l.program.fuse1(data, [&](Body& b, std::span<const Value> x) {
    Values flat;
    for (size_t k = 0; k < n; ++k) flat.push_back(b.reshape(x[k], joined({ir::elements(l.constants[k]->shape)}, rest)));
    return take(b, b.concatenate(flat, 0), b.constant(rows.shape, rows.literal), 0);
  })};
}

/// start, start + delta, … where all three are constants.
Values range(Lowering& l) {
  double ends[3] = {};
  for (size_t k = 0; k < 3; ++k) {
    const Array* array = l.constants[k];
    if (array == nullptr || ir::elements(array->shape) != 1) return l.fail("its ends are not known");
    ends[k] = ir::as_double(array->literal, array->shape.type, 0);
  }
  const double count = std::ceil((ends[1] - ends[0]) / ends[2]);
  if (!(count >= 0 && count < 1e9)) return l.fail("has too many steps");
  const ir::Type type = l.constants[0]->shape.type;
  return l.program.fuse({}, [&](Body& b, std::span<const Value>) {
    const Value steps = b.iota(type, {static_cast<int64_t>(count)}, 0);
    return Values{b.binary(Op::add, b.binary(Op::multiply, steps, ends[2]), ends[0])};
  });
}

constexpr Rule kIndexRules[] = {
    {"Gather", gather, 2},
    {"GatherV2", gather, 3},
    {"ResourceGather", resource_gather, 2},
    {"ResourceScatterUpdate", resource_scatter<Rows::replace>, 3},
    {"ResourceScatterAdd", resource_scatter<Rows::add>, 3},
    {"ResourceScatterSub", resource_scatter<Rows::subtract>, 3},
    {"ResourceScatterMul", resource_scatter<Rows::multiply>, 3},
    {"ResourceScatterMax", resource_scatter<Rows::greater>, 3},
    {"ResourceScatterMin", resource_scatter<Rows::less>, 3},
    {"GatherNd", gather_nd, 2},
    {"ScatterUpdate", resource_scatter<Rows::replace>, 3},
    {"ScatterAdd", resource_scatter<Rows::add>, 3},
    {"ScatterSub", resource_scatter<Rows::subtract>, 3},
    {"ScatterMul", resource_scatter<Rows::multiply>, 3},
    {"ScatterMax", resource_scatter<Rows::greater>, 3},
    {"ScatterMin", resource_scatter<Rows::less>, 3},
    {"ResourceScatterNdUpdate", variable_scatter_nd<Op::copy>, 3},
    {"ResourceScatterNdAdd", variable_scatter_nd<Op::add>, 3},
    {"ResourceScatterNdSub", variable_scatter_nd<Op::add, true>, 3},
    {"ScatterNdUpdate", variable_scatter_nd<Op::copy>, 3},
    {"ScatterNdAdd", variable_scatter_nd<Op::add>, 3},
    {"ScatterNdSub", variable_scatter_nd<Op::add, true>, 3},
    {"ReverseSequence", reverse_sequence, 2},
    {"ScatterNd", scatter_nd, 3},
    {"TensorScatterUpdate", tensor_scatter<Op::copy>, 3},
    {"TensorScatterAdd", tensor_scatter<Op::add>, 3},
    {"TensorScatterSub", tensor_scatter<Op::add, true>, 3},
    {"TensorScatterMax", tensor_scatter<Op::maximum>, 3},
    {"TensorScatterMin", tensor_scatter<Op::minimum>, 3},
    {"TopKV2", top_k, 2},
    {"Roll", roll, 3},
    {"Unique", unique},
    {"OneHot", one_hot, 4},
    {"ArgMax", place_of<Op::maximum>, 2},
    {"ArgMin", place_of<Op::minimum>, 2},
    {"Cumsum", running<Op::add>, 2},
    {"Cumprod", running<Op::multiply>, 2},
    {"DynamicStitch", dynamic_stitch, 2},
    {"ParallelDynamicStitch", dynamic_stitch, 2},
    {"Range", range, 3},
};

}  // namespace

std::span<const Rule> index_rules() { return kIndexRules; }

}  // namespace importers::tensorflow
