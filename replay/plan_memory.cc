// Where buffers lie. Live ranges by one walk over the finished tree; what lives across a loop's border lives through the whole loop. Then
// one pass in time order gives each buffer the best-fitting free range (freed ranges merge), which is O(n log n) and leaves little unused
// because the buffers of a training step repeat a few sizes.
#include <algorithm>
#include <map>
#include <set>

#include "replay/plan_builder.h"

namespace replay {
namespace {

constexpr int64_t kAlignment = 64;  ///< bytes: a cache line; kernels may run over the end of a buffer up to this

int64_t padded(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// First and last step that touch each buffer (by the buffer whose memory it is).
class Ranges {
 public:
  explicit Ranges(std::vector<Buffer>& buffers) : buffers_(buffers), used_(buffers.size(), false) {}

  void touch(BufferId id, StepId at) {
    if (id < 0) return;
    Buffer& own = buffers_[static_cast<size_t>(root(id))];
    auto seen = used_[static_cast<size_t>(root(id))];
    own.first = seen ? std::min(own.first, at) : at;
    own.last = seen ? std::max(own.last, at) : at;
    used_[static_cast<size_t>(root(id))] = true;
  }
  BufferId root(BufferId id) const {
    const BufferId alias = buffers_[static_cast<size_t>(id)].alias_of;
    return alias >= 0 ? alias : id;
  }
  bool used(BufferId id) const { return used_[static_cast<size_t>(id)]; }

  /// Returns the last step of the block (or `before` if it has none).
  StepId walk(const Block& block, StepId before) {
    for (const auto& item : block) {
      if (const auto* step = std::get_if<Step>(&item))
        before = walk(*step);
      else if (const auto* loop = std::get_if<std::unique_ptr<Loop>>(&item))
        before = walk(**loop, before);
      else
        before = walk(*std::get<std::unique_ptr<Branch>>(item), before);
    }
    return before;
  }

 private:
  StepId walk(const Step& step) {
    for (const auto* list : {&step.in, &step.out, &step.scratch}) {
      for (const BufferId id : *list) touch(id, step.id);
    }
    return step.id;
  }
  StepId walk(const Loop& loop, StepId before) {
    const StepId first = before;
    for (const BufferId id : loop.state) touch(id, first);
    const StepId after_cond = walk(loop.cond, before);
    touch(loop.predicate, after_cond);
    const StepId last = walk(loop.body, after_cond);
    for (const auto* list : {&loop.state, &loop.next}) {
      for (const BufferId id : *list) touch(id, last);
    }
    touch(loop.predicate, last);
    return last;
  }
  StepId walk(const Branch& branch, StepId before) {
    touch(branch.selector, before);
    for (const Block& block : branch.blocks) before = walk(block, before);
    touch(branch.selector, before);
    return before;
  }

  std::vector<Buffer>& buffers_;
  std::vector<bool> used_;
};

/// What is made before a loop and read in it, or made in it and read after it, must survive every iteration.
void widen_to_loops(std::vector<Buffer>& buffers, const std::vector<std::pair<StepId, StepId>>& loops) {
  for (Buffer& b : buffers) {
    for (const auto& [first, last] : loops) {  // inner loops come first
      const bool inside = b.first >= first && b.last <= last, apart = b.last < first || b.first > last;
      if (inside || apart) continue;
      b.first = std::min(b.first, first);
      b.last = std::max(b.last, last);
    }
  }
}

/// Free memory as ranges, findable by place and by size.
class FreeList {
 public:
  int64_t take(int64_t bytes) {
    const auto fit = by_size_.lower_bound({bytes, 0});
    if (fit == by_size_.end()) return grow(bytes);
    const auto [size, offset] = *fit;
    erase(offset, size);
    if (size > bytes) insert(offset + bytes, size - bytes);
    return offset;
  }
  void give(int64_t offset, int64_t bytes) {
    auto next = by_place_.lower_bound(offset);
    if (next != by_place_.end() && next->first == offset + bytes) {
      bytes += next->second;
      erase(next->first, next->second);
    }
    auto previous = by_place_.lower_bound(offset);
    if (previous != by_place_.begin() && (--previous)->first + previous->second == offset) {
      offset = previous->first;
      bytes += previous->second;
      erase(offset, previous->second);
    }
    insert(offset, bytes);
  }
  int64_t end() const { return end_; }

 private:
  int64_t grow(int64_t bytes) {
    int64_t offset = end_;
    if (!by_place_.empty()) {
      const auto [last, size] = *by_place_.rbegin();
      if (last + size == end_) {  // the free tail is part of what is needed
        offset = last;
        erase(last, size);
      }
    }
    end_ = offset + bytes;
    return offset;
  }
  void insert(int64_t offset, int64_t bytes) {
    by_place_.emplace(offset, bytes);
    by_size_.emplace(bytes, offset);
  }
  void erase(int64_t offset, int64_t bytes) {
    by_place_.erase(offset);
    by_size_.erase({bytes, offset});
  }
  std::map<int64_t, int64_t> by_place_;
  std::set<std::pair<int64_t, int64_t>> by_size_;
  int64_t end_ = 0;
};

bool needs_memory(const Buffer& b) {
  return b.alias_of < 0 && b.bytes > 0 && (b.kind == Buffer::Kind::temporary || b.kind == Buffer::Kind::scratch);
}

}  // namespace

int64_t place(std::vector<Buffer>& buffers) {
  std::vector<size_t> order;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (needs_memory(buffers[i])) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tuple(buffers[a].first, -buffers[a].bytes, a) < std::tuple(buffers[b].first, -buffers[b].bytes, b);
  });
  FreeList memory;
  std::set<std::pair<StepId, size_t>> alive;  // by last step
  for (const size_t i : order) {
    while (!alive.empty() && alive.begin()->first < buffers[i].first) {
      const Buffer& dead = buffers[alive.begin()->second];
      memory.give(dead.offset, padded(dead.bytes));
      alive.erase(alive.begin());
    }
    buffers[i].offset = memory.take(padded(buffers[i].bytes));
    alive.emplace(buffers[i].last, i);
  }
  return memory.end();
}

