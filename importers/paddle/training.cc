// What surrounds the model in a training program: optimizers, loss scaling, gradient clipping, and what goes between devices. State is
// changed in place: an output slot names the variable that its input slot does.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "importers/paddle/lower.h"

namespace importers::paddle {
namespace {

using ir::Op;

/// A tensor of one element as a scalar of the type.
Value scalar(Body& b, Value value, ir::Type type) { return b.reshape(b.convert(value, type), {}); }

/// Operands by slot, in the order in which they enter the kernel.
class Operands {
 public:
  Operands(Call& c, std::initializer_list<std::string_view> slots) {
    for (const std::string_view slot : slots) {
      if (!c.has(slot)) continue;
      slots_.push_back(slot);
      values_.push_back(c.in(slot));
    }
  }
  const Values& values() const { return values_; }
  bool has(std::string_view slot) const { return std::ranges::find(slots_, slot) != slots_.end(); }
  Value of(In in, std::string_view slot) const { return in[static_cast<size_t>(std::ranges::find(slots_, slot) - slots_.begin())]; }

 private:
  std::vector<std::string_view> slots_;
  Values values_;
};

/// Results in order; those of absent state are left out.
void set_all(Call& c, const Operands& o, std::initializer_list<std::string_view> slots, const Values& results) {
  size_t next = 0;
  for (const std::string_view slot : slots) {
    if (slot != "MasterParamOut" || o.has("MasterParam")) c.set(slot, results[next++]);
  }
}

/// Where the step is skipped (a gradient was not finite) the old state stays.
Value unless(Body& b, Value skip, Value old, Value fresh) {
  if (skip.id < 0) return fresh;
  return b.select(b.expand(b.reshape(skip, {}), b.dims(old)), old, fresh);
}

enum class Decay : uint8_t { none, decoupled };

/// Adam and AdamW (Loshchilov & Hutter, arXiv:1711.05101) as phi's adamw_kernel:
///   p ·= 1 − lr·coeff;  m1 = β1·m1 + (1 − β1)·g;  m2 = β2·m2 + (1 − β2)·g²
///   p −= lr / (1 − β1ᵗ) · m1 / (√m2 / √(1 − β2ᵗ) + ε)
template <Decay kDecay>
void adam(Call& c) {
  if (c.flag("amsgrad")) return c.fail("amsgrad is not lowered");
  const Operands o(c, {"Param", "Grad", "LearningRate", "Moment1", "Moment2", "Beta1Pow", "Beta2Pow", "MasterParam", "SkipUpdate"});
  const double beta1 = c.number("beta1", 0.9, "Beta1Tensor"), beta2 = c.number("beta2", 0.999, "Beta2Tensor");
  const double epsilon = c.number("epsilon", 1e-8, "EpsilonTensor"), coeff = c.number("coeff", 0.01), ratio = c.number("lr_ratio", 1);
  const bool decays = kDecay == Decay::decoupled && c.flag("with_decay");
  const bool moves_powers = !c.flag("use_global_beta_pow");
  const auto write = [&](Body& b, In in) {
    const Value param = o.of(in, "Param"), m1 = o.of(in, "Moment1"), m2 = o.of(in, "Moment2");
    const ir::Type type = b.type(m1);
    const Dims dims = b.dims(param);
    const Value skip = o.has("SkipUpdate") ? o.of(in, "SkipUpdate") : Value{};
    const Value old = o.has("MasterParam") ? o.of(in, "MasterParam") : b.convert(param, type);
    const Value g = b.convert(o.of(in, "Grad"), type);
    const Value p1 = scalar(b, o.of(in, "Beta1Pow"), type), p2 = scalar(b, o.of(in, "Beta2Pow"), type);
    const Value lr = times(b, scalar(b, o.of(in, "LearningRate"), type), ratio);
    const Value one = b.constant(type, 1);
    const Value new1 = plus(b, times(b, m1, beta1), times(b, g, 1 - beta1)),
                new2 = plus(b, times(b, m2, beta2), times(b, times(b, g, g), 1 - beta2));
    const Value step = b.binary(Op::divide, lr, b.binary(Op::subtract, one, p1));
    const Value root = b.unary(Op::sqrt, b.binary(Op::subtract, one, p2));
    const Value below = b.binary(Op::add, b.binary(Op::divide, b.unary(Op::sqrt, new2), b.expand(root, dims)), epsilon);
    Value p = old;
    if (decays) p = times(b, p, b.expand(b.binary(Op::subtract, one, times(b, lr, coeff)), dims));
    p = b.binary(Op::subtract, p, times(b, b.expand(step, dims), b.binary(Op::divide, new1, below)));
    p = unless(b, skip, old, p);
    Values results;
    results.push_back(unless(b, skip, param, b.convert(p, b.type(param))));
    results.push_back(unless(b, skip, m1, new1));
    results.push_back(unless(b, skip, m2, new2));
    if (o.has("MasterParam")) results.push_back(p);
    for (const auto& [slot, beta] : {std::pair("Beta1Pow", beta1), std::pair("Beta2Pow", beta2)}) {
      const Value power = o.of(in, slot);
      results.push_back(moves_powers ? unless(b, skip, power, times(b, power, beta)) : power);
    }
    return results;
  };
  const Values values = c.program().fuse(o.values(), write);
  set_all(c, o, {"ParamOut", "Moment1Out", "Moment2Out", "MasterParamOut", "Beta1PowOut", "Beta2PowOut"}, values);
}

/// v = μ·v + g;  p −= lr·v, or lr·(g + μ·v) as Nesterov has it.
void momentum(Call& c) {
  const Operands o(c, {"Param", "Grad", "Velocity", "LearningRate", "MasterParam"});
  const double mu = c.number("mu", 0.9), decay = c.text("regularization_method") == "l2_decay" ? c.number("regularization_coeff", 0) : 0;
  const bool nesterov = c.flag("use_nesterov");
  const auto write = [&](Body& b, In in) {
    const Value param = o.of(in, "Param"), velocity = o.of(in, "Velocity");
    const ir::Type type = b.type(velocity);
    const Value old = o.has("MasterParam") ? o.of(in, "MasterParam") : b.convert(param, type);
    const Value lr = b.expand(scalar(b, o.of(in, "LearningRate"), type), b.dims(param));
    Value g = b.convert(o.of(in, "Grad"), type);
    if (decay != 0) g = plus(b, g, times(b, old, decay));
    const Value fresh = plus(b, times(b, velocity, mu), g);
    const Value p = b.binary(Op::subtract, old, times(b, lr, nesterov ? plus(b, g, times(b, fresh, mu)) : fresh));
    Values results{b.convert(p, b.type(param)), fresh};
    if (o.has("MasterParam")) results.push_back(p);
    return results;
  };
  set_all(c, o, {"ParamOut", "VelocityOut", "MasterParamOut"}, c.program().fuse(o.values(), write));
}

void sgd(Call& c) {
  c.set("ParamOut", c.fuse1({c.in("Param"), c.in("Grad"), c.in("LearningRate")}, [&](Body& b, In in) {
    const Value p = widen(b, in[0]);
    const Value lr = b.expand(scalar(b, in[2], b.type(p)), b.dims(p));
    return b.convert(b.binary(Op::subtract, p, times(b, lr, b.convert(in[1], b.type(p)))), b.type(in[0]));
  }));
}

// ---------------------------------------------------------------- loss scaling

Value all_finite(Body& b, Value value) {
  const Value finite = b.unary(Op::is_finite, value);
  Dims all(b.dims(value).size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
  return b.reduce(Op::and_, finite, all);
}

/// Outᵢ = Xᵢ / Scale; FoundInfinite = some element of some Xᵢ is not finite.
void check_finite_and_unscale(Call& c) {
  Values operands = c.all("X");
  if (operands.empty()) return c.fail("has no operand");
  const size_t n = operands.size();
  operands.push_back(c.in("Scale"));
  const Values results = c.program().fuse(operands, [&](Body& b, In in) {
    Values made;
    Value finite{};
    for (const Value x : in.first(n)) {
      const Value wide_x = widen(b, x);
      const Value inverse = b.binary(Op::divide, b.constant(b.type(wide_x), 1), scalar(b, in[n], b.type(wide_x)));
      made.push_back(b.convert(times(b, wide_x, b.expand(inverse, b.dims(x))), b.type(x)));
      finite = finite.id < 0 ? all_finite(b, x) : b.binary(Op::and_, finite, all_finite(b, x));
    }
    made.push_back(b.reshape(b.unary(Op::not_, finite), {1}));
    return made;
  });
  for (size_t k = 0; k < n; ++k) c.set("Out", results[k], k);
  c.set("FoundInfinite", results[n]);
}

/// Where something was infinite all gradients become 0 and, every decr_every_n_nan_or_inf steps, the scale shrinks; after
/// incr_every_n_steps good steps it grows, unless that overflows.
void update_loss_scaling(Call& c) {
  Values operands = c.all("X");
  const size_t n = operands.size();
  for (const std::string_view slot : {"FoundInfinite", "PrevLossScaling", "InGoodSteps", "InBadSteps"}) operands.push_back(c.in(slot));
  const double grow = c.number("incr_ratio", 2), shrink = c.number("decr_ratio", 0.5);
  const double good_steps = c.number("incr_every_n_steps", 1000), bad_steps = c.number("decr_every_n_nan_or_inf", 2);
  const bool stops = c.flag("stop_update", false);
  const Values results = c.program().fuse(operands, [&](Body& b, In in) {
    const Value found = b.reshape(in[n], {}), scale = in[n + 1], good = in[n + 2], bad = in[n + 3];
    const auto where = [&](Value condition, Value yes, Value no) {
      return b.select(b.expand(b.reshape(condition, {}), b.dims(yes)), yes, no);
    };
    Values made;
    for (const Value x : in.first(n)) made.push_back(where(found, b.like(x, 0), x));
    const Value more_bad = b.binary(Op::add, bad, 1.0), more_good = b.binary(Op::add, good, 1.0);
    const Value shrinks = b.compare(ir::Direction::EQ, more_bad, b.like(more_bad, bad_steps)),
                grows = b.compare(ir::Direction::EQ, more_good, b.like(more_good, good_steps));
    const Value smaller = b.binary(Op::maximum, times(b, scale, shrink), 1.0), larger = times(b, scale, grow);
    const Value grown = where(b.unary(Op::is_finite, larger), larger, scale);
    made.push_back(where(found, where(shrinks, smaller, scale), where(grows, grown, scale)));
    made.push_back(where(found, b.like(good, 0), where(grows, b.like(good, 0), more_good)));
    made.push_back(where(found, where(shrinks, b.like(bad, 0), more_bad), b.like(bad, 0)));
    return made;
  });
  for (size_t k = 0; k < n; ++k) c.set("Out", results[k], k);
  c.set("LossScaling", stops ? c.in("PrevLossScaling") : results[n]);
  c.set("OutGoodSteps", stops ? c.in("InGoodSteps") : results[n + 1]);
  c.set("OutBadSteps", stops ? c.in("InBadSteps") : results[n + 2]);
}

// ---------------------------------------------------------------- between devices

/// On one device a collective gives back what it was given: a replay copies in its place.
template <Op kReduce>
void all_reduce(Call& c) {
  const Value x = c.in("X");
  const ir::CompId reducer = c.program().reducer(kReduce, c.type("X"));
  c.set("Out", c.entry().op(Op::all_reduce, {{x}}, {{"replica_groups", "{}"}}, nullptr, {{reducer}}));
}

void broadcast(Call& c) {
  const Value x = c.in("X");
  const ir::Shape shape = c.entry().shape(x);
  c.set("Out", c.entry().op(Op::collective_broadcast, {{x}}, {{"replica_groups", "{{0}}"}}, &shape));
}

/// What is sent leaves the program; nothing runs.
void send(Call& c) { c.program().result(c.in("X")); }

/// What another stage sends is generated, once, before the program runs.
void receive(Call& c) {
  const auto type = c.named_type("dtype");
  const auto dims = c.sizes("out_shape");
  if (!type || !dims || std::ranges::any_of(*dims, [](int64_t dim) { return dim < 0; }))
    return c.fail("the shape is known at run time only");
  c.set("Out",
        c.program().parameter(fmt::format("recv_{}", c.integer("peer", 0)), ir::array_shape(*type, *dims), R"({"uniform": [-1, 1]})"));
}

void nothing(Call&) {}
void fetch(Call& c) {
  const Value value = c.in("X");
  c.program().result(value);
  if (c.wants("Out")) c.set("Out", value);
}

constexpr Row kTrainingRows[] = {
    {"adam", adam<Decay::none>, "Param Grad LearningRate Moment1 Moment2 Beta1Pow Beta2Pow"},
    {"adamw", adam<Decay::decoupled>, "Param Grad LearningRate Moment1 Moment2 Beta1Pow Beta2Pow"},
    {"c_allreduce_max", all_reduce<Op::maximum>, "X"},
    {"c_allreduce_min", all_reduce<Op::minimum>, "X"},
    {"c_allreduce_prod", all_reduce<Op::multiply>, "X"},
    {"c_allreduce_sum", all_reduce<Op::add>, "X"},
    {"c_broadcast", broadcast, "X"},
    {"c_identity", copy, "X"},
    {"c_reduce_sum", all_reduce<Op::add>, "X"},
    {"c_sync_calc_stream", copy, "X"},
    {"c_sync_comm_stream", copy, "X"},
    {"check_finite_and_unscale", check_finite_and_unscale, "X Scale"},
    {"depend", copy, "X"},
    {"fetch", fetch, "X"},
    {"memcpy", copy, "X"},
    {"memcpy_d2h", copy, "X"},
    {"memcpy_h2d", copy, "X"},
    {"momentum", momentum, "Param Grad Velocity LearningRate"},
    {"nop", nothing, ""},
    {"recv_v2", receive, ""},
    {"send_v2", send, "X"},
    {"sgd", sgd, "Param Grad LearningRate"},
    {"update_loss_scaling", update_loss_scaling, "FoundInfinite PrevLossScaling InGoodSteps InBadSteps"},
};

}  // namespace

std::span<const Row> training_rows() { return kTrainingRows; }

}  // namespace importers::paddle
