// Shapes of what works between devices, and of pairs that start and end: groups are the text's business, so a gathered dimension only
// has to be a multiple of a part. Asynchronous starts may leave operands to their updates (2026-07): then the text is believed.
#include <algorithm>

#include "src/ir/infer_rules.h"

namespace ir::rules {
namespace {

Inferred declared_or_written(const In& in) { return in.declared() != nullptr ? follows(*in.declared()) : as_written(); }

/// The part of a result that belongs to operand i: the result itself, or its element.
const Shape* part(const Shape& result, size_t i, size_t count) {
  if (count == 1 && !result.is_tuple()) return &result;
  return result.is_tuple() && i < result.elements.size() ? &result.elements[i] : nullptr;
}

/// Whether `large` is `small` but for one dimension, where it is a multiple.
bool is_multiple_at(const Shape& large, const Shape& small, int64_t dim) {
  if (large.rank() == 0 && small.rank() == 0) return true;  // Neuron's dumps scatter scalars
  if (large.rank() != small.rank() || dim < 0 || dim >= large.rank()) return false;
  for (int64_t i = 0; i < large.rank(); ++i) {
    const int64_t a = large.dims[static_cast<size_t>(i)], b = small.dims[static_cast<size_t>(i)];
    if (a < 0 || b < 0) continue;
    if (i == dim ? (b == 0 ? a != 0 : a % b != 0) : a != b) return false;
  }
  return true;
}

enum class Grows : uint8_t { result, operand };

/// all-gather and reduce-scatter: along `dimensions`, one side is a multiple of the other.
Inferred along_dimension(const In& in, const Shape& result, Grows grows) {
  const std::vector<int64_t> dims = in.dims("dimensions");
  if (dims.size() != 1) return broken("{} needs dimensions={{…}} with one number, got {}", text(in.instr.op), dims.size());
  for (size_t i = 0; i < in.count(); ++i) {
    const Shape* mine = part(result, i, in.count());
    if (mine == nullptr) return broken("{} of {} operands gives as many arrays, got {}", text(in.instr.op), in.count(), show(result));
    const bool fine =
        grows == Grows::result ? is_multiple_at(*mine, in.operand(i), dims[0]) : is_multiple_at(in.operand(i), *mine, dims[0]);
    if (!fine) return broken("{} along dimension {}: {} does not become {}", text(in.instr.op), dims[0], show(in.operand(i)), show(*mine));
  }
  return declared_or_written(in);
}

Inferred all_gather(const In& in) { return in.declared() == nullptr ? as_written() : along_dimension(in, *in.declared(), Grows::result); }
Inferred reduce_scatter(const In& in) {
  return in.declared() == nullptr ? as_written() : along_dimension(in, *in.declared(), Grows::operand);
}

/// (operands, results, …).
Inferred all_gather_start(const In& in) {
  if (in.declared() == nullptr) return as_written();
  if (!in.declared()->is_tuple() || in.declared()->elements.size() < 2)
    return broken("all-gather-start gives (operands, results), got {}", show(*in.declared()));
  return along_dimension(in, in.declared()->elements[1], Grows::result);
}

/// The value in two places, then what the runtime needs: of a permutation (operand, result, …), of a copy (target, source, …);
/// until 2020 a copy had no source there.
Inferred twice(const In& in) {
  if (in.declared() == nullptr) return as_written();
  const Shape& result = *in.declared();
  if (!result.is_tuple() || result.elements.size() < 2) return broken("{} gives its value twice, got {}", text(in.instr.op), show(result));
  const bool old_copy = in.instr.op == Op::copy_start && in.count() == 1 && !fits(result.elements[1], result.elements[0]);
  for (size_t i = 0; i < (old_copy ? 1 : 2) && in.count() == 1; ++i) {
    if (!fits_but_for_precision(result.elements[i], in.operand(0)))
      return broken("{} of {}: element {} of the result is {}", text(in.instr.op), show(in.operand(0)), i, show(result.elements[i]));
  }
  return follows(result);
}

/// ((operands…), result, …) of the computation that runs.
Inferred async_start(const In& in) {
  if (in.declared() == nullptr) return as_written();
  const Shape& result = *in.declared();
  if (!result.is_tuple() || result.elements.size() < 2 || !result.elements[0].is_tuple())
    return broken("async-start gives ((operands…), result, …), got {}", show(result));
  const std::vector<Shape>& operands = result.elements[0].elements;
  if (operands.size() != in.count()) return follows(result);
  for (size_t i = 0; i < in.count(); ++i) {
    if (!fits_but_for_precision(operands[i], in.operand(i)))
      return broken("async-start: operand {} is {}, the result says {}", i, show(in.operand(i)), show(operands[i]));
  }
  const Shape* computed = in.result_of("calls");
  const bool is_bound = !result.elements[1].is_tuple() || !result.elements[1].elements.empty();  // or the updates give the result
  if (is_bound && computed != nullptr && !fits_but_for_precision(*computed, result.elements[1]))
    return broken("async-start: the computation gives {}, the result says {}", show(*computed), show(result.elements[1]));
  return follows(result);
}

struct CollectiveRow {
  Op op;
  Rule rule;
};
constexpr CollectiveRow kCollectiveRows[] = {
    {Op::all_gather, all_gather},
    {Op::reduce_scatter, reduce_scatter},
    {Op::all_gather_start, all_gather_start},
    {Op::collective_permute_start, twice},
    {Op::copy_start, twice},
    {Op::async_start, async_start},
};

}  // namespace

Rule collective_rule(Op op) {
  const auto row = std::ranges::find(kCollectiveRows, op, &CollectiveRow::op);
  return row == std::end(kCollectiveRows) ? nullptr : row->rule;
}

}  // namespace ir::rules
