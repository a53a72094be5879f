// Normalisations and dropout: operators of models that the Llama sample lacks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "importers/paddle/random.h"
#include "importers/paddle/taps.h"

namespace importers::paddle {
namespace {

using ir::Op;

/// The dimensions from `axis` on are normalised: rows × columns.
struct NormalMatrix {
  Dims x;
  int64_t rows = 1, columns = 1;
};
std::optional<NormalMatrix> matrix_of(Call& c) {
  NormalMatrix m{c.dims("X")};
  const int64_t axis = axis_of(c.integer("begin_norm_axis", 1), static_cast<int64_t>(m.x.size()));
  if (axis < 0 || axis > static_cast<int64_t>(m.x.size())) return c.fail("the axis lies outside"), std::nullopt;
  m.rows = elements_of(Dims(m.x.begin(), m.x.begin() + axis)), m.columns = elements_of(Dims(m.x.begin() + axis, m.x.end()));
  for (const std::string_view slot : {"Scale", "Bias"}) {
    if (c.has(slot) && elements_of(c.dims(slot)) != m.columns) return c.fail("scale or bias have another size than a row"), std::nullopt;
  }
  return m;
}

Value row_mean(Body& b, Value value, const NormalMatrix& m) {
  return times(b, b.reduce(Op::add, value, {1}), 1 / static_cast<double>(m.columns));
}
Value by_row(Body& b, Value value, const NormalMatrix& m) { return b.broadcast(value, {m.rows, m.columns}, {0}); }
Value by_column(Body& b, Value value, const NormalMatrix& m) {
  return b.broadcast(b.reshape(value, {m.columns}), {m.rows, m.columns}, {1});
}

/// (x − mean) / √(variance + ε)·scale + bias of each row; statistics in f32.
void layer_norm(Call& c) {
  const auto m = matrix_of(c);
  if (!m) return;
  Values operands{c.in("X")};
  const bool scales = c.has("Scale"), shifts = c.has("Bias");
  if (scales) operands.push_back(c.in("Scale"));
  if (shifts) operands.push_back(c.in("Bias"));
  const double epsilon = c.number("epsilon", 1e-5);
  const Values results = c.program().fuse(operands, [&](Body& b, In in) {
    const Value x = b.reshape(widen(b, in[0]), {m->rows, m->columns});
    const Value mean = row_mean(b, x, *m), centred = minus(b, x, by_row(b, mean, *m));
    const Value variance = row_mean(b, times(b, centred, centred), *m);
    Value y = times(b, centred, by_row(b, b.unary(Op::rsqrt, b.binary(Op::add, variance, epsilon)), *m));
    if (scales) y = times(b, y, by_column(b, widen(b, in[1]), *m));
    if (shifts) y = plus(b, y, by_column(b, widen(b, in[scales ? 2 : 1]), *m));
    return Values{b.convert(b.reshape(y, m->x), b.type(in[0])), mean, variance};
  });
  c.set("Y", results[0]);
  c.set("Mean", c.as_declared("Mean", results[1]));
  c.set("Variance", c.as_declared("Variance", results[2]));
}

/// With x̂ = (x − mean)·r, r = 1/√(variance + ε), g = dY·scale: dX = r·(g − mean(g) − x̂·mean(g·x̂)); dScale = Σ dY·x̂, dBias = Σ dY.
void layer_norm_grad(Call& c) {
  const auto m = matrix_of(c);
  if (!m) return;
  const bool scales = c.has("Scale");
  Values operands{c.in("X"), c.in("Mean"), c.in("Variance"), c.in("Y@GRAD")};
  if (scales) operands.push_back(c.in("Scale"));
  const double epsilon = c.number("epsilon", 1e-5);
  const Values results = c.program().fuse(operands, [&](Body& b, In in) {
    const Dims flat{m->rows, m->columns};
    const Value x = b.reshape(widen(b, in[0]), flat), dy = b.reshape(widen(b, in[3]), flat);
    const Value r = b.unary(Op::rsqrt, b.binary(Op::add, b.reshape(widen(b, in[2]), {m->rows}), epsilon));
    const Value hat = times(b, minus(b, x, by_row(b, b.reshape(widen(b, in[1]), {m->rows}), *m)), by_row(b, r, *m));
    const Value g = scales ? times(b, dy, by_column(b, widen(b, in[4]), *m)) : dy;
    const Value inner =
        minus(b, minus(b, g, by_row(b, row_mean(b, g, *m), *m)), times(b, hat, by_row(b, row_mean(b, times(b, g, hat), *m), *m)));
    Values made;
    if (c.wants("X@GRAD")) made.push_back(b.convert(b.reshape(times(b, inner, by_row(b, r, *m)), m->x), b.type(in[0])));
    if (c.wants("Scale@GRAD") && scales) made.push_back(b.convert(b.reduce(Op::add, times(b, dy, hat), {0}), b.type(in[4])));
    if (c.wants("Bias@GRAD")) made.push_back(b.convert(b.reduce(Op::add, dy, {0}), scales ? b.type(in[4]) : b.type(x)));
    return made;
  });
  size_t next = 0;
  for (const std::string_view slot : {"X@GRAD", "Scale@GRAD", "Bias@GRAD"}) {
    if (c.wants(slot) && (slot != "Scale@GRAD" || scales)) c.set(slot, results[next++]);
  }
}

/// x / √(mean(x²) + ε)·scale
void rms_norm(Call& c) {
  const auto m = matrix_of(c);
  if (!m || !c.has("Scale")) return c.fail("has no scale");
  const double epsilon = c.number("epsilon", 1e-6);
  c.set("Y", c.fuse1({c.in("X"), c.in("Scale")}, [&](Body& b, In in) {
    const Value x = b.reshape(widen(b, in[0]), {m->rows, m->columns});
    const Value r = b.unary(Op::rsqrt, b.binary(Op::add, row_mean(b, times(b, x, x), *m), epsilon));
    return b.convert(b.reshape(times(b, times(b, x, by_row(b, r, *m)), by_column(b, widen(b, in[1]), *m)), m->x), b.type(in[0]));
  }));
}

// ---------------------------------------------------------------- batch normalisation

struct Channels {
  Dims x, over;
  int64_t at = 1, count = 1, each = 1;
};
std::optional<Channels> channels_of(Call& c) {
  Channels ch{c.dims("X"), {}, 1, 1, 1};
  const auto rank = static_cast<int64_t>(ch.x.size());
  ch.at = c.text("data_layout") == "NHWC" || c.text("data_format") == "NHWC" ? rank - 1 : 1;
  if (rank < 2) return c.fail("has no channels"), std::nullopt;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != ch.at) ch.over.push_back(i);
  }
  ch.count = ch.x[static_cast<size_t>(ch.at)];
  ch.each = elements_of(ch.x) / std::max<int64_t>(ch.count, 1);
  if (elements_of(c.dims("Scale")) != ch.count) return c.fail("scale has another size than there are channels"), std::nullopt;
  return ch;
}
Value by_channel(Body& b, Value value, const Channels& ch) { return b.broadcast(value, ch.x, {ch.at}); }

