// Values of a kernel as a graph of primitive operations: each node once, operands before users. Target-neutral: a scalar node becomes a
// vector when a schedule says so.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "replay/kernel/index.h"
#include "src/ir/shape.h"

namespace kernel {

/// Types of values in registers. i1: predicates; f16 only between memory and f32. bf16 travels as i16.
enum class Reg : uint8_t { i1, i8, i16, i32, i64, f16, f32, f64 };
inline bool is_float(Reg reg) { return reg >= Reg::f16; }
int bytes(Reg reg);
/// Bits of a value: of i1 one, which takes a byte.
inline int width(Reg reg) { return reg == Reg::i1 ? 1 : 8 * bytes(reg); }
/// The integer register of the same size.
Reg integer_of(Reg reg);
std::string_view text(Reg reg);
/// Of a value inside a kernel: pred i1, integers by width (of less than 8 bits: i8), floats smaller than f32 f32, complex: of a part.
Reg register_of(ir::Type type);
/// Of an element in memory: pred and all of 8 bits and less i8, bf16 i16, complex: of a part.
Reg storage_of(ir::Type type);
/// Every type of elements; complex ones are two values of their parts' type.
bool is_supported(ir::Type type);

enum class Code : uint8_t {
  constant,   ///< imm: the integer, or the bits of the f64 that equals the value
  load,       ///< imm: buffer; index: element
  index,      ///< the value of an Index (i64, or i32 where it fits)
  parameter,  ///< imm: of a reducer: 0 … n-1 what is accumulated, n … 2n-1 the new values
  result,     ///< imm: of a reduction that has ended
  add,
  sub,
  mul,
  sdiv,
  udiv,
  srem,
  urem,
  fdiv,
  frem,
  and_,
  or_,
  xor_,
  shl,
  lshr,
  ashr,
  compare,  ///< imm: Predicate
  select,
  sext,
  zext,
  trunc,
  sitofp,
  uitofp,
  fptosi,  ///< saturates; NaN gives 0
  fptoui,
  toint,  ///< of a value that fits
  fpext,
  fptrunc,
  bitcast,
  fma,
  sqrt,
  floor,
  ceil,
  rint,
  round,
  fabs,
  copysign,
  fneg,
  ctpop,
  ctlz,
  pair,  ///< a complex value: real, imaginary; never emitted, because its users take the parts
  call,  ///< imm: Function
};
std::string_view text(Code code);

enum class Predicate : uint8_t { eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge, oeq, une, olt, ole, ogt, oge, uno };
std::string_view text(Predicate predicate);

/// Functions of libm that are called (and of libmvec, by lanes).
enum class Function : uint8_t {
  sin,
  cos,
  tan,
  sinh,
  cosh,
  asin,
  acos,
  atan,
  asinh,
  acosh,
  atanh,
  tanh,
  exp,
  log,
  log1p,
  expm1,
  cbrt,
  erf,
  pow,
  atan2
};
std::string_view text(Function function);

struct Node {
  Code code = Code::constant;
  Reg type = Reg::f32;
  std::vector<NodeId> in;
  int64_t imm = 0;
  Index index;
  bool operator==(const Node&) const = default;
};

class Graph {
 public:
  Terms terms;

  const Node& operator[](NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  size_t size() const { return nodes_.size(); }
  NodeId add(Node node);
  NodeId op(Code code, Reg type, std::vector<NodeId> in, int64_t imm = 0) { return add({code, type, std::move(in), imm, {}}); }
  /// Of the operand's type.
  NodeId unary(Code code, NodeId a) { return op(code, type(a), {a}); }
  NodeId binary(Code code, NodeId a, NodeId b) { return op(code, type(a), {a, b}); }
  NodeId fma(NodeId a, NodeId b, NodeId c) { return op(Code::fma, type(a), {a, b, c}); }
  NodeId compare(Predicate predicate, NodeId a, NodeId b) { return op(Code::compare, Reg::i1, {a, b}, static_cast<int64_t>(predicate)); }
  /// Of pairs: part by part.
  NodeId select(NodeId which, NodeId a, NodeId b);
  NodeId pair(NodeId re, NodeId im) { return op(Code::pair, type(re), {re, im}); }
  bool is_pair(NodeId id) const { return (*this)[id].code == Code::pair; }
  NodeId part(NodeId id, size_t k) const { return is_pair(id) ? (*this)[id].in[k] : id; }
  NodeId cast(Code code, Reg to, NodeId a) { return type(a) == to ? a : op(code, to, {a}); }
  NodeId call(Function function, std::vector<NodeId> in) { return op(Code::call, type(in[0]), in, static_cast<int64_t>(function)); }
  NodeId integer(Reg type, int64_t value) { return op(Code::constant, type, {}, value); }
  NodeId real(Reg type, double value) { return op(Code::constant, type, {}, std::bit_cast<int64_t>(value)); }
  NodeId load(Reg type, int buffer, const Index& at) { return add({Code::load, type, {}, buffer, terms.normal(at)}); }
  NodeId index(Reg type, const Index& value) { return add({Code::index, type, {}, 0, terms.normal(value)}); }
  Reg type(NodeId id) const { return (*this)[id].type; }
  bool is_constant(NodeId id) const { return (*this)[id].code == Code::constant; }

 private:
  NodeId folded(const Node& node) const;
  std::vector<Node> nodes_;
  std::unordered_map<uint64_t, std::vector<NodeId>> index_;
};

std::string print(const Graph& graph, NodeId id);  ///< "n7 = f32 add n3 n5"

}  // namespace kernel
