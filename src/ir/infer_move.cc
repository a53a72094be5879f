// Shapes of operations that change places: broadcast, slices, pad, ….
#include <fmt/ranges.h>

#include <algorithm>

#include "src/ir/infer_rules.h"

namespace ir::rules {
namespace {

Inferred broadcast(const In& in) {
  if (in.declared() == nullptr) return as_written();
  const Shape &from = in.operand(0), &to = *in.declared();
  const std::vector<int64_t> dims = in.dims("dimensions");
  if (dims.size() != from.dims.size())
    return broken("broadcast of {} needs dimensions={{…}} with {} numbers, got {}", show(from), from.rank(), dims.size());
  if (!are_dims(dims, to.rank())) return broken("broadcast dimensions are distinct and below {}: the rank of {}", to.rank(), show(to));
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t have = from.dims[i], want = to.dims[static_cast<size_t>(dims[i])];
    if (have != want && have >= 0 && want >= 0)
      return broken("broadcast does not stretch: dimension {} of {} becomes dimension {} of {}", i, show(from), dims[i], show(to));
  }
  return follows(with_type(to, from.type));
}

Inferred reshape(const In& in) {
  if (in.declared() == nullptr) return as_written();
  const bool sized = std::ranges::none_of(in.operand(0).dims, [](int64_t d) { return d < 0; }) &&
                     std::ranges::none_of(in.declared()->dims, [](int64_t d) { return d < 0; });
  if (sized && elements(in.operand(0)) != elements(*in.declared()))
    return broken("reshape keeps the number of elements: {} has {}, {} has {}", show(in.operand(0)), elements(in.operand(0)),
                  show(*in.declared()), elements(*in.declared()));
  return follows(with_type(*in.declared(), in.operand(0).type));
}

/// Bits of an element as XLA counts them: 4 of s4; 0 of what is no array.
int64_t width(Type type) {
  const TypeInfo& row = info(type);
  const bool packed = row.kind == TypeInfo::Kind::signed_ || row.kind == TypeInfo::Kind::unsigned_;
  if (packed) return row.significant_bits;
  return row.text.starts_with("f4") ? 4 : row.text.starts_with("f6") && row.small != nullptr ? 6 : row.bits;
}

/// Bytes in memory: types below a byte are packed only where the layout says so, which only the text after ':' knows.
Inferred bitcast(const In& in) {
  if (in.declared() == nullptr) return as_written();
  const Shape &from = in.operand(0), &to = *in.declared();
  if (!from.is_array() || !to.is_array())
    return broken("{} takes and gives arrays, got {} and {}", text(in.instr.op), show(from), show(to));
  const auto plain = [](const Shape& s) {
    return s.is_array() && s.layout_rest.empty() && (info(s.type).significant_bits >= 8 || is_float(s.type) || s.type == Type::pred) &&
           std::ranges::none_of(s.dims, [](int64_t d) { return d < 0; });
  };
  if (plain(from) && plain(to) && bytes(from) != bytes(to))
    return broken("{} keeps the bytes: {} has {}, {} has {}", text(in.instr.op), show(from), bytes(from), show(to), bytes(to));
  return follows(to);
}

/// A type of another width adds or takes the last dimension: f32[2] ↔ s8[2,4].
Inferred bitcast_convert(const In& in) {
  if (in.declared() == nullptr) return as_written();
  const Shape &from = in.operand(0), &to = *in.declared();
  const int64_t from_bits = width(from.type), to_bits = width(to.type);
  if (from_bits == 0 || to_bits == 0) return broken("bitcast-convert takes arrays, got {} and {}", show(from), show(to));
  std::vector<int64_t> dims = from.dims;
  if (from_bits > to_bits) {
    dims.push_back(from_bits / to_bits);
  } else if (from_bits < to_bits) {
    const bool whole = !dims.empty() && (dims.back() < 0 || dims.back() == to_bits / from_bits);
    if (!whole) return broken("bitcast-convert of {} to {}: the last dimension is not {}", show(from), text(to.type), to_bits / from_bits);
    dims.pop_back();
  }
  return follows(array_shape(to.type, std::move(dims)));
}

Inferred transpose(const In& in) {
  const Shape& from = in.operand(0);
  const std::vector<int64_t> dims = in.dims("dimensions");
  if (dims.size() != from.dims.size() || !are_dims(dims, from.rank()))
    return broken("transpose dimensions are a permutation of {} dimensions, got {{{}}}", from.rank(), fmt::join(dims, ","));
  Shape to = array_shape(from.type, {});
  for (const int64_t dim : dims) to.dims.push_back(from.dims[static_cast<size_t>(dim)]);
  return follows(array_shape(to.type, to.dims));
}

Inferred reverse(const In& in) {
  const std::vector<int64_t> dims = in.dims("dimensions");
  if (!are_dims(dims, in.operand(0).rank())) return broken("reverse dimensions are distinct and below {}", in.operand(0).rank());
  return follows(in.operand(0));
}

Inferred slice(const In& in) {
  const auto slices = attr_slice(in.module, in.instr);
  if (!slices.ok()) return broken("{}", slices.error().message);
  const Shape& from = in.operand(0);
  if (slices->size() != from.dims.size()) return broken("slice of {} needs {} ranges, got {}", show(from), from.rank(), slices->size());
  std::vector<int64_t> dims;
  for (size_t i = 0; i < slices->size(); ++i) {
    const auto& [start, limit, stride] = (*slices)[i];
    const bool inside = start >= 0 && start <= limit && (limit <= from.dims[i] || from.dims[i] < 0) && stride > 0;
    if (!inside) return broken("slice [{}:{}:{}] is not inside dimension {} of {}", start, limit, stride, i, show(from));
    dims.push_back((limit - start) / stride + ((limit - start) % stride != 0 ? 1 : 0));
  }
  return follows(array_shape(from.type, dims));
}

/// Starts are one scalar a dimension, or (until 2019) one vector.
bool are_starts(const In& in, size_t first, size_t rank) {
  const size_t count = in.count() - first;
  for (size_t i = first; i < in.count(); ++i) {
    const Shape& start = in.operand(i);
    if (!is_integer(start.type) || (!start.dims.empty() && (count > 1 || start.rank() > 1))) return false;
  }
  return count == rank || (count == 1 && in.operand(first).rank() == 1);
}

Inferred dynamic_slice(const In& in) {
  if (in.count() == 0) return broken("dynamic-slice takes an array and its starts");
  const Shape& from = in.operand(0);
  const std::vector<int64_t> sizes = in.dims("dynamic_slice_sizes");
  if (sizes.size() != from.dims.size())
    return broken("dynamic_slice_sizes of {} are {} numbers, got {}", show(from), from.rank(), sizes.size());
  if (!are_starts(in, 1, from.dims.size()))
    return broken("dynamic-slice of {} takes {} starts, got {}", show(from), from.rank(), in.count() - 1);
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || (sizes[i] > from.dims[i] && from.dims[i] >= 0))
      return broken("dynamic_slice_sizes={{{}}} is larger than {}", fmt::join(sizes, ","), show(from));
  }
  return follows(array_shape(from.type, sizes));
}

