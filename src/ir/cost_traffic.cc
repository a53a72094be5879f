// The bytes that must move through memory once: the floor that the roofline uses. A value is read once however many users it has;
// slices and gathers touch what they take; an update in place moves the update and not the array.
#include <algorithm>

#include "src/ir/attr.h"
#include "src/ir/cost_model.h"

namespace ir {
namespace {

double whole(const Shape& shape) { return static_cast<double>(bytes(shape)); }

bool is_alias(Op op) {
  return info(op).cls == OpClass::alias || op == Op::constant || info(op).cls == OpClass::order || op == Op::async_update ||
         op == Op::async_done;
}

/// The value behind bitcasts and reshapes, which move nothing inside a fusion.
InstrId behind_bitcasts(const Computation& comp, InstrId id) {
  for (;;) {
    const Instr& instr = comp.instrs[static_cast<size_t>(id)];
    if ((instr.op != Op::bitcast && instr.op != Op::reshape) || instr.operands.size() != 1) return id;
    id = instr.operands[0];
  }
}

/// Which values a fusion stores: the root, or the elements of a tuple.
std::vector<bool> stored_values(const Computation& body) {
  std::vector<bool> stored(body.instrs.size());
  const Instr& root = body.instrs[static_cast<size_t>(body.root)];
  if (root.op != Op::tuple)
    stored[static_cast<size_t>(behind_bitcasts(body, body.root))] = true;
  else
    for (const InstrId id : root.operands) stored[static_cast<size_t>(behind_bitcasts(body, id))] = true;
  return stored;
}

}  // namespace

Moved CostModel::traffic(const Computation& comp, const Instr& instr) {
  if (is_alias(instr.op)) return {};
  const double out = whole(module_.shape(instr));
  const auto in = [&](size_t i) { return i < instr.operands.size() ? whole(module_.shape(operand(comp, instr, i))) : 0; };
  double rest = 0;  // starts of a dynamic slice or update
  for (size_t i = instr.op == Op::dynamic_slice ? 1 : 2; i < instr.operands.size(); ++i) rest += in(i);
  switch (instr.op) {
    case Op::slice:
      return {out, out};
    case Op::dynamic_slice:
      return {out + rest, out};
    case Op::dynamic_update_slice:
      return {in(1) + rest, in(1)};
    case Op::gather:
      return {std::min(out, in(0)) + in(1), out};
    case Op::scatter: {
      const size_t arrays = instr.operands.size() / 2;
      double updates = 0;
      for (size_t i = 0; i < arrays; ++i) updates += in(arrays + 1 + i);
      return {2 * updates + in(arrays), updates};
    }
    default:
      break;
  }
  Moved moved{0, out};
  std::vector<InstrId> distinct = instr.operands;
  std::ranges::sort(distinct);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (const InstrId id : distinct) moved.read += whole(module_.shape(comp.instrs[static_cast<size_t>(id)]));
  if (is_gemm_call(module_, instr) && module_.shape(instr).is_tuple() && !module_.shape(instr).elements.empty()) {
    moved.written = whole(module_.shape(instr).elements[0]);  // not the workspace
  }
  return moved;
}

/// Bytes of each value of a body that its users touch. Users stand after what they use, so one walk from the end does it.
const std::vector<double>& CostModel::touched(const Computation& body) {
  const auto [it, fresh] = touched_.try_emplace(&body);
  std::vector<double>& bytes = it->second;
  if (!fresh) return bytes;
  bytes.resize(body.instrs.size());
  const std::vector<bool> is_stored = stored_values(body);
  for (auto value = static_cast<InstrId>(body.instrs.size()) - 1; value >= 0; --value) {
    const double all = whole(module_.shape(body.instrs[static_cast<size_t>(value)]));
    double sum = value == body.root ? all : 0;
    for (const InstrId user : users(body, value)) {
      if (sum < all) sum += touched_by(body, {value, user, is_stored[static_cast<size_t>(user)] ? Fate::stored : Fate::used});
    }
    bytes[static_cast<size_t>(value)] = std::min(sum, all);
  }
  return bytes;
}

/// Bytes of a value that one user touches.
double CostModel::touched_by(const Computation& body, const Use& use) {
  const Instr& user = body.instrs[static_cast<size_t>(use.user)];
  const double all = whole(module_.shape(body.instrs[static_cast<size_t>(use.value)]));
  if (user.op == Op::bitcast || user.op == Op::reshape || user.op == Op::get_tuple_element)
    return touched_.at(&body)[static_cast<size_t>(use.user)];
  if (user.op == Op::fusion && !user.calls.empty()) {
    const Computation& inner = module_.comp(user.calls[0]);
    const std::vector<double>& in_inner = touched(inner);
    double sum = 0;
    for (size_t k = 0; k < user.operands.size() && k < inner.parameters.size(); ++k) {
      if (user.operands[k] == use.value) sum += in_inner[static_cast<size_t>(inner.parameters[k])];
    }
    return sum;
  }
  const bool only_first = user.operands[0] == use.value && std::ranges::count(user.operands, use.value) == 1;
  if (!only_first) return all;
  if (user.op == Op::slice || user.op == Op::dynamic_slice || user.op == Op::gather) return whole(module_.shape(user));
  if (use.fate == Fate::stored && user.op == Op::dynamic_update_slice) return 0;
  if (use.fate == Fate::stored && user.op == Op::scatter) return stored(body, use.user);
  return all;
}

/// Bytes that storing a value writes: of an update in place, the update.
double CostModel::stored(const Computation& body, InstrId value) {
  const Instr& instr = body.instrs[static_cast<size_t>(behind_bitcasts(body, value))];
  if (instr.op == Op::dynamic_update_slice && instr.operands.size() > 1) return whole(module_.shape(operand(body, instr, 1)));
  if (instr.op == Op::scatter && instr.operands.size() == 3) return whole(module_.shape(operand(body, instr, 2)));
  return whole(module_.shape(body.instrs[static_cast<size_t>(value)]));
}

Moved CostModel::fusion_traffic(const Instr& instr, const Computation& body) {
  Moved moved;
  const Instr& root = body.instrs[static_cast<size_t>(body.root)];
  if (root.op == Op::tuple) {
    for (const InstrId element : root.operands) moved.written += stored(body, element);
  } else {
    moved.written = stored(body, body.root);
  }
  for (size_t i = 0; i < body.parameters.size() && i < instr.operands.size(); ++i) {
    const auto same = std::ranges::find(instr.operands, instr.operands[i]) - instr.operands.begin();
    if (same == static_cast<std::ptrdiff_t>(i))
      moved.read += touched(body)[static_cast<size_t>(body.parameters[i])];  // one operand twice is read once
  }
  for (const Instr& constant : body.instrs) {
    const Shape& shape = module_.shape(constant);
    if (constant.op == Op::constant && shape.is_array() && elements(shape) > 1) moved.read += whole(shape);
  }
  return moved;
}

}  // namespace ir
