// "Bytes accessed" as HloCostAnalysis counts them.
#include <algorithm>

#include "src/ir/cost_model.h"

namespace ir {
namespace {

constexpr Op kFree[] = {Op::parameter, Op::constant, Op::get_tuple_element, Op::bitcast, Op::domain, Op::add_dependency, Op::after_all};

double leaf_bytes(const Shape& shape) { return static_cast<double>(bytes(shape)); }

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
  return read_[{&body, parameter}] = count_parameter_read(body, parameter);
}

/// FusionParameterReadBytes: slices read what they take, broadcasts and reshapes read for themselves, all others share one read.
double CostModel::count_parameter_read(const Computation& body, InstrId parameter) {
  const double whole = size(module_.shape(body.instrs[static_cast<size_t>(parameter)]));
  double read = 0;
  bool shared = false;
  for (const InstrId id : users(body, parameter)) {
    const Instr& user = body.instrs[static_cast<size_t>(id)];
    const bool first = user.operands[0] == parameter;
    if (user.op == Op::fusion && !user.calls.empty()) {
      const Computation& inner = module_.comp(user.calls[0]);
      for (size_t i = 0; i < user.operands.size() && i < inner.parameters.size(); ++i) {
        if (user.operands[i] == parameter) read += parameter_read(inner, inner.parameters[i]);
      }
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
