// Reductions inside a nest. A reduction whose place covers the outer loops exactly becomes a stage: loops over what it combines,
// accumulators, a result that later stages use. Reductions of the same count share a stage, and with it loads and common values. A
// reduction at any other place ends the attempt: either its loops become the outer loops of the nest (softmax, norms), or its result is put
// in memory first.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "replay/kernel/evaluate.h"
#include "src/base/contains.h"
#include "src/ir/attr.h"

namespace kernel {
namespace {

using ir::Op;

int64_t product(const std::vector<int64_t>& sizes) {
  int64_t p = 1;
  for (const int64_t s : sizes) p *= s;
  return p;
}

}  // namespace

bool Evaluator::needs_stage(NodeId node, size_t first) const {
  std::vector<NodeId> targets;
  for (size_t s = first; s < nest_->stages.size(); ++s)
    for (const Reduction& r : nest_->stages[s].reductions) targets.insert(targets.end(), r.results.begin(), r.results.end());
  if (targets.empty()) return false;
  std::vector<bool> seen(out_.graph.size());
  std::vector<TermId> terms;
  std::vector<NodeId> todo{node};
  while (!todo.empty()) {
    const NodeId id = todo.back();
    todo.pop_back();
    if (seen[static_cast<size_t>(id)]) continue;
    seen[static_cast<size_t>(id)] = true;
    if (std::ranges::count(targets, id) > 0) return true;
    const Node& n = out_.graph[id];
    todo.insert(todo.end(), n.in.begin(), n.in.end());
    terms.clear();
    for (const auto& [t, c] : n.index.terms) terms.push_back(t);
    while (!terms.empty()) {
      const Term& term = out_.graph.terms[terms.back()];
      terms.pop_back();
      if (term.kind == Term::Kind::value) todo.push_back(term.node);
      for (const auto& [t, c] : term.base.terms) terms.push_back(t);
    }
  }
  return false;
}

std::vector<TermId> Evaluator::exact_loops(const std::vector<int64_t>& sizes, const Place& place) const {
  const Terms& terms = out_.graph.terms;
  Index linear = terms.normal(linearise(sizes, place));
  std::ranges::sort(linear.terms, {}, [](const auto& t) { return t.second; });
  if (linear.constant != 0) return {};
  int64_t expected = 1;
  std::vector<TermId> loops;
  for (const auto& [t, c] : linear.terms) {
    if (terms[t].kind != Term::Kind::variable || c != expected || terms[t].range.low != 0) return {};
    expected *= terms[t].range.high + 1;
    loops.push_back(t);
  }
  if (expected != product(sizes)) loops.clear();
  return loops;
}

bool Evaluator::covers_outer(const std::vector<int64_t>& sizes, const Place& place) const {
  auto loops = exact_loops(sizes, place), outer = nest_->outer;
  std::ranges::sort(loops);
  std::ranges::sort(outer);
  return loops == outer && (!loops.empty() || product(sizes) == 1);
}

Place Evaluator::reduced_place(Ref reduction, const Place& place, const Index& step) {
  const auto dims = ir::attr_dims(module_, instr(reduction), "dimensions");
  const auto& sizes = shape(operand(reduction, 0)).dims;
  std::vector<int64_t> reduced;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (base::contains(dims, static_cast<int64_t>(d))) reduced.push_back(sizes[d]);
  const Place steps = delinearise(graph().terms, reduced, step);
  Place at(sizes.size());
  for (size_t d = 0, kept = 0, gone = 0; d < sizes.size(); ++d)
    at[d] = base::contains(dims, static_cast<int64_t>(d)) ? steps[gone++] : place[kept++];
  return at;
}

base::Result<std::vector<Typed>> Evaluator::terms_of(Ref ref, const Place& place, const Index& step, const Reduction& reducer,
                                                     Place* operand_place) {
  const ir::Instr& i = instr(ref);
  if (i.op == Op::reduce_window) return window_terms(ref, place, step, reducer);
  if (i.op == Op::dot) return product_terms(ref, place, step);
  if (i.op == Op::convolution) return convolution_terms(ref, place, step);
  const Place at = reduced_place(ref, place, step);
  if (operand_place) *operand_place = at;
  std::vector<Typed> terms;
  for (size_t k = 0; k < i.operands.size() / 2; ++k) {
    ASSIGN_OR_RETURN(const NodeId node, value(operand(ref, k), {}, at));
    terms.push_back({node, shape(operand(ref, k)).type});
  }
  return terms;
}

Tap Evaluator::tap(const ir::WindowDim& w, const Index& place, const Index& step, int64_t size) {
  const Index dilated = place * w.stride + step * w.window_dilation + -w.pad_low;
  auto [quotient, rest] = graph().terms.divide(dilated, w.base_dilation);
  NodeId inside = in_range(quotient, 0, size);
  if (w.base_dilation > 1) inside = graph().binary(Code::and_, inside, in_range(rest, 0, 1));
  return {clamped(quotient, 0, std::max<int64_t>(size - 1, 0)), inside};
}

base::Result<std::vector<Typed>> Evaluator::window_terms(Ref ref, const Place& place, const Index& step, const Reduction& reducer) {
  const ir::Instr& i = instr(ref);
  ASSIGN_OR_RETURN(const auto window, ir::attr_window(module_, i));
  const auto& sizes = shape(operand(ref, 0)).dims;
  std::vector<int64_t> extents;
  extents.reserve(window.size());
  for (const auto& w : window) extents.push_back(w.size);
  const Place taps = delinearise(graph().terms, extents, step);
  NodeId inside = graph().integer(Reg::i1, 1);
  Place at(sizes.size());
  for (size_t d = 0; d < sizes.size(); ++d) {
    const Tap under = tap(window[d], place[d], taps[d], sizes[d]);
    inside = graph().binary(Code::and_, inside, under.inside);
    at[d] = under.at;
  }
  const std::vector<ir::Type> types = reduced_types(ref);
  const std::vector<NodeId> around = paired(reducer.start, types);
  std::vector<Typed> terms;
  for (size_t k = 0; k < types.size(); ++k) {
    ASSIGN_OR_RETURN(const NodeId node, value(operand(ref, k), {}, at));
    terms.push_back({reducer.guarded ? node : graph().select(inside, node, around[k]), types[k]});
  }
  if (reducer.guarded) terms.push_back({inside, ir::Type::pred});
  return terms;
}

base::Result<std::vector<Typed>> Evaluator::product_terms(Ref ref, const Place& place, const Index& step) {
  const ir::DotDims dims = ir::attr_dot_dims(module_, instr(ref));
  std::vector<int64_t> sizes;
  sizes.reserve(dims.lhs_contracting.size());
  const ir::Shape& a = shape(operand(ref, 0));
  for (const int64_t d : dims.lhs_contracting) sizes.push_back(a.dims[static_cast<size_t>(d)]);
  const Place steps = delinearise(graph().terms, sizes, step);
  size_t next = dims.lhs_batch.size();
  const auto place_in = [&](const ir::Shape& s, const std::vector<int64_t>& batch, const std::vector<int64_t>& contracting) {
    Place at(s.dims.size());
    for (size_t k = 0; k < batch.size(); ++k) at[static_cast<size_t>(batch[k])] = place[k];
    for (size_t k = 0; k < contracting.size(); ++k) at[static_cast<size_t>(contracting[k])] = steps[k];
    for (size_t d = 0; d < at.size(); ++d)
      if (!base::contains(batch, static_cast<int64_t>(d)) && !base::contains(contracting, static_cast<int64_t>(d))) at[d] = place[next++];
    return at;
  };
  const Place left = place_in(a, dims.lhs_batch, dims.lhs_contracting);
  const Place right = place_in(shape(operand(ref, 1)), dims.rhs_batch, dims.rhs_contracting);
  ASSIGN_OR_RETURN(const Typed product, product_of(ref, left, right));
  return std::vector<Typed>{product};
}

/// Of elements of the first two operands, in the type of the sums.
base::Result<Typed> Evaluator::product_of(Ref ref, const Place& left, const Place& right) {
  const ir::Type type = sum_type(ref);
  ASSIGN_OR_RETURN(const NodeId x, value(operand(ref, 0), {}, left));
  ASSIGN_OR_RETURN(const NodeId y, value(operand(ref, 1), {}, right));
  const NodeId x_wide = convert(graph(), {x, shape(operand(ref, 0)).type}, type);
  const NodeId y_wide = convert(graph(), {y, shape(operand(ref, 1)).type}, type);
  const Typed factors[] = {{x_wide, type}, {y_wide, type}};
  ASSIGN_OR_RETURN(const NodeId p, elementwise(graph(), {Op::multiply, type, {}, 8, 23}, factors));
  return Typed{p, type};
}

/// Steps run over the kernel's window, then its input features. Groups of features (of the batch) divide the output's features.
base::Result<std::vector<Typed>> Evaluator::convolution_terms(Ref ref, const Place& place, const Index& step) {
  const ir::Instr& i = instr(ref);
  ASSIGN_OR_RETURN(const ir::ConvDims dims, ir::attr_conv_dims(module_, i));
  ASSIGN_OR_RETURN(const auto window, ir::attr_window(module_, i));
  ASSIGN_OR_RETURN(const auto sizes, steps_of(ref));
  const ir::Shape &input = shape(operand(ref, 0)), &kernel = shape(operand(ref, 1));
  const int64_t groups = std::max<int64_t>(1, ir::attr_int(module_, i, "feature_group_count").value_or(1));
  const int64_t batch_groups = std::max<int64_t>(1, ir::attr_int(module_, i, "batch_group_count").value_or(1));
  const auto at = [](const Place& p, int64_t d) { return p[static_cast<size_t>(d)]; };
  const int64_t features = shape(ref).dims[static_cast<size_t>(dims.out_feature)];
  const Place steps = delinearise(graph().terms, sizes, step);
  const Index feature = at(place, dims.out_feature);
  Place left(input.dims.size()), right(kernel.dims.size());
  const auto group_of = [&](int64_t count) {
    return count == 1 ? Index{} : graph().terms.divide(feature, std::max<int64_t>(1, features / count)).quotient;
  };
  left[static_cast<size_t>(dims.in_feature)] = group_of(groups) * sizes.back() + steps.back();
  left[static_cast<size_t>(dims.in_batch)] =
      at(place, dims.out_batch) + group_of(batch_groups) * (input.dims[static_cast<size_t>(dims.in_batch)] / batch_groups);
  right[static_cast<size_t>(dims.kernel_in)] = steps.back();
  right[static_cast<size_t>(dims.kernel_out)] = feature;
  NodeId inside = graph().integer(Reg::i1, 1);
  for (size_t d = 0; d < dims.in_spatial.size(); ++d) {
    const auto in = static_cast<size_t>(dims.in_spatial[d]), to = static_cast<size_t>(dims.kernel_spatial[d]);
    const Tap under = tap(window[d], at(place, dims.out_spatial[d]), steps[d], input.dims[in]);
    inside = graph().binary(Code::and_, inside, under.inside);
    left[in] = under.at;
    right[to] = window[d].reversed ? steps[d] * -1 + (kernel.dims[to] - 1) : steps[d];
  }
  ASSIGN_OR_RETURN(const Typed product, product_of(ref, left, right));
  const NodeId zero = convert(graph(), {graph().integer(Reg::i32, 0), ir::Type::s32}, product.type);
  return std::vector<Typed>{{graph().select(inside, product.node, zero), product.type}};
}

/// What a reduction runs over, as sizes.
base::Result<std::vector<int64_t>> Evaluator::steps_of(Ref ref) {
  const ir::Instr& i = instr(ref);
  const auto& sizes = shape(operand(ref, 0)).dims;
  std::vector<int64_t> steps;
  if (i.op == Op::reduce)
    for (const int64_t d : ir::attr_dims(module_, i, "dimensions")) steps.push_back(sizes[static_cast<size_t>(d)]);
  if (i.op == Op::dot)
    for (const int64_t d : ir::attr_dot_dims(module_, i).lhs_contracting) steps.push_back(sizes[static_cast<size_t>(d)]);
  if (i.op == Op::reduce_window) {
    ASSIGN_OR_RETURN(const auto window, ir::attr_window(module_, i));
    if (window.size() != sizes.size()) return unsupported(ref, "a window of another rank");
    for (const auto& w : window) steps.push_back(w.size);
  }
  if (i.op == Op::convolution) {
    ASSIGN_OR_RETURN(const ir::ConvDims dims, ir::attr_conv_dims(module_, i));
    ASSIGN_OR_RETURN(const auto window, ir::attr_window(module_, i));
    if (window.size() != dims.in_spatial.size()) return unsupported(ref, "a window of another rank");
    const auto& kernel = shape(operand(ref, 1)).dims;
    for (const int64_t d : dims.kernel_spatial) steps.push_back(kernel[static_cast<size_t>(d)]);
    steps.push_back(kernel[static_cast<size_t>(dims.kernel_in)]);
  }
  return steps;
}

size_t Evaluator::add_stage(Stage stage, int64_t count, const Index& step) {
  nest_->stages.push_back(std::move(stage));
  stage_loops_.push_back({count, step});
  return nest_->stages.size() - 1;
}

/// In a stage that has loops of the same count and whose results are not needed, or in a new one.
base::Result<std::vector<Typed>> Evaluator::terms_in_stage(Ref ref, const Place& place, const Reduction& reducer, size_t& stage) {
  const ir::Instr& i = instr(ref);
  ASSIGN_OR_RETURN(const auto steps, steps_of(ref));
  const int64_t count = product(steps);
  Place at;
  for (size_t s = stage_loops_.size(); s-- > 0;) {
    if (stage_loops_[s].count != count) continue;
    ASSIGN_OR_RETURN(auto terms, terms_of(ref, place, stage_loops_[s].step, reducer, &at));
    stage = s;
    if (std::ranges::none_of(terms, [&](const Typed& t) { return needs_stage(t.node, s); })) return terms;
    break;
  }
  Stage fresh;
  const Index step = loops_of(fmt::format("{}.{}", ref.frame, ref.instr), count, fresh.loops);
  ASSIGN_OR_RETURN(auto terms, terms_of(ref, place, step, reducer, &at));
  stage = add_stage(std::move(fresh), count, step);
  if (!first_reduction && i.op == Op::reduce) first_reduction = PlacedReduction{ref, place, at, stage};
  return terms;
}

base::Result<NodeId> Evaluator::result_of_nothing(Ref ref, size_t leaf) {
  const ir::Instr& i = instr(ref);
  if (!is_product(i.op)) return value(operand(ref, i.operands.size() / 2 + leaf), {}, {});
  return convert(graph(), {graph().integer(Reg::i32, 0), ir::Type::s32}, shape(ref).type);
}

void Evaluator::name_results(Reduction& reduction) {
  for (const NodeId node : reduction.values) reduction.results.push_back(graph().op(Code::result, graph().type(node), {}, results_++));
}

/// Elements that a single thread would work through if the reduction became a stage of a nest without outer loops; 0 for a root.
int64_t Evaluator::serial_cost(Ref ref) const {
  if (inside_reduction_ == 0 && map_elements == 0) return 0;
  const int64_t read = instr(ref).operands.empty() ? 1 : ir::elements(shape(operand(ref, 0)));
  return read + map_elements;
}

base::Result<NodeId> Evaluator::reduction_value(Ref ref, const std::vector<int64_t>& path, const Place& place) {
  const size_t leaf = path.empty() ? 0 : static_cast<size_t>(path[0]);
  std::string key = fmt::format("{}.{}", ref.frame, ref.instr);
  for (const Index& index : place) key += "," + print(graph().terms, index);
  if (const auto known = reductions_.find(key); known != reductions_.end()) return known->second[leaf];
  const auto& sizes = shape(ref, path).dims;
  if (!frames_[static_cast<size_t>(ref.frame)].bound.empty()) return unsupported(ref, "a reduction inside a reducer");
  ASSIGN_OR_RETURN(const auto steps, steps_of(ref));
  if (product(steps) == 0 || ir::elements(shape(operand(ref, 0))) == 0) return result_of_nothing(ref, leaf);
  if (!covers_outer(sizes, place) || (nest_->outer.empty() && serial_cost(ref) > kMostSerial)) {
    const auto dims = ir::attr_dims(module_, instr(ref), "dimensions");
    const bool rows =
        product(sizes) > 1 && instr(ref).op == Op::reduce && base::contains(dims, ir::minor_to_major(shape(operand(ref, 0)))[0]);
    const bool own_loops = inside_reduction_ == 0;  // else they are those of the reduction around it, which combines over them
    if (nest_->outer.empty() && outer_allowed && rows && own_loops) retry.outer = exact_loops(sizes, place);
    if (retry.outer.empty()) return in_memory_first(ref);
    retry.wanted = true;
    return unsupported(ref, "its loops must be the outer ones");
  }
  size_t stage = 0;
  ASSIGN_OR_RETURN(Reduction reduction, reducer(ref));
  ++inside_reduction_;
  auto found = terms_in_stage(ref, place, reduction, stage);
  --inside_reduction_;
  ASSIGN_OR_RETURN(const auto terms, std::move(found));
  std::vector<NodeId> nodes;
  for (const Typed& t : terms) nodes.push_back(t.node);
  reduction.values = flattened(nodes);
  for (const NodeId node : reduction.values) reduction.results.push_back(graph().op(Code::result, graph().type(node), {}, results_++));
  nest_->stages[stage].reductions.push_back(reduction);
  ASSIGN_OR_RETURN(auto results, with_start(ref, reduction));
  for (size_t k = 0; k < results.size(); ++k)
    results[k] = round_result(
        results[k],
        shape(ref, instr(ref).operands.size() > 2 && !path.empty() ? std::vector<int64_t>{static_cast<int64_t>(k)} : path).type);
  reductions_.emplace(key, results);
  if (leaf >= results.size()) return unsupported(ref, "no such element of its result");
  return results[leaf];
}

}  // namespace kernel
