// Chooses a class for each nest. Elementwise work runs over its destination in blocks; reductions along contiguous elements keep
// accumulators in lanes; reductions across rows keep vectors of columns. Where the outer loops do not feed the threads or a reduction is
// long, it is cut in blocks with a partial result each, and a second part combines these in order: results do not depend on the number of
// threads.
#include "replay/kernel/schedule.h"

#include <algorithm>

#include "replay/kernel/scheduler.h"

namespace kernel {
namespace {

constexpr int64_t kChunkElements = 64 << 10;  ///< elements that are worth a thread's visit
constexpr int64_t kLongReduction = 32768;     ///< elements that are cut in blocks where rows are few
constexpr int64_t kReductionBlock = 16384;
constexpr int64_t kFewRows = 32;  ///< of a column reduction that needs no second part

}  // namespace

int interleave(size_t nodes) { return nodes <= 40 ? 4 : nodes <= 160 ? 2 : 1; }

Loop taken(std::vector<Loop>& loops, TermId variable) {
  const auto at = std::ranges::find(loops, variable, &Loop::variable);
  if (at == loops.end()) return {-1, 1};
  const Loop loop = *at;
  loops.erase(at);
  return loop;
}

std::vector<Loop> Scheduler::all_loops(const Nest& nest) const {
  std::vector<Loop> loops;
  loops.reserve(nest.outer.size());
  for (const TermId v : nest.outer) loops.push_back({v, extent_of(graph_.terms, v)});
  for (const Stage& s : nest.stages)
    for (const TermId v : s.loops) loops.push_back({v, extent_of(graph_.terms, v)});
  return loops;
}

Footprint Scheduler::everything(const Nest& nest) const {
  std::vector<NodeId> roots;
  std::vector<Store> stores = nest.finish;
  for (const Stage& s : nest.stages) {
    for (const NodeId id : roots_of(s)) roots.push_back(id);
    stores.insert(stores.end(), s.stores.begin(), s.stores.end());
  }
  return footprint(graph_, roots, stores);
}

int64_t Scheduler::lone_elements(const List& list, const Footprint& print, const std::vector<Loop>& loops) const {
  const auto is_lone = [](const Line& l) { return l.kind == Line::Kind::gather || l.kind == Line::Kind::scatter; };
  if (std::ranges::none_of(list.lines, is_lone)) return 0;
  const TermId across = contiguous_loop(graph_, print, loops);
  const auto lies_apart = [&](const Access& a) { return coefficient(a.at, across) != 1 && depends_on(graph_, a.at, across); };
  return std::ranges::count_if(print.accesses, lies_apart) * product(loops);
}

void Scheduler::finish(Scheduled& part, const Footprint& print, const std::vector<Loop>& loops, int64_t per_iteration) {
  for (const Access& a : print.accesses) part.work_bytes += elements_touched(graph_, a, loops) * bytes(a.reg);
  part.lone_elements = lone_elements(part.list, print, loops);
  const int64_t enough = std::max<int64_t>(1, kChunkElements / std::max<int64_t>(1, per_iteration));
  const int64_t fair = std::max<int64_t>(1, part.count / (int64_t{16} * target_.threads));
  part.chunk = std::min(part.count, std::max(enough, fair));
  if (std::ranges::any_of(part.list.lines, [](const Line& l) { return l.streaming; }))
    part.list.put({Line::Kind::fence, {}, Reg::i64, 1, -1, {}, 0, {}, false});
  parts_.push_back(std::move(part));
}

/// Large outputs pass the caches by, where each vector store is aligned.
std::set<int> Scheduler::streamed(const std::vector<Store>& stores, TermId across) {
  std::set<int> arrays;
  const int64_t large = std::min<int64_t>(target_.l3_bytes, 32 << 20) / 2;
  for (const Store& s : stores) {
    const Array& array = lowered_.arrays[static_cast<size_t>(s.array)];
    const int64_t unit = int64_t{target_.lanes} * std::max(1, 4 / bytes(graph_.type(s.value)));  // elements of a whole vector register
    bool aligned = s.at.constant % unit == 0 && coefficient(s.at, across) == 1;
    for (const auto& [t, c] : s.at.terms) aligned = aligned && (t == across || c % unit == 0);
    if (aligned && array.kind == Array::Kind::output && array.bytes >= large) arrays.insert(s.array);
  }
  return arrays;
}

/// Updates one after another on every thread, each in its own rows of the destination.
void Scheduler::serial(const Nest& nest) {
  const Footprint print = everything(nest);
  const Stage& stage = nest.stages.back();  // those before it reduce what the update needs
  Scheduled part;
  part.shape = "scatter";
  part.count = nest.owned;
  part.by_thread = nest.owned > 1;
  Writer writer(part.list, lowered_, target_);
  if (nest.owned > 1) {
    writer.emit.bind(nest.first_owned, part.list.argument(0));
    writer.emit.bind(nest.end_owned, part.list.argument(1));
  }
  std::vector<Loop> outer;
  outer.reserve(nest.outer.size());
  for (const TermId v : nest.outer) outer.push_back({v, extent_of(graph_.terms, v)});
  writer.serial_loops(outer, 0, [&] {  // nothing is prepared outside: an update reads what the one before it wrote
    writer.emit.prepare(writer.everything(nest));
    for (size_t k = 0; k + 1 < nest.stages.size(); ++k) {
      writer.stage(nest.stages[k], 4);
      writer.emit.prepare(writer.everything(nest));
    }
    part.list.branch(writer.emit.value(stage.condition));
    writer.emit.push();
    writer.stage(stage, 4);
    writer.emit.pop();
    part.list.end();
  });
  const auto all = all_loops(nest);
  finish(part, print, all, product(all) / std::max<int64_t>(1, part.count));
}

void Scheduler::nest(const Nest& nest) {
  if (nest.merge) return merge(*nest.merge);
  if (nest.serial) return serial(nest);
  const bool is_map = nest.outer.empty() && nest.stages.size() == 1 && nest.stages[0].reductions.empty() && nest.finish.empty();
  if (is_map) return map(nest);
  const Footprint print = everything(nest);
  std::vector<TermId> gone;
  std::vector<Loop> outer = merged(graph_.terms, nest.outer, print.indices, gone);
  std::vector<Loop> all = all_loops(nest);
  std::erase_if(all, [&](const Loop& l) { return std::ranges::count(nest.outer, l.variable) > 0; });
  const std::vector<Loop> inner = all;
  all.insert(all.end(), outer.begin(), outer.end());
  const TermId across = contiguous_loop(graph_, print, all);
  const Loop columns_loop = taken(outer, across);
  const bool in_order =
      std::ranges::any_of(nest.stages, [](const Stage& s) { return std::ranges::any_of(s.reductions, &Reduction::in_order); });
  const bool single = nest.stages.size() == 1 && !in_order;
  if (columns_loop.variable >= 0) {
    const bool narrow = columns_loop.extent <= int64_t{4} * target_.lanes && product(outer) >= int64_t{4} * target_.threads;
    if (!single || narrow || product(inner) <= kFewRows) return columns(nest, across);
    return swept_columns(nest, across);
  }
  if (single && product(inner) >= kLongReduction && product(outer) < int64_t{4} * target_.threads) {
    const Footprint stage = footprint(graph_, roots_of(nest.stages[0]), nest.stages[0].stores);
    std::vector<TermId> unused;
    std::vector<Loop> loops = merged(graph_.terms, nest.stages[0].loops, stage.indices, unused);
    sort_by_stride(stage, graph_, loops);
    const int64_t size = std::max<int64_t>(1, kReductionBlock / (product(loops) / loops[0].extent));
    if (size < loops[0].extent) return blocked_rows(nest, loops[0], size);
  }
  rows(nest);
}

std::vector<Scheduled> Scheduler::run() {
  for (const Nest& n : std::vector<Nest>(lowered_.nests)) {
    const size_t first = parts_.size();
    nest(n);
    for (size_t k = first; k < parts_.size(); ++k) std::ranges::copy(n.skip_if_same, parts_[k].same);
  }
  return std::move(parts_);
}

std::vector<Scheduled> schedule(Lowered& lowered, const Target& target) { return Scheduler(lowered, target).run(); }

}  // namespace kernel
