// Arithmetic on small integers that TensorFlow does on the host: sizes, axes, paddings. It never reaches a device, so no instruction is
// made for it: what is known of the operands gives the result.
#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <unordered_map>

#include "importers/tensorflow/lower_rules.h"

namespace importers::tensorflow {
namespace {

constexpr int64_t kMost = 1 << 16;  ///< elements that are worth working out

struct Integers {
  Dims dims;
  std::vector<int64_t> values;
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  bool is_one() const { return values.size() == 1; }
};
using Folded = std::vector<Integers>;  ///< by output; none: not known

/// A node whose operands are known.
struct Host {
  const Node& node;
  std::vector<Integers> in;
  const Integers& operator[](size_t k) const { return in[k]; }
};

Integers vector_of(std::vector<int64_t> values) { return {{static_cast<int64_t>(values.size())}, std::move(values)}; }
Integers scalar(int64_t value) { return {{}, {value}}; }
int64_t elements(const Dims& dims) { return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()); }

std::optional<Integers> integers_of(const Array* array) {
  if (array == nullptr || !(ir::is_integer(array->shape.type) || array->shape.type == ir::Type::pred)) return std::nullopt;
  const auto count = static_cast<int64_t>(array->literal.data.size()) / std::max<int64_t>(1, ir::bytes(array->shape.type));
  if (count > kMost || array->shape.rank() > 8 || count != ir::elements(array->shape)) return std::nullopt;
  Integers integers{array->shape.dims, {}};
  for (int64_t i = 0; i < count; ++i) integers.values.push_back(ir::as_int(array->literal, array->shape.type, i));
  return integers;
}

Array array_of(const Integers& integers, ir::Type type) {
  Array array{ir::array_shape(type, integers.dims), {}};
  const auto size = static_cast<size_t>(ir::bytes(type));
  array.literal.data.resize(integers.values.size() * size);
  for (size_t i = 0; i < integers.values.size(); ++i) std::memcpy(array.literal.data.data() + i * size, &integers.values[i], size);
  return array;  // little endian: the low bytes
}

Folded same(const Host& host) { return {host[0]}; }

/// The same values; nothing where they do not fill these dimensions.
Folded with_dims(const Host& host, Dims dims) {
  for (const int64_t d : dims) {
    if (d < 0 || d > kMost) return {};
  }
  if (dims.size() > 3 || elements(dims) != static_cast<int64_t>(host[0].values.size())) return {};
  return {{std::move(dims), host[0].values}};
}
Folded expand_dims(const Host& host) {
  Dims dims = host[0].dims;
  if (!host[1].is_one()) return {};
  const int64_t at = from_end(host[1].values[0], host[0].rank() + 1);
  if (at < 0 || at > host[0].rank()) return {};
  dims.insert(dims.begin() + at, 1);
  return with_dims(host, dims);
}
Folded squeeze(const Host& host) { return with_dims(host, {}); }

/// Arrays one behind another along a dimension; the last operand tells which.
Folded concat(const Host& host) {
  Integers all{host[0].dims, {}};
  const int64_t axis = host.in.back().is_one() ? from_end(host.in.back().values[0], all.rank()) : -1;
  if (axis < 0 || axis >= all.rank()) return {};
  int64_t& length = all.dims[static_cast<size_t>(axis)] = 0;
  for (size_t k = 0; k + 1 < host.in.size(); ++k) {
    Dims others = host[k].dims;
    if (others.size() != all.dims.size()) return {};
    length += others[static_cast<size_t>(axis)];
    others[static_cast<size_t>(axis)] = length;
    if (others != all.dims) return {};
  }
  const int64_t runs = elements({all.dims.begin(), all.dims.begin() + axis});
  for (int64_t run = 0; run < runs; ++run) {
    for (size_t k = 0; k + 1 < host.in.size(); ++k) {
      const auto part = static_cast<std::ptrdiff_t>(host[k].values.size()) / runs, begin = run * part;
      all.values.insert(all.values.end(), host[k].values.begin() + begin, host[k].values.begin() + begin + part);
    }
  }
  return {std::move(all)};
}
/// Rows of equal vectors, as paddings are put together.
Folded pack(const Host& host) {
  Integers all{host[0].dims, {}};
  all.dims.insert(all.dims.begin(), static_cast<int64_t>(host.in.size()));
  for (const Integers& row : host.in) {
    if (row.dims != host[0].dims) return {};
    all.values.insert(all.values.end(), row.values.begin(), row.values.end());
  }
  return attribute(host.node, "axis", int64_t{0}) == 0 ? Folded{std::move(all)} : Folded{};
}
Folded unpack(const Host& host) {
  Folded all;
  if (host[0].rank() != 1) return {};
  for (const int64_t value : host[0].values) all.push_back(scalar(value));
  return all;
}

/// Of any rank: the gradient of a padding takes a column of it.
Folded slice(const Host& host) {
  const Integers& from = host[0];
  const size_t rank = from.dims.size();
  if (rank == 0 || host[1].values.size() != rank || host[2].values.size() != rank) return {};
  Integers out;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t begin = host[1].values[d];
    if (begin < 0 || begin > from.dims[d]) return {};
    const int64_t left = from.dims[d] - begin, length = host[2].values[d] == -1 ? left : host[2].values[d];
    if (length < 0 || length > left) return {};
    out.dims.push_back(length);
  }
  for (int64_t i = 0; i < elements(out.dims); ++i) {
    int64_t at = 0, step = 1, rest = i;
    for (size_t d = rank; d-- > 0; step *= from.dims[d], rest /= out.dims[d]) at += (host[1].values[d] + rest % out.dims[d]) * step;
    out.values.push_back(from.values[static_cast<size_t>(at)]);
  }
  return {std::move(out)};
}
Folded strided_slice(const Host& host) {
  if (host[0].rank() != 1) return {};
  const Strides strides = strides_of(host.node, host[0].dims, host[1].values, host[2].values, host[3].values);
  if (!strides.error.empty()) return {};
  std::vector<int64_t> from = host[0].values, values;
  if (!strides.reversed.empty()) std::ranges::reverse(from);
  const ir::SliceDim& s = strides.slices[0];
  for (int64_t i = s.start; i < s.limit; i += s.stride) values.push_back(from[static_cast<size_t>(i)]);
  return {{strides.sizes, std::move(values)}};
}

