#include "importers/paddle/places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

namespace importers::paddle {
namespace {

using ir::Op;

std::string set_of(const Dims& dims) { return fmt::format("{{{}}}", fmt::join(dims, ",")); }

Dims all_but(int64_t rank, int64_t axis) {
  Dims dims;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != axis) dims.push_back(i);
  }
  return dims;
}

Dims counting(int64_t from, int64_t to) {
  Dims dims(static_cast<size_t>(std::max<int64_t>(to - from, 0)));
  std::iota(dims.begin(), dims.end(), from);
  return dims;
}

/// The places of all elements of `index`, whose own are those along `axis`: [d₀, …, rank].
Value places_along(Body& b, Value index, int64_t axis) {
  Dims dims = b.dims(index);
  const auto rank = static_cast<int64_t>(dims.size());
  dims.push_back(1);
  Values parts;
  for (int64_t i = 0; i < rank; ++i) parts.push_back(i == axis ? b.reshape(index, dims) : b.iota(b.type(index), dims, i));
  return b.concatenate(parts, rank);
}

}  // namespace

Value take(Body& b, Value x, Value index, int64_t axis) {
  Dims sizes = b.dims(x);
  sizes[static_cast<size_t>(axis)] = 1;
  return b.op(Op::gather, {{x, index}},
              {{"offset_dims", set_of(all_but(b.rank(x), axis))},
               {"collapsed_slice_dims", set_of({axis})},
               {"start_index_map", set_of({axis})},
               {"index_vector_dim", "1"},
               {"slice_sizes", set_of(sizes)}});
}

Value give(Body& b, Value base, Value index, Value updates, int64_t axis, ir::CompId how) {
  return b.op(Op::scatter, {{base, index, updates}},
              {{"update_window_dims", set_of(all_but(b.rank(base), axis))},
               {"inserted_window_dims", set_of({axis})},
               {"scatter_dims_to_operand_dims", set_of({axis})},
               {"index_vector_dim", "1"}},
              nullptr, {{how}});
}

Value take_deep(Body& b, Value x, Value index) {
  const Dims dims = b.dims(index);
  const int64_t depth = dims.back(), batch = b.rank(index) - 1;
  Dims sizes = b.dims(x);
  std::fill_n(sizes.begin(), depth, 1);
  return b.op(Op::gather, {{x, index}},
              {{"offset_dims", set_of(counting(batch, batch + b.rank(x) - depth))},
               {"collapsed_slice_dims", set_of(counting(0, depth))},
               {"start_index_map", set_of(counting(0, depth))},
               {"index_vector_dim", std::to_string(batch)},
               {"slice_sizes", set_of(sizes)}});
}

Value give_deep(Body& b, Value base, Value index, Value updates, ir::CompId how) {
  const int64_t depth = b.dims(index).back(), batch = b.rank(index) - 1;
  return b.op(Op::scatter, {{base, index, updates}},
              {{"update_window_dims", set_of(counting(batch, b.rank(updates)))},
               {"inserted_window_dims", set_of(counting(0, depth))},
               {"scatter_dims_to_operand_dims", set_of(counting(0, depth))},
               {"index_vector_dim", std::to_string(batch)}},
              nullptr, {{how}});
}

Value take_along(Body& b, Value x, Value index, int64_t axis) { return take_deep(b, x, places_along(b, index, axis)); }

Value give_along(Body& b, Value base, Value index, Value updates, int64_t axis, ir::CompId how) {
  return give_deep(b, base, places_along(b, index, axis), updates, how);
}

ir::CompId second_of(Call& c, ir::Type type) {
  return c.program().scalar_function("second", type, [](Body&, Value, Value second) { return second; });
}

}  // namespace importers::paddle
