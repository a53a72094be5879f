// Losses element by element and over classes, and their gradients. Formulas: Paddle's phi kernels of the same names.
#include <algorithm>

#include "importers/paddle/unary.h"

namespace importers::paddle {
namespace {

using ir::Direction;
using ir::Op;

Value negated(Body& b, Value x) { return b.unary(Op::negate, x); }

bool alike(Call& c, std::string_view x, std::string_view y) {
  if (c.dims(x) == c.dims(y)) return true;
  c.fail("the labels have another shape");
  return false;
}

// ---------------------------------------------------------------- binary cross entropy

/// −label·max(log x, −100) − (1 − label)·max(log(1 − x), −100)
void bce_loss(Call& c) {
  if (!alike(c, "X", "Label")) return;
  c.set("Out", c.fuse1({c.in("X"), c.in("Label")}, [&](Body& b, In in) {
    const Value x = widen(b, in[0]), label = b.convert(in[1], b.type(x));
    const auto log = [&](Value value) { return b.binary(Op::maximum, b.unary(Op::log, value), -100.0); };
    const Value sum = plus(b, times(b, label, log(x)), times(b, from(b, 1, label), log(from(b, 1, x))));
    return b.convert(negated(b, sum), b.type(in[0]));
  }));
}
void bce_loss_grad(Call& c) {
  if (!alike(c, "X", "Label")) return;
  c.set("X@GRAD", c.fuse1({c.in("X"), c.in("Label"), c.in("Out@GRAD")}, [&](Body& b, In in) {
    const Value x = widen(b, in[0]), dout = widen(b, in[2]);
    const Value below = b.binary(Op::maximum, times(b, from(b, 1, x), x), 1e-12);
    return b.convert(times(b, dout, over(b, minus(b, x, b.convert(in[1], b.type(x))), below)), b.type(in[0]));
  }));
}

/// What the loss of logits divides by, the number of labels that count, and which those are.
struct Counted {
  Value counts, share;
};
Counted counted(Call& c, Body& b, Value label, Value x) {
  const Value counts = b.compare(Direction::NE, label, b.like(label, c.number("ignore_index", -100)));
  if (!c.flag("normalize")) return {counts, {}};
  const Dims all = counting(0, b.rank(x));
  const Value n = b.binary(Op::maximum, b.reduce(Op::add, b.convert(counts, b.type(x)), all), 1e-5);
  return {counts, b.expand(n, b.dims(x))};
}
Value finished(Body& b, const Counted& n, Value value) {
  const Value kept = b.select(n.counts, value, b.like(value, 0));
  return n.share.id < 0 ? kept : over(b, kept, n.share);
}

/// (1 − label)·x + weight·log(1 + e^−x); the weight is 1, or pos_weight's.
void logits_loss(Call& c) {
  if (!alike(c, "X", "Label")) return;
  const bool weighs = c.has("pos_weight");
  Values operands{c.in("X"), c.in("Label")};
  if (weighs) operands.push_back(c.in("pos_weight"));
  if (weighs && !broadcast_fits(c.dims("pos_weight"), c.dims("X"))) return c.fail("the weights do not broadcast");
  c.set("Out", c.program().fuse1(operands, [&](Body& b, In in) {
    const Value x = widen(b, in[0]), label = b.convert(in[1], b.type(x));
    Value tail = log_one_plus_exp(b, negated(b, x));
    if (weighs) tail = times(b, tail, b.expand(widen(b, in[2]), b.dims(x)));
    return b.convert(finished(b, counted(c, b, label, x), plus(b, times(b, from(b, 1, label), x), tail)), b.type(in[0]));
  }));
}
void logits_loss_grad(Call& c) {
  if (!alike(c, "X", "Label")) return;
  const bool weighs = c.has("pos_weight");
  Values operands{c.in("X"), c.in("Label"), c.in("Out@GRAD")};
  if (weighs) operands.push_back(c.in("pos_weight"));
  c.set("X@GRAD", c.program().fuse1(operands, [&](Body& b, In in) {
    const Value x = widen(b, in[0]), label = b.convert(in[1], b.type(x));
    Value tail = sigmoid(b, negated(b, x));
    if (weighs) tail = times(b, tail, b.expand(widen(b, in[3]), b.dims(x)));
    const Value slope = minus(b, from(b, 1, label), tail);
    return b.convert(finished(b, counted(c, b, label, x), times(b, slope, widen(b, in[2]))), b.type(in[0]));
  }));
}

/// −l·log(p + ε) − (1 − l)·log(1 − p + ε)
void log_loss(Call& c) {
  if (!alike(c, "Predicted", "Labels")) return;
  const double epsilon = c.number("epsilon", 1e-4);
  c.set("Loss", c.fuse1({c.in("Predicted"), c.in("Labels")}, [&](Body& b, In in) {
    const Value p = widen(b, in[0]), l = b.convert(in[1], b.type(p));
    const Value yes = times(b, l, b.unary(Op::log, plus(b, p, epsilon)));
    const Value no = times(b, from(b, 1, l), b.unary(Op::log, from(b, 1 + epsilon, p)));
    return b.convert(negated(b, plus(b, yes, no)), b.type(in[0]));
  }));
}
void log_loss_grad(Call& c) {
  if (!alike(c, "Predicted", "Labels")) return;
  const double epsilon = c.number("epsilon", 1e-4);
  c.set("Predicted@GRAD", c.fuse1({c.in("Predicted"), c.in("Labels"), c.in("Loss@GRAD")}, [&](Body& b, In in) {
    const Value p = widen(b, in[0]), l = b.convert(in[1], b.type(p));
    const Value slope = minus(b, over(b, from(b, 1, l), from(b, 1 + epsilon, p)), over(b, l, plus(b, p, epsilon)));
    return b.convert(times(b, widen(b, in[2]), slope), b.type(in[0]));
  }));
}

// ---------------------------------------------------------------- distances

/// r = y − x: r²/2 where |r| ≤ δ, else δ·(|r| − δ/2)
void huber_loss(Call& c) {
  if (!alike(c, "X", "Y")) return;
  const double delta = c.number("delta", 1);
  const Values results = c.program().fuse({{c.in("X"), c.in("Y")}}, [&](Body& b, In in) {
    const Value r = minus(b, widen(b, in[1]), widen(b, in[0])), size = b.unary(Op::abs, r);
    const Value far = times(b, plus(b, size, -delta / 2), delta);
    const Value loss = choose(b, Direction::LE, size, delta, times(b, times(b, r, r), 0.5), far);
    return Values{b.convert(loss, b.type(in[0])), b.convert(r, b.type(in[0]))};
  });
  c.set("Out", results[0]);
  c.set("Residual", results[1]);
}
/// dY = dOut·r cut to ±δ; dX is its negative.
void huber_loss_grad(Call& c) {
  const double delta = c.number("delta", 1);
  const Values results = c.program().fuse({{c.in("Residual"), c.in("Out@GRAD")}}, [&](Body& b, In in) {
    const Value slope = b.binary(Op::minimum, b.binary(Op::maximum, widen(b, in[0]), -delta), delta);
    const Value dy = times(b, slope, widen(b, in[1]));
    return Values{b.convert(negated(b, dy), b.type(in[0])), b.convert(dy, b.type(in[0]))};
  });
  c.set("X@GRAD", results[0]);
  c.set("Y@GRAD", results[1]);
}

/// Over everything: none, mean, sum; batchmean divides the sum by the first dimension.
double share_of(Call& c, const Dims& x) {
  const std::string_view how = c.text("reduction");
  return how == "mean"                      ? 1 / static_cast<double>(std::max<int64_t>(elements_of(x), 1))
         : how == "batchmean" && !x.empty() ? 1 / static_cast<double>(std::max<int64_t>(x[0], 1))
                                            : 1;
}
/// t·(log t − x), 0 where t is not positive; e^t·(t − x) of targets that are logarithms.
void kl_divergence(Call& c) {
  if (!alike(c, "X", "Target")) return;
  const Dims dims = c.dims("X");
  const bool whole = c.text("reduction") != "none", logs = c.flag("log_target");
  c.set("Loss", c.fuse1({c.in("X"), c.in("Target")}, [&](Body& b, In in) {
    const Value x = widen(b, in[0]), t = b.convert(in[1], b.type(x));
    Value loss = logs ? times(b, b.unary(Op::exponential, t), minus(b, t, x))
                      : choose(b, Direction::GT, t, 0, times(b, t, minus(b, b.unary(Op::log, t), x)), b.like(t, 0));
    const Dims all = counting(0, rank_of(dims));
    if (whole) loss = times(b, b.reduce(Op::add, loss, all), share_of(c, dims));
    return b.convert(loss, b.type(in[0]));
  }));
}
void kl_divergence_grad(Call& c) {
  if (!alike(c, "X", "Target")) return;
  const Dims dims = c.dims("X");
  const bool logs = c.flag("log_target");
  c.set("X@GRAD", c.fuse1({c.in("Target"), c.in("Loss@GRAD")}, [&](Body& b, In in) {
    const Value dout = b.expand(widen(b, in[1]), dims), t = b.convert(in[0], b.type(dout));
    const Value weight = logs ? b.unary(Op::exponential, t) : choose(b, Direction::GT, t, 0, t, b.like(t, 0));
    return b.convert(times(b, times(b, dout, weight), -share_of(c, dims)), b.type(in[1]));
  }));
}

/// ε of every label goes to all classes alike, or as PriorDist has it.
void label_smooth(Call& c) {
  const Dims dims = c.dims("X");
  const double epsilon = c.number("epsilon", 0);
  if (dims.empty() || dims.back() < 1) return c.fail("has no classes");
  const bool given = c.has("PriorDist");
  Values operands{c.in("X")};
  if (given) operands.push_back(c.in("PriorDist"));
  c.set("Out", c.program().fuse1(operands, [&](Body& b, In in) {
    const Value x = times(b, widen(b, in[0]), 1 - epsilon);
    const Value prior = given ? times(b, b.expand(b.reshape(widen(b, in[1]), {dims.back()}), dims), epsilon)
                              : b.like(x, epsilon / static_cast<double>(dims.back()));
    return b.convert(plus(b, x, prior), b.type(in[0]));
  }));
}
void label_smooth_grad(Call& c) {
  const double kept = 1 - c.number("epsilon", 0);
  c.set("X@GRAD", c.fuse1({c.in("Out@GRAD")}, [&](Body& b, In in) { return b.convert(times(b, widen(b, in[0]), kept), b.type(in[0])); }));
}

// ---------------------------------------------------------------- the class's number of log probabilities

/// X [n, classes, places…], Label [n, places…]: 1 (or the class's weight) where a class is the label and counts.
Value picked(Call& c, Body& b, Value x, Value label, const Value* weight) {
  const Dims dims = b.dims(x);
  Dims kept = dims;
  kept[1] = 1;
  const Value places = b.expand(b.reshape(label, kept), dims), classes = b.iota(b.type(label), dims, 1);
  const Value hit =
      b.op(Op::and_,
           {{b.compare(Direction::EQ, classes, places), b.compare(Direction::NE, places, b.like(places, c.number("ignore_index", -100)))}});
  const Value one = weight == nullptr ? b.like(x, 1) : b.broadcast(widen(b, *weight), dims, {1});
  return b.select(hit, one, b.like(x, 0));
}
bool classes_fit(Call& c) {
  const Dims x = c.dims("X");
  const bool fits = x.size() >= 2 && x[1] > 0 && elements_of(c.dims("Label")) == elements_of(x) / x[1];
  if (!fits) c.fail("the labels do not fit the classes");
  return fits;
}
/// −x[label]·weight; reduced, the sum (mean: by the sum of the weights, which Total_weight holds).
void nll_loss(Call& c) {
  if (!classes_fit(c)) return;
  Values operands{c.in("X"), c.in("Label")};
  if (c.has("Weight")) operands.push_back(c.in("Weight"));
  const std::string_view how = c.text("reduction");
  const Dims label = c.dims("Label");
  const Values results = c.program().fuse(operands, [&](Body& b, In in) {
    const Value x = widen(b, in[0]), weight = picked(c, b, x, in[1], in.size() > 2 ? &in[2] : nullptr);
    const Dims all = counting(0, b.rank(x));
    const Value total = b.reduce(Op::add, weight, all);
    const Value loss = negated(b, b.reduce(Op::add, times(b, weight, x), how == "none" ? Dims{1} : all));
    const Value shown = how == "mean" ? over(b, loss, total) : how == "none" ? b.reshape(loss, label) : loss;
    return Values{b.convert(shown, b.type(in[0])), b.convert(total, b.type(in[0]))};
  });
  c.set("Out", results[0]);
  c.set("Total_weight", results[1]);
}
void nll_loss_grad(Call& c) {
  if (!classes_fit(c)) return;
  Values operands{c.in("X"), c.in("Label"), c.in("Total_weight"), c.in("Out@GRAD")};
  if (c.has("Weight")) operands.push_back(c.in("Weight"));
  const std::string_view how = c.text("reduction");
  Dims kept = c.dims("X");
  kept[1] = 1;
  if (how != "none") kept.assign(kept.size(), 1);
  if (elements_of(c.dims("Out@GRAD")) != elements_of(kept)) return c.fail("the gradient has another size than the loss");
  c.set("X@GRAD", c.program().fuse1(operands, [&](Body& b, In in) {
    const Value x = widen(b, in[0]), weight = picked(c, b, x, in[1], in.size() > 4 ? &in[4] : nullptr);
    Value dout = b.expand(b.reshape(widen(b, in[3]), kept), b.dims(x));
    if (how == "mean") dout = over(b, dout, b.expand(b.reshape(widen(b, in[2]), {}), b.dims(x)));
    return b.convert(negated(b, times(b, weight, dout)), b.type(in[0]));
  }));
}

constexpr Row kLossRows[] = {
    {"bce_loss", bce_loss, "X Label"},
    {"bce_loss_grad", bce_loss_grad, "X Label Out@GRAD"},
    {"huber_loss", huber_loss, "X Y"},
    {"huber_loss_grad", huber_loss_grad, "Residual Out@GRAD"},
    {"kldiv_loss", kl_divergence, "X Target"},
    {"kldiv_loss_grad", kl_divergence_grad, "X Target Loss@GRAD"},
    {"label_smooth", label_smooth, "X"},
    {"label_smooth_grad", label_smooth_grad, "Out@GRAD"},
    {"log_loss", log_loss, "Predicted Labels"},
    {"log_loss_grad", log_loss_grad, "Predicted Labels Loss@GRAD"},
    {"nll_loss", nll_loss, "X Label"},
    {"nll_loss_grad", nll_loss_grad, "X Label Total_weight Out@GRAD"},
    {"sigmoid_cross_entropy_with_logits", logits_loss, "X Label"},
    {"sigmoid_cross_entropy_with_logits_grad", logits_loss_grad, "X Label Out@GRAD"},
};

}  // namespace

std::span<const Row> loss_rows() { return kLossRows; }

}  // namespace importers::paddle
