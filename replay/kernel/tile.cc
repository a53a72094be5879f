// Squares of lanes × lanes elements: as many loads along the source's rows, log2(lanes) rounds of shuffles, as many stores along the tile's
// rows. The next square's source lines are prefetched, because rows lie pages apart. A span's last square ends where the span ends; spans
// that are shorter than a square are copied element by element.
#include "replay/kernel/tile.h"

#include <algorithm>
#include <functional>

namespace kernel {
namespace {

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
      : writer_(writer), list_(writer.list), tile_(tile), node_(lowered.graph[tile.load]), reg_(integer_of(node_.type)), n_(target.lanes) {}

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

  /// Squares over both spans, the last ones ending where the spans end.
  void squares(const Loop& across, const Span& columns, const Loop& along, const Span& rows) {
    const ValueId a = list_.loop(columns.from, columns.to, n_), last_a = last(across, columns);
    const ValueId b = list_.loop(rows.from, rows.to, n_), last_b = last(along, rows);
    at(smaller(a, last_a), smaller(b, last_b), [&] { square(); });
  }

  void elements(const Span& columns, const Span& rows) {
    const ValueId a = list_.loop(columns.from, columns.to, 1);
    const ValueId b = list_.loop(rows.from, rows.to, 1);
    at(a, b, [&] { element(); });
  }

 private:
  /// The body of two loops.
  void at(ValueId a, ValueId b, const std::function<void()>& body) {
    writer_.emit.push();
    writer_.emit.bind(tile_.across, a);
    writer_.emit.bind(tile_.along, b);
    body();
    writer_.emit.pop();
    list_.end();
    list_.end();
  }
  /// Where the last square of a span begins that does not end with a whole square; else -1.
  ValueId last(const Loop& loop, const Span& span) {
    return loop.extent % n_ == 0 && span.extent % n_ == 0 ? -1 : list_.add(span.to, list_.integer(-n_));
  }
  ValueId smaller(ValueId a, ValueId b) {
    if (b < 0) return a;
    const ValueId less = list_.op(Code::compare, Reg::i1, 1, {a, b}, static_cast<int64_t>(Predicate::slt));
    return list_.op(Code::select, Reg::i64, 1, {less, a, b});
  }

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
  const auto shortest = [](const Loop& l, const Span& s) { return l.extent % s.extent == 0 ? s.extent : l.extent % s.extent; };
  if (std::min(shortest(across, columns), shortest(along, rows)) >= n) return filler.squares(across, columns, along, rows);
  const auto longest = [](const Loop& l, const Span& s) { return std::min(l.extent, s.extent); };
  if (std::min(longest(across, columns), longest(along, rows)) < n) return filler.elements(columns, rows);
  const auto is_long = [&](const Span& s, Predicate p) {
    List& list = writer.list;
    return list.op(Code::compare, Reg::i1, 1, {list.op(Code::sub, Reg::i64, 1, {s.to, s.from}), list.integer(n)}, static_cast<int64_t>(p));
  };
  writer.list.branch(writer.list.op(Code::and_, Reg::i1, 1, {is_long(columns, Predicate::sge), is_long(rows, Predicate::sge)}));
  filler.squares(across, columns, along, rows);
  writer.list.end();
  writer.list.branch(writer.list.op(Code::or_, Reg::i1, 1, {is_long(columns, Predicate::slt), is_long(rows, Predicate::slt)}));
  filler.elements(columns, rows);
  writer.list.end();
}

}  // namespace kernel
