// Chooses a class for each nest. Elementwise work: a thread takes a few neighbours of the destination. Reductions: a team of threads shares
// an outer iteration; its values meet by exchange within a warp and through shared memory beyond. Long reductions of few outer iterations
// are split over blocks with partial results, which a second part combines in order: results do not depend on when blocks run.
#include "replay/kernel/schedule_cuda.h"

#include <algorithm>

#include "src/base/math.h"

namespace kernel {
namespace {

constexpr int64_t kMostSerialThreads = 4096;  ///< each walks over all updates

}  // namespace

ValueId number_of_thread(List& list, int threads) { return list.add(list.mul(list.argument(3), threads), list.argument(4)); }

/// Updates one after another on every thread, each in its own rows of the destination.
void CudaScheduler::serial(const Nest& nest) {
  const Footprint print = everything(nest);
  const Stage& stage = nest.stages.back();  // those before it reduce what the update needs
  const int64_t slots = std::min(nest.owned, kMostSerialThreads), threads = std::min<int64_t>(base::ceil_div(slots, 32) * 32, cuda::kBlock);
  Scheduled part;
  part.shape = "scatter";
  part.block_threads = static_cast<int>(threads);
  part.count = base::ceil_div(slots, threads);
  Writer writer(part.list, lowered_, target_);
  List& list = part.list;
  const ValueId slot = number_of_thread(list, part.block_threads), many = list.integer(slots);
  list.branch(list.op(Code::compare, Reg::i1, 1, {slot, many}, static_cast<int64_t>(Predicate::slt)));
  writer.emit.push();
  if (nest.owned > 1) {
    const auto bound = [&](ValueId which) { return list.op(Code::udiv, Reg::i64, 1, {list.mul(which, nest.owned), many}); };
    writer.emit.bind(nest.first_owned, bound(slot));
    writer.emit.bind(nest.end_owned, bound(list.add(slot, list.integer(1))));
  }
  std::vector<Loop> outer;
  outer.reserve(nest.outer.size());
  for (const TermId v : nest.outer) outer.push_back({v, extent_of(graph_.terms, v)});
  writer.serial_loops(outer, 0, [&] {  // nothing is prepared outside: an update reads what the one before it wrote
    writer.emit.prepare(writer.everything(nest));
    for (size_t k = 0; k + 1 < nest.stages.size(); ++k) {
      writer.stage(nest.stages[k], 1);
      writer.emit.prepare(writer.everything(nest));
    }
    list.branch(writer.emit.value(stage.condition));
    writer.emit.push();
    writer.stage(stage, 1);
    writer.emit.pop();
    list.end();
  });
  writer.emit.pop();
  list.end();
  finish(part, print, all_loops(nest), product(all_loops(nest)));
}

/// As on CPUs, with a thread for each of a part's iterations.
void CudaScheduler::merge(const Merge& merge) {
  const size_t first = parts_.size();
  Scheduler::merge(merge);
  for (size_t k = first; k < parts_.size(); ++k) {
    parts_[k].iterations = parts_[k].count;
    parts_[k].block_threads = 2 * static_cast<int>(cuda::kWarp);
    parts_[k].count = base::ceil_div(parts_[k].iterations, parts_[k].block_threads);
    parts_[k].chunk = parts_[k].count;
  }
}

void CudaScheduler::nest(const Nest& nest) {
  if (nest.merge) return merge(*nest.merge);
  if (nest.serial) return serial(nest);
  const bool is_map = nest.outer.empty() && nest.stages.size() == 1 && nest.stages[0].reductions.empty() && nest.finish.empty();
  if (is_map) return map(nest.stages[0]);
  reduce(nest, Splits::allowed);
}

std::vector<Scheduled> CudaScheduler::run() {
  for (const Nest& n : std::vector<Nest>(lowered_.nests)) {
    const size_t first = parts_.size();
    nest(n);
    for (size_t k = first; k < parts_.size(); ++k) std::ranges::copy(n.skip_if_same, parts_[k].same);
  }
  return std::move(parts_);
}

std::vector<Scheduled> schedule_cuda(Lowered& lowered, const Target& target) {
  Target one = target;  // vectors are chosen nest by nest
  one.lanes = 1;
  one.registers = 16;
  return CudaScheduler(lowered, one).run();
}

}  // namespace kernel
