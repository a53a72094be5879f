// Where a program for several devices is cut for one (SPMDFullToShardShape, Shardy's GlobalToLocalShape) and put together again: what the
// compiler removes when it partitions. On one device that is its own part, the first of each dimension, and in the place of the others'
// parts stands what this one holds.
#include <algorithm>
#include <string>

#include "replay/decompose_body.h"

namespace replay::apart {
namespace {

/// Each dimension stays, shrinks, or grows to a multiple.
bool fits(const ir::Shape& from, const ir::Shape& to) {
  if (!from.is_array() || from.type != to.type || from.dims.size() != to.dims.size()) return false;
  for (size_t d = 0; d < to.dims.size(); ++d) {
    if (to.dims[d] < 0 || from.dims[d] < 0) return false;
    if (to.dims[d] > from.dims[d] && (from.dims[d] == 0 || to.dims[d] % from.dims[d] != 0)) return false;
  }
  return true;
}

/// `x` of other sizes: the first of a dimension that shrinks, copies behind each other of one that grows.
Id resized(Editor& edit, Id x, const ir::Shape& to) {
  ir::Shape shape = edit.shape(x);
  const ir::Shape whole = shape;
  std::string bounds;
  for (size_t d = 0; d < to.dims.size(); ++d) {
    shape.dims[d] = std::min(shape.dims[d], to.dims[d]);
    bounds += (d == 0 ? "[0:" : ",[0:") + std::to_string(shape.dims[d]) + "]";
  }
  if (!ir::same_dims(shape, whole)) x = edit.add(ir::Op::slice, shape, {x}, {{"slice", "{" + bounds + "}"}});
  for (size_t d = 0; d < to.dims.size(); ++d) {
    if (shape.dims[d] == to.dims[d]) continue;
    const std::vector<Id> parts(static_cast<size_t>(to.dims[d] / shape.dims[d]), x);
    shape.dims[d] = to.dims[d];
    x = edit.add(ir::Op::concatenate, shape, parts, {{"dimensions", braced({static_cast<int64_t>(d)})}});
  }
  return x;
}

}  // namespace

void take_shards_apart(Editor& edit, Id id) {
  const ir::Shape result = edit.shape(id);
  const std::vector<Id> operands = edit.instr(id).operands;
  if (result.is_tuple() ? result.elements.size() != operands.size() : operands.size() != 1) return;
  const auto wanted = [&](size_t k) -> const ir::Shape& { return result.is_tuple() ? result.elements[k] : result; };
  for (size_t k = 0; k < operands.size(); ++k) {
    if (!fits(edit.shape(operands[k]), wanted(k))) return;
  }
  if (!result.is_tuple() && ir::same_dims(result, edit.shape(operands[0]))) return;  // an annotation
  edit.begin(id);
  std::vector<Id> values;
  for (size_t k = 0; k < operands.size(); ++k) values.push_back(resized(edit, operands[k], wanted(k)));
  edit.become(id, result.is_tuple() ? ir::Op::tuple : ir::Op::reshape, values);
}

}  // namespace replay::apart
