// Elementwise work: over the destination in its physical order, in blocks; operands that lie across the grain are turned in tiles.
#include <algorithm>

#include "replay/kernel/scheduler.h"

namespace kernel {
namespace {

constexpr int64_t kHoistedRows = 16;  ///< for which a vector of columns computes what all rows share

/// Does a value that takes longer than the memory of an element stay the same from row to row?
bool shares_slow_values(const Graph& graph, const Footprint& print, TermId across, TermId rows) {
  return std::ranges::any_of(print.nodes, [&](NodeId id) {
    const Code code = graph[id].code;
    const bool slow = code == Code::fdiv || code == Code::sqrt || code == Code::call;
    return slow && depends_on(graph, id, across) && !depends_on(graph, id, rows);
  });
}

}  // namespace

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
  const bool many_rows = across >= 0 && !loops.empty() && loops.back().extent >= int64_t{8} * target_.threads * kHoistedRows;
  const bool hoists = many_rows && shares_slow_values(graph_, print, across, loops.back().variable);
  const Loop rows = hoists ? taken(loops, loops.back().variable) : Loop{};
  const TermId row_block = hoists ? graph_.terms.variable(0, (rows.extent + kHoistedRows - 1) / kHoistedRows - 1) : -1;
  if (hoists) loops.push_back({row_block, extent_of(graph_.terms, row_block)});

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
      const auto element = [&] {
        writer.emit.prepare(roots_of(stage));
        writer.store_all(stage.stores);
      };
      const Span block_rows = hoists ? writer.block(writer.emit.scalar_index({0, {{row_block, 1}}}, 0), kHoistedRows, rows.extent) : Span{};
      const auto body = [&] {
        if (!hoists) return element();
        writer.emit.prepare(roots_of(stage));
        writer.serial_loop(rows.variable, block_rows, element);
      };
      if (across >= 0) {
        writer.vector_loop(across, span, vectors, body);
      } else {
        body();
      }
    });
  });
  finish(part, print, all, (blocks ? kFlatBlock : inner.extent) * product(middle) * (hoists ? kHoistedRows : 1));
}

/// The loop that takes up the rows of all these loads where `along` ends: with it, a short row goes on to a long one.
Loop row_continues(const Graph& graph, const Turned& turned, const std::vector<Loop>& loops, const Loop& along) {
  const auto continues = [&](const Loop& l) {
    return std::ranges::all_of(turned.loads, [&](NodeId load) {
      const Index& at = graph[load].index;
      const bool linear = std::ranges::all_of(at.terms, [&](const auto& t) {
        return graph.terms[t.first].kind == Term::Kind::variable || !depends_on(graph, Index{0, {t}}, l.variable);
      });
      return linear && coefficient(at, l.variable) == along.extent;
    });
  };
  const auto found = std::ranges::find_if(loops, continues);
  return found == loops.end() ? Loop{} : *found;
}

/// What the rows of a tile are: iterations of `along`, or of `along` within as much of `next` as fits.
struct TileRows {
  Loop along, next;  ///< next.variable < 0: there is none
  Loop all;          ///< `along` that counts on beyond its end where `next` would take over
  int64_t high = 0;  ///< most rows of a tile
  bool continued() const { return next.variable >= 0; }
};

/// Takes the loops from `loops`.
TileRows tile_rows(const Graph& graph, const Turned& turned, std::vector<Loop>& loops, int64_t side) {
  TileRows rows;
  rows.along = taken(loops, turned.rows_along);
  if (2 * rows.along.extent <= side) rows.next = row_continues(graph, turned, loops, rows.along);
  if (rows.continued()) taken(loops, rows.next.variable);
  rows.all = {rows.along.variable, rows.along.extent * rows.next.extent};
  rows.high = rows.continued() ? side / rows.along.extent * rows.along.extent : side;
  return rows;
}

/// Elementwise work with operands that lie across the grain: tile by tile, these operands turned first.
void Scheduler::turned_map(const Stage& stage, const Footprint& print, std::vector<Loop> loops, const std::vector<TermId>& gone,
                           TermId across, const Turned& turned) {
  const std::vector<Loop> all = loops;
  int64_t width = 0;
  for (const NodeId load : turned.loads) width += bytes(graph_.type(load));
  const int64_t side = width <= 4 ? 128 : 64;
  const Loop inner = taken(loops, across);
  const TileRows rows = tile_rows(graph_, turned, loops, side);
  const TermId column_block = graph_.terms.variable(0, (inner.extent + side - 1) / side - 1);
  const TermId row_block = graph_.terms.variable(0, (rows.all.extent + rows.high - 1) / rows.high - 1);
  Scheduled part;
  part.shape = "transpose";
  Writer writer(part.list, lowered_, target_);
  for (const TermId v : gone) writer.emit.bind(v, part.list.integer(0));
  writer.streamed = streamed(stage.stores, across);
  std::vector<TileShape> tiles;
  for (const NodeId load : turned.loads) {
    const int size = bytes(graph_.type(load));
    const int64_t pitch = side + 32 / size;  // no power of two: rows of a square lie in different cache sets
    Index at = Index{0, {{across, 1}}} + Index{0, {{rows.along.variable, pitch}}} + Index{0, {{column_block, -side}}} +
               Index{0, {{row_block, -rows.high * pitch}}};
    if (rows.continued()) at = at + Index{0, {{rows.next.variable, pitch * rows.along.extent}}};
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
    const ValueId block = writer.emit.scalar_index({0, {{row_block, 1}}}, 0);
    writer.emit.push();
    if (rows.continued()) writer.emit.bind(rows.next.variable, part.list.integer(0));
    for (const TileShape& tile : tiles)
      fill_tile(writer, lowered_, target_, tile, inner, columns, rows.all, writer.block(block, rows.high, rows.all.extent));
    writer.emit.pop();
    const auto row = [&] {
      writer.emit.prepare(roots_of(stage));
      writer.vector_loop(across, columns, vectors, [&] {
        writer.emit.prepare(roots_of(stage));
        writer.store_all(stage.stores);
      });
    };
    writer.emit.prepare(roots_of(stage));
    if (!rows.continued()) return writer.serial_loop(rows.along.variable, writer.block(block, side, rows.along.extent), row);
    writer.serial_loop(rows.next.variable, writer.block(block, rows.high / rows.along.extent, rows.next.extent), [&] {
      writer.emit.prepare(roots_of(stage));
      writer.serial_loop(rows.along.variable, writer.whole(rows.along.extent), row);
    });
  });
  finish(part, print, all, std::min(side, inner.extent) * std::min(rows.high, rows.all.extent));
}

}  // namespace kernel
