// https://openxla.org/xla/operation_semantics#gather, #scatter: an index vector lies along index_vector_dim, or is one number where that is
// the rank of the indices.
#include "importers/lowering/places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace importers::lowering {
namespace {

using ir::Op;

std::string set_of(const Dims& dims) { return fmt::format("{{{}}}", fmt::join(dims, ",")); }

/// Of rank dimensions those but `count` from `axis` on.
Dims all_but(int64_t rank, int64_t axis, int64_t count) {
  Dims dims = counting(0, axis);
  for (int64_t i = axis + count; i < rank; ++i) dims.push_back(i);
  return dims;
}

Value scatter(Body& b, std::span<const Value> operands, const Dims& window, const Dims& places, int64_t vector_dim, ir::CompId how) {
  return b.op(Op::scatter, operands,
              {{"update_window_dims", set_of(window)},
               {"inserted_window_dims", set_of(places)},
               {"scatter_dims_to_operand_dims", set_of(places)},
               {"index_vector_dim", std::to_string(vector_dim)}},
              nullptr, {{how}});
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

Value take(Body& b, Value x, Value index, int64_t axis, int64_t batch) {
  const int64_t index_rank = b.rank(index), numbers = index_rank - batch;
  Dims sizes = b.dims(x), offsets = all_but(b.rank(x) - 1 + numbers, axis, numbers);
  offsets.erase(offsets.begin(), offsets.begin() + batch);
  sizes[static_cast<size_t>(axis)] = 1;
  std::fill_n(sizes.begin(), batch, 1);
  Attrs attrs{{"offset_dims", set_of(offsets)},
              {"collapsed_slice_dims", set_of({axis})},
              {"start_index_map", set_of({axis})},
              {"index_vector_dim", std::to_string(index_rank)},
              {"slice_sizes", set_of(sizes)}};
  if (batch > 0) {
    attrs.emplace_back("operand_batching_dims", set_of(counting(0, batch)));
    attrs.emplace_back("start_indices_batching_dims", set_of(counting(0, batch)));
  }
  return b.op(Op::gather, {{x, index}}, attrs);
}

Value give(Body& b, Value base, Value index, Value updates, int64_t axis, ir::CompId how) {
  const int64_t index_rank = b.rank(index);
  return scatter(b, {{base, index, updates}}, all_but(b.rank(updates), axis, index_rank), {axis}, index_rank, how);
}

Value take_deep(Body& b, Value x, Value index) {
  const int64_t depth = b.dims(index).back(), batch = b.rank(index) - 1;
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
  return scatter(b, {{base, index, updates}}, counting(batch, b.rank(updates)), counting(0, depth), batch, how);
}

Value take_along(Body& b, Value x, Value index, int64_t axis) { return take_deep(b, x, places_along(b, index, axis)); }

Value give_along(Body& b, Value base, Value index, Value updates, int64_t axis, ir::CompId how) {
  return give_deep(b, base, places_along(b, index, axis), updates, how);
}

ir::CompId second_of(Program& program, ir::Type type) {
  return program.scalar_function("second", type, [](Body&, Value, Value second) { return second; });
}

}  // namespace importers::lowering
