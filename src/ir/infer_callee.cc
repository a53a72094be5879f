// Computations that are applied to single elements: reducers, comparators, maps. What they take and give must be scalars of the operands'
// types, for nothing converts between them and the arrays. Not those of collectives: XLA does not look at them either.
#include <algorithm>

#include "src/ir/infer_rules.h"

namespace ir::rules {
namespace {

struct CalleeRow {
  Op op;
  std::string_view key;
  size_t (*parameters)(size_t operands);
  size_t (*operand)(size_t parameter, size_t operands);  ///< whose elements the parameter takes
  enum class Gives : uint8_t {
    anything,
    decision,
    elements
  } gives = Gives::elements;  ///< decision: pred[]; elements: those of its operands
};

constexpr auto kTwo = [](size_t) { return size_t{2}; };
constexpr auto kFirst = [](size_t, size_t) { return size_t{0}; };
constexpr auto kEach = [](size_t count) { return count; };
constexpr auto kSame = [](size_t parameter, size_t) { return parameter; };

/// sort: 2 elements of each array; reductions: k partial results and k elements; scatter: k old elements and k updates after the indices.
constexpr CalleeRow kCalleeRows[] = {
    {Op::map, "to_apply", kEach, kSame, CalleeRow::Gives::anything},
    {Op::sort, "to_apply", [](size_t count) { return 2 * count; }, [](size_t parameter, size_t) { return parameter / 2; },
     CalleeRow::Gives::decision},
    {Op::reduce, "to_apply", kEach, [](size_t parameter, size_t count) { return parameter % (count / 2); }},
    {Op::reduce_window, "to_apply", kEach, [](size_t parameter, size_t count) { return parameter % (count / 2); }},
    {Op::scatter, "to_apply", [](size_t count) { return count - 1; },
     [](size_t parameter, size_t count) { return parameter < count / 2 ? parameter : parameter + 1; }},
    {Op::select_and_scatter, "select", kTwo, kFirst, CalleeRow::Gives::decision},
    {Op::select_and_scatter, "scatter", kTwo, kFirst},
};

bool is_scalar(const Shape& shape) { return shape.is_array() && shape.dims.empty(); }

/// What is wrong with what a computation gives, "" if nothing.
std::string result_problem(const In& in, const CalleeRow& row, std::string_view name, const Shape& result) {
  if (row.gives == CalleeRow::Gives::decision && !(is_scalar(result) && result.type == Type::pred))
    return fmt::format("{}: '{}' decides by pred[], it gives {}", text(row.op), name, show(result));
  if (row.gives != CalleeRow::Gives::elements) return "";
  const std::span<const Shape> given = result.is_tuple() ? std::span(result.elements) : std::span(&result, 1);
  for (size_t i = 0; i < std::min(given.size(), row.parameters(in.count()) / 2); ++i) {
    const Shape element = array_shape(in.operand(row.operand(i, in.count())).type, {});
    if (!fits_but_for_precision(given[i], element))
      return fmt::format("{}: '{}' gives {} of elements {}", text(row.op), name, show(given[i]), show(element));
  }
  return "";
}

std::string problem(const In& in, const CalleeRow& row, const Computation& callee) {
  const std::string_view name = in.module.text(callee.name);
  const size_t wanted = row.parameters(in.count());
  if (callee.parameters.size() != wanted)
    return fmt::format("{}: '{}' has {} parameters, it is given {} elements", text(row.op), name, callee.parameters.size(), wanted);
  for (size_t i = 0; i < wanted; ++i) {
    const Shape& parameter = in.module.shape(callee.instrs[static_cast<size_t>(callee.parameters[i])]);
    if (!in.operand(row.operand(i, in.count())).is_array()) continue;
    const Shape element = array_shape(in.operand(row.operand(i, in.count())).type, {});
    if (!fits_but_for_precision(parameter, element))
      return fmt::format("{}: parameter {} of '{}' is {}, it is given {}", text(row.op), i, name, show(parameter), show(element));
  }
  return result_problem(in, row, name, in.module.shape(callee.instrs[static_cast<size_t>(callee.root)]));
}

}  // namespace

std::string callee_problem(const In& in) {
  for (const CalleeRow& row : kCalleeRows) {
    if (row.op != in.instr.op) continue;
    const std::vector<CompId> callees = attr_calls(in.module, in.instr, row.key);
    if (callees.empty()) continue;
    if (std::string what = problem(in, row, in.module.comp(callees[0])); !what.empty()) return what;
  }
  return "";
}

}  // namespace ir::rules