Inferred dynamic_update_slice(const In& in) {
  if (in.count() < 2) return broken("dynamic-update-slice takes an array, an update and starts");
  const Shape &into = in.operand(0), &update = in.operand(1);
  if (update.rank() != into.rank() || !fits_but_for_precision(with_type(update, into.type), update))
    return broken("dynamic-update-slice: the update {} has not the rank and type of {}", show(update), show(into));
  if (!are_starts(in, 2, into.dims.size()))
    return broken("dynamic-update-slice of {} takes {} starts, got {}", show(into), into.rank(), in.count() - 2);
  for (size_t i = 0; i < into.dims.size(); ++i) {
    if (update.dims[i] > into.dims[i] && into.dims[i] >= 0)
      return broken("dynamic-update-slice: the update {} is larger than {}", show(update), show(into));
  }
  return follows(into);
}

Inferred concatenate(const In& in) {
  const std::vector<int64_t> dims = in.dims("dimensions");
  if (in.count() == 0 || dims.size() != 1 || !are_dims(dims, in.operand(0).rank()))
    return broken("concatenate joins along one dimension of its operands");
  const auto along = static_cast<size_t>(dims[0]);
  Shape result = in.operand(0);
  for (size_t i = 1; i < in.count(); ++i) {
    Shape other = in.operand(i);
    if (other.rank() != result.rank()) return broken("concatenate: {} and {} have different ranks", show(in.operand(0)), show(other));
    const int64_t size = other.dims[along], sum = result.dims[along] < 0 || size < 0 ? -1 : add(result.dims[along], size);
    other.dims[along] = result.dims[along];
    if (!fits_but_for_precision(other, result))
      return broken("concatenate: {} and {} differ beside dimension {}", show(in.operand(0)), show(in.operand(i)), along);
    result.dims[along] = sum;
  }
  return follows(result);
}

