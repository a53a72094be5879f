// A product as strides. The dimensions of one role (batch, rows, columns, contraction) must collapse into one: physically sequential in the
// same order in every operand that has them. Sizes of 1 are free.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "replay/plan_builder.h"

namespace replay {
namespace {

using Dims = std::vector<int64_t>;

/// The dimensions of one role in one operand, outermost first.
struct Role {
  const ir::Shape* shape;
  Dims dims;
};

struct Collapsed {
  int64_t size = 1, stride = 0;
};

std::optional<Collapsed> collapse(const Role& role) {
  const Dims strides = ir::strides(*role.shape);
  Collapsed out;
  for (const int64_t dim : role.dims) {
    const int64_t size = role.shape->dims[static_cast<size_t>(dim)], stride = strides[static_cast<size_t>(dim)];
    if (size == 1) continue;
    if (out.size != 1 && out.stride != stride * size) return std::nullopt;
    out.size *= size;
    out.stride = stride;
  }
  return out;
}

Dims rest(const ir::Shape& shape, const Dims& a, const Dims& b) {
  Dims out;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (std::find(a.begin(), a.end(), d) == a.end() && std::find(b.begin(), b.end(), d) == b.end()) out.push_back(d);
  }
  return out;
}

Dims range(int64_t from, size_t count) {
  Dims out(count);
  std::iota(out.begin(), out.end(), from);
  return out;
}

/// Orders the pairs (a[i], b[i]) so that `a` is physically outermost first: the order of a sum is free.
void sort_pairs(const ir::Shape& shape, Dims& a, Dims& b) {
  const Dims strides = ir::strides(shape);
  Dims order = range(0, a.size());
  std::sort(order.begin(), order.end(), [&](int64_t x, int64_t y) {
    return strides[static_cast<size_t>(a[static_cast<size_t>(x)])] > strides[static_cast<size_t>(a[static_cast<size_t>(y)])];
  });
  const Dims old_a = a, old_b = b;
  for (size_t i = 0; i < order.size(); ++i) {
    a[i] = old_a[static_cast<size_t>(order[i])];
    b[i] = old_b[static_cast<size_t>(order[i])];
  }
}

base::Error not_sequential(std::string_view role) {
  return base::Error{fmt::format("the {} dimensions of an operand are not physically sequential", role)};
}

}  // namespace

base::Result<Gemm> plan_gemm(const ir::Shape& a, const ir::Shape& b, const ir::Shape& d, const ir::GemmConfig& config) {
  ir::DotDims dims = config.dims;
  if (dims.lhs_contracting.size() != dims.rhs_contracting.size() || dims.lhs_batch.size() != dims.rhs_batch.size()) {
    return base::Error{"contracting or batch dimensions of the operands differ in number"};
  }
  const auto is_whole = [](const ir::Shape& shape) { return !ir::is_float(shape.type) && !ir::is_complex(shape.type); };
  if (is_whole(d) && !(is_whole(a) && is_whole(b))) return base::Error{"floats whose sums become integers only at the end are a kernel"};
  sort_pairs(a, dims.lhs_contracting, dims.rhs_contracting);
  const Dims rows = rest(a, dims.lhs_batch, dims.lhs_contracting), columns = rest(b, dims.rhs_batch, dims.rhs_contracting);
  const size_t batch = dims.lhs_batch.size();
  if (static_cast<size_t>(d.rank()) != batch + rows.size() + columns.size())
    return base::Error{"the result's rank is not batch + rows + columns"};
  const auto at = static_cast<int64_t>(batch), after_rows = static_cast<int64_t>(batch + rows.size());

  const auto batch_a = collapse({&a, dims.lhs_batch}), batch_b = collapse({&b, dims.rhs_batch}), batch_d = collapse({&d, range(0, batch)});
  if (!batch_a || !batch_b || !batch_d) return not_sequential("batch");
  const auto row_a = collapse({&a, rows}), row_d = collapse({&d, range(at, rows.size())});
  if (!row_a || !row_d) return not_sequential("row");
  const auto column_b = collapse({&b, columns}), column_d = collapse({&d, range(after_rows, columns.size())});
  if (!column_b || !column_d) return not_sequential("column");
  const auto sum_a = collapse({&a, dims.lhs_contracting}), sum_b = collapse({&b, dims.rhs_contracting});
  if (!sum_a || !sum_b) return not_sequential("contracting");
  if (sum_a->size != sum_b->size || row_a->size != row_d->size || column_b->size != column_d->size || batch_a->size != batch_d->size) {
    return base::Error{"sizes of the operands and the result do not match"};
  }
  Gemm gemm;
  gemm.batch = batch_d->size;
  gemm.m = row_d->size;
  gemm.n = column_d->size;
  gemm.k = sum_a->size;
  gemm.a = {-1, a.type, batch_a->stride, row_a->stride, sum_a->stride};
  gemm.b = {-1, b.type, batch_b->stride, sum_b->stride, column_b->stride};
  gemm.d = {-1, d.type, batch_d->stride, row_d->stride, column_d->stride};
  gemm.alpha = config.alpha;
  gemm.beta = config.beta;
  return gemm;
}

namespace {

/// The shape with these dimensions physically in order, outermost first.
ir::Shape in_order(ir::Shape shape, const Dims& dims) {
  shape.minor_to_major.assign(dims.rbegin(), dims.rend());
  shape.has_layout = true;
  shape.layout_rest.clear();
  return shape;
}

Dims joined(std::initializer_list<Dims> lists) {
  Dims out;
  for (const Dims& list : lists) out.insert(out.end(), list.begin(), list.end());
  return out;
}

bool has_dims(const ir::Shape& shape, const Dims& batch, const Dims& contracting) {
  return std::ranges::all_of(joined({batch, contracting}), [&](int64_t d) { return d >= 0 && d < shape.rank(); });
}

}  // namespace

base::Result<ArrangedGemm> plan_arranged_gemm(const ir::Shape& a, const ir::Shape& b, const ir::Shape& d, const ir::GemmConfig& config) {
  struct Change {
    bool a, b, d;
  };
  static constexpr Change kChanges[] = {{false, false, false}, {false, true, false}, {true, false, false}, {false, false, true},
                                        {true, true, false},   {false, true, true},  {true, false, true},  {true, true, true}};
  base::Error last{""};
  for (const Change& change : kChanges) {
    ir::DotDims dims = config.dims;
    if (dims.lhs_contracting.size() != dims.rhs_contracting.size()) return base::Error{"contracting dimensions differ in number"};
    if (!has_dims(a, dims.lhs_batch, dims.lhs_contracting) || !has_dims(b, dims.rhs_batch, dims.rhs_contracting))
      return base::Error{"the product names dimensions that its operands lack"};
    ArrangedGemm out{{}, a, b, d};
    if (change.a) {
      out.a = in_order(a, joined({dims.lhs_batch, rest(a, dims.lhs_batch, dims.lhs_contracting), dims.lhs_contracting}));
    }
    sort_pairs(out.a, dims.lhs_contracting, dims.rhs_contracting);  // the order in which plan_gemm takes the sum
    if (change.b) {
      out.b = in_order(b, joined({dims.rhs_batch, dims.rhs_contracting, rest(b, dims.rhs_batch, dims.rhs_contracting)}));
    }
    if (change.d) out.d = in_order(d, range(0, d.dims.size()));
    auto gemm = plan_gemm(out.a, out.b, out.d, config);
    if (gemm.ok()) {
      out.gemm = *gemm;
      return out;
    }
    last = gemm.error();
  }
  return last;
}

}  // namespace replay
