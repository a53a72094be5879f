// Operations on elements by their number of operands, from the table of opcodes; those that move or combine elements by a text of their
// own.
#include "tests/cuda_text/pairs.h"

#include <fmt/format.h>

#include <algorithm>

#include "importers/hlo/hlo.h"
#include "src/ir/op.h"
#include "src/ir/shape.h"
#include "src/ir/verify.h"

namespace cuda_text {
namespace {

using ir::Op;

/// Roots of module_of(); {t} is the type of its arrays. One row is scattered: of several that meet in a small float the reference rounds
/// the sum, a kernel each step.
struct Form {
  const char* text;
};
constexpr Form kForms[] = {
    {"{t}[3,40] iota(), iota_dimension=1"},
    {"{t}[2,3,40] broadcast(x), dimensions={{1,2}}"},
    {"{t}[40,3] transpose(x), dimensions={{1,0}}"},
    {"{t}[120] reshape(x)"},
    {"{t}[3,40] reverse(x), dimensions={{1}}"},
    {"{t}[2,13] slice(x), slice={{[1:3], [1:40:3]}}"},
    {"{t}[4,43] pad(x, s), padding=1_0x1_2"},
    {"{t}[6,40] concatenate(x, y), dimensions={{0}}"},
    {"{t}[3,40] copy(x)"},
    {"{t}[3,8] dynamic-slice(x, i, i), dynamic_slice_sizes={{3,8}}"},
    {"{t}[3,40] dynamic-update-slice(x, z, i, i)"},
    {"{t}[1,40] gather(x, k), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, "
     "slice_sizes={{1,40}}"},
    {"{t}[3,40] scatter(x, k, u), update_window_dims={{1}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, "
     "index_vector_dim=1, to_apply=add"},
    {"{t}[3] reduce(x, s), dimensions={{1}}, to_apply=add"},
    {"{t}[40] reduce(x, s), dimensions={{0}}, to_apply=add"},
    {"{t}[3,20] reduce-window(x, s), window={{size=1x2 stride=1x2}}, to_apply=add"},
    {"{t}[3,40] select-and-scatter(x, w, s), window={{size=1x2 stride=1x2}}, select=less, scatter=add"},
    {"{t}[3,40] sort(x), dimensions={{1}}, to_apply=less"},
    {"{t}[3,3] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}"},
    {"pred[3,40] compare(x, y), direction=LT"},
    {"{t}[3,40] select(p, x, y)"},
    {"{t}[3,40] clamp(s, x, s)"},
    {"{t}[3,40] reduce-precision(x), exponent_bits=4, mantissa_bits=3"},
};

std::string module_of(std::string_view type, const std::string& root) {
  return fmt::format(
      "HloModule m\nadd {{ a = {0}[] parameter(0) b = {0}[] parameter(1) ROOT r = {0}[] {2}(a, b) }}\n"
      "less {{ a = {0}[] parameter(0) b = {0}[] parameter(1) ROOT r = pred[] compare(a, b), direction=LT }}\n"
      "ENTRY e {{\n  x = {0}[3,40] parameter(0)\n  y = {0}[3,40] parameter(1)\n  s = {0}[] parameter(2)\n  i = s32[] parameter(3)\n"
      "  p = pred[3,40] parameter(4)\n  k = s32[1,1] parameter(5)\n  u = {0}[1,40] parameter(6)\n  w = {0}[3,20] parameter(7)\n"
      "  z = {0}[3,8] parameter(8)\n  ROOT r = {1}\n}}\n",
      type, root, type == "pred" ? "or" : "add");
}

bool is_valid(const std::string& text) {
  const auto module = importers::hlo::parse(text, "test");
  if (!module.ok()) return false;
  const ir::Verdict verdict = ir::judge(*module);
  return verdict.broken.empty() && verdict.mixed_precision.empty();
}

/// Types of operands, in the order of ir::Type.
std::vector<ir::Type> types() {
  std::vector<ir::Type> all;
  for (int k = 0; k < static_cast<int>(ir::Type::token); ++k) all.push_back(static_cast<ir::Type>(k));
  return all;
}

/// Of an operation on elements: the result's type that is valid for this type of operands, if there is one.
std::string elementwise(Op op, ir::Type type) {
  constexpr std::string_view kOperands[] = {"x", "x, y"};
  const int count = ir::info(op).operands;
  if (count != 1 && count != 2) return "";
  if (op == Op::imag && type == ir::Type::f8e8m0fnu) return "";  // 0, which the type does not have
  std::vector<ir::Type> results{type};
  for (const ir::Type other : {ir::Type::pred, ir::Type::f32, ir::Type::f64, ir::Type::c64, ir::Type::c128}) results.push_back(other);
  for (const ir::Type result : results) {
    const std::string root = fmt::format("{}[3,40] {}({})", ir::text(result), ir::text(op), kOperands[count - 1]);
    std::string text = module_of(ir::text(type), root);
    if (is_valid(text)) return text;
  }
  return "";
}

}  // namespace

std::vector<std::string> opcode_and_type_modules() {
  constexpr Op kOwnForm[] = {Op::convert, Op::compare, Op::reduce_precision, Op::stochastic_convert};
  std::vector<Op> ops;
#define OP(identifier, text, operands, cls) ops.push_back(Op::identifier);
#include "src/ir/op.def"
#undef OP
  std::erase_if(ops, [&](Op op) { return !ir::is_elementwise(op) || std::ranges::count(kOwnForm, op) > 0; });
  std::vector<std::string> all;
  for (const ir::Type type : types()) {
    const std::string_view name = ir::text(type);
    for (const Op op : ops) all.push_back(elementwise(op, type));
    for (const Form& form : kForms) all.push_back(module_of(name, fmt::format(fmt::runtime(form.text), fmt::arg("t", name))));
    for (const ir::Type to : types()) all.push_back(module_of(name, fmt::format("{}[3,40] convert(x)", ir::text(to))));
  }
  std::erase_if(all, [](const std::string& text) { return !is_valid(text); });
  return all;
}

}  // namespace cuda_text
