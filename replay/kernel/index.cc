// Sums of terms. Division is where sums end: it splits a sum into what the divisor divides and a rest; the rest must lie in [0, divisor)
// for the division to be exact. Where it does not, a loop variable may straddle the divisor (wish: split it), or nothing helps and the
// quotient becomes an opaque term.
#include "replay/kernel/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace kernel {
namespace {

int64_t floor_div(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }
int64_t floor_mod(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }

bool within(Range range, int64_t divisor) { return range.low >= 0 && range.high < divisor; }

/// The greatest common divisor of the divisor and all coefficients.
int64_t common_factor(const Index& rest, int64_t divisor) {
  int64_t factor = divisor;
  for (const auto& [term, c] : rest.terms) factor = std::gcd(factor, c);
  return factor;
}

}  // namespace

Index operator+(const Index& a, const Index& b) {
  Index sum;
  sum.constant = a.constant + b.constant;
  auto i = a.terms.begin(), j = b.terms.begin();
  while (i != a.terms.end() || j != b.terms.end()) {
    if (j == b.terms.end() || (i != a.terms.end() && i->first < j->first)) {
      sum.terms.push_back(*i++);
    } else if (i == a.terms.end() || j->first < i->first) {
      sum.terms.push_back(*j++);
    } else {
      if (i->second + j->second != 0) sum.terms.emplace_back(i->first, i->second + j->second);
      ++i, ++j;
    }
  }
  return sum;
}

Index operator+(Index a, int64_t b) {
  a.constant += b;
  return a;
}

Index operator*(Index a, int64_t factor) {
  if (factor == 0) return {};
  a.constant *= factor;
  for (auto& [term, c] : a.terms) c *= factor;
  return a;
}

Index operator-(const Index& a, const Index& b) { return a + b * -1; }

int64_t coefficient(const Index& index, TermId term) {
  for (const auto& [t, c] : index.terms)
    if (t == term) return c;
  return 0;
}

TermId Terms::variable(int64_t low, int64_t high) {
  Term term;
  term.range = {low, std::max(low, high)};
  terms_.push_back(term);
  return static_cast<TermId>(terms_.size()) - 1;
}

Index Terms::value(NodeId node, Range range) {
  for (size_t i = 0; i < terms_.size(); ++i)
    if (terms_[i].kind == Term::Kind::value && terms_[i].node == node) return {0, {{static_cast<TermId>(i), 1}}};
  Term term;
  term.kind = Term::Kind::value;
  term.range = range;
  term.node = node;
  terms_.push_back(term);
  return {0, {{static_cast<TermId>(terms_.size()) - 1, 1}}};
}

TermId Terms::term(Term::Kind kind, const Index& base, int64_t divisor, Range range) {
  for (size_t i = 0; i < terms_.size(); ++i)
    if (terms_[i].kind == kind && terms_[i].divisor == divisor && terms_[i].base == base) return static_cast<TermId>(i);
  Term term;
  term.kind = kind;
  term.base = base;
  term.divisor = divisor;
  term.range = range;
  terms_.push_back(term);
  return static_cast<TermId>(terms_.size()) - 1;
}

Range Terms::range(const Index& index) const {
  Range range{index.constant, index.constant};
  for (const auto& [t, c] : index.terms) {
    const Range& r = (*this)[t].range;
    range.low += c > 0 ? c * r.low : c * r.high;
    range.high += c > 0 ? c * r.high : c * r.low;
  }
  return range;
}

Terms::Divided Terms::divide(const Index& index, int64_t divisor) {
  if (divisor == 1) return {index, {}};
  Index whole, rest;
  whole.constant = floor_div(index.constant, divisor);
  rest.constant = floor_mod(index.constant, divisor);
  for (const auto& [t, c] : index.terms) {
    if (c % divisor == 0) {
      whole.terms.emplace_back(t, c / divisor);
    } else {
      rest.terms.emplace_back(t, c);
    }
  }
  const Range bounds = range(rest);
  if (within(bounds, divisor)) return {whole, rest};
  for (const auto& [t, c] : rest.terms) {
    const Term& term = (*this)[t];
    if (term.kind != Term::Kind::variable || term.range.low != 0 || c <= 0 || divisor % c != 0) continue;
    const int64_t factor = divisor / c, extent = term.range.high + 1;
    if (!wish && extent > factor && extent % factor == 0) wish = Wish{t, factor};
  }
  // floor((g·x + c) / (g·d)) = floor(x / d) for 0 ≤ c < g: smaller numbers, and equal terms meet.
  const int64_t g = common_factor(rest, divisor), low_part = floor_mod(rest.constant, g);
  Index x;
  x.constant = (rest.constant - low_part) / g;
  for (const auto& [t, c] : rest.terms) x.terms.emplace_back(t, c / g);
  const int64_t d = divisor / g;
  if (d == 1) return {whole + x, Index{low_part, {}}};
  const Range r = range(x);
  const TermId q = term(Term::Kind::quotient, x, d, {floor_div(r.low, d), floor_div(r.high, d)});
  const TermId m = term(Term::Kind::remainder, x, d, {0, d - 1});
  return {whole + Index{0, {{q, 1}}}, Index{low_part, {{m, g}}}};
}

Index Terms::normal(const Index& index) const {
  for (const auto& [m, c] : index.terms) {
    const Term& rest = (*this)[m];
    if (rest.kind != Term::Kind::remainder) continue;
    for (const auto& [q, k] : index.terms) {
      const Term& quotient = (*this)[q];
      if (quotient.kind != Term::Kind::quotient || quotient.divisor != rest.divisor || quotient.base != rest.base) continue;
      if (k != c * rest.divisor) continue;
      return normal(index - Index{0, {{m, c}}} - Index{0, {{q, k}}} + rest.base * c);
    }
  }
  return index;
}

std::string print(const Terms& terms, const Index& index) {
  std::string out;
  for (const auto& [t, c] : index.terms) {
    const Term& term = terms[t];
    std::string text = fmt::format("v{}", t);
    if (term.kind == Term::Kind::value) text = fmt::format("[n{}]", term.node);
    if (term.kind == Term::Kind::quotient) text = fmt::format("({})/{}", print(terms, term.base), term.divisor);
    if (term.kind == Term::Kind::remainder) text = fmt::format("({})%{}", print(terms, term.base), term.divisor);
    out += fmt::format("{}{}{}", out.empty() ? "" : " + ", c == 1 ? "" : fmt::format("{}·", c), text);
  }
  if (index.constant != 0 || out.empty()) out += fmt::format("{}{}", out.empty() ? "" : " + ", index.constant);
  return out;
}

}  // namespace kernel
