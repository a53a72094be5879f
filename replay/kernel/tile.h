// Loads against the grain: a tile is read along its rows, turned in registers and kept in the thread's scratch, where the vector loop finds
// it contiguous.
#pragma once

#include <vector>

#include "replay/kernel/write.h"

namespace kernel {

/// Loads that are contiguous along `rows_along` while the vector loop runs along `across`.
struct Turned {
  TermId rows_along = -1;
  std::vector<NodeId> loads;
};
/// What a stage should turn; no loads if nothing. The loop in which most bytes are contiguous wins.
Turned loads_to_turn(const Graph& graph, const Footprint& print, const std::vector<Loop>& loops, TermId across);

/// A tile of one load: `rows` × `columns` elements (columns along the vector loop), `pitch` elements a row.
struct TileShape {
  int array = 0;
  NodeId load = -1;
  TermId across = -1, along = -1;
  int64_t pitch = 0;
  Index at;  ///< of an element in the tile
};
/// Fills the tile for the given spans of both loops.
void fill_tile(Writer& writer, const Lowered& lowered, const Target& target, const TileShape& tile, const Loop& across, const Span& columns,
               const Loop& along, const Span& rows);

}  // namespace kernel
