// Roots become nests. Roots whose elements come from the same space share one nest, so that operands are read once. An attempt to lower a
// nest may find that a loop must be split, that iterations must be cut in two, that some loops must be outer loops, or that a reduction
// must be in memory first; then it starts anew with that knowledge.
#include "replay/kernel/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "replay/kernel/lowering.h"
#include "replay/kernel/pick.h"
#include "replay/kernel/update.h"
#include "src/ir/attr.h"

namespace kernel {
namespace {

using ir::Op;
constexpr int kMostAttempts = 200;
constexpr size_t kMostPieces = 6;
constexpr int kDeepestMaterialised = 64;
constexpr size_t kMostSeen = 100'000;   ///< instructions that are looked through
constexpr int64_t kLargeUpdate = 4096;  ///< elements from which on a slice update is a copy and an update

}  // namespace

/// Through ops that keep the elements one to one.
std::optional<Ref> Lowering::reduction_below(Ref ref, std::vector<int64_t> path) {
  std::set<Ref> seen;
  std::vector<std::pair<Ref, std::vector<int64_t>>> todo{{ref, std::move(path)}};
  while (!todo.empty()) {
    const auto made = evaluator_.maker(todo.back().first, todo.back().second);
    todo.pop_back();
    if (seen.size() > kMostSeen) return std::nullopt;
    if (!seen.insert(made.ref).second || evaluator_.is_input(made.ref)) continue;
    const ir::Instr& i = evaluator_.instr(made.ref);
    if (i.op == Op::reduce || i.op == Op::reduce_window || is_product(i.op)) return made.ref;
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

/// Of an array in register types.
int64_t Lowering::computed_bytes(const ir::Shape& shape) {
  return ir::elements(shape) * bytes(register_of(shape.type)) * (ir::is_complex(shape.type) ? 2 : 1);
}

int Lowering::add_array(int64_t bytes) {
  out_.arrays.push_back({Array::Kind::shared, 0, out_.shared_bytes, bytes, {}});
  out_.shared_bytes += (bytes + 127) / 64 * 64;
  return static_cast<int>(out_.arrays.size()) - 1;
}

base::Status Lowering::materialise(Ref ref) {
  if (depth_ > kDeepestMaterialised) return evaluator_.unsupported(ref, "more than 64 reductions inside each other");
  const Op op = evaluator_.instr(ref).op;
  const bool norm = op == Op::batch_norm_training || op == Op::batch_norm_grad;
  const bool whole = norm || op == Op::scatter || op == Op::sort || op == Op::topk || op == Op::select_and_scatter;
  const bool asks = op == Op::select_and_scatter && asks_holders(evaluator_, ref);
  Group group;
  Materialised made;
  for (const ir::Leaf& leaf : ir::leaves(evaluator_.shape(ref))) {
    const bool kept = op != Op::sort && op != Op::topk && !(norm && made.arrays.empty()) && !asks;
    made.arrays.push_back(kept ? add_array(computed_bytes(*leaf.shape)) : -1);
    group.roots.push_back({ref, leaf.path, leaf.shape, made.arrays.back(), false, ref});
  }
  group.reduces = true;
  ++depth_;
  if (whole) {
    ASSIGN_OR_RETURN(made, lower_whole(ref, group.roots));
  } else {
    RETURN_IF_ERROR(lower_group(group));
  }
  --depth_;
  evaluator_.materialised.emplace(ref, made);
  return {};
}

static Held held(const Root& root) { return root.stored_type ? Held::stored : Held::computed; }

/// Stores the root's element `place` into its array, which has the layout of `as`.
base::Status Lowering::put(std::vector<Store>& stores, const Root& root, const ir::Shape& as, const Place& place) {
  ASSIGN_OR_RETURN(const NodeId node, evaluator_.value(root.ref, root.path, place));
  evaluator_.store(stores, root.array, element_of(as, place), {node, root.shape->type}, held(root));
  return {};
}

/// The root's elements are the outer iterations.
base::Status Lowering::add_finish(const Root& root, Nest& nest) {
  std::vector<TermId> none;
  const int64_t count = ir::elements(*root.shape);
  if (nest.outer.empty() && count > 1) map_linear_ = evaluator_.loops_of("outer", count, nest.outer);
  const ir::Shape logical = root.stored_type ? *root.shape : ir::array_shape(root.shape->type, root.shape->dims);
  const Place place = place_of(out_.graph.terms, logical, count > 1 ? map_linear_ : Index{});
  return put(nest.finish, root, logical, place);
}

/// A stage with all of the root's elements.
base::Status Lowering::add_own_stage(const Root& root) {
  Stage stage;
  const int64_t count = ir::elements(*root.shape);
  const Index linear = evaluator_.loops_of(fmt::format("map {}", count), count, stage.loops);
  RETURN_IF_ERROR(put(stage.stores, root, *root.shape, place_of(out_.graph.terms, *root.shape, linear)));
  evaluator_.add_stage(std::move(stage), -1, {});
  return {};
}

/// Adds a root whose elements are those that the nest's first reduction reads: to the stage of that reduction, or to one after it where it
/// needs the result. No: it is for a nest of its own, as in this one every outer iteration would compute all of it.
base::Result<Lowering::Joined> Lowering::add_map(const Root& root, Nest& nest) {
  const int64_t count = ir::elements(*root.shape);
  const auto first = evaluator_.first_reduction;
  const std::vector<int64_t> sizes = first ? evaluator_.shape(evaluator_.operand(first->ref, 0)).dims : std::vector<int64_t>{};
  if (!first || first->stage >= nest.stages.size() || ir::elements(ir::array_shape(root.shape->type, sizes)) != count) {
    if (!nest.outer.empty() || count > kMostSerial) return Joined::no;
    RETURN_IF_ERROR(add_own_stage(root));
    return Joined::yes;
  }
  const auto add_at = [&](const Place& place, std::vector<Store>& stores) {
    return put(stores, root, *root.shape, delinearise(out_.graph.terms, root.shape->dims, linearise(sizes, place)));
  };
  std::vector<Store> stores;
  RETURN_IF_ERROR(add_at(first->place, stores));
  if (std::ranges::none_of(stores, [&](const Store& s) { return evaluator_.needs_stage(s.value, first->stage); })) {
    auto& joint = nest.stages[first->stage].stores;
    joint.insert(joint.end(), stores.begin(), stores.end());
    return Joined::yes;
  }
  if (nest.outer.empty() && count > kMostSerial) return evaluator_.in_memory_first(first->ref);
  Stage after;
  const int64_t steps = count / ir::elements(*ir::leaves(evaluator_.shape(first->ref)).front().shape);
  const Index step = evaluator_.loops_of(fmt::format("after {}", steps), steps, after.loops);
  RETURN_IF_ERROR(add_at(evaluator_.reduced_place(first->ref, first->result, step), after.stores));
  evaluator_.add_stage(std::move(after), -1, {});
  return Joined::yes;
}

/// Returns the roots that the nest can't hold.
base::Result<std::vector<Root>> Lowering::attempt(const Group& group, Nest& nest) {
  std::vector<Root> apart;
  for (const Root& root : group.roots)
    if (root.reduction) RETURN_IF_ERROR(add_finish(root, nest));
  if (group.reduces) {
    for (const Root& root : group.roots) {
      if (root.reduction) continue;
      ASSIGN_OR_RETURN(const Joined joined, add_map(root, nest));
      if (joined == Joined::no) apart.push_back(root);
    }
    return apart;
  }
  Stage stage;
  const int64_t count = ir::elements(*group.roots[0].shape);
  const Index linear = evaluator_.loops_of("map", count, stage.loops);
  for (const Root& root : group.roots)
    RETURN_IF_ERROR(put(stage.stores, root, *root.shape, place_of(out_.graph.terms, *root.shape, linear)));
  evaluator_.add_stage(std::move(stage), -1, {});
  return apart;
}

/// After an attempt: true if there is something to do differently.
base::Result<bool> Lowering::learn() {
  if (evaluator_.take_wish()) return true;
  const Retry retry = evaluator_.retry;
  if (!retry.wanted) return false;
  if (!retry.outer.empty()) {
    for (const TermId v : retry.outer) {
      const auto& loop = evaluator_.loop_of(v);
      evaluator_.outer_factors[loop.key].push_back(loop.position);
    }
    return true;
  }
  if (!retry.materialise || evaluator_.materialised.contains(*retry.materialise)) return false;
  const auto factors = evaluator_.factors;
  const auto outer_factors = evaluator_.outer_factors;
  const bool cuts = evaluator_.cuts_allowed;
  RETURN_IF_ERROR(materialise(*retry.materialise));
  evaluator_.factors = factors;
  evaluator_.outer_factors = outer_factors;
  evaluator_.cuts_allowed = cuts;
  evaluator_.pieces.clear();
  return true;
}

void Lowering::start_anew() {
  evaluator_.factors.clear();
  evaluator_.outer_factors.clear();
  evaluator_.pieces.clear();
}

/// Attempts until nothing is left to learn.
base::Status Lowering::lower_with(const Attempt& make, bool cuts) {
  start_anew();
  evaluator_.cuts_allowed = cuts;
  std::vector<Piece> todo{{}};
  std::vector<Nest> done;
  for (int attempts = 0; attempts < kMostAttempts && !todo.empty(); ++attempts) {
    Nest nest;
    evaluator_.pieces = todo.back();
    evaluator_.begin(nest);
    const base::Status status = make(nest);
    const std::optional<Retry::Cut> cut = evaluator_.retry.cut;
    ASSIGN_OR_RETURN(const bool again, learn());
    if (again) {  // loops have changed: the pieces are no longer these
      todo = {{}};
      done.clear();
      continue;
    }
    RETURN_IF_ERROR(status);
    if (cut) {
      if (todo.size() + done.size() >= kMostPieces) {
        evaluator_.cuts_allowed = false;
        todo = {{}};
        done.clear();
        continue;
      }
      const auto& loop = evaluator_.loop_of(cut->variable);
      const std::pair<std::string, int> key{loop.key, loop.position};
      Piece first = todo.back(), second = first;
      const int64_t from = first.contains(key) ? first[key].first : 0;
      const int64_t to = first.contains(key) ? first[key].second : evaluator_.factors[key.first][static_cast<size_t>(key.second)];
      first[key] = {from, from + cut->at};
      second[key] = {from + cut->at, to};
      todo.back() = second;
      todo.push_back(first);
      continue;
    }
    done.push_back(std::move(nest));
    todo.pop_back();
  }
  if (!todo.empty()) return base::Error{"no kernel: the loops do not come to rest"};
  for (Nest& nest : done) out_.nests.push_back(std::move(nest));
  return {};
}

base::Status Lowering::lower_group(const Group& group) {
  const int64_t maps = group.reduces ? 0 : ir::elements(*group.roots[0].shape);
  std::vector<Root> apart;
  const Attempt in_nest = [&](Nest& nest) -> base::Status {
    evaluator_.map_elements = maps;
    ASSIGN_OR_RETURN(apart, attempt(group, nest));
    return {};
  };
  RETURN_IF_ERROR(lower_with(in_nest, !group.reduces));
  for (const Group& own : this->group(apart)) RETURN_IF_ERROR(lower_group(own));
  return {};
}

/// The array of an operand that a root passes through unchanged, or -1.
int Lowering::operand_array(Ref ref) {
  const auto made = evaluator_.maker(ref, {});
  return evaluator_.is_input(made.ref) ? evaluator_.input_leaf(made.ref, made.path) : -1;
}

/// First all of the old array, then the updates.
base::Status Lowering::copy_first(Ref from, const Root& to) {
  Root copy = to;
  copy.ref = from;
  copy.path = {};
  copy.reduction.reset();
  const size_t first = out_.nests.size();
  RETURN_IF_ERROR(lower_group({{copy}, "", 0, false}));
  // Only an output can be in the operand's buffer; scratch never is.
  const bool is_output = out_.arrays[static_cast<size_t>(to.array)].kind == Array::Kind::output;
  const int same = is_output ? operand_array(from) : -1;
  for (size_t n = first; n < out_.nests.size() && same >= 0; ++n) {
    out_.nests[n].skip_if_same[0] = same;
    out_.nests[n].skip_if_same[1] = to.array;
  }
  return {};
}

base::Status Lowering::lower_update_slice(Ref update, const Root& target) {
  RETURN_IF_ERROR(copy_first(evaluator_.operand(update, 0), target));
  if (ir::elements(evaluator_.shape(evaluator_.operand(update, 1))) == 0) return {};
  return lower_with([&](Nest& nest) { return slice_update(evaluator_, update, {target.array, *target.shape, true}, nest); }, true);
}

/// Takes the roots that change a part of an array: scatters and large slice updates.
base::Status Lowering::lower_updates(std::vector<Root>& roots) {
  std::vector<Root> others;
  std::map<Ref, std::vector<Root>> scatters;
  for (const Root& root : roots) {
    const auto made = evaluator_.maker(root.ref, root.path);
    const Op op = evaluator_.is_input(made.ref) ? Op::parameter : evaluator_.instr(made.ref).op;
    if (op == Op::scatter && ir::elements(*root.shape) > 0) {
      scatters[made.ref].push_back(root);
    } else if (op == Op::dynamic_update_slice && ir::elements(*root.shape) > kLargeUpdate) {
      RETURN_IF_ERROR(lower_update_slice(made.ref, root));
    } else {
      others.push_back(root);
    }
  }
  for (const auto& [ref, targets] : scatters) {
    const bool whole = targets.size() == ir::leaves(evaluator_.shape(ref)).size();
    if (whole) {
      RETURN_IF_ERROR(lower_scatter(ref, targets));
    } else {  // some leaves only, or one twice
      others.insert(others.end(), targets.begin(), targets.end());
    }
  }
  roots = others;
  return {};
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
  RETURN_IF_ERROR(lower_updates(roots));
  std::erase_if(roots, [](const Root& r) { return ir::elements(*r.shape) == 0; });
  RETURN_IF_ERROR(lower_groups(group(roots)));
  return std::move(out_);
}

/// Maps first: the reductions that they need in memory are not computed once more for the roots that are reductions themselves. Where they
/// need several of those, these are made together, so that operands are read once.
base::Status Lowering::lower_groups(const std::vector<Group>& groups) {
  const auto maps = [&]() -> base::Status {
    for (const Group& g : groups)
      if (!g.reduces) RETURN_IF_ERROR(lower_group(g));
    return {};
  };
  const Lowered before = out_;
  const auto known = evaluator_.materialised;
  RETURN_IF_ERROR(maps());
  for (const Group& g : groups) {
    std::set<Ref> needed;
    for (const Root& root : g.roots)
      if (g.reduces && root.reduction && evaluator_.materialised.contains(*root.reduction)) needed.insert(*root.reduction);
    if (needed.size() < 2) continue;
    const Lowered apart = std::exchange(out_, before);
    const auto made_apart = std::exchange(evaluator_.materialised, known);
    out_.graph = apart.graph;
    ASSIGN_OR_RETURN(const bool together, materialise_together(needed));
    if (together) {
      RETURN_IF_ERROR(maps());
      break;
    }
    Graph graph = std::move(out_.graph);  // nodes keep their numbers
    out_ = apart, evaluator_.materialised = made_apart;
    out_.graph = std::move(graph);
  }
  for (const Group& g : groups)
    if (g.reduces) RETURN_IF_ERROR(lower_group(g));
  return {};
}

/// Reductions in memory by one nest of one stage; false, and nothing is as it was: one needs another's result.
base::Result<bool> Lowering::materialise_together(const std::set<Ref>& reductions) {
  Group group;
  group.reduces = true;
  std::map<Ref, Materialised> made;
  for (const Ref& ref : reductions) {
    for (const ir::Leaf& leaf : ir::leaves(evaluator_.shape(ref))) {
      made[ref].arrays.push_back(add_array(computed_bytes(*leaf.shape)));
      group.roots.push_back({ref, leaf.path, leaf.shape, made[ref].arrays.back(), false, ref});
    }
  }
  RETURN_IF_ERROR(lower_group(group));
  if (out_.nests.empty() || out_.nests.back().stages.size() != 1) return false;
  for (auto& [ref, arrays] : made) evaluator_.materialised.emplace(ref, std::move(arrays));
  return true;
}

base::Result<Lowered> lower(const ir::Module& module, ir::InstrRef instr, replay::Rounding rounding) {
  return Lowering(module, rounding).run(instr);
}

}  // namespace kernel
