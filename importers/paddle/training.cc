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
      if (c.has(slot)) add(c, slot);
    }
  }
  void add(Call& c, std::string_view slot) {
    slots_.push_back(slot);
    values_.push_back(c.in(slot));
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
    const bool optional = slot == "MasterParamOut" || slot == "Moment2MaxOut" || slot == "MeanGradOut";
    if (!optional || o.has(slot.substr(0, slot.size() - 3))) c.set(slot, results[next++]);
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
  Operands o(c, {"Param", "Grad", "LearningRate", "Moment1", "Moment2", "Beta1Pow", "Beta2Pow", "MasterParam", "SkipUpdate"});
  const bool keeps_most = c.flag("amsgrad");
  if (keeps_most && !c.has("Moment2Max")) return c.fail("has no operand Moment2Max");
  if (keeps_most) o.add(c, "Moment2Max");
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
    const Value most = keeps_most ? b.binary(Op::maximum, o.of(in, "Moment2Max"), new2) : new2;
    const Value below = b.binary(Op::add, b.binary(Op::divide, b.unary(Op::sqrt, most), b.expand(root, dims)), epsilon);
    Value p = old;
    if (decays) p = times(b, p, b.expand(b.binary(Op::subtract, one, times(b, lr, coeff)), dims));
    p = b.binary(Op::subtract, p, times(b, b.expand(step, dims), b.binary(Op::divide, new1, below)));
    p = unless(b, skip, old, p);
    Values results;
    results.push_back(unless(b, skip, param, b.convert(p, b.type(param))));
    results.push_back(unless(b, skip, m1, new1));
    results.push_back(unless(b, skip, m2, new2));
    if (keeps_most) results.push_back(unless(b, skip, o.of(in, "Moment2Max"), most));
    if (o.has("MasterParam")) results.push_back(p);
    for (const auto& [slot, beta] : {std::pair("Beta1Pow", beta1), std::pair("Beta2Pow", beta2)}) {
      const Value power = o.of(in, slot);
      results.push_back(moves_powers ? unless(b, skip, power, times(b, power, beta)) : power);
    }
    return results;
  };
  const Values values = c.program().fuse(o.values(), write);
  set_all(c, o, {"ParamOut", "Moment1Out", "Moment2Out", "Moment2MaxOut", "MasterParamOut", "Beta1PowOut", "Beta2PowOut"}, values);
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

/// What the optimizers below share: old parameter (the master where there is one), gradient and rate, in the state's type.
struct Update {
  Value param, old, g, lr;
  ir::Type type;
};
Update update_of(Body& b, const Operands& o, In in, std::string_view state) {
  Update u{o.of(in, "Param"), {}, {}, {}, b.type(o.of(in, state))};
  u.old = o.has("MasterParam") ? o.of(in, "MasterParam") : b.convert(u.param, u.type);
  u.g = b.convert(o.of(in, "Grad"), u.type);
  u.lr = b.expand(scalar(b, o.of(in, "LearningRate"), u.type), b.dims(u.param));
  return u;
}
/// The new parameter in front, the new master behind the state.
Values updated(Body& b, const Operands& o, const Update& u, Value fresh, Values state) {
  state.insert(state.begin(), b.convert(fresh, b.type(u.param)));
  if (o.has("MasterParam")) state.push_back(fresh);
  return state;
}
Value moved(Body& b, Value old, double share, Value fresh) { return plus(b, times(b, old, share), times(b, fresh, 1 - share)); }
Value by(Body& b, Value x, Value y) { return b.binary(Op::divide, x, y); }

/// m += g²;  p −= lr·g / (√m + ε)
void adagrad(Call& c) {
  const Operands o(c, {"Param", "Grad", "Moment", "LearningRate", "MasterParam"});
  const Values results = c.program().fuse(o.values(), [&](Body& b, In in) {
    const Update u = update_of(b, o, in, "Moment");
    const Value moment = plus(b, o.of(in, "Moment"), times(b, u.g, u.g));
    const Value step = by(b, times(b, u.lr, u.g), plus(b, b.unary(Op::sqrt, moment), c.number("epsilon", 1e-6)));
    return updated(b, o, u, minus(b, u.old, step), {moment});
  });
  set_all(c, o, {"ParamOut", "MomentOut", "MasterParamOut"}, results);
}

