// Hash-consed nodes and the little folding that lowering relies on: predicates that are known decide their selects.
#include "replay/kernel/graph.h"

#include <fmt/format.h>

#include <iterator>

namespace kernel {
namespace {

constexpr std::string_view kRegs[] = {"i1", "i8", "i16", "i32", "i64", "f16", "f32", "f64"};
constexpr int kRegBytes[] = {1, 1, 2, 4, 8, 2, 4, 8};
constexpr std::string_view kCodes[] = {
    "constant", "load",   "index",  "parameter", "result",   "add",   "sub",   "mul",     "sdiv",    "udiv",   "srem", "urem",
    "fdiv",     "frem",   "and",    "or",        "xor",      "shl",   "lshr",  "ashr",    "compare", "select", "sext", "zext",
    "trunc",    "sitofp", "uitofp", "fptosi",    "fptoui",   "toint", "fpext", "fptrunc", "bitcast", "fma",    "sqrt", "floor",
    "ceil",     "rint",   "round",  "fabs",      "copysign", "fneg",  "ctpop", "ctlz",    "pair",    "call"};
constexpr std::string_view kPredicates[] = {"eq",  "ne",  "slt", "sle", "sgt", "sge", "ult", "ule", "ugt",
                                            "uge", "oeq", "une", "olt", "ole", "ogt", "oge", "uno"};
constexpr std::string_view kFunctions[] = {"sin",   "cos",  "tan", "sinh", "cosh",  "asin",  "acos", "atan", "asinh", "acosh",
                                           "atanh", "tanh", "exp", "log",  "log1p", "expm1", "cbrt", "erf",  "pow",   "atan2"};
static_assert(std::size(kCodes) == static_cast<size_t>(Code::call) + 1);
static_assert(std::size(kFunctions) == static_cast<size_t>(Function::atan2) + 1);

uint64_t mix(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x9E3779B97F4A7C15ull + (hash >> 29); }

uint64_t hash_of(const Node& node) {
  uint64_t hash = mix(static_cast<uint64_t>(node.code) << 8 | static_cast<uint64_t>(node.type), static_cast<uint64_t>(node.imm));
  for (const NodeId in : node.in) hash = mix(hash, static_cast<uint64_t>(in));
  hash = mix(hash, static_cast<uint64_t>(node.index.constant));
  for (const auto& [term, c] : node.index.terms) hash = mix(mix(hash, static_cast<uint64_t>(term)), static_cast<uint64_t>(c));
  return hash;
}

}  // namespace

int bytes(Reg reg) { return kRegBytes[static_cast<size_t>(reg)]; }
Reg integer_of(Reg reg) {
  const int size = bytes(reg);
  return size == 1 ? Reg::i8 : size == 2 ? Reg::i16 : size == 4 ? Reg::i32 : Reg::i64;
}
std::string_view text(Reg reg) { return kRegs[static_cast<size_t>(reg)]; }
std::string_view text(Code code) { return kCodes[static_cast<size_t>(code)]; }
std::string_view text(Predicate predicate) { return kPredicates[static_cast<size_t>(predicate)]; }
std::string_view text(Function function) { return kFunctions[static_cast<size_t>(function)]; }

bool is_supported(ir::Type type) { return type < ir::Type::token; }

Reg register_of(ir::Type of) {
  const ir::Type type = part_type(of);
  if (type == ir::Type::pred) return Reg::i1;
  if (type == ir::Type::f64) return Reg::f64;
  if (ir::is_float(type)) return Reg::f32;
  return ir::bytes(type) == 1 ? Reg::i8 : ir::bytes(type) == 2 ? Reg::i16 : ir::bytes(type) == 4 ? Reg::i32 : Reg::i64;
}

Reg storage_of(ir::Type type) {
  if (type == ir::Type::f16) return Reg::f16;
  if (type == ir::Type::bf16) return Reg::i16;
  return type == ir::Type::pred || ir::is_small_float(type) ? Reg::i8 : register_of(type);
}

NodeId Graph::select(NodeId which, NodeId a, NodeId b) {
  if (!is_pair(a)) return op(Code::select, type(a), {which, a, b});
  return pair(select(which, part(a, 0), part(b, 0)), select(which, part(a, 1), part(b, 1)));
}

NodeId Graph::folded(const Node& node) const {
  const auto known = [&](NodeId id, int64_t value) { return is_constant(id) && (*this)[id].imm == value; };
  if (node.code == Code::select) {
    if (node.in[1] == node.in[2] || known(node.in[0], 1)) return node.in[1];
    if (known(node.in[0], 0)) return node.in[2];
  }
  if (node.code == Code::and_ && node.type == Reg::i1) {
    if (known(node.in[0], 1) || node.in[0] == node.in[1]) return node.in[1];
    if (known(node.in[1], 1) || known(node.in[0], 0)) return node.in[0];
    if (known(node.in[1], 0)) return node.in[1];
  }
  if (node.code == Code::or_ && node.type == Reg::i1) {
    if (known(node.in[0], 0) || node.in[0] == node.in[1]) return node.in[1];
    if (known(node.in[1], 0) || known(node.in[0], 1)) return node.in[0];
    if (known(node.in[1], 1)) return node.in[1];
  }
  return -1;
}

NodeId Graph::add(Node node) {
  if (const NodeId same = folded(node); same >= 0) return same;
  auto& slot = index_[hash_of(node)];
  for (const NodeId id : slot)
    if ((*this)[id] == node) return id;
  nodes_.push_back(std::move(node));
  slot.push_back(static_cast<NodeId>(nodes_.size()) - 1);
  return slot.back();
}

std::string print(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  std::string out = fmt::format("n{} = {} {}", id, text(node.type), text(node.code));
  if (node.code == Code::constant) {
    out += is_float(node.type) ? fmt::format(" {}", std::bit_cast<double>(node.imm)) : fmt::format(" {}", node.imm);
  }
  if (node.code == Code::compare) out += fmt::format(" {}", text(static_cast<Predicate>(node.imm)));
  if (node.code == Code::call) out += fmt::format(" {}", text(static_cast<Function>(node.imm)));
  if (node.code == Code::load) out += fmt::format(" p{}[{}]", node.imm, print(graph.terms, node.index));
  if (node.code == Code::index) out += fmt::format(" {}", print(graph.terms, node.index));
  if (node.code == Code::parameter || node.code == Code::result) out += fmt::format(" {}", node.imm);
  for (const NodeId in : node.in) out += fmt::format(" n{}", in);
  return out;
}

}  // namespace kernel
