// Products, biases, normalisation, losses, with their gradients. Products are library calls, everything else is one kernel. Sources of the
// formulas: TensorFlow's documentation of each op.
#include <algorithm>

#include "importers/tensorflow/lower_rules.h"

namespace importers::tensorflow {
namespace {

using ir::Op;

/// A vector a feature, spread over the shape of `like`.
Value by_feature(Body& b, Value vector, Value like, int64_t features) { return b.broadcast(vector, b.dims(like), {features}); }

/// All dimensions but that of the features.
Dims others(int64_t rank, int64_t features) {
  Dims dims;
  for (int64_t d = 0; d < rank; ++d) {
    if (d != features) dims.push_back(d);
  }
  return dims;
}

/// The last dimension, but for images with features first.
int64_t bias_dimension(const Node& node, int64_t rank) {
  return attribute(node, "data_format", std::string("NHWC")).starts_with("NC") && rank > 2 ? 1 : rank - 1;
}

Values bias_add(Lowering& l) {
  const int64_t features = bias_dimension(l.node, l.shape(0).rank());
  return {l.program.fuse1({{l.in(0), l.in(1)}},
                          [&](Body& b, std::span<const Value> x) { return b.binary(Op::add, x[0], by_feature(b, x[1], x[0], features)); })};
}

Values bias_add_grad(Lowering& l) {
  const int64_t rank = l.shape(0).rank(), features = bias_dimension(l.node, rank);
  return {l.program.fuse1({{l.in(0)}}, [&](Body& b, std::span<const Value> x) { return b.reduce(Op::add, x[0], others(rank, features)); })};
}

ir::DotDims matrices(bool transpose_a, bool transpose_b, int64_t rank) {
  ir::DotDims dims;
  for (int64_t d = 0; d + 2 < rank; ++d) dims.lhs_batch.push_back(d), dims.rhs_batch.push_back(d);
  dims.lhs_contracting = {rank - (transpose_a ? 2 : 1)};
  dims.rhs_contracting = {rank - (transpose_b ? 1 : 2)};
  return dims;
}

Values mat_mul(Lowering& l) {
  if (l.shape(0).rank() != 2 || l.shape(1).rank() != 2) return l.fail("is a product of other than matrices");
  return {l.entry().dot(l.in(0), l.in(1), matrices(attribute(l.node, "transpose_a", false), attribute(l.node, "transpose_b", false), 2))};
}

/// All but the last two: which of a stack of matrices.
Dims stack_of(const Dims& dims) { return {dims.begin(), dims.end() - 2}; }

/// Are all sizes those of `to`, from the end, or 1?
bool spreads(const Dims& from, const Dims& to) {
  return from.size() <= to.size() &&
         std::equal(from.rbegin(), from.rend(), to.rbegin(), [](int64_t a, int64_t b) { return a == b || a == 1; });
}

/// Operand k repeated to a stack of these sizes, by a kernel unless it has them.
Value stacked(Lowering& l, size_t k, const Dims& stack) {
  const Dims dims = l.dims(k);
  if (stack_of(dims) == stack) return l.in(k);
  Dims to = stack;
  to.insert(to.end(), dims.end() - 2, dims.end());
  return l.program.fuse1({{l.in(k)}}, [&](Body& b, std::span<const Value> x) { return b.expand(x[0], to); });
}

/// Stacks of matrices; stacks of unlike sizes are broadcast as numpy does. One matrix to the right of a stack is a single product.
Values batch_mat_mul(Lowering& l) {
  const Dims a = l.dims(0), b = l.dims(1);
  const bool turned_a = attribute(l.node, "adj_x", false), turned_b = attribute(l.node, "adj_y", false);
  if (a.size() < 2 || b.size() < 2) return l.fail("is a product of other than matrices");
  if (b.size() == 2 && a.size() > 2 && !turned_a) {
    const auto last = static_cast<int64_t>(a.size()) - 1;
    return {l.entry().dot(l.in(0), l.in(1), {{}, {last}, {}, {turned_b ? 1 : 0}})};
  }
  const Dims stack = lowering::joined(stack_of(a), stack_of(b));
  const auto rank = static_cast<int64_t>(stack.size()) + 2;
  if (!are_sane(stack) || !spreads(stack_of(a), stack) || !spreads(stack_of(b), stack)) return l.fail("has stacks that do not fit");
  return {l.entry().dot(stacked(l, 0, stack), stacked(l, 1, stack), matrices(turned_a, turned_b, rank))};
}

/// What a fused product or convolution ends with, by name.
Value ending(Body& b, std::string_view name, Value value, Value bias, int64_t features) {
  if (name == "BiasAdd") return b.binary(Op::add, value, by_feature(b, bias, value, features));
  if (name == "Relu") return b.binary(Op::maximum, value, 0);
  if (name == "Relu6") return b.binary(Op::minimum, b.binary(Op::maximum, value, 0), 6);
  if (name == "Tanh") return b.unary(Op::tanh, value);
  if (name == "Sigmoid") return b.unary(Op::logistic, value);
  return {};
}

}  // namespace

Values fused(Lowering& l, int64_t features, const std::function<Value(Body&, std::span<const Value>)>& start) {
  const auto names = attribute(l.node, "fused_ops", std::vector<std::string>{});
  const bool has_bias = std::ranges::find(names, "BiasAdd") != names.end();
  if (has_bias && l.node.inputs.size() < 3) return l.fail("has no bias to add");
  for (const std::string& name : names) {
    static constexpr std::string_view kKnown[] = {"BiasAdd", "Relu", "Relu6", "Tanh", "Sigmoid"};
    if (std::ranges::find(kKnown, name) == std::end(kKnown)) return l.fail("ends with " + name);
  }
  return l.fuse([&](Body& b, std::span<const Value> x) {
    Value value = start(b, x);
    for (const std::string& name : names) value = ending(b, name, value, x[2], features);
    return Values{value};
  });
}

namespace {

Values fused_mat_mul(Lowering& l) {
  const ir::DotDims dims = matrices(attribute(l.node, "transpose_a", false), attribute(l.node, "transpose_b", false), 2);
  return fused(l, 1, [&](Body& b, std::span<const Value> x) { return b.dot(x[0], x[1], dims); });
}

struct Norm {
  int64_t features;
  Dims rest;     ///< what statistics run over
  double count;  ///< of elements a feature
  double epsilon;
};
Norm norm_of(Lowering& l, size_t image) {
  const Dims dims = l.dims(image);
  Norm norm{format_of(l.node).features, {}, 1, attribute(l.node, "epsilon", 1e-4)};
  norm.rest = others(static_cast<int64_t>(dims.size()), norm.features);
  for (const int64_t d : norm.rest) norm.count *= static_cast<double>(dims[static_cast<size_t>(d)]);
  return norm;
}

Value scaled_sum(Body& b, Value value, const Norm& norm, double factor) {
  return b.binary(Op::multiply, b.reduce(Op::add, value, norm.rest), factor);
}
Value inverse_deviation(Body& b, Value variance, double epsilon) { return b.unary(Op::rsqrt, b.binary(Op::add, variance, epsilon)); }

/// (1 - factor)·running + factor·batch.
Value running(Body& b, Value before, Value batch, double factor) {
  if (factor == 1) return batch;
  return b.binary(Op::add, b.binary(Op::multiply, before, 1 - factor), b.binary(Op::multiply, batch, factor));
}

/// (x, scale, offset, mean, variance) → y, the running mean and variance, and what the gradient needs: mean and variance of the batch, and
/// an empty array. The running variance is corrected by n/(n-1).
Values batch_norm(Lowering& l) {
  const Norm norm = norm_of(l, 0);
  const bool training = attribute(l.node, "is_training", true);
  const double factor = attribute(l.node, "exponential_avg_factor", 1.0), bessel = norm.count > 1 ? norm.count / (norm.count - 1) : 1;
  const Values operands{l.in(0), l.in(1), l.in(2), l.in(3), l.in(4)};
  Values results = l.program.fuse(operands, [&](Body& b, std::span<const Value> x) {
    const auto wide = [&](Value v) { return by_feature(b, v, x[0], norm.features); };
    const Value mean = training ? scaled_sum(b, x[0], norm, 1 / norm.count) : x[3];
    const Value centred = b.binary(Op::subtract, x[0], wide(mean));
    const Value variance = training ? scaled_sum(b, b.binary(Op::multiply, centred, centred), norm, 1 / norm.count) : x[4];
    const Value scale = b.binary(Op::multiply, inverse_deviation(b, variance, norm.epsilon), x[1]);
    const Value y = b.binary(Op::add, b.binary(Op::multiply, centred, wide(scale)), wide(x[2]));
    if (!training) return Values{y};
    const Value corrected = b.binary(Op::multiply, variance, bessel);
    return Values{y, running(b, x[3], mean, factor), running(b, x[4], corrected, factor), mean, variance};
  });
  if (!training) return {results[0], l.in(3), l.in(4), l.in(3), l.in(4), Value{}};
  results.push_back({});
  return results;
}

/// (gradient of y, x, scale, mean of the batch, variance of the batch) → gradients of x, scale and offset.
Values batch_norm_grad(Lowering& l) {
  const Norm norm = norm_of(l, 1);
  const bool training = attribute(l.node, "is_training", true);
  const Values operands{l.in(0), l.in(1), l.in(2), l.in(3), l.in(4)};
  Values results = l.program.fuse(operands, [&](Body& b, std::span<const Value> x) {
    const auto wide = [&](Value v) { return by_feature(b, v, x[1], norm.features); };
    const Value inverse = inverse_deviation(b, x[4], norm.epsilon);
    const Value centred = b.binary(Op::subtract, x[1], wide(x[3]));
    const Value offset_grad = b.reduce(Op::add, x[0], norm.rest);
    const Value scale_grad = b.binary(Op::multiply, b.reduce(Op::add, b.binary(Op::multiply, x[0], centred), norm.rest), inverse);
    Value inside = x[0];
    if (training) {
      const Value by_mean = b.binary(Op::multiply, offset_grad, 1 / norm.count);
      const Value by_deviation = b.binary(Op::multiply, b.binary(Op::multiply, scale_grad, inverse), 1 / norm.count);
      inside = b.binary(Op::subtract, b.binary(Op::subtract, x[0], wide(by_mean)), b.binary(Op::multiply, centred, wide(by_deviation)));
    }
    return Values{b.binary(Op::multiply, inside, wide(b.binary(Op::multiply, x[2], inverse))), scale_grad, offset_grad};
  });
  results.resize(5);
  return results;
}

/// x minus its maximum along the last dimension, e to it, and the sum of that.
struct Exponentials {
  Value shifted, powers, sum;
};
Exponentials exponentials(Body& b, Value x) {
  const int64_t last = b.rank(x) - 1;
  Dims rows;
  for (int64_t d = 0; d < last; ++d) rows.push_back(d);
  const Value shifted = b.binary(Op::subtract, x, b.broadcast(b.reduce(Op::maximum, x, {last}), b.dims(x), rows));
  const Value powers = b.unary(Op::exponential, shifted);
  return {shifted, powers, b.reduce(Op::add, powers, {last})};
}
Value by_row(Body& b, Value row, Value like) {
  Dims rows;
  for (int64_t d = 0; d + 1 < b.rank(like); ++d) rows.push_back(d);
  return b.broadcast(row, b.dims(like), rows);
}

Values softmax(Lowering& l) {
  return l.fuse([](Body& b, std::span<const Value> x) {
    const Exponentials e = exponentials(b, x[0]);
    return Values{b.binary(Op::divide, e.powers, by_row(b, e.sum, x[0]))};
  });
}

Values log_softmax(Lowering& l) {
  return l.fuse([](Body& b, std::span<const Value> x) {
    const Exponentials e = exponentials(b, x[0]);
    return Values{b.binary(Op::subtract, e.shifted, by_row(b, b.unary(Op::log, e.sum), x[0]))};
  });
}

/// Loss and its gradient from logits [n, c] and what the row should be, as [n, c].
Values cross_entropy(Body& b, Value logits, Value target) {
  const int64_t last = b.rank(logits) - 1;
  const Exponentials e = exponentials(b, logits);
  const Value log_sum = b.unary(Op::log, e.sum);
  const Value log_likely = b.binary(Op::subtract, e.shifted, by_row(b, log_sum, logits));
  const Value loss = b.unary(Op::negate, b.reduce(Op::add, b.binary(Op::multiply, target, log_likely), {last}));
  return {loss, b.binary(Op::subtract, b.binary(Op::divide, e.powers, by_row(b, e.sum, logits)), target)};
}

/// (logits [n, c], labels [n]).
Values sparse_cross_entropy(Lowering& l) {
  return l.fuse([](Body& b, std::span<const Value> x) {
    const Value classes = b.iota(b.type(x[1]), b.dims(x[0]), 1);
    const Value hit = b.compare(ir::Direction::EQ, b.broadcast(x[1], b.dims(x[0]), {0}), classes);
    return cross_entropy(b, x[0], b.convert(hit, b.type(x[0])));
  });
}

Values dense_cross_entropy(Lowering& l) {
  return l.fuse([](Body& b, std::span<const Value> x) { return cross_entropy(b, x[0], x[1]); });
}

constexpr Rule kNetworkRules[] = {
    {"MatMul", mat_mul, 2},
    {"BatchMatMul", batch_mat_mul, 2},
    {"BatchMatMulV2", batch_mat_mul, 2},
    {"BatchMatMulV3", batch_mat_mul, 2},
    {"_FusedMatMul", fused_mat_mul, 2},
    {"BiasAdd", bias_add, 2},
    {"BiasAddV1", bias_add, 2},
    {"BiasAddGrad", bias_add_grad},
    {"FusedBatchNorm", batch_norm, 5},
    {"FusedBatchNormV2", batch_norm, 5},
    {"FusedBatchNormV3", batch_norm, 5},
    {"FusedBatchNormGrad", batch_norm_grad, 5},
    {"FusedBatchNormGradV2", batch_norm_grad, 5},
    {"FusedBatchNormGradV3", batch_norm_grad, 5},
    {"Softmax", softmax},
    {"LogSoftmax", log_softmax},
    {"SoftmaxCrossEntropyWithLogits", dense_cross_entropy, 2},
    {"SparseSoftmaxCrossEntropyWithLogits", sparse_cross_entropy, 2},
};

}  // namespace

std::span<const Rule> network_rules() { return kNetworkRules; }

}  // namespace importers::tensorflow
