// Shapes of gather and scatter. Both move windows between an array and a list of them at places that indices name: the same dimension
// numbers under other names, so one set of conditions holds for both (as in XLA's shape inference).
#include <algorithm>

#include "src/base/contains.h"
#include "src/ir/infer_rules.h"

namespace ir::rules {
namespace {

using Dims = std::vector<int64_t>;

bool are_sorted_dims(const Dims& dims, size_t rank) { return are_dims(dims, static_cast<int64_t>(rank)) && std::ranges::is_sorted(dims); }
std::string braces(const Dims& dims) { return fmt::format("{{{}}}", fmt::join(dims, ",")); }

/// The dimension numbers that say which place of the array an index names. Every name is that of the attribute in the text.
struct Places {
  const Shape &array, &indices;
  int64_t vector_dim;            ///< of the indices: its elements name one place; the rank of the indices, if each is a scalar
  const Dims& map;               ///< dimension of the array by element of the vector
  const Dims& single;            ///< dimensions of the array in which a window has one element and which it leaves out
  const Dims& batching;          ///< dimensions of the array that go along with …
  const Dims& indices_batching;  ///< … those of the indices
  std::string_view map_name, single_name, batching_name, indices_batching_name;

  bool has_vector() const { return vector_dim < indices.rank(); }
  bool leaves_out(int64_t dim) const { return base::contains(single, dim) || base::contains(batching, dim); }
};

std::string batching_problem(const Places& p) {
  if (p.batching.size() != p.indices_batching.size())
    return fmt::format("{}={} and {}={} differ in number", p.batching_name, braces(p.batching), p.indices_batching_name,
                       braces(p.indices_batching));
  if (!are_dims(p.indices_batching, p.indices.rank()) || base::contains(p.indices_batching, p.vector_dim))
    return fmt::format("{}={} are not distinct batch dimensions of {}", p.indices_batching_name, braces(p.indices_batching),
                       show(p.indices));
  for (size_t i = 0; i < p.batching.size(); ++i) {
    const int64_t a = p.array.dims[static_cast<size_t>(p.batching[i])], b = p.indices.dims[static_cast<size_t>(p.indices_batching[i])];
    if (a >= 0 && b >= 0 && a != b) return fmt::format("batch dimension {} differs between {} and {}", i, show(p.array), show(p.indices));
    if (base::contains(p.single, p.batching[i]) || base::contains(p.map, p.batching[i]))
      return fmt::format("dimension {} stands in {} and in {} or {}", p.batching[i], p.batching_name, p.single_name, p.map_name);
  }
  return "";
}

/// What is wrong with the numbers; "" if they fit the array and the indices.
std::string problem(const Places& p) {
  if (!is_integer(p.indices.type)) return fmt::format("indices are integers, got {}", show(p.indices));
  if (p.vector_dim < 0 || p.vector_dim > p.indices.rank())
    return fmt::format("index_vector_dim={} is not in [0, {}], the rank of {}", p.vector_dim, p.indices.rank(), show(p.indices));
  const int64_t indexed = p.has_vector() ? p.indices.dims[static_cast<size_t>(p.vector_dim)] : 1;
  if (indexed >= 0 && indexed != static_cast<int64_t>(p.map.size()))
    return fmt::format("{} has indices of {}, {}={}", show(p.indices), indexed, p.map_name, braces(p.map));
  if (!are_dims(p.map, p.array.rank()))
    return fmt::format("{}={} are not distinct dimensions of {}", p.map_name, braces(p.map), show(p.array));
  for (const auto& [name, dims] : {std::pair(p.single_name, &p.single), std::pair(p.batching_name, &p.batching)}) {
    if (!are_sorted_dims(*dims, p.array.dims.size()))
      return fmt::format("{}={} are not ascending dimensions of {}", name, braces(*dims), show(p.array));
  }
  return batching_problem(p);
}

/// Sizes of the indices without the vector.
Dims batch_sizes(const Places& p) {
  Dims sizes = p.indices.dims;
  if (p.has_vector()) sizes.erase(sizes.begin() + p.vector_dim);
  return sizes;
}

/// Sizes of the array's dimensions that a window keeps, taken from `sizes` (one a dimension of the array).
Dims kept(const Places& p, const Dims& sizes) {
  Dims windows;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!p.leaves_out(static_cast<int64_t>(i))) windows.push_back(sizes[i]);
  }
  return windows;
}

/// `windows` at the dimensions `at`, `batches` at the others, both in order.
Dims woven(const Dims& windows, const Dims& at, const Dims& batches) {
  Dims dims;
  for (size_t i = 0, window = 0, batch = 0; i < windows.size() + batches.size(); ++i)
    dims.push_back(base::contains(at, static_cast<int64_t>(i)) ? windows[window++] : batches[batch++]);
  return dims;
}