/// Of scalars and arrays of the same dimensions.
template <typename Function>
Folded arithmetic(const Host& host, Function function) {
  const Integers &a = host[0], &b = host[1];
  const bool a_repeats = a.dims.empty(), b_repeats = b.dims.empty();
  if (a.dims != b.dims && !a_repeats && !b_repeats) return {};
  Integers out{a_repeats ? b.dims : a.dims, {}};
  const size_t count = a_repeats ? b.values.size() : a.values.size();
  for (size_t i = 0; i < count; ++i) {
    const std::optional<int64_t> value = function(a.values[a_repeats ? 0 : i], b.values[b_repeats ? 0 : i]);
    if (!value) return {};
    out.values.push_back(*value);
  }
  return {std::move(out)};
}
/// Towards minus infinity.
std::optional<int64_t> floor_quotient(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return std::nullopt;
  const int64_t rest = a % b;
  return a / b - (rest != 0 && (rest < 0) != (b < 0) ? 1 : 0);
}
std::optional<int64_t> floor_rest(int64_t a, int64_t b) {
  const auto quotient = floor_quotient(a, b);
  return quotient ? std::optional(a - *quotient * b) : std::nullopt;
}
/// Sums and products wrap, as they do on any machine.
template <typename Function>
std::optional<int64_t> wrapped(int64_t a, int64_t b, Function function) {
  return static_cast<int64_t>(function(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
}
using Two = std::optional<int64_t> (*)(int64_t, int64_t);
template <Two kFunction>
Folded both(const Host& host) {
  return arithmetic(host, kFunction);
}
std::optional<int64_t> add(int64_t a, int64_t b) { return wrapped(a, b, std::plus<>()); }
std::optional<int64_t> subtract(int64_t a, int64_t b) { return wrapped(a, b, std::minus<>()); }
std::optional<int64_t> multiply(int64_t a, int64_t b) { return wrapped(a, b, std::multiplies<>()); }
std::optional<int64_t> greatest(int64_t a, int64_t b) { return std::max(a, b); }
std::optional<int64_t> least(int64_t a, int64_t b) { return std::min(a, b); }

/// Of a vector, along its dimension.
Folded product(const Host& host) {
  if (host[0].rank() != 1 || !host[1].is_one()) return {};
  uint64_t all = 1;
  for (const int64_t value : host[0].values) all *= static_cast<uint64_t>(value);
  const auto value = static_cast<int64_t>(all);
  return {attribute(host.node, "keep_dims", false) ? vector_of({value}) : scalar(value)};
}

Folded range(const Host& host) {
  if (!host[0].is_one() || !host[1].is_one() || !host[2].is_one()) return {};
  const int64_t start = host[0].values[0], limit = host[1].values[0], step = host[2].values[0];
  constexpr int64_t kFar = int64_t{1} << 40;
  for (const int64_t end : {start, limit, step}) {
    if (end < -kFar || end > kFar) return {};
  }
  std::vector<int64_t> values;
  for (int64_t i = start; step > 0 ? i < limit : step < 0 && i > limit; i += step) {
    if (static_cast<int64_t>(values.size()) >= kMost) return {};
    values.push_back(i);
  }
  return step == 0 ? Folded{} : Folded{vector_of(std::move(values))};
}

Folded fill(const Host& host) {
  int64_t count = 1;
  for (const int64_t d : host[0].values) {
    if (d < 0 || d > kMost || count * d > kMost) return {};
    count *= d;
  }
  if (!host[1].is_one() || host[0].values.size() > 8) return {};
  return {{host[0].values, std::vector<int64_t>(static_cast<size_t>(count), host[1].values[0])}};
}

Folded gather(const Host& host) {
  if (host[0].rank() != 1) return {};
  Integers out{host[1].dims, {}};
  for (const int64_t index : host[1].values) {
    if (index < 0 || index >= static_cast<int64_t>(host[0].values.size())) return {};
    out.values.push_back(host[0].values[static_cast<size_t>(index)]);
  }
  return {std::move(out)};
}

/// inverse[x[i]] = i
Folded inverse(const Host& host) {
  std::vector<int64_t> out(host[0].values.size(), 0);
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t to = host[0].values[i];
    if (to < 0 || to >= static_cast<int64_t>(out.size())) return {};
    out[static_cast<size_t>(to)] = static_cast<int64_t>(i);
  }
  return {vector_of(std::move(out))};
}

/// Size d of a shape that is aligned at the end with one of `rank` dimensions.
int64_t aligned(const std::vector<int64_t>& dims, size_t d, size_t rank) {
  return d + dims.size() < rank ? 1 : dims[d + dims.size() - rank];
}
/// The dimensions that the gradients of two operands are summed over, after their broadcast.
Folded broadcast_gradient(const Host& host) {
  const size_t rank = std::max(host[0].values.size(), host[1].values.size());
  std::vector<int64_t> sums[2];
  for (size_t d = 0; d < rank; ++d) {
    for (size_t k = 0; k < 2; ++k) {
      if (aligned(host[k].values, d, rank) == 1) sums[k].push_back(static_cast<int64_t>(d));
    }
  }
  return {vector_of(std::move(sums[0])), vector_of(std::move(sums[1]))};
}
Folded broadcast_shape(const Host& host) {
  const size_t rank = std::max(host[0].values.size(), host[1].values.size());
  std::vector<int64_t> out;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t a = aligned(host[0].values, d, rank), b = aligned(host[1].values, d, rank);
    out.push_back(a == 1 ? b : a);
  }
  return {vector_of(std::move(out))};
}

