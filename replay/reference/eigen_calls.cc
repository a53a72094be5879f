// LAPACK's syevd and heevd as JAX calls them on the CPU, and the same of cuSOLVER, hipSOLVER and of XLA for TPU: eigenvalues of Hermitian
// matrices, ascending, and their vectors as columns.
//
// By Jacobi's cyclic rotations (Golub & Van Loan, Matrix Computations, §8.5): each makes one pair of elements beside the diagonal zero;
// what is left shrinks with its square once it is small. Signs (phases) of the vectors are open, in LAPACK too; here the first element
// that is not tiny is positive.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "replay/reference/linear.h"

namespace replay::reference {
namespace {

/// Row-major n × n.
struct Square {
  size_t n = 0;
  std::vector<Complex> cells;
  explicit Square(size_t rows) : n(rows), cells(rows * rows) {}
  Complex& at(size_t row, size_t column) { return cells[row * n + column]; }
};

/// Columns p and q become (c·p − s·w̄·q, s·p + c·w̄·q): one side of a rotation whose phase is w.
void rotate_columns(Square& a, size_t p, size_t q, double c, double s, Complex w) {
  for (size_t row = 0; row < a.n; ++row) {
    const Complex x = a.at(row, p), y = std::conj(w) * a.at(row, q);
    a.at(row, p) = c * x - s * y;
    a.at(row, q) = s * x + c * y;
  }
}

void rotate_rows(Square& a, size_t p, size_t q, double c, double s, Complex w) {
  for (size_t column = 0; column < a.n; ++column) {
    const Complex x = a.at(p, column), y = w * a.at(q, column);
    a.at(p, column) = c * x - s * y;
    a.at(q, column) = s * x + c * y;
  }
}

/// One rotation for each pair; how much stood beside the diagonal, as a sum of squares.
double sweep(Square& a, Square& vectors) {
  double beside = 0;
  for (size_t p = 0; p + 1 < a.n; ++p) {
    for (size_t q = p + 1; q < a.n; ++q) {
      const double size = std::abs(a.at(p, q));
      beside += size * size;
      if (size == 0) continue;
      const Complex phase = a.at(p, q) / size;
      const double tau = (a.at(q, q).real() - a.at(p, p).real()) / (2 * size);
      const double t = std::copysign(1.0, tau) / (std::fabs(tau) + std::hypot(1.0, tau)), c = 1 / std::hypot(1.0, t), s = t * c;
      rotate_columns(a, p, q, c, s, phase);
      rotate_rows(a, p, q, c, s, phase);
      a.at(p, q) = a.at(q, p) = 0;
      rotate_columns(vectors, p, q, c, s, phase);
    }
  }
  return beside;
}

/// False if it does not settle, which only NaN and infinities bring about.
bool diagonalised(Square& a, Square& vectors) {
  double size = 0;
  for (const Complex& x : a.cells) size += std::norm(x);
  for (size_t i = 0; i < a.n; ++i) vectors.at(i, i) = 1;
  constexpr int kSweeps = 60;
  for (int i = 0; i < kSweeps; ++i) {
    if (sweep(a, vectors) <= 1e-32 * size) return true;
  }
  return false;
}

/// What turns a column so that its first element that is not tiny is real and positive.
Complex turn(Square& vectors, size_t column) {
  for (size_t row = 0; row < vectors.n; ++row) {
    const double size = std::abs(vectors.at(row, column));
    if (size > 1e-12) return std::conj(vectors.at(row, column)) / size;
  }
  return 1;
}

std::vector<Values> eigen(const Call& call, bool lower, bool wanted) {
  const ir::Shape& shape = call.operand_shape(0);
  const bool square = shape.rank() >= 2 && shape.dims.back() == shape.dims[shape.dims.size() - 2];
  if (!square || kind_of(shape.type) == Kind::integer) return call.fail("takes square matrices of floats"), std::vector<Values>();
  const auto n = static_cast<size_t>(shape.dims.back());
  Values out = *call.whole(0);
  out.bound.clear();
  const size_t count = n == 0 ? 0 : size(out) / (n * n);
  Values values = zeros(ir::part_type(shape.type), count * n), info = zeros(ir::Type::s32, count);
  for (size_t b = 0; b < count; ++b) {
    Square a(n), vectors(n);
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j <= i; ++j) {
        const Complex x = complex_at(out, b * n * n + (lower ? i * n + j : j * n + i));
        a.at(i, j) = i == j ? x.real() : lower ? x : std::conj(x);
        a.at(j, i) = std::conj(a.at(i, j));
      }
    }
    info.integer[b] = diagonalised(a, vectors) ? 0 : 1;
    std::vector<size_t> order(n);
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t i) { return a.at(i, i).real(); });
    for (size_t k = 0; k < n; ++k) {
      const Complex w = turn(vectors, order[k]);
      values.re[b * n + k] = a.at(order[k], order[k]).real();
      for (size_t i = 0; wanted && i < n; ++i) set_complex(out, b * n * n + i * n + k, vectors.at(i, order[k]) * w);
    }
  }
  stable_bound(call, out, n);
  stable_bound(call, values, n);
  std::vector<Values> leaves;
  for (Values* leaf : {&out, &values, &info}) leaves.push_back(std::move(*leaf));
  return leaves;
}

}  // namespace

std::vector<Values> lapack_syevd(const Call& call) { return eigen(call, lower_option(call), letter_option(call, "mode", 'V') != 'N'); }

/// The first of its options, "1,1,100,1e-6", says that the lower triangle is given.
std::vector<Values> tpu_eigh(const Call& call) {
  const std::string_view options = ir::attr_text(call.module(), call.instr, "backend_config").value_or("");
  return eigen(call, !options.starts_with("\"0") && !options.starts_with("0"), true);
}

}  // namespace replay::reference