std::string slice_problem(const Places& p, const Dims& slices) {
  if (slices.size() != p.array.dims.size())
    return fmt::format("slice_sizes of {} are {} numbers, got {}", show(p.array), p.array.rank(), slices.size());
  for (size_t i = 0; i < slices.size(); ++i) {
    if (slices[i] < 0 || (slices[i] > p.array.dims[i] && p.array.dims[i] >= 0))
      return fmt::format("slice_sizes={} is larger than {}", braces(slices), show(p.array));
    if (slices[i] > 1 && p.leaves_out(static_cast<int64_t>(i)))
      return fmt::format("slice_sizes={} has {} elements in dimension {}, which the result leaves out", braces(slices), slices[i], i);
  }
  return "";
}

/// x, indices → windows of slice_sizes at offset_dims, the other dimensions from the indices.
Inferred gather(const In& in) {
  const GatherDims g = attr_gather(in.module, in.instr);
  const Places p{in.operand(0),
                 in.operand(1),
                 g.index_vector_dim,
                 g.start_index_map,
                 g.collapsed_slice_dims,
                 g.operand_batching_dims,
                 g.start_indices_batching_dims,
                 "start_index_map",
                 "collapsed_slice_dims",
                 "operand_batching_dims",
                 "start_indices_batching_dims"};
  if (const std::string what = slice_problem(p, g.slice_sizes); !what.empty()) return broken("{}", what);
  if (const std::string what = problem(p); !what.empty()) return broken("gather: {}", what);
  const Dims windows = kept(p, g.slice_sizes), batches = batch_sizes(p);
  if (windows.size() != g.offset_dims.size())
    return broken("gather of {} has {} window dimensions and {} offset_dims", show(p.array), windows.size(), g.offset_dims.size());
  if (!are_sorted_dims(g.offset_dims, windows.size() + batches.size()))
    return broken("offset_dims={} are not ascending dimensions of the result", braces(g.offset_dims));
  return follows(array_shape(p.array.type, woven(windows, g.offset_dims, batches)));
}

/// What is wrong with updates of windows into places; "" if they fit.
std::string update_problem(const Places& p, const ScatterDims& s, const Shape& updates) {
  const Dims windows = kept(p, p.array.dims), batches = batch_sizes(p);
  if (!fits_but_for_precision(with_type(updates, p.array.type), updates))
    return fmt::format("updates {} have another type than {}", show(updates), show(p.array));
  if (updates.dims.size() != s.update_window_dims.size() + batches.size())
    return fmt::format("updates {} have {} window and {} index dimensions", show(updates), s.update_window_dims.size(), batches.size());
  if (windows.size() != s.update_window_dims.size())
    return fmt::format("windows of rank {} do not fit {}",
                       s.update_window_dims.size() + s.inserted_window_dims.size() + s.input_batching_dims.size(), show(p.array));
  if (!are_sorted_dims(s.update_window_dims, updates.dims.size()))
    return fmt::format("update_window_dims={} are not ascending dimensions of {}", braces(s.update_window_dims), show(updates));
  const Dims most = woven(windows, s.update_window_dims, batches);
  for (size_t i = 0; i < most.size(); ++i) {
    const bool window = base::contains(s.update_window_dims, static_cast<int64_t>(i));
    if (most[i] < 0 || updates.dims[i] < 0 || updates.dims[i] == most[i] || (window && updates.dims[i] < most[i])) continue;
    return fmt::format("dimension {} of the updates {} is {} {}", i, show(updates), window ? "larger than" : "not",
                       window ? show(p.array) : fmt::format("the {} of {}", most[i], show(p.indices)));
  }
  return "";
}

/// k arrays, indices, k updates → the arrays.
Inferred scatter(const In& in) {
  if (in.count() < 3 || in.count() % 2 == 0) return broken("scatter takes k arrays, indices and k updates, got {} operands", in.count());
  const size_t k = in.count() / 2;
  const ScatterDims s = attr_scatter(in.module, in.instr);
  std::vector<Shape> arrays;
  for (size_t i = 0; i < k; ++i) {
    const Places p{in.operand(i),
                   in.operand(k),
                   s.index_vector_dim,
                   s.scatter_dims_to_operand_dims,
                   s.inserted_window_dims,
                   s.input_batching_dims,
                   s.scatter_indices_batching_dims,
                   "scatter_dims_to_operand_dims",
                   "inserted_window_dims",
                   "input_batching_dims",
                   "scatter_indices_batching_dims"};
    if (p.array.dims != in.operand(0).dims) return broken("scatter: {} and {} differ in size", show(in.operand(0)), show(p.array));
    if (const std::string what = problem(p); !what.empty()) return broken("scatter: {}", what);
    if (const std::string what = update_problem(p, s, in.operand(k + 1 + i)); !what.empty()) return broken("scatter: {}", what);
    arrays.push_back(p.array);
  }
  return follows(k == 1 ? arrays[0] : tuple_shape(std::move(arrays)));
}

}  // namespace

Rule indexed_rule(Op op) { return op == Op::gather ? gather : op == Op::scatter ? scatter : Rule{nullptr}; }

}  // namespace ir::rules
