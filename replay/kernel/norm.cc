// Training: two sums over all but the feature dimension, the second of squared distances from the mean. Gradients, with c = x - mean and
// r = 1/√(variance + ε): offset Σdy, scale r·Σ(dy·c), x: scale·r·(dy - Σdy/n - c·r·(scale's gradient)/n).
#include "replay/kernel/norm.h"

#include <charconv>

#include "src/ir/attr.h"

namespace kernel {
namespace {

using ir::Op;

double epsilon_of(const Evaluator& evaluator, Ref ref) {
  double value = 0;
  const auto text = ir::attr_text(evaluator.module(), evaluator.instr(ref), "epsilon");
  if (text) std::from_chars(text->data(), text->data() + text->size(), value);
  return value;
}

/// Values of one op at one place, in the register type of its elements.
struct Formula {
  Evaluator& evaluator;
  Ref ref;
  Reg reg;
  int64_t feature_dimension, count;

  Graph& g() const { return evaluator.graph(); }
  NodeId number(double value) const { return g().real(reg, value); }
  NodeId op(Code code, NodeId a, NodeId b) const { return g().binary(code, a, b); }
  base::Result<NodeId> at(size_t operand, const Place& place) const { return evaluator.value(evaluator.operand(ref, operand), {}, place); }
  Place feature(const Place& place) const { return {place[static_cast<size_t>(feature_dimension)]}; }
  NodeId mean_of(NodeId sum) const { return op(Code::fdiv, sum, number(static_cast<double>(count))); }
  /// 1/√(variance + ε)
  NodeId inverse(NodeId variance) const {
    return op(Code::fdiv, number(1), g().unary(Code::sqrt, op(Code::add, variance, number(epsilon_of(evaluator, ref)))));
  }
};

base::Result<Formula> formula_of(Evaluator& evaluator, Ref ref) {
  const ir::Shape& x = evaluator.shape(evaluator.operand(ref, 0));
  const int64_t d = ir::attr_int(evaluator.module(), evaluator.instr(ref), "feature_index").value_or(0);
  if (!ir::is_float(x.type) || d < 0 || d >= x.rank()) return evaluator.unsupported(ref, "no such feature dimension, or no floats");
  const int64_t features = x.dims[static_cast<size_t>(d)];
  return Formula{evaluator, ref, register_of(x.type), d, features == 0 ? 0 : ir::elements(x) / features};
}

/// One sum over everything but the features: a stage of the nest, and its result.
template <typename Term>
base::Result<NodeId> sum(const Formula& f, const std::string& key, const Index& feature, const Term& term) {
  const ir::Shape& x = f.evaluator.shape(f.evaluator.operand(f.ref, 0));
  std::vector<int64_t> sizes = x.dims;
  sizes.erase(sizes.begin() + f.feature_dimension);
  Stage stage;
  const Index step = f.evaluator.loops_of(key, f.count, stage.loops);
  Place place = delinearise(f.g().terms, sizes, step);
  place.insert(place.begin() + f.feature_dimension, feature);
  ASSIGN_OR_RETURN(const NodeId value, term(place));
  Reduction reduction = f.evaluator.sum_of(f.reg == Reg::f64 ? ir::Type::f64 : ir::Type::f32);
  reduction.values = {value};
  f.evaluator.name_results(reduction);
  const NodeId result = reduction.results[0];
  stage.reductions.push_back(std::move(reduction));
  f.evaluator.add_stage(std::move(stage), -1, {});
  return result;
}

}  // namespace

base::Status feature_sums(Evaluator& evaluator, Ref ref, const std::vector<int>& arrays, Nest& nest) {
  ASSIGN_OR_RETURN(const Formula f, formula_of(evaluator, ref));
  const ir::Shape& x = evaluator.shape(evaluator.operand(ref, 0));
  const Index feature = evaluator.loops_of("outer", x.dims[static_cast<size_t>(f.feature_dimension)], nest.outer);
  const auto keep = [&](size_t leaf, NodeId value) {
    evaluator.store(nest.finish, arrays[leaf], feature, {value, x.type}, Held::computed);
  };
  if (evaluator.instr(ref).op == Op::batch_norm_training) {
    ASSIGN_OR_RETURN(const NodeId total, sum(f, "mean", feature, [&](const Place& place) { return f.at(0, place); }));
    const NodeId mean = f.mean_of(total);
    ASSIGN_OR_RETURN(const NodeId squares, sum(f, "variance", feature, [&](const Place& place) -> base::Result<NodeId> {
                       ASSIGN_OR_RETURN(const NodeId value, f.at(0, place));
                       const NodeId distance = f.op(Code::sub, value, mean);
                       return f.op(Code::mul, distance, distance);
                     }));
    keep(1, mean);
    keep(2, f.mean_of(squares));
    return {};
  }
  ASSIGN_OR_RETURN(const NodeId mean, f.at(2, {feature}));
  ASSIGN_OR_RETURN(const NodeId variance, f.at(3, {feature}));
  ASSIGN_OR_RETURN(const NodeId of_offset, sum(f, "offset", feature, [&](const Place& place) { return f.at(4, place); }));
  ASSIGN_OR_RETURN(const NodeId products, sum(f, "scale", feature, [&](const Place& place) -> base::Result<NodeId> {
                     ASSIGN_OR_RETURN(const NodeId value, f.at(0, place));
                     ASSIGN_OR_RETURN(const NodeId gradient, f.at(4, place));
                     return f.op(Code::mul, gradient, f.op(Code::sub, value, mean));
                   }));
  keep(1, f.op(Code::mul, products, f.inverse(variance)));
  keep(2, of_offset);
  return {};
}

base::Result<NodeId> normalised(Evaluator& evaluator, Ref ref, const std::vector<int>& arrays, const Place& place) {
  ASSIGN_OR_RETURN(const Formula f, formula_of(evaluator, ref));
  const Op op = evaluator.instr(ref).op;
  const Place feature = f.feature(place);
  const ir::Type type = evaluator.shape(evaluator.operand(ref, 0)).type;
  const auto kept = [&](size_t leaf) { return evaluator.load(type, arrays[leaf], feature[0], Held::computed); };
  const bool training = op == Op::batch_norm_training, gradient = op == Op::batch_norm_grad;
  ASSIGN_OR_RETURN(const NodeId x, f.at(0, place));
  ASSIGN_OR_RETURN(const NodeId scale, f.at(1, feature));
  NodeId mean = -1, variance = -1;
  if (training) {
    mean = kept(1), variance = kept(2);
  } else {
    ASSIGN_OR_RETURN(mean, f.at(gradient ? 2 : 3, feature));
    ASSIGN_OR_RETURN(variance, f.at(gradient ? 3 : 4, feature));
  }
  const NodeId centred = f.op(Code::sub, x, mean), inverse = f.inverse(variance);
  if (!gradient) {
    ASSIGN_OR_RETURN(const NodeId offset, f.at(2, feature));
    return f.op(Code::add, f.op(Code::mul, f.op(Code::mul, centred, inverse), scale), offset);
  }
  ASSIGN_OR_RETURN(const NodeId given, f.at(4, place));
  const NodeId slope = f.mean_of(f.op(Code::mul, kept(1), inverse));
  const NodeId rest = f.op(Code::sub, f.op(Code::sub, given, f.mean_of(kept(2))), f.op(Code::mul, centred, slope));
  return f.op(Code::mul, f.op(Code::mul, scale, inverse), rest);
}

}  // namespace kernel
