// A stage on a team: members take the stage's iterations in turn, then their values meet.
#include <algorithm>

#include "replay/kernel/schedule_cuda.h"
#include "src/base/math.h"

namespace kernel {
namespace {

constexpr int kWarp = static_cast<int>(cuda::kWarp);

}  // namespace

ValueId TeamWriter::remainder(ValueId number, int64_t of) {
  return of == 1 ? list.integer(0) : list.op(Code::urem, Reg::i64, 1, {number, list.integer(of)});
}
ValueId TeamWriter::quotient(ValueId number, int64_t by) {
  return by == 1 ? number : list.op(Code::udiv, Reg::i64, 1, {number, list.integer(by)});
}
ValueId TeamWriter::less(ValueId a, int64_t b) {
  return list.op(Code::compare, Reg::i1, 1, {a, list.integer(b)}, static_cast<int64_t>(Predicate::slt));
}

void TeamWriter::decompose(const std::vector<Loop>& loops, ValueId number) {
  for (size_t k = loops.size(); k-- > 0;) {
    emit.bind(loops[k].variable, k == 0 ? number : remainder(number, loops[k].extent));
    if (k > 0) number = quotient(number, loops[k].extent);
  }
}

/// What is emitted inside of a branch is not there outside of it.
void TeamWriter::guarded(ValueId condition, const Body& body) {
  if (condition < 0) return body();
  list.branch(condition);
  emit.push();
  body();
  emit.pop();
  list.end();
}

void TeamWriter::once_a_team(const Body& body) {
  ValueId condition = seat.valid;
  if (seat.member >= 0) {
    const ValueId first = less(seat.member, 1);
    condition = condition < 0 ? first : list.op(Code::and_, Reg::i1, 1, {condition, first});
  }
  guarded(condition, body);
}

void TeamWriter::stage(const Stage& stage) {
  const Footprint print = footprint(graph_, roots_of(stage), stage.stores);
  std::vector<TermId> gone;
  std::vector<Loop> loops = merged(graph_.terms, stage.loops, print.indices, gone);
  for (const TermId v : gone) emit.bind(v, list.integer(0));
  const bool in_order = std::ranges::any_of(stage.reductions, &Reduction::in_order);
  if (!in_order) sort_by_stride(print, graph_, loops);
  const bool columns = emit.in_vector_loop() || plan_.columns > 1;
  TermId across = columns || in_order ? -1 : contiguous_loop(graph_, print, loops);
  const Loop inner = across < 0 ? Loop{} : taken(loops, across);
  if (across >= 0) loops.push_back(inner);
  const int lanes = across >= 0 && inner.extent % plan_.lanes == 0 ? plan_.lanes : 1;
  emit.prepare(roots_of(stage));
  std::vector<std::vector<Cells>> cells;
  for (const Reduction& r : stage.reductions) cells.push_back(cells_of(r, columns ? emit.spread.lanes : lanes, 1, false));
  loop_over(stage, loops, across, lanes, cells);
  std::vector<Values> values;
  for (size_t r = 0; r < cells.size(); ++r) {
    values.emplace_back();
    if (columns)
      for (const Cells& c : cells[r]) values.back().push_back(list.get(c.vectors[0]));
    else
      values.back() = gathered(stage.reductions[r], cells[r]);
  }
  if (plan_.team > 1 && !values.empty()) {
    if (!columns) values = in_warps(stage, std::move(values));
    if (columns || plan_.team > kWarp) values = in_memory(stage, std::move(values));
  }
  for (size_t r = 0; r < values.size(); ++r)
    for (size_t k = 0; k < values[r].size(); ++k)
      emit.bind_node(stage.reductions[r].results[k], {values[r][k]}, columns && emit.in_vector_loop(), false);
}

/// All loops as one, which the members of the team (and the blocks that share the iteration) walk in turn.
void TeamWriter::loop_over(const Stage& stage, const std::vector<Loop>& loops, TermId across, int lanes,
                           const std::vector<std::vector<Cells>>& cells) {
  const int64_t total = product(loops) / lanes;
  ValueId from = seat.member >= 0 ? seat.member : list.integer(0), to = list.integer(total);
  if (seat.split >= 0) {
    const int64_t size = base::ceil_div(total, plan_.splits);
    const ValueId begin = list.mul(seat.split, size);
    from = list.add(from, begin);
    to = minimum(list.add(begin, list.integer(size)), to);
  }
  ValueId at = list.loop(from, to, plan_.team);
  const Spread outer = emit.spread;
  emit.push();
  std::vector<Loop> rest = loops;
  if (across >= 0 && lanes > 1) {
    const int64_t size = loops.back().extent / lanes;
    rest.pop_back();
    emit.bind_vector(across, list.mul(rest.empty() ? at : remainder(at, size), lanes));
    at = quotient(at, size);
    emit.spread = {lanes, 1, 1, -1};
  }
  decompose(rest, at);
  emit.prepare(roots_of(stage));
  for (size_t r = 0; r < cells.size(); ++r) accumulate(stage.reductions[r], cells[r]);
  if (!stage.stores.empty()) guarded(seat.valid, [&] { store_all(stage.stores); });
  emit.pop();
  emit.spread = outer;
  list.end();
}

/// Halves of a warp's part of the team meet until its first lane has all; teams within a warp then hear from it.
std::vector<TeamWriter::Values> TeamWriter::in_warps(const Stage& stage, std::vector<Values> values) {
  const int width = std::min(plan_.team, kWarp);
  for (size_t r = 0; r < values.size(); ++r)
    for (int by = width / 2; by >= 1; by /= 2) {
      Values others;
      for (const ValueId v : values[r]) others.push_back(list.down(v, by));
      values[r] = emit.combine(stage.reductions[r], values[r], others);
    }
  if (plan_.team <= kWarp)
    for (Values& of_reduction : values)
      for (ValueId& v : of_reduction) v = list.leader(v, width);
  return values;
}

ValueId TeamWriter::in_bytes(ValueId value) {
  return list.reg(value) == Reg::i1 ? list.op(Code::zext, Reg::i8, list.lanes(value), {value}) : value;
}
ValueId TeamWriter::from_bytes(ValueId value, Reg reg) {
  if (reg != Reg::i1) return value;
  const int lanes = list.lanes(value);
  return list.op(Code::compare, Reg::i1, lanes, {value, list.constant(Reg::i8, lanes, 0)}, static_cast<int64_t>(Predicate::ne));
}

/// Through the block's memory: [member][column][lane], or one place a warp; every member combines all in order.
std::vector<TeamWriter::Values> TeamWriter::in_memory(const Stage& stage, std::vector<Values> values) {
  const bool columns = plan_.columns > 1 || emit.in_vector_loop();
  const int lanes = list.lanes(values[0][0]);
  const int64_t pitch = columns ? int64_t{plan_.columns} * lanes : 1;  // elements from member (or warp) to the next
  const int64_t members = columns ? plan_.team : plan_.team / kWarp,
                places = columns ? int64_t{plan_.threads} * lanes : plan_.threads / kWarp;
  if (memory_used_) list.barrier();
  memory_used_ = true;
  int64_t offset = 0;
  std::vector<std::vector<int>> arrays;
  for (const Values& of_reduction : values) {
    arrays.emplace_back();
    for (const ValueId v : of_reduction) {
      const int64_t size = places * bytes(list.reg(v));
      arrays.back().push_back(static_cast<int>(lowered_.arrays.size()));
      lowered_.arrays.push_back({Array::Kind::thread, 0, offset, size, {}});
      offset += (size + 15) / 16 * 16;
    }
  }
  block_bytes_ = std::max(block_bytes_, offset);
  const auto element = [&](size_t r, size_t k, ValueId at) {
    const Reg reg = list.reg(values[r][k]);
    return list.pointer(arrays[r][k], reg == Reg::i1 ? Reg::i8 : reg, at);
  };
  const ValueId own = columns ? list.mul(seat.thread, lanes) : quotient(seat.thread, kWarp);
  guarded(columns ? -1 : less(remainder(seat.thread, kWarp), 1), [&] {
    for (size_t r = 0; r < values.size(); ++r)
      for (size_t k = 0; k < values[r].size(); ++k) list.store(element(r, k, own), in_bytes(values[r][k]), 0);
  });
  list.barrier();
  ValueId first = seat.column >= 0 ? list.mul(seat.column, lanes) : list.integer(0);
  if (!columns && seat.group >= 0) first = list.mul(seat.group, members);
  const auto load = [&](size_t r, ValueId at) {
    Values loaded;
    for (size_t k = 0; k < values[r].size(); ++k)
      loaded.push_back(from_bytes(list.load(element(r, k, at), lanes, 0), list.reg(values[r][k])));
    return loaded;
  };
  std::vector<Values> cells(values.size());
  for (size_t r = 0; r < values.size(); ++r)
    for (const ValueId v : load(r, first)) {
      cells[r].push_back(list.variable(list.reg(v), lanes));
      list.set(cells[r].back(), v);
    }
  const ValueId other = list.loop(list.integer(1), list.integer(members), 1);
  const ValueId at = list.add(list.mul(other, pitch), first);
  for (size_t r = 0; r < values.size(); ++r) {
    Values so_far;
    for (const ValueId c : cells[r]) so_far.push_back(list.get(c));
    const Values sums = emit.combine(stage.reductions[r], so_far, load(r, at));
    for (size_t k = 0; k < sums.size(); ++k) list.set(cells[r][k], sums[k]);
  }
  list.end();
  for (size_t r = 0; r < values.size(); ++r)
    for (size_t k = 0; k < values[r].size(); ++k) values[r][k] = list.get(cells[r][k]);
  return values;
}

}  // namespace kernel
