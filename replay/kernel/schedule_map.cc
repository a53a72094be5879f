// Elementwise work: over the destination in its physical order, in blocks; operands that lie across the grain are turned in tiles.
#include <algorithm>

#include "replay/kernel/scheduler.h"

namespace kernel {

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
  const bool blocks = middle.empty() && product(outer) < int64_t{8} * target_.threads && inner.extent > kFlatBlock;
  const TermId block = blocks ? graph_.terms.variable(0, (inner.extent + kFlatBlock - 1) / kFlatBlock - 1) : -1;
  if (blocks) outer.push_back({block, extent_of(graph_.terms, block)});
  part.count = product(outer);
  const int vectors = static_cast<int>(std::clamp<int64_t>(inner.extent / target_.lanes, 1, interleave(print.nodes.size())));
  writer.parallel(outer, [&](ValueId at) {
    const bool alone = outer.size() == 1;
    const ValueId number = !blocks ? -1 : alone ? at : part.list.op(Code::urem, Reg::i64, 1, {at, part.list.integer(outer.back().extent)});
    const Span span = blocks ? writer.block(number, kFlatBlock, inner.extent) : writer.whole(inner.extent);
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
  finish(part, print, all, (blocks ? kFlatBlock : inner.extent) * product(middle));
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

}  // namespace kernel
