// What models of language fuse: attention, its masks and turned positions, and tables and losses whose classes lie on several ranks.
// Attention is one operator and several steps: its products are library calls, its softmax is a kernel.
#include <algorithm>
#include <cmath>

#include "importers/lowering/places.h"
#include "importers/paddle/lower.h"

namespace importers::paddle {
namespace {

using ir::Direction;
using ir::Op;

// ---------------------------------------------------------------- softmax under a mask

/// x where column ≤ row, counted from the last of both dimensions, else so little that its power is 0.
Value causal(Body& b, Value x) {
  const Dims dims = b.dims(x);
  const int64_t rank = rank_of(dims), later = at(dims, rank - 1) - at(dims, rank - 2);
  const Value row = b.iota(ir::Type::s32, dims, rank - 2), column = b.iota(ir::Type::s32, dims, rank - 1);
  return b.select(b.compare(Direction::LE, column, plus(b, row, static_cast<double>(later))), x, b.like(x, -1e30));
}

template <bool kCausal>
void masked_softmax(Call& c) {
  const Dims x = c.dims("X");
  if (x.size() < 2 || (!kCausal && !broadcast_fits(x, c.dims("Mask")))) return c.fail("the mask does not fit");
  const auto write = [&](Body& b, In in) {
    const Value value = widen(b, in[0]);
    const Value masked = kCausal ? causal(b, value) : plus(b, value, b.expand(widen(b, in.back()), x));
    return b.convert(softmax_of(b, masked, rank_of(x) - 1), b.type(in[0]));
  };
  c.set("Out", kCausal ? c.fuse1({c.in("X")}, write) : c.fuse1({c.in("X"), c.in("Mask")}, write));
}

void masked_softmax_grad(Call& c) {
  const std::string_view softmax = c.has("Softmax") ? "Softmax" : "Out";
  if (c.dims(softmax) != c.dims("Out@GRAD") || c.dims(softmax).empty()) return c.fail("the gradient has another size than the result");
  c.set("X@GRAD", c.fuse1({c.in(softmax), c.in("Out@GRAD")}, [&](Body& b, In in) {
    const Value p = widen(b, in[0]), dp = widen(b, in[1]);
    return b.convert(softmax_slope(b, p, dp, b.rank(p) - 1), b.type(in[0]));
  }));
}

// ---------------------------------------------------------------- attention

/// Operands: q [b, s, h, d], k and v [b, t, g, d] with g groups of heads, here repeated for each head.
struct Attention {
  Value q, k, v, mask;
  Dims of_q, of_k;
  bool is_causal = false;
  double scale = 1;
};

Value repeated(Call& c, Value x, int64_t heads) {
  const Dims d = c.entry().dims(x);
  if (d[2] == heads) return x;
  return c.fuse1({x}, [&](Body& b, In in) {
    const Value wide = b.broadcast(in[0], {d[0], d[1], d[2], heads / d[2], d[3]}, {0, 1, 2, 4});
    return b.reshape(wide, {d[0], d[1], heads, d[3]});
  });
}

std::optional<Attention> attention_of(Call& c) {
  Attention a{{}, {}, {}, {}, c.dims("q"), c.dims("k"), c.flag("causal"), 1};
  const Dims &q = a.of_q, &k = a.of_k;
  const bool fit = q.size() == 4 && k.size() == 4 && c.dims("v") == k && q[0] == k[0] && q[3] == k[3] && k[2] > 0 && q[2] % k[2] == 0;
  if (!fit) return c.fail("is no attention of [batch, sequence, heads, size]"), std::nullopt;
  if (c.number("dropout", 0) > 0 && !c.flag("is_test")) c.note("no-dropout", "attention runs without its dropout");
  if (c.has("attn_mask") && !broadcast_fits({q[0], q[2], q[1], k[1]}, c.dims("attn_mask")))
    return c.fail("the mask does not fit"), std::nullopt;
  a.scale = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(q[3], 1)));
  a.q = c.in("q"), a.k = repeated(c, c.in("k"), q[2]), a.v = repeated(c, c.in("v"), q[2]);
  if (c.has("attn_mask")) a.mask = c.in("attn_mask");
  return a;
}

