// Chooses a class for each nest. Elementwise work runs over its destination in blocks; reductions along contiguous elements keep
// accumulators in lanes; reductions across rows keep a vector of columns. Where the outer loops do not feed the threads or a reduction is
// long, it is cut in blocks with a partial result each, and a second part combines these in order: results do not depend on the number of
// threads.
#include "replay/kernel/schedule.h"

#include <algorithm>
#include <numeric>

#include "replay/kernel/tile.h"
#include "replay/kernel/write.h"

namespace kernel {
namespace {

constexpr int64_t kBlock = 8192;              ///< elements of an iteration of a flat loop
constexpr int64_t kChunkElements = 64 << 10;  ///< elements that are worth a thread's visit
constexpr int64_t kLongReduction = 32768;
constexpr int64_t kReductionBlock = 16384;

int interleave(size_t nodes) { return nodes <= 40 ? 4 : nodes <= 160 ? 2 : 1; }

/// Removes a loop from the list; one of extent 1 if it is not there.
Loop taken(std::vector<Loop>& loops, TermId variable) {
  const auto at = std::ranges::find(loops, variable, &Loop::variable);
  if (at == loops.end()) return {-1, 1};
  const Loop loop = *at;
  loops.erase(at);
  return loop;
}

class Scheduler {
 public:
  Scheduler(Lowered& lowered, const Target& target) : lowered_(lowered), graph_(lowered.graph), target_(target) {}
  std::vector<Scheduled> run();

 private:
  void nest(const Nest& nest);
  void map(const Nest& nest);
  void turned_map(const Stage& stage, const Footprint& print, std::vector<Loop> loops, const std::vector<TermId>& gone, TermId across,
                  const Turned& turned);
  void rows(const Nest& nest);
  void columns(const Nest& nest, TermId across);
  void serial(const Nest& nest);
  bool split(const Nest& nest, bool by_rows);
  void finish(Scheduled& part, const Footprint& print, const std::vector<Loop>& loops, int64_t per_iteration);
  std::set<int> streamed(const std::vector<Store>& stores, TermId across);
  std::vector<Loop> all_loops(const Nest& nest) const;
  Footprint everything(const Nest& nest) const;