Inferred pad(const In& in) {
  const auto padding = attr_padding(in.module, in.instr);
  if (!padding.ok()) return broken("{}", padding.error().message);
  Shape result = in.operand(0);
  if (padding->size() != result.dims.size())
    return broken("padding of {} has {} groups, got {}", show(result), result.rank(), padding->size());
  if (!fits_but_for_precision(in.operand(1), array_shape(result.type, {})))
    return broken("pad fills {} with a scalar of its type, got {}", show(result), show(in.operand(1)));
  for (size_t i = 0; i < result.dims.size(); ++i) {
    const auto& [low, high, interior] = (*padding)[i];
    int64_t& size = result.dims[i];
    if (interior < 0) return broken("padding between elements cannot be negative");
    if (size < 0) continue;
    size = add(add(low, high), add(size, multiply(std::max<int64_t>(size - 1, 0), interior)));
    if (size < 0) return broken("padding makes dimension {} of {} negative", i, show(in.operand(0)));
  }
  return follows(result);
}

Inferred iota(const In& in) {
  if (in.declared() == nullptr) return as_written();
  const int64_t dim = attr_int(in.module, in.instr, "iota_dimension").value_or(0);
  if (!in.declared()->is_array() || dim < 0 || dim >= in.declared()->rank())
    return broken("iota_dimension={} is not a dimension of {}", dim, show(*in.declared()));
  return follows(*in.declared());
}

Inferred constant(const In& in) { return in.declared() == nullptr ? as_written() : follows(*in.declared()); }
Inferred as_operand(const In& in) { return follows(in.operand(0)); }
Inferred as_operand_if_any(const In& in) { return in.count() == 0 ? constant(in) : follows(in.operand(0)); }
/// What is wrong with the one dimension that an op of sizes names, "" if nothing.
std::string size_problem(const In& in) {
  const Shape& from = in.operand(0);
  const std::vector<int64_t> dims = in.dims("dimensions");
  if (from.is_array() && dims.size() == 1 && are_dims(dims, from.rank())) return "";
  return fmt::format("{}: dimensions={{{}}} is not one dimension of {}", text(in.instr.op), fmt::join(dims, ","), show(from));
}
Inferred set_dimension_size(const In& in) {
  if (const std::string what = size_problem(in); !what.empty()) return broken("{}", what);
  const Shape& size = in.operand(1);
  if (!is_integer(size.type) || !size.dims.empty()) return broken("set-dimension-size: the size is an s32[], got {}", show(size));
  return follows(in.operand(0));
}
/// s32 today, u32 until 2019.
Inferred dimension_size(const In& in) {
  if (const std::string what = size_problem(in); !what.empty()) return broken("{}", what);
  return in.declared() != nullptr && in.declared()->type == Type::u32 ? follows(array_shape(Type::u32, {}))
                                                                      : follows(array_shape(Type::s32, {}));
}
Inferred device_id(const In&) { return follows(array_shape(Type::u32, {})); }

struct MoveRow {
  Op op;
  Rule rule;
};
constexpr MoveRow kMoveRows[] = {
    {Op::broadcast, broadcast},
    {Op::reshape, reshape},
    {Op::bitcast, bitcast},
    {Op::bitcast_convert, bitcast_convert},
    {Op::transpose, transpose},
    {Op::reverse, reverse},
    {Op::slice, slice},
    {Op::dynamic_slice, dynamic_slice},
    {Op::dynamic_update_slice, dynamic_update_slice},
    {Op::concatenate, concatenate},
    {Op::pad, pad},
    {Op::iota, iota},
    {Op::constant, constant},
    {Op::parameter, constant},
    {Op::copy, as_operand},
    {Op::opt_barrier, as_operand_if_any},
    {Op::domain, as_operand},
    {Op::add_dependency, as_operand},
    {Op::set_dimension_size, set_dimension_size},
    {Op::get_dimension_size, dimension_size},
    {Op::replica_id, device_id},
    {Op::partition_id, device_id},
};

}  // namespace

Rule movement_rule(Op op) {
  const auto row = std::ranges::find(kMoveRows, op, &MoveRow::op);
  return row == std::end(kMoveRows) ? nullptr : row->rule;
}

}  // namespace ir::rules
