// Ops whose elements are not functions of their place: scatters, sorts, select-and-scatter, statistics of batch norms. They are made as a
// whole in memory, by nests of their own, and read from there.
#include "replay/kernel/lowering.h"
#include "replay/kernel/norm.h"
#include "replay/kernel/pick.h"
#include "replay/kernel/sort.h"
#include "replay/kernel/update.h"
#include "src/ir/attr.h"

namespace kernel {

using ir::Op;

base::Result<Materialised> Lowering::lower_whole(Ref ref, const std::vector<Root>& targets) {
  Materialised made;
  for (const Root& target : targets) made.arrays.push_back(target.array);
  switch (evaluator_.instr(ref).op) {
    case Op::scatter:
      RETURN_IF_ERROR(lower_scatter(ref, targets));
      return made;
    case Op::select_and_scatter:
      if (targets[0].array < 0) return lower_steps(ref);
      RETURN_IF_ERROR(lower_pick(ref, targets[0]));
      return made;
    case Op::batch_norm_training:
    case Op::batch_norm_grad:
      if (targets.size() != 3 || ir::elements(*targets[1].shape) == 0) return made;
      RETURN_IF_ERROR(lower_with([&](Nest& nest) { return feature_sums(evaluator_, ref, made.arrays, nest); }, false));
      return made;
    default:
      return lower_sort(ref);
  }
}

base::Status Lowering::lower_scatter(Ref scatter, const std::vector<Root>& targets) {
  for (size_t k = 0; k < targets.size(); ++k) RETURN_IF_ERROR(copy_first(evaluator_.operand(scatter, k), targets[k]));
  if (ir::elements(evaluator_.shape(evaluator_.operand(scatter, targets.size() + 1))) == 0) return {};
  std::vector<Updated> arrays;
  arrays.reserve(targets.size());
  for (const Root& t : targets)
    arrays.push_back({t.array, t.stored_type ? *t.shape : ir::array_shape(t.shape->type, t.shape->dims), t.stored_type});
  return lower_with([&](Nest& nest) { return scatter_updates(evaluator_, scatter, arrays, nest); }, false);
}

base::Result<Materialised> Lowering::lower_sort(Ref ref) {
  ASSIGN_OR_RETURN(const Sorting sorting, sorting_of(evaluator_, ref));
  std::vector<std::pair<int, int>> pairs;
  std::vector<int> first;
  for (const ir::Type type : sorting.types) {
    const int64_t size = computed_bytes(ir::array_shape(type, sorting.sizes));
    first.push_back(add_array(size));
    pairs.emplace_back(first.back(), add_array(size));
  }
  const int64_t length = sorting.sizes[static_cast<size_t>(sorting.dimension)];
  Materialised made;
  for (const auto& [a, b] : pairs) made.arrays.push_back(sorted_in(length) == 0 ? a : b);
  made.last = sorting.dimension;
  if (ir::elements(ir::array_shape(ir::Type::u8, sorting.sizes)) == 0) return made;
  RETURN_IF_ERROR(lower_with([&](Nest& nest) { return sort_input(evaluator_, ref, sorting, first, nest); }, true));
  Nest nest, asked;
  evaluator_.begin(asked);
  ASSIGN_OR_RETURN(nest.merge, merge_of(evaluator_, ref, sorting, pairs));
  if (!asked.stages.empty()) return evaluator_.unsupported(ref, "a reduction inside its computation");
  out_.nests.push_back(std::move(nest));
  return made;
}

base::Status Lowering::lower_pick(Ref ref, const Root& target) {
  const ir::Shape logical = ir::array_shape(target.shape->type, target.shape->dims);
  const int64_t picked = ir::elements(evaluator_.shape(evaluator_.operand(ref, 1)));
  if (ir::elements(logical) == 0) return {};
  const auto fill = [&](Nest& nest) -> base::Status {
    (void)nest;
    Stage stage;
    const Index linear = evaluator_.loops_of("fill", ir::elements(logical), stage.loops);
    ASSIGN_OR_RETURN(const NodeId start, evaluator_.value(evaluator_.operand(ref, 2), {}, {}));
    evaluator_.store(stage.stores, target.array, linear, {start, logical.type}, Held::computed);
    evaluator_.add_stage(std::move(stage), -1, {});
    return {};
  };
  RETURN_IF_ERROR(lower_with(fill, false));
  if (picked == 0) return {};
  const int picks = add_array(picked * bytes(register_of(Picked::place)));
  RETURN_IF_ERROR(lower_with([&](Nest& nest) { return pick_elements(evaluator_, ref, picks, Picked::place, nest); }, false));
  return lower_with([&](Nest& nest) { return scatter_picked(evaluator_, ref, picks, {target.array, logical, false}, nest); }, false);
}

/// The steps that windows pick, behind no array: elements of the result are computed from them.
base::Result<Materialised> Lowering::lower_steps(Ref ref) {
  const int64_t picked = ir::elements(evaluator_.shape(evaluator_.operand(ref, 1)));
  const Materialised made{{-1, add_array(picked * bytes(register_of(Picked::step)))}};
  if (picked == 0 || ir::elements(evaluator_.shape(ref)) == 0) return made;
  RETURN_IF_ERROR(lower_with([&](Nest& nest) { return pick_elements(evaluator_, ref, made.arrays[1], Picked::step, nest); }, false));
  return made;
}

}  // namespace kernel
