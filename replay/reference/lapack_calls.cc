// LAPACK's custom calls, as JAX makes them on the CPU: potrf, getrf, geqrf, orgqr (ungqr), trsm; and the same of cuSOLVER, hipSOLVER and of
// XLA for TPU. The algorithms are LAPACK's unblocked ones, so that signs, pivots and what stays in the other triangle are the same.
// Matrices are logical; their columns may stand first in memory.
//
// Options are letters in backend_config, as numbers: {uplo = 76 : ui8} is 'L'. `info` is 0, or one more than the column where it ended.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "replay/reference/linear.h"

namespace replay::reference {

char letter_option(const Call& call, std::string_view key, char otherwise) {
  const std::string_view text = ir::attr_text(call.module(), call.instr, "backend_config").value_or("");
  const size_t at = text.find(key), digits = at == std::string_view::npos ? at : text.find_first_of("0123456789", at + key.size());
  if (digits == std::string_view::npos) return otherwise;
  return static_cast<char>(std::strtol(std::string(text.substr(digits, 4)).c_str(), nullptr, 10));
}

bool true_option(const Call& call, std::string_view key, bool otherwise) {
  const std::string_view text = ir::attr_text(call.module(), call.instr, "backend_config").value_or("");
  const size_t at = text.find(key);
  return at == std::string_view::npos ? otherwise : text.substr(at + key.size()).starts_with(" = true");
}

bool lower_option(const Call& call) { return true_option(call, "lower", letter_option(call, "uplo", 'L') != 'U'); }

namespace {

/// Batches of m × n matrices in the values of operand 0, which a call overwrites.
struct Matrices {
  Values values;
  size_t m = 0, n = 0, count = 0;

