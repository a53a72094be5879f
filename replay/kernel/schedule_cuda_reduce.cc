// Reductions on teams. Where the reduction runs along contiguous elements, a team takes its vectors in turn; where the outer loops are
// contiguous, neighbouring threads take neighbouring columns and the members of a team take rows in turn. Iterations beyond the last repeat
// the last one and store nothing, so that all threads of a block meet at every barrier and exchange.
#include <algorithm>

#include "replay/kernel/schedule_cuda.h"
#include "src/base/math.h"

namespace kernel {
namespace {

constexpr int64_t kLargestShared = 32 << 10;  ///< bytes in which a team's values meet

/// What a stage's reductions hold for one thread.
int64_t accumulator_bytes(const Graph& graph, const Stage& stage) {
  int64_t size = 0;
  for (const Reduction& r : stage.reductions)
    for (const NodeId id : r.values) size += bytes(graph.type(id));
  return size;
}

bool is_in_order(const Nest& nest) {
  return std::ranges::any_of(nest.stages, [](const Stage& s) { return std::ranges::any_of(s.reductions, &Reduction::in_order); });
}

}  // namespace

/// Fewer members where their values would not fit into a block's memory.
void CudaScheduler::fit_memory(const Nest& nest, cuda::Team& plan) const {
  int64_t most = 1;
  for (const Stage& s : nest.stages) most = std::max(most, accumulator_bytes(graph_, s));
  if (plan.columns > 1) {
    while (plan.team > 1 && most * plan.threads * plan.lanes > kLargestShared) plan.team /= 2, plan.threads /= 2;
    if (plan.threads < cuda::kWarp) plan.columns = plan.threads = static_cast<int>(cuda::kWarp), plan.team = 1;
    plan.per_block = int64_t{plan.columns} * plan.lanes;
  } else if (plan.team > cuda::kWarp && most * plan.threads / cuda::kWarp > kLargestShared) {
    plan.team = static_cast<int>(cuda::kWarp);
    plan.per_block = plan.threads / plan.team;
  }
}

CudaScheduler::Laid CudaScheduler::lay(const Nest& nest, Splits splits) {
  Laid laid;
  const Footprint print = everything(nest);
  laid.outer = merged(graph_.terms, nest.outer, print.indices, laid.gone);
  std::vector<Loop> inner = all_loops(nest);
  std::erase_if(inner, [&](const Loop& l) { return std::ranges::count(nest.outer, l.variable) > 0; });
  std::vector<Loop> all = inner;
  all.insert(all.end(), laid.outer.begin(), laid.outer.end());
  TermId across = contiguous_loop(graph_, print, all);
  if (std::ranges::any_of(laid.outer, [&](const Loop& l) { return l.variable == across && l.extent == 1; })) across = -1;
  sort_by_stride(print, graph_, laid.outer);
  const int64_t count = product(laid.outer);
  int64_t length = 1;
  for (const Stage& s : nest.stages) {
    int64_t of_stage = 1;
    for (const TermId v : s.loops) of_stage *= extent_of(graph_.terms, v);
    length = std::max(length, of_stage);
  }
  if (is_in_order(nest)) {
    laid.plan.threads = cuda::kBlock / 2;
    laid.plan.per_block = laid.plan.threads;
    return laid;
  }
  const cuda::Vector vector = vector_for(print, across, all);
  laid.wide = taken(laid.outer, across);
  laid.plan = laid.wide.variable >= 0 ? cuda::plan_columns(product(laid.outer), laid.wide.extent, length, vector, target_.multiprocessors)
                                      : cuda::plan_rows(count, length, vector, target_.multiprocessors);
  if (splits == Splits::none || nest.stages.size() != 1) laid.plan.splits = 1;
  fit_memory(nest, laid.plan);
  return laid;
}

/// Where each thread sits, and its outer iteration.
void CudaScheduler::sit(TeamWriter& writer, const Laid& laid, Scheduled& part) const {
  List& list = writer.list;
  const cuda::Team& plan = laid.plan;
  Seat& seat = writer.seat;
  seat.thread = list.argument(4);
  if (plan.columns > 1) seat.column = writer.remainder(seat.thread, plan.columns);
  const ValueId above = writer.quotient(seat.thread, plan.columns);
  if (plan.team > 1) seat.member = plan.columns * plan.team == plan.threads ? above : writer.remainder(above, plan.team);
  ValueId number = list.argument(3);
  int64_t blocks = 1;
  if (plan.splits > 1) {
    seat.split = writer.remainder(number, plan.splits);
    number = writer.quotient(number, plan.splits);
  }
  const auto clamped = [&](ValueId at, int64_t extent, int64_t step) {  // `at` moves in steps
    seat.valid = writer.less(at, extent);
    return writer.minimum(at, list.integer(extent - step));
  };
  if (laid.wide.variable >= 0) {
    const int64_t tiles = base::ceil_div(laid.wide.extent, plan.per_block);
    blocks = tiles * product(laid.outer);
    ValueId first = list.mul(writer.remainder(number, tiles), plan.per_block);
    if (seat.column >= 0) first = list.add(first, list.mul(seat.column, plan.lanes));
    if (laid.wide.extent % plan.per_block != 0) first = clamped(first, laid.wide.extent, plan.lanes);
    writer.decompose(laid.outer, writer.quotient(number, tiles));
    if (plan.lanes > 1) {
      writer.emit.bind_vector(laid.wide.variable, first);
      writer.emit.spread = {plan.lanes, 1, 1, -1};
    } else {
      writer.emit.bind(laid.wide.variable, first);
    }
  } else {
    const int64_t rows = product(laid.outer), groups = plan.threads / plan.team;
    blocks = base::ceil_div(rows, groups);
    ValueId at = list.mul(number, groups);
    if (groups > 1) {
      seat.group = writer.quotient(seat.thread, plan.team);
      at = list.add(at, seat.group);
    }
    if (rows % groups != 0) at = clamped(at, rows, 1);
    writer.decompose(laid.outer, at);
  }
  part.count = blocks * plan.splits;
  part.block_threads = plan.threads;
}

void CudaScheduler::reduce(const Nest& nest, Splits splits) {
  Laid laid = lay(nest, splits);
  Footprint print = everything(nest);
  std::vector<Partial> parts;
  TermId block = -1;
  if (laid.plan.splits > 1) {
    block = graph_.terms.variable(0, laid.plan.splits - 1);
    parts = partials(nest, laid.plan.splits, laid.wide.variable);
    print.indices.push_back(parts[0].at);  // loops must be one there as well
    laid.gone.clear();
    laid.outer = merged(graph_.terms, nest.outer, print.indices, laid.gone);
    laid.wide = taken(laid.outer, laid.wide.variable);
    if (laid.wide.extent % laid.plan.lanes != 0) laid.plan.per_block /= laid.plan.lanes, laid.plan.lanes = 1;
    sort_by_stride(print, graph_, laid.outer);
  }
  Scheduled part;
  part.shape = laid.wide.variable >= 0 ? "columns" : "rows";
  TeamWriter writer(part.list, lowered_, target_, laid.plan);
  for (const TermId v : laid.gone) writer.emit.bind(v, part.list.integer(0));
  writer.emit.prepare(writer.everything(nest));
  sit(writer, laid, part);
  if (block >= 0) writer.emit.bind(block, writer.seat.split);
  writer.emit.prepare(writer.everything(nest));
  for (const Stage& s : nest.stages) {
    writer.stage(s);
    writer.emit.prepare(writer.everything(nest));
  }
  std::vector<Store> stores = nest.finish;
  if (block >= 0) stores.clear();
  for (const Partial& p : parts) {
    const NodeId value = p.reg == Reg::i1 ? graph_.op(Code::zext, Reg::i8, {p.result}) : p.result;
    stores.push_back({p.array, p.at + Index{0, {{block, block_stride_}}}, value});
  }
  if (!stores.empty()) writer.once_a_team([&] { writer.store_all(stores); });
  part.thread_bytes = writer.block_bytes();
  finish(part, print, all_loops(nest), std::max<int64_t>(1, product(all_loops(nest)) / std::max<int64_t>(1, part.count)));
  if (block >= 0) reduce(combining(nest, parts, block), Splits::none);
}

}  // namespace kernel
