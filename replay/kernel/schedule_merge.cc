// Sorting by merging, bottom up: stable, n·log n for any order, and within bounds even where the comparator is no order at all. Segments
// that stay in a core's cache are sorted by one thread, two rounds at a time, so that they end where they began; then each round is a part
// of its own, whose merges the threads share out.
#include <algorithm>

#include "replay/kernel/scheduler.h"
#include "src/base/math.h"

namespace kernel {
namespace {

constexpr int64_t kSegment = 4096;  ///< elements

/// Rounds of merges over runs of a segment and more.
int long_rounds(int64_t length) {
  int rounds = 0;
  for (int64_t width = kSegment; width < length; width *= 2) ++rounds;
  return rounds;
}

class MergeWriter {
 public:
  MergeWriter(List& list, const Lowered& lowered, const Merge& merge) : list_(list), emit_(list, lowered), merge_(merge) {}

  /// Runs of 2^log elements between `base` and `stop` become runs of twice that; from array `from` of each pair to the other.
  void round(ValueId base, ValueId stop, ValueId log, int from) {
    const ValueId width = list_.op(Code::shl, Reg::i64, 1, {list_.integer(1), log}), twice = list_.add(width, width);
    const ValueId length = list_.op(Code::sub, Reg::i64, 1, {stop, base}), more = list_.add(log, list_.integer(1));
    const ValueId count = list_.op(Code::lshr, Reg::i64, 1, {list_.add(length, list_.add(twice, list_.integer(-1))), more});
    const ValueId number = list_.loop(list_.integer(0), count, 1);
    pair(list_.add(base, list_.op(Code::mul, Reg::i64, 1, {number, twice})), stop, width, from);
    list_.end();
  }
  /// The two runs of at most `width` elements that begin at `start`.
  void pair(ValueId start, ValueId stop, ValueId width, int from) {
    const ValueId middle = smaller(list_.add(start, width), stop);
    two_runs(start, middle, smaller(list_.add(middle, width), stop), from);
  }
  ValueId smaller(ValueId a, ValueId b) { return list_.op(Code::select, Reg::i64, 1, {compare(Predicate::slt, a, b), a, b}); }

 private:
  ValueId compare(Predicate p, ValueId a, ValueId b) { return list_.op(Code::compare, Reg::i1, 1, {a, b}, static_cast<int64_t>(p)); }
  ValueId place(const Merge::Column& column, ValueId element) {
    return list_.add(list_.mul(element, column.stride), list_.integer(column.offset));
  }
  std::vector<ValueId> load(ValueId element, int from) {
    std::vector<ValueId> values;
    for (const auto& c : merge_.columns) values.push_back(list_.load(list_.pointer(c.arrays[from], c.reg, place(c, element)), 1, 0));
    return values;
  }
  /// Does the first element come before the second?
  ValueId before(const std::vector<ValueId>& first, const std::vector<ValueId>& second) {
    const auto inside = [&](std::vector<ValueId> values) {
      for (size_t k = 0; k < values.size(); ++k)
        if (merge_.columns[k].predicate) values[k] = compare(Predicate::ne, values[k], list_.constant(Reg::i8, 1, 0));
      return values;
    };
    return emit_.combine(merge_.before, inside(first), inside(second))[0];
  }
  /// Without branches: both heads are read (at the last element where a run has ended), one is taken.
  void two_runs(ValueId begin, ValueId middle, ValueId end, int from) {
    const ValueId left_cell = list_.variable(Reg::i64, 1), right_cell = list_.variable(Reg::i64, 1);
    list_.set(left_cell, begin);
    list_.set(right_cell, middle);
    const ValueId last = list_.add(end, list_.integer(-1)), yes = list_.constant(Reg::i1, 1, 1);
    const ValueId to = list_.loop(begin, end, 1);
    const ValueId left = list_.get(left_cell), right = list_.get(right_cell);
    const auto lefts = load(smaller(left, last), from), rights = load(smaller(right, last), from);
    const ValueId no_left = compare(Predicate::sge, left, middle), has_right = compare(Predicate::slt, right, end);
    const ValueId wins = list_.op(Code::or_, Reg::i1, 1, {no_left, before(rights, lefts)});
    const ValueId take = list_.op(Code::and_, Reg::i1, 1, {has_right, wins});
    for (size_t k = 0; k < merge_.columns.size(); ++k) {
      const auto& c = merge_.columns[k];
      const ValueId value = list_.op(Code::select, c.reg, 1, {take, rights[k], lefts[k]});
      list_.store(list_.pointer(c.arrays[1 - from], c.reg, place(c, to)), value, 0);
    }
    list_.set(left_cell, list_.add(left, list_.op(Code::zext, Reg::i64, 1, {list_.op(Code::xor_, Reg::i1, 1, {take, yes})})));
    list_.set(right_cell, list_.add(right, list_.op(Code::zext, Reg::i64, 1, {take})));
    list_.end();
  }

  List& list_;
  Emitter emit_;
  const Merge& merge_;
};

/// Segment or merge `number` of `per_row` in each row.
struct InRow {
  ValueId row_begin, row_end, start;
};
InRow in_row(List& list, ValueId number, int64_t per_row, int64_t size, int64_t length) {
  const ValueId row = list.op(Code::udiv, Reg::i64, 1, {number, list.integer(per_row)});
  const ValueId within = list.op(Code::urem, Reg::i64, 1, {number, list.integer(per_row)});
  const ValueId begin = list.mul(row, length);
  return {begin, list.add(begin, list.integer(length)), list.add(begin, list.mul(within, size))};
}

}  // namespace

int sorted_in(int64_t length) { return long_rounds(length) % 2; }

void Scheduler::merge(const Merge& merge) {
  if (merge.rows == 0 || merge.length < 2) return;
  int64_t element_bytes = 0;
  for (const auto& c : merge.columns) element_bytes += bytes(c.reg);
  const int64_t touched = 2 * merge.rows * merge.length * element_bytes;
  const auto add = [&](std::string shape, int64_t per_row, int64_t size,
                       const std::function<void(MergeWriter&, List&, const InRow&)>& body) {
    Scheduled part;
    part.shape = std::move(shape);
    part.count = merge.rows * per_row;
    part.chunk = std::clamp<int64_t>(kSegment / std::max<int64_t>(1, size), 1, part.count);
    part.work_bytes = touched;
    MergeWriter writer(part.list, lowered_, merge);
    const ValueId number = part.list.loop(part.list.argument(0), part.list.argument(1), 1);
    body(writer, part.list, in_row(part.list, number, per_row, size, merge.length));
    part.list.end();
    parts_.push_back(std::move(part));
  };
  const int64_t segment = std::min(merge.length, kSegment);
  add("sort", base::ceil_div(merge.length, segment), segment, [&](MergeWriter& writer, List& list, const InRow& at) {
    const ValueId stop = writer.smaller(list.add(at.start, list.integer(segment)), at.row_end);
    int64_t rounds = 0;
    for (int64_t width = 1; width < segment; width *= 4) ++rounds;
    const ValueId log = list.loop(list.integer(0), list.integer(2 * rounds), 2);
    writer.round(at.start, stop, log, 0);
    writer.round(at.start, stop, list.add(log, list.integer(1)), 1);
    list.end();
  });
  int from = 0;
  for (int64_t width = segment; width < merge.length; width *= 2, from = 1 - from)
    add("merge", base::ceil_div(merge.length, 2 * width), 2 * width,
        [&](MergeWriter& writer, List& list, const InRow& at) { writer.pair(at.start, at.row_end, list.integer(width), from); });
}

}  // namespace kernel
