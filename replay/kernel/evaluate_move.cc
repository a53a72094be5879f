// Ops that choose between elements (pad, concatenate, updates) and those whose places are values (gather, dynamic slices), and elements
// made of parts of others.
#include <algorithm>

#include "replay/kernel/evaluate.h"
#include "src/ir/attr.h"

namespace kernel {
namespace {

/// Part number `part` of the bits of one element, the lowest first.
base::Result<NodeId> part_of(Evaluator& evaluator, Ref from, const Place& whole, const Index& part, ir::Type after) {
  Graph& g = evaluator.graph();
  ASSIGN_OR_RETURN(const NodeId node, evaluator.value(from, {}, whole));
  const NodeId pattern = pattern_of(g, {node, evaluator.shape(from).type});
  const NodeId amount = g.index(Reg::i64, part * bits_of(after));
  return from_pattern(g, g.binary(Code::lshr, g.cast(Code::zext, Reg::i64, pattern), amount), after);
}

/// The bits of several elements, the first lowest.
base::Result<NodeId> joined(Evaluator& evaluator, Ref from, std::span<const Place> parts, ir::Type after) {
  Graph& g = evaluator.graph();
  const ir::Type before = evaluator.shape(from).type;
  NodeId pattern = g.integer(Reg::i64, 0);
  for (size_t k = 0; k < parts.size(); ++k) {
    ASSIGN_OR_RETURN(const NodeId part, evaluator.value(from, {}, parts[k]));
    const NodeId wide = g.cast(Code::zext, Reg::i64, pattern_of(g, {part, before}));
    pattern = g.binary(Code::or_, pattern, g.binary(Code::shl, wide, g.integer(Reg::i64, static_cast<int64_t>(k) * bits_of(before))));
  }
  return from_pattern(g, pattern, after);
}

}  // namespace

base::Result<NodeId> Evaluator::pad(Ref ref, const Place& place) {
  ASSIGN_OR_RETURN(const auto dims, ir::attr_padding(module_, instr(ref)));
  const Ref from = operand(ref, 0);
  const auto& sizes = shape(from).dims;
  NodeId inside = graph().integer(Reg::i1, 1);
  Place at(place.size());
  for (size_t d = 0; d < place.size(); ++d) {
    const int64_t step = dims[d].interior + 1;
    const Index shifted = place[d] + -dims[d].low;
    auto [quotient, rest] = graph().terms.divide(shifted, step);
    inside = graph().binary(Code::and_, inside, in_range(step == 1 ? shifted : quotient, 0, sizes[d]));
    if (step > 1) inside = graph().binary(Code::and_, inside, in_range(rest, 0, 1));
    at[d] = clamped(step == 1 ? shifted : quotient, 0, std::max<int64_t>(sizes[d] - 1, 0));
  }
  ASSIGN_OR_RETURN(const NodeId around, value(operand(ref, 1), {}, {}));
  if ((graph().is_constant(inside) && graph()[inside].imm == 0) || ir::elements(shape(from)) == 0) return around;
  ASSIGN_OR_RETURN(const NodeId within, value(from, {}, at));
  return graph().select(inside, within, around);
}

base::Result<NodeId> Evaluator::concatenate(Ref ref, const Place& place) {
  const auto dims = ir::attr_dims(module_, instr(ref), "dimensions");
  const auto d = static_cast<size_t>(dims.empty() ? 0 : dims[0]);
  NodeId result = -1;
  int64_t end = shape(ref).dims[d];
  for (size_t k = instr(ref).operands.size(); k-- > 0;) {  // from the last: earlier operands take precedence below their end
    const int64_t size = shape(operand(ref, k)).dims[d];
    const NodeId here = in_range(place[d], end - size, end);
    end -= size;
    if (size == 0 || (graph().is_constant(here) && graph()[here].imm == 0)) continue;
    Place at = place;
    at[d] = clamped(place[d] + -end, 0, size - 1);
    ASSIGN_OR_RETURN(const NodeId part, value(operand(ref, k), {}, at));
    result = result < 0 ? part : graph().select(here, part, result);
  }
  if (result < 0) return unsupported(ref, "no operand has an element");
  return result;
}

base::Result<NodeId> Evaluator::dynamic_slice(Ref ref, const Place& place) {
  const Ref from = operand(ref, 0);
  Place at = place;
  for (size_t d = 0; d < place.size(); ++d) {
    const bool scalars = shape(operand(ref, 1)).rank() == 0;
    const Ref start = operand(ref, scalars ? 1 + d : 1);
    ASSIGN_OR_RETURN(const NodeId node, value(start, {}, scalars ? Place{} : Place{Index{static_cast<int64_t>(d), {}}}));
    at[d] = place[d] + clamped_value({node, shape(start).type}, 0, shape(from).dims[d] - shape(ref).dims[d]);
  }
  return value(from, {}, at);
}

base::Result<NodeId> Evaluator::dynamic_update_slice(Ref ref, const Place& place) {
  const Ref update = operand(ref, 1);
  NodeId inside = graph().integer(Reg::i1, 1);
  Place at = place;
  const bool cuts = cuts_allowed;
  cuts_allowed = false;
  for (size_t d = 0; d < place.size(); ++d) {
    const bool scalars = shape(operand(ref, 2)).rank() == 0;
    const Ref start = operand(ref, scalars ? 2 + d : 2);
    ASSIGN_OR_RETURN(const NodeId node, value(start, {}, scalars ? Place{} : Place{Index{static_cast<int64_t>(d), {}}}));
    const int64_t size = shape(update).dims[d];
    const Index offset = place[d] - clamped_value({node, shape(start).type}, 0, shape(ref).dims[d] - size);
    inside = graph().binary(Code::and_, inside, in_range(offset, 0, size));
    at[d] = clamped(offset, 0, std::max<int64_t>(size - 1, 0));
  }
  cuts_allowed = cuts;
  ASSIGN_OR_RETURN(const NodeId old, value(operand(ref, 0), {}, place));
  if (ir::elements(shape(update)) == 0) return old;
  ASSIGN_OR_RETURN(const NodeId fresh, value(update, {}, at));
  return graph().select(inside, fresh, old);
}

/// The last dimension comes or goes: its elements are the parts of one element on the other side.
base::Result<NodeId> Evaluator::bitcast_convert(Ref ref, const Place& place) {
  const Ref from = operand(ref, 0);
  const ir::Type before = shape(from).type, after = shape(ref).type;
  const bool narrower = shape(ref).rank() == shape(from).rank() + 1;
  const int64_t parts = narrower ? shape(ref).dims.back() : shape(from).dims.back();
  const int bits = bits_of(narrower ? after : before);
  const bool fits = narrower || shape(ref).rank() + 1 == shape(from).rank();
  if (!fits || ir::is_complex(before) || ir::is_complex(after) || bits_of(narrower ? before : after) != bits * parts)
    return unsupported(ref, "between sizes that do not divide each other");
  if (narrower) return part_of(*this, from, Place(place.begin(), place.end() - 1), place.back(), after);
  std::vector<Place> places(static_cast<size_t>(parts), place);
  for (int64_t k = 0; k < parts; ++k) places[static_cast<size_t>(k)].push_back(Index{k, {}});
  return joined(*this, from, places, after);
}

/// The operand's memory as elements of another type, of the same or another width.
base::Result<NodeId> Evaluator::bitcast(Ref ref, const Place& place) {
  Terms& terms = graph().terms;
  const Ref from = operand(ref, 0);
  const ir::Shape &source = shape(from), &result = shape(ref);
  const Index element = element_of(result, place);
  if (source.type == result.type) return value(from, {}, place_of(terms, source, element));
  const int before = bits_of(source.type), after = bits_of(result.type);
  if (before > 64 || after > 64) return unsupported(ref, "reads c128 as another type");
  if (before * ir::elements(source) != after * ir::elements(result)) return unsupported(ref, "changes the number of bits");
  if (before == after) {
    ASSIGN_OR_RETURN(const NodeId node, value(from, {}, place_of(terms, source, element)));
    return from_pattern(graph(), pattern_of(graph(), {node, source.type}), result.type);
  }
  if (std::max(before, after) % std::min(before, after) != 0) return unsupported(ref, "between sizes that do not divide each other");
  if (before > after) {
    const auto [whole, part] = terms.divide(element, before / after);
    return part_of(*this, from, place_of(terms, source, whole), part, result.type);
  }
  std::vector<Place> places;
  for (int64_t k = 0; k < after / before; ++k) places.push_back(place_of(terms, source, element * (after / before) + k));
  return joined(*this, from, places, result.type);
}

base::Result<NodeId> Evaluator::gather(Ref ref, const Place& place) {
  const ir::GatherDims dims = ir::attr_gather(module_, instr(ref));
  const Ref from = operand(ref, 0), indices = operand(ref, 1);
  const auto has = [](const std::vector<int64_t>& list, size_t d) { return std::ranges::count(list, static_cast<int64_t>(d)) > 0; };
  Place batch, offset;
  for (size_t d = 0; d < place.size(); ++d) (has(dims.offset_dims, d) ? offset : batch).push_back(place[d]);
  Place at(static_cast<size_t>(shape(from).rank()));
  for (size_t k = 0; k < dims.start_index_map.size(); ++k) {
    Place where = batch;
    if (dims.index_vector_dim < shape(indices).rank())
      where.insert(where.begin() + dims.index_vector_dim, Index{static_cast<int64_t>(k), {}});
    ASSIGN_OR_RETURN(const NodeId node, value(indices, {}, where));
    const auto d = static_cast<size_t>(dims.start_index_map[k]);
    at[d] = clamped_value({node, shape(indices).type}, 0, shape(from).dims[d] - dims.slice_sizes[d]);
  }
  size_t next = 0;
  for (size_t d = 0; d < at.size(); ++d)
    if (!has(dims.collapsed_slice_dims, d) && !has(dims.operand_batching_dims, d) && next < offset.size()) at[d] = at[d] + offset[next++];
  for (size_t k = 0; k < dims.operand_batching_dims.size(); ++k) {
    int64_t b = dims.start_indices_batching_dims[k];
    if (b > dims.index_vector_dim) --b;
    at[static_cast<size_t>(dims.operand_batching_dims[k])] = batch[static_cast<size_t>(b)];
  }
  return value(from, {}, at);
}

}  // namespace kernel
