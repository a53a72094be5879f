// LAPACK's gesdd and gesvd as JAX calls them on the CPU, and the same of cuSOLVER and hipSOLVER: A = U·diag(s)·Vᴴ with the singular values
// s in descending order.
//
// By Hestenes' one-sided Jacobi rotations (Golub & Van Loan, Matrix Computations, §8.6): pairs of columns are turned until all are
// orthogonal; their lengths are the singular values, and V is the product of the turns. Signs (phases) of the vectors are open, in LAPACK
// too; here the first element of each column of U that is not tiny is positive. Operand 0, which LAPACK destroys, comes back unchanged.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "replay/reference/linear.h"

namespace replay::reference {
namespace {

using Column = std::vector<Complex>;
using Columns = std::vector<Column>;

double squared(const Column& x) {
  return std::accumulate(x.begin(), x.end(), 0.0, [](double sum, const Complex& v) { return sum + std::norm(v); });
}

Complex product(const Column& x, const Column& y) {
  Complex sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += std::conj(x[i]) * y[i];
  return sum;
}

/// x and y become (c·x − s·w̄·y, s·x + c·w̄·y).
void turn_pair(Column& x, Column& y, double c, double s, Complex w) {
  for (size_t i = 0; i < x.size(); ++i) {
    const Complex a = x[i], b = std::conj(w) * y[i];
    x[i] = c * a - s * b;
    y[i] = s * a + c * b;
  }
}

/// One turn for each pair of columns that are not orthogonal; whether there was one.
bool sweep_columns(Columns& a, Columns& v, double tiny) {
  bool turned = false;
  for (size_t p = 0; p + 1 < a.size(); ++p) {
    for (size_t q = p + 1; q < a.size(); ++q) {
      const double x = squared(a[p]), y = squared(a[q]);
      const Complex both = product(a[p], a[q]);
      const double size = std::abs(both);
      if (size <= 1e-15 * std::sqrt(x * y) || size <= tiny) continue;
      const double zeta = (y - x) / (2 * size), t = std::copysign(1.0, zeta) / (std::fabs(zeta) + std::hypot(1.0, zeta));
      const double c = 1 / std::hypot(1.0, t);
      turn_pair(a[p], a[q], c, t * c, both / size);
      turn_pair(v[p], v[q], c, t * c, both / size);
      turned = true;
    }
  }
  return turned;
}

/// More orthonormal columns of `rows` elements until there are `count`: unit vectors less their parts along those there are.
void complete(Columns& basis, size_t rows, size_t count) {
  for (size_t next = 0; basis.size() < count && next < rows; ++next) {
    Column x(rows);
    x[next] = 1;
    for (int again = 0; again < 2; ++again) {
      for (const Column& b : basis) {
        const Complex along = product(b, x);
        for (size_t i = 0; i < rows; ++i) x[i] -= along * b[i];
      }
    }
    const double length = std::sqrt(squared(x));
    if (length * length * static_cast<double>(rows) < 0.5) continue;  // of `rows` unit vectors, one always has more left
    for (Complex& value : x) value /= length;
    basis.push_back(std::move(x));
  }
}

struct Singular {
  Columns u, v;
  std::vector<double> values;
  bool settled = false;
};

Column scaled(const Column& x, Complex by) {
  Column out(x);
  for (Complex& value : out) value *= by;
  return out;
}

/// What turns a column so that its first element that is not tiny is real and positive.
Complex turn_to_positive(const Column& x) {
  const auto first = std::ranges::find_if(x, [](const Complex& v) { return std::abs(v) > 1e-12; });
  return first == x.end() ? 1 : std::conj(*first) / std::abs(*first);
}

/// Of columns that are at least as long as they are many: both sides have as many vectors as there are columns.
Singular decomposed(Columns a, size_t rows) {
  const size_t n = a.size();
  Columns v(n, Column(n));
  for (size_t i = 0; i < n; ++i) v[i][i] = 1;
  double size = 0;
  for (const Column& x : a) size += squared(x);
  Singular out;
  constexpr int kSweeps = 60;  // what settles does so in about ten
  for (int i = 0; i < kSweeps && !out.settled; ++i) out.settled = !sweep_columns(a, v, 1e-40 * size);
  out.settled &= std::isfinite(size);
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<double> length(n);
  std::ranges::transform(a, length.begin(), [](const Column& x) { return std::sqrt(squared(x)); });
  std::ranges::stable_sort(order, std::greater<>(), [&](size_t i) { return length[i]; });
  for (const size_t i : order) {
    out.values.push_back(length[i]);
    if (length[i] > 1e-150 && length[i] * length[i] > 1e-34 * size) out.u.push_back(scaled(a[i], 1 / length[i]));
  }
  complete(out.u, rows, n);
  for (size_t k = 0; k < n; ++k) {
    const Complex w = k < out.u.size() ? turn_to_positive(out.u[k]) : 1;
    if (k < out.u.size()) out.u[k] = scaled(out.u[k], w);
    out.v.push_back(scaled(v[order[k]], w));
  }
  return out;
}

/// U is m × (m or min(m, n)), V n × (n or min(m, n)), as the text declares them.
struct Sides {
  size_t m, n, u_columns, v_columns;
};

enum class Form : uint8_t { columns, adjoint };  ///< of V: V itself, or Vᴴ

void store(const Columns& from, size_t rows, size_t columns, Form form, size_t b, Values& to) {
  for (size_t k = 0; k < std::min(columns, from.size()); ++k) {
    for (size_t i = 0; i < rows; ++i) {
      if (form == Form::columns) set_complex(to, (b * rows + i) * columns + k, from[k][i]);
      if (form == Form::adjoint) set_complex(to, (b * columns + k) * rows + i, std::conj(from[k][i]));
    }
  }
}

Singular of_matrix(const Values& a, size_t base, const Sides& sides) {
  const bool wide = sides.m < sides.n;  // then of Aᴴ, whose vectors change places
  const size_t rows = std::max(sides.m, sides.n), columns = std::min(sides.m, sides.n);
  Columns cells(columns, Column(rows));
  for (size_t i = 0; i < sides.m; ++i) {
    for (size_t j = 0; j < sides.n; ++j) {
      const Complex x = complex_at(a, base + i * sides.n + j);
      (wide ? cells[i][j] : cells[j][i]) = wide ? std::conj(x) : x;
    }
  }
  Singular s = decomposed(std::move(cells), rows);
  if (wide) std::swap(s.u, s.v);
  complete(s.u, sides.m, sides.u_columns);
  complete(s.v, sides.n, sides.v_columns);
  return s;
}

/// What is declared, if it fits the matrices; otherwise the call has failed.
std::optional<Sides> sides_of(const Call& call, const ir::Shape& u_shape, const ir::Shape& v_shape, Form v_form) {
  const ir::Shape& shape = call.operand_shape(0);
  const auto fail = [&](const char* why) { return call.fail(why), std::optional<Sides>(); };
  if (shape.rank() < 2 || kind_of(shape.type) == Kind::integer) return fail("takes matrices of floats");
  if (u_shape.rank() < 2 || v_shape.rank() < 2) return fail("makes matrices of vectors");
  const auto at = [](const ir::Shape& of, size_t from_end) { return static_cast<size_t>(of.dims[of.dims.size() - from_end]); };
  const bool adjoint = v_form == Form::adjoint;
  const Sides sides{at(shape, 2), at(shape, 1), at(u_shape, 1), at(v_shape, adjoint ? 2 : 1)};
  if (at(u_shape, 2) != sides.m || at(v_shape, adjoint ? 1 : 2) != sides.n || sides.u_columns > sides.m || sides.v_columns > sides.n)
    return fail("has vectors that do not fit its matrices");
  return sides;
}

/// Results: the matrices, the values, U and V in a form of its own (or V before U), info.
std::vector<Values> singular(const Call& call, bool wanted, Form v_form, bool v_first) {
  const ir::Shape &shape = call.operand_shape(0), &result = call.module().shape(call.instr);
  if (call.in.leaf_count(result) != 5) return call.fail("makes five results"), std::vector<Values>();
  const auto sides = sides_of(call, call.in.leaf_shape(result, v_first ? 3 : 2), call.in.leaf_shape(result, v_first ? 2 : 3), v_form);
  if (!sides) return {};
  const auto [m, n, u_columns, v_columns] = *sides;
  const size_t some = std::min(m, n);
  Values a = *call.whole(0);
  a.bound.clear();
  const size_t count = some == 0 ? 0 : size(a) / (m * n);
  Values values = zeros(ir::part_type(shape.type), count * some), info = zeros(ir::Type::s32, count);
  Values u = zeros(shape.type, count * m * u_columns), v = zeros(shape.type, count * v_columns * n);
  for (size_t b = 0; b < count; ++b) {
    const Singular s = of_matrix(a, b * m * n, *sides);
    info.integer[b] = s.settled ? 0 : 1;
    std::ranges::copy(s.values, values.re.begin() + static_cast<std::ptrdiff_t>(b * some));
    if (wanted) store(s.u, m, u_columns, Form::columns, b, u), store(s.v, n, v_columns, v_form, b, v);
  }
  for (Values* made : {&values, &u, &v}) stable_bound(call, *made, std::max(m, n));
  std::vector<Values> leaves;
  for (Values* leaf : {&a, &values, v_first ? &v : &u, v_first ? &u : &v, &info}) leaves.push_back(std::move(*leaf));
  return leaves;
}

bool wants_vectors(const Call& call) { return letter_option(call, "mode", 'S') != 'N' && true_option(call, "compute_uv", true); }

}  // namespace

std::vector<Values> lapack_gesdd(const Call& call) {
  return singular(call, wants_vectors(call), Form::adjoint, true_option(call, "transposed", false));
}

std::vector<Values> jacobi_svd(const Call& call) { return singular(call, wants_vectors(call), Form::columns, false); }

}  // namespace replay::reference