  size_t place(size_t batch, size_t row, size_t column) const { return (batch * m + row) * n + column; }
  Complex at(size_t batch, size_t row, size_t column) const { return complex_at(values, place(batch, row, column)); }
  void set(size_t batch, size_t row, size_t column, Complex x) { set_complex(values, place(batch, row, column), x); }
};

/// Without matrices where operand 0 is none; then the call has failed.
Matrices matrices_of(const Call& call) {
  const ir::Shape& shape = call.operand_shape(0);
  Matrices a;
  if (shape.rank() < 2 || kind_of(shape.type) == Kind::integer) {
    (void)call.fail("takes matrices of floats");
    return a;
  }
  a.m = static_cast<size_t>(shape.dims[shape.dims.size() - 2]), a.n = static_cast<size_t>(shape.dims.back());
  a.values = *call.whole(0);
  a.values.bound.clear();
  a.count = a.m * a.n == 0 ? 0 : size(a.values) / (a.m * a.n);
  return a;
}

std::vector<Values> leaves(const Call& call, Matrices a, std::vector<Values> more) {
  stable_bound(call, a.values, std::max(a.m, a.n));
  std::vector<Values> out;
  out.push_back(std::move(a.values));
  for (Values& values : more) out.push_back(std::move(values));
  return out;
}

}  // namespace

std::vector<Values> lapack_potrf(const Call& call) {
  Matrices a = matrices_of(call);
  const bool lower = lower_option(call);
  Values info = zeros(ir::Type::s32, a.count);
  if (a.m != a.n) return call.fail("takes square matrices"), std::vector<Values>();
  const auto get = [&](size_t b, size_t row, size_t column) { return lower ? a.at(b, row, column) : std::conj(a.at(b, column, row)); };
  const auto put = [&](size_t b, size_t row, size_t column, Complex x) {
    if (lower) return a.set(b, row, column, x);
    a.set(b, column, row, std::conj(x));
  };
  for (size_t b = 0; b < a.count; ++b) {
    for (size_t j = 0; j < a.n && info.integer[b] == 0; ++j) {
      double pivot = get(b, j, j).real();
      for (size_t k = 0; k < j; ++k) pivot -= std::norm(get(b, j, k));
      if (!(pivot > 0)) {
        info.integer[b] = static_cast<int64_t>(j) + 1;
        break;
      }
      put(b, j, j, std::sqrt(pivot));
      for (size_t i = j + 1; i < a.n; ++i) {
        Complex sum = get(b, i, j);
        for (size_t k = 0; k < j; ++k) sum -= get(b, i, k) * std::conj(get(b, j, k));
        put(b, i, j, sum / std::sqrt(pivot));
      }
    }
  }
  return leaves(call, std::move(a), {std::move(info)});
}

std::vector<Values> lapack_getrf(const Call& call) {
  Matrices a = matrices_of(call);
  const size_t steps = std::min(a.m, a.n);
  Values pivots = zeros(ir::Type::s32, a.count * steps), info = zeros(ir::Type::s32, a.count);
  const auto size_of = [&](size_t b, size_t i, size_t j) { return std::fabs(a.at(b, i, j).real()) + std::fabs(a.at(b, i, j).imag()); };
  for (size_t b = 0; b < a.count; ++b) {
    for (size_t j = 0; j < steps; ++j) {
      size_t best = j;
      for (size_t i = j + 1; i < a.m; ++i) best = size_of(b, i, j) > size_of(b, best, j) ? i : best;
      pivots.integer[b * steps + j] = static_cast<int64_t>(best) + 1;
      if (a.at(b, best, j) == 0.0) {
        if (info.integer[b] == 0) info.integer[b] = static_cast<int64_t>(j) + 1;
        continue;
      }
      for (size_t k = 0; best != j && k < a.n; ++k) {
        const Complex x = a.at(b, j, k);
        a.set(b, j, k, a.at(b, best, k));
        a.set(b, best, k, x);
      }
      for (size_t i = j + 1; i < a.m; ++i) {
        const Complex factor = a.at(b, i, j) / a.at(b, j, j);
        a.set(b, i, j, factor);
        for (size_t k = j + 1; k < a.n; ++k) a.set(b, i, k, a.at(b, i, k) - factor * a.at(b, j, k));
      }
    }
  }
  return leaves(call, std::move(a), {std::move(pivots), std::move(info)});
}

namespace {

/// Column `column` −= v·τ·(vᴴ·column) for v = (1, a[j+1…, j]): the reflection H = I − τ·v·vᴴ.
void reflect(Matrices& a, size_t b, size_t j, Complex tau, size_t column) {
  Complex sum = a.at(b, j, column);
  for (size_t i = j + 1; i < a.m; ++i) sum += std::conj(a.at(b, i, j)) * a.at(b, i, column);
  sum *= tau;
  a.set(b, j, column, a.at(b, j, column) - sum);
  for (size_t i = j + 1; i < a.m; ++i) a.set(b, i, column, a.at(b, i, column) - a.at(b, i, j) * sum);
}

}  // namespace

std::vector<Values> lapack_geqrf(const Call& call) {
  Matrices a = matrices_of(call);
  const size_t steps = std::min(a.m, a.n);
  Values taus = zeros(call.operand_shape(0).type, a.count * steps);
  for (size_t b = 0; b < a.count; ++b) {
    for (size_t j = 0; j < steps; ++j) {
      double rest = 0;
      for (size_t i = j + 1; i < a.m; ++i) rest += std::norm(a.at(b, i, j));
      const Complex alpha = a.at(b, j, j);
      if (rest == 0 && alpha.imag() == 0) continue;  // nothing to annihilate: τ = 0
      const double beta = -std::copysign(std::sqrt(std::norm(alpha) + rest), alpha.real());
      const Complex tau((beta - alpha.real()) / beta, -alpha.imag() / beta);
      set_complex(taus, b * steps + j, tau);
      for (size_t i = j + 1; i < a.m; ++i) a.set(b, i, j, a.at(b, i, j) / (alpha - beta));
      for (size_t k = j + 1; k < a.n; ++k) reflect(a, b, j, std::conj(tau), k);
      a.set(b, j, j, beta);
    }
  }
  return leaves(call, std::move(a), {std::move(taus)});
}

std::vector<Values> lapack_orgqr(const Call& call) {
  Matrices a = matrices_of(call);
  if (call.operand_shape(1).type != call.operand_shape(0).type)
    return call.fail("takes reflections of its matrices' type"), std::vector<Values>();
  const Values taus = *call.whole(1);
  const size_t steps = a.count == 0 ? 0 : size(taus) / a.count;
  if (steps > std::min(a.m, a.n)) return call.fail("has more reflections than columns"), std::vector<Values>();
  Matrices q = a;
  for (size_t b = 0; b < a.count; ++b) {
    for (size_t i = 0; i < a.m; ++i) {
      for (size_t k = 0; k < a.n; ++k) q.set(b, i, k, i == k ? 1 : 0);
    }
    // Q = H₀·H₁·…: the last reflection first. Each reads its vector from `a` and changes the columns of `q`.
    for (size_t j = steps; j-- > 0;) {
      const Complex tau = complex_at(taus, b * steps + j);
      for (size_t column = 0; column < a.n; ++column) {
        Complex sum = q.at(b, j, column);
        for (size_t i = j + 1; i < a.m; ++i) sum += std::conj(a.at(b, i, j)) * q.at(b, i, column);
        sum *= tau;
        q.set(b, j, column, q.at(b, j, column) - sum);
        for (size_t i = j + 1; i < a.m; ++i) q.set(b, i, column, q.at(b, i, column) - a.at(b, i, j) * sum);
      }
    }
  }
  return leaves(call, std::move(q), {});
}

/// What rows are where after the exchanges of each line of pivots, counted from 0: of as many rows as `permutation` has in a line.
Values rows_after(const Values& pivots, size_t steps, size_t rows, size_t count) {
  Values permutation = zeros(ir::Type::s32, count * rows);
  for (size_t b = 0; b < count; ++b) {
    const auto line = permutation.integer.begin() + static_cast<std::ptrdiff_t>(b * rows);
    for (size_t i = 0; i < rows; ++i) line[static_cast<std::ptrdiff_t>(i)] = static_cast<int64_t>(i);
    for (size_t i = 0; i < std::min(steps, rows); ++i) {
      const int64_t other = pivots.integer[b * steps + i];
      if (other >= 0 && other < static_cast<int64_t>(rows)) std::swap(line[static_cast<std::ptrdiff_t>(i)], line[other]);
    }
  }
  return permutation;
}

std::vector<Values> pivots_to_permutation(const Call& call) {
  const ir::Shape& shape = call.operand_shape(0);
  if (kind_of(shape.type) != Kind::integer || shape.dims.empty() || call.shape.dims.size() != shape.dims.size())
    return call.fail("takes lines of pivots"), std::vector<Values>();
  const auto steps = static_cast<size_t>(shape.dims.back()), rows = static_cast<size_t>(call.shape.dims.back());
  if (steps > rows) return call.fail("has more pivots than rows"), std::vector<Values>();
  const Batch pivots = call.whole(0);
  std::vector<Values> leaves;
  leaves.push_back(rows_after(*pivots, steps, rows, steps == 0 ? 0 : size(*pivots) / steps));
  return leaves;
}

/// The factors, the pivots counted from 0, and the rows after all exchanges.
std::vector<Values> tpu_lu(const Call& call) {
  std::vector<Values> leaves = lapack_getrf(call);
  if (call.in.failed() || leaves.size() != 3) return leaves;
  const ir::Shape& shape = call.operand_shape(0);
  const auto rows = static_cast<size_t>(shape.dims[shape.dims.size() - 2]);
  for (int64_t& pivot : leaves[1].integer) --pivot;
  const size_t count = size(leaves[2]);
  leaves[2] = rows_after(leaves[1], count == 0 ? 0 : size(leaves[1]) / count, rows, count);
  return leaves;
}

std::vector<Values> lapack_trsm(const Call& call) {
  const char transposed = letter_option(call, "trans_x", 'N');
  return solved(call, {letter_option(call, "side", 'L') != 'R', letter_option(call, "uplo", 'L') != 'U',
                       letter_option(call, "diag", 'N') == 'U', transposed != 'N', transposed == 'C'});
}

}  // namespace replay::reference