/// [b, h, s, t] in f32 or wider.
Value probabilities(Call& c, const Attention& a) {
  Body& entry = c.entry();
  const ir::Type type = wide(entry.type(a.q));
  const Value scores = entry.dot(a.q, a.k, {{0, 2}, {3}, {0, 2}, {3}}, type);
  const auto write = [&](Body& b, In in) {
    Value x = times(b, in[0], a.scale);
    if (in.size() > 1) x = plus(b, x, b.expand(b.convert(in[1], type), b.dims(x)));
    return softmax_of(b, a.is_causal ? causal(b, x) : x, 3);
  };
  return a.mask.id < 0 ? c.fuse1({scores}, write) : c.fuse1({scores, a.mask}, write);
}

/// [b, h, s, d] → [b, s, g, d]: heads of a group are summed.
Value by_sequence(Call& c, Value x, int64_t groups, ir::Type type) {
  const Dims d = c.entry().dims(x);
  return c.fuse1({x}, [&](Body& b, In in) {
    const Value apart = b.reshape(widen(b, in[0]), {d[0], groups, d[1] / groups, d[2], d[3]});
    const Value sums = d[1] == groups ? b.reshape(apart, {d[0], groups, d[2], d[3]}) : b.reduce(Op::add, apart, {2});
    return b.convert(b.transpose(sums, {0, 2, 1, 3}), type);
  });
}

void flash_attention(Call& c) {
  const auto a = attention_of(c);
  if (!a) return;
  Body& entry = c.entry();
  const ir::Type type = entry.type(a->q);
  const Value p = probabilities(c, *a);
  const Value narrow = entry.type(p) == type ? p : c.fuse1({p}, [&](Body& b, In in) { return b.convert(in[0], type); });
  const Value out = entry.dot(narrow, a->v, {{0, 1}, {3}, {0, 2}, {1}});
  c.set("out", by_sequence(c, out, a->of_q[2], type));
}

/// (q, k, v, …, dout): the probabilities are computed again, as the GPU's kernel does.
void flash_attention_grad(Call& c) {
  const auto a = attention_of(c);
  if (!a) return;
  if (c.dims("out@GRAD") != a->of_q) return c.fail("the gradient has another size than the result");
  Body& entry = c.entry();
  const ir::Type type = entry.type(a->q);
  const Value p = probabilities(c, *a), dout = c.in("out@GRAD");
  const auto narrow = [&](Value x) { return c.fuse1({x}, [&](Body& b, In in) { return b.convert(in[0], type); }); };
  const Value dv = entry.dot(narrow(p), dout, {{0, 1}, {2}, {0, 2}, {1}});
  const Value dp = entry.dot(dout, a->v, {{0, 2}, {3}, {0, 2}, {3}}, entry.type(p));
  const Value ds = c.fuse1({p, dp}, [&](Body& b, In in) { return b.convert(times(b, softmax_slope(b, in[0], in[1], 3), a->scale), type); });
  const Value dq = entry.dot(ds, a->k, {{0, 1}, {3}, {0, 2}, {1}}), dk = entry.dot(ds, a->q, {{0, 1}, {2}, {0, 2}, {1}});
  c.set("q@GRAD", by_sequence(c, dq, a->of_q[2], type));
  c.set("k@GRAD", by_sequence(c, dk, a->of_k[2], type));
  c.set("v@GRAD", by_sequence(c, dv, a->of_k[2], type));
}

// ---------------------------------------------------------------- turned positions

/// Su et al. 2021: pairs of elements turn by an angle that grows with the place. Pairs are neighbours ("neox" in Paddle's words), or
/// elements of both halves. `back`: the other way, as gradients go.
Value turned(Body& b, Value x, Value cosine, Value sine, bool neighbours, bool back) {
  const Dims d = b.dims(x);
  const int64_t pair = neighbours ? 4 : 3;
  const auto other = [&](Value v) {
    const Value apart = b.reshape(v, neighbours ? Dims{d[0], d[1], d[2], d[3] / 2, 2} : Dims{d[0], d[1], d[2], 2, d[3] / 2});
    const Value first = b.part(apart, pair, 0, 1), second = b.part(apart, pair, 1, 2);
    const Value swapped =
        b.concatenate(back ? Values{second, b.unary(Op::negate, first)} : Values{b.unary(Op::negate, second), first}, pair);
    return b.reshape(swapped, d);
  };
  const auto wide_of = [&](Value v) { return b.broadcast(b.reshape(widen(b, v), {d[1], d[3]}), d, {1, 3}); };
  const Value wide = widen(b, x), c = wide_of(cosine), s = wide_of(sine);
  return b.convert(plus(b, times(b, wide, c), back ? other(times(b, wide, s)) : times(b, other(wide), s)), b.type(x));
}