/// (dimension, shapes…): where each begins in their concatenation.
Folded concat_offset(const Host& host) {
  Folded all;
  int64_t at = 0;
  for (size_t k = 1; k < host.in.size() && host[0].is_one(); ++k) {
    const auto rank = static_cast<int64_t>(host[k].values.size());
    const int64_t d = from_end(host[0].values[0], rank);
    if (d < 0 || d >= rank) return {};
    Integers offset = vector_of(std::vector<int64_t>(host[k].values.size(), 0));
    offset.values[static_cast<size_t>(d)] = at;
    at += std::clamp<int64_t>(host[k].values[static_cast<size_t>(d)], 0, int64_t{1} << 40);
    all.push_back(std::move(offset));
  }
  return all;
}

/// Numbers, each where its index says; later ones win.
Folded stitched(const Host& host) {
  const size_t n = host.in.size() / 2;
  std::vector<int64_t> out;
  for (size_t k = 0; k < n; ++k) {
    if (host[k].dims != host[n + k].dims) return {};
    for (size_t i = 0; i < host[k].values.size(); ++i) {
      const int64_t at = host[k].values[i];
      if (at < 0 || at >= kMost) return {};
      if (static_cast<size_t>(at) >= out.size()) out.resize(static_cast<size_t>(at) + 1, 0);
      out[static_cast<size_t>(at)] = host[n + k].values[i];
    }
  }
  return {vector_of(std::move(out))};
}