/// (x − mean) / √(variance + ε)·scale + bias of each channel; in training the statistics are the batch's and move the running ones.
/// SavedVariance holds 1/√(variance + ε), as phi's kernels keep it.
void batch_norm(Call& c) {
  const auto ch = channels_of(c);
  if (!ch) return;
  const bool frozen = c.flag("is_test") || c.flag("use_global_stats");
  const double epsilon = c.number("epsilon", 1e-5), momentum = c.number("momentum", 0.9);
  const Values operands{c.in("X"), c.in("Scale"), c.in("Bias"), c.in("Mean"), c.in("Variance")};
  const Values results = c.program().fuse(operands, [&](Body& b, In in) {
    const Value x = widen(b, in[0]), share = b.constant(ir::Type::f32, 1 / static_cast<double>(ch->each));
    const auto average = [&](Value value) {
      return times(b, b.reduce(Op::add, value, ch->over), b.expand(b.convert(share, b.type(value)), {ch->count}));
    };
    const Value mean = frozen ? in[3] : average(x);
    const Value centred = minus(b, x, by_channel(b, mean, *ch));
    const Value variance = frozen ? in[4] : average(times(b, centred, centred));
    const Value r = b.unary(Op::rsqrt, b.binary(Op::add, variance, epsilon));
    const Value y = plus(b, times(b, centred, by_channel(b, times(b, r, in[1]), *ch)), by_channel(b, in[2], *ch));
    Values made{b.convert(y, b.type(in[0]))};
    if (frozen) return made;
    const auto moved = [&](Value old, Value fresh) { return plus(b, times(b, old, momentum), times(b, fresh, 1 - momentum)); };
    made.insert(made.end(), {moved(in[3], mean), moved(in[4], variance), mean, r});
    return made;
  });
  c.set("Y", results[0]);
  if (frozen) return;
  constexpr std::string_view kSlots[] = {"", "MeanOut", "VarianceOut", "SavedMean", "SavedVariance"};
  for (size_t i = 1; i < results.size(); ++i) c.set(kSlots[i], results[i]);
}

