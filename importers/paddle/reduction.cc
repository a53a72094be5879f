// Reductions, softmax and cross entropy, and their gradients. Small floats are summed in f32.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "importers/paddle/lower.h"

namespace importers::paddle {
namespace {

using ir::Op;

/// The axes that a reduction goes over: all where reduce_all says so and where none is named.
std::optional<Dims> reduced(Call& c, const Dims& x) {
  auto named = c.sizes("dim", {"AxisTensor", "AxisTensorList"});
  if (!named) named = c.sizes("axis");
  if (!named && (c.has("AxisTensor") || c.has("AxisTensorList"))) return std::nullopt;
  if (c.flag("reduce_all") || !named || named->empty()) {
    const Dims all = counting(0, rank_of(x));
    return all;
  }
  return axes_of(*named, static_cast<int64_t>(x.size()));
}

int64_t count_over(const Dims& x, const Dims& axes) {
  Dims sizes;
  for (const int64_t axis : axes) sizes.push_back(x[static_cast<size_t>(axis)]);
  return elements_of(sizes);
}

enum class Mean : uint8_t { no, yes };

template <Op kOp, Mean kMean>
void reduce(Call& c) {
  const Dims x = c.dims("X");
  const auto axes = reduced(c, x);
  if (!axes) return c.fail("an axis lies outside or is known at run time only");
  const auto named = c.named_type("out_dtype");
  const bool keep = c.flag("keep_dim");
  c.set("Out", c.fuse1({c.in("X")}, [&](Body& b, In in) {
    const Value value = named && kOp == Op::add ? b.convert(in[0], wide(*named)) : widen(b, in[0]);
    Value total = keep ? b.reduce_keep(kOp, value, *axes) : b.reduce(kOp, value, *axes);
    if (kMean == Mean::yes) total = b.binary(Op::multiply, total, 1 / static_cast<double>(count_over(x, *axes)));
    return b.convert(total, named.value_or(b.type(in[0])));
  }));
}

/// dOut repeated over what was reduced.
Value spread(Body& b, Value dout, const Dims& x, const Dims& axes) {
  Dims kept = x;
  for (const int64_t axis : axes) kept[static_cast<size_t>(axis)] = 1;
  return b.expand(b.reshape(dout, kept), x);
}

template <Mean kMean>
void reduce_grad(Call& c) {
  const Dims x = c.dims("X");
  const auto axes = reduced(c, x);
  if (!axes) return c.fail("an axis lies outside or is known at run time only");
  if (elements_of(x) != elements_of(c.dims("Out@GRAD")) * count_over(x, *axes))
    return c.fail("the gradient has another size than the reduction");
  const ir::Type type = c.type("X");
  c.set("X@GRAD", c.fuse1({c.in("Out@GRAD")}, [&](Body& b, In in) {
    Value dout = widen(b, in[0]);
    if (kMean == Mean::yes) dout = b.binary(Op::multiply, dout, 1 / static_cast<double>(count_over(x, *axes)));
    return b.convert(spread(b, dout, x, *axes), type);
  }));
}

/// The gradient goes to every element that equals the extremum.
void extremum_grad(Call& c) {
  const Dims x = c.dims("X");
  const auto axes = reduced(c, x);
  if (!axes || elements_of(x) != elements_of(c.dims("Out@GRAD")) * count_over(x, *axes)) return c.fail("an axis lies outside");
  c.set("X@GRAD", c.fuse1({c.in("X"), c.in("Out"), c.in("Out@GRAD")}, [&](Body& b, In in) {
    const Value dout = spread(b, in[2], x, *axes);
    return b.select(b.compare(ir::Direction::EQ, in[0], spread(b, in[1], x, *axes)), dout, b.like(dout, 0));
  }));
}

// ---------------------------------------------------------------- softmax

/// x − max and log Σ e^(x − max) along an axis, in f32.
struct Shifted {
  Value value, log_sum;
};
Shifted shifted(Body& b, Value x, int64_t axis) {
  const Dims dims = b.dims(x);
  const Value value = b.binary(Op::subtract, x, b.expand(b.reduce_keep(Op::maximum, x, {axis}), dims));
  return {value, b.unary(Op::log, b.reduce_keep(Op::add, b.unary(Op::exponential, value), {axis}))};
}

std::optional<int64_t> axis_in(Call& c, std::string_view slot) {
  const auto rank = static_cast<int64_t>(c.dims(slot).size());
  const int64_t axis = axis_of(c.integer("axis", -1), rank);
  if (axis >= 0 && axis < rank) return axis;
  c.fail("the axis lies outside");
  return std::nullopt;
}

void softmax(Call& c) {
  const auto axis = axis_in(c, "X");
  if (!axis) return;
  c.set("Out", c.fuse1({c.in("X")}, [&](Body& b, In in) { return b.convert(softmax_of(b, widen(b, in[0]), *axis), b.type(in[0])); }));
}

void log_softmax(Call& c) {
  const auto axis = axis_in(c, "X");
  if (!axis) return;
  c.set("Out", c.fuse1({c.in("X")}, [&](Body& b, In in) {
    const Shifted s = shifted(b, widen(b, in[0]), *axis);
    return b.convert(b.binary(Op::subtract, s.value, b.expand(s.log_sum, b.dims(in[0]))), b.type(in[0]));
  }));
}

void softmax_grad(Call& c) {
  const auto axis = axis_in(c, "Out");
  if (!axis) return;
  c.set("X@GRAD", c.fuse1({c.in("Out"), c.in("Out@GRAD")}, [&](Body& b, In in) {
    const Value out = widen(b, in[0]), dout = widen(b, in[1]);
    return b.convert(softmax_slope(b, out, dout, *axis), b.type(in[0]));
  }));
}

/// dOut − e^Out·Σ dOut
void log_softmax_grad(Call& c) {
  const auto axis = axis_in(c, "Out");
  if (!axis) return;
  c.set("X@GRAD", c.fuse1({c.in("Out"), c.in("Out@GRAD")}, [&](Body& b, In in) {
    const Value out = widen(b, in[0]), dout = widen(b, in[1]);
    const Value sum = b.expand(b.reduce_keep(Op::add, dout, {*axis}), b.dims(out));
    return b.convert(b.binary(Op::subtract, dout, b.binary(Op::multiply, b.unary(Op::exponential, out), sum)), b.type(in[0]));
  }));
}

// ---------------------------------------------------------------- cross entropy with softmax

/// 1 where the class along `axis` is the row's label. Label: the same dimensions with 1 at the axis, or none there.
Value hits(Body& b, Value label, const Dims& dims, int64_t axis) {
  Dims kept = dims;
  kept[static_cast<size_t>(axis)] = 1;
  return b.compare(ir::Direction::EQ, b.iota(b.type(label), dims, axis), b.expand(b.reshape(label, kept), dims));
}

bool labels_fit(Call& c, const Dims& dims, int64_t axis, bool soft) {
  const int64_t expected = soft ? elements_of(dims) : elements_of(dims) / std::max<int64_t>(dims[static_cast<size_t>(axis)], 1);
  if (elements_of(c.dims("Label")) == expected) return true;
  c.fail("the labels do not fit the logits");
  return false;
}

/// Loss = log Σ e^z − z[label] and 0 where the label is ignored; with soft labels Σ label·(log Σ e^z − z).
void cross_entropy(Call& c) {
  const auto axis = axis_in(c, "Logits");
  const Dims dims = c.dims("Logits");
  const bool soft = c.flag("soft_label");
  if (!axis || !labels_fit(c, dims, *axis, soft)) return;
  if (!c.flag("use_softmax", true)) return c.fail("logits that are probabilities already are not lowered");
  const double ignored = c.number("ignore_index", -100);
  const bool is_class = ignored >= 0 && ignored < static_cast<double>(dims[static_cast<size_t>(*axis)]);  // else nothing is hit in its row
  const Values results = c.program().fuse({{c.in("Logits"), c.in("Label")}}, [&](Body& b, In in) {
    const Shifted s = shifted(b, widen(b, in[0]), *axis);
    const Value log_p = b.binary(Op::subtract, s.value, b.expand(s.log_sum, dims));
    const Value weighted = soft ? b.binary(Op::multiply, log_p, b.convert(in[1], b.type(log_p)))
                                : b.select(hits(b, in[1], dims, *axis), log_p, b.like(log_p, 0));
    Value loss = b.unary(Op::negate, b.reduce_keep(Op::add, weighted, {*axis}));
    if (!soft && is_class) {
      const Value label = b.reshape(in[1], b.dims(loss));
      loss = b.select(b.compare(ir::Direction::EQ, label, b.like(label, ignored)), b.like(loss, 0), loss);
    }
    return Values{b.convert(b.unary(Op::exponential, log_p), b.type(in[0])), b.convert(loss, b.type(in[0]))};
  });
  c.set("Softmax", results[0]);
  c.set("Loss", results[1]);
}

/// (Softmax − one-hot(label))·dLoss, 0 in rows that are ignored.
void cross_entropy_grad(Call& c) {
  const auto axis = axis_in(c, "Softmax");
  const Dims dims = c.dims("Softmax");
  const bool soft = c.flag("soft_label");
  if (!axis || !labels_fit(c, dims, *axis, soft)) return;
  const double ignored = c.number("ignore_index", -100);
  Dims kept = dims;
  kept[static_cast<size_t>(*axis)] = 1;
  if (elements_of(c.dims("Loss@GRAD")) != elements_of(kept)) return c.fail("the gradient has another size than the loss");
  c.set("Logits@GRAD", c.fuse1({c.in("Label"), c.in("Softmax"), c.in("Loss@GRAD")}, [&](Body& b, In in) {
    const Value p = widen(b, in[1]);
    const Value target = soft ? b.convert(in[0], b.type(p)) : b.convert(hits(b, in[0], dims, *axis), b.type(p));
    Value dloss = b.reshape(widen(b, in[2]), kept);
    if (!soft) {
      const Value label = b.reshape(in[0], kept);
      dloss = b.select(b.compare(ir::Direction::EQ, label, b.like(label, ignored)), b.like(dloss, 0), dloss);
    }
    return b.convert(b.binary(Op::multiply, b.binary(Op::subtract, p, target), b.expand(dloss, dims)), b.type(in[1]));
  }));
}

void squared_l2_norm(Call& c) {
  const Dims x = c.dims("X");
  const Dims all = counting(0, rank_of(x));
  c.set("Out", c.fuse1({c.in("X")}, [&](Body& b, In in) {
    const Value value = widen(b, in[0]);
    return b.convert(b.reshape(b.reduce(Op::add, b.binary(Op::multiply, value, value), all), {1}), b.type(in[0]));
  }));
}

/// Over everything, as `mean` does.
void mean(Call& c) { reduce<Op::add, Mean::yes>(c); }

/// Elements that are equal share the gradient of their extremum.
void shared_extremum_grad(Call& c) {
  const Dims x = c.dims("X");
  const auto axes = reduced(c, x);
  if (!axes || elements_of(x) != elements_of(c.dims("Out@GRAD")) * count_over(x, *axes)) return c.fail("an axis lies outside");
  c.set("X@GRAD", c.fuse1({c.in("X"), c.in("Out"), c.in("Out@GRAD")}, [&](Body& b, In in) {
    const Value dout = spread(b, widen(b, in[2]), x, *axes), hit = b.compare(ir::Direction::EQ, in[0], spread(b, in[1], x, *axes));
    const Value count = b.expand(b.reduce_keep(Op::add, b.convert(hit, b.type(dout)), *axes), x);
    return b.convert(b.select(hit, b.binary(Op::divide, dout, count), b.like(dout, 0)), b.type(in[0]));
  }));
}

/// dOut·Out / x: of a product none of whose factors is 0.
void product_grad(Call& c) {
  const Dims x = c.dims("X");
  const auto axes = reduced(c, x);
  if (!axes || elements_of(x) != elements_of(c.dims("Out@GRAD")) * count_over(x, *axes)) return c.fail("an axis lies outside");
  c.set("X@GRAD", c.fuse1({c.in("X"), c.in("Out"), c.in("Out@GRAD")}, [&](Body& b, In in) {
    const Value both = spread(b, b.binary(Op::multiply, widen(b, in[1]), widen(b, in[2])), x, *axes);
    return b.convert(b.binary(Op::divide, both, widen(b, in[0])), b.type(in[0]));
  }));
}

/// log Σ e^x, without overflow
void log_sum_exp(Call& c) {
  const Dims x = c.dims("X");
  const auto axes = reduced(c, x);
  if (!axes) return c.fail("an axis lies outside or is known at run time only");
  const bool keep = c.flag("keep_dim", c.flag("keepdim"));
  c.set("Out", c.fuse1({c.in("X")}, [&](Body& b, In in) {
    const Value value = widen(b, in[0]), most = b.reduce_keep(Op::maximum, value, *axes);
    const Value powers = b.unary(Op::exponential, b.binary(Op::subtract, value, b.expand(most, x)));
    const Value sum = b.binary(Op::add, b.unary(Op::log, b.reduce_keep(Op::add, powers, *axes)), most);
    Dims kept;
    for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
      if (keep || !std::ranges::binary_search(*axes, i)) kept.push_back(b.dims(sum)[static_cast<size_t>(i)]);
    }
    return b.convert(b.reshape(sum, kept), b.type(in[0]));
  }));
}
void log_sum_exp_grad(Call& c) {
  const Dims x = c.dims("X");
  const auto axes = reduced(c, x);
  if (!axes || elements_of(x) != elements_of(c.dims("Out@GRAD")) * count_over(x, *axes)) return c.fail("an axis lies outside");
  c.set("X@GRAD", c.fuse1({c.in("X"), c.in("Out"), c.in("Out@GRAD")}, [&](Body& b, In in) {
    const Value share = b.unary(Op::exponential, b.binary(Op::subtract, widen(b, in[0]), spread(b, widen(b, in[1]), x, *axes)));
    return b.convert(b.binary(Op::multiply, spread(b, widen(b, in[2]), x, *axes), share), b.type(in[0]));
  }));
}

/// (Σ |x|^p)^(1/p) along an axis, or over all elements as one vector.
std::optional<Dims> normed(Call& c, const Dims& x) {
  if (c.flag("asvector") || c.flag("reduce_all")) {
    const Dims all = counting(0, rank_of(x));
    return all;
  }
  const double order = c.number("porder", 2);
  if (order <= 0) return c.fail("only orders above 0 are lowered"), std::nullopt;
  const auto axes = axes_of({c.integer("axis", -1)}, static_cast<int64_t>(x.size()));
  if (!axes) c.fail("the axis lies outside");
  return axes;
}
void p_norm(Call& c) {
  const Dims x = c.dims("X");
  const auto axes = normed(c, x);
  if (!axes) return;
  const double order = c.number("porder", 2);
  const bool keep = c.flag("keepdim");
  c.set("Out", c.fuse1({c.in("X")}, [&](Body& b, In in) {
    const Value size = b.unary(Op::abs, widen(b, in[0]));
    const Op how = std::isinf(order) ? Op::maximum : Op::add;
    const Value term = order == 2                        ? b.binary(Op::multiply, size, size)
                       : order == 1 || std::isinf(order) ? size
                                                         : b.binary(Op::power, size, order);
    const Value sum = keep ? b.reduce_keep(how, term, *axes) : b.reduce(how, term, *axes);
    return b.convert(order == 2                        ? b.unary(Op::sqrt, sum)
                     : order == 1 || std::isinf(order) ? sum
                                                       : b.binary(Op::power, sum, 1 / order),
                     b.type(in[0]));
  }));
}
/// dOut·sign(x)·(|x| / Out)^(p − 1), 0 where Out is; of a maximum where |x| is it.
void p_norm_grad(Call& c) {
  const Dims x = c.dims("X");
  const auto axes = normed(c, x);
  if (!axes) return;
  if (elements_of(x) != elements_of(c.dims("Out@GRAD")) * count_over(x, *axes))
    return c.fail("the gradient has another size than the norm");
  const double order = c.number("porder", 2), epsilon = c.number("epsilon", 1e-12);
  c.set("X@GRAD", c.fuse1({c.in("X"), c.in("Out"), c.in("Out@GRAD")}, [&](Body& b, In in) {
    const Value value = widen(b, in[0]), out = spread(b, widen(b, in[1]), x, *axes), dout = spread(b, widen(b, in[2]), x, *axes);
    const Value size = b.unary(Op::abs, value), signed_dout = b.binary(Op::multiply, dout, b.unary(Op::sign, value));
    if (std::isinf(order)) return b.convert(b.select(b.compare(ir::Direction::EQ, size, out), signed_dout, b.like(dout, 0)), b.type(in[0]));
    const Value share = b.binary(Op::divide, size, b.binary(Op::maximum, out, epsilon));
    const Value slope = order == 1 ? b.like(share, 1) : order == 2 ? share : b.binary(Op::power, share, order - 1);
    return b.convert(b.binary(Op::multiply, signed_dout, slope), b.type(in[0]));
  }));
}

// ---------------------------------------------------------------- running sums and products

struct Run {
  int64_t axis = 0;
  bool backwards = false, exclusive = false;
  Dims dims;  ///< one dimension where all elements are in a row
};
std::optional<Run> run_of(Call& c, std::string_view slot) {
  const bool flat = c.flag("flatten");
  Run run{0, c.flag("reverse"), c.flag("exclusive"), c.dims(slot)};
  if (flat) run.dims = {elements_of(run.dims)};
  const auto rank = static_cast<int64_t>(run.dims.size());
  run.axis = flat ? 0 : axis_of(c.integer("axis", c.integer("dim", -1), "Axis"), rank);
  if (run.axis >= 0 && run.axis < rank) return run;
  return c.fail("the axis lies outside"), std::nullopt;
}

/// Everything up to an element (from it on, backwards), without it where that is exclusive.
Value accumulated(Body& b, Op op, Value x, const Run& run) {
  const auto at = static_cast<size_t>(run.axis);
  Value value = b.reshape(x, run.dims);
  if (run.exclusive) {
    std::vector<ir::PadDim> by_one(run.dims.size());
    by_one[at] = run.backwards ? ir::PadDim{-1, 1, 0} : ir::PadDim{1, -1, 0};
    value = b.pad(value, b.constant(b.type(value), op == Op::add ? 0 : 1), by_one);
  }
  std::vector<ir::WindowDim> window(run.dims.size());
  window[at].size = std::max<int64_t>(run.dims[at], 1);
  (run.backwards ? window[at].pad_high : window[at].pad_low) = window[at].size - 1;
  return b.reduce_window(op, value, window);
}

template <Op kOp>
void accumulate(Call& c) {
  const auto run = run_of(c, "X");
  if (!run) return;
  c.set("Out", c.fuse1({c.in("X")}, [&](Body& b, In in) { return b.convert(accumulated(b, kOp, widen(b, in[0]), *run), b.type(in[0])); }));
}
/// Each element goes into the sums from it on: those the other way round.
void cumsum_grad(Call& c) {
  const Dims x = c.dims("X");
  auto run = run_of(c, "X");
  if (!run) return;
  if (elements_of(c.dims("Out@GRAD")) != elements_of(x)) return c.fail("the gradient has another size than the sums");
  run->backwards = !run->backwards;
  c.set("X@GRAD", c.fuse1({c.in("Out@GRAD")}, [&](Body& b, In in) {
    return b.convert(b.reshape(accumulated(b, Op::add, widen(b, in[0]), *run), x), b.type(in[0]));
  }));
}
/// Σ dOut·Out from an element on, by it: of products none of whose factors is 0.
void cumprod_grad(Call& c) {
  auto run = run_of(c, "X");
  if (!run) return;
  if (run->exclusive) return c.fail("the gradient of exclusive products is not lowered");
  if (c.dims("Out@GRAD") != c.dims("X")) return c.fail("the gradient has another size than the products");
  run->backwards = !run->backwards;
  c.set("X@GRAD", c.fuse1({c.in("X"), c.in("Out"), c.in("Out@GRAD")}, [&](Body& b, In in) {
    const Value sums = accumulated(b, Op::add, b.binary(Op::multiply, widen(b, in[1]), widen(b, in[2])), *run);
    return b.convert(b.binary(Op::divide, sums, widen(b, in[0])), b.type(in[0]));
  }));
}

constexpr Row kReductionRows[] = {
    {"cumprod", accumulate<Op::multiply>, "X"},
    {"cumprod_grad", cumprod_grad, "X Out Out@GRAD"},
    {"cumsum", accumulate<Op::add>, "X"},
    {"cumsum_grad", cumsum_grad, "X Out@GRAD"},
    {"log_softmax", log_softmax, "X"},
    {"log_softmax_grad", log_softmax_grad, "Out Out@GRAD"},
    {"logsumexp", log_sum_exp, "X"},
    {"logsumexp_grad", log_sum_exp_grad, "X Out Out@GRAD"},
    {"mean", mean, "X"},
    {"mean_grad", reduce_grad<Mean::yes>, "X Out@GRAD"},
    {"p_norm", p_norm, "X"},
    {"p_norm_grad", p_norm_grad, "X Out Out@GRAD"},
    {"reduce_all", reduce<Op::and_, Mean::no>, "X"},
    {"reduce_amax", reduce<Op::maximum, Mean::no>, "X"},
    {"reduce_amax_grad", shared_extremum_grad, "X Out Out@GRAD"},
    {"reduce_amin", reduce<Op::minimum, Mean::no>, "X"},
    {"reduce_amin_grad", shared_extremum_grad, "X Out Out@GRAD"},
    {"reduce_any", reduce<Op::or_, Mean::no>, "X"},
    {"reduce_max", reduce<Op::maximum, Mean::no>, "X"},
    {"reduce_max_grad", extremum_grad, "X Out Out@GRAD"},
    {"reduce_mean", reduce<Op::add, Mean::yes>, "X"},
    {"reduce_mean_grad", reduce_grad<Mean::yes>, "X Out@GRAD"},
    {"reduce_min", reduce<Op::minimum, Mean::no>, "X"},
    {"reduce_min_grad", extremum_grad, "X Out Out@GRAD"},
    {"reduce_prod", reduce<Op::multiply, Mean::no>, "X"},
    {"reduce_prod_grad", product_grad, "X Out Out@GRAD"},
    {"reduce_sum", reduce<Op::add, Mean::no>, "X"},
    {"reduce_sum_grad", reduce_grad<Mean::no>, "X Out@GRAD"},
    {"softmax", softmax, "X"},
    {"softmax_grad", softmax_grad, "Out Out@GRAD"},
    {"c_softmax_with_cross_entropy", cross_entropy, "Logits Label"},
    {"c_softmax_with_cross_entropy_grad", cross_entropy_grad, "Label Softmax Loss@GRAD"},
    {"softmax_with_cross_entropy", cross_entropy, "Logits Label"},
    {"softmax_with_cross_entropy_grad", cross_entropy_grad, "Label Softmax Loss@GRAD"},
    {"squared_l2_norm", squared_l2_norm, "X"},
};

}  // namespace

Value softmax_of(Body& b, Value x, int64_t axis) {
  const Dims dims = b.dims(x);
  const Value power = b.unary(Op::exponential, b.binary(Op::subtract, x, b.expand(b.reduce_keep(Op::maximum, x, {axis}), dims)));
  return b.binary(Op::divide, power, b.expand(b.reduce_keep(Op::add, power, {axis}), dims));
}

Value softmax_slope(Body& b, Value p, Value dp, int64_t axis) {
  const Value mean = b.expand(b.reduce_keep(Op::add, times(b, dp, p), {axis}), b.dims(p));
  return times(b, minus(b, dp, mean), p);
}

std::span<const Row> reduction_rows() { return kReductionRows; }

}  // namespace importers::paddle
