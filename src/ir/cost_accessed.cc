// "Bytes accessed" as HloCostAnalysis counts them.
#include <algorithm>

#include "src/ir/attr.h"
#include "src/ir/cost_model.h"

namespace ir {
namespace {

constexpr Op kFree[] = {Op::parameter, Op::constant, Op::get_tuple_element, Op::bitcast, Op::domain, Op::add_dependency, Op::after_all};

/// Only the names of the dimensions change: the result lies as the operand does, dimensions of one element included.
bool moves_nothing(const Module& module, const Shape& from, const Instr& transpose) {
  const auto dims = attr_dims(module, transpose, "dimensions");
  const auto before = minor_to_major(from), after = minor_to_major(module.shape(transpose));
  if (dims.size() != after.size() || before.size() != after.size()) return false;
  for (size_t i = 0; i < after.size(); ++i) {
    const auto d = static_cast<size_t>(after[i]);
    if (d >= dims.size() || dims[d] != before[i]) return false;
  }
  return true;
}

}  // namespace

/// Every operand read, every leaf of the result written.
Moved CostModel::by_default(const Computation& comp, const Instr& instr) {
  Moved moved{0, leaf_bytes(module_.shape(instr))};
  for (size_t i = 0; i < instr.operands.size(); ++i) moved.read += size(module_.shape(operand(comp, instr, i)));
  return moved;
}

Moved CostModel::accessed(const Computation& comp, const Instr& instr) {
  if (std::ranges::find(kFree, instr.op) != std::end(kFree)) return {};
  const double out = leaf_bytes(module_.shape(instr));
  const auto in = [&](size_t i) { return i < instr.operands.size() ? size(module_.shape(operand(comp, instr, i))) : 0; };
  switch (instr.op) {
    case Op::tuple:
      return {0, size(module_.shape(instr))};
    case Op::transpose:
      if (!instr.operands.empty() && moves_nothing(module_, module_.shape(operand(comp, instr, 0)), instr)) return {};
      return by_default(comp, instr);
    case Op::slice:
      return {out, out};
    case Op::dynamic_slice:
      return {out + in(1), out};
    case Op::dynamic_update_slice:
      return {in(1) + in(2), in(1)};
    case Op::gather:
      return {out + in(1), out};
    case Op::scatter: {
      const size_t arrays = instr.operands.size() / 2;
      double updates = 0;
      for (size_t i = 0; i < arrays; ++i) updates += in(arrays + 1 + i);
      return {2 * updates + in(arrays), updates};
    }
    case Op::triangular_solve:
      return {in(0) / 2 + in(1), out};
    case Op::cholesky:
      return {in(0) / 2, out / 2};
    case Op::infeed:
      return {0, out};
    case Op::outfeed:
      return {in(0), 0};
    default:
      return by_default(comp, instr);
  }
}

const std::vector<InstrId>& CostModel::users(const Computation& comp, InstrId value) {
  const auto [it, fresh] = users_.try_emplace(&comp);
  Users& users = it->second;
  if (!fresh) return users[static_cast<size_t>(value)];
  users.resize(comp.instrs.size());
  for (size_t i = 0; i < comp.instrs.size(); ++i) {
    for (const InstrId operand : comp.instrs[i].operands) {
      std::vector<InstrId>& list = users[static_cast<size_t>(operand)];
      if (list.empty() || list.back() != static_cast<InstrId>(i)) list.push_back(static_cast<InstrId>(i));
    }
  }
  return users[static_cast<size_t>(value)];
}

double CostModel::parameter_read(const Computation& body, InstrId parameter) {
  if (const auto known = read_.find({&body, parameter}); known != read_.end()) return known->second;
  return read_[{&body, parameter}] = leaves_read(body, parameter);
}

/// Of a tuple every leaf that an element op takes; a leaf that none takes counts as if the table of pointers were read for it.
double CostModel::leaves_read(const Computation& body, InstrId value) {
  const Shape& shape = module_.shape(body.instrs[static_cast<size_t>(value)]);
  if (!shape.is_tuple()) return value_read(body, value);
  double read = 0;
  for (size_t k = 0; k < shape.elements.size(); ++k) {
    const auto takes = [&](InstrId id) {
      const Instr& user = body.instrs[static_cast<size_t>(id)];
      return user.op == Op::get_tuple_element && attr_int(module_, user, "index") == static_cast<int64_t>(k);
    };
    const auto& all = users(body, value);
    const auto taken = std::ranges::find_if(all, takes);
    read +=
        taken != all.end() ? leaves_read(body, *taken) : value_read(body, value) * static_cast<double>(leaves(shape.elements[k]).size());
  }
  return read;
}

/// What a nested fusion reads: nothing where it is the root or only changed in place, what is taken where its result is only sliced, else
/// what its body reads.
double CostModel::nested_read(const Computation& body, InstrId value, InstrId fusion) {
  double sliced = 0;
  bool only_sliced = true;
  for (const InstrId id : users(body, fusion)) {
    const Instr& user = body.instrs[static_cast<size_t>(id)];
    const bool slices = user.op == Op::slice || user.op == Op::dynamic_slice;
    only_sliced = only_sliced && user.operands[0] == fusion && (slices || user.op == Op::dynamic_update_slice);
    if (slices) sliced += size(module_.shape(user));
  }
  if (only_sliced) return sliced;
  const Instr& nested = body.instrs[static_cast<size_t>(fusion)];
  const Computation& inner = module_.comp(nested.calls[0]);
  double read = 0;
  for (size_t i = 0; i < nested.operands.size() && i < inner.parameters.size(); ++i) {
    if (nested.operands[i] == value) read += parameter_read(inner, inner.parameters[i]);
  }
  return read;
}

/// FusionParameterReadBytes: slices read what they take, broadcasts and reshapes read for themselves, all others share one read.
double CostModel::value_read(const Computation& body, InstrId value) {
  const double whole = size(module_.shape(body.instrs[static_cast<size_t>(value)]));
  double read = 0;
  bool shared = false;
  for (const InstrId id : users(body, value)) {
    const Instr& user = body.instrs[static_cast<size_t>(id)];
    const bool first = user.operands[0] == value;
    if (user.op == Op::fusion && !user.calls.empty()) {
      read += nested_read(body, value, id);
    } else if (first && (user.op == Op::slice || user.op == Op::dynamic_slice)) {
      read += size(module_.shape(user));
    } else if (first && user.op == Op::dynamic_update_slice) {
      continue;
    } else if (user.op == Op::broadcast || user.op == Op::reshape) {
      read += whole;
    } else if (!shared) {
      shared = true;
      read += whole;
    }
  }
  return read;
}

Moved CostModel::fusion_accessed(const Computation& body) {
  Moved moved;
  const auto written = [&](InstrId id) {
    const Instr& value = body.instrs[static_cast<size_t>(id)];
    const bool in_place = value.op == Op::dynamic_update_slice && value.operands.size() > 1;
    return in_place ? size(module_.shape(operand(body, value, 1))) : leaf_bytes(module_.shape(value));
  };
  const Instr& root = body.instrs[static_cast<size_t>(body.root)];
  if (root.op == Op::tuple) {
    for (const InstrId element : root.operands) moved.written += written(element);
  } else {
    moved.written = written(body.root);
  }
  for (const InstrId parameter : body.parameters) moved.read += parameter_read(body, parameter);
  for (const Instr& instr : body.instrs) {
    const Shape& shape = module_.shape(instr);
    if (instr.op == Op::constant && shape.is_array() && elements(shape) > 1) moved.read += size(shape);
  }
  return moved;
}

}  // namespace ir
