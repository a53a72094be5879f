// Shapes of products, reductions and windows.
#include <algorithm>

#include "src/base/contains.h"
#include "src/ir/infer_rules.h"

namespace ir::rules {
namespace {

/// Dimensions of `shape` in neither list.
std::vector<int64_t> free_sizes(const Shape& shape, const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < shape.dims.size(); ++i) {
    if (!base::contains(a, static_cast<int64_t>(i)) && !base::contains(b, static_cast<int64_t>(i))) sizes.push_back(shape.dims[i]);
  }
  return sizes;
}

bool same_sizes_at(const Shape& a, const std::vector<int64_t>& a_dims, const Shape& b, const std::vector<int64_t>& b_dims) {
  return std::ranges::equal(a_dims, b_dims, [&](int64_t i, int64_t k) {
    const int64_t x = a.dims[static_cast<size_t>(i)], y = b.dims[static_cast<size_t>(k)];
    return x == y || x < 0 || y < 0;
  });
}

/// What a kind of product has beside the numbers of a dot.
struct ProductForm {
  bool packed = false;                ///< an operand has fewer elements than its places
  std::vector<int64_t> groups;        ///< dimensions of the right side that choose a group
  std::vector<int64_t> result_first;  ///< sizes in front of the result's
};

/// [batch…, lhs free…, rhs free…]; the type may be written wider than the operands'.
Inferred product(const In& in, const ProductForm& form) {
  const Shape &lhs = in.operand(0), &rhs = in.operand(1);
  const std::string_view op = text(in.instr.op);
  const DotDims d = attr_dot_dims(in.module, in.instr);
  std::vector<int64_t> left = d.lhs_batch, right = d.rhs_batch, gone = d.rhs_contracting;
  gone.insert(gone.end(), form.groups.begin(), form.groups.end());
  left.insert(left.end(), d.lhs_contracting.begin(), d.lhs_contracting.end());
  right.insert(right.end(), gone.begin(), gone.end());
  if (!are_dims(left, lhs.rank()) || !are_dims(right, rhs.rank()))
    return broken("{}: batch and contracting dimensions are distinct dimensions of {} and {}", op, show(lhs), show(rhs));
  const auto differ = [&](std::string_view what, const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
    return broken("{}: {} dimensions {{{}}} of {} and {{{}}} of {} differ in size", op, what, fmt::join(a, ","), show(lhs),
                  fmt::join(b, ","), show(rhs));
  };
  if (!same_sizes_at(lhs, d.lhs_batch, rhs, d.rhs_batch)) return differ("batch", d.lhs_batch, d.rhs_batch);
  if (!form.packed && !same_sizes_at(lhs, d.lhs_contracting, rhs, d.rhs_contracting))
    return differ("contracting", d.lhs_contracting, d.rhs_contracting);
  std::vector<int64_t> dims = form.result_first;
  for (const int64_t dim : d.lhs_batch) dims.push_back(lhs.dims[static_cast<size_t>(dim)]);
  for (const auto& sizes : {free_sizes(lhs, d.lhs_batch, d.lhs_contracting), free_sizes(rhs, d.rhs_batch, gone)}) {
    dims.insert(dims.end(), sizes.begin(), sizes.end());
  }
  return follows(array_shape(in.declared() != nullptr ? in.declared()->type : lhs.type, dims));
}

Inferred dot(const In& in) {
  return in.count() < 2 ? broken("dot takes two operands, got {}", in.count()) : product(in, {in.count() > 2, {}, {}});
}
Inferred scaled_dot(const In& in) { return product(in, {}); }

/// One dimension of the left side is cut into groups, whose sizes are the third operand.
Inferred ragged_dot(const In& in) {
  const std::vector<int64_t> ragged = in.dims("lhs_ragged_dims"), groups = in.dims("rhs_group_dims");
  const Shape &lhs = in.operand(0), &rhs = in.operand(1), &sizes = in.operand(2);
  if (ragged.size() != 1 || !are_dims(ragged, lhs.rank()) || groups.size() > 1 || !are_dims(groups, rhs.rank()))
    return broken("ragged-dot has one ragged dimension of {} and at most one of groups of {}", show(lhs), show(rhs));
  if (!is_integer(sizes.type) || sizes.dims.empty()) return broken("ragged-dot takes sizes of groups, got {}", show(sizes));
  const int64_t count = sizes.dims.back();
  if (!groups.empty() && count >= 0 && rhs.dims[static_cast<size_t>(groups[0])] != count)
    return broken("ragged-dot: {} has not the {} groups of {}", show(rhs), count, show(sizes));
  const bool sums = base::contains(attr_dot_dims(in.module, in.instr).lhs_contracting, ragged[0]);
  return product(in, {false, groups, sums ? std::vector{count} : std::vector<int64_t>()});
}

Inferred convolution(const In& in) {
  if (in.count() < 2) return broken("convolution takes two operands, got {}", in.count());
  const Shape &lhs = in.operand(0), &rhs = in.operand(1);
  const auto labels = attr_conv_dims(in.module, in.instr);
  const auto window = attr_window(in.module, in.instr);
  if (!labels.ok() || !window.ok()) return broken("{}", labels.ok() ? window.error().message : labels.error().message);
  const auto rank = static_cast<int64_t>(labels->in_spatial.size()) + 2;
  if (lhs.rank() != labels->in_rank || rhs.rank() != labels->kernel_rank) {
    return broken("convolution: dim_labels has {} and {} dimensions, the operands are {} and {}", labels->in_rank, labels->kernel_rank,
                  show(lhs), show(rhs));
  }
  if (in.declared() != nullptr && in.declared()->rank() != labels->out_rank)
    return broken("convolution: dim_labels has {} dimensions of the result, which is {}", labels->out_rank, show(*in.declared()));
  if (lhs.rank() != rank || rhs.rank() != rank || labels->out_rank != rank) return as_written();  // `?`: dimensions without a role
  if (window->size() != labels->in_spatial.size())
    return broken("convolution: the window has {} dimensions, dim_labels {}", window->size(), labels->in_spatial.size());
  const int64_t groups = attr_int(in.module, in.instr, "feature_group_count").value_or(1),
                batch_groups = attr_int(in.module, in.instr, "batch_group_count").value_or(1);
  const auto at = [](const Shape& s, int64_t dim) { return s.dims[static_cast<size_t>(dim)]; };
  if (groups <= 0 || batch_groups <= 0) return broken("convolution: group counts are positive");
  const int64_t in_features = at(lhs, labels->in_feature), kernel_in = at(rhs, labels->kernel_in);
  if (in_features >= 0 && kernel_in >= 0 && multiply(kernel_in, groups) != in_features) {
    return broken("convolution: {} has {} input features, {} in {} group{} takes {}", show(lhs), in_features, show(rhs), groups,
                  groups == 1 ? "" : "s", multiply(kernel_in, groups));
  }
  std::vector<int64_t> dims(static_cast<size_t>(rank));
  dims[static_cast<size_t>(labels->out_batch)] = at(lhs, labels->in_batch) < 0 ? -1 : at(lhs, labels->in_batch) / batch_groups;
  dims[static_cast<size_t>(labels->out_feature)] = at(rhs, labels->kernel_out);
  for (size_t i = 0; i < window->size(); ++i) {
    const int64_t size = at(lhs, labels->in_spatial[i]);
    if (at(rhs, labels->kernel_spatial[i]) != (*window)[i].size)
      return broken("convolution: the window's size {} is not the kernel's in {}", (*window)[i].size, show(rhs));
    dims[static_cast<size_t>(labels->out_spatial[i])] = size < 0 ? -1 : windowed(size, (*window)[i]);
  }
  return follows(array_shape(in.declared() != nullptr ? in.declared()->type : lhs.type, dims));
}

/// Results of a reduction: the types are the reducer's.
Inferred reduced(const In& in, const std::vector<int64_t>& dims, size_t arrays) {
  const Shape* reducer = in.result_of("to_apply");
  std::vector<Shape> results;
  for (size_t i = 0; i < arrays; ++i) {
    Type type = in.operand(arrays + i).type;
    if (reducer != nullptr && !reducer->is_tuple() && arrays == 1) type = reducer->type;
    if (reducer != nullptr && reducer->is_tuple() && reducer->elements.size() == arrays) type = reducer->elements[i].type;
    results.push_back(array_shape(type, dims));
  }
  const bool one = arrays == 1 && (reducer == nullptr || !reducer->is_tuple());
  return follows(one ? results[0] : tuple_shape(std::move(results)));
}

/// k arrays of equal dimensions and k scalars to begin with.
std::string reduction_operands(const In& in) {
  if (in.count() < 2 || in.count() % 2 != 0)
    return fmt::format("{} takes k arrays and k initial values, got {} operands", text(in.instr.op), in.count());
  for (size_t i = 0, arrays = in.count() / 2; i < arrays; ++i) {
    if (!fits(with_type(in.operand(i), Type::pred), with_type(in.operand(0), Type::pred)))
      return fmt::format("{} takes arrays of equal dimensions, got {} and {}", text(in.instr.op), show(in.operand(0)), show(in.operand(i)));
    if (!fits_but_for_precision(in.operand(arrays + i), array_shape(in.operand(i).type, {})))
      return fmt::format("{} of {} begins with a scalar of its type, got {}", text(in.instr.op), show(in.operand(i)),
                         show(in.operand(arrays + i)));
  }
  return "";
}

Inferred reduce(const In& in) {
  if (const std::string what = reduction_operands(in); !what.empty()) return broken("{}", what);
  const std::vector<int64_t> dims = in.dims("dimensions");
  const Shape& from = in.operand(0);
  if (!are_dims(dims, from.rank()))
    return broken("reduce: dimensions={{{}}} are not distinct dimensions of {}", fmt::join(dims, ","), show(from));
  return reduced(in, free_sizes(from, dims, {}), in.count() / 2);
}

Inferred reduce_window(const In& in) {
  if (const std::string what = reduction_operands(in); !what.empty()) return broken("{}", what);
  const auto window = attr_window(in.module, in.instr);
  if (!window.ok()) return broken("{}", window.error().message);
  const Shape& from = in.operand(0);
  if (window->size() != from.dims.size())
    return broken("reduce-window: the window has {} dimensions, {} has {}", window->size(), show(from), from.rank());
  std::vector<int64_t> dims;
  for (size_t i = 0; i < from.dims.size(); ++i) dims.push_back(from.dims[i] < 0 ? -1 : windowed(from.dims[i], (*window)[i]));
  return reduced(in, dims, in.count() / 2);
}

Inferred sort(const In& in) {
  if (in.count() == 0) return broken("sort takes at least one array");
  const std::vector<int64_t> dims = in.dims("dimensions");
  if (dims.size() > 1 || !are_dims(dims, in.operand(0).rank())) return broken("sort goes along one dimension of {}", show(in.operand(0)));
  std::vector<Shape> arrays;
  for (size_t i = 0; i < in.count(); ++i) {
    if (!fits(with_type(in.operand(i), Type::pred), with_type(in.operand(0), Type::pred)))
      return broken("sort takes arrays of equal dimensions, got {} and {}", show(in.operand(0)), show(in.operand(i)));
    arrays.push_back(in.operand(i));
  }
  return follows(arrays.size() == 1 ? arrays[0] : tuple_shape(std::move(arrays)));
}

Inferred fft(const In& in) {
  Shape result = in.operand(0);
  const auto kind = attr_text(in.module, in.instr, "fft_type").value_or("FFT");
  const std::vector<int64_t> length = in.dims("fft_length");
  if (length.empty() || length.size() > result.dims.size())
    return broken("fft_length has 1 to {} numbers, got {}", result.rank(), length.size());
  for (size_t i = 0; i < length.size(); ++i) {
    const bool halved = kind == "IRFFT" && i + 1 == length.size();
    const int64_t wanted = halved && length[i] > 0 ? length[i] / 2 + 1 : length[i],
                  size = result.dims[result.dims.size() - length.size() + i];
    if (length[i] < 0 || (length[i] > 0 && size >= 0 && size != wanted))
      return broken("fft_length={{{}}} is not that of {}", fmt::join(length, ","), show(result));
  }
  const bool is_double = result.type == Type::f64 || result.type == Type::c128;
  if (kind == "RFFT") result.type = is_double ? Type::c128 : Type::c64, result.dims.back() = length.back() == 0 ? 0 : length.back() / 2 + 1;
  if (kind == "IRFFT") result.type = is_double ? Type::f64 : Type::f32, result.dims.back() = length.back();
  return follows(result);
}

struct ContractRow {
  Op op;
  Rule rule;
};
constexpr ContractRow kContractRows[] = {
    {Op::dot, dot}, {Op::convolution, convolution}, {Op::reduce, reduce},         {Op::reduce_window, reduce_window}, {Op::sort, sort},
    {Op::fft, fft}, {Op::ragged_dot, ragged_dot},   {Op::scaled_dot, scaled_dot},
};

}  // namespace

Rule contraction_rule(Op op) {
  const auto row = std::ranges::find(kContractRows, op, &ContractRow::op);
  return row == std::end(kContractRows) ? nullptr : row->rule;
}

}  // namespace ir::rules
