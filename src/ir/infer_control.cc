// Shapes of calls, loops, tuples, collectives and asynchronous pairs.
#include <algorithm>

#include "src/ir/infer_rules.h"

namespace ir::rules {
namespace {

const Shape& root_shape(const In& in, CompId id) {
  const Computation& comp = in.module.comp(id);
  return in.module.shape(comp.instrs[static_cast<size_t>(comp.root)]);
}

const Shape& parameter_shape(const In& in, CompId id, size_t number) {
  const Computation& comp = in.module.comp(id);
  return in.module.shape(comp.instrs[static_cast<size_t>(comp.parameters[number])]);
}

/// Why the operands from `first` do not fit the callee's parameters; "" if they do.
std::string mismatch(const In& in, CompId callee, size_t first, size_t count) {
  const size_t parameters = in.module.comp(callee).parameters.size();
  const std::string_view name = in.module.text(in.module.comp(callee).name);
  if (parameters != count) return fmt::format("'{}' has {} parameters, got {} operands", name, parameters, count);
  for (size_t i = 0; i < count; ++i) {
    const Shape &given = in.operand(first + i), &wanted = parameter_shape(in, callee, i);
    if (!fits(given, wanted))
      return fmt::format("parameter {} of '{}' is {}, operand {} is {}", i, name, show(wanted), first + i, show(given));
  }
  return "";
}

Inferred call(const In& in) {
  if (in.instr.calls.empty()) return as_written();
  if (const std::string what = mismatch(in, in.instr.calls[0], 0, in.count()); !what.empty()) return broken("{}", what);
  return follows(root_shape(in, in.instr.calls[0]));
}

Inferred while_loop(const In& in) {
  const std::vector<CompId> condition = attr_calls(in.module, in.instr, "condition"), body = attr_calls(in.module, in.instr, "body");
  if (condition.size() != 1 || body.size() != 1) return broken("while needs a condition and a body");
  for (const CompId callee : {condition[0], body[0]}) {
    if (const std::string what = mismatch(in, callee, 0, 1); !what.empty()) return broken("{}", what);
  }
  const Shape &decision = root_shape(in, condition[0]), &next = root_shape(in, body[0]);
  if (decision.type != Type::pred || !decision.dims.empty()) return broken("while: the condition gives {}, not pred[]", show(decision));
  if (!fits(next, in.operand(0))) return broken("while: the body gives {}, the state is {}", show(next), show(in.operand(0)));
  return follows(in.operand(0));
}

Inferred conditional(const In& in) {
  const std::vector<CompId>& branches = in.instr.calls;
  if (branches.empty() || in.count() != branches.size() + 1)
    return broken("conditional takes a selector and one operand a branch: {} branches, {} operands", branches.size(), in.count());
  const Shape& selector = in.operand(0);
  if (!selector.dims.empty() || (selector.type != Type::pred && selector.type != Type::s32))
    return broken("conditional chooses by pred[] or s32[], got {}", show(selector));
  if (selector.type == Type::pred && branches.size() != 2) return broken("conditional by pred[] has 2 branches, got {}", branches.size());
  for (size_t i = 0; i < branches.size(); ++i) {
    if (const std::string what = mismatch(in, branches[i], i + 1, 1); !what.empty()) return broken("{}", what);
    if (!fits(root_shape(in, branches[i]), root_shape(in, branches[0])))
      return broken("conditional: branches give {} and {}", show(root_shape(in, branches[0])), show(root_shape(in, branches[i])));
  }
  return follows(root_shape(in, branches[0]));
}

Inferred tuple(const In& in) {
  std::vector<Shape> shapes;
  shapes.reserve(in.count());
  for (size_t i = 0; i < in.count(); ++i) shapes.push_back(in.operand(i));
  return follows(tuple_shape(std::move(shapes)));
}

Inferred get_tuple_element(const In& in) {
  const Shape& from = in.operand(0);
  const auto index = attr_int(in.module, in.instr, "index");
  if (!from.is_tuple()) return broken("get-tuple-element takes a tuple, got {}", show(from));
  if (!index || *index < 0 || *index >= static_cast<int64_t>(from.elements.size()))
    return broken("index={} is not in a tuple of {}", index.value_or(-1), from.elements.size());
  return follows(from.elements[static_cast<size_t>(*index)]);
}

/// As the operands: an array or a tuple of them.
Inferred as_operands(const In& in) { return in.count() == 1 ? follows(in.operand(0)) : tuple(in); }

/// The result; texts made by hand give (operand, result).
Inferred all_reduce_start(const In& in) {
  const Shape* declared = in.declared();
  const bool pair =
      declared != nullptr && in.count() == 1 && declared->is_tuple() && declared->elements.size() == 2 && !in.operand(0).is_tuple();
  return pair ? follows(tuple_shape({in.operand(0), in.operand(0)})) : as_operands(in);
}

/// The result of its start, or the second of (operand, result).
Inferred all_reduce_done(const In& in) {
  const Shape &start = in.operand(0), *declared = in.declared();
  const bool pair = start.is_tuple() && start.elements.size() == 2 && declared != nullptr && !declared->is_tuple();
  return follows(pair ? start.elements[1] : start);
}

Inferred permuted(const In& in) {
  return in.count() == 1 ? follows(in.operand(0)) : in.declared() != nullptr ? follows(*in.declared()) : as_written();
}

Inferred token(const In&) {
  Shape shape;
  shape.type = Type::token;
  return follows(shape);
}

/// Element 0 or 1 of what the start gave.
Inferred element(const In& in, size_t index) {
  const Shape& from = in.operand(0);
  if (!from.is_tuple() || from.elements.size() <= index)
    return broken("{} takes the tuple of its start, got {}", text(in.instr.op), show(from));
  return follows(from.elements[index]);
}
Inferred first_element(const In& in) { return element(in, 0); }
Inferred second_element(const In& in) { return element(in, 1); }
Inferred async_done(const In& in) { return in.count() == 0 ? broken("async-done takes its start") : element(in, 1); }

/// A token is the last operand; texts until 2018-08 have none.
Inferred with_token(const In& in, size_t values) {
  if (in.count() < values || in.count() > values + 1)
    return broken("{} takes {} and a token, got {} operands", text(in.instr.op), values == 0 ? "nothing" : "one value", in.count());
  return in.declared() != nullptr ? follows(*in.declared()) : as_written();
}
Inferred token_in(const In& in) { return with_token(in, 0); }
Inferred value_and_token(const In& in) { return with_token(in, 1); }

struct ControlRow {
  Op op;
  Rule rule;
};
constexpr ControlRow kControlRows[] = {
    {Op::call, call},
    {Op::fusion, call},
    {Op::while_, while_loop},
    {Op::conditional, conditional},
    {Op::tuple, tuple},
    {Op::get_tuple_element, get_tuple_element},
    {Op::all_reduce, as_operands},
    {Op::all_reduce_start, all_reduce_start},
    {Op::all_reduce_done, all_reduce_done},
    {Op::collective_permute, permuted},
    {Op::all_gather_done, second_element},
    {Op::collective_permute_done, second_element},
    {Op::copy_done, first_element},
    {Op::async_done, async_done},
    {Op::after_all, token},
    {Op::infeed, token_in},
    {Op::recv, token_in},
    {Op::outfeed, value_and_token},
    {Op::send, value_and_token},
};

}  // namespace

Rule control_rule(Op op) {
  const auto row = std::ranges::find(kControlRows, op, &ControlRow::op);
  return row == std::end(kControlRows) ? nullptr : row->rule;
}

}  // namespace ir::rules