/// s = ρ·s + (1 − ρ)·g²;  d = √((t + ε) / (s + ε))·g;  t = ρ·t + (1 − ρ)·d²;  p −= lr·d  (Zeiler, arXiv:1212.5701)
void adadelta(Call& c) {
  Operands o(c, {"Param", "Grad", "AvgSquaredGrad", "AvgSquaredUpdate", "MasterParam"});
  const bool has_rate = c.has("LearningRate");
  if (!has_rate) return c.fail("has no operand LearningRate");
  o.add(c, "LearningRate");
  const double rho = c.number("rho", 0.95), epsilon = c.number("epsilon", 1e-6);
  const Values results = c.program().fuse(o.values(), [&](Body& b, In in) {
    const Update u = update_of(b, o, in, "AvgSquaredGrad");
    const Value old = o.of(in, "AvgSquaredUpdate"), squares = moved(b, o.of(in, "AvgSquaredGrad"), rho, times(b, u.g, u.g));
    const Value d = times(b, b.unary(Op::sqrt, by(b, plus(b, old, epsilon), plus(b, squares, epsilon))), u.g);
    return updated(b, o, u, minus(b, u.old, times(b, u.lr, d)), {squares, moved(b, old, rho, times(b, d, d))});
  });
  set_all(c, o, {"ParamOut", "AvgSquaredGradOut", "AvgSquaredUpdateOut", "MasterParamOut"}, results);
}

/// m = β1·m + (1 − β1)·g;  n = max(|g|, β2·n + ε);  p −= lr / (1 − β1ᵗ)·m / n
void adamax(Call& c) {
  const Operands o(c, {"Param", "Grad", "LearningRate", "Moment", "InfNorm", "Beta1Pow", "MasterParam"});
  const double beta1 = c.number("beta1", 0.9), beta2 = c.number("beta2", 0.999), epsilon = c.number("epsilon", 1e-8);
  const Values results = c.program().fuse(o.values(), [&](Body& b, In in) {
    const Update u = update_of(b, o, in, "Moment");
    const Value m = moved(b, o.of(in, "Moment"), beta1, u.g);
    const Value n = b.binary(Op::maximum, b.unary(Op::abs, u.g), plus(b, times(b, o.of(in, "InfNorm"), beta2), epsilon));
    const Value power = scalar(b, o.of(in, "Beta1Pow"), u.type);
    const Value rate = by(b, u.lr, b.expand(minus(b, b.constant(u.type, 1), power), b.dims(u.param)));
    return updated(b, o, u, minus(b, u.old, times(b, rate, by(b, m, n))), {m, n});
  });
  set_all(c, o, {"ParamOut", "MomentOut", "InfNormOut", "MasterParamOut"}, results);
}

/// s = ρ·s + (1 − ρ)·g²;  v = μ·v + lr·g / √(s + ε), centred: √(s − mean(g)² + ε);  p −= v
void rmsprop(Call& c) {
  const bool centred = c.flag("centered");
  Operands o(c, {"Param", "MeanSquare", "Grad", "Moment", "LearningRate", "MasterParam"});
  if (centred && !c.has("MeanGrad")) return c.fail("has no operand MeanGrad");
  if (centred) o.add(c, "MeanGrad");
  const double rho = c.number("decay", 0.95), epsilon = c.number("epsilon", 1e-10), mu = c.number("momentum", 0);
  const Values results = c.program().fuse(o.values(), [&](Body& b, In in) {
    const Update u = update_of(b, o, in, "MeanSquare");
    const Value squares = moved(b, o.of(in, "MeanSquare"), rho, times(b, u.g, u.g));
    Values state{squares};
    Value below = squares;
    if (centred) {
      const Value mean = moved(b, o.of(in, "MeanGrad"), rho, u.g);
      below = minus(b, below, times(b, mean, mean));
      state.push_back(mean);
    }
    const Value step = times(b, times(b, u.lr, u.g), b.unary(Op::rsqrt, plus(b, below, epsilon)));
    const Value velocity = plus(b, times(b, o.of(in, "Moment"), mu), step);
    state.insert(state.begin(), velocity);
    return updated(b, o, u, minus(b, u.old, velocity), state);
  });
  set_all(c, o, {"ParamOut", "MomentOut", "MeanSquareOut", "MeanGradOut", "MasterParamOut"}, results);
}

