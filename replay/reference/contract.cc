// Products: dot, the gemm calls. One element is a sum of products over places of both operands; each operand is asked for as
// a whole where that is less than what the results need of it, else only at those places.
#include <algorithm>
#include <cmath>
#include <span>

#include "replay/element.h"
#include "replay/reference/contract.h"
#include "src/base/contains.h"

namespace replay::reference {
void add_product(Sum& sum, const Values& a, size_t i, const Values& b, size_t j) {
  ++sum.terms;
  sum.unsure = sum.unsure || unsure_at(a, i) || unsure_at(b, j);
  if (kind_of(a) == Kind::integer) {
    sum.integer = static_cast<int64_t>(static_cast<uint64_t>(sum.integer) +
                                       static_cast<uint64_t>(a.integer[i]) * static_cast<uint64_t>(b.integer[j]));
    return;
  }
  double x = std::fabs(a.re[i]), y = std::fabs(b.re[j]);
  if (!a.im.empty() || !b.im.empty()) {
    const double ai = a.im.empty() ? 0 : a.im[i], bi = b.im.empty() ? 0 : b.im[j];
    sum.re += a.re[i] * b.re[j] - ai * bi;
    sum.im += a.re[i] * bi + ai * b.re[j];
    x = std::hypot(x, ai), y = std::hypot(y, bi);
  } else {
    sum.re += a.re[i] * b.re[j];
  }
  sum.magnitude += x * y;
  sum.carried += x * bound_at(b, j) + y * bound_at(a, i);
}

void store_sum(const Call& call, Values& out, size_t i, const Sum& sum) {
  if (!out.integer.empty()) out.integer[i] = wrap(out.type, sum.integer);
  if (!out.re.empty()) out.re[i] = sum.re;
  if (!out.im.empty()) out.im[i] = sum.im;
  if (sum.unsure) set_unsure(out, i);
  if (!call.in.bounds() || out.re.empty()) return;
  const double order = sum.terms < 2 ? 0 : 4 * std::sqrt(static_cast<double>(sum.terms)) * unit(out.type) * sum.magnitude;
  set_bound(out, i, order + sum.carried);
}

Side side_of(const ir::Shape& shape, const Indices& batch, const Indices& contracting) {
  const Indices strides = row_major(shape.dims);
  Side side;
  for (const int64_t d : batch) side.batch.push_back(strides[static_cast<size_t>(d)]);
  for (const int64_t d : contracting) side.contracted.push_back(strides[static_cast<size_t>(d)]);
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const bool used = std::find(batch.begin(), batch.end(), d) != batch.end() ||
                      std::find(contracting.begin(), contracting.end(), d) != contracting.end();
    if (!used) side.free.push_back(strides[static_cast<size_t>(d)]);
  }
  return side;
}

ir::Type sum_type(const Call& call) {
  const bool floats = kind_of(call.operand_shape(0).type) != Kind::integer || kind_of(call.operand_shape(1).type) != Kind::integer;
  return floats && kind_of(call.shape.type) == Kind::integer ? ir::Type::f64 : call.shape.type;
}

Batch summable(const Call& call, const Batch& values) {
  if (kind_of(*values) != Kind::integer || kind_of(sum_type(call)) == Kind::integer) return values;
  Values out = zeros(ir::Type::f64, size(*values));
  for (size_t i = 0; i < size(out); ++i) {
    out.re[i] = values->type == ir::Type::u64 ? static_cast<double>(static_cast<uint64_t>(values->integer[i]))
                                              : static_cast<double>(values->integer[i]);
  }
  out.unsure = values->unsure;
  return share(std::move(out));
}

void add_row(Sum& sum, const double* a, int64_t step_a, const double* b, int64_t step_b, int64_t n) {
  double total = 0, magnitude = 0;
  for (int64_t k = 0; k < n; ++k) {
    const double product = a[k * step_a] * b[k * step_b];
    total += product;
    magnitude += std::fabs(product);
  }
  sum.re += total;
  sum.magnitude += magnitude;
  sum.terms += n;
}

bool plain(const Values& v) { return kind_of(v) == Kind::real && v.bound.empty() && v.unsure.empty(); }

