// Reshapes of arrays that are filled in part. What is reshaped are the real elements: element number L of the operand, counted within its
// sizes, is number L of the result, counted within those. Where that is not the same place in memory, the result gathers.
#include <numeric>

#include "replay/sizes_edit.h"
#include "src/ir/attr.h"

namespace replay::sizes {
namespace {

/// Dimensions [from, from_end) of the operand become [to, to_end) of the result: as many elements, and no shorter ranges.
struct Group {
  size_t from, from_end, to, to_end;
};

std::vector<Group> groups_of(const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
  std::vector<Group> groups;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    Group group{i, i, j, j};
    int64_t left = 1, right = 1;
    do {
      if (i < from.size() && (left <= right || j == to.size())) {
        left *= from[i++];
      } else if (j < to.size()) {
        right *= to[j++];
      } else {
        break;
      }
    } while (left != right || i == group.from || j == group.to);
    while (i < from.size() && from[i] == 1) ++i;
    while (j < to.size() && to[j] == 1) ++j;
    group.from_end = i, group.to_end = j;
    groups.push_back(group);
  }
  return groups;
}

bool has(const Dims& dims, size_t first, size_t end) {
  const auto it = dims.lower_bound(static_cast<int64_t>(first));
  return it != dims.end() && it->first < static_cast<int64_t>(end);
}

/// Which dimension of the result takes what is left: the one that the text names, else the slowest.
size_t open_dimension(Pass& pass, Id id, const Group& group) {
  const auto inferred = ir::attr_int(pass.edit.module(), pass.edit.instr(id), "inferred_dimension").value_or(-1);
  if (inferred >= static_cast<int64_t>(group.to) && inferred < static_cast<int64_t>(group.to_end)) return static_cast<size_t>(inferred);
  const ir::Shape& shape = pass.edit.shape(id);
  for (size_t d = group.to; d < group.to_end && d < shape.dynamic.size(); ++d) {
    if (shape.dynamic[d]) return d;
  }
  return group.to;
}

/// s32 arrays of the result's sizes, combined element by element.
class Places {
 public:
  Places(Editor& edit, const ir::Shape& shape) : edit_(edit), shape_(ir::array_shape(ir::Type::s32, shape.dims)) {}
  Id coordinate(int64_t dim) { return edit_.iota(shape_, dim); }
  Id with(ir::Op op, Id array, Id scalar) { return edit_.add(op, shape_, {array, edit_.spread(scalar, shape_)}); }
  Id sum(Id a, Id b) { return edit_.add(ir::Op::add, shape_, {a, b}); }
  Id zero() { return edit_.spread(edit_.number(0), shape_); }

 private:
  Editor& edit_;
  ir::Shape shape_;
};

/// Place in the whole operand of the element that belongs at each place of the result.
Id sources(Pass& pass, Id from, const ir::Shape& to, const std::vector<Id>& to_sizes) {
  Editor& edit = pass.edit;
  Places places(edit, to);
  Id number = places.zero(), stride = edit.number(1);
  for (size_t d = to.dims.size(); d-- > 0;) {
    number = places.sum(number, places.with(ir::Op::multiply, places.coordinate(static_cast<int64_t>(d)), stride));
    stride = edit.arithmetic(ir::Op::multiply, stride, to_sizes[d]);
  }
  const std::vector<int64_t> bounds = edit.shape(from).dims;
  Id source = places.zero();
  int64_t bound_stride = 1;
  for (size_t d = bounds.size(); d-- > 0;) {
    const Id size = edit.arithmetic(ir::Op::maximum, pass.size_of(from, static_cast<int64_t>(d)), 1);
    const Id coordinate = places.with(ir::Op::remainder, number, size);
    number = places.with(ir::Op::divide, number, size);
    source = places.sum(source, places.with(ir::Op::multiply, coordinate, edit.number(bound_stride)));
    bound_stride *= bounds[d];
  }
  return source;
}

base::Status gather(Pass& pass, Id id, Id from, const std::vector<Id>& to_sizes) {
  Editor& edit = pass.edit;
  const ir::Shape whole = edit.shape(from), to = edit.shape(id);
  if (ir::elements(whole) > INT32_MAX || ir::elements(to) > INT32_MAX) return base::Error{"more elements than s32 counts"};
  const Id flat = edit.add(ir::Op::reshape, ir::array_shape(whole.type, {ir::elements(whole)}), {from});
  const Id places = sources(pass, from, to, to_sizes);
  edit.become(id, ir::Op::gather, {flat, places},
              {{"offset_dims", "{}"},
               {"collapsed_slice_dims", "{0}"},
               {"start_index_map", "{0}"},
               {"index_vector_dim", std::to_string(to.rank())},
               {"slice_sizes", "{1}"}});
  for (size_t d = 0; d < to_sizes.size(); ++d) pass.set(id, 0, static_cast<int64_t>(d), to_sizes[d]);
  return {};
}

}  // namespace

base::Status reshape(Pass& pass, Id id) {
  Editor& edit = pass.edit;
  const Id from = edit.operand(id, 0);
  const Dims dims = pass.of(from);
  const std::vector<int64_t> from_dims = edit.shape(from).dims, to_dims = edit.shape(id).dims;
  std::vector<Id> sizes;
  for (const int64_t d : to_dims) sizes.push_back(edit.number(d));
  bool same_places = true;
  for (const Group& group : groups_of(from_dims, to_dims)) {
    if (!has(dims, group.from, group.from_end)) continue;
    if (group.to == group.to_end) return base::Error{"drops a dimension whose size is a value"};
    const size_t open = open_dimension(pass, id, group);
    Id total = edit.number(1);
    int64_t others = 1;
    for (size_t d = group.from; d < group.from_end; ++d)
      total = edit.arithmetic(ir::Op::multiply, total, pass.size_of(from, static_cast<int64_t>(d)));
    for (size_t d = group.to; d < group.to_end; ++d) others *= d == open ? 1 : to_dims[d];
    sizes[open] = edit.arithmetic(ir::Op::divide, total, others);
    // Only the slowest dimensions of both sides are filled in part: the real elements come first in the group on both.
    same_places = same_places && open == group.to && !has(dims, group.from + 1, group.from_end);
  }
  if (!same_places) return gather(pass, id, from, sizes);
  for (size_t d = 0; d < sizes.size(); ++d) pass.set(id, 0, static_cast<int64_t>(d), sizes[d]);
  return {};
}

base::Status dynamic_reshape(Pass& pass, Id id) {
  std::vector<Id> sizes;
  const std::vector<Id> operands = pass.edit.instr(id).operands;
  for (size_t k = 1; k < operands.size(); ++k) sizes.push_back(pass.edit.scalar(operands[k]));
  if (sizes.size() != pass.edit.shape(id).dims.size()) return base::Error{"has another number of sizes than its result has dimensions"};
  return gather(pass, id, operands[0], sizes);
}

}  // namespace replay::sizes
