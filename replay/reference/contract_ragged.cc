// Products whose operands are cut into groups (ragged-dot) or carry a scale for each block (scaled-dot), by their definitions.
//
// ragged-dot: one dimension of the left side is ragged: group_sizes, at its last dimension, cut it into runs of so many places, one a
// group.
//   free ragged dimension          out[b, m, n] = Σ_k lhs[b, m, k] · rhs[g(m), b, k, n]; 0 beyond the last group
//   contracted ragged dimension    out[g, b, m, n] = Σ_{k in group g} lhs[b, m, k] · rhs[b, k, n]
//   ragged batch dimension         the groups change nothing
// scaled-dot: out = Σ_k (lhs · lhs_scale)(rhs · rhs_scale), a scale standing for as many places as its dimension is shorter.
#include <algorithm>
#include <optional>

#include "replay/reference/contract.h"

namespace replay::reference {
namespace {

bool holds(const Indices& list, int64_t value) { return std::find(list.begin(), list.end(), value) != list.end(); }

/// Where group g of the ragged dimension begins and ends, for one row of group sizes.
struct Groups {
  Values sizes;
  int64_t count = 0;
  int64_t size(int64_t row, int64_t group) const { return sizes.integer[static_cast<size_t>(row * count + group)]; }
  int64_t begin(int64_t row, int64_t group) const {
    int64_t sum = 0;
    for (int64_t g = 0; g < group; ++g) sum += size(row, g);
    return sum;
  }
  /// −1 beyond the last one.
  int64_t of(int64_t row, int64_t place) const {
    for (int64_t g = 0; g < count; ++g) {
      if (place < size(row, g)) return g;
      place -= size(row, g);
    }
    return -1;
  }
};

struct Ragged {
  ir::DotDims dims;
  int64_t ragged = -1, group = -1;  ///< dimension of the left side, of the right side (−1: none)
  Side left, right;
  Indices left_free, contracted_sizes;  ///< dimensions of the left side that stay; sizes of those that go
  Groups groups;
  int64_t group_stride = 0;
  bool in_contracted = false, in_free = false;
};

/// The row of group sizes for a batch: group_sizes may have leading dimensions, which are the first batch dimensions.
int64_t row_of(const Call& call, const Indices& at, size_t first_batch) {
  const ir::Shape& shape = call.operand_shape(2);
  int64_t row = 0;
  for (int64_t d = 0; d + 1 < shape.rank(); ++d) {
    const size_t place = first_batch + static_cast<size_t>(d);
    row = row * shape.dims[static_cast<size_t>(d)] + (place < at.size() ? at[place] : 0);
  }
  return row;
}

base::Result<Ragged> ragged_of(const Call& call) {
  Ragged r;
  r.dims = ir::attr_dot_dims(call.module(), call.instr);
  const Indices ragged = ir::attr_dims(call.module(), call.instr, "lhs_ragged_dims"),
                group = ir::attr_dims(call.module(), call.instr, "rhs_group_dims");
  const ir::Shape &a = call.operand_shape(0), &b = call.operand_shape(1), &sizes = call.operand_shape(2);
  if (ragged.size() != 1 || group.size() > 1 || sizes.rank() < 1)
    return base::Error{"takes one ragged dimension and at most one of groups"};
  const auto within = [](const Indices& list, const ir::Shape& shape) {
    return std::all_of(list.begin(), list.end(), [&](int64_t d) { return d >= 0 && d < shape.rank(); });
  };
  const bool fits = within(ragged, a) && within(group, b) && within(r.dims.lhs_batch, a) && within(r.dims.lhs_contracting, a) &&
                    within(r.dims.rhs_batch, b) && within(r.dims.rhs_contracting, b) &&
                    r.dims.lhs_contracting.size() == r.dims.rhs_contracting.size() && r.dims.lhs_batch.size() == r.dims.rhs_batch.size();
  if (!fits) return base::Error{"has dimension numbers that do not fit its operands"};
  r.ragged = ragged[0];
  r.left = side_of(a, r.dims.lhs_batch, r.dims.lhs_contracting);
  Indices gone = r.dims.rhs_contracting;
  gone.insert(gone.end(), group.begin(), group.end());
  r.right = side_of(b, r.dims.rhs_batch, gone);
  r.right.contracted.resize(r.dims.rhs_contracting.size());
  if (!group.empty()) r.group_stride = row_major(b.dims)[static_cast<size_t>(group[0])];
  for (int64_t d = 0; d < a.rank(); ++d) {
    if (!holds(r.dims.lhs_batch, d) && !holds(r.dims.lhs_contracting, d)) r.left_free.push_back(d);
  }
  for (const int64_t d : r.dims.lhs_contracting) r.contracted_sizes.push_back(a.dims[static_cast<size_t>(d)]);
  r.in_contracted = holds(r.dims.lhs_contracting, r.ragged);
  r.in_free = holds(r.left_free, r.ragged);
  r.groups = {*call.whole(2), sizes.dims.back()};
  const size_t rank = (r.in_contracted ? 1 : 0) + r.left.batch.size() + r.left.free.size() + r.right.free.size();
  if (rank != call.shape.dims.size()) return base::Error{"has a result of another rank than its dimension numbers say"};
  const Indices rows(sizes.dims.begin(), sizes.dims.end() - 1);
  const auto first = call.shape.dims.begin() + (r.in_contracted ? 1 : 0);
  if (rows.size() > rank - (r.in_contracted ? 1 : 0) || !std::equal(rows.begin(), rows.end(), first))
    return base::Error{"has sizes of groups that are not those of its batches"};
  return r;
}

/// Place in the ragged contracted dimension of coordinates of all contracted ones.
int64_t ragged_place(const Ragged& r, const Indices& k) {
  for (size_t i = 0; i < k.size(); ++i) {
    if (r.dims.lhs_contracting[i] == r.ragged) return k[i];
  }
  return 0;
}

Sum ragged_sum(const Call& call, const Ragged& r, const Values& a, const Values& b, const Indices& at) {
  const size_t first = r.in_contracted ? 1 : 0, batches = r.left.batch.size();
  int64_t left = 0, right = 0;
  for (size_t i = 0; i < batches; ++i) left += at[first + i] * r.left.batch[i], right += at[first + i] * r.right.batch[i];
  for (size_t i = 0; i < r.left.free.size(); ++i) left += at[first + batches + i] * r.left.free[i];
  for (size_t i = 0; i < r.right.free.size(); ++i) right += at[first + batches + r.left.free.size() + i] * r.right.free[i];
  const int64_t row = row_of(call, at, first);
  if (r.in_free) {
    const auto which = static_cast<size_t>(std::find(r.left_free.begin(), r.left_free.end(), r.ragged) - r.left_free.begin());
    const int64_t group = r.groups.of(row, at[first + batches + which]);
    if (group < 0) return {};
    right += group * r.group_stride;
  }
  const int64_t begin = r.in_contracted ? r.groups.begin(row, at[0]) : 0;
  const int64_t end = r.in_contracted ? begin + r.groups.size(row, at[0]) : 0;
  Sum sum;
  Walker walker(r.contracted_sizes);
  const int64_t count = ir::elements(ir::array_shape(ir::Type::u8, r.contracted_sizes));
  for (int64_t i = 0; i < count; ++i) {
    const Indices& k = walker.move_to(i);
    if (r.in_contracted && (ragged_place(r, k) < begin || ragged_place(r, k) >= end)) continue;
    int64_t x = left, y = right;
    for (size_t d = 0; d < k.size(); ++d) x += k[d] * r.left.contracted[d], y += k[d] * r.right.contracted[d];
    add_product(sum, a, static_cast<size_t>(x), b, static_cast<size_t>(y));
  }
  return sum;
}

/// Operand k with each element times its block's scale (operand of the same rank).
Batch scaled(const Call& call, size_t k, size_t scale_operand) {
  const Batch x = call.whole(k);
  const ir::Shape &shape = call.operand_shape(k), &of = call.operand_shape(scale_operand);
  const bool blocks = of.rank() == shape.rank() && std::ranges::equal(of.dims, shape.dims, [](int64_t scales, int64_t places) {
                        return scales <= places && (scales > 0 || places == 0);
                      });
  if (!blocks && ir::elements(of) != 1) return call.fail("has scales that are not of blocks of its operand");
  const Batch scale = call.whole(scale_operand);
  Values out = converted(*x, ir::Type::f64);
  const Indices strides = row_major(of.dims);
  Walker walker(shape.dims);
  for (size_t i = 0; i < out.re.size(); ++i) {
    const Indices& at = walker.move_to(static_cast<int64_t>(i));
    int64_t place = 0;
    for (size_t d = 0; d < strides.size(); ++d) place += at[d] * of.dims[d] / shape.dims[d] * strides[d];
    out.re[i] *= scale->re[static_cast<size_t>(place)];
    if (!out.bound.empty()) out.bound[i] *= std::fabs(scale->re[static_cast<size_t>(place)]);
  }
  return share(std::move(out));
}

}  // namespace

Batch ragged_dot(const Call& call) {
  const auto ragged = ragged_of(call);
  if (!ragged.ok()) return call.fail(ragged.error().message);
  const Batch a = summable(call, call.whole(0)), b = summable(call, call.whole(1));
  Values out = zeros(sum_type(call), call.count());
  Walker walker(call.shape.dims);
  for (size_t i = 0; i < call.count() && !call.in.failed(); ++i)
    store_sum(call, out, i, ragged_sum(call, *ragged, *a, *b, walker.move_to((*call.at)[i])));
  return share(converted(std::move(out), call.shape.type));
}

namespace {

/// [batch…, left free…, right free…]; nothing where the sides do not fit each other.
std::optional<Indices> product_sizes(const ir::Shape& a, const ir::Shape& b, const ir::DotDims& dims) {
  const auto sizes = [](const ir::Shape& shape, const Indices& list) {
    Indices out;
    for (const int64_t d : list) out.push_back(shape.dims[static_cast<size_t>(d)]);
    return out;
  };
  Indices out = sizes(a, dims.lhs_batch);
  if (out != sizes(b, dims.rhs_batch) || sizes(a, dims.lhs_contracting) != sizes(b, dims.rhs_contracting)) return std::nullopt;
  const auto add_free = [&](const ir::Shape& shape, const Indices& batch, const Indices& contracting) {
    for (int64_t d = 0; d < shape.rank(); ++d)
      if (!holds(batch, d) && !holds(contracting, d)) out.push_back(shape.dims[static_cast<size_t>(d)]);
  };
  add_free(a, dims.lhs_batch, dims.lhs_contracting);
  add_free(b, dims.rhs_batch, dims.rhs_contracting);
  return out;
}

Batch scaled_product(const Call& call, const ir::DotDims& dims) {
  const ir::Shape &a_shape = call.operand_shape(0), &b_shape = call.operand_shape(1);
  if (kind_of(call.operand_shape(2).type) != Kind::real || kind_of(call.operand_shape(3).type) != Kind::real)
    return call.fail("takes scales that are floats");
  const Batch a = scaled(call, 0, 2), b = scaled(call, 1, 3);
  const Side left = side_of(a_shape, dims.lhs_batch, dims.lhs_contracting), right = side_of(b_shape, dims.rhs_batch, dims.rhs_contracting);
  const size_t batches = left.batch.size();
  if (call.in.failed() || product_sizes(a_shape, b_shape, dims) != call.shape.dims)
    return call.fail("has a result of other sizes than its dimension numbers say");
  Indices sizes;
  for (const int64_t d : dims.lhs_contracting) sizes.push_back(a_shape.dims[static_cast<size_t>(d)]);
  Indices all(static_cast<size_t>(ir::elements(ir::array_shape(ir::Type::u8, sizes))));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
  const Indices a_inner = affine(sizes, left.contracted, 0, all), b_inner = affine(sizes, right.contracted, 0, all);
  Values out = zeros(call.shape.type, call.count());
  Walker walker(call.shape.dims);
  for (size_t i = 0; i < call.count(); ++i) {
    const Indices& at = walker.move_to((*call.at)[i]);
    int64_t x = 0, y = 0;
    for (size_t d = 0; d < batches; ++d) x += at[d] * left.batch[d], y += at[d] * right.batch[d];
    for (size_t d = 0; d < left.free.size(); ++d) x += at[batches + d] * left.free[d];
    for (size_t d = 0; d < right.free.size(); ++d) y += at[batches + left.free.size() + d] * right.free[d];
    Sum sum;
    for (size_t k = 0; k < all.size(); ++k)
      add_product(sum, *a, static_cast<size_t>(x + a_inner[k]), *b, static_cast<size_t>(y + b_inner[k]));
    store_sum(call, out, i, sum);
  }
  return share(std::move(out));
}

}  // namespace

Batch scaled_dot(const Call& call) {
  if (call.instr.operands.size() != 4) return call.fail("takes two operands and their scales");
  return scaled_product(call, ir::attr_dot_dims(call.module(), call.instr));
}

Batch scaled_dot_call(const Call& call) {
  const size_t rank = call.shape.dims.size();
  const bool fits = call.instr.operands.size() == 4 && rank >= 2 && static_cast<size_t>(call.operand_shape(0).rank()) == rank &&
                    static_cast<size_t>(call.operand_shape(1).rank()) == rank;
  if (!fits) return call.fail("takes two operands of its result's rank and their scales");
  ir::DotDims dims;
  for (int64_t d = 0; d + 2 < static_cast<int64_t>(rank); ++d) dims.lhs_batch.push_back(d), dims.rhs_batch.push_back(d);
  dims.lhs_contracting = dims.rhs_contracting = {static_cast<int64_t>(rank) - 1};
  return scaled_product(call, dims);
}

}  // namespace replay::reference