template <bool kBack>
void rotary(Call& c) {
  if (!c.has("sin") || !c.has("cos") || c.has("position_ids") || c.flag("time_major"))
    return c.fail("computes its angles itself, or takes them by number");
  for (const std::string slot : {"q", "k", "v"}) {
    const std::string from = kBack ? "out_" + slot + "@GRAD" : slot;
    if (!c.has(from)) continue;
    const Dims d = c.dims(from);
    if (d.size() != 4 || d[3] % 2 != 0 || elements_of(c.dims("sin")) != d[1] * d[3] || c.dims("sin") != c.dims("cos"))
      return c.fail("has angles of another size");
    const bool neighbours = c.flag("use_neox_rotary_style", true);
    c.set(kBack ? slot + "@GRAD" : "out_" + slot, c.fuse1({c.in(from), c.in("cos"), c.in("sin")}, [&](Body& b, In in) {
      return turned(b, in[0], in[1], in[2], neighbours, kBack);
    }));
  }
}

// ---------------------------------------------------------------- tables that lie on several ranks

/// Ids less the first of this rank; -1 where a row lies elsewhere.
Value own_row(Body& b, Value ids, double first, int64_t rows) {
  const Value row = plus(b, ids, -first);
  const Value is_own = b.binary(Op::and_, b.compare(Direction::GE, row, b.like(row, 0)),
                                b.compare(Direction::LT, row, b.like(row, static_cast<double>(rows))));
  return b.select(is_own, row, b.like(row, -1));
}

/// Rows that lie elsewhere are 0.
void shared_embedding(Call& c) {
  const Dims table = c.dims("W");
  if (table.size() != 2 || table[0] < 1) return c.fail("the table is no matrix");
  const double first = c.number("start_index", 0);
  c.set("Out", c.fuse1({c.in("W"), c.in("Ids")}, [&](Body& b, In in) {
    const Value row = own_row(b, in[1], first, table[0]), rows = take(b, in[0], b.binary(Op::maximum, row, 0), 0);
    const Value is_own = b.broadcast(b.compare(Direction::GE, row, b.like(row, 0)), b.dims(rows), counting(0, b.rank(row)));
    return b.select(is_own, rows, b.like(rows, 0));
  }));
}

void shared_embedding_grad(Call& c) {
  const Dims table = c.dims("W");
  if (table.size() != 2 || elements_of(c.dims("Out@GRAD")) != elements_of(c.dims("Ids")) * table[1])
    return c.fail("the gradient has another size than the rows");
  const double first = c.number("start_index", 0);
  const ir::CompId add = c.program().reducer(Op::add, wide(c.type("Out@GRAD")));
  c.set("W@GRAD", c.fuse1({c.in("Ids"), c.in("Out@GRAD")}, [&](Body& b, In in) {
    const Value zero = b.fill(wide(b.type(in[1])), table, 0);
    return b.convert(give(b, zero, own_row(b, in[0], first, table[0]), widen(b, in[1]), 0, add), b.type(in[1]));
  }));
}

constexpr Row kAttentionRows[] = {
    {"c_embedding", shared_embedding, "W Ids"},
    {"c_embedding_grad", shared_embedding_grad, "W Ids Out@GRAD"},
    {"flash_attn", flash_attention, "q k v"},
    {"flash_attn_grad", flash_attention_grad, "q k v out@GRAD"},
    {"fused_rotary_position_embedding", rotary<false>, "q"},
    {"fused_rotary_position_embedding_grad", rotary<true>, "out_q@GRAD"},
    {"fused_softmax_mask", masked_softmax<false>, "X Mask"},
    {"fused_softmax_mask_grad", masked_softmax_grad, "Out@GRAD"},
    {"fused_softmax_mask_upper_triangle", masked_softmax<true>, "X"},
    {"fused_softmax_mask_upper_triangle_grad", masked_softmax_grad, "Out@GRAD"},
};

}  // namespace

std::span<const Row> attention_rows() { return kAttentionRows; }

}  // namespace importers::paddle
