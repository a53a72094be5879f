// Reductions, softmax and cross entropy, and their gradients. Small floats are summed in f32.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "importers/paddle/lower.h"

namespace importers::paddle {
namespace {

using ir::Op;

/// The axes that a reduction goes over: all where reduce_all says so and where none is named.
std::optional<Dims> reduced(Call& c, const Dims& x) {
  const auto named = c.sizes("dim", {"AxisTensor", "AxisTensorList"});
  if (!named && (c.has("AxisTensor") || c.has("AxisTensorList"))) return std::nullopt;
  if (c.flag("reduce_all") || !named || named->empty()) {
    Dims all(x.size());
    std::iota(all.begin(), all.end(), 0);
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

Value softmax_of(Body& b, Value x, int64_t axis) {
  const Dims dims = b.dims(x);
  const Value power = b.unary(Op::exponential, b.binary(Op::subtract, x, b.expand(b.reduce_keep(Op::maximum, x, {axis}), dims)));
  return b.binary(Op::divide, power, b.expand(b.reduce_keep(Op::add, power, {axis}), dims));
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

/// (dOut − Σ dOut·Out)·Out
void softmax_grad(Call& c) {
  const auto axis = axis_in(c, "Out");
  if (!axis) return;
  c.set("X@GRAD", c.fuse1({c.in("Out"), c.in("Out@GRAD")}, [&](Body& b, In in) {
    const Value out = widen(b, in[0]), dout = widen(b, in[1]);
    const Value mean = b.expand(b.reduce_keep(Op::add, b.binary(Op::multiply, dout, out), {*axis}), b.dims(out));
    return b.convert(b.binary(Op::multiply, b.binary(Op::subtract, dout, mean), out), b.type(in[0]));
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
  Dims all(x.size());
  std::iota(all.begin(), all.end(), 0);
  c.set("Out", c.fuse1({c.in("X")}, [&](Body& b, In in) {
    const Value value = widen(b, in[0]);
    return b.convert(b.reshape(b.reduce(Op::add, b.binary(Op::multiply, value, value), all), {1}), b.type(in[0]));
  }));
}

/// Over everything, as `mean` does.
void mean(Call& c) { reduce<Op::add, Mean::yes>(c); }

/// Running sums along an axis.
void cumsum(Call& c) {
  const Dims x = c.dims("X");
  const int64_t axis = axis_of(c.integer("axis", -1, "Axis"), static_cast<int64_t>(x.size()));
  if (c.flag("flatten") || c.flag("exclusive") || c.flag("reverse") || axis < 0 || axis >= static_cast<int64_t>(x.size()))
    return c.fail("only sums from the start along an axis are lowered");
  std::vector<ir::WindowDim> window(x.size());
  ir::WindowDim& along = window[static_cast<size_t>(axis)];
  along.size = std::max<int64_t>(x[static_cast<size_t>(axis)], 1), along.pad_low = along.size - 1;
  c.set("Out",
        c.fuse1({c.in("X")}, [&](Body& b, In in) { return b.convert(b.reduce_window(Op::add, widen(b, in[0]), window), b.type(in[0])); }));
}

constexpr Row kReductionRows[] = {
    {"cumsum", cumsum, "X"},
    {"log_softmax", log_softmax, "X"},
    {"log_softmax_grad", log_softmax_grad, "Out Out@GRAD"},
    {"mean", mean, "X"},
    {"mean_grad", reduce_grad<Mean::yes>, "X Out@GRAD"},
    {"reduce_all", reduce<Op::and_, Mean::no>, "X"},
    {"reduce_any", reduce<Op::or_, Mean::no>, "X"},
    {"reduce_max", reduce<Op::maximum, Mean::no>, "X"},
    {"reduce_max_grad", extremum_grad, "X Out Out@GRAD"},
    {"reduce_mean", reduce<Op::add, Mean::yes>, "X"},
    {"reduce_mean_grad", reduce_grad<Mean::yes>, "X Out@GRAD"},
    {"reduce_min", reduce<Op::minimum, Mean::no>, "X"},
    {"reduce_min_grad", extremum_grad, "X Out Out@GRAD"},
    {"reduce_prod", reduce<Op::multiply, Mean::no>, "X"},
    {"reduce_sum", reduce<Op::add, Mean::no>, "X"},
    {"reduce_sum_grad", reduce_grad<Mean::no>, "X Out@GRAD"},
    {"softmax", softmax, "X"},
    {"softmax_grad", softmax_grad, "Out Out@GRAD"},
    {"softmax_with_cross_entropy", cross_entropy, "Logits Label"},
    {"softmax_with_cross_entropy_grad", cross_entropy_grad, "Label Softmax Loss@GRAD"},
    {"squared_l2_norm", squared_l2_norm, "X"},
};

}  // namespace

std::span<const Row> reduction_rows() { return kReductionRows; }

}  // namespace importers::paddle
