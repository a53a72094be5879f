// Roots become nests. Roots whose elements come from the same space share one nest, so that operands are read once. An attempt to lower a
// nest may find that a loop must be split, that iterations must be cut in two, that some loops must be outer loops, or that a reduction
// must be in memory first; then it starts anew with that knowledge.
#include "replay/kernel/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "replay/kernel/evaluate.h"
#include "src/ir/attr.h"

namespace kernel {
namespace {

using ir::Op;
constexpr int kMostAttempts = 200;
constexpr size_t kMostPieces = 6;
constexpr int kDeepestMaterialised = 64;

/// A leaf of the root and the array where it goes.
struct Root {
  Ref ref;
  std::vector<int64_t> path;
  const ir::Shape* shape = nullptr;
  int array = 0;
  bool stored_type = true;       ///< false: a materialised result, kept in its register type
  std::optional<Ref> reduction;  ///< the reduction whose elements its own correspond to
};

struct Group {
  std::vector<Root> roots;
  std::string signature;  ///< equal signatures share a nest
  int64_t elements = 0;   ///< of the space; maps of as many elements may join
  bool reduces = false;
};

class Lowering {
 public:
  Lowering(const ir::Module& module, replay::Rounding rounding) : module_(module), evaluator_(module, rounding, out_) {}
  base::Result<Lowered> run(ir::InstrRef instr);

 private:
  std::optional<Ref> reduction_below(Ref ref, std::vector<int64_t> path);
  std::string reduced_pattern(Ref reduction);
  std::vector<Group> group(const std::vector<Root>& roots);
  base::Status lower_group(const Group& group);
  base::Status materialise(Ref reduction);
  struct Box {
    std::map<std::string, std::pair<int64_t, int64_t>> ranges;
  };
  base::Status attempt(const Group& group, Nest& nest);
  base::Status add_finish(const Root& root, Nest& nest);
  base::Status add_map(const Root& root, Nest& nest);
  base::Status lower_map(const Group& group);
  base::Result<NodeId> stored(const Root& root, const Place& place);
  base::Result<bool> learn(std::set<int64_t>* cuts);
  int add_array(int64_t bytes);

