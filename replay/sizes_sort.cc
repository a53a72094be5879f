// Sorts of arrays that are filled in part: what lies beyond the size comes last. The sort gets one more operand, whether an element is
// real, and a comparator that asks it first.
#include <fmt/format.h>

#include "replay/sizes_edit.h"
#include "src/ir/attr.h"

namespace replay::sizes {
namespace {

/// `real(l) and not real(r)`, or as the comparator says where both are real or none is.
ir::CompId comparator_with_real(ir::Module& module, ir::CompId plain, int64_t operands) {
  ir::Computation copy = module.comp(plain);
  copy.name = module.strings.intern(fmt::format("{}.part", module.text(copy.name)));
  const auto id = static_cast<ir::CompId>(module.computations.size());
  module.computations.push_back(std::move(copy));
  Editor edit(module, id);
  const ir::Shape pred = ir::array_shape(ir::Type::pred, {});
  const Id root = module.comp(id).root;
  edit.begin(root);
  Id real[2];
  for (int side = 0; side < 2; ++side) {
    real[side] = edit.add(ir::Op::parameter, pred, {});
    edit.instr(real[side]).number = 2 * operands + side;
    module.comp(id).parameters.push_back(real[side]);
  }
  const Id same = edit.add(ir::Op::compare, pred, {real[0], real[1]}, {{"direction", "EQ"}});
  const Id answer = edit.add(ir::Op::select, pred, {same, root, real[0]});
  module.comp(id).root = answer;
  return id;
}

}  // namespace

base::Status sort(Pass& pass, Id id) {
  Editor& edit = pass.edit;
  const std::vector<Id> operands = edit.instr(id).operands;
  const std::vector<int64_t> along = ir::attr_dims(edit.module(), edit.instr(id), "dimensions");
  const ir::Shape shape = edit.shape(operands[0]), result = edit.shape(id);
  const int64_t dim = along.empty() ? shape.rank() - 1 : along[0];
  Dims dims;
  for (const Id operand : operands) dims.merge(pass.of(operand));
  if (const auto size = dims.find(dim); size != dims.end()) {
    if (edit.instr(id).calls.size() != 1) return base::Error{"lacks its computation"};
    const Id real = edit.below(shape, dim, size->second);
    const Id sorted = edit.copy_of(id);
    ir::Instr& changed = edit.instr(sorted);
    changed.operands.push_back(real);
    changed.calls[0] = comparator_with_real(edit.module(), changed.calls[0], static_cast<int64_t>(operands.size()));
    std::vector<ir::Shape> leaves = result.is_tuple() ? result.elements : std::vector{result};
    leaves.push_back(edit.shape(real));
    edit.instr(sorted).shape = edit.module().intern(ir::tuple_shape(leaves));
    std::vector<Id> parts;
    for (size_t k = 0; result.is_tuple() && k < operands.size(); ++k)
      parts.push_back(edit.add(ir::Op::get_tuple_element, leaves[k], {sorted}, {{"index", std::to_string(k)}}));
    if (result.is_tuple()) {
      edit.become(id, ir::Op::tuple, parts);
    } else {
      edit.become(id, ir::Op::get_tuple_element, {sorted}, {{"index", "0"}});
    }
  }
  for (size_t k = 0; k < operands.size(); ++k) pass.set(id, static_cast<int>(k), dims);
  return {};
}

}  // namespace replay::sizes
