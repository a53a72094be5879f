// The pick is a reduction over the window of (value, place): the new element is taken where there is none yet or `select` does not keep the
// old one. Where few windows hold an element, it then asks each of them, in order, whether it is the one picked: a map. Else the scatter
// runs serially, as those of update.cc do: threads share out the destination.
#include "replay/kernel/pick.h"

#include <algorithm>
#include <utility>

#include "src/base/math.h"
#include "src/ir/attr.h"

namespace kernel {
namespace {

constexpr int64_t kMostHolders = 9;  ///< windows that an element asks

/// Windows that may hold an element, along each dimension; none where windows are dilated or reversed, or begin behind the border.
std::vector<int64_t> holders(std::span<const ir::WindowDim> window) {
  std::vector<int64_t> out;
  for (const ir::WindowDim& w : window) {
    if (w.base_dilation != 1 || w.window_dilation != 1 || w.reversed || w.pad_low < 0) return {};
    out.push_back(base::ceil_div(w.size, w.stride));
  }
  return out;
}

/// Components: the value's parts, its place, and whether there is an element under the window at all.
base::Result<Reduction> picking(Evaluator& evaluator, Ref ref, ir::CompId select, ir::Type type, Reg reg) {
  Graph& g = evaluator.graph();
  const int64_t parts = ir::is_complex(type) ? 2 : 1, n = parts + 2;
  const auto value = [&](int64_t first) {
    std::vector<NodeId> nodes;
    for (int64_t k = 0; k < parts; ++k) nodes.push_back(g.op(Code::parameter, register_of(type), {}, first + k));
    return parts == 2 ? g.pair(nodes[0], nodes[1]) : nodes[0];
  };
  const NodeId old = value(0), fresh = value(n);
  const Typed arguments[] = {{old, type}, {fresh, type}};
  ASSIGN_OR_RETURN(const auto keep, evaluator.apply(select, arguments));
  if (keep.size() != 1 || g.type(keep[0]) != Reg::i1) return evaluator.unsupported(ref, "its select gives no predicate");
  const NodeId old_place = g.op(Code::parameter, reg, {}, parts), place = g.op(Code::parameter, reg, {}, n + parts);
  const NodeId exists = g.op(Code::parameter, Reg::i1, {}, n + parts + 1);
  const NodeId none = g.compare(Predicate::slt, old_place, g.integer(reg, 0));
  const NodeId loses = g.binary(Code::xor_, keep[0], g.integer(Reg::i1, 1));
  const NodeId take = g.binary(Code::and_, exists, g.binary(Code::or_, none, loses));
  const NodeId chosen = g.select(take, fresh, old);
  Reduction reduction;
  reduction.in_order = true;
  for (int64_t k = 0; k < parts; ++k) {
    reduction.combined.push_back(g.part(chosen, static_cast<size_t>(k)));
    const Reg part = register_of(type);
    reduction.start.push_back(is_float(part) ? g.real(part, 0) : g.integer(part, 0));
  }
  reduction.combined.push_back(g.select(take, place, old_place));
  reduction.start.push_back(g.integer(reg, -1));
  reduction.combined.push_back(exists);
  reduction.start.push_back(g.integer(Reg::i1, 1));
  return reduction;
}

}  // namespace

bool asks_holders(Evaluator& evaluator, Ref ref) {
  const auto window = ir::attr_window(evaluator.module(), evaluator.instr(ref));
  if (!window.ok() || window->size() != evaluator.shape(ref).dims.size()) return false;
  const std::vector<int64_t> along = holders(*window);
  int64_t count = 1;
  for (const int64_t n : along) count = std::min(count * n, kMostHolders + 1);
  return along.size() == window->size() && count <= kMostHolders;
}

base::Status pick_elements(Evaluator& evaluator, Ref ref, int picks, Picked as, Nest& nest) {
  Graph& g = evaluator.graph();
  const ir::Instr& i = evaluator.instr(ref);
  const auto selects = ir::attr_calls(evaluator.module(), i, "select");
  ASSIGN_OR_RETURN(auto window, ir::attr_window(evaluator.module(), i));
  const ir::Shape &over = evaluator.shape(evaluator.operand(ref, 0)), &source = evaluator.shape(evaluator.operand(ref, 1));
  if (window.empty()) window.resize(over.dims.size());
  if (selects.empty() || window.size() != over.dims.size() || source.rank() != over.rank())
    return evaluator.unsupported(ref, "no select, or a window of another rank");
  std::vector<int64_t> extents;
  int64_t taps = 1;
  for (const auto& w : window) extents.push_back(w.size), taps *= w.size;
  const int64_t count = ir::elements(source);
  const Index linear = evaluator.loops_of("outer", count, nest.outer);
  const Place place = place_of(g.terms, source, linear);
  Stage stage;
  const Index step = evaluator.loops_of("window", taps, stage.loops);
  const Place steps = delinearise(g.terms, extents, step);
  Place at(over.dims.size());
  NodeId inside = g.integer(Reg::i1, 1);
  for (size_t d = 0; d < at.size(); ++d) {
    const Tap tap = evaluator.tap(window[d], place[d], steps[d], over.dims[d]);
    inside = g.binary(Code::and_, inside, tap.inside);
    at[d] = tap.at;
  }
  ASSIGN_OR_RETURN(Reduction reduction, picking(evaluator, ref, selects[0], over.type, register_of(as)));
  ASSIGN_OR_RETURN(const NodeId value, evaluator.value(evaluator.operand(ref, 0), {}, at));
  reduction.values = evaluator.flattened({&value, 1});
  reduction.values.push_back(g.index(register_of(as), as == Picked::step ? step : linearise(over.dims, at)));
  reduction.values.push_back(inside);
  evaluator.name_results(reduction);
  const NodeId picked = reduction.results[reduction.results.size() - 2];
  stage.reductions.push_back(std::move(reduction));
  evaluator.add_stage(std::move(stage), -1, {});
  nest.finish.push_back({picks, g.terms.normal(linear), picked});
  return {};
}

base::Status scatter_picked(Evaluator& evaluator, Ref ref, int picks, const Updated& target, Nest& nest) {
  Graph& g = evaluator.graph();
  const auto scatters = ir::attr_calls(evaluator.module(), evaluator.instr(ref), "scatter");
  if (scatters.empty()) return evaluator.unsupported(ref, "no scatter");
  const ir::Shape& source = evaluator.shape(evaluator.operand(ref, 1));
  const int64_t size = ir::elements(target.shape);
  const ir::Type type = target.shape.type;
  nest.serial = true;
  const Index linear = evaluator.loops_of("picked", ir::elements(source), nest.outer);
  const Place place = delinearise(g.terms, source.dims, linear);
  const NodeId picked = g.load(register_of(Picked::place), picks, element_of(source, place));
  const Index at = evaluator.clamped_value({picked, ir::Type::s64}, 0, size - 1);
  Stage stage;
  stage.condition = g.compare(Predicate::sge, picked, g.integer(Reg::i64, 0));
  own(g, nest, stage, at, size);
  const NodeId old = evaluator.load(type, target.array, at, target.stored_type ? Held::stored : Held::computed);
  ASSIGN_OR_RETURN(const NodeId update, evaluator.value(evaluator.operand(ref, 1), {}, place));
  const Typed arguments[] = {{old, type}, {update, type}};
  ASSIGN_OR_RETURN(const auto sum, evaluator.apply(scatters[0], arguments));
  if (sum.size() != 1) return evaluator.unsupported(ref, "its scatter has another number of results");
  evaluator.store(stage.stores, target.array, at, {sum[0], type}, target.stored_type ? Held::stored : Held::computed);
  evaluator.add_stage(std::move(stage), -1, {});
  return {};
}

namespace {

/// How many windows each holder lies before the last, along each dimension. The order is that of the source's elements, so sums are those
/// of a serial scatter.
std::vector<std::vector<int64_t>> in_order(std::span<const int64_t> along) {
  std::vector<std::vector<int64_t>> out{{}};
  for (const int64_t n : along) {
    std::vector<std::vector<int64_t>> longer;
    for (const auto& head : out)
      for (int64_t back = n; back-- > 0;) longer.push_back(head), longer.back().push_back(back);
    out = std::move(longer);
  }
  return out;
}

/// A window that may hold an element: its place, clamped; whether it exists and holds the element; and in which step.
struct Holder {
  Place at;
  NodeId holds;
  Index step;
};

/// The window `back` before the last that begins at or before `place`, along each dimension.
Holder holder(Evaluator& evaluator, std::span<const ir::WindowDim> window, std::span<const int64_t> sizes, const Place& place,
              std::span<const int64_t> back) {
  Graph& g = evaluator.graph();
  Holder out{Place(place.size()), g.integer(Reg::i1, 1), {}};
  for (size_t d = 0; d < place.size(); ++d) {
    const auto [last, rest] = g.terms.divide(place[d] + window[d].pad_low, window[d].stride);
    const Index index = last + -back[d], step = rest + back[d] * window[d].stride;
    out.holds = g.binary(Code::and_, out.holds, evaluator.in_range(index, 0, sizes[d]));
    out.holds = g.binary(Code::and_, out.holds, evaluator.in_range(step, 0, window[d].size));
    out.at[d] = evaluator.clamped(index, 0, sizes[d] - 1);
    out.step = out.step * window[d].size + step;
  }
  return out;
}

}  // namespace

base::Result<NodeId> asked_of_holders(Evaluator& evaluator, Ref ref, int picks, const Place& place) {
  Graph& g = evaluator.graph();
  const ir::Instr& i = evaluator.instr(ref);
  const auto scatters = ir::attr_calls(evaluator.module(), i, "scatter");
  if (scatters.empty()) return evaluator.unsupported(ref, "no scatter");
  ASSIGN_OR_RETURN(const auto window, ir::attr_window(evaluator.module(), i));
  const ir::Shape& source = evaluator.shape(evaluator.operand(ref, 1));
  const ir::Type type = evaluator.shape(ref).type;
  ASSIGN_OR_RETURN(NodeId sum, evaluator.value(evaluator.operand(ref, 2), {}, {}));
  if (ir::elements(source) == 0) return sum;
  for (const std::vector<int64_t>& back : in_order(holders(window))) {
    const Holder from = holder(evaluator, window, source.dims, place, back);
    const Reg reg = register_of(Picked::step);
    const NodeId picked = g.compare(Predicate::eq, g.load(reg, picks, element_of(source, from.at)), g.index(reg, from.step));
    ASSIGN_OR_RETURN(const NodeId update, evaluator.value(evaluator.operand(ref, 1), {}, from.at));
    const Typed arguments[] = {{sum, type}, {update, type}};
    ASSIGN_OR_RETURN(const auto next, evaluator.apply(scatters[0], arguments));
    if (next.size() != 1) return evaluator.unsupported(ref, "its scatter has another number of results");
    sum = g.select(g.binary(Code::and_, from.holds, picked), next[0], sum);
  }
  return sum;
}

}  // namespace kernel
