// Shape inference: elementwise rules, and the choice of the rule by opcode. Each family of opcodes has a file and a table.
#include "src/ir/infer.h"

#include <algorithm>

#include "src/ir/infer_rules.h"

namespace ir {
namespace rules {
namespace {

constexpr int64_t kClamp = int64_t{1} << 62;

bool same_sizes(const Shape& a, const Shape& b) {
  return a.dims.size() == b.dims.size() &&
         std::ranges::equal(a.dims, b.dims, [](int64_t x, int64_t y) { return x == y || x < 0 || y < 0; });
}

Inferred differ(const In& in, size_t a, size_t b) {
  return broken("{} takes operands of one shape, got {} and {}", text(in.instr.op), show(in.operand(a)), show(in.operand(b)));
}

Inferred same_as_first(const In& in) { return in.count() == 0 ? as_written() : follows(in.operand(0)); }

/// Operands of one shape; floats of different precision give the wider type.
Inferred elementwise(const In& in) {
  if (in.count() == 0) return broken("{} takes operands", text(in.instr.op));
  Shape result = in.operand(0);
  for (size_t i = 1; i < in.count(); ++i) {
    if (!fits_but_for_precision(result, in.operand(i))) return differ(in, 0, i);
    if (info(in.operand(i).type).bits > info(result.type).bits) result.type = in.operand(i).type;
  }
  return follows(std::move(result));
}

Inferred to_pred(const In& in) { return follows(with_type(in.operand(0), Type::pred)); }

Inferred compare(const In& in) {
  if (const auto direction = attr_compare(in.module, in.instr); !direction.ok()) return broken("{}", direction.error().message);
  Inferred operands = elementwise(in);
  if (operands.how == Inferred::follows) operands.shape.type = Type::pred;
  return operands;
}

Inferred to_part(const In& in) { return follows(with_type(in.operand(0), part_type(in.operand(0).type))); }

Inferred complex(const In& in) {
  Inferred result = elementwise(in);
  if (result.how == Inferred::follows) result.shape.type = result.shape.type == Type::f64 ? Type::c128 : Type::c64;
  return result;
}

Inferred select(const In& in) {
  const Shape &which = in.operand(0), &a = in.operand(1);
  if (!fits_but_for_precision(a, in.operand(2))) return differ(in, 1, 2);
  if (which.type != Type::pred) return broken("select chooses by pred, got {}", show(which));
  if (!which.dims.empty() && !same_sizes(which, a))
    return broken("select chooses by pred of the operands' shape or pred[], got {} for {}", show(which), show(a));
  return follows(a);
}

Inferred clamp(const In& in) {
  for (const size_t i : {size_t{0}, size_t{2}}) {
    if (!in.operand(i).dims.empty() && !same_sizes(in.operand(i), in.operand(1))) return differ(in, i, 1);
  }
  return follows(in.operand(1));
}

/// The type is free, the sizes are the operand's.
Inferred converted(const In& in) {
  if (in.declared() == nullptr) return as_written();
  if (!same_sizes(*in.declared(), in.operand(0)))
    return broken("{} keeps dimensions: {} does not become {}", text(in.instr.op), show(in.operand(0)), show(*in.declared()));
  return follows(*in.declared());
}

Inferred map(const In& in) {
  const Shape* result = in.result_of("to_apply");
  if (result == nullptr || in.count() == 0) return as_written();
  for (size_t i = 1; i < in.count(); ++i) {
    if (!same_sizes(in.operand(0), in.operand(i))) return differ(in, 0, i);
  }
  return follows(with_type(in.operand(0), result->type));
}

struct Row {
  Op op;
  Rule rule;
};
constexpr Row kRows[] = {
    {Op::is_finite, to_pred}, {Op::compare, compare},
    {Op::abs, to_part},       {Op::real, to_part},
    {Op::imag, to_part},      {Op::complex, complex},
    {Op::select, select},     {Op::clamp, clamp},
    {Op::convert, converted}, {Op::stochastic_convert, converted},
    {Op::map, map},           {Op::reduce_precision, same_as_first},
};

}  // namespace

int64_t add(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return a < 0 ? -kClamp : kClamp;
  return std::clamp(sum, -kClamp, kClamp);
}

int64_t multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return (a < 0) == (b < 0) ? kClamp : -kClamp;
  return std::clamp(product, -kClamp, kClamp);
}

int64_t windowed(int64_t size, const WindowDim& window) {
  const auto dilated = [](int64_t n, int64_t factor) { return n <= 0 ? 0 : add(multiply(n - 1, factor), 1); };
  const int64_t padded = add(add(window.pad_low, window.pad_high), dilated(size, window.base_dilation));
  const int64_t extent = dilated(window.size, window.window_dilation);
  if (padded < 0 || padded < extent) return 0;
  return (padded - extent) / window.stride + 1;
}

bool are_dims(std::span<const int64_t> dims, int64_t rank) {
  std::vector<bool> seen(static_cast<size_t>(rank));
  for (const int64_t dim : dims) {
    if (dim < 0 || dim >= rank || seen[static_cast<size_t>(dim)]) return false;
    seen[static_cast<size_t>(dim)] = true;
  }
  return true;
}

Shape with_type(Shape shape, Type type) {
  shape.type = type;
  return shape;
}

const Shape* In::result_of(std::string_view key) const {
  const std::vector<CompId> callees = attr_calls(module, instr, key);
  if (callees.empty()) return nullptr;
  const Computation& callee = module.comp(callees[0]);
  return &module.shape(callee.instrs[static_cast<size_t>(callee.root)]);
}

}  // namespace rules