Value length(Body& b, Value x) {
  Dims all(b.dims(x).size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
  return b.unary(Op::sqrt, b.reduce(Op::add, times(b, x, x), all));
}
/// r = m̂ / (√v̂ + ε) + λ·p;  p −= lr·(‖p‖ / ‖r‖)·r, the ratio 1 where a length is 0  (You et al., arXiv:1904.00962)
void lamb(Call& c) {
  const Operands o(c, {"Param", "Grad", "LearningRate", "Moment1", "Moment2", "Beta1Pow", "Beta2Pow", "MasterParam", "SkipUpdate"});
  const double beta1 = c.number("beta1", 0.9), beta2 = c.number("beta2", 0.999), epsilon = c.number("epsilon", 1e-6);
  const double decay = c.number("weight_decay", 0);
  const bool adapts = decay > 0 || c.flag("always_adapt");
  const Values results = c.program().fuse(o.values(), [&](Body& b, In in) {
    const Update u = update_of(b, o, in, "Moment1");
    const Value skip = o.has("SkipUpdate") ? o.of(in, "SkipUpdate") : Value{};
    const Value old1 = o.of(in, "Moment1"), old2 = o.of(in, "Moment2"), one = b.constant(u.type, 1);
    const Value m1 = moved(b, old1, beta1, u.g), m2 = moved(b, old2, beta2, times(b, u.g, u.g));
    const auto unbiased = [&](Value moment, std::string_view power) {
      return by(b, moment, b.expand(minus(b, one, scalar(b, o.of(in, power), u.type)), b.dims(moment)));
    };
    const Value below = plus(b, b.unary(Op::sqrt, unbiased(m2, "Beta2Pow")), epsilon);
    const Value r = plus(b, by(b, unbiased(m1, "Beta1Pow"), below), times(b, u.old, decay));
    const Value of_p = length(b, u.old), of_r = length(b, r), both = times(b, of_p, of_r);
    const Value ratio = b.select(b.compare(ir::Direction::GT, both, b.like(both, 0)), by(b, of_p, of_r), one);
    const Value rate = adapts ? times(b, u.lr, b.expand(ratio, b.dims(r))) : u.lr;
    const Value p = unless(b, skip, u.old, minus(b, u.old, times(b, rate, r)));
    Values state{unless(b, skip, old1, m1), unless(b, skip, old2, m2)};
    for (const auto& [slot, beta] : {std::pair("Beta1Pow", beta1), std::pair("Beta2Pow", beta2)}) {
      const Value power = o.of(in, slot);
      state.push_back(unless(b, skip, power, times(b, power, beta)));
    }
    return updated(b, o, u, p, state);
  });
  set_all(c, o, {"ParamOut", "Moment1Out", "Moment2Out", "Beta1PowOut", "Beta2PowOut", "MasterParamOut"}, results);
}

/// Cut to a length of max_norm.
void clip_by_norm(Call& c) {
  const double most = c.number("max_norm", 1);
  c.set("Out", c.fuse1({c.in("X")}, [&](Body& b, In in) {
    const Value x = widen(b, in[0]), norm = length(b, x);
    const Value factor = by(b, b.like(norm, most), b.binary(Op::maximum, norm, most));
    return b.convert(times(b, x, b.expand(factor, b.dims(x))), b.type(in[0]));
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
    {"adadelta", adadelta, "Param Grad AvgSquaredGrad AvgSquaredUpdate"},
    {"adagrad", adagrad, "Param Grad Moment LearningRate"},
    {"adam", adam<Decay::none>, "Param Grad LearningRate Moment1 Moment2 Beta1Pow Beta2Pow"},
    {"adamw", adam<Decay::decoupled>, "Param Grad LearningRate Moment1 Moment2 Beta1Pow Beta2Pow"},
    {"adamax", adamax, "Param Grad LearningRate Moment InfNorm Beta1Pow"},
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
    {"clip_by_norm", clip_by_norm, "X"},
    {"depend", copy, "X"},
    {"fetch", fetch, "X"},
    {"lamb", lamb, "Param Grad LearningRate Moment1 Moment2 Beta1Pow Beta2Pow"},
    {"memcpy", copy, "X"},
    {"memcpy_d2h", copy, "X"},
    {"memcpy_h2d", copy, "X"},
    {"momentum", momentum, "Param Grad Velocity LearningRate"},
    {"nop", nothing, ""},
    {"recv_v2", receive, ""},
    {"rmsprop", rmsprop, "Param MeanSquare Grad Moment LearningRate"},
    {"send_v2", send, "X"},
    {"sgd", sgd, "Param Grad LearningRate"},
    {"update_loss_scaling", update_loss_scaling, "FoundInfinite PrevLossScaling InGoodSteps InBadSteps"},
};

}  // namespace

std::span<const Row> training_rows() { return kTrainingRows; }

}  // namespace importers::paddle
