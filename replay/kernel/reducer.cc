// What a reduction does with two values, and what its accumulators start from. There are many accumulators, so they start from the neutral
// value (0 of a sum, -inf of a maximum), and the initial value is combined once at the end. A reducer that only chooses among its operands
// (argmax) may see the initial value many times. Any other runs in order, with one accumulator.
#include <algorithm>
#include <limits>

#include "replay/kernel/evaluate.h"
#include "src/ir/attr.h"

namespace kernel {
namespace {

using ir::Op;

/// The value that changes nothing.
std::optional<NodeId> identity(Graph& g, Op op, ir::Type type) {
  const Reg reg = register_of(type);
  const double inf = std::numeric_limits<double>::infinity();
  const bool sign = ir::info(type).kind == ir::TypeInfo::Kind::signed_;
  const int bits = 8 * bytes(reg);
  const int64_t largest = sign ? static_cast<int64_t>(~uint64_t{0} >> (65 - bits)) : -1;
  const int64_t smallest = sign ? -largest - 1 : 0;
  if (reg == Reg::i1) {
    const bool all = op == Op::and_ || op == Op::minimum || op == Op::multiply;
    return g.integer(reg, all ? 1 : 0);
  }
  switch (op) {
    case Op::add:
    case Op::or_:
    case Op::xor_:
      return is_float(reg) ? g.real(reg, 0) : g.integer(reg, 0);
    case Op::multiply:
      return is_float(reg) ? g.real(reg, 1) : g.integer(reg, 1);
    case Op::and_:
      return g.integer(reg, -1);
    case Op::maximum:
      return is_float(reg) ? g.real(reg, -inf) : g.integer(reg, smallest);
    case Op::minimum:
      return is_float(reg) ? g.real(reg, inf) : g.integer(reg, largest);
    default:
      return std::nullopt;
  }
}

/// The op of a component that combines its two parameters and nothing else.
std::optional<Op> op_on_parameters(const Graph& g, NodeId node, size_t k, size_t n) {
  constexpr std::pair<Code, Op> kOps[] = {
      {Code::add, Op::add}, {Code::mul, Op::multiply}, {Code::and_, Op::and_}, {Code::or_, Op::or_}, {Code::xor_, Op::xor_}};
  const Node& x = g[node];
  if (x.in.size() != 2) return std::nullopt;
  const auto is = [&](NodeId id, size_t parameter) {
    return g[id].code == Code::parameter && g[id].imm == static_cast<int64_t>(parameter);
  };
  if (!(is(x.in[0], k) && is(x.in[1], n + k)) && !(is(x.in[1], k) && is(x.in[0], n + k))) return std::nullopt;
  for (const auto& [code, op] : kOps)
    if (code == x.code) return op;
  return std::nullopt;
}

/// Results are always among the operands.
bool only_chooses(const Graph& g, const std::vector<NodeId>& results) {
  std::vector<NodeId> todo(results.begin(), results.end());
  while (!todo.empty()) {
    const Node& node = g[todo.back()];
    todo.pop_back();
    const bool logic = node.type == Reg::i1 && (node.code == Code::and_ || node.code == Code::or_ || node.code == Code::xor_);
    if (node.code != Code::parameter && node.code != Code::select && node.code != Code::compare && !logic &&
        !(node.code == Code::constant && node.type == Reg::i1))
      return false;
    todo.insert(todo.end(), node.in.begin(), node.in.end());
  }
  return true;
}

}  // namespace

/// Everything but values and results.
base::Result<Reduction> Evaluator::reducer(Ref ref) {
  const ir::Instr& i = instr(ref);
  Reduction reduction;
  std::vector<ir::Type> types;
  const size_t n = i.op == Op::dot ? 1 : i.operands.size() / 2;
  for (size_t k = 0; k < n; ++k) types.push_back(i.op == Op::dot ? shape(ref).type : shape(operand(ref, k)).type);
  std::vector<Typed> parameters;
  for (size_t k = 0; k < 2 * n; ++k) {
    if (!is_supported(types[k % n])) return unsupported(ref, "its element type");
    parameters.push_back({graph().op(Code::parameter, register_of(types[k % n]), {}, static_cast<int64_t>(k)), types[k % n]});
  }
  if (i.op == Op::dot) {
    ASSIGN_OR_RETURN(const NodeId sum, elementwise(graph(), {Op::add, types[0], {}, 8, 23}, parameters));
    reduction.combined = {sum};
    reduction.start = {*identity(graph(), Op::add, types[0])};
    return reduction;
  }
  if (i.calls.empty()) return unsupported(ref, "no computation");
  const replay::Rounding rounding = rounding_;
  rounding_ = replay::Rounding::border;  // accumulators are not rounded
  auto combined = apply(i.calls[0], parameters);
  rounding_ = rounding;
  if (!combined.ok()) return combined.error();
  reduction.combined = *combined;
  if (reduction.combined.size() != n) return unsupported(ref, "its computation has another number of results");
  for (size_t k = 0; k < n; ++k)
    if (graph().type(reduction.combined[k]) != register_of(types[k])) return unsupported(ref, "its computation gives another type");
  const auto simple = n == 1 ? ir::simple_reducer(module_, i.calls[0]) : std::nullopt;
  for (size_t k = 0; k < n; ++k) {
    const auto op = simple ? simple : op_on_parameters(graph(), reduction.combined[k], k, n);
    const auto neutral = op ? identity(graph(), *op, types[k]) : std::nullopt;
    if (neutral) reduction.start.push_back(*neutral);
  }
  if (reduction.start.size() == n) return reduction;
  reduction.start.clear();
  reduction.in_order = !only_chooses(graph(), reduction.combined);
  for (size_t k = 0; k < n; ++k) {
    ASSIGN_OR_RETURN(const NodeId start, value(operand(ref, n + k), {}, {}));
    reduction.start.push_back(start);
  }
  return reduction;
}

/// The results, combined with the initial values unless accumulators started from these.
base::Result<std::vector<NodeId>> Evaluator::with_start(Ref ref, const Reduction& reduction) {
  const size_t n = reduction.results.size();
  if (instr(ref).op == Op::dot) return reduction.results;
  std::vector<Typed> arguments;
  bool started = true;
  for (size_t k = 0; k < n; ++k) {
    ASSIGN_OR_RETURN(const NodeId start, value(operand(ref, n + k), {}, {}));
    started = started && start == reduction.start[k];
    arguments.push_back({start, shape(operand(ref, k)).type});
  }
  if (started) return reduction.results;
  for (size_t k = 0; k < n; ++k) arguments.push_back({reduction.results[k], arguments[k].type});
  return apply(instr(ref).calls[0], arguments);
}

}  // namespace kernel
