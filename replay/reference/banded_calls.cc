// Custom calls of JAX for matrices that are mostly zero: LAPACK's and cuSPARSE's gtsv (tridiagonal systems) and products of a matrix in
// compressed rows (CSR) with a dense one.
#include <cmath>

#include "replay/reference/linear.h"

namespace replay::reference {
namespace {

/// One system by elimination with partial pivoting, as LAPACK's gtsv: what fills up lies in `lower`, which then is the second diagonal
/// above.
struct Band {
  std::vector<Complex> lower, diagonal, upper;  ///< lower[i] is A[i + 1, i], upper[i] A[i, i + 1]
  std::vector<std::vector<Complex>> right;      ///< a row of B each
};

/// Row i and the one below it; the second diagonal above exists where there is a third row.
void eliminate(Band& a, size_t i) {
  const size_t n = a.diagonal.size();
  const bool swap = std::abs(a.diagonal[i]) < std::abs(a.lower[i]);
  if (swap) {
    std::swap(a.diagonal[i], a.lower[i]), std::swap(a.right[i], a.right[i + 1]);
    std::swap(a.upper[i], a.diagonal[i + 1]);
  }
  const Complex factor = a.lower[i] / a.diagonal[i];
  a.diagonal[i + 1] -= factor * a.upper[i];
  for (size_t k = 0; k < a.right[i].size(); ++k) a.right[i + 1][k] -= factor * a.right[i][k];
  a.lower[i] = 0;
  if (swap && i + 2 < n) a.lower[i] = a.upper[i + 1], a.upper[i + 1] *= -factor;
}

/// 0, or one more than the row where the matrix is singular.
int64_t solve_band(Band& a) {
  const size_t n = a.diagonal.size();
  for (size_t i = 0; i + 1 < n; ++i) {
    if (a.diagonal[i] == 0.0 && a.lower[i] == 0.0) return static_cast<int64_t>(i) + 1;
    eliminate(a, i);
  }
  if (n > 0 && a.diagonal[n - 1] == 0.0) return static_cast<int64_t>(n);
  for (size_t i = n; i-- > 0;) {
    for (size_t k = 0; k < a.right[i].size(); ++k) {
      Complex sum = a.right[i][k];
      if (i + 1 < n) sum -= a.upper[i] * a.right[i + 1][k];
      if (i + 2 < n) sum -= a.lower[i] * a.right[i + 2][k];
      a.right[i][k] = sum / a.diagonal[i];
    }
  }
  return 0;
}

}  // namespace

std::vector<Values> lapack_gtsv(const Call& call) {
  const ir::Shape& b_shape = call.operand_shape(3);
  Values lower = *call.whole(0), diagonal = *call.whole(1), upper = *call.whole(2), right = *call.whole(3);
  if (b_shape.rank() < 2 || kind_of(right) == Kind::integer) return call.fail("takes matrices of floats"), std::vector<Values>();
  const auto n = static_cast<size_t>(b_shape.dims[b_shape.dims.size() - 2]), columns = static_cast<size_t>(b_shape.dims.back());
  for (const Values* line : {&lower, &diagonal, &upper}) {
    if (line->type != right.type || size(*line) * columns != size(right))
      return call.fail("has diagonals that do not fit"), std::vector<Values>();
  }
  const size_t count = n * columns == 0 ? 0 : size(right) / (n * columns);
  Values info = zeros(ir::Type::s32, count);
  for (size_t b = 0; b < count; ++b) {
    Band a{std::vector<Complex>(n), std::vector<Complex>(n), std::vector<Complex>(n), std::vector(n, std::vector<Complex>(columns))};
    for (size_t i = 0; i < n; ++i) {
      if (i + 1 < n) a.lower[i] = complex_at(lower, b * n + i + 1);  // the first of an operand's lower diagonal has no place in A
      a.diagonal[i] = complex_at(diagonal, b * n + i), a.upper[i] = complex_at(upper, b * n + i);
      for (size_t k = 0; k < columns; ++k) a.right[i][k] = complex_at(right, (b * n + i) * columns + k);
    }
    info.integer[b] = solve_band(a);
    for (size_t i = 0; i < n; ++i) {
      if (i + 1 < n) set_complex(lower, b * n + i + 1, a.lower[i]);
      set_complex(diagonal, b * n + i, a.diagonal[i]), set_complex(upper, b * n + i, a.upper[i]);
      for (size_t k = 0; k < columns; ++k) set_complex(right, (b * n + i) * columns + k, a.right[i][k]);
    }
  }
  std::vector<Values> leaves;
  for (Values* leaf : {&lower, &diagonal, &upper, &right})
    leaf->bound.clear(), stable_bound(call, *leaf, n), leaves.push_back(std::move(*leaf));
  leaves.push_back(std::move(info));
  return leaves;
}

std::vector<Values> gpu_gtsv(const Call& call) {
  std::vector<Values> leaves = lapack_gtsv(call);
  if (leaves.size() == 5) leaves.erase(leaves.begin(), leaves.begin() + 3);
  return leaves;
}

/// Operands: values, the place of each row's first value, the column of each value, the dense matrix or vector.
std::vector<Values> csr_product(const Call& call) {
  const Batch values = call.whole(0), rows = call.whole(1), columns = call.whole(2), dense = call.whole(3);
  const ir::Shape& dense_shape = call.operand_shape(3);
  if (kind_of(*rows) != Kind::integer || kind_of(*columns) != Kind::integer || kind_of(*values) == Kind::integer ||
      dense->type != values->type || dense_shape.dims.empty())
    return call.fail("takes floats and the places of rows and columns"), std::vector<Values>();
  const auto inner = dense_shape.dims[0];
  const size_t width = inner == 0 ? 0 : size(*dense) / static_cast<size_t>(inner), height = size(*rows) == 0 ? 0 : size(*rows) - 1;
  Values out = zeros(values->type, height * width);
  std::vector<double> bound(size(out));
  for (size_t row = 0; row < height; ++row) {
    const int64_t first = rows->integer[row], end = rows->integer[row + 1];
    if (first < 0 || end > static_cast<int64_t>(size(*values))) return call.fail("has rows outside its values"), std::vector<Values>();
    for (int64_t at = first; at < end; ++at) {
      const int64_t column = columns->integer[static_cast<size_t>(at)];
      if (column < 0 || column >= inner) return call.fail("has a column outside the dense matrix"), std::vector<Values>();
      for (size_t k = 0; k < width; ++k) {
        const size_t to = row * width + k;
        const Complex term = complex_at(*values, static_cast<size_t>(at)) * complex_at(*dense, static_cast<size_t>(column) * width + k);
        set_complex(out, to, complex_at(out, to) + term);
        bound[to] += 4 * std::sqrt(static_cast<double>(end - first)) * unit(out.type) * std::abs(term);
      }
    }
  }
  for (size_t i = 0; call.in.bounds() && i < bound.size(); ++i) set_bound(out, i, bound[i]);
  return {std::move(out)};
}

}  // namespace replay::reference
