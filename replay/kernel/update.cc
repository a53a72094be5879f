// A scatter runs its updates one after another, window elements in vectors. Indices that lie outside drop the update; its addresses are
// clamped so that what is loaded before the decision is harmless.
#include "replay/kernel/update.h"

#include <algorithm>

#include "src/base/contains.h"
#include "src/ir/attr.h"

namespace kernel {
namespace {

/// The place in the updates: one loop a dimension, window dimensions in the stage, the others outside.
Place loops_over(Evaluator& evaluator, const ir::Shape& shape, const std::vector<int64_t>& window, std::vector<TermId>& outer,
                 std::vector<TermId>& inner) {
  Place place(shape.dims.size());
  for (size_t d = 0; d < place.size(); ++d) {
    const std::string key = "update " + std::to_string(d);
    place[d] = evaluator.loops_of(key, shape.dims[d], base::contains(window, d) ? inner : outer);
  }
  return place;
}

struct Destination {
  Place place;
  NodeId inside = -1;  ///< the whole window lies in the array
  Index owner;         ///< its row in the dimension that threads share out
  int64_t owned = 1;
};

base::Result<Destination> destination(Evaluator& evaluator, Ref scatter, Ref indices, const std::vector<int64_t>& sizes,
                                      const ir::ScatterDims& dims, const Place& update) {
  Graph& g = evaluator.graph();
  Place batch, window;
  for (size_t d = 0; d < update.size(); ++d) (base::contains(dims.update_window_dims, d) ? window : batch).push_back(update[d]);
  std::vector<int64_t> extents(sizes.size(), 1);
  Destination to{Place(sizes.size()), g.integer(Reg::i1, 1), {}, 1};
  const ir::Shape& updates = evaluator.shape(evaluator.operand(scatter, evaluator.instr(scatter).operands.size() / 2 + 1));
  for (size_t d = 0, w = 0; d < sizes.size(); ++d) {
    if (base::contains(dims.inserted_window_dims, d) || base::contains(dims.input_batching_dims, d) || w >= window.size()) continue;
    extents[d] = updates.dims[static_cast<size_t>(dims.update_window_dims[w])];
    to.place[d] = window[w++];
  }
  for (size_t k = 0; k < dims.input_batching_dims.size(); ++k) {
    int64_t b = dims.scatter_indices_batching_dims[k];
    if (b > dims.index_vector_dim) --b;
    to.place[static_cast<size_t>(dims.input_batching_dims[k])] = batch[static_cast<size_t>(b)];
  }
  for (size_t k = 0; k < dims.scatter_dims_to_operand_dims.size(); ++k) {
    Place where = batch;
    const bool vectors = dims.index_vector_dim < evaluator.shape(indices).rank();
    if (vectors) where.insert(where.begin() + dims.index_vector_dim, Index{static_cast<int64_t>(k), {}});
    ASSIGN_OR_RETURN(const NodeId node, evaluator.value(indices, {}, where));
    const auto d = static_cast<size_t>(dims.scatter_dims_to_operand_dims[k]);
    const int64_t last = sizes[d] - extents[d];
    const ir::Type type = evaluator.shape(indices).type;
    const NodeId wide = convert(g, {node, type}, ir::Type::s64);
    to.inside = g.binary(Code::and_, to.inside, g.compare(Predicate::ult, wide, g.integer(Reg::i64, std::max<int64_t>(0, last + 1))));
    const Index start = evaluator.clamped_value({node, type}, 0, std::max<int64_t>(0, last));
    to.place[d] = to.place[d] + start;
    if (to.owned == 1 && extents[d] == 1 && sizes[d] > 1) to.owner = start, to.owned = sizes[d];
  }
  return to;
}

}  // namespace

void own(Graph& g, Nest& nest, Stage& stage, const Index& row, int64_t owned) {
  nest.owned = owned;
  if (owned <= 1) return;
  nest.first_owned = g.terms.variable(0, owned);
  nest.end_owned = g.terms.variable(0, owned);
  const NodeId at = g.index(Reg::i64, row);
  const auto bound = [&](TermId term) { return g.index(Reg::i64, Index{0, {{term, 1}}}); };
  const NodeId mine =
      g.binary(Code::and_, g.compare(Predicate::sge, at, bound(nest.first_owned)), g.compare(Predicate::slt, at, bound(nest.end_owned)));
  stage.condition = g.binary(Code::and_, stage.condition, mine);
}

base::Status scatter_updates(Evaluator& evaluator, Ref scatter, const std::vector<Updated>& targets, Nest& nest) {
  Graph& g = evaluator.graph();
  const size_t n = targets.size();
  const Ref indices = evaluator.operand(scatter, n);
  const ir::ScatterDims dims = ir::attr_scatter(evaluator.module(), evaluator.instr(scatter));
  const ir::Shape& updates = evaluator.shape(evaluator.operand(scatter, n + 1));
  Stage stage;
  nest.serial = true;
  const Place at = loops_over(evaluator, updates, dims.update_window_dims, nest.outer, stage.loops);
  ASSIGN_OR_RETURN(const Destination to, destination(evaluator, scatter, indices, targets[0].shape.dims, dims, at));
  stage.condition = to.inside;
  own(g, nest, stage, to.owner, to.owned);
  const auto held = [](const Updated& t) { return t.stored_type ? Held::stored : Held::computed; };
  std::vector<Typed> arguments;
  std::vector<Index> elements;
  for (const Updated& t : targets) {
    elements.push_back(g.terms.normal(element_of(t.shape, to.place)));
    arguments.push_back({evaluator.load(t.shape.type, t.array, elements.back(), held(t)), t.shape.type});
  }
  for (size_t k = 0; k < n; ++k) {
    ASSIGN_OR_RETURN(const NodeId update, evaluator.value(evaluator.operand(scatter, n + 1 + k), {}, at));
    arguments.push_back({update, targets[k].shape.type});
  }
  if (evaluator.instr(scatter).calls.empty()) return evaluator.unsupported(scatter, "no computation");
  ASSIGN_OR_RETURN(const auto results, evaluator.apply(evaluator.instr(scatter).calls[0], arguments));
  if (results.size() != n) return evaluator.unsupported(scatter, "its computation has another number of results");
  for (size_t k = 0; k < n; ++k)
    evaluator.store(stage.stores, targets[k].array, elements[k], {rounded(g, results[k], targets[k].shape.type), targets[k].shape.type},
                    held(targets[k]));
  evaluator.add_stage(std::move(stage), -1, {});
  return {};
}

base::Status slice_update(Evaluator& evaluator, Ref update, const Updated& target, Nest& nest) {
  (void)nest;
  Graph& g = evaluator.graph();
  const Ref from = evaluator.operand(update, 1);
  const ir::Shape& sizes = evaluator.shape(from);
  Stage stage;
  const Index linear = evaluator.loops_of("slice", ir::elements(sizes), stage.loops);
  const Place at = delinearise(g.terms, sizes.dims, linear);
  Place to = at;
  for (size_t d = 0; d < at.size(); ++d) {
    const bool scalars = evaluator.shape(evaluator.operand(update, 2)).rank() == 0;
    const Ref start = evaluator.operand(update, scalars ? 2 + d : 2);
    ASSIGN_OR_RETURN(const NodeId node, evaluator.value(start, {}, scalars ? Place{} : Place{Index{static_cast<int64_t>(d), {}}}));
    to[d] = at[d] + evaluator.clamped_value({node, evaluator.shape(start).type}, 0, target.shape.dims[d] - sizes.dims[d]);
  }
  ASSIGN_OR_RETURN(const NodeId node, evaluator.value(from, {}, at));
  evaluator.store(stage.stores, target.array, element_of(target.shape, to), {node, target.shape.type}, Held::stored);
  evaluator.add_stage(std::move(stage), -1, {});
  return {};
}

}  // namespace kernel
