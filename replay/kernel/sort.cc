// A sort reads its operands into rows (whatever computes them is fused into that), sorts the rows in place, and is read from there. Top-k
// is the sort of (value, position) by value, of which the first k are read; NaN is as large as infinity, and equal values keep their order.
#include "replay/kernel/sort.h"

#include <algorithm>
#include <limits>

#include "src/ir/attr.h"

namespace kernel {
namespace {

using ir::Op;

/// The larger value first (the smaller one, if `largest` is false).
NodeId ranks_before(Graph& g, Typed a, Typed b, bool largest) {
  const bool floats = ir::is_float(a.type);
  const auto key = [&](Typed x) {
    if (!floats) return x.node;
    const NodeId infinity = g.real(g.type(x.node), std::numeric_limits<double>::infinity());
    return g.select(g.compare(Predicate::uno, x.node, x.node), infinity, x.node);
  };
  const bool sign = ir::info(a.type).kind == ir::TypeInfo::Kind::signed_;
  const Predicate greater = floats ? Predicate::ogt : sign ? Predicate::sgt : Predicate::ugt;
  return largest ? g.compare(greater, key(a), key(b)) : g.compare(greater, key(b), key(a));
}

Reg memory_register(ir::Type type) { return type == ir::Type::pred ? Reg::i8 : register_of(type); }

}  // namespace

base::Result<Sorting> sorting_of(Evaluator& evaluator, Ref ref) {
  const ir::Instr& i = evaluator.instr(ref);
  if (i.operands.empty()) return evaluator.unsupported(ref, "no operand");
  Sorting sorting;
  sorting.sizes = evaluator.shape(evaluator.operand(ref, 0)).dims;
  for (size_t k = 0; k < i.operands.size(); ++k) {
    const ir::Shape& shape = evaluator.shape(evaluator.operand(ref, k));
    if (shape.dims != sorting.sizes) return evaluator.unsupported(ref, "operands of different sizes");
    sorting.types.push_back(shape.type);
  }
  const auto rank = static_cast<int64_t>(sorting.sizes.size());
  const auto dims = ir::attr_dims(evaluator.module(), i, "dimensions");
  sorting.dimension = dims.empty() ? rank - 1 : dims[0];
  if (sorting.dimension < 0 || sorting.dimension >= rank) return evaluator.unsupported(ref, "no such dimension");
  if (i.op == Op::topk) sorting.types.push_back(ir::Type::s32);
  return sorting;
}

base::Status sort_input(Evaluator& evaluator, Ref ref, const Sorting& sorting, const std::vector<int>& arrays, Nest& nest) {
  (void)nest;
  std::vector<int64_t> sizes = sorting.sizes;
  const auto d = static_cast<std::ptrdiff_t>(sorting.dimension);
  std::rotate(sizes.begin() + d, sizes.begin() + d + 1, sizes.end());
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  Stage stage;
  const Index linear = evaluator.loops_of("sort", count, stage.loops);
  Place place = delinearise(evaluator.graph().terms, sizes, linear);
  const Index along = place.back();
  place.pop_back();
  place.insert(place.begin() + d, along);
  for (size_t k = 0; k < sorting.types.size(); ++k) {
    NodeId node = -1;
    if (k < evaluator.instr(ref).operands.size()) {
      ASSIGN_OR_RETURN(node, evaluator.value(evaluator.operand(ref, k), {}, place));
    } else {
      node = evaluator.graph().index(Reg::i32, along);
    }
    evaluator.store(stage.stores, arrays[k], linear, {rounded(evaluator.graph(), node, sorting.types[k]), sorting.types[k]},
                    Held::computed);
  }
  evaluator.add_stage(std::move(stage), -1, {});
  return {};
}

base::Result<Merge> merge_of(Evaluator& evaluator, Ref ref, const Sorting& sorting, const std::vector<std::pair<int, int>>& arrays) {
  Graph& g = evaluator.graph();
  Merge merge;
  merge.length = sorting.sizes[static_cast<size_t>(sorting.dimension)];
  merge.rows = merge.length == 0 ? 0 : 1;
  for (size_t d = 0; d < sorting.sizes.size(); ++d)
    if (static_cast<int64_t>(d) != sorting.dimension) merge.rows *= sorting.sizes[d];
  std::vector<Typed> elements[2], arguments;
  int64_t number = 0;
  for (auto& element : elements)
    for (const ir::Type type : sorting.types) {
      const auto parameter = [&] { return g.op(Code::parameter, register_of(type), {}, number++); };
      const NodeId first = parameter();
      element.push_back({ir::is_complex(type) ? g.pair(first, parameter()) : first, type});
    }
  for (size_t k = 0; k < sorting.types.size(); ++k) {
    const ir::Type type = sorting.types[k];
    const int64_t parts = ir::is_complex(type) ? 2 : 1;
    for (int64_t part = 0; part < parts; ++part)
      merge.columns.push_back({{arrays[k].first, arrays[k].second}, memory_register(type), parts, part, type == ir::Type::pred});
    arguments.push_back(elements[0][k]);
    arguments.push_back(elements[1][k]);
  }
  const ir::Instr& i = evaluator.instr(ref);
  if (i.op == Op::topk) {
    const auto largest = ir::attr_text(evaluator.module(), i, "largest");
    merge.before.combined = {ranks_before(g, elements[0][0], elements[1][0], !(largest && *largest == "false"))};
    return merge;
  }
  if (i.calls.empty()) return evaluator.unsupported(ref, "no computation");
  ASSIGN_OR_RETURN(const auto before, evaluator.apply(i.calls[0], arguments));
  if (before.size() != 1 || g.type(before[0]) != Reg::i1) return evaluator.unsupported(ref, "its computation gives no predicate");
  merge.before.combined = before;
  return merge;
}

}  // namespace kernel
