// Operators that change shapes and places. Shapes alone change nothing in memory: those become bitcasts.
#include <algorithm>
#include <numeric>

#include "importers/tensorflow/lower_rules.h"

namespace importers::tensorflow {
namespace {

using ir::Op;

Values identity(Lowering& l) { return {l.in(0)}; }
Values identities(Lowering& l) {
  Values values;
  for (size_t k = 0; k < l.node.inputs.size(); ++k) values.push_back(l.in(k));
  return values;
}

int64_t product(const Dims& dims) { return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()); }

/// -1 stands for what is left.
Values reshape(Lowering& l) {
  if (l.constants.size() < 2) return l.fail("has no shape");
  Dims to = l.constants[1] != nullptr || l.node.shapes.empty() ? l.integers(1) : l.node.shapes[0].dims;
  Dims known = to;
  for (int64_t& d : known) d = d == -1 ? 1 : d;
  if (!l.error.empty() || !are_sane(known)) return l.fail("its shape is not known");
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

/// Repeats along each dimension: [a, b] becomes [1, a, 1, b], is broadcast to [m, a, n, b] and flattened.
Values tile(Lowering& l) {
  const Dims from = l.dims(0), multiples = l.integers(1);
  if (!l.error.empty() || multiples.size() != from.size()) return l.fail("its multiples are not known");
  Dims all = multiples;
  all.insert(all.end(), from.begin(), from.end());
  if (!are_sane(all)) return l.fail("repeats too often");
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
  if (!l.error.empty() || !are_sane(to)) return l.fail("its shape is not known");
  return {l.program.fuse1({{l.in(0)}}, [&](Body& b, std::span<const Value> x) { return b.expand(x[0], to); })};
}

Values fill(Lowering& l) {
  const Dims to = l.integers(0);
  if (!l.error.empty() || !are_sane(to)) return l.fail("its shape is not known");
  return {l.program.fuse1({{l.in(1)}}, [&](Body& b, std::span<const Value> x) { return b.broadcast(x[0], to, {}); })};
}

constexpr Rule kMoveRules[] = {
    {"Identity", identity},
    {"IdentityN", identities},
    {"StopGradient", identity},
    {"PreventGradient", identity},
    {"Snapshot", identity},
    {"CheckNumerics", identity},
    {"EnsureShape", identity},
    {"Reshape", reshape, 2},
    {"ExpandDims", expand_dims, 2},
    {"Squeeze", squeeze},
    {"Transpose", transpose, 2},
    {"Pad", pad, 2},
    {"PadV2", pad, 3},
    {"Concat", concat, 2},
    {"ConcatV2", concat_v2, 2},
    {"Pack", pack},
    {"Tile", tile, 2},
    {"BroadcastTo", broadcast_to, 2},
    {"Fill", fill, 2},
};

}  // namespace

std::span<const Rule> move_rules() { return kMoveRules; }

}  // namespace importers::tensorflow