namespace {

rules::Rule rule_of(Op op) {
  for (const auto& [row_op, rule] : rules::kRows) {
    if (row_op == op) return rule;
  }
  for (const auto family : {rules::movement_rule, rules::indexed_rule, rules::contraction_rule, rules::control_rule, rules::collective_rule,
                            rules::special_rule}) {
    if (const rules::Rule rule = family(op)) return rule;
  }
  return is_elementwise(op) ? rules::elementwise : nullptr;
}

/// Attributes without which an opcode means nothing.
struct Needs {
  Op op;
  std::string_view keys[2];
};
constexpr Needs kNeeds[] = {
    {Op::transpose, {"dimensions", ""}},
    {Op::reverse, {"dimensions", ""}},
    {Op::concatenate, {"dimensions", ""}},
    {Op::reduce, {"dimensions", "to_apply"}},
    {Op::reduce_window, {"to_apply", ""}},
    {Op::map, {"to_apply", ""}},
    {Op::call, {"to_apply", ""}},
    {Op::fusion, {"calls", ""}},
    {Op::while_, {"condition", "body"}},
    {Op::select_and_scatter, {"select", "scatter"}},
    {Op::slice, {"slice", ""}},
    {Op::dynamic_slice, {"dynamic_slice_sizes", ""}},
    {Op::compare, {"direction", ""}},
    {Op::get_tuple_element, {"index", ""}},
    {Op::fft, {"fft_type", "fft_length"}},
    {Op::custom_call, {"custom_call_target", ""}},
};

/// The first needed attribute that an instruction lacks, or "".
std::string_view missing_attribute(const Module& module, const Instr& instr) {
  const auto row = std::ranges::find(kNeeds, instr.op, &Needs::op);
  if (row == std::end(kNeeds)) return "";
  for (const std::string_view key : row->keys) {
    if (!key.empty() && !attr_text(module, instr, key)) return key;
  }
  return "";
}

bool fits_anything(const Shape& shape) { return shape.type == Type::opaque || shape.type == Type::buffer; }

template <typename SameType>
bool fit(const Shape& a, const Shape& b, SameType same_type) {
  if (&a == &b || fits_anything(a) || fits_anything(b)) return true;  // interned shapes are often the same object
  if (a.is_tuple() || b.is_tuple()) {
    return a.type == b.type &&
           std::ranges::equal(a.elements, b.elements, [&](const Shape& x, const Shape& y) { return fit(x, y, same_type); });
  }
  return same_type(a.type, b.type) && rules::same_sizes(a, b);
}

/// Is the number of its bytes beyond 2^62, where sums of them overflow?
bool too_large(const Shape& shape) {
  int64_t bytes = std::max<int64_t>(1, ir::bytes(shape.type));
  for (const int64_t dim : shape.dims) bytes = rules::multiply(bytes, std::max<int64_t>(dim, 1));
  return bytes >= int64_t{1} << 62 || std::ranges::any_of(shape.elements, too_large);
}

/// Tuples are chosen and copied, too; sharded programs annotate what they like.
bool takes_arrays(Op op) {
  const OpClass cls = info(op).cls;
  if (op == Op::select || op == Op::copy || op == Op::copy_start) return false;
  return is_elementwise(op) || cls == OpClass::move || cls == OpClass::contract || cls == OpClass::reduce;
}

}  // namespace

bool fits(const Shape& a, const Shape& b) {
  return fit(a, b, [](Type x, Type y) { return x == y; });
}

bool fits_but_for_precision(const Shape& a, const Shape& b) {
  return fit(a, b, [](Type x, Type y) { return x == y || (is_float(x) && is_float(y)); });
}

Inferred infer_shape(const Module& module, const Computation& comp, const Instr& instr) {
  if (const std::string_view key = missing_attribute(module, instr); !key.empty())
    return rules::broken("{} needs {}=…", text(instr.op), key);
  const int operands = info(instr.op).operands;
  const auto count = static_cast<int>(instr.operands.size());
  if (operands >= 0 && count != operands) {
    return rules::broken("{} takes {} operand{}, got {}", text(instr.op), operands, operands == 1 ? "" : "s", count);
  }
  const rules::In in{module, comp, instr};
  for (size_t i = 0; takes_arrays(instr.op) && i < in.count(); ++i) {
    if (!in.operand(i).is_array()) return rules::broken("{} takes arrays, got {}", text(instr.op), rules::show(in.operand(i)));
  }
  const rules::Rule rule = rule_of(instr.op);
  if (rule != nullptr) {
    Inferred made = rule(in);
    if (made.how == Inferred::follows && too_large(made.shape))
      return rules::broken("{} gives more bytes than any machine has", text(instr.op));
    return made;
  }
  return in.declared() != nullptr ? rules::follows(*in.declared()) : rules::as_written();
}

}  // namespace ir
