// Loops and stages as lines. A vector loop is written up to three times: interleaved vectors, then what is left in single vectors (masked
// where the target has masks), then element by element. Accumulators are variables, one per interleaved vector.
#include "replay/kernel/write.h"

#include <algorithm>
#include <limits>

namespace kernel {
namespace {

bool has_masks(const Target& target) { return target.registers >= 32; }

}  // namespace

ValueId Writer::minimum(ValueId a, ValueId b) {
  const ValueId less = list.op(Code::compare, Reg::i1, 1, {a, b}, static_cast<int64_t>(Predicate::slt));
  return list.op(Code::select, Reg::i64, 1, {less, a, b});
}

Span Writer::block(ValueId number, int64_t size, int64_t extent) {
  const ValueId from = list.mul(number, size), end = list.add(from, list.integer(size));
  if (extent % size == 0) return {from, end, size, true};
  return {from, minimum(end, list.integer(extent)), size, false};
}

void Writer::once(TermId variable, ValueId first, int lanes, int vectors, ValueId mask, const Body& body) {
  const Spread outer = emit.spread;
  emit.push();
  if (lanes > 1) {
    emit.bind_vector(variable, first);
    emit.spread = {lanes, vectors, outer.rows, mask};
  } else {
    emit.bind(variable, first);
    emit.spread = {1, 1, outer.rows, -1};
  }
  body();
  emit.pop();
  emit.spread = outer;
}

void Writer::vector_loop(TermId variable, const Span& span, int vectors, const Body& body) {
  const int64_t step = int64_t{target_.lanes} * vectors;
  ValueId rest_from = span.from;
  if (span.extent >= step) {
    if (span.exact && span.extent / step == 1) {
      once(variable, span.from, target_.lanes, vectors, -1, body);
      rest_from = list.add(span.from, list.integer(step));
    } else {
      if (span.exact) {
        rest_from = list.add(span.from, list.integer(span.extent / step * step));
      } else {
        const ValueId length = list.op(Code::sub, Reg::i64, 1, {span.to, span.from});
        const ValueId beyond = list.op(Code::urem, Reg::i64, 1, {length, list.integer(step)});
        rest_from = list.op(Code::sub, Reg::i64, 1, {span.to, beyond});
      }
      const ValueId at = list.loop(span.from, rest_from, step);
      once(variable, at, target_.lanes, vectors, -1, body);
      list.end();
    }
  }
  const int64_t rest = span.exact ? span.extent % step : std::min(span.extent, step - 1);
  if (rest > 0) tail(variable, rest_from, span, rest, body);
}

/// At most `rest` iterations.
void Writer::tail(TermId variable, ValueId from, const Span& span, int64_t rest, const Body& body) {
  const int lanes = target_.lanes;
  const bool whole_vectors = span.exact && rest % lanes == 0;
  if (has_masks(target_) && !whole_vectors) {
    const bool single = rest <= lanes;
    const ValueId at = single && span.exact ? from : list.loop(from, span.to, lanes);
    const ValueId left = list.op(Code::sub, Reg::i64, 1, {span.to, at});
    const ValueId count = list.splat(list.op(Code::trunc, Reg::i32, 1, {left}), lanes);
    const ValueId mask =
        list.op(Code::compare, Reg::i1, lanes, {list.ramp(Reg::i32, lanes, 1), count}, static_cast<int64_t>(Predicate::slt));
    once(variable, at, lanes, 1, mask, body);
    if (!(single && span.exact)) list.end();
    return;
  }
  if (rest >= lanes) {
    ValueId vectors_end = span.to;
    if (!whole_vectors) {
      const ValueId left = list.op(Code::sub, Reg::i64, 1, {span.to, from});
      vectors_end = list.op(Code::sub, Reg::i64, 1, {span.to, list.op(Code::urem, Reg::i64, 1, {left, list.integer(lanes)})});
    }
    const ValueId at = list.loop(from, vectors_end, lanes);
    once(variable, at, lanes, 1, -1, body);
    list.end();
    from = vectors_end;
  }
  if (whole_vectors) return;
  const ValueId at = list.loop(from, span.to, 1);
  once(variable, at, 1, 1, -1, body);
  list.end();
}

void Writer::serial_loop(TermId variable, const Span& span, const Body& body) {
  const ValueId at = list.loop(span.from, span.to, 1);
  emit.push();
  emit.bind(variable, at);
  body();
  emit.pop();
  list.end();
}

void Writer::row_loop(TermId variable, const Span& span, int at_once, const Body& body) {
  ValueId rest = span.from;
  if (at_once > 1) {
    const ValueId length = list.op(Code::sub, Reg::i64, 1, {span.to, span.from});
    const ValueId each = list.op(Code::udiv, Reg::i64, 1, {length, list.integer(at_once)});
    rest = list.add(span.from, list.mul(each, at_once));
    const ValueId at = list.loop(span.from, list.add(span.from, each), 1);
    std::vector<ValueId> rows{at};
    for (int k = 1; k < at_once; ++k) rows.push_back(list.add(rows.back(), each));
    const Spread outer = emit.spread;
    emit.push();
    emit.bind_rows(variable, rows);
    emit.spread.rows = at_once;
    body();
    emit.pop();
    emit.spread = outer;
    list.end();
    if (span.exact && span.extent % at_once == 0) return;
  }
  serial_loop(variable, {rest, span.to, span.extent, false}, body);
}

Span Writer::span_of(const Loop& loop) {
  const auto given = spans.find(loop.variable);
  return given == spans.end() ? whole(loop.extent) : given->second;
}

void Writer::serial_loops(const std::vector<Loop>& loops, size_t first, const Body& body) {
  if (first == loops.size()) return body();
  serial_loop(loops[first].variable, span_of(loops[first]), [&] { serial_loops(loops, first + 1, body); });
}

void Writer::parallel(const std::vector<Loop>& loops, const std::function<void(ValueId)>& body) {
  const ValueId at = list.loop(list.argument(0), list.argument(1), 1);
  emit.push();
  ValueId rest = at;
  for (size_t k = loops.size(); k-- > 0;) {
    if (k == 0) {
      emit.bind(loops[0].variable, rest);
      break;
    }
    const ValueId extent = list.integer(loops[k].extent);
    emit.bind(loops[k].variable, list.op(Code::urem, Reg::i64, 1, {rest, extent}));
    rest = list.op(Code::udiv, Reg::i64, 1, {rest, extent});
  }
  body(at);
  emit.pop();
  list.end();
}

std::vector<NodeId> Writer::everything(const Nest& nest) const {
  std::vector<NodeId> roots;
  for (const Stage& s : nest.stages)
    for (const NodeId id : roots_of(s)) roots.push_back(id);
  for (const Store& s : nest.finish) roots.push_back(s.value);
  return roots;
}

void Writer::store_all(const std::vector<Store>& stores) {
  for (const Store& s : stores) emit.store(s, streamed.contains(s.array));
}

std::vector<Writer::Cells> Writer::cells_of(const Reduction& reduction, int lanes, int vectors, bool scalar) {
  std::vector<Cells> cells(reduction.values.size());
  for (size_t k = 0; k < cells.size(); ++k) {
    const Reg reg = graph_.type(reduction.values[k]);
    for (int v = 0; v < vectors; ++v) {
      cells[k].vectors.push_back(list.variable(reg, lanes));
      list.set(cells[k].vectors.back(), emit.value(reduction.start[k], 0, 0, lanes));
    }
    if (!scalar) continue;
    cells[k].scalar = list.variable(reg, 1);
    list.set(cells[k].scalar, emit.value(reduction.start[k], 0, 0, 1));
  }
  return cells;
}

void Writer::accumulate(const Reduction& reduction, const std::vector<Cells>& cells) {
  const int lanes = emit.spread.lanes;
  const bool scalar = lanes == 1 && cells[0].scalar >= 0;
  for (int v = 0; v < emit.spread.vectors; ++v) {
    std::vector<ValueId> old, fresh;
    for (size_t k = 0; k < cells.size(); ++k) {
      old.push_back(list.get(scalar ? cells[k].scalar : cells[k].vectors[static_cast<size_t>(v)]));
      fresh.push_back(emit.value(reduction.values[k], 0, v, lanes));
    }
    const auto sums = emit.combine(reduction, old, fresh);
    for (size_t k = 0; k < cells.size(); ++k) {
      ValueId sum = sums[k];
      if (emit.spread.mask >= 0) sum = list.op(Code::select, list.reg(sum), lanes, {emit.spread.mask, sum, old[k]});
      list.set(scalar ? cells[k].scalar : cells[k].vectors[static_cast<size_t>(v)], sum);
    }
  }
}

/// All accumulators of a reduction as scalars: vectors pairwise, then lanes by halves.
std::vector<ValueId> Writer::gathered(const Reduction& reduction, const std::vector<Cells>& cells) {
  const size_t n = cells.size();
  std::vector<std::vector<ValueId>> sums;
  for (size_t v = 0; v < cells[0].vectors.size(); ++v) {
    sums.emplace_back();
    for (size_t k = 0; k < n; ++k) sums.back().push_back(list.get(cells[k].vectors[v]));
  }
  while (sums.size() > 1) {
    for (size_t v = 0; v + 1 < sums.size(); v += 1) {
      sums[v] = emit.combine(reduction, sums[v], sums[v + 1]);
      sums.erase(sums.begin() + static_cast<std::ptrdiff_t>(v) + 1);
    }
  }
  std::vector<ValueId> all;
  if (!sums.empty()) {
    all = sums[0];
    for (int half = list.lanes(all[0]) / 2; half >= 1; half /= 2) {
      std::vector<ValueId> other;
      for (const ValueId x : all) {
        std::vector<int> order;
        for (int i = 0; i < half; ++i) order.push_back(half + i);
        other.push_back(list.shuffle(x, x, order));
      }
      for (ValueId& x : all) {
        std::vector<int> order;
        for (int i = 0; i < half; ++i) order.push_back(i);
        x = list.shuffle(x, x, order);
      }
      all = emit.combine(reduction, all, other);
    }
  }
  if (cells[0].scalar < 0) return all;
  std::vector<ValueId> rest;
  for (size_t k = 0; k < n; ++k) rest.push_back(list.get(cells[k].scalar));
  return all.empty() ? rest : emit.combine(reduction, all, rest);
}

/// Inside the vector loop of an outer variable: accumulators are its vectors.
void Writer::stage_in_vector_loop(const Stage& stage, const std::vector<Loop>& loops) {
  const int lanes = emit.spread.lanes, vectors = emit.spread.vectors;
  std::vector<std::vector<Cells>> cells;
  for (const Reduction& r : stage.reductions) cells.push_back(cells_of(r, lanes, vectors, false));
  serial_loops(loops, 0, [&] {
    emit.prepare(roots_of(stage));
    const ValueId mask = emit.spread.mask;
    emit.spread.mask = -1;  // lanes beyond the end are never stored
    for (size_t r = 0; r < cells.size(); ++r) accumulate(stage.reductions[r], cells[r]);
    emit.spread.mask = mask;
    store_all(stage.stores);
  });
  for (size_t r = 0; r < cells.size(); ++r)
    for (size_t k = 0; k < cells[r].size(); ++k) {
      std::vector<ValueId> values;
      for (const ValueId cell : cells[r][k].vectors) values.push_back(list.get(cell));
      emit.bind_node(stage.reductions[r].results[k], values, lanes > 1, false);
    }
}

/// The stage has the vector loop; without one (across < 0) it runs element by element.
void Writer::stage_with_vector_loop(const Stage& stage, std::vector<Loop> loops, TermId across, int vectors) {
  Loop inner;
  for (const Loop& l : loops)
    if (l.variable == across) inner = l;
  std::erase_if(loops, [&](const Loop& l) { return l.variable == across; });
  const Span span = across >= 0 ? span_of(inner) : Span{};
  const int lanes = across >= 0 ? target_.lanes : 1;
  const bool masks = has_masks(target_);
  const bool any_vector = across < 0 || masks || span.extent >= lanes;
  const bool scalar = across >= 0 && !masks && !(span.exact && span.extent % lanes == 0);
  vectors = across < 0 ? 1 : static_cast<int>(std::clamp<int64_t>(span.extent / lanes, 1, vectors));
  std::vector<std::vector<Cells>> cells;
  for (const Reduction& r : stage.reductions) cells.push_back(cells_of(r, lanes, any_vector ? vectors : 0, scalar));
  const auto body = [&] {
    emit.prepare(roots_of(stage));
    for (size_t r = 0; r < cells.size(); ++r) accumulate(stage.reductions[r], cells[r]);
    store_all(stage.stores);
  };
  serial_loops(loops, 0, [&] {
    emit.prepare(roots_of(stage));
    if (across < 0) {
      const Spread outer = emit.spread;
      emit.spread = {1, 1, outer.rows, -1};
      body();
      emit.spread = outer;
    } else {
      vector_loop(across, span, vectors, body);
    }
  });
  for (size_t r = 0; r < cells.size(); ++r) {
    const auto results = gathered(stage.reductions[r], cells[r]);
    for (size_t k = 0; k < results.size(); ++k) emit.bind_node(stage.reductions[r].results[k], {results[k]}, false, false);
  }
}

void Writer::stage(const Stage& stage, int vectors) {
  const Footprint print = footprint(graph_, roots_of(stage), stage.stores);
  std::vector<TermId> gone;
  std::vector<Loop> loops = merged(graph_.terms, stage.loops, print.indices, gone);
  for (const TermId v : gone) emit.bind(v, list.integer(0));
  const bool in_order = std::ranges::any_of(stage.reductions, &Reduction::in_order);
  if (!in_order) sort_by_stride(print, graph_, loops);
  if (emit.in_vector_loop()) return stage_in_vector_loop(stage, loops);
  stage_with_vector_loop(stage, loops, in_order ? -1 : contiguous_loop(graph_, print, loops), vectors);
}

void sort_by_stride(const Footprint& print, const Graph& graph, std::vector<Loop>& loops) {
  const Access* largest = nullptr;
  int64_t most = -1;
  for (const Access& a : print.accesses) {
    const int64_t size = elements_touched(graph, a, loops) * bytes(a.reg);
    if (size > most) most = size, largest = &a;
  }
  if (!largest) return;
  std::ranges::stable_sort(loops, std::ranges::greater{}, [&](const Loop& l) { return std::abs(coefficient(largest->at, l.variable)); });
}

TermId contiguous_loop(const Graph& graph, const Footprint& print, const std::vector<Loop>& loops) {
  TermId best = -1;
  int64_t most = 0;
  for (const Loop& l : loops) {
    int64_t size = 0;
    for (const Access& a : print.accesses)
      if (coefficient(a.at, l.variable) == 1) size += elements_touched(graph, a, loops) * bytes(a.reg);
    if (size > most) most = size, best = l.variable;
  }
  if (best < 0 && !loops.empty()) {  // nothing is read: a count, a constant
    const auto longest = std::ranges::max_element(loops, {}, &Loop::extent);
    if (print.accesses.empty()) best = longest->variable;
  }
  return best;
}

}  // namespace kernel