namespace {

bool adds_a_copy(const Step& step) {
  return step.launches.size() == 2 && std::holds_alternative<Copy>(step.launches[0]) && std::holds_alternative<Gemm>(step.launches[1]);
}

/// D of a product with beta takes C's memory where C is a temporary that dies there: the copy goes. Steps of the outermost block only: in a
/// loop C may be read again by the next iteration.
void reuse_addends(Block& block, std::vector<Buffer>& buffers) {
  const auto root = [&](BufferId id) {
    return buffers[static_cast<size_t>(id)].alias_of >= 0 ? buffers[static_cast<size_t>(id)].alias_of : id;
  };
  std::vector<bool> has_alias(buffers.size(), false);
  for (const Buffer& b : buffers) {
    if (b.alias_of >= 0) has_alias[static_cast<size_t>(b.alias_of)] = true;
  }
  for (auto& item : block) {
    auto* step = std::get_if<Step>(&item);
    if (step == nullptr || !adds_a_copy(*step)) continue;
    const BufferId c = std::get<Copy>(step->launches[0]).from, d = step->out[0];
    Buffer& addend = buffers[static_cast<size_t>(root(c))];
    Buffer& result = buffers[static_cast<size_t>(d)];
    const auto readers = std::count_if(step->in.begin(), step->in.end(), [&](BufferId id) { return root(id) == root(c); });
    const bool dies_here = addend.kind == Buffer::Kind::temporary && addend.last == step->id && readers == 1;
    if (!dies_here || addend.bytes != result.bytes || has_alias[static_cast<size_t>(d)]) continue;
    result.alias_of = root(c);
    addend.last = result.last;
    step->launches.erase(step->launches.begin());
    step->in_place.push_back({c, d});
  }
}

}  // namespace

void PlanBuilder::place_buffers() {
  std::vector<Buffer>& buffers = plan_.buffers;
  Ranges ranges(buffers);
  const StepId last = std::max(0, ranges.walk(plan_.block, 0));
  for (const BufferId id : kept_) ranges.touch(id, last);
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (!ranges.used(static_cast<BufferId>(i)) && buffers[i].alias_of < 0) buffers[i].first = buffers[i].last = last;
  }
  widen_to_loops(buffers, loops_);
  reuse_addends(plan_.block, buffers);
  for (Buffer& b : buffers) {
    if (b.alias_of < 0) continue;
    b.first = buffers[static_cast<size_t>(b.alias_of)].first;
    b.last = buffers[static_cast<size_t>(b.alias_of)].last;
  }
  plan_.arena_bytes = place(buffers);
  std::vector<int64_t> change(static_cast<size_t>(last) + 2, 0);
  for (const Buffer& b : buffers) {
    if (b.alias_of < 0 && !needs_memory(b)) plan_.parameter_bytes += padded(b.bytes);
    if (!needs_memory(b)) continue;
    change[static_cast<size_t>(b.first)] += padded(b.bytes);
    change[static_cast<size_t>(b.last) + 1] -= padded(b.bytes);
  }
  int64_t alive = 0, most = -1;
  for (StepId step = 0; step <= last; ++step) {
    alive += change[static_cast<size_t>(step)];
    if (alive > most) most = alive, plan_.peak_step = step;
  }
}

bool keeps_order(const ir::Shape& from, const ir::Shape& to) {
  const auto row_by_row = [](const ir::Shape& shape) {
    return shape.is_array() && shape.dynamic.empty() && ir::same_physical(shape, ir::array_shape(shape.type, shape.dims));
  };
  return row_by_row(from) && row_by_row(to);
}

bool shares_memory(const ir::Shape& operand, const ir::Shape& result) {
  const auto narrow = [](ir::Type type) {
    const ir::TypeInfo& row = ir::info(type);
    return row.small != nullptr ? row.small->bits() < 8 : row.significant_bits < 8 && ir::is_integer(type);
  };
  if (operand.type == result.type) return true;
  return !narrow(operand.type) && !narrow(result.type) && result.type != ir::Type::pred;
}

}  // namespace replay