namespace {

bool valid(const ir::DotDims& dims, const ir::Shape& a, const ir::Shape& b) {
  const auto in = [](const Indices& list, const ir::Shape& shape) {
    return std::all_of(list.begin(), list.end(), [&](int64_t d) { return d >= 0 && d < shape.rank(); });
  };
  if (!in(dims.lhs_batch, a) || !in(dims.lhs_contracting, a) || !in(dims.rhs_batch, b) || !in(dims.rhs_contracting, b)) return false;
  if (dims.lhs_batch.size() != dims.rhs_batch.size() || dims.lhs_contracting.size() != dims.rhs_contracting.size()) return false;
  const auto fit = [&](const Indices& of_a, const Indices& of_b) {
    return std::ranges::equal(
        of_a, of_b, {}, [&](int64_t d) { return a.dims[static_cast<size_t>(d)]; },
        [&](int64_t d) { return b.dims[static_cast<size_t>(d)]; });
  };
  return fit(dims.lhs_batch, dims.rhs_batch) && fit(dims.lhs_contracting, dims.rhs_contracting);
}

/// Operand k, as a whole, or (too large for that) at the places of the results' sums.
struct Source {
  Batch values;
  bool whole = true;
};
Source source(const Call& call, size_t k, const Indices& bases, const Indices& inner) {
  const int64_t elements = ir::elements(call.operand_shape(k)), needed = static_cast<int64_t>(bases.size() * inner.size());
  // A whole array costs as much as it has elements: worth it once as many were asked for, or when all results are wanted anyway.
  int64_t& asked = call.frame.asked[{call.id, -1 - static_cast<int>(k)}];
  asked += needed;
  if (elements <= (1 << 27) && (!call.in.bounds() || elements <= std::max<int64_t>(asked, 1 << 16)))
    return {summable(call, call.whole(k)), true};
  Indices places;
  places.reserve(static_cast<size_t>(needed));
  for (const int64_t base : bases) {
    for (const int64_t place : inner) places.push_back(base + place);
  }
  return {summable(call, call.operand(k, std::move(places))), false};
}

/// Step of `inner` if it is an arithmetic sequence, else 0.
int64_t step_of(const Indices& inner) {
  if (inner.size() < 2) return 1;
  const int64_t step = inner[1] - inner[0];
  for (size_t k = 2; k < inner.size(); ++k) {
    if (inner[k] - inner[k - 1] != step) return 0;
  }
  return step;
}

/// How many results from i on share a row of A and follow each other in B: then each element of A is multiplied into all of them at once.
size_t run_from(size_t i, const Indices& a_bases, const Indices& b_bases) {
  size_t end = i + 1;
  while (end < a_bases.size() && a_bases[end] == a_bases[i] && b_bases[end] == b_bases[end - 1] + 1) ++end;
  return end - i;
}

/// out[r][j] += Σ_k a[a_bases[r] + a_inner[k]] · b[b_inner[k] + j]: each row of B is read once for all rows of A.
void add_runs(double* out, size_t count, const double* a, std::span<const int64_t> a_bases, const Indices& a_inner, const double* b,
              const Indices& b_inner) {
  for (size_t k = 0; k < a_inner.size(); ++k) {
    const double* row = b + b_inner[k];
    for (size_t r = 0; r < a_bases.size(); ++r) {
      const double x = a[a_bases[r] + a_inner[k]];
      double* to = out + r * count;
#pragma omp simd
      for (size_t j = 0; j < count; ++j) to[j] += x * row[j];
    }
  }
}

/// The rows of A from result i on whose `run` results meet the same places of B.
Indices rows_from(size_t i, size_t run, const Indices& a_bases, const Indices& b_bases) {
  Indices rows{a_bases[i]};
  for (size_t next = i + run; next + run <= a_bases.size() && b_bases[next] == b_bases[i] && run_from(next, a_bases, b_bases) == run;
       next += run) {
    rows.push_back(a_bases[next]);
  }
  return rows;
}

/// Real products of whole operands without bounds: what large dots spend their time in.
void quick_products(Values& out, const Values& a, const Indices& a_bases, const Indices& a_inner, const Values& b, const Indices& b_bases,
                    const Indices& b_inner) {
  constexpr size_t kRun = 8;
  const int64_t a_step = step_of(a_inner), b_step = step_of(b_inner);
  for (size_t i = 0; i < a_bases.size();) {
    const size_t run = run_from(i, a_bases, b_bases);
    const double *x = a.re.data() + a_bases[i], *y = b.re.data() + b_bases[i];
    if (run >= kRun || a_step == 0 || b_step == 0) {
      const Indices rows = rows_from(i, run, a_bases, b_bases);
      add_runs(out.re.data() + i, run, a.re.data(), rows, a_inner, y, b_inner);
      i += run * rows.size();
      continue;
    }
    double total = 0;
    const double *p = x + (a_inner.empty() ? 0 : a_inner[0]), *q = y + (b_inner.empty() ? 0 : b_inner[0]);
    const auto n = static_cast<int64_t>(a_inner.size());
#pragma omp simd reduction(+ : total)
    for (int64_t k = 0; k < n; ++k) total += p[k * a_step] * q[k * b_step];
    out.re[i++] = total;
  }
}

/// Sums over `inner` places of both sides for each pair of bases.
Values products(const Call& call, const Indices& a_bases, const Indices& a_inner, const Indices& b_bases, const Indices& b_inner) {
  Values out = zeros(sum_type(call), a_bases.size());
  const Source a = source(call, 0, a_bases, a_inner), b = source(call, 1, b_bases, b_inner);
  if (call.in.failed()) return out;
  const bool quick = plain(*a.values) && plain(*b.values);
  if (quick && a.whole && b.whole && !call.in.bounds() && kind_of(out) == Kind::real) {
    quick_products(out, *a.values, a_bases, a_inner, *b.values, b_bases, b_inner);
    return out;
  }
  const int64_t a_step = a.whole ? step_of(a_inner) : 1, b_step = b.whole ? step_of(b_inner) : 1;
  const size_t n = a_inner.size();
  for (size_t i = 0; i < a_bases.size(); ++i) {
    Sum sum;
    const auto at = [&](const Source& side, const Indices& bases, const Indices& inner, size_t k) {
      return side.whole ? static_cast<size_t>(bases[i] + inner[k]) : i * n + k;
    };
    if (quick && a_step != 0 && b_step != 0 && n > 0) {
      add_row(sum, a.values->re.data() + at(a, a_bases, a_inner, 0), a_step, b.values->re.data() + at(b, b_bases, b_inner, 0), b_step,
              static_cast<int64_t>(n));
    } else {
      for (size_t k = 0; k < n; ++k) add_product(sum, *a.values, at(a, a_bases, a_inner, k), *b.values, at(b, b_bases, b_inner, k));
    }
    store_sum(call, out, i, sum);
  }
  return out;
}

/// Batch dimensions, those of A alone, those of B alone.
Indices result_dims(const ir::DotDims& dims, const ir::Shape& a, const ir::Shape& b) {
  Indices out;
  for (const int64_t d : dims.lhs_batch) out.push_back(a.dims[static_cast<size_t>(d)]);
  const auto add_free = [&](const ir::Shape& shape, const Indices& batch, const Indices& contracting) {
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (!base::contains(batch, d) && !base::contains(contracting, d)) out.push_back(shape.dims[static_cast<size_t>(d)]);
    }
  };
  add_free(a, dims.lhs_batch, dims.lhs_contracting);
  add_free(b, dims.rhs_batch, dims.rhs_contracting);
  return out;
}

