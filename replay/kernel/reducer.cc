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
  const int bits = ir::info(type).significant_bits;
  const int64_t largest = sign ? static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1) : -1;
  const int64_t smallest = sign ? -largest - 1 : 0;
  if (reg == Reg::i1) {
    const bool all = op == Op::and_ || op == Op::minimum || op == Op::multiply;
    return g.integer(reg, all ? 1 : 0);
  }
  if (ir::is_complex(type)) {
    if (op != Op::add && op != Op::multiply) return std::nullopt;
    return g.pair(g.real(reg, op == Op::add ? 0 : 1), g.real(reg, 0));
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

std::vector<NodeId> Evaluator::flattened(std::span<const NodeId> nodes) {
  std::vector<NodeId> flat;
  for (const NodeId node : nodes)
    for (size_t k = 0; k < (graph().is_pair(node) ? 2u : 1u); ++k) flat.push_back(graph().part(node, k));
  return flat;
}

std::vector<NodeId> Evaluator::paired(std::span<const NodeId> flat, std::span<const ir::Type> types) {
  std::vector<NodeId> nodes;
  size_t next = 0;
  for (const ir::Type type : types) {
    const NodeId first = flat[next++];
    nodes.push_back(ir::is_complex(type) ? graph().pair(first, flat[next++]) : first);
  }
  return nodes;
}

/// What the sums of a product are made in: its type, but f32 (f64) for floats that become integers or pred only at the end.
ir::Type Evaluator::sum_type(Ref ref) const {
  const ir::Type type = shape(ref).type;
  if (!ir::is_integer(type) && type != ir::Type::pred) return type;
  ir::Type sum = type;
  for (size_t k = 0; k < 2; ++k) {
    const ir::Type of = shape(operand(ref, k)).type;
    if (ir::is_float(of) && sum != ir::Type::f64) sum = of == ir::Type::f64 ? of : ir::Type::f32;
  }
  return sum;
}

std::vector<ir::Type> Evaluator::reduced_types(Ref ref) const {
  const ir::Instr& i = instr(ref);
  if (is_product(i.op)) return {sum_type(ref)};
  std::vector<ir::Type> types;
  for (size_t k = 0; k < i.operands.size() / 2; ++k) types.push_back(shape(operand(ref, k)).type);
  return types;
}

/// What a computation makes of parameters; the new ones begin behind the old ones and `guards`.
base::Result<std::vector<NodeId>> Evaluator::combined_by(ir::CompId comp, std::span<const ir::Type> types, int64_t guards) {
  std::vector<Typed> parameters;
  int64_t number = 0;
  for (const bool fresh : {false, true}) {
    for (const ir::Type type : types) {
      const auto parameter = [&] { return graph().op(Code::parameter, register_of(type), {}, number++); };
      const NodeId first = parameter();
      parameters.push_back({ir::is_complex(type) ? graph().pair(first, parameter()) : first, type});
    }
    if (!fresh) number += guards;
  }
  const replay::Rounding rounding = rounding_;
  rounding_ = replay::Rounding::border;  // accumulators are not rounded
  auto combined = apply(comp, parameters);
  rounding_ = rounding;
  return combined;
}

/// One more component says whether a new value exists; where it does not, the others stay as they are.
base::Result<Reduction> Evaluator::guarded(ir::CompId comp, std::span<const ir::Type> types, Reduction reduction) {
  const auto n = static_cast<int64_t>(reduction.start.size());
  ASSIGN_OR_RETURN(const auto combined, combined_by(comp, types, 1));
  reduction.combined = flattened(combined);
  const NodeId exists = graph().op(Code::parameter, Reg::i1, {}, 2 * n + 1);
  for (int64_t k = 0; k < n; ++k) {
    NodeId& node = reduction.combined[static_cast<size_t>(k)];
    node = graph().select(exists, node, graph().op(Code::parameter, graph().type(node), {}, k));
  }
  reduction.combined.push_back(exists);
  reduction.start.push_back(graph().integer(Reg::i1, 1));
  reduction.guarded = true;
  return reduction;
}

Reduction Evaluator::sum_of(ir::Type type) {
  std::vector<NodeId> parts;
  const size_t components = ir::is_complex(type) ? 2 : 1;
  for (size_t k = 0; k < 2 * components; ++k) parts.push_back(graph().op(Code::parameter, register_of(type), {}, static_cast<int64_t>(k)));
  const ir::Type types[] = {type, type};
  const auto pairs = paired(parts, types);
  const Typed in[] = {{pairs[0], type}, {pairs[1], type}};
  const NodeId sum = *elementwise(graph(), {Op::add, type, {}, 8, 23}, in), zero = *identity(graph(), Op::add, type);
  Reduction reduction;
  reduction.combined = flattened({&sum, 1});
  reduction.start = flattened({&zero, 1});
  return reduction;
}

/// Everything but values and results.
base::Result<Reduction> Evaluator::reducer(Ref ref) {
  const ir::Instr& i = instr(ref);
  const std::vector<ir::Type> types = reduced_types(ref);
  if (is_product(i.op)) return sum_of(types[0]);
  if (i.calls.empty()) return unsupported(ref, "no computation");
  const size_t n = types.size();
  ASSIGN_OR_RETURN(const auto combined, combined_by(i.calls[0], types, 0));
  if (combined.size() != n) return unsupported(ref, "its computation has another number of results");
  bool pairs = false;
  for (size_t k = 0; k < n; ++k) {
    pairs = pairs || ir::is_complex(types[k]);
    if (graph().type(combined[k]) != register_of(types[k]) || graph().is_pair(combined[k]) != ir::is_complex(types[k]))
      return unsupported(ref, "its computation gives another type");
  }
  Reduction reduction;
  reduction.combined = flattened(combined);
  const auto simple = n == 1 ? ir::simple_reducer(module_, i.calls[0]) : std::nullopt;
  std::vector<NodeId> start;
  for (size_t k = 0; k < n; ++k) {
    const auto op = simple || pairs ? simple : op_on_parameters(graph(), combined[k], k, n);
    const auto neutral = op ? identity(graph(), *op, types[k]) : std::nullopt;
    if (neutral) start.push_back(*neutral);
  }
  if (start.size() < n) {
    start.clear();
    reduction.in_order = !only_chooses(graph(), reduction.combined);
    for (size_t k = 0; k < n; ++k) {
      ASSIGN_OR_RETURN(const NodeId given, value(operand(ref, n + k), {}, {}));
      start.push_back(given);
    }
  }
  reduction.start = flattened(start);
  return i.op == Op::reduce_window && reduction.in_order ? guarded(i.calls[0], types, reduction) : reduction;
}

/// The results, combined with the initial values unless accumulators started from these.
base::Result<std::vector<NodeId>> Evaluator::with_start(Ref ref, const Reduction& reduction) {
  const std::vector<ir::Type> types = reduced_types(ref);
  const size_t n = types.size();
  const std::vector<NodeId> results = paired(reduction.results, types), begun = paired(reduction.start, types);
  if (is_product(instr(ref).op)) return std::vector<NodeId>{convert(graph(), {results[0], types[0]}, shape(ref).type)};
  std::vector<Typed> arguments;
  bool started = true;
  for (size_t k = 0; k < n; ++k) {
    ASSIGN_OR_RETURN(const NodeId start, value(operand(ref, n + k), {}, {}));
    started = started && start == begun[k];
    arguments.push_back({start, types[k]});
  }
  if (started) return results;
  for (size_t k = 0; k < n; ++k) arguments.push_back({results[k], types[k]});
  return apply(instr(ref).calls[0], arguments);
}

}  // namespace kernel
