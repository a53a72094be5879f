// Operators that change shapes and places. Shapes alone change nothing in memory: those become bitcasts.
#include <algorithm>
#include <numeric>

#include "importers/tensorflow/lower_rules.h"

namespace importers::tensorflow {
namespace {

using ir::Op;

Values identity(Lowering& l) { return {l.in(0)}; }

int64_t product(const Dims& dims) { return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()); }

/// -1 stands for what is left.
Values reshape(Lowering& l) {
  if (l.constants.size() < 2) return l.fail("has no shape");
  Dims to = l.constants[1] != nullptr || l.node.shapes.empty() ? l.integers(1) : l.node.shapes[0].dims;
  if (!l.error.empty()) return {};
  const int64_t elements = ir::elements(l.shape(0));
  const auto open = std::ranges::find(to, -1);
  if (open != to.end()) {
    *open = 1;
    *open = product(to) == 0 ? 0 : elements / product(to);
  }
  return {l.entry().reshape(l.in(0), to)};
}

Values expand_dims(Lowering& l) {
  Dims dims = l.dims(0);
  const Dims at = l.integers(1);
  if (!l.error.empty() || at.size() != 1) return l.fail("its dimension is not known");
  const int64_t d = from_end(at[0], static_cast<int64_t>(dims.size()) + 1);
  if (d < 0 || d > static_cast<int64_t>(dims.size())) return l.fail("has a dimension out of range");
  dims.insert(dims.begin() + d, 1);
  return {l.entry().reshape(l.in(0), dims)};
}

Values squeeze(Lowering& l) {
  const Dims from = l.dims(0);
  Dims which = attribute(l.node, "squeeze_dims", Dims{}), to;
  for (int64_t& d : which) d = from_end(d, static_cast<int64_t>(from.size()));
  for (int64_t d = 0; d < static_cast<int64_t>(from.size()); ++d) {
    const int64_t size = from[static_cast<size_t>(d)];
    const bool goes = size == 1 && (which.empty() || std::ranges::find(which, d) != which.end());
    if (!goes) to.push_back(size);
  }
  return {l.entry().reshape(l.in(0), to)};
}

Values transpose(Lowering& l) {
  const Dims permutation = l.integers(1);
  if (!l.error.empty()) return {};
  return {l.entry().transpose(l.in(0), permutation)};
}

/// Pad, PadV2, MirrorPad is another op. `paddings` is [rank, 2].
Values pad(Lowering& l) {
  const Dims amounts = l.integers(1);
  if (!l.error.empty() || amounts.size() != 2 * l.dims(0).size()) return l.fail("its paddings are not known");
  std::vector<ir::PadDim> dims;
  for (size_t d = 0; d < amounts.size() / 2; ++d) dims.push_back({amounts[2 * d], amounts[2 * d + 1], 0});
  const bool has_value = l.node.inputs.size() > 2;
  const Values operands = has_value ? Values{l.in(0), l.in(2)} : Values{l.in(0)};
  return {l.program.fuse1(
      operands, [&](Body& b, std::span<const Value> x) { return b.pad(x[0], has_value ? x[1] : b.constant(b.type(x[0]), 0), dims); })};
}

Values slice(Lowering& l) {
  const Dims from = l.dims(0), begin = l.integers(1), size = l.integers(2);
  if (!l.error.empty() || begin.size() != from.size() || size.size() != from.size()) return l.fail("where it begins and ends is not known");
  std::vector<ir::SliceDim> dims;
  for (size_t d = 0; d < from.size(); ++d) dims.push_back({begin[d], size[d] < 0 ? from[d] : begin[d] + size[d], 1});
  return {l.program.fuse1({{l.in(0)}}, [&](Body& b, std::span<const Value> x) { return b.slice(x[0], dims); })};
}

/// begin, end and strides with masks by dimension; ellipses and new dimensions are left to the shape that the program tells.
Values strided_slice(Lowering& l) {
  const Dims from = l.dims(0), begin = l.integers(1), end = l.integers(2), stride = l.integers(3);
  if (!l.error.empty() || end.size() != begin.size() || stride.size() != begin.size())
    return l.fail("where it begins and ends is not known");
  const auto mask = [&](std::string_view name, size_t d) { return ((attribute(l.node, name, int64_t{0}) >> d) & 1) != 0; };
  if (attribute(l.node, "ellipsis_mask", int64_t{0}) != 0 || attribute(l.node, "new_axis_mask", int64_t{0}) != 0 ||
      begin.size() > from.size())
    return l.fail("slices with an ellipsis or a new dimension");
  std::vector<ir::SliceDim> dims;
  Dims to;
  for (size_t d = 0; d < from.size(); ++d) {
    ir::SliceDim dim{0, from[d], 1};
    if (d < begin.size()) {
      if (stride[d] < 1) return l.fail("slices backwards");
      const bool shrinks = mask("shrink_axis_mask", d);
      if (!mask("begin_mask", d)) dim.start = std::clamp<int64_t>(from_end(begin[d], from[d]), 0, from[d]);
      if (shrinks)
        dim.limit = std::min(dim.start + 1, from[d]);
      else if (!mask("end_mask", d))
        dim.limit = std::clamp<int64_t>(from_end(end[d], from[d]), dim.start, from[d]);
      dim.stride = stride[d];
      if (shrinks) {
        dims.push_back(dim);
        continue;
      }
    }
    dims.push_back(dim);
    to.push_back((dim.limit - dim.start + dim.stride - 1) / dim.stride);
  }
  return {l.program.fuse1({{l.in(0)}}, [&](Body& b, std::span<const Value> x) { return b.reshape(b.slice(x[0], dims), to); })};
}

Values concatenate(Lowering& l, size_t dimension_input, size_t first) {
  if (l.node.inputs.size() < 2) return l.fail("has no inputs");
  const Dims at = l.integers(dimension_input);
  if (!l.error.empty() || at.size() != 1) return l.fail("its dimension is not known");
  Values operands;
  for (size_t k = 0; k + 1 < l.node.inputs.size(); ++k) operands.push_back(l.in(first + k));
  const int64_t d = from_end(at[0], l.entry().rank(operands.front()));
  return {l.program.fuse1(operands, [&](Body& b, std::span<const Value> x) { return b.concatenate(x, d); })};
}
Values concat(Lowering& l) { return concatenate(l, 0, 1); }
Values concat_v2(Lowering& l) { return concatenate(l, l.node.inputs.size() - 1, 0); }

Values pack(Lowering& l) {
  if (l.node.inputs.empty()) return l.fail("has no inputs");
  Values operands;
  for (size_t k = 0; k < l.node.inputs.size(); ++k) operands.push_back(l.in(k));
  const int64_t d = from_end(attribute(l.node, "axis", int64_t{0}), l.entry().rank(operands.front()) + 1);
  return {l.program.fuse1(operands, [&](Body& b, std::span<const Value> x) {
    Values parts;
    for (const Value part : x) {
      Dims dims = b.dims(part);
      dims.insert(dims.begin() + std::clamp<int64_t>(d, 0, static_cast<int64_t>(dims.size())), 1);
      parts.push_back(b.reshape(part, dims));
    }
    return b.concatenate(parts, d);
  })};
}

/// Split(dimension, value): `num_split` equal parts.
Values split(Lowering& l) {
  const Dims at = l.integers(0);
  const int64_t parts = attribute(l.node, "num_split", int64_t{1});
  if (!l.error.empty() || at.size() != 1 || parts < 1) return l.fail("its dimension is not known");
  const Dims from = l.dims(1);
  const int64_t d = from_end(at[0], static_cast<int64_t>(from.size()));
  if (d < 0 || d >= static_cast<int64_t>(from.size())) return l.fail("has a dimension out of range");
  return l.program.fuse({{l.in(1)}}, [&](Body& b, std::span<const Value> x) {
    Values results;
    const int64_t size = from[static_cast<size_t>(d)] / parts;
    for (int64_t part = 0; part < parts; ++part) {
      std::vector<ir::SliceDim> dims;
      for (const int64_t whole : from) dims.push_back({0, whole, 1});
      dims[static_cast<size_t>(d)] = {part * size, (part + 1) * size, 1};
      results.push_back(b.slice(x[0], dims));
    }
    return results;
  });
}

/// Repeats along each dimension: [a, b] becomes [1, a, 1, b], is broadcast to [m, a, n, b] and flattened.
Values tile(Lowering& l) {
  const Dims from = l.dims(0), multiples = l.integers(1);
  if (!l.error.empty() || multiples.size() != from.size()) return l.fail("its multiples are not known");
  return {l.program.fuse1({{l.in(0)}}, [&](Body& b, std::span<const Value> x) {
    Dims wide, at, to;
    for (size_t d = 0; d < from.size(); ++d) {
      wide.push_back(multiples[d]);
      at.push_back(static_cast<int64_t>(wide.size()));
      wide.push_back(from[d]);
      to.push_back(multiples[d] * from[d]);
    }
    return b.reshape(b.broadcast(x[0], wide, at), to);
  })};
}

Values broadcast_to(Lowering& l) {
  const Dims to = l.integers(1);
  if (!l.error.empty()) return {};
  return {l.program.fuse1({{l.in(0)}}, [&](Body& b, std::span<const Value> x) { return b.expand(x[0], to); })};
}

Values fill(Lowering& l) {
  const Dims to = l.integers(0);
  if (!l.error.empty()) return {};
  return {l.program.fuse1({{l.in(1)}}, [&](Body& b, std::span<const Value> x) { return b.broadcast(x[0], to, {}); })};
}

/// OneHot(indices, depth, on, off): a new dimension of `depth` at `axis`.
Values one_hot(Lowering& l) {
  const Dims depth = l.integers(1), from = l.dims(0);
  if (!l.error.empty() || depth.size() != 1) return l.fail("its depth is not known");
  const auto rank = static_cast<int64_t>(from.size());
  const int64_t axis = from_end(attribute(l.node, "axis", int64_t{-1}), rank + 1);
  return {l.program.fuse1({{l.in(0), l.in(2), l.in(3)}}, [&](Body& b, std::span<const Value> x) {
    Dims to = from, at;
    to.insert(to.begin() + std::clamp<int64_t>(axis, 0, rank), depth[0]);
    for (int64_t d = 0; d < rank; ++d) at.push_back(d < axis ? d : d + 1);
    const Value hit = b.compare(ir::Direction::EQ, b.broadcast(x[0], to, at), b.iota(b.type(x[0]), to, axis));
    return b.select(hit, b.broadcast(x[1], to, {}), b.broadcast(x[2], to, {}));
  })};
}

/// Rows of the first operand: gather along dimension 0 (or `axis`).
Values gather(Lowering& l) {
  int64_t axis = 0;
  if (l.node.inputs.size() > 2) {
    const Dims at = l.integers(2);
    if (!l.error.empty() || at.size() != 1) return l.fail("its dimension is not known");
    axis = from_end(at[0], l.shape(0).rank());
  }
  if (axis < 0 || axis >= l.shape(0).rank()) return l.fail("has a dimension out of range");
  const Value table = l.in(0), indices = l.in(1);
  return {l.program.fuse1({{table, indices}}, [&](Body& b, std::span<const Value> x) {
    const auto list = [](const Dims& dims) {
      std::string text;
      for (const int64_t d : dims) text += (text.empty() ? "" : ",") + std::to_string(d);
      return "{" + text + "}";
    };
    const Dims from = b.dims(x[0]);
    const int64_t index_rank = b.rank(x[1]), rank = b.rank(x[0]);
    Dims offsets, sizes = from;
    sizes[static_cast<size_t>(axis)] = 1;
    for (int64_t d = 0; d < rank; ++d) {
      if (d != axis) offsets.push_back(d < axis ? d : d - 1 + index_rank);
    }
    return b.op(Op::gather, {{x[0], x[1]}},
                {{"offset_dims", list(offsets)},
                 {"collapsed_slice_dims", list({axis})},
                 {"start_index_map", list({axis})},
                 {"index_vector_dim", std::to_string(index_rank)},
                 {"slice_sizes", list(sizes)}});
  })};
}

constexpr Rule kRules[] = {
    {"Identity", identity},
    {"StopGradient", identity},
    {"PreventGradient", identity},
    {"Snapshot", identity},
    {"CheckNumerics", identity},
    {"EnsureShape", identity},
    {"Reshape", reshape},
    {"ExpandDims", expand_dims},
    {"Squeeze", squeeze},
    {"Transpose", transpose},
    {"Pad", pad},
    {"PadV2", pad},
    {"Slice", slice},
    {"StridedSlice", strided_slice},
    {"Concat", concat},
    {"ConcatV2", concat_v2},
    {"Pack", pack},
    {"Split", split},
    {"Tile", tile},
    {"BroadcastTo", broadcast_to},
    {"Fill", fill},
    {"OneHot", one_hot},
    {"Gather", gather},
    {"GatherV2", gather},
};

}  // namespace

std::span<const Rule> move_rules() { return kRules; }

}  // namespace importers::tensorflow
