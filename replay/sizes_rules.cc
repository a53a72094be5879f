// What each op makes of operands that are filled in part: which dimensions of its result are, and what it must not see of the rest.
#include <algorithm>

#include "replay/sizes_edit.h"
#include "src/ir/attr.h"

namespace replay::sizes {
namespace {

using base::Error;
using base::Status;
using Op = ir::Op;

Dims moved(const Dims& dims, const std::vector<int64_t>& to) {
  Dims out;
  for (const auto& [dim, size] : dims) {
    if (dim < static_cast<int64_t>(to.size()) && to[static_cast<size_t>(dim)] >= 0) out.emplace(to[static_cast<size_t>(dim)], size);
  }
  return out;
}

Dims only(const Dims& dims, const std::vector<int64_t>& list) {
  Dims out;
  for (const auto& [dim, size] : dims) {
    if (std::ranges::find(list, dim) != list.end()) out.emplace(dim, size);
  }
  return out;
}

void mask_operand(Pass& pass, Id id, size_t k, const Dims& dims, Id value) {
  if (dims.empty()) return;
  const Id masked = pass.edit.masked(pass.edit.operand(id, k), dims, value);
  pass.edit.instr(id).operands[k] = masked;
}

Status elementwise(Pass& pass, Id id) {
  const std::vector<Id> operands = pass.edit.instr(id).operands;
  for (const Id operand : operands) {
    const Dims dims = pass.of(operand);
    if (pass.edit.shape(operand).rank() != pass.edit.shape(id).rank()) continue;
    for (const auto& [dim, size] : dims) {
      if (!pass.of(id).contains(dim)) pass.set(id, 0, dim, size);
    }
  }
  return {};
}

Status set_size(Pass& pass, Id id) {
  const std::vector<int64_t> dims = ir::attr_dims(pass.edit.module(), pass.edit.instr(id), "dimensions");
  const Id from = pass.edit.operand(id, 0), size = pass.edit.scalar(pass.edit.operand(id, 1));
  if (dims.size() != 1) return Error{"names no dimension"};
  pass.edit.become(id, from);
  Dims sizes = pass.of(from);
  sizes.insert_or_assign(dims[0], size);
  pass.set(id, 0, sizes);
  return {};
}

Status get_size(Pass& pass, Id id) {
  const std::vector<int64_t> dims = ir::attr_dims(pass.edit.module(), pass.edit.instr(id), "dimensions");
  if (dims.size() != 1) return Error{"names no dimension"};
  pass.edit.become(id, pass.size_of(pass.edit.operand(id, 0), dims[0]));
  return {};
}

/// (array, size of each dimension) → the array, filled so far.
Status slice_to_dynamic(Pass& pass, Id id) {
  const std::vector<Id> operands = pass.edit.instr(id).operands;
  if (operands.empty() || !ir::same_dims(pass.edit.shape(id), pass.edit.shape(operands[0])))
    return base::Error{"SliceToDynamic: the result is no part of its operand"};
  pass.edit.become(id, operands[0]);
  for (size_t k = 1; k < operands.size(); ++k) pass.set(id, 0, static_cast<int64_t>(k) - 1, pass.edit.scalar(operands[k]));
  return {};
}

/// Is it a tuple of the array and an s32 for each of its dimensions?
bool holds_sizes(const ir::Shape& result, const ir::Shape& array) {
  if (!result.is_tuple() || result.elements.size() != array.dims.size() + 1) return false;
  const auto is_size = [](const ir::Shape& shape) { return shape.type == ir::Type::s32 && shape.dims.empty(); };
  return ir::same_dims(result.elements[0], array) && std::all_of(result.elements.begin() + 1, result.elements.end(), is_size);
}

/// An array filled in part → (the array, size of each dimension).
Status pad_to_static(Pass& pass, Id id) {
  if (pass.edit.instr(id).operands.size() != 1) return base::Error{"PadToStatic: takes one array"};
  const Id from = pass.edit.operand(id, 0);
  if (!holds_sizes(pass.edit.shape(id), pass.edit.shape(from)))
    return base::Error{"PadToStatic: the result is not its operand's array and the size of each dimension"};
  std::vector<Id> parts = {pass.edit.masked(from, pass.of(from), pass.edit.zero(pass.edit.shape(from).type))};
  for (int64_t d = 0; d < pass.edit.shape(from).rank(); ++d) parts.push_back(pass.size_of(from, d));
  pass.edit.become(id, Op::tuple, parts);
  return {};
}

Status tuple(Pass& pass, Id id) {
  int first = 0;
  for (const Id operand : std::vector<Id>(pass.edit.instr(id).operands)) {
    const auto count = static_cast<int>(ir::leaves(pass.edit.shape(operand)).size());
    for (int leaf = 0; leaf < count; ++leaf) pass.set(id, first + leaf, pass.of(operand, leaf));
    first += count;
  }
  return {};
}

Status get_tuple_element(Pass& pass, Id id) {
  const Id from = pass.edit.operand(id, 0);
  const int64_t index = ir::attr_int(pass.edit.module(), pass.edit.instr(id), "index").value_or(0);
  int first = 0;
  for (int64_t k = 0; k < index; ++k) first += static_cast<int>(ir::leaves(pass.edit.shape(from).elements[static_cast<size_t>(k)]).size());
  const auto count = static_cast<int>(ir::leaves(pass.edit.shape(id)).size());
  for (int leaf = 0; leaf < count; ++leaf) pass.set(id, leaf, pass.of(from, first + leaf));
  return {};
}

Status broadcast(Pass& pass, Id id) {
  pass.set(id, 0, moved(pass.of(pass.edit.operand(id, 0)), ir::attr_dims(pass.edit.module(), pass.edit.instr(id), "dimensions")));
  return {};
}

Status transpose(Pass& pass, Id id) {
  const std::vector<int64_t> dims = ir::attr_dims(pass.edit.module(), pass.edit.instr(id), "dimensions");
  std::vector<int64_t> to(dims.size());
  for (size_t d = 0; d < dims.size(); ++d) to[static_cast<size_t>(dims[d])] = static_cast<int64_t>(d);
  pass.set(id, 0, moved(pass.of(pass.edit.operand(id, 0)), to));
  return {};
}

/// Start indices of a slice: 0 but where `starts` says.
std::vector<Id> starts_of(Pass& pass, int rank, const Dims& starts) {
  std::vector<Id> out(static_cast<size_t>(rank), pass.edit.number(0));
  for (const auto& [dim, start] : starts) out[static_cast<size_t>(dim)] = start;
  return out;
}

/// The real elements come last in the whole array turned round: they are moved to the front.
Status reverse(Pass& pass, Id id) {
  Editor& edit = pass.edit;
  const Dims dims = pass.of(edit.operand(id, 0));
  const ir::Shape shape = edit.shape(id);
  const Dims turned = only(dims, ir::attr_dims(edit.module(), edit.instr(id), "dimensions"));
  if (!turned.empty()) {
    Dims starts;
    ir::Shape padded = ir::array_shape(shape.type, shape.dims);
    std::string padding;
    for (int64_t d = 0; d < shape.rank(); ++d) {
      const int64_t bound = shape.dims[static_cast<size_t>(d)], more = turned.contains(d) ? bound : 0;
      padding += (d > 0 ? "x0_" : "0_") + std::to_string(more);
      padded.dims[static_cast<size_t>(d)] += more;
      if (more > 0) starts.emplace(d, edit.arithmetic(Op::subtract, edit.number(bound), turned.at(d)));
    }
    const Id whole = edit.copy_of(id), zero = edit.zero(shape.type);
    std::vector<Id> operands = {edit.add(Op::pad, padded, {whole, zero}, {{"padding", padding}})};
    for (const Id start : starts_of(pass, shape.rank(), starts)) operands.push_back(start);
    edit.become(id, Op::dynamic_slice, operands, {{"dynamic_slice_sizes", braced(shape.dims)}});
  }
  pass.set(id, 0, dims);
  return {};
}

Status slice(Pass& pass, Id id) {
  Editor& edit = pass.edit;
  ASSIGN_OR_RETURN(const auto cut, ir::attr_slice(edit.module(), edit.instr(id)));
  for (const auto& [dim, size] : pass.of(edit.operand(id, 0))) {
    const ir::SliceDim& d = cut.at(static_cast<size_t>(dim));
    const Id end = edit.arithmetic(Op::minimum, size, d.limit);
    const Id length = edit.arithmetic(Op::maximum, edit.arithmetic(Op::subtract, end, d.start), 0);
    pass.set(id, 0, dim, edit.arithmetic(Op::divide, edit.arithmetic(Op::add, length, d.stride - 1), d.stride));
  }
  return {};
}

/// What lies beyond the size is made padding, so the padding behind follows at once.
Status pad(Pass& pass, Id id) {
  Editor& edit = pass.edit;
  ASSIGN_OR_RETURN(const auto padding, ir::attr_padding(edit.module(), edit.instr(id)));
  const Dims dims = pass.of(edit.operand(id, 0));
  mask_operand(pass, id, 0, dims, edit.operand(id, 1));
  for (const auto& [dim, size] : dims) {
    const ir::PadDim& d = padding.at(static_cast<size_t>(dim));
    const Id gaps = edit.arithmetic(Op::maximum, edit.arithmetic(Op::subtract, size, 1), 0);
    const Id spread = edit.arithmetic(Op::add, size, edit.arithmetic(Op::multiply, gaps, d.interior));
    pass.set(id, 0, dim, edit.arithmetic(Op::maximum, edit.arithmetic(Op::add, spread, d.low + d.high), 0));
  }
  return {};
}

/// Each operand is written where the real elements of the one before end: over what lies beyond them.
Status concatenate(Pass& pass, Id id) {
  Editor& edit = pass.edit;
  const std::vector<int64_t> along = ir::attr_dims(edit.module(), edit.instr(id), "dimensions");
  if (along.size() != 1) return Error{"names no dimension"};
  const std::vector<Id> operands = edit.instr(id).operands;
  const int rank = edit.shape(id).rank();
  Dims dims;
  bool is_part = false;
  for (const Id operand : operands) {
    is_part = is_part || pass.of(operand).contains(along[0]);
    Dims others = pass.of(operand);
    others.erase(along[0]);
    dims.merge(others);
  }
  if (is_part) {
    Id made = edit.copy_of(id), end = edit.number(0);
    for (size_t k = 0; k < operands.size(); ++k) {
      std::vector<Id> parts = {made, operands[k]};
      for (const Id start : starts_of(pass, rank, {{along[0], end}})) parts.push_back(start);
      end = edit.arithmetic(Op::add, end, pass.size_of(operands[k], along[0]));
      if (k + 1 < operands.size()) {
        made = edit.add(Op::dynamic_update_slice, edit.shape(id), parts);
      } else {
        edit.become(id, Op::dynamic_update_slice, parts);
      }
    }
    dims.emplace(along[0], end);
  }
  pass.set(id, 0, dims);
  return {};
}

Status reduce(Pass& pass, Id id) {
  Editor& edit = pass.edit;
  const std::vector<int64_t> reduced = ir::attr_dims(edit.module(), edit.instr(id), "dimensions");
  const std::vector<Id> operands = edit.instr(id).operands;
  const size_t inputs = operands.size() / 2;
  std::vector<int64_t> to;
  int64_t next = 0;
  for (int64_t d = 0; d < edit.shape(operands.at(0)).rank(); ++d)
    to.push_back(std::ranges::find(reduced, d) == reduced.end() ? next++ : -1);
  Dims dims;
  for (size_t k = 0; k < inputs; ++k) {
    for (const auto& [dim, size] : pass.of(operands[k])) dims.emplace(dim, size);
  }
  for (size_t k = 0; k < inputs; ++k) {
    mask_operand(pass, id, k, only(dims, reduced), operands[inputs + k]);
    pass.set(id, static_cast<int>(k), moved(dims, to));
  }
  return {};
}

bool is_trivial(const ir::WindowDim& w) {
  return w.size == 1 && w.stride == 1 && w.pad_low == 0 && w.pad_high == 0 && w.base_dilation == 1;
}

/// How many places a window has over so many elements: max(0, padded − window + stride) / stride.
Id places_of(Editor& edit, const ir::WindowDim& w, Id size) {
  const Id dilated = edit.arithmetic(Op::add, edit.arithmetic(Op::multiply, size, w.base_dilation), 1 - w.base_dilation);
  const int64_t window = (w.size - 1) * w.window_dilation + 1;
  const Id room = edit.arithmetic(Op::add, edit.arithmetic(Op::maximum, dilated, 0), w.pad_low + w.pad_high - window + w.stride);
  return edit.arithmetic(Op::divide, edit.arithmetic(Op::maximum, room, 0), w.stride);
}

Status reduce_window(Pass& pass, Id id) {
  Editor& edit = pass.edit;
  ASSIGN_OR_RETURN(const auto window, ir::attr_window(edit.module(), edit.instr(id)));
  const std::vector<Id> operands = edit.instr(id).operands;
  const size_t inputs = operands.size() / 2;
  for (size_t k = 0; k < inputs; ++k) {
    const Dims dims = pass.of(operands[k]);
    Dims seen;
    for (const auto& [dim, size] : dims) {
      const ir::WindowDim& w = window.at(static_cast<size_t>(dim));
      if (!is_trivial(w)) seen.emplace(dim, size);
      pass.set(id, static_cast<int>(k), dim, is_trivial(w) ? size : places_of(edit, w, size));
    }
    mask_operand(pass, id, k, seen, operands[inputs + k]);
  }
  return {};
}

/// Dimensions of a product's result in order, as they come from an operand: −1 for the others.
struct DotMap {
  std::vector<int64_t> lhs, rhs;
};
DotMap dot_map(const ir::DotDims& d, int lhs_rank, int rhs_rank) {
  DotMap map{std::vector<int64_t>(static_cast<size_t>(lhs_rank), -1), std::vector<int64_t>(static_cast<size_t>(rhs_rank), -1)};
  int64_t next = 0;
  for (size_t k = 0; k < d.lhs_batch.size(); ++k) {
    map.lhs[static_cast<size_t>(d.lhs_batch[k])] = map.rhs[static_cast<size_t>(d.rhs_batch[k])] = next++;
  }
  const auto number_rest = [&](std::vector<int64_t>& side, const std::vector<int64_t>& contracted) {
    for (size_t i = 0; i < side.size(); ++i) {
      if (side[i] < 0 && std::ranges::find(contracted, static_cast<int64_t>(i)) == contracted.end()) side[i] = next++;
    }
  };
  number_rest(map.lhs, d.lhs_contracting);
  number_rest(map.rhs, d.rhs_contracting);
  return map;
}

Status dot(Pass& pass, Id id) {
  Editor& edit = pass.edit;
  const ir::DotDims d = ir::attr_dot_dims(edit.module(), edit.instr(id));
  const Id lhs = edit.operand(id, 0), rhs = edit.operand(id, 1);
  const Dims left = pass.of(lhs), right = pass.of(rhs);
  const DotMap map = dot_map(d, edit.shape(lhs).rank(), edit.shape(rhs).rank());
  // What lies beyond may be infinite: both sides are cleared.
  mask_operand(pass, id, 0, only(left, d.lhs_contracting), edit.zero(edit.shape(lhs).type));
  mask_operand(pass, id, 1, only(right, d.rhs_contracting), edit.zero(edit.shape(rhs).type));
  for (size_t k = 0; k < d.lhs_contracting.size(); ++k) {
    const bool one_side = left.contains(d.lhs_contracting[k]) != right.contains(d.rhs_contracting[k]);
    if (one_side) return Error{"contracts a dimension that is filled in part on one side only"};
  }
  Dims dims = moved(left, map.lhs);
  dims.merge(moved(right, map.rhs));
  pass.set(id, 0, dims);
  return {};
}

Status convolution(Pass& pass, Id id) {
  Editor& edit = pass.edit;
  ASSIGN_OR_RETURN(const ir::ConvDims labels, ir::attr_conv_dims(edit.module(), edit.instr(id)));
  ASSIGN_OR_RETURN(const auto window, ir::attr_window(edit.module(), edit.instr(id)));
  const Id in = edit.operand(id, 0), kernel = edit.operand(id, 1);
  const Dims input = pass.of(in), weights = pass.of(kernel);
  Dims dims;
  for (const auto& [dim, size] : input) {
    if (dim == labels.in_batch) dims.emplace(labels.out_batch, size);
    const auto s = std::ranges::find(labels.in_spatial, dim) - labels.in_spatial.begin();
    if (static_cast<size_t>(s) < labels.in_spatial.size())
      dims.emplace(labels.out_spatial[static_cast<size_t>(s)], places_of(edit, window.at(static_cast<size_t>(s)), size));
  }
  for (const auto& [dim, size] : weights) {
    if (dim == labels.kernel_out) dims.emplace(labels.out_feature, size);
    if (std::ranges::find(labels.kernel_spatial, dim) != labels.kernel_spatial.end()) return Error{"with a kernel filled only in part"};
  }
  if (ir::attr_int(edit.module(), edit.instr(id), "batch_group_count").value_or(1) > 1 && input.contains(labels.in_batch))
    return Error{"with groups of a batch that is filled only in part"};
  mask_operand(pass, id, 0, input, edit.zero(edit.shape(in).type));
  mask_operand(pass, id, 1, weights, edit.zero(edit.shape(kernel).type));
  pass.set(id, 0, dims);
  return {};
}

Status dynamic_slice(Pass& pass, Id id) {
  const Id from = pass.edit.operand(id, 0);
  for (const auto& [dim, size] : pass.of(from)) {
    const auto d = static_cast<size_t>(dim);
    if (pass.edit.shape(id).dims[d] == pass.edit.shape(from).dims[d]) pass.set(id, 0, dim, size);
  }
  return {};
}

/// Of an update that is filled in part only the real elements are written.
Status dynamic_update_slice(Pass& pass, Id id) {
  Editor& edit = pass.edit;
  const std::vector<Id> operands = edit.instr(id).operands;
  if (const Dims dims = pass.of(operands[1]); !dims.empty()) {
    const ir::Shape shape = edit.shape(operands[1]);
    std::vector<Id> old = {operands[0]};
    old.insert(old.end(), operands.begin() + 2, operands.end());
    Id before = edit.add(Op::dynamic_slice, shape, old, {{"dynamic_slice_sizes", braced(shape.dims)}}), update = operands[1];
    for (const auto& [dim, size] : dims) update = edit.add(Op::select, shape, {edit.below(shape, dim, size), update, before});
    edit.instr(id).operands[1] = update;
  }
  pass.set(id, 0, pass.of(operands[0]));
  return {};
}

Status gather(Pass& pass, Id id) {
  Editor& edit = pass.edit;
  const ir::GatherDims g = ir::attr_gather(edit.module(), edit.instr(id));
  const Id from = edit.operand(id, 0), indices = edit.operand(id, 1);
  std::vector<int64_t> batch, to(static_cast<size_t>(edit.shape(indices).rank()), -1);
  for (int64_t d = 0; d < edit.shape(id).rank(); ++d) {
    if (std::ranges::find(g.offset_dims, d) == g.offset_dims.end()) batch.push_back(d);
  }
  for (size_t d = 0, next = 0; d < to.size() && next < batch.size(); ++d) {
    if (static_cast<int64_t>(d) != g.index_vector_dim) to[d] = batch[next++];
  }
  pass.set(id, 0, moved(pass.of(indices), to));
  size_t next = 0;
  const Dims dims = pass.of(from);
  for (int64_t d = 0; d < edit.shape(from).rank(); ++d) {
    const auto gone = [&](const std::vector<int64_t>& list) { return std::ranges::find(list, d) != list.end(); };
    if (gone(g.collapsed_slice_dims) || gone(g.operand_batching_dims)) continue;
    const int64_t offset = g.offset_dims.at(next++);
    const bool full = g.slice_sizes.at(static_cast<size_t>(d)) == edit.shape(from).dims[static_cast<size_t>(d)];
    if (full && dims.contains(d)) pass.set(id, 0, offset, dims.at(d));
  }
  return {};
}

/// Updates beyond their number go nowhere: their indices are made −1.
Status scatter(Pass& pass, Id id) {
  Editor& edit = pass.edit;
  const ir::ScatterDims s = ir::attr_scatter(edit.module(), edit.instr(id));
  const size_t arrays = edit.instr(id).operands.size() / 2;
  const std::vector<Id> operands = edit.instr(id).operands;
  const Id indices = operands[arrays];
  Dims dims = pass.of(indices);
  std::vector<int64_t> places;
  for (int64_t d = 0; d < edit.shape(indices).rank(); ++d) {
    if (d != s.index_vector_dim) places.push_back(d);
  }
  for (size_t k = arrays + 1; k < operands.size(); ++k) {
    size_t next = 0;
    const Dims update = pass.of(operands[k]);
    for (int64_t d = 0; d < edit.shape(operands[k]).rank(); ++d) {
      const bool window = std::ranges::find(s.update_window_dims, d) != s.update_window_dims.end();
      if (window && update.contains(d)) return Error{"of windows that are filled only in part is not supported"};
      if (!window && update.contains(d)) dims.emplace(places.at(next), update.at(d));
      next += window ? 0 : 1;
    }
  }
  if (!dims.empty() && ir::info(edit.shape(indices).type).kind != ir::TypeInfo::Kind::signed_)
    return Error{"with unsigned indices that are filled only in part is not supported"};
  if (!dims.empty()) {
    const Id none = edit.shape(indices).type == ir::Type::s32
                        ? edit.number(-1)
                        : edit.add(Op::convert, ir::array_shape(edit.shape(indices).type, {}), {edit.number(-1)});
    mask_operand(pass, id, arrays, dims, none);
  }
  for (size_t k = 0; k < arrays; ++k) pass.set(id, static_cast<int>(k), pass.of(operands[k]));
  return {};
}

struct Row {
  Op op;
  Rule rule;
};
constexpr Row kRows[] = {
    {Op::set_dimension_size, set_size},
    {Op::get_dimension_size, get_size},
    {Op::copy, elementwise},
    {Op::bitcast_convert, elementwise},
    {Op::map, elementwise},
    {Op::add_dependency, elementwise},
    {Op::opt_barrier, tuple},
    {Op::tuple, tuple},
    {Op::get_tuple_element, get_tuple_element},
    {Op::broadcast, broadcast},
    {Op::transpose, transpose},
    {Op::reshape, reshape},
    {Op::dynamic_reshape, dynamic_reshape},
    {Op::reverse, reverse},
    {Op::slice, slice},
    {Op::pad, pad},
    {Op::concatenate, concatenate},
    {Op::dynamic_slice, dynamic_slice},
    {Op::dynamic_update_slice, dynamic_update_slice},
    {Op::gather, gather},
    {Op::scatter, scatter},
    {Op::reduce, reduce},
    {Op::reduce_window, reduce_window},
    {Op::dot, dot},
    {Op::convolution, convolution},
    {Op::sort, sort},
};

}  // namespace

Rule rule_of(const ir::Module& module, const ir::Instr& instr) {
  if (ir::is_elementwise(instr.op)) return elementwise;
  if (instr.op == Op::custom_call) {
    const std::string target = ir::attr_string(module, instr, "custom_call_target");
    return target == "SliceToDynamic" ? slice_to_dynamic : target == "PadToStatic" ? pad_to_static : nullptr;
  }
  const auto row = std::ranges::find(kRows, instr.op, &Row::op);
  return row == std::end(kRows) ? nullptr : row->rule;
}

}  // namespace replay::sizes
