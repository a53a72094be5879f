// Building instructions. Sizes are mostly constants in tests and scalars of the program elsewhere: arithmetic on
// constants is done at once.
#include "replay/editor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "replay/element.h"
#include "src/ir/attr.h"

namespace replay {

using Id = ir::InstrId;

namespace {

ir::Shape like(const ir::Shape& shape, ir::Type type) {
  ir::Shape out = shape;
  out.type = type;
  out.dynamic.clear();
  out.layout_rest.clear();
  return out;
}

/// HLO's integers: they wrap, and x / 0 = −1.
int64_t computed(ir::Op op, int64_t a, int64_t b) {
  switch (op) {
    case ir::Op::add:
      return a + b;
    case ir::Op::subtract:
      return a - b;
    case ir::Op::multiply:
      return a * b;
    case ir::Op::divide:
      return b == 0 ? -1 : a / b;
    case ir::Op::minimum:
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

}  // namespace

std::string braced(const std::vector<int64_t>& list) { return fmt::format("{{{}}}", fmt::join(list, ",")); }

Id Editor::add(ir::Op op, const ir::Shape& shape, std::vector<Id> operands, const Attrs& attrs) {
  ir::Instr made;
  made.name = module_.strings.intern(fmt::format("{}.part.{}", module_.name_of(instr(at_)), ++count_));
  made.op = op;
  made.shape = module_.intern(shape);
  made.origin = instr(at_).origin;
  made.offset = instr(at_).offset;
  made.operands = std::move(operands);
  for (const auto& [key, text] : attrs) made.attrs.push_back({module_.strings.intern(key), module_.strings.intern(text)});
  auto& instrs = module_.comp(comp_).instrs;
  instrs.push_back(std::move(made));
  return static_cast<Id>(instrs.size()) - 1;
}

void Editor::set_call(Id id, std::string_view key, ir::CompId callee) {
  ir::Attr attr;
  attr.key = module_.strings.intern(key);
  attr.calls = 1;
  instr(id).attrs.push_back(attr);
  instr(id).calls = {callee};
}

Id Editor::copy_of(Id id) {
  ir::Instr made = instr(id);
  made.name = module_.strings.intern(fmt::format("{}.part.{}", module_.name_of(made), ++count_));
  auto& instrs = module_.comp(comp_).instrs;
  instrs.push_back(std::move(made));
  return static_cast<Id>(instrs.size()) - 1;
}

void Editor::become(Id id, ir::Op op, std::vector<Id> operands, const Attrs& attrs) {
  ir::Instr& changed = instr(id);
  changed.op = op;
  changed.operands = std::move(operands);
  changed.calls.clear();
  changed.attrs.clear();
  for (const auto& [key, text] : attrs) changed.attrs.push_back({module_.strings.intern(key), module_.strings.intern(text)});
}

Id Editor::number(int64_t value) {
  const auto [it, is_new] = numbers_.try_emplace(value);
  if (!is_new) return it->second;
  const Id id = add(ir::Op::constant, ir::array_shape(ir::Type::s32, {}), {});
  instr(id).literal = module_.add(ir::scalar_literal(ir::Type::s32, value));
  known_[id] = value;
  return it->second = id;
}

std::optional<int64_t> Editor::known(Id id) {
  if (const auto it = known_.find(id); it != known_.end()) return it->second;
  const ir::Instr& constant = instr(id);
  if (constant.op != ir::Op::constant || !ir::is_integer(shape(id).type) || ir::elements(shape(id)) != 1) return std::nullopt;
  const ir::Literal& literal = module_.literal(constant);
  if (literal.elided || literal.data.empty()) return std::nullopt;
  return ir::as_int(literal, shape(id).type, 0);
}

Id Editor::arithmetic(ir::Op op, Id left, Id right) {
  const auto a = known(left), b = known(right);
  if (a && b) return number(computed(op, *a, *b));
  return add(op, ir::array_shape(ir::Type::s32, {}), {left, right});
}

Id Editor::scalar(Id size) {
  if (const auto value = known(size)) return number(*value);
  const ir::Shape wanted = ir::array_shape(ir::Type::s32, {});
  if (shape(size).type != ir::Type::s32) size = add(ir::Op::convert, ir::array_shape(ir::Type::s32, shape(size).dims), {size});
  return shape(size).dims.empty() ? size : add(ir::Op::reshape, wanted, {size});
}

Id Editor::zero(ir::Type type) {
  const Id id = add(ir::Op::constant, ir::array_shape(type, {}), {});
  ir::Literal literal;
  literal.data.resize(static_cast<size_t>(ir::bytes(type)));
  instr(id).literal = module_.add(std::move(literal));
  return id;
}

Id Editor::iota(const ir::Shape& like_shape, int64_t dim) {
  return add(ir::Op::iota, like(like_shape, ir::Type::s32), {}, {{"iota_dimension", std::to_string(dim)}});
}

Id Editor::spread(Id scalar, const ir::Shape& like_shape) {
  return add(ir::Op::broadcast, like(like_shape, shape(scalar).type), {scalar}, {{"dimensions", "{}"}});
}

Id Editor::below(const ir::Shape& like_shape, int64_t dim, Id size) {
  const ir::Shape shape = like(like_shape, ir::Type::pred);
  const Id place = iota(shape, dim), end = spread(size, shape);
  return add(ir::Op::compare, shape, {place, end}, {{"direction", "LT"}});
}

Id Editor::masked(Id x, const std::map<int64_t, Id>& dims, Id value) {
  for (const auto& [dim, size] : dims) {
    const ir::Shape whole = like(shape(x), shape(x).type);
    const Id inside = below(whole, dim, size), outside = spread(value, whole);
    x = add(ir::Op::select, whole, {inside, x, outside});
  }
  return x;
}

}  // namespace replay
