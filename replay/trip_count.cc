// The counter of a loop. Values are followed to where they come from: a constant, or an element of the loop's state.
#include "replay/trip_count.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "replay/element.h"
#include "src/ir/attr.h"

namespace replay {
namespace {

constexpr int kMostHops = 64;  ///< instructions followed for one value; files edited by hand may have circles

/// Element `index` of the state (−1: the state is no tuple), or a constant.
struct Source {
  enum class Kind : uint8_t { state, constant } kind = Kind::constant;
  int64_t index = -1, value = 0;
};

bool passes_on(ir::Op op) { return op == ir::Op::copy || op == ir::Op::bitcast || op == ir::Op::reshape || op == ir::Op::opt_barrier; }

std::optional<int64_t> constant_of(const ir::Module& module, const ir::Instr& instr) {
  const ir::Shape& shape = module.shape(instr);
  const ir::Literal& literal = module.literal(instr);
  const bool scalar = ir::is_integer(shape.type) && ir::elements(shape) == 1;
  if (!scalar || literal.elided || literal.data.size() < static_cast<size_t>(ir::bytes(shape.type))) return std::nullopt;
  return load_integer(shape.type, literal.data.data(), 0);
}

/// Where a scalar of a body or condition comes from.
std::optional<Source> source_of(const ir::Module& module, ir::CompId comp, ir::InstrId id) {
  for (int hop = 0; hop < kMostHops; ++hop) {
    const ir::Instr& instr = module.instr(comp, id);
    if (instr.op == ir::Op::parameter) return Source{Source::Kind::state, -1, 0};
    if (instr.op == ir::Op::constant) {
      const auto value = constant_of(module, instr);
      return value ? std::optional(Source{Source::Kind::constant, -1, *value}) : std::nullopt;
    }
    if (instr.op == ir::Op::get_tuple_element) {
      const bool of_state = module.instr(comp, instr.operands.at(0)).op == ir::Op::parameter;
      return of_state ? std::optional(Source{Source::Kind::state, ir::attr_int(module, instr, "index").value_or(0), 0}) : std::nullopt;
    }
    if (!passes_on(instr.op) || instr.operands.empty()) return std::nullopt;
    id = instr.operands[0];
  }
  return std::nullopt;
}

/// Element `index` of a tuple (or the value itself) as it is made in `comp`: the instruction, −1 if it is not made by a tuple there.
ir::InstrId element_of(const ir::Module& module, ir::CompId comp, ir::InstrId id, int64_t index) {
  for (int hop = 0; hop < kMostHops && index >= 0; ++hop) {
    const ir::Instr& instr = module.instr(comp, id);
    if (instr.op == ir::Op::tuple)
      return index < static_cast<int64_t>(instr.operands.size()) ? instr.operands[static_cast<size_t>(index)] : -1;
    if (!passes_on(instr.op) || instr.operands.empty()) return -1;
    id = instr.operands[0];
  }
  return index < 0 ? id : -1;
}

/// What the body adds to element `index` of the state each time; 0: it leaves it alone.
std::optional<int64_t> step_of(const ir::Module& module, ir::CompId body, int64_t index) {
  const ir::InstrId made = element_of(module, body, module.comp(body).root, index);
  if (made < 0) return std::nullopt;
  const auto is_state = [&](const std::optional<Source>& source) {
    return source && source->kind == Source::Kind::state && source->index == index;
  };
  if (is_state(source_of(module, body, made))) return 0;
  const ir::Instr& instr = module.instr(body, made);
  if ((instr.op != ir::Op::add && instr.op != ir::Op::subtract) || instr.operands.size() != 2) return std::nullopt;
  auto left = source_of(module, body, instr.operands[0]), right = source_of(module, body, instr.operands[1]);
  if (instr.op == ir::Op::add && is_state(right)) std::swap(left, right);
  if (!is_state(left) || !right || right->kind != Source::Kind::constant) return std::nullopt;
  return instr.op == ir::Op::add ? right->value : -right->value;
}

/// Value of element `index` of the state before the first trip.
std::optional<int64_t> start_of(const ir::Module& module, ir::InstrRef loop, int64_t index) {
  ir::InstrId made = element_of(module, loop.comp, module.instr(loop.comp, loop.instr).operands.at(0), index);
  for (int hop = 0; made >= 0 && hop < kMostHops; ++hop) {
    const ir::Instr& instr = module.instr(loop.comp, made);
    if (instr.op == ir::Op::constant) return constant_of(module, instr);
    if (!passes_on(instr.op) || instr.operands.empty()) return std::nullopt;
    made = instr.operands[0];
  }
  return std::nullopt;
}

using Distance = __int128;  ///< distances of 64-bit counters

ir::Direction mirrored(ir::Direction direction) {
  switch (direction) {
    case ir::Direction::LT:
      return ir::Direction::GT;
    case ir::Direction::LE:
      return ir::Direction::GE;
    case ir::Direction::GT:
      return ir::Direction::LT;
    case ir::Direction::GE:
      return ir::Direction::LE;
    default:
      return direction;
  }
}

/// Trips of `for (i = start; i direction limit; i += step)`; nothing if it does not end before the counter wraps.
std::optional<int64_t> count(int64_t start, int64_t limit, int64_t step, ir::Direction direction, ir::Type type) {
  if (direction == ir::Direction::GT || direction == ir::Direction::GE) {  // downwards: the same, mirrored
    if (ir::info(type).kind != ir::TypeInfo::Kind::signed_ || start == INT64_MIN || limit == INT64_MIN || step == INT64_MIN)
      return std::nullopt;
    return count(-start, -limit, -step, direction == ir::Direction::GT ? ir::Direction::LT : ir::Direction::LE, type);
  }
  const Distance distance = Distance{limit} - start + (direction == ir::Direction::LE ? 1 : 0);
  if (direction == ir::Direction::EQ)
    return start != limit ? std::optional<int64_t>(0) : step != 0 ? std::optional<int64_t>(1) : std::nullopt;
  if (direction == ir::Direction::NE) {
    if (distance == 0) return 0;
    if (step == 0 || distance % step != 0 || distance / step < 0) return std::nullopt;
    return static_cast<int64_t>(distance / step);
  }
  if (distance <= 0) return 0;
  if (step <= 0) return std::nullopt;
  const Distance trips = (distance + step - 1) / step, last = start + trips * step;
  if (last > INT64_MAX || wrap(type, static_cast<int64_t>(last)) != static_cast<int64_t>(last)) return std::nullopt;
  return static_cast<int64_t>(trips);
}

/// What a loop's condition compares: two integers of known starts, each with what a trip adds to it.
struct Test {
  int64_t left, left_step, right, right_step;
  ir::Direction direction;
  ir::Type type;
};

std::optional<Test> test_of(const ir::Module& module, ir::InstrRef loop) {
  const ir::Instr& instr = module.instr(loop.comp, loop.instr);
  const auto conditions = ir::attr_calls(module, instr, "condition"), bodies = ir::attr_calls(module, instr, "body");
  if (conditions.size() != 1 || bodies.size() != 1 || instr.operands.size() != 1) return std::nullopt;
  const ir::Instr& test = module.instr(conditions[0], module.comp(conditions[0]).root);
  const auto compare = ir::attr_compare(module, test);
  if (test.op != ir::Op::compare || test.operands.size() != 2 || !compare.ok()) return std::nullopt;
  struct Side {
    int64_t start, step;
  };
  const auto side_of = [&](ir::InstrId id) -> std::optional<Side> {
    const auto source = source_of(module, conditions[0], id);
    if (!source) return std::nullopt;
    if (source->kind == Source::Kind::constant) return Side{source->value, 0};
    const auto start = start_of(module, loop, source->index), step = step_of(module, bodies[0], source->index);
    return start && step ? std::optional(Side{*start, *step}) : std::nullopt;
  };
  const auto left = side_of(test.operands[0]), right = side_of(test.operands[1]);
  const ir::Type type = module.shape(module.instr(conditions[0], test.operands[0])).type;
  if (!left || !right || !ir::is_integer(type)) return std::nullopt;
  const bool is_unsigned = ir::info(type).kind == ir::TypeInfo::Kind::unsigned_;
  if (is_unsigned && (left->start < 0 || right->start < 0)) return std::nullopt;  // u64 beyond i64
  return Test{left->start, left->step, right->start, right->step, compare->direction, type};
}

std::optional<int64_t> from_pattern(const ir::Module& module, ir::InstrRef loop) {
  const auto test = test_of(module, loop);
  if (!test) return std::nullopt;
  if (test->right_step == 0) return count(test->left, test->right, test->left_step, test->direction, test->type);
  if (test->left_step != 0) return std::nullopt;
  return count(test->right, test->left, test->right_step, mirrored(test->direction), test->type);
}

/// `"known_trip_count":{"n":"5"}`, in a string with escapes or as plain JSON.
std::optional<int64_t> from_config(const ir::Module& module, const ir::Instr& instr) {
  const std::string_view text = ir::attr_text(module, instr, "backend_config").value_or("");
  const size_t at = text.find("known_trip_count");
  const size_t digit = at == std::string_view::npos ? at : text.find_first_of("0123456789}", at);
  if (digit == std::string_view::npos) return std::nullopt;
  int64_t trips = 0;
  const auto [end, failed] = std::from_chars(text.data() + digit, text.data() + text.size(), trips);
  return failed == std::errc() ? std::optional(trips) : std::nullopt;
}

}  // namespace

std::optional<int64_t> trip_count(const ir::Module& module, ir::InstrRef loop) {
  if (const auto known = from_config(module, module.instr(loop.comp, loop.instr))) return known;
  return from_pattern(module, loop);
}

namespace {

bool always_true(const ir::Module& module, ir::CompId condition) {
  ir::InstrId id = module.comp(condition).root;
  for (int hop = 0; hop < kMostHops; ++hop) {
    const ir::Instr& instr = module.instr(condition, id);
    if (instr.op == ir::Op::constant) {
      const ir::Literal& literal = module.literal(instr);
      return module.shape(instr).type == ir::Type::pred && !literal.elided && !literal.data.empty() && literal.data[0] != std::byte{0};
    }
    if (!passes_on(instr.op) || instr.operands.empty()) return false;
    id = instr.operands[0];
  }
  return false;
}

/// The operand that an addition or a subtraction of 0 passes on.
ir::InstrId unchanged_operand(const ir::Module& module, ir::CompId comp, const ir::Instr& instr) {
  if (passes_on(instr.op) && instr.operands.size() == 1) return instr.operands[0];
  if ((instr.op != ir::Op::add && instr.op != ir::Op::subtract) || instr.operands.size() != 2) return -1;
  const auto is_zero = [&](ir::InstrId id) {
    const ir::Instr& constant = module.instr(comp, id);
    return constant.op == ir::Op::constant && constant_of(module, constant) == 0;
  };
  if (is_zero(instr.operands[1])) return instr.operands[0];
  return instr.op == ir::Op::add && is_zero(instr.operands[0]) ? instr.operands[1] : -1;
}

/// The leaf `path` of a body's result is the same leaf of its parameter.
bool is_left_alone(const ir::Module& module, ir::CompId body, const std::vector<int64_t>& path) {
  ir::InstrId id = module.comp(body).root;
  std::vector<int64_t> rest = path;  // within the value of `id`
  for (int hop = 0; hop < kMostHops; ++hop) {
    const ir::Instr& instr = module.instr(body, id);
    if (instr.op == ir::Op::parameter) return rest == path;
    if (instr.op == ir::Op::tuple && !rest.empty()) {
      id = instr.operands[static_cast<size_t>(rest.front())];
      rest.erase(rest.begin());
    } else if (instr.op == ir::Op::get_tuple_element) {
      rest.insert(rest.begin(), ir::attr_int(module, instr, "index").value_or(0));
      id = instr.operands.at(0);
    } else {
      id = unchanged_operand(module, body, instr);
      if (id < 0) return false;
    }
  }
  return false;
}

}  // namespace

bool leaves_its_state_alone(const ir::Module& module, ir::InstrRef loop) {
  const ir::Instr& instr = module.instr(loop.comp, loop.instr);
  const auto bodies = ir::attr_calls(module, instr, "body");
  const auto leaves = ir::leaves(module.shape(instr));
  return bodies.size() == 1 &&
         std::ranges::all_of(leaves, [&](const ir::Leaf& leaf) { return is_left_alone(module, bodies[0], leaf.path); });
}

bool never_ends(const ir::Module& module, ir::InstrRef loop) {
  const auto conditions = ir::attr_calls(module, module.instr(loop.comp, loop.instr), "condition");
  if (conditions.size() == 1 && always_true(module, conditions[0])) return true;
  const auto test = test_of(module, loop);
  return test && test->left_step == 0 && test->right_step == 0 && ir::holds(test->direction, test->left, test->right);
}

}  // namespace replay
