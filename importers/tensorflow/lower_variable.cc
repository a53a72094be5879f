// Variables: read, assigned, and updated by optimizers, each update one kernel that works in place; communication is all-reduce.
#include "importers/tensorflow/lower_rules.h"

namespace importers::tensorflow {
namespace {

using ir::Op;

Values read(Lowering& l) {
  const ir::Shape* shape = l.node.shapes.empty() ? nullptr : &l.node.shapes[0];
  const Value value = l.held(0, shape);
  return l.error.empty() ? Values{value} : Values{};
}

Values assign(Lowering& l) {
  l.variables.assign(l.node.inputs[0], l.in(1));
  return {l.in(1)};
}

/// variable op= value.
template <Op kOp>
Values assign_by(Lowering& l) {
  const ir::Shape shape = l.shape(1);
  const Value before = l.held(0, &shape);
  if (!l.error.empty()) return {};
  const Value after = l.program.fuse1({{before, l.in(1)}}, [](Body& b, std::span<const Value> x) { return b.binary(kOp, x[0], x[1]); });
  l.variables.assign(l.node.inputs[0], after);
  return {after};
}

/// An optimizer: `states` variables first, then scalars, the gradient at `gradient`. `write` gets the states' values, then all other inputs
/// in order (scalars spread over the gradient's shape), and returns the new states.
Values update(Lowering& l, size_t states, size_t gradient, const std::function<Values(Body&, std::span<const Value>)>& write) {
  const ir::Shape shape = l.shape(gradient);
  Values operands;
  for (size_t k = 0; k < states; ++k) operands.push_back(l.held(k, &shape));
  for (size_t k = states; k < l.node.inputs.size(); ++k) operands.push_back(l.in(k));
  if (!l.error.empty()) return {};
  const Values after = l.program.fuse(operands, [&](Body& b, std::span<const Value> x) {
    Values spread;
    for (const Value value : x) spread.push_back(b.expand(value, shape.dims));
    return write(b, spread);
  });
  for (size_t k = 0; k < states; ++k) l.variables.assign(l.node.inputs[k], after[k]);
  return {after[0]};
}

Value mul(Body& b, Value x, Value y) { return b.binary(Op::multiply, x, y); }
Value add(Body& b, Value x, Value y) { return b.binary(Op::add, x, y); }
Value sub(Body& b, Value x, Value y) { return b.binary(Op::subtract, x, y); }

/// (var, alpha, delta): var -= alpha·delta.
Values gradient_descent(Lowering& l) {
  return update(l, 1, 2, [](Body& b, std::span<const Value> x) { return Values{sub(b, x[0], mul(b, x[1], x[2]))}; });
}

/// (var, accumulator, lr, gradient, momentum).
Values momentum(Lowering& l) {
  const bool nesterov = attribute(l.node, "use_nesterov", false);
  return update(l, 2, 3, [&](Body& b, std::span<const Value> x) {
    const Value sum = add(b, mul(b, x[1], x[4]), x[3]);
    const Value step = nesterov ? add(b, x[3], mul(b, sum, x[4])) : sum;
    return Values{sub(b, x[0], mul(b, x[2], step)), sum};
  });
}

/// The same with the rate inside: accumulator = accumulator·momentum - lr·gradient.
Values keras_momentum(Lowering& l) {
  const bool nesterov = attribute(l.node, "use_nesterov", false);
  return update(l, 2, 3, [&](Body& b, std::span<const Value> x) {
    const Value step = mul(b, x[2], x[3]), sum = sub(b, mul(b, x[1], x[4]), step);
    return Values{add(b, x[0], nesterov ? sub(b, mul(b, sum, x[4]), step) : sum), sum};
  });
}

/// (var, m, v, beta1^t, beta2^t, lr, beta1, beta2, epsilon, gradient).
Values adam(Lowering& l) {
  return update(l, 3, 9, [](Body& b, std::span<const Value> x) {
    const auto one_minus = [&](Value v) { return sub(b, b.like(v, 1), v); };
    const Value rate = b.binary(Op::divide, mul(b, x[5], b.unary(Op::sqrt, one_minus(x[4]))), one_minus(x[3]));
    const Value m = add(b, x[1], mul(b, sub(b, x[9], x[1]), one_minus(x[6])));
    const Value v = add(b, x[2], mul(b, sub(b, mul(b, x[9], x[9]), x[2]), one_minus(x[7])));
    const Value step = b.binary(Op::divide, mul(b, rate, m), add(b, b.unary(Op::sqrt, v), x[8]));
    return Values{sub(b, x[0], step), m, v};
  });
}

/// (var, accumulator, lr, gradient); the second version has an epsilon before the gradient.
template <bool kEpsilon>
Values adagrad(Lowering& l) {
  return update(l, 2, kEpsilon ? 4 : 3, [&](Body& b, std::span<const Value> x) {
    const Value gradient = x[kEpsilon ? 4 : 3], sum = add(b, x[1], mul(b, gradient, gradient)), root = b.unary(Op::sqrt, sum);
    return Values{sub(b, x[0], b.binary(Op::divide, mul(b, x[2], gradient), kEpsilon ? add(b, root, x[3]) : root)), sum};
  });
}

/// (var, squares, momentum, lr, rho, momentum rate, epsilon, gradient).
Values rms_prop(Lowering& l) {
  return update(l, 3, 7, [](Body& b, std::span<const Value> x) {
    const Value squares = add(b, x[1], mul(b, sub(b, mul(b, x[7], x[7]), x[1]), sub(b, b.like(x[4], 1), x[4])));
    const Value step = b.binary(Op::divide, mul(b, x[3], x[7]), b.unary(Op::sqrt, add(b, squares, x[6])));
    const Value momentum = add(b, mul(b, x[2], x[5]), step);
    return Values{sub(b, x[0], momentum), squares, momentum};
  });
}

/// The sum over all replicas: on one device a stand-in.
Values all_reduce(Lowering& l) {
  const ir::CompId sum = l.program.reducer(Op::add, l.entry().type(l.in(0)));
  return {l.entry().op(Op::all_reduce, {{l.in(0)}}, {{"replica_groups", "{}"}}, nullptr, {{sum}})};
}
/// What comes from another device is a copy.
Values received(Lowering& l) { return {l.entry().op(Op::copy, {{l.in(0)}})}; }
Values same_everywhere(Lowering& l) { return {l.in(0)}; }

constexpr Rule kVariableRules[] = {
    {"ReadVariableOp", read},
    {"AssignVariableOp", assign, 2},
    {"AssignAddVariableOp", assign_by<Op::add>, 2},
    {"AssignSubVariableOp", assign_by<Op::subtract>, 2},
    {"Assign", assign, 2},
    {"AssignAdd", assign_by<Op::add>, 2},
    {"AssignSub", assign_by<Op::subtract>, 2},
    {"ResourceApplyGradientDescent", gradient_descent, 3},
    {"ApplyGradientDescent", gradient_descent, 3},
    {"ResourceApplyMomentum", momentum, 5},
    {"ApplyMomentum", momentum, 5},
    {"ResourceApplyKerasMomentum", keras_momentum, 5},
    {"ResourceApplyAdam", adam, 10},
    {"ApplyAdam", adam, 10},
    {"ResourceApplyAdagrad", adagrad<false>, 4},
    {"ApplyAdagrad", adagrad<false>, 4},
    {"ResourceApplyAdagradV2", adagrad<true>, 5},
    {"ApplyAdagradV2", adagrad<true>, 5},
    {"ResourceApplyRMSProp", rms_prop, 8},
    {"ApplyRMSProp", rms_prop, 8},
    {"BytepsPushPull", all_reduce},
    {"_Recv", received},
    {"_HostRecv", same_everywhere},
    {"HorovodAllreduce", all_reduce},
    {"CollectiveReduce", all_reduce},
    {"CollectiveReduceV2", all_reduce},
    {"NcclAllReduce", all_reduce},
    {"HorovodBroadcast", same_everywhere},
};

}  // namespace

std::span<const Rule> variable_rules() { return kVariableRules; }

}  // namespace importers::tensorflow