  Lowered& lowered_;
  Graph& graph_;
  const Target& target_;
  std::vector<Scheduled> parts_;
};

std::vector<Loop> Scheduler::all_loops(const Nest& nest) const {
  std::vector<Loop> loops;
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

void Scheduler::finish(Scheduled& part, const Footprint& print, const std::vector<Loop>& loops, int64_t per_iteration) {
  for (const Access& a : print.accesses) part.work_bytes += elements_touched(graph_, a, loops) * bytes(a.reg);
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
    bool aligned = s.at.constant % target_.lanes == 0 && coefficient(s.at, across) == 1;
    for (const auto& [t, c] : s.at.terms) aligned = aligned && (t == across || c % target_.lanes == 0);
    if (aligned && array.kind == Array::Kind::output && array.bytes >= large) arrays.insert(s.array);
  }
  return arrays;
}

void Scheduler::map(const Nest& nest) {
  const Stage& stage = nest.stages[0];
  const Footprint print = footprint(graph_, roots_of(stage), stage.stores);
  std::vector<TermId> gone;
  std::vector<Loop> loops = merged(graph_.terms, stage.loops, print.indices, gone);
  const std::vector<Loop> all = loops;
  Footprint stores = footprint(graph_, {}, stage.stores);
  std::erase_if(stores.accesses, [](const Access& a) { return !a.store; });
  const TermId across = contiguous_loop(graph_, stores, loops);
  sort_by_stride(stores, graph_, loops);
  const Turned turned = loads_to_turn(graph_, print, loops, across);
  if (!turned.loads.empty()) return turned_map(stage, print, loops, gone, across, turned);
  const Loop inner = taken(loops, across);

  Scheduled part;
  part.shape = "map";
  Writer writer(part.list, lowered_, target_);
  for (const TermId v : gone) writer.emit.bind(v, part.list.integer(0));
  writer.streamed = streamed(stage.stores, across);
  writer.emit.prepare(roots_of(stage));
  std::vector<Loop> outer, middle;
  for (const Loop& l : loops) (product(outer) < 256 ? outer : middle).push_back(l);
  const bool blocks = middle.empty() && product(outer) < int64_t{8} * target_.threads && inner.extent > kBlock;
  const TermId block = blocks ? graph_.terms.variable(0, (inner.extent + kBlock - 1) / kBlock - 1) : -1;
  if (blocks) outer.push_back({block, extent_of(graph_.terms, block)});
  part.count = product(outer);
  const int vectors = static_cast<int>(std::clamp<int64_t>(inner.extent / target_.lanes, 1, interleave(print.nodes.size())));
  writer.parallel(outer, [&](ValueId at) {
    const bool alone = outer.size() == 1;
    const ValueId number = !blocks ? -1 : alone ? at : part.list.op(Code::urem, Reg::i64, 1, {at, part.list.integer(outer.back().extent)});
    const Span span = blocks ? writer.block(number, kBlock, inner.extent) : writer.whole(inner.extent);
    writer.emit.prepare(roots_of(stage));
    writer.serial_loops(middle, 0, [&] {
      writer.emit.prepare(roots_of(stage));
      const auto body = [&] {
        writer.emit.prepare(roots_of(stage));
        writer.store_all(stage.stores);
      };
      if (across >= 0) {
        writer.vector_loop(across, span, vectors, body);
      } else {
        body();
      }
    });
  });
  finish(part, print, all, (blocks ? kBlock : inner.extent) * product(middle));
}

/// Elementwise work with operands that lie across the grain: tile by tile, these operands turned first.
void Scheduler::turned_map(const Stage& stage, const Footprint& print, std::vector<Loop> loops, const std::vector<TermId>& gone,
                           TermId across, const Turned& turned) {
  const std::vector<Loop> all = loops;
  const Loop inner = taken(loops, across), along = taken(loops, turned.rows_along);
  int64_t width = 0;
  for (const NodeId load : turned.loads) width += bytes(graph_.type(load));
  const int64_t side = width <= 4 ? 128 : 64;
  const TermId column_block = graph_.terms.variable(0, (inner.extent + side - 1) / side - 1);
  const TermId row_block = graph_.terms.variable(0, (along.extent + side - 1) / side - 1);
  Scheduled part;
  part.shape = "transpose";
  Writer writer(part.list, lowered_, target_);
  for (const TermId v : gone) writer.emit.bind(v, part.list.integer(0));
  writer.streamed = streamed(stage.stores, across);
  std::vector<TileShape> tiles;
  for (const NodeId load : turned.loads) {
    const int size = bytes(graph_.type(load));
    const int64_t pitch = side + 32 / size;  // no power of two: rows of a square lie in different cache sets
    Index at{0, {{across, 1}}};
    at = at + Index{0, {{turned.rows_along, pitch}}} + Index{0, {{column_block, -side}}} + Index{0, {{row_block, -side * pitch}}};
    lowered_.arrays.push_back({Array::Kind::thread, 0, part.thread_bytes, side * pitch * size, {}});
    tiles.push_back({static_cast<int>(lowered_.arrays.size()) - 1, load, across, turned.rows_along, pitch, at});
    writer.emit.tiles[load] = {tiles.back().array, at};
    part.thread_bytes += (side * pitch * size + 127) / 64 * 64;
  }
  loops.push_back({row_block, extent_of(graph_.terms, row_block)});
  loops.push_back({column_block, extent_of(graph_.terms, column_block)});
  part.count = product(loops);
  const int vectors =
      static_cast<int>(std::clamp<int64_t>(std::min(side, inner.extent) / target_.lanes, 1, interleave(print.nodes.size())));
  writer.emit.prepare(roots_of(stage));
  writer.parallel(loops, [&](ValueId) {
    const Span columns = writer.block(writer.emit.scalar_index({0, {{column_block, 1}}}, 0), side, inner.extent);
    const Span rows = writer.block(writer.emit.scalar_index({0, {{row_block, 1}}}, 0), side, along.extent);
    for (const TileShape& tile : tiles) fill_tile(writer, lowered_, target_, tile, inner, columns, along, rows);
    writer.emit.prepare(roots_of(stage));
    writer.serial_loop(along.variable, rows, [&] {
      writer.emit.prepare(roots_of(stage));
      writer.vector_loop(across, columns, vectors, [&] {
        writer.emit.prepare(roots_of(stage));
        writer.store_all(stage.stores);
      });
    });
  });
  finish(part, print, all, std::min(side, inner.extent) * std::min(side, along.extent));
}

/// Outer iterations in parallel; stages with the vector loop inside.
void Scheduler::rows(const Nest& nest) {
  const Footprint print = everything(nest);
  std::vector<TermId> gone;
  std::vector<Loop> outer = merged(graph_.terms, nest.outer, print.indices, gone);
  sort_by_stride(print, graph_, outer);
  Scheduled part;
  part.shape = "rows";
  part.count = product(outer);
  Writer writer(part.list, lowered_, target_);
  for (const TermId v : gone) writer.emit.bind(v, part.list.integer(0));
  writer.emit.prepare(writer.everything(nest));
  writer.parallel(outer, [&](ValueId) {
    writer.emit.prepare(writer.everything(nest));
    for (const Stage& s : nest.stages) {
      writer.stage(s, interleave(footprint(graph_, roots_of(s), s.stores).nodes.size()));
      writer.emit.prepare(writer.everything(nest));
    }
    writer.store_all(nest.finish);
  });
  const auto all = all_loops(nest);
  finish(part, print, all, product(all) / std::max<int64_t>(1, part.count));
}

/// Vectors of outer iterations; reductions run serially inside.
void Scheduler::columns(const Nest& nest, TermId across) {
  const Footprint print = everything(nest);
  std::vector<TermId> gone;
  std::vector<Loop> outer = merged(graph_.terms, nest.outer, print.indices, gone);
  const Loop inner = taken(outer, across);
  sort_by_stride(print, graph_, outer);
  Scheduled part;
  part.shape = "columns";
  const int vectors = static_cast<int>(std::clamp<int64_t>(inner.extent / target_.lanes, 1, interleave(print.nodes.size())));
  const int64_t width = int64_t{vectors} * target_.lanes;
  const TermId block = graph_.terms.variable(0, std::max<int64_t>(0, (inner.extent + width - 1) / width - 1));
  outer.push_back({block, extent_of(graph_.terms, block)});
  part.count = product(outer);
  Writer writer(part.list, lowered_, target_);
  for (const TermId v : gone) writer.emit.bind(v, part.list.integer(0));
  writer.emit.prepare(writer.everything(nest));
  writer.parallel(outer, [&](ValueId at) {
    const ValueId number = outer.size() == 1 ? at : part.list.op(Code::urem, Reg::i64, 1, {at, part.list.integer(outer.back().extent)});
    const Span span = inner.extent <= width ? writer.whole(inner.extent) : writer.block(number, width, inner.extent);
    writer.emit.prepare(writer.everything(nest));
    writer.vector_loop(across, span, vectors, [&] {
      writer.emit.prepare(writer.everything(nest));
      for (const Stage& s : nest.stages) writer.stage(s, 1);
      writer.emit.prepare(writer.everything(nest));
      writer.store_all(nest.finish);
    });
  });
  const auto all = all_loops(nest);
  finish(part, print, all, product(all) / std::max<int64_t>(1, part.count));
}

/// Updates one after another on every thread, each in its own rows of the destination.
void Scheduler::serial(const Nest& nest) {
  const Footprint print = everything(nest);
  const Stage& stage = nest.stages[0];
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
  for (const TermId v : nest.outer) outer.push_back({v, extent_of(graph_.terms, v)});
  writer.emit.prepare(writer.everything(nest));
  writer.serial_loops(outer, 0, [&] {
    writer.emit.prepare(writer.everything(nest));
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
  if (nest.serial) return serial(nest);
  const bool is_map = nest.outer.empty() && nest.stages.size() == 1 && nest.stages[0].reductions.empty() && nest.finish.empty();
  if (is_map) return map(nest);
  const Footprint print = everything(nest);
  std::vector<TermId> gone;
  const std::vector<Loop> outer = merged(graph_.terms, nest.outer, print.indices, gone);
  std::vector<Loop> all = all_loops(nest);
  std::erase_if(all, [&](const Loop& l) { return std::ranges::count(nest.outer, l.variable) > 0; });
  all.insert(all.end(), outer.begin(), outer.end());
  const TermId across = contiguous_loop(graph_, print, all);
  const bool column = std::ranges::any_of(outer, [&](const Loop& l) { return l.variable == across; });
  if (column) return columns(nest, across);
  rows(nest);
}

std::vector<Scheduled> Scheduler::run() {
  for (const Nest& n : std::vector<Nest>(lowered_.nests)) nest(n);
  return std::move(parts_);
}

}  // namespace

std::vector<Scheduled> schedule(Lowered& lowered, const Target& target) { return Scheduler(lowered, target).run(); }

}  // namespace kernel