struct IntegerFold {
  std::string_view type;
  size_t inputs;
  Folded (*fold)(const Host&);
  size_t typed_by = 0;  ///< the operand that has the result's type
};
constexpr IntegerFold kIntegerFolds[] = {
    {"Cast", 1, same},
    {"ExpandDims", 2, expand_dims},
    {"Squeeze", 1, squeeze},
    {"ConcatV2", 2, concat},
    {"Pack", 1, pack},
    {"Unpack", 1, unpack},
    {"Slice", 3, slice},
    {"StridedSlice", 4, strided_slice},
    {"Add", 2, both<add>},
    {"AddV2", 2, both<add>},
    {"Sub", 2, both<subtract>},
    {"Mul", 2, both<multiply>},
    {"FloorDiv", 2, both<floor_quotient>},
    {"FloorMod", 2, both<floor_rest>},
    {"Maximum", 2, both<greatest>},
    {"Minimum", 2, both<least>},
    {"Prod", 2, product},
    {"Range", 3, range},
    {"Fill", 2, fill, 1},
    {"Gather", 2, gather},
    {"GatherV2", 3, gather},
    {"InvertPermutation", 1, inverse},
    {"BroadcastGradientArgs", 2, broadcast_gradient},
    {"BroadcastArgs", 2, broadcast_shape},
    {"ConcatOffset", 2, concat_offset, 1},
    {"DynamicStitch", 2, stitched},
    {"ParallelDynamicStitch", 2, stitched},
};

const IntegerFold* fold_of(std::string_view type) {
  static const auto* const kByType = [] {
    auto* folds = new std::unordered_map<std::string_view, const IntegerFold*>;
    for (const IntegerFold& fold : kIntegerFolds) folds->emplace(fold.type, &fold);
    return folds;
  }();
  const auto found = kByType->find(type);
  return found == kByType->end() ? nullptr : found->second;
}

}  // namespace

std::vector<Array> fold_integers(const Node& node, std::span<const Array* const> constants, std::span<const ir::Shape* const> shapes) {
  if (node.type == "Rank" && !shapes.empty() && shapes[0] != nullptr) return {array_of(scalar(shapes[0]->rank()), ir::Type::s32)};
  const IntegerFold* fold = fold_of(node.type);
  if (fold == nullptr || constants.size() < fold->inputs) return {};
  Host host{node, {}};
  for (const Array* array : constants) {
    auto integers = integers_of(array);
    if (!integers) return {};
    host.in.push_back(*std::move(integers));
  }
  const bool stitches = fold->fold == stitched;
  const ir::Type own = constants[stitches ? constants.size() / 2 : fold->typed_by]->shape.type;
  const ir::Type type = node.type == "Cast" ? attribute(node, "DstT", own) : own;
  if (!ir::is_integer(type)) return {};
  std::vector<Array> arrays;
  for (const Integers& integers : fold->fold(host)) arrays.push_back(array_of(integers, type));
  return arrays;
}

}  // namespace importers::tensorflow