Values dot_values(const Call& call, const ir::DotDims& dims) {
  const ir::Shape &a = call.operand_shape(0), &b = call.operand_shape(1);
  if (!valid(dims, a, b)) return *call.fail("has dimension numbers that do not fit its operands");
  const Side left = side_of(a, dims.lhs_batch, dims.lhs_contracting), right = side_of(b, dims.rhs_batch, dims.rhs_contracting);
  if (result_dims(dims, a, b) != call.shape.dims) return *call.fail("has a result of other dimensions than its dimension numbers say");
  const size_t rank = call.shape.dims.size();
  Indices a_strides = left.batch, b_strides = right.batch;
  a_strides.insert(a_strides.end(), left.free.begin(), left.free.end());
  a_strides.resize(rank, 0);
  b_strides.resize(rank - right.free.size(), 0);
  b_strides.insert(b_strides.end(), right.free.begin(), right.free.end());
  Indices sizes, list;
  int64_t count = 1;
  for (const int64_t d : dims.lhs_contracting) {
    sizes.push_back(a.dims[static_cast<size_t>(d)]);
    count *= sizes.back();
  }
  for (int64_t k = 0; k < count; ++k) list.push_back(k);
  return products(call, affine(call.shape.dims, a_strides, 0, *call.at), affine(sizes, left.contracted, 0, list),
                  affine(call.shape.dims, b_strides, 0, *call.at), affine(sizes, right.contracted, 0, list));
}

}  // namespace

Batch dot(const Call& call) {
  if (call.leaf > 0) return share(zeros(call.shape.type, call.count()));  // workspace of a gemm call
  const auto config = call.instr.op == ir::Op::dot ? ir::GemmConfig{1, 0, ir::attr_dot_dims(call.module(), call.instr)}
                                                   : ir::gemm_config(call.module(), call.instr);
  if (!config.ok()) return call.fail(config.error().message);
  if (config->epilogue != "DEFAULT" && !config->epilogue.empty())
    return call.fail("has the epilogue " + config->epilogue + ", which is not supported");
  Values out = dot_values(call, config->dims);
  if (config->alpha != 1) {
    for (double& v : out.re) v *= config->alpha;
    for (double& v : out.im) v *= config->alpha;
    for (double& v : out.bound) v *= std::fabs(config->alpha);
  }
  if (out.type != call.shape.type) return share(converted(std::move(out), call.shape.type));
  if (config->beta == 0 || call.instr.operands.size() < 3) return share(std::move(out));
  if (call.operand_shape(2).dims != call.shape.dims) return call.fail("adds an array of other dimensions than its result's");
  const Batch c = call.operand(2);
  for (size_t i = 0; i < out.re.size() && i < c->re.size(); ++i) {
    out.re[i] += config->beta * c->re[i];
    if (!out.im.empty() && !c->im.empty()) out.im[i] += config->beta * c->im[i];
    if (call.in.bounds())
      set_bound(out, i, bound_at(out, i) + std::fabs(config->beta) * (bound_at(*c, i) + 2 * unit(out.type) * std::fabs(c->re[i])));
  }
  spread_unsure(out, *c);
  return share(std::move(out));
}

}  // namespace replay::reference
