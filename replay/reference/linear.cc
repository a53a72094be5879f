// Cholesky and triangular solve by their definitions, over batches of matrices in the last two dimensions. Their bounds are those of
// backward stable algorithms: n·ε times the size of the result, with a factor for moderate condition numbers.
#include <algorithm>
#include <cmath>

#include "replay/reference/linear.h"

namespace replay::reference {
void stable_bound(const Call& call, Values& values, size_t n) {
  if (!call.in.bounds()) return;
  double largest = 0;
  for (const double v : values.re) largest = std::isfinite(v) ? std::max(largest, std::fabs(v)) : largest;
  for (size_t i = 0; i < values.re.size(); ++i) set_bound(values, i, 64 * static_cast<double>(n) * unit(values.type) * largest);
}

namespace {

/// One matrix by columns of its triangle; false where it is not positive definite.
template <typename Cell>
bool factored(const Values& a, Values& out, size_t n, const Cell& cell) {
  for (size_t row = 0; row < n; ++row) {
    for (size_t column = 0; column <= row; ++column) {
      Complex sum = complex_at(a, cell(row, column));
      for (size_t k = 0; k < column; ++k) sum -= complex_at(out, cell(row, k)) * std::conj(complex_at(out, cell(column, k)));
      if (row == column && !(sum.real() > 0)) return false;
      set_complex(out, cell(row, column), row == column ? Complex(std::sqrt(sum.real())) : sum / complex_at(out, cell(column, column)));
    }
  }
  return true;
}

}  // namespace

std::vector<Values> cholesky(const Call& call) {
  const bool lower = ir::attr_true(call.module(), call.instr, "lower");
  const ir::Shape& shape = call.operand_shape(0);
  const Batch a = call.whole(0);
  if (shape.rank() < 2 || shape.dims.back() != shape.dims[shape.dims.size() - 2] || kind_of(*a) == Kind::integer) {
    return call.fail("takes square matrices of floats"), std::vector<Values>();
  }
  const auto n = static_cast<size_t>(shape.dims.back());
  Values out = zeros(a->type, size(*a));
  for (size_t base = 0; n > 0 && base < size(*a); base += n * n) {
    const auto cell = [&](size_t row, size_t column) { return base + (lower ? row * n + column : column * n + row); };
    if (!factored(*a, out, n, cell)) {  // as LAPACK reports it and XLA passes it on: the whole matrix
      for (size_t i = 0; i < n * n; ++i) set_complex(out, base + i, {NAN, out.im.empty() ? 0 : NAN});
    }
  }
  stable_bound(call, out, n);
  return {std::move(out)};
}

std::vector<Values> triangular_solve(const Call& call) {
  const auto is_true = [&](const char* key) { return ir::attr_true(call.module(), call.instr, key); };
  const auto how = ir::attr_text(call.module(), call.instr, "transpose_a").value_or("NO_TRANSPOSE");
  return solved(
      call, {is_true("left_side"), is_true("lower"), is_true("unit_diagonal"), how == "TRANSPOSE" || how == "ADJOINT", how == "ADJOINT"});
}

std::vector<Values> solved(const Call& call, const Triangular& how) {
  const auto& [left, lower, unit_diagonal, transposed, conjugated] = how;
  const ir::Shape &a_shape = call.operand_shape(0), &b_shape = call.operand_shape(1);
  const Batch a = call.whole(0), b = call.whole(1);
  if (a_shape.rank() < 2 || b_shape.rank() != a_shape.rank() || a_shape.dims.back() != a_shape.dims[a_shape.dims.size() - 2] ||
      kind_of(*a) == Kind::integer) {
    return call.fail("takes square matrices of floats"), std::vector<Values>();
  }
  const auto n = static_cast<size_t>(a_shape.dims.back()), rows = static_cast<size_t>(b_shape.dims[b_shape.dims.size() - 2]),
             columns = static_cast<size_t>(b_shape.dims.back());
  if ((left ? rows : columns) != n || (n > 0 && size(*a) / (n * n) * rows * columns != size(*b)))
    return call.fail("has matrices that do not fit"), std::vector<Values>();
  Values out = *b;
  out.bound.clear();
  const size_t others = left ? columns : rows;
  for (size_t m = 0; n > 0 && m < size(*a) / (n * n); ++m) {
    // Element (i, k) of op(A), seen from the left: x·op(A) = b is op(A)ᵀ·xᵀ = bᵀ.
    const auto element = [&](size_t i, size_t k) {
      const bool swap = transposed == left;
      const Complex value = complex_at(*a, m * n * n + (swap ? k * n + i : i * n + k));
      return conjugated ? std::conj(value) : value;
    };
    const bool forward = lower == (transposed != left);
    for (size_t other = 0; other < others; ++other) {
      const auto place = [&](size_t i) { return m * rows * columns + (left ? i * columns + other : other * columns + i); };
      for (size_t step = 0; step < n; ++step) {
        const size_t i = forward ? step : n - 1 - step;
        Complex sum = complex_at(out, place(i));
        for (size_t done = 0; done < step; ++done) {
          const size_t k = forward ? done : n - 1 - done;
          sum -= element(i, k) * complex_at(out, place(k));
        }
        set_complex(out, place(i), unit_diagonal ? sum : sum / element(i, i));
      }
    }
  }
  stable_bound(call, out, n);
  return {std::move(out)};
}

}  // namespace replay::reference
