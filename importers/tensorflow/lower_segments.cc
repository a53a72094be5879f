// Rows that belong together, summed or otherwise combined: each is one kernel. In how many segments sorted ids fall is data; where nothing
// tells, the result has as many rows as there are ids.
#include <limits>

#include "importers/tensorflow/rows.h"

namespace importers::tensorflow {
namespace {

using ir::Op;

/// What rows hold that nothing is combined into: of a maximum the least finite number.
ir::Literal start_of(Op op, ir::Type type) {
  constexpr double kGreatest = std::numeric_limits<float>::max();
  if (ir::is_float(type) && (op == Op::maximum || op == Op::minimum))
    return ir::scalar_literal(type, op == Op::maximum ? -kGreatest : kGreatest);
  if (op == Op::maximum) return ir::least_literal(type);
  return op == Op::minimum ? ir::greatest_literal(type) : ir::scalar_literal(type, op == Op::multiply ? int64_t{1} : int64_t{0});
}

Value combined(Lowering& l, Body& b, Op op, Value rows, Value ids, const Dims& result) {
  const ir::Type type = b.type(rows);
  const Value start = b.broadcast(b.constant(ir::array_shape(type, {}), start_of(op, type)), result, {});
  return give(b, start, ids, rows, 0, combining(l, op, type));
}

/// (data, ids, number of segments).
template <Op kOp>
Values unsorted_segments(Lowering& l) {
  const Dims data = l.dims(0), ids = l.dims(1), count = l.integers(2);
  if (!l.error.empty() || count.size() != 1) return l.fail("its number of segments is not known");
  if (!begins_with(data, ids) || !ir::is_integer(l.shape(1).type)) return l.fail("has ids of other dimensions than its data");
  const Dims result = joined(count, from(data, static_cast<int64_t>(ids.size())));
  if (!are_sane(result)) return l.fail("has too many segments");
  return {
      l.program.fuse1({{l.in(0), l.in(1)}}, [&](Body& b, std::span<const Value> x) { return combined(l, b, kOp, x[0], x[1], result); })};
}

/// Of sorted ids [n]: how many segments the program tells, or the bound.
int64_t segments_of(Lowering& l, int64_t n) {
  if (!l.node.shapes.empty() && l.node.shapes[0].rank() > 0) return l.node.shapes[0].dims[0];
  l.assumed = "how many segments it has is data; it runs with its bound, one for each id";
  return n;
}

enum class Share : uint8_t { whole, mean, root };

/// Rows by how many fell into their segment, or by the root of that; rows of empty segments are 0.
Value shared(Lowering& l, Body& b, Share share, Value sums, Value ids) {
  const ir::Type type = b.type(sums);
  const Dims counts_dims{b.dims(sums)[0]};
  const Value counts = give(b, b.fill(type, counts_dims, 0), ids, b.fill(type, b.dims(ids), 1), 0, combining(l, Op::add, type));
  const Value wide = b.broadcast(counts, b.dims(sums), {0});
  if (share == Share::whole) return b.select(b.compare(ir::Direction::EQ, wide, b.like(wide, 0)), b.like(sums, 0), sums);
  const Value at_least_one = b.binary(Op::maximum, wide, 1);
  return b.binary(Op::divide, sums, share == Share::root ? b.unary(Op::sqrt, at_least_one) : at_least_one);
}

/// (data, sorted ids), or (data, rows of it, sorted ids).
template <Op kOp, Share kShare = Share::whole>
Values segments(Lowering& l) {
  const bool sparse = l.node.type.starts_with("Sparse");
  const size_t at = sparse ? 2 : 1;
  const Dims data = l.dims(0), ids = l.dims(at);
  const bool fit = ids.size() == 1 && !data.empty() && (sparse ? l.dims(1) == ids && ir::is_integer(l.shape(1).type) : data[0] == ids[0]);
  if (!fit || !ir::is_integer(l.shape(at).type)) return l.fail("has ids of other dimensions than its data");
  const Dims result = joined({segments_of(l, ids[0])}, from(data, 1));
  if (!are_sane(result)) return l.fail("has too many segments");
  return l.fuse([&](Body& b, std::span<const Value> x) {
    const Value rows = sparse ? take(b, x[0], x[1], 0) : x[0];
    const Value made = combined(l, b, kOp, rows, x[at], result);
    const bool is_neutral = kShare == Share::whole && (kOp == Op::add || kOp == Op::multiply);  // what an empty segment gives
    return Values{is_neutral ? made : shared(l, b, kShare, made, x[at])};
  });
}

constexpr Rule kSegmentRules[] = {
    {"UnsortedSegmentSum", unsorted_segments<Op::add>, 3},
    {"UnsortedSegmentProd", unsorted_segments<Op::multiply>, 3},
    {"UnsortedSegmentMax", unsorted_segments<Op::maximum>, 3},
    {"UnsortedSegmentMin", unsorted_segments<Op::minimum>, 3},
    {"SegmentSum", segments<Op::add>, 2},
    {"SegmentProd", segments<Op::multiply>, 2},
    {"SegmentMax", segments<Op::maximum>, 2},
    {"SegmentMin", segments<Op::minimum>, 2},
    {"SegmentMean", segments<Op::add, Share::mean>, 2},
    {"SparseSegmentSum", segments<Op::add>, 3},
    {"SparseSegmentMean", segments<Op::add, Share::mean>, 3},
    {"SparseSegmentSqrtN", segments<Op::add, Share::root>, 3},
};

}  // namespace

std::span<const Rule> segment_rules() { return kSegmentRules; }

}  // namespace importers::tensorflow
