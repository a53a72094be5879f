// Squares of lanes × lanes elements: as many loads along the source's rows, log2(lanes) rounds of shuffles, as many stores along the tile's
// rows. The next square's source lines are prefetched, because rows lie pages apart. What is no whole square is copied element by element.
#include "replay/kernel/tile.h"

#include <algorithm>

namespace kernel {
namespace {

Reg raw(Reg reg) {
  const int size = bytes(reg);
  return size == 1 ? Reg::i8 : size == 2 ? Reg::i16 : size == 4 ? Reg::i32 : Reg::i64;
}

/// Round `d` exchanges d × d blocks between rows k and k + d.
std::vector<ValueId> turned(List& list, std::vector<ValueId> x) {
  const int n = static_cast<int>(x.size());
  for (int d = n / 2; d >= 1; d /= 2) {
    auto y = x;
    for (int k = 0; k < n; ++k) {
      if (k & d) continue;
      std::vector<int> low, high;
      for (int i = 0; i < n; ++i) {
        low.push_back(i & d ? n + (i & ~d) : i);
        high.push_back(i & d ? n + i : i | d);
      }
      const auto a = static_cast<size_t>(k), b = static_cast<size_t>(k | d);
      y[a] = list.shuffle(x[a], x[b], low);
      y[b] = list.shuffle(x[a], x[b], high);
    }
    x = y;
  }
  return x;
}

class Filler {
 public:
  Filler(Writer& writer, const Lowered& lowered, const Target& target, const TileShape& tile)
      : writer_(writer), list_(writer.list), tile_(tile), node_(lowered.graph[tile.load]), reg_(raw(node_.type)), n_(target.lanes) {}

  void square() {
    const int64_t step = coefficient(node_.index, tile_.across);
    const ValueId from = list_.pointer(static_cast<int>(node_.imm), reg_, writer_.emit.scalar_index(node_.index, 0));
    std::vector<ValueId> rows;
    for (int k = 0; k < n_; ++k) {
      list_.put({Line::Kind::prefetch, {}, reg_, 1, -1, {from}, (k + n_) * step, {}, false});
      rows.push_back(list_.load(from, n_, k * step));
    }
    const auto columns = turned(list_, rows);
    const ValueId to = list_.pointer(tile_.array, reg_, writer_.emit.scalar_index(tile_.at, 0));
    for (int k = 0; k < n_; ++k) list_.store(to, columns[static_cast<size_t>(k)], k * tile_.pitch);
  }

  void element() {
    const ValueId from = list_.pointer(static_cast<int>(node_.imm), reg_, writer_.emit.scalar_index(node_.index, 0));
    const ValueId to = list_.pointer(tile_.array, reg_, writer_.emit.scalar_index(tile_.at, 0));
    list_.store(to, list_.load(from, 1, 0), 0);
  }

  void loops(ValueId a_from, ValueId a_to, int64_t a_step, ValueId b_from, ValueId b_to, int64_t b_step, bool whole) {
    const ValueId a = list_.loop(a_from, a_to, a_step);
    const ValueId b = list_.loop(b_from, b_to, b_step);
    writer_.emit.push();
    writer_.emit.bind(tile_.across, a);
    writer_.emit.bind(tile_.along, b);
    whole ? square() : element();
    writer_.emit.pop();
    list_.end();
    list_.end();
  }

  /// The end of the last whole square.
  ValueId whole_end(const Loop& loop, const Span& span) {
    if (loop.extent % n_ == 0) return span.to;
    const ValueId length = list_.op(Code::sub, Reg::i64, 1, {span.to, span.from});
    return list_.op(Code::sub, Reg::i64, 1, {span.to, list_.op(Code::urem, Reg::i64, 1, {length, list_.integer(n_)})});
  }

 private:
  Writer& writer_;
  List& list_;
  const TileShape& tile_;
  const Node& node_;
  Reg reg_;
  int n_;
};

}  // namespace

Turned loads_to_turn(const Graph& graph, const Footprint& print, const std::vector<Loop>& loops, TermId across) {
  Turned best;
  int64_t most = 0;
  const auto extent = [&](TermId v) {
    for (const Loop& l : loops)
      if (l.variable == v) return l.extent;
    return int64_t{1};
  };
  if (across < 0 || extent(across) < 8) return best;
  for (const Loop& along : loops) {
    if (along.variable == across || along.extent < 8) continue;
    Turned turned{along.variable, {}};
    int64_t size = 0;
    for (const Access& a : print.accesses) {
      const int64_t c = coefficient(a.at, across);
      const bool opaque = std::ranges::any_of(a.at.terms, [&](const auto& t) {
        return graph.terms[t.first].kind != Term::Kind::variable &&
               (depends_on(graph, Index{0, {t}}, across) || depends_on(graph, Index{0, {t}}, along.variable));
      });
      if (a.store || opaque || c == 0 || c == 1 || coefficient(a.at, along.variable) != 1) continue;
      turned.loads.push_back(a.node);
      size += elements_touched(graph, a, loops) * bytes(a.reg);
    }
    if (size > most) most = size, best = turned;
  }
  return best;
}

void fill_tile(Writer& writer, const Lowered& lowered, const Target& target, const TileShape& tile, const Loop& across, const Span& columns,
               const Loop& along, const Span& rows) {
  Filler filler(writer, lowered, target, tile);
  const int n = target.lanes;
  const ValueId a_whole = filler.whole_end(across, columns), b_whole = filler.whole_end(along, rows);
  if (across.extent >= n && along.extent >= n) filler.loops(columns.from, a_whole, n, rows.from, b_whole, n, true);
  if (along.extent % n != 0) filler.loops(columns.from, a_whole, 1, b_whole, rows.to, 1, false);
  if (across.extent % n != 0) filler.loops(a_whole, columns.to, 1, rows.from, rows.to, 1, false);
}

}  // namespace kernel
