// Elementwise work on a GPU: a thread takes a few neighbours of the destination. Loads that run across its grain are turned in square tiles
// of the block's memory: read along the source's rows, found along the destination's. A row of a tile is one element longer than its warp,
// so that neither way two threads want the same bank.
#include <algorithm>

#include "replay/kernel/schedule_cuda.h"
#include "src/base/math.h"

namespace kernel {
namespace {

constexpr int64_t kSide = cuda::kWarp;        ///< of a tile
constexpr int64_t kPitch = kSide + 1;         ///< elements from row to row of a tile
constexpr int64_t kShortestSide = kSide / 2;  ///< of what is worth a tile

}  // namespace

/// What a vector along `across` may be: accesses that run along it must be contiguous, and all their other places multiples of the run.
cuda::Vector CudaScheduler::vector_for(const Footprint& print, TermId across, const std::vector<Loop>& loops) const {
  cuda::Vector vector;
  vector.nodes = static_cast<int64_t>(print.nodes.size());
  vector.widest_bytes = 1;
  for (const Loop& l : loops)
    if (l.variable == across) vector.run = l.extent;
  for (const Access& a : print.accesses)
    if (coefficient(a.at, across) == 1) vector.widest_bytes = std::max<int64_t>(vector.widest_bytes, bytes(a.reg));
  return vector;
}

void CudaScheduler::map(const Stage& stage) {
  const Footprint print = footprint(graph_, roots_of(stage), stage.stores);
  std::vector<TermId> gone;
  std::vector<Loop> loops = merged(graph_.terms, stage.loops, print.indices, gone);
  const std::vector<Loop> all = loops;
  Footprint stores = footprint(graph_, {}, stage.stores);
  std::erase_if(stores.accesses, [](const Access& a) { return !a.store; });
  const TermId across = contiguous_loop(graph_, stores, loops);
  sort_by_stride(stores, graph_, loops);
  const Turned across_the_grain = loads_to_turn(graph_, print, loops, across);
  if (fits_tiles(across_the_grain, loops, across)) return turned_map(stage, print, loops, gone, across, across_the_grain);
  const Loop inner = taken(loops, across);
  const cuda::Map plan = cuda::plan_map(product(all), vector_for(print, across, all), target_.multiprocessors);
  const int64_t items = product(all) / plan.lanes;

  Scheduled part;
  part.shape = "map";
  part.block_threads = plan.threads;
  part.count = plan.blocks;
  Writer writer(part.list, lowered_, target_);
  List& list = part.list;
  for (const TermId v : gone) writer.emit.bind(v, list.integer(0));
  writer.emit.prepare(roots_of(stage));
  ValueId at = number_of_thread(list, plan.threads);
  const bool guarded = items % plan.threads != 0;
  if (guarded) list.branch(list.op(Code::compare, Reg::i1, 1, {at, list.integer(items)}, static_cast<int64_t>(Predicate::slt)));
  writer.emit.push();
  if (across >= 0) {
    const ValueId size = list.integer(inner.extent / plan.lanes);
    const ValueId first = loops.empty() ? at : list.op(Code::urem, Reg::i64, 1, {at, size});
    if (!loops.empty()) at = list.op(Code::udiv, Reg::i64, 1, {at, size});
    if (plan.lanes > 1) {
      writer.emit.bind_vector(inner.variable, list.mul(first, plan.lanes));
      writer.emit.spread = {plan.lanes, 1, 1, -1};
    } else {
      writer.emit.bind(inner.variable, first);
    }
  }
  for (size_t k = loops.size(); k-- > 0;) {
    const ValueId extent = list.integer(loops[k].extent);
    writer.emit.bind(loops[k].variable, k == 0 ? at : list.op(Code::urem, Reg::i64, 1, {at, extent}));
    if (k > 0) at = list.op(Code::udiv, Reg::i64, 1, {at, extent});
  }
  writer.emit.prepare(roots_of(stage));
  writer.store_all(stage.stores);
  writer.emit.pop();
  if (guarded) list.end();
  finish(part, print, all, int64_t{plan.threads} * plan.lanes);
}

/// Are there loads to turn, over sides that are worth it, and do their tiles fit into the block's memory?
bool CudaScheduler::fits_tiles(const Turned& turned, const std::vector<Loop>& loops, TermId across) const {
  if (turned.loads.empty()) return false;
  int64_t size = 0;
  for (const NodeId load : turned.loads) size += kSide * kPitch * bytes(graph_.type(load));
  return size <= cuda::kMostSharedBytes && std::ranges::all_of(loops, [&](const Loop& l) {
           return (l.variable != across && l.variable != turned.rows_along) || l.extent >= kShortestSide;
         });
}

/// A tile for each load, one after another in the block's memory.
std::vector<CudaScheduler::Tile> CudaScheduler::tiles_for(const Turned& turned, const Index& row, const Index& column, Scheduled& part) {
  std::vector<Tile> tiles;
  for (const NodeId load : turned.loads) {
    const int64_t size = kSide * kPitch * bytes(graph_.type(load));
    tiles.push_back({load, static_cast<int>(lowered_.arrays.size()), column * kPitch + row});
    lowered_.arrays.push_back({Array::Kind::thread, 0, part.thread_bytes, size, {}});
    part.thread_bytes += base::ceil_div(size, 16) * 16;
  }
  return tiles;
}

/// A block has one tile of iterations of `across` (columns) and of the loop along which the loads run (rows).
void CudaScheduler::turned_map(const Stage& stage, const Footprint& print, std::vector<Loop> loops, const std::vector<TermId>& gone,
                               TermId across, const Turned& turned) {
  const std::vector<Loop> all = loops;
  const Loop columns = taken(loops, across), rows = taken(loops, turned.rows_along);
  Scheduled part;
  part.shape = "transpose";
  part.block_threads = cuda::kBlock;
  part.count = product(loops) * base::ceil_div(columns.extent, kSide) * base::ceil_div(rows.extent, kSide);
  List& list = part.list;
  const cuda::Team plan;
  TeamWriter writer(list, lowered_, target_, plan);
  for (const TermId v : gone) writer.emit.bind(v, list.integer(0));
  ValueId number = list.argument(3);
  const auto next = [&](int64_t extent) {  // the first element of a tile's side
    const ValueId first = list.mul(writer.remainder(number, base::ceil_div(extent, kSide)), kSide);
    number = writer.quotient(number, base::ceil_div(extent, kSide));
    return first;
  };
  const TermId first_column = graph_.terms.variable(0, columns.extent), first_row = graph_.terms.variable(0, rows.extent);
  writer.emit.bind(first_column, next(columns.extent));
  writer.emit.bind(first_row, next(rows.extent));
  writer.decompose(loops, number);
  const auto from_first = [](TermId v, TermId first) { return Index{0, {{v, 1}}} + Index{0, {{first, -1}}}; };
  const auto tiles = tiles_for(turned, from_first(rows.variable, first_row), from_first(columns.variable, first_column), part);
  const ValueId lane = writer.remainder(list.argument(4), cuda::kWarp), warp = writer.quotient(list.argument(4), cuda::kWarp);
  const auto walk = [&](const Loop& along_lanes, const Loop& along_warps, TermId lanes_from, TermId warps_from, const Writer::Body& body) {
    const auto value = [&](TermId v) { return writer.emit.scalar_index({0, {{v, 1}}}, 0); };
    const ValueId x = list.add(value(lanes_from), lane);
    const ValueId step = list.loop(warp, list.integer(kSide), cuda::kBlock / cuda::kWarp);
    const ValueId y = list.add(value(warps_from), step);
    list.branch(list.op(Code::and_, Reg::i1, 1, {writer.less(x, along_lanes.extent), writer.less(y, along_warps.extent)}));
    writer.emit.push();
    writer.emit.bind(along_lanes.variable, x);
    writer.emit.bind(along_warps.variable, y);
    body();
    writer.emit.pop();
    list.end();
    list.end();
  };
  walk(rows, columns, first_row, first_column, [&] {
    for (const Tile& tile : tiles) {
      const Node& node = graph_[tile.load];
      const ValueId from = list.pointer(static_cast<int>(node.imm), integer_of(node.type), writer.emit.scalar_index(node.index, 0));
      const ValueId loaded = list.load(from, 1, 0);
      list.store(list.pointer(tile.array, integer_of(node.type), writer.emit.scalar_index(tile.at, 0)), loaded, 0);
    }
  });
  list.barrier();
  for (const Tile& tile : tiles) writer.emit.tiles[tile.load] = {tile.array, tile.at};
  walk(columns, rows, first_column, first_row, [&] {
    writer.emit.prepare(roots_of(stage));
    writer.store_all(stage.stores);
  });
  finish(part, print, all, kSide * kSide);
}

}  // namespace kernel
