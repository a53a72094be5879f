// Reducers on lanes; the common ones as loops.
#include "replay/reference/combiner.h"

#include <algorithm>
#include <cmath>

#include "replay/element.h"
#include "replay/reference/ops.h"

namespace replay::reference {
namespace {

constexpr size_t kLongRow = 64, kManyRows = 256;  ///< long rows of few accumulators are folded as a tree

/// An op that combine() knows for every kind it is used with.
bool plain(ir::Op op, Kind kind) {
  if (op == ir::Op::add || op == ir::Op::multiply) return true;
  if (op == ir::Op::maximum || op == ir::Op::minimum) return kind != Kind::complex;
  return (op == ir::Op::and_ || op == ir::Op::or_ || op == ir::Op::xor_) && kind == Kind::integer;
}

double magnitude_at(const Values& v, size_t i) { return v.im.empty() ? std::fabs(v.re[i]) : std::hypot(v.re[i], v.im[i]); }

Indices every_second(size_t rows, size_t row, size_t first, size_t count) {
  Indices out;
  out.reserve(rows * count);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t k = 0; k < count; ++k) out.push_back(static_cast<int64_t>(r * row + first + 2 * k));
  }
  return out;
}

}  // namespace

Combiner::Combiner(Interpreter& in, ir::CompId comp) : in_(in), comp_(comp), op_(ir::simple_reducer(in.module(), comp)) {}

void Combiner::start(const Values& acc) {
  if (!magnitude_.empty() || !in_.bounds() || kind_of(acc) == Kind::integer) return;
  magnitude_.resize(size(acc));
  terms_.resize(size(acc));
  for (size_t i = 0; i < size(acc); ++i) magnitude_[i] = magnitude_at(acc, i);
}

void Combiner::simple(Values& acc, size_t i, const Values& x, size_t j) {
  if (*op_ == ir::Op::add && acc.im.empty() && !acc.re.empty() && x.bound.empty() && x.unsure.empty())
    acc.re[i] += x.re[j];
  else
    reference::combine(*op_, acc, i, x, j);
  if (!magnitude_.empty()) {
    magnitude_[i] += magnitude_at(x, j);
    ++terms_[i];
  }
}

std::vector<Values> Combiner::lanes(std::vector<Values> a, std::vector<Values> b) {
  std::vector<Batch> arguments;
  arguments.reserve(a.size() + b.size());
  for (Values& v : a) arguments.push_back(share(std::move(v)));
  for (Values& v : b) arguments.push_back(share(std::move(v)));
  return in_.run_lanes(comp_, arguments);
}

void Combiner::combine(std::vector<Values>& acc, const Indices& lanes_of, const std::vector<Values>& x) {
  if (acc.size() == 1 && op_ && plain(*op_, kind_of(acc[0]))) {
    start(acc[0]);
    for (size_t i = 0; i < lanes_of.size(); ++i) simple(acc[0], static_cast<size_t>(lanes_of[i]), x[0], i);
    return;
  }
  std::vector<Values> current;
  current.reserve(acc.size());
  for (const Values& v : acc) current.push_back(take(v, lanes_of));
  const std::vector<Values> made = lanes(std::move(current), x);
  if (in_.failed() || made.size() != acc.size()) return in_.fail("a reducer returns another number of values than it takes");
  for (size_t k = 0; k < acc.size(); ++k) put(acc[k], lanes_of, made[k]);
}

std::vector<Values> Combiner::tree(std::vector<Values> x, size_t rows, size_t row) {
  while (row > 1 && !in_.failed()) {
    const size_t half = row / 2;
    const Indices even = every_second(rows, row, 0, half), odd = every_second(rows, row, 1, half);
    std::vector<Values> a, b;
    for (const Values& v : x) {
      a.push_back(take(v, even));
      b.push_back(take(v, odd));
    }
    std::vector<Values> made = lanes(std::move(a), std::move(b));
    if (made.size() != x.size()) return x;
    if (row % 2 == 1) {  // the last value of each row waits for the next round
      Indices order;
      for (size_t r = 0; r < rows; ++r) {
        for (size_t k = 0; k < half; ++k) order.push_back(static_cast<int64_t>(r * half + k));
        order.push_back(static_cast<int64_t>(rows * half + r));
      }
      for (size_t k = 0; k < x.size(); ++k) {
        append(made[k], take(x[k], every_second(rows, row, row - 1, 1)));
        made[k] = take(made[k], order);
      }
    }
    x = std::move(made);
    row = half + row % 2;
  }
  return x;
}

void Combiner::combine_rows(std::vector<Values>& acc, const std::vector<Values>& x, size_t row) {
  const size_t rows = acc.empty() ? 0 : size(acc[0]);
  if (acc.size() == 1 && op_ && plain(*op_, kind_of(acc[0]))) {
    start(acc[0]);
    for (size_t r = 0; r < rows; ++r) {
      for (size_t k = 0; k < row; ++k) simple(acc[0], r, x[0], r * row + k);
    }
    return;
  }
  Indices all(rows);
  for (size_t r = 0; r < rows; ++r) all[r] = static_cast<int64_t>(r);
  if (row > kLongRow && rows < kManyRows) return combine(acc, all, tree(x, rows, row));
  for (size_t k = 0; k < row && !in_.failed(); ++k) {
    Indices column(rows);
    for (size_t r = 0; r < rows; ++r) column[r] = static_cast<int64_t>(r * row + k);
    std::vector<Values> values;
    values.reserve(x.size());
    for (const Values& v : x) values.push_back(take(v, column));
    combine(acc, all, values);
  }
}

void Combiner::finish(std::vector<Values>& acc, Kept kept) const {
  if (magnitude_.empty() || !op_ || (*op_ != ir::Op::add && *op_ != ir::Op::multiply)) return;
  for (size_t i = 0; i < magnitude_.size(); ++i) {
    if (terms_[i] < 2) continue;
    const double scale = *op_ == ir::Op::add ? magnitude_[i] : magnitude_at(acc[0], i), terms = static_cast<double>(terms_[i]);
    double bound = 4 * std::sqrt(terms) * unit(acc[0].type) * scale;
    if (kept == Kept::rounded && ir::is_small_float(acc[0].type)) bound += (terms - 1) * ulp(acc[0].type, scale) / 2;
    set_bound(acc[0], i, bound_at(acc[0], i) + bound);
  }
}

}  // namespace replay::reference