/// With x̂ = (x − mean)·r: dX = scale·r·(dY − mean(dY) − x̂·mean(dY·x̂)); dScale = Σ dY·x̂, dBias = Σ dY.
void batch_norm_grad(Call& c) {
  const auto ch = channels_of(c);
  if (!ch) return;
  const Values operands{c.in("X"), c.in("Scale"), c.in("SavedMean"), c.in("SavedVariance"), c.in("Y@GRAD")};
  const Values results = c.program().fuse(operands, [&](Body& b, In in) {
    const Value x = widen(b, in[0]), dy = widen(b, in[4]);
    const Value hat = times(b, minus(b, x, by_channel(b, in[2], *ch)), by_channel(b, in[3], *ch));
    const Value dbias = b.reduce(Op::add, dy, ch->over), dscale = b.reduce(Op::add, times(b, dy, hat), ch->over);
    const double share = 1 / static_cast<double>(ch->each);
    const Value inner =
        minus(b, minus(b, dy, by_channel(b, times(b, dbias, share), *ch)), times(b, hat, by_channel(b, times(b, dscale, share), *ch)));
    return Values{b.convert(times(b, inner, by_channel(b, times(b, in[1], in[3]), *ch)), b.type(in[0])), dscale, dbias};
  });
  if (c.wants("X@GRAD")) c.set("X@GRAD", results[0]);
  if (c.wants("Scale@GRAD")) c.set("Scale@GRAD", results[1]);
  if (c.wants("Bias@GRAD")) c.set("Bias@GRAD", results[2]);
}

// ---------------------------------------------------------------- dropout

/// True with the probability 1 − rate.
Value keeps(Body& b, const Dims& dims, double rate) {
  const Value bits = random_bits(b, dims);
  return b.compare(ir::Direction::GE, bits, b.like(bits, std::floor(std::clamp(rate, 0.0, 1.0) * 4294967295.0)));
}

void dropout(Call& c) {
  const double rate = c.number("dropout_prob", 0.5, "P");
  const bool upscale = c.text("dropout_implementation") == "upscale_in_train" || c.text("mode") == "upscale_in_train";
  const double kept = upscale && rate < 1 ? 1 / (1 - rate) : 1;
  const Dims dims = c.dims("X");
  if (c.flag("is_test")) {
    const double factor = upscale ? 1 : 1 - rate;
    return c.set("Out", c.fuse1({c.in("X")}, [&](Body& b, In in) { return b.convert(times(b, widen(b, in[0]), factor), b.type(in[0])); }));
  }
  c.note("dropout", "the mask is made from places, not from the seed");
  const Values results = c.program().fuse({{c.in("X")}}, [&](Body& b, In in) {
    const Value mask = keeps(b, dims, rate);
    const Value y = b.select(mask, times(b, widen(b, in[0]), kept), b.like(widen(b, in[0]), 0));
    return Values{b.convert(y, b.type(in[0])), b.convert(mask, ir::Type::u8)};
  });
  c.set("Out", results[0]);
  c.set("Mask", results[1]);
}

void dropout_grad(Call& c) {
  const double rate = c.number("dropout_prob", 0.5, "P");
  const bool upscale = c.text("dropout_implementation") == "upscale_in_train" || c.text("mode") == "upscale_in_train";
  const double kept = upscale && rate < 1 ? 1 / (1 - rate) : 1;
  c.set("X@GRAD", c.fuse1({c.in("Mask"), c.in("Out@GRAD")}, [&](Body& b, In in) {
    const Value dout = widen(b, in[1]);
    return b.convert(times(b, times(b, dout, kept), b.convert(in[0], b.type(dout))), b.type(in[1]));
  }));
}

constexpr Row kNormalRows[] = {
    {"batch_norm", batch_norm, "X Scale Bias Mean Variance"},
    {"batch_norm_grad", batch_norm_grad, "X Scale SavedMean SavedVariance Y@GRAD"},
    {"dropout", dropout, "X"},
    {"dropout_grad", dropout_grad, "Mask Out@GRAD"},
    {"layer_norm", layer_norm, "X"},
    {"layer_norm_grad", layer_norm_grad, "X Mean Variance Y@GRAD"},
    {"rms_norm", rms_norm, "X"},
    {"sync_batch_norm_", batch_norm, "X Scale Bias Mean Variance"},
};

}  // namespace

std::span<const Row> normal_rows() { return kNormalRows; }

}  // namespace importers::paddle
