// Products: dot, the gemm calls, convolution. One element is a sum of products over places of both operands; each operand is asked for as
// a whole where that is less than what the results need of it, else only at those places.
#include <algorithm>
#include <cmath>
#include <optional>

#include "replay/element.h"
#include "replay/reference/contract.h"

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

namespace {

/// Small floats, all the same: the loop that large products spend their time in.
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

bool valid(const ir::DotDims& dims, const ir::Shape& a, const ir::Shape& b) {
  const auto in = [](const Indices& list, const ir::Shape& shape) {
    return std::all_of(list.begin(), list.end(), [&](int64_t d) { return d >= 0 && d < shape.rank(); });
  };
  if (!in(dims.lhs_batch, a) || !in(dims.lhs_contracting, a) || !in(dims.rhs_batch, b) || !in(dims.rhs_contracting, b)) return false;
  if (dims.lhs_batch.size() != dims.rhs_batch.size() || dims.lhs_contracting.size() != dims.rhs_contracting.size()) return false;
  for (size_t k = 0; k < dims.lhs_contracting.size(); ++k) {
    if (a.dims[static_cast<size_t>(dims.lhs_contracting[k])] != b.dims[static_cast<size_t>(dims.rhs_contracting[k])]) return false;
  }
  return true;
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

bool plain(const Values& v) { return kind_of(v) == Kind::real && v.bound.empty() && v.unsure.empty(); }

/// How many results from i on share a row of A and follow each other in B: then each element of A is multiplied into all of them at once.
size_t run_from(size_t i, const Indices& a_bases, const Indices& b_bases) {
  size_t end = i + 1;
  while (end < a_bases.size() && a_bases[end] == a_bases[i] && b_bases[end] == b_bases[end - 1] + 1) ++end;
  return end - i;
}

/// out[j] += Σ_k a[a_inner[k]] · b[b_inner[k] + j]
void add_run(double* out, size_t count, const double* a, const Indices& a_inner, const double* b, const Indices& b_inner) {
  for (size_t k = 0; k < a_inner.size(); ++k) {
    const double x = a[a_inner[k]];
    const double* row = b + b_inner[k];
#pragma omp simd
    for (size_t j = 0; j < count; ++j) out[j] += x * row[j];
  }
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
      add_run(out.re.data() + i, run, x, a_inner, y, b_inner);
      i += run;
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

Values dot_values(const Call& call, const ir::DotDims& dims) {
  const ir::Shape &a = call.operand_shape(0), &b = call.operand_shape(1);
  if (!valid(dims, a, b)) return *call.fail("has dimension numbers that do not fit its operands");
  const Side left = side_of(a, dims.lhs_batch, dims.lhs_contracting), right = side_of(b, dims.rhs_batch, dims.rhs_contracting);
  const size_t batch = left.batch.size(), rank = batch + left.free.size() + right.free.size();
  if (rank != call.shape.dims.size()) return *call.fail("has a result of another rank than its dimension numbers say");
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

namespace {

/// A convolution's numbers, ready for one result after another.
struct Convolution {
  ir::ConvDims dims;
  std::vector<ir::WindowDim> window;
  Indices in, kernel;  ///< strides
  Indices window_sizes;
  int64_t window_places = 1, features = 1, groups = 1, batch_groups = 1;
};

base::Result<Convolution> convolution_of(const Call& call) {
  Convolution conv;
  ASSIGN_OR_RETURN(conv.dims, ir::attr_conv_dims(call.module(), call.instr));
  ASSIGN_OR_RETURN(conv.window, ir::attr_window(call.module(), call.instr));
  const ir::Shape &in = call.operand_shape(0), &kernel = call.operand_shape(1);
  const size_t spatial = conv.dims.in_spatial.size();
  if (conv.window.empty()) conv.window.resize(spatial);
  if (conv.window.size() != spatial || static_cast<size_t>(in.rank()) != spatial + 2 || in.rank() != kernel.rank() ||
      kernel.rank() != call.shape.rank()) {
    return base::Error{"has dimension labels, a window and operands of different ranks"};
  }
  conv.in = row_major(in.dims);
  conv.kernel = row_major(kernel.dims);
  conv.groups = std::max<int64_t>(1, ir::attr_int(call.module(), call.instr, "feature_group_count").value_or(1));
  conv.batch_groups = std::max<int64_t>(1, ir::attr_int(call.module(), call.instr, "batch_group_count").value_or(1));
  conv.features = kernel.dims[static_cast<size_t>(conv.dims.kernel_in)];
  for (size_t s = 0; s < spatial; ++s) {
    conv.window_sizes.push_back(conv.window[s].size);
    conv.window_places *= conv.window[s].size;
  }
  return conv;
}

/// Offset of the input under a place of the window, and of the kernel there; nothing in the padding.
std::optional<std::pair<int64_t, int64_t>> place_under(const Convolution& conv, const ir::Shape& from, const Indices& at,
                                                       const Indices& place) {
  int64_t in = 0, kernel = 0;
  for (size_t s = 0; s < place.size(); ++s) {
    const ir::WindowDim& dim = conv.window[s];
    const auto d = static_cast<size_t>(conv.dims.in_spatial[s]);
    const int64_t dilated = at[static_cast<size_t>(conv.dims.out_spatial[s])] * dim.stride + place[s] * dim.window_dilation - dim.pad_low;
    if (dilated < 0 || dilated % dim.base_dilation != 0 || dilated / dim.base_dilation >= from.dims[d]) return std::nullopt;
    in += dilated / dim.base_dilation * conv.in[d];
    kernel += (dim.reversed ? dim.size - 1 - place[s] : place[s]) * conv.kernel[static_cast<size_t>(conv.dims.kernel_spatial[s])];
  }
  return std::pair{in, kernel};
}

Sum convolve(const Convolution& conv, const Call& call, const Values& x, const Values& w, const Indices& at) {
  const int64_t out_feature = at[static_cast<size_t>(conv.dims.out_feature)], out_batch = at[static_cast<size_t>(conv.dims.out_batch)];
  const int64_t out_features = call.shape.dims[static_cast<size_t>(conv.dims.out_feature)],
                batches = call.shape.dims[static_cast<size_t>(conv.dims.out_batch)];
  const int64_t group = out_feature / std::max<int64_t>(1, out_features / conv.groups);
  const int64_t batch_group = out_feature / std::max<int64_t>(1, out_features / conv.batch_groups);
  const int64_t in_base = (batch_group * batches + out_batch) * conv.in[static_cast<size_t>(conv.dims.in_batch)] +
                          group * conv.features * conv.in[static_cast<size_t>(conv.dims.in_feature)] * (conv.groups > 1 ? 1 : 0);
  const int64_t kernel_base = out_feature * conv.kernel[static_cast<size_t>(conv.dims.kernel_out)];
  const int64_t in_step = conv.in[static_cast<size_t>(conv.dims.in_feature)],
                kernel_step = conv.kernel[static_cast<size_t>(conv.dims.kernel_in)];
  const bool quick = plain(x) && plain(w), simple = quick && !call.in.bounds();
  Sum sum;
  Walker places(conv.window_sizes);
  for (int64_t p = 0; p < conv.window_places; ++p) {
    const auto under = place_under(conv, call.operand_shape(0), at, places.move_to(p));
    if (!under) continue;
    const int64_t first = in_base + under->first, second = kernel_base + under->second;
    if (simple) {
      const double *p = x.re.data() + first, *q = w.re.data() + second;
      double total = 0;
#pragma omp simd reduction(+ : total)
      for (int64_t f = 0; f < conv.features; ++f) total += p[f * in_step] * q[f * kernel_step];
      sum.re += total;
    } else if (quick) {
      add_row(sum, x.re.data() + first, in_step, w.re.data() + second, kernel_step, conv.features);
    } else {
      for (int64_t f = 0; f < conv.features; ++f) {
        add_product(sum, x, static_cast<size_t>(first + f * in_step), w, static_cast<size_t>(second + f * kernel_step));
      }
    }
  }
  return sum;
}

}  // namespace

Batch convolution(const Call& call) {
  const auto conv = convolution_of(call);
  if (!conv.ok()) return call.fail(conv.error().message);
  const ir::Shape& in = call.operand_shape(0);
  const int64_t features = in.dims[static_cast<size_t>(conv->dims.in_feature)];
  const int64_t batches = call.shape.dims[static_cast<size_t>(conv->dims.out_batch)];
  if (conv->features * conv->groups != features || batches * conv->batch_groups != in.dims[static_cast<size_t>(conv->dims.in_batch)]) {
    return call.fail("has group counts that do not fit its operands");
  }
  if (ir::elements(in) > (1 << 28)) return call.fail("has an input that is too large for the reference");
  const Batch x = summable(call, call.whole(0)), w = summable(call, call.whole(1));
  Values out = zeros(sum_type(call), call.count());
  Walker walker(call.shape.dims);
  for (size_t i = 0; i < call.count() && !call.in.failed(); ++i)
    store_sum(call, out, i, convolve(*conv, call, *x, *w, walker.move_to((*call.at)[i])));
  return share(converted(std::move(out), call.shape.type));
}

}  // namespace replay::reference
