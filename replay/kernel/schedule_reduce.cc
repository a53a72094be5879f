// Reductions. Along rows: outer iterations in parallel, accumulators in lanes. Across rows: vectors of columns, with accumulators in
// registers where columns or rows are few, else in a row of partial results that stays in the cache while rows sweep over it, several at
// once.
#include <algorithm>

#include "replay/kernel/scheduler.h"

namespace kernel {
namespace {

constexpr int64_t kStrip = 4096;     ///< columns whose accumulators stay in the L1 cache
constexpr int64_t kFewestRows = 64;  ///< rows that are worth a partial row
constexpr int64_t kMostRows = 1024;  ///< additions to one accumulator: bounds the rounding error

}  // namespace

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

/// One array per result, [block][outer iteration]; the loop `last` (if there is one) runs fastest.
std::vector<Scheduler::Partial> Scheduler::partials(const Nest& nest, int64_t blocks, TermId last) {
  Index outer;
  int64_t count = 1;
  std::vector<TermId> loops = nest.outer;
  std::ranges::stable_partition(loops, [&](TermId v) { return v != last; });
  for (const TermId v : loops) {
    outer = outer * extent_of(graph_.terms, v) + Index{0, {{v, 1}}};
    count *= extent_of(graph_.terms, v);
  }
  std::vector<Partial> all;
  const Stage& stage = nest.stages[0];
  for (size_t r = 0; r < stage.reductions.size(); ++r)
    for (size_t k = 0; k < stage.reductions[r].results.size(); ++k) {
      const Reg reg = graph_.type(stage.reductions[r].results[k]);
      const int64_t size = blocks * count * bytes(reg);
      lowered_.arrays.push_back({Array::Kind::shared, 0, lowered_.shared_bytes, size, {}});
      lowered_.shared_bytes += (size + 127) / 64 * 64;
      all.push_back(
          {static_cast<int>(lowered_.arrays.size()) - 1, reg, stage.reductions[r].start[k], stage.reductions[r].results[k], r, outer});
    }
  block_stride_ = count;
  return all;
}

/// The second part: reduces over blocks what the first part left.
Nest Scheduler::combining(const Nest& nest, const std::vector<Partial>& partials, TermId block) {
  Nest second;
  second.outer = nest.outer;
  second.finish = nest.finish;
  Stage stage;
  stage.loops = {block};
  stage.reductions = nest.stages[0].reductions;
  for (Reduction& r : stage.reductions) r.values.clear();
  for (const Partial& p : partials) {
    const Index at = p.at + Index{0, {{block, block_stride_}}};
    NodeId value = graph_.load(p.reg == Reg::i1 ? Reg::i8 : p.reg, p.array, at);
    if (p.reg == Reg::i1) value = graph_.compare(Predicate::ne, value, graph_.integer(Reg::i8, 0));
    stage.reductions[p.reduction].values.push_back(value);
  }
  second.stages.push_back(std::move(stage));
  return second;
}

/// Few rows that are long: blocks of each row in parallel.
void Scheduler::blocked_rows(const Nest& nest, Loop blocked, int64_t size) {
  const Footprint print = everything(nest);
  const TermId block = graph_.terms.variable(0, (blocked.extent + size - 1) / size - 1);
  const auto parts = partials(nest, extent_of(graph_.terms, block), -1);
  std::vector<Loop> outer;
  for (const TermId v : nest.outer) outer.push_back({v, extent_of(graph_.terms, v)});
  outer.push_back({block, extent_of(graph_.terms, block)});
  Scheduled part;
  part.shape = "rows";
  part.count = product(outer);
  Writer writer(part.list, lowered_, target_);
  const Stage& stage = nest.stages[0];
  writer.emit.prepare(roots_of(stage));
  writer.parallel(outer, [&](ValueId) {
    writer.emit.prepare(roots_of(stage));
    writer.spans[blocked.variable] = writer.block(writer.emit.scalar_index({0, {{block, 1}}}, 0), size, blocked.extent);
    writer.stage(stage, interleave(print.nodes.size()));
    for (const Partial& p : parts) {
      ValueId value = writer.emit.value(p.result);
      if (p.reg == Reg::i1) value = part.list.op(Code::zext, Reg::i8, 1, {value});
      const ValueId at = writer.emit.scalar_index(p.at + Index{0, {{block, block_stride_}}}, 0);
      part.list.store(part.list.pointer(p.array, part.list.reg(value), at), value, 0);
    }
  });
  const auto all = all_loops(nest);
  finish(part, print, all, product(all) / std::max<int64_t>(1, part.count));
  rows(combining(nest, parts, block));
}

Scheduler::Sweep Scheduler::plan_sweep(const Loop& rows, int64_t inside, size_t nodes) const {
  const int64_t wanted = int64_t{8} * target_.threads;
  const int64_t fewest = std::max<int64_t>(1, kFewestRows / inside), most = std::max<int64_t>(1, kMostRows / inside);
  Sweep sweep;
  sweep.rows = std::clamp((rows.extent + wanted - 1) / wanted, fewest, std::max(fewest, most));
  sweep.rows = std::min(sweep.rows, rows.extent);
  sweep.blocks = (rows.extent + sweep.rows - 1) / sweep.rows;
  sweep.at_once = nodes <= 20 ? 8 : nodes <= 50 ? 4 : nodes <= 120 ? 2 : 1;
  sweep.at_once = static_cast<int>(std::min<int64_t>(sweep.at_once, sweep.rows));
  sweep.vectors = nodes <= 120 ? 2 : 1;
  return sweep;
}

/// Accumulators of the vectors at hand: set to the start, or with all interleaved rows added.
void Scheduler::store_partials(Writer& writer, const Stage& stage, const std::vector<Partial>& parts, const Index& shift, Sweeping what) {
  List& list = writer.list;
  const Spread& spread = writer.emit.spread;
  for (size_t first = 0; first < parts.size();) {
    const Reduction& reduction = stage.reductions[parts[first].reduction];
    const size_t n = reduction.values.size();
    std::vector<ValueId> pointers;
    for (size_t k = first; k < first + n; ++k)
      pointers.push_back(
          list.pointer(parts[k].array, parts[k].reg == Reg::i1 ? Reg::i8 : parts[k].reg, writer.emit.scalar_index(parts[k].at + shift, 0)));
    for (int v = 0; v < spread.vectors; ++v) {
      const int64_t offset = int64_t{v} * spread.lanes;
      const ValueId mask = spread.lanes > 1 ? spread.mask : -1;
      std::vector<ValueId> sums;
      for (size_t k = 0; k < n; ++k) {
        if (what == Sweeping::start) {
          sums.push_back(writer.emit.value(reduction.start[k], 0, v, spread.lanes));
          continue;
        }
        ValueId old = list.load(pointers[k], spread.lanes, offset, mask);
        if (parts[first + k].reg == Reg::i1)
          old = list.op(Code::compare, Reg::i1, spread.lanes, {old, list.constant(Reg::i8, spread.lanes, 0)},
                        static_cast<int64_t>(Predicate::ne));
        sums.push_back(old);
      }
      for (int row = 0; row < spread.rows && what == Sweeping::add; ++row) {
        std::vector<ValueId> fresh;
        for (size_t k = 0; k < n; ++k) fresh.push_back(writer.emit.value(reduction.values[k], row, v, spread.lanes));
        sums = writer.emit.combine(reduction, sums, fresh);
      }
      for (size_t k = 0; k < n; ++k) {
        if (parts[first + k].reg == Reg::i1) sums[k] = list.op(Code::zext, Reg::i8, spread.lanes, {sums[k]});
        list.store(pointers[k], sums[k], offset, mask);
      }
    }
    first += n;
  }
}

/// Accumulator rows in memory: blocks of rows in parallel, several rows at once over a row of partial results.
void Scheduler::swept_columns(const Nest& nest, TermId across) {
  Footprint print = everything(nest);
  const Stage& stage = nest.stages[0];
  const Footprint inner_print = footprint(graph_, roots_of(stage), stage.stores);
  std::vector<TermId> gone;
  std::vector<Loop> reduced = merged(graph_.terms, stage.loops, inner_print.indices, gone);
  sort_by_stride(inner_print, graph_, reduced);
  const Loop rows = reduced[0];
  reduced.erase(reduced.begin());
  Sweep sweep = plan_sweep(rows, product(reduced), print.nodes.size());
  const auto parts = partials(nest, sweep.blocks, across);
  print.indices.push_back(parts[0].at);
  std::vector<Loop> outer = merged(graph_.terms, nest.outer, print.indices, gone);
  const Loop wide = taken(outer, across);
  sort_by_stride(print, graph_, outer);
  const TermId block = graph_.terms.variable(0, sweep.blocks - 1),
               strip = graph_.terms.variable(0, (wide.extent + kStrip - 1) / kStrip - 1);
  outer.push_back({block, sweep.blocks});
  outer.push_back({strip, extent_of(graph_.terms, strip)});
  Scheduled part;
  part.shape = "columns";
  part.count = product(outer);
  Writer writer(part.list, lowered_, target_);
  for (const TermId v : gone) writer.emit.bind(v, part.list.integer(0));
  writer.streamed = streamed(stage.stores, across);
  writer.emit.prepare(roots_of(stage));
  writer.parallel(outer, [&](ValueId) {
    writer.emit.prepare(roots_of(stage));
    const ValueId block_value = writer.emit.scalar_index({0, {{block, 1}}}, 0);
    const Span strip_span = writer.block(writer.emit.scalar_index({0, {{strip, 1}}}, 0), kStrip, wide.extent);
    const Span row_span = writer.block(block_value, sweep.rows, rows.extent);
    const Index shift{0, {{block, block_stride_}}};
    writer.vector_loop(across, strip_span, 4, [&] { store_partials(writer, stage, parts, shift, Sweeping::start); });
    const auto over_columns = [&] {
      writer.emit.prepare(roots_of(stage));
      writer.serial_loops(reduced, 0, [&] {
        writer.emit.prepare(roots_of(stage));
        writer.vector_loop(across, strip_span, sweep.vectors, [&] {
          writer.emit.prepare(roots_of(stage));
          store_partials(writer, stage, parts, shift, Sweeping::add);
          writer.store_all(stage.stores);
        });
      });
    };
    writer.row_loop(rows.variable, row_span, sweep.at_once, over_columns);
  });
  const auto all = all_loops(nest);
  finish(part, print, all, product(all) / std::max<int64_t>(1, part.count));
  columns(combining(nest, parts, block), across);
}

}  // namespace kernel