  const ir::Module& module_;
  Lowered out_;
  Evaluator evaluator_;
  Index map_linear_;
  int64_t piece_base_ = 0;
  int depth_ = 0;
};

/// Through ops that keep the elements one to one.
std::optional<Ref> Lowering::reduction_below(Ref ref, std::vector<int64_t> path) {
  std::set<Ref> seen;
  std::vector<std::pair<Ref, std::vector<int64_t>>> todo{{ref, std::move(path)}};
  while (!todo.empty()) {
    const auto made = evaluator_.maker(todo.back().first, todo.back().second);
    todo.pop_back();
    if (!seen.insert(made.ref).second || evaluator_.is_input(made.ref)) continue;
    const ir::Instr& i = evaluator_.instr(made.ref);
    if (i.op == Op::reduce || i.op == Op::reduce_window || i.op == Op::dot) return made.ref;
    const bool through =
        ir::is_elementwise(i.op) || i.op == Op::bitcast || i.op == Op::reshape || i.op == Op::copy || i.op == Op::transpose;
    if (!through) continue;
    const int64_t count = ir::elements(evaluator_.shape(made.ref, made.path));
    for (size_t k = 0; k < i.operands.size(); ++k) {
      const Ref from = evaluator_.operand(made.ref, k);
      if (evaluator_.shape(from).is_array() && ir::elements(evaluator_.shape(from)) == count) todo.push_back({from, {}});
    }
  }
  return std::nullopt;
}

/// Kept and reduced extents in logical order, neighbours merged: "k16 r512 k64".
std::string Lowering::reduced_pattern(Ref reduction) {
  const ir::Instr& i = evaluator_.instr(reduction);
  if (i.op != Op::reduce) return fmt::format("{}.{}", reduction.frame, reduction.instr);
  const auto dims = ir::attr_dims(module_, i, "dimensions");
  const auto& sizes = evaluator_.shape(evaluator_.operand(reduction, 0)).dims;
  std::string out;
  int64_t extent = 1;
  char last = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    const char kind = std::ranges::count(dims, static_cast<int64_t>(d)) > 0 ? 'r' : 'k';
    if (kind != last && last) out += fmt::format("{}{} ", last, extent), extent = 1;
    extent *= sizes[d];
    last = kind;
  }
  if (last) out += fmt::format("{}{}", last, extent);
  return out;
}

std::vector<Group> Lowering::group(const std::vector<Root>& roots) {
  std::vector<Group> groups;
  const auto place = [&](const Root& root, const std::string& signature, int64_t elements, bool reduces) {
    for (Group& g : groups) {
      const bool joins = !reduces && g.reduces && g.elements == elements && root.shape->rank() > 0 &&
                         ir::minor_to_major(*root.shape).front() == root.shape->rank() - 1;
      if (g.signature == signature || joins) return g.roots.push_back(root);
    }
    groups.push_back({{root}, signature, elements, reduces});
  };
  for (const Root& root : roots)
    if (root.reduction) {
      const Ref r = *root.reduction;
      const ir::Instr& i = evaluator_.instr(r);
      const int64_t space = i.op == Op::reduce ? ir::elements(evaluator_.shape(evaluator_.operand(r, 0))) : -1;
      place(root, reduced_pattern(r), space, true);
    }
  for (const Root& root : roots) {
    if (root.reduction) continue;
    std::string order;
    for (const int64_t d : ir::minor_to_major(*root.shape))
      if (root.shape->dims[static_cast<size_t>(d)] > 1) order += fmt::format(" {}", d);
    const bool descending = std::ranges::is_sorted(ir::minor_to_major(*root.shape), std::ranges::greater{});
    place(root, fmt::format("map {}{}", ir::elements(*root.shape), descending ? "" : order), ir::elements(*root.shape), false);
  }
  return groups;
}

int Lowering::add_array(int64_t bytes) {
  out_.arrays.push_back({Array::Kind::shared, 0, out_.shared_bytes, bytes, {}});
  out_.shared_bytes += (bytes + 127) / 64 * 64;
  return static_cast<int>(out_.arrays.size()) - 1;
}

base::Status Lowering::materialise(Ref reduction) {
  if (depth_ > kDeepestMaterialised) return evaluator_.unsupported(reduction, "more than 64 reductions inside each other");
  Group group;
  std::vector<int> arrays;
  for (const ir::Leaf& leaf : ir::leaves(evaluator_.shape(reduction))) {
    const Reg reg = register_of(leaf.shape->type);
    arrays.push_back(add_array(ir::elements(*leaf.shape) * bytes(reg)));
    group.roots.push_back({reduction, leaf.path, leaf.shape, arrays.back(), false, reduction});
  }
  group.reduces = true;
  ++depth_;
  const auto factors = evaluator_.factors;
  evaluator_.factors.clear();
  evaluator_.outer_factors.clear();
  RETURN_IF_ERROR(lower_group(group));
  evaluator_.factors = factors;
  --depth_;
  evaluator_.materialised.emplace(reduction, arrays);
  return {};
}

base::Result<NodeId> Lowering::stored(const Root& root, const Place& place) {
  ASSIGN_OR_RETURN(const NodeId node, evaluator_.value(root.ref, root.path, place));
  if (!root.stored_type && root.shape->type != ir::Type::pred) return node;
  return to_storage(out_.graph, node, root.shape->type);
}

/// The root's elements are the outer iterations.
base::Status Lowering::add_finish(const Root& root, Nest& nest) {
  std::vector<TermId> none;
  const int64_t count = ir::elements(*root.shape);
  if (nest.outer.empty() && count > 1) map_linear_ = evaluator_.loops_of("outer", count, nest.outer);
  const ir::Shape logical = root.stored_type ? *root.shape : ir::array_shape(root.shape->type, root.shape->dims);
  const Place place = place_of(out_.graph.terms, logical, count > 1 ? map_linear_ : Index{});
  ASSIGN_OR_RETURN(const NodeId node, stored(root, place));
  nest.finish.push_back({root.array, out_.graph.terms.normal(element_of(logical, place)), node});
  return {};
}

/// The root's elements are the iterations of a stage: that of the first reduction, or one of its own.
base::Status Lowering::add_map(const Root& root, Nest& nest) {
  if (evaluator_.first_reduction && evaluator_.first_reduction->stage < nest.stages.size()) {
    const auto joined = *evaluator_.first_reduction;
    const Place place = delinearise(out_.graph.terms, root.shape->dims, linearise(joined.sizes, joined.place));
    ASSIGN_OR_RETURN(const NodeId node, stored(root, place));
    if (!evaluator_.needs_stage(node, joined.stage)) {
      nest.stages[joined.stage].stores.push_back({root.array, out_.graph.terms.normal(element_of(*root.shape, place)), node});
      return {};
    }
  }
  Stage stage;
  const Index linear =
      evaluator_.loops_of("map " + fmt::format("{}", ir::elements(*root.shape)), ir::elements(*root.shape), stage.loops) + piece_base_;
  const Place place = place_of(out_.graph.terms, *root.shape, linear);
  ASSIGN_OR_RETURN(const NodeId node, stored(root, place));
  stage.stores.push_back({root.array, out_.graph.terms.normal(element_of(*root.shape, place)), node});
  evaluator_.add_stage(std::move(stage), -1, {});
  return {};
}

base::Status Lowering::attempt(const Group& group, Nest& nest) {
  evaluator_.begin(nest);
  for (const Root& root : group.roots)
    if (root.reduction) RETURN_IF_ERROR(add_finish(root, nest));
  if (group.reduces) {
    for (const Root& root : group.roots)
      if (!root.reduction) RETURN_IF_ERROR(add_map(root, nest));
    return {};
  }
  Stage stage;
  const int64_t count = ir::elements(*group.roots[0].shape);
  const Index linear = evaluator_.loops_of("map", count, stage.loops);
  for (const Root& root : group.roots) {
    const Place place = place_of(out_.graph.terms, *root.shape, linear);
    ASSIGN_OR_RETURN(const NodeId node, stored(root, place));
    stage.stores.push_back({root.array, out_.graph.terms.normal(element_of(*root.shape, place)), node});
  }
  evaluator_.add_stage(std::move(stage), -1, {});
  return {};
}

/// After an attempt: true if there is something to do differently.
base::Result<bool> Lowering::learn(std::set<int64_t>* cuts) {
  (void)cuts;
  if (evaluator_.take_wish()) return true;
  Retry& retry = evaluator_.retry;
  if (!retry.wanted) return false;
  if (!retry.outer.empty()) {
    for (const TermId v : retry.outer) {
      const auto& loop = evaluator_.loop_of(v);
      evaluator_.outer_factors[loop.key].push_back(loop.position);
    }
    return true;
  }
  if (retry.materialise) {
    if (evaluator_.materialised.contains(*retry.materialise)) return false;
    RETURN_IF_ERROR(materialise(*retry.materialise));
    return true;
  }
  return false;
}

base::Status Lowering::lower_group(const Group& group) {
  evaluator_.factors.clear();
  evaluator_.outer_factors.clear();
  evaluator_.cuts_allowed = false;
  for (int attempts = 0; attempts < kMostAttempts; ++attempts) {
    Nest nest;
    evaluator_.map_elements = group.reduces ? 0 : ir::elements(*group.roots[0].shape);
    const base::Status status = attempt(group, nest);
    const auto outer = evaluator_.outer_factors;
    ASSIGN_OR_RETURN(const bool again, learn(nullptr));
    if (again) {
      if (!outer.empty() && evaluator_.outer_factors.empty()) evaluator_.outer_factors = outer;
      continue;
    }
    RETURN_IF_ERROR(status);
    out_.nests.push_back(std::move(nest));
    return {};
  }
  return evaluator_.unsupported(group.roots[0].ref, "its loops do not come to rest");
}

base::Result<Lowered> Lowering::run(ir::InstrRef instr) {
  const ir::Instr& i = module_.instr(instr.comp, instr.instr);
  for (const ir::InstrId o : i.operands) out_.operands += static_cast<int>(ir::leaves(module_.shape(module_.instr(instr.comp, o))).size());
  for (int k = 0; k < out_.operands; ++k) out_.arrays.push_back({Array::Kind::operand, k, 0, 0, {}});
  int position = 0;
  for (const ir::InstrId o : i.operands)
    for (const ir::Leaf& leaf : ir::leaves(module_.shape(module_.instr(instr.comp, o))))
      out_.arrays[static_cast<size_t>(position++)].bytes = ir::bytes(*leaf.shape);
  evaluator_.open(instr);
  std::vector<Root> roots;
  for (const ir::Leaf& leaf : ir::leaves(module_.shape(i))) {
    const auto made = evaluator_.maker(evaluator_.root(), leaf.path);
    const int array = static_cast<int>(out_.arrays.size());
    out_.arrays.push_back({Array::Kind::output, out_.operands + out_.outputs++, 0, ir::bytes(*leaf.shape), {}});
    if (!is_supported(leaf.shape->type)) return evaluator_.unsupported(made.ref, fmt::format("type {}", ir::text(leaf.shape->type)));
    roots.push_back({evaluator_.root(), leaf.path, leaf.shape, array, true, reduction_below(evaluator_.root(), leaf.path)});
  }
  for (const Group& g : group(roots)) {
    const bool nothing = std::ranges::all_of(g.roots, [](const Root& r) { return ir::elements(*r.shape) == 0; });
    if (!nothing) RETURN_IF_ERROR(lower_group(g));
  }
  return std::move(out_);
}

}  // namespace

base::Result<Lowered> lower(const ir::Module& module, ir::InstrRef instr, replay::Rounding rounding) {
  return Lowering(module, rounding).run(instr);
}

}  // namespace kernel
