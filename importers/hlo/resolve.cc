// Names to ids, after a computation (operands) and after the module (callees) have been read. What was written in another order
// is sorted so that operands stand before their users and callees before their callers: everything later relies on that.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "importers/hlo/parser.h"
#include "importers/hlo/words.h"
#include "src/base/text.h"

namespace importers::hlo {
namespace {

constexpr size_t kMaxCandidates = 4096;  ///< names that "did you mean" looks at

struct Order {
  std::vector<int32_t> nodes;
  int32_t cycle_at = -1;
};

/// Depth first, successors before a node, otherwise in order; iterative, because depth is the user's.
template <typename Successors>
Order successors_first(size_t count, Successors successors) {
  enum : uint8_t { fresh, open, done };
  Order order;
  std::vector<uint8_t> state(count, fresh);
  std::vector<std::pair<int32_t, size_t>> stack;
  for (size_t start = 0; start < count; ++start) {
    if (state[start] == fresh) stack.emplace_back(static_cast<int32_t>(start), 0), state[start] = open;
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      const std::vector<int32_t>& targets = successors(node);
      if (next == targets.size()) {
        state[static_cast<size_t>(node)] = done;
        order.nodes.push_back(node);
        stack.pop_back();
        continue;
      }
      const int32_t target = targets[next++];
      uint8_t& seen = state[static_cast<size_t>(target)];
      if (seen == open) return order.cycle_at = node, order;
      if (seen == fresh) seen = open, stack.emplace_back(target, 0);
    }
  }
  return order;
}

/// Position of each node in the order.
std::vector<int32_t> inverse(const std::vector<int32_t>& order) {
  std::vector<int32_t> position(order.size());
  for (size_t i = 0; i < order.size(); ++i) position[static_cast<size_t>(order[i])] = static_cast<int32_t>(i);
  return position;
}

template <typename T>
std::vector<T> permuted(std::vector<T> values, const std::vector<int32_t>& order) {
  std::vector<T> result;
  result.reserve(order.size());
  for (const int32_t i : order) result.push_back(std::move(values[static_cast<size_t>(i)]));
  return result;
}

std::string did_you_mean(std::string_view what, std::string_view word, std::span<const std::string_view> candidates) {
  constexpr size_t kShortest = 3;  // of a name that another can be near to
  const std::string_view near = word.size() < kShortest ? "" : base::nearest(word, candidates);
  const std::string said = fmt::format("no {} '{}'", what, base::escaped(word));
  return near.empty() ? said : fmt::format("{}; did you mean '{}'?", said, near);
}

}  // namespace

std::optional<ir::CompId> Parser::finish(Scope scope, ir::StringId name, size_t offset) {
  if (scope.root < 0) scope.root = static_cast<int64_t>(scope.instrs.size()) - 1;
  if (!name_instructions(scope) || !resolve_operands(scope)) return std::nullopt;
  if (!std::ranges::all_of(scope.instrs, [&](const ir::Instr& instr) { return resolve_predecessors(scope, instr); })) return std::nullopt;
  if (!order_instructions(scope)) return std::nullopt;
  ir::Computation comp;
  comp.name = name;
  if (!number_parameters(scope, comp)) return std::nullopt;
  comp.root = static_cast<ir::InstrId>(scope.root);
  comp.instrs = std::move(scope.instrs);
  comp.instrs.shrink_to_fit();
  module_.computations.push_back(std::move(comp));
  comp_offsets_.push_back(offset);
  declared_.emplace_back();
  return static_cast<ir::CompId>(module_.computations.size() - 1);
}

bool Parser::name_instructions(Scope& scope) {
  named_.begin_scope();
  counters_.next_fresh = 1;
  for (size_t i = 0; i < scope.instrs.size(); ++i) {
    const ir::Instr& instr = scope.instrs[i];
    if (instr.name == ir::StringId::empty) continue;
    if (named_.find(instr.name))
      return fail(instr.offset, fmt::format("'{}' is defined twice in this computation", module_.text(instr.name)));
    named_.set(instr.name, static_cast<ir::InstrId>(i));
  }
  return true;
}

/// A name of this computation that is not taken: `base`, `base.1`, …
ir::StringId Parser::fresh_name(std::string_view base) {
  ir::StringId id = module_.strings.intern(base);
  while (named_.find(id)) id = module_.strings.intern(fmt::format("{}.{}", base, counters_.next_fresh++));
  return id;
}

bool Parser::resolve_operands(Scope& scope) {
  const size_t written = scope.instrs.size();
  for (size_t i = 0; i < scope.instrs.size(); ++i) {  // grows: parameters of a single instruction, elements picked by '#'
    for (size_t k = 0; i < written && k < scope.instrs[i].operands.size(); ++k) {
      const ir::InstrId reference = scope.instrs[i].operands[k];
      const auto id = reference < 0 ? ~reference : resolve(scope, scope.uses[static_cast<size_t>(reference)]);
      if (!id) return false;
      scope.instrs[i].operands[k] = *id;
    }
    if (scope.instrs[i].name != ir::StringId::empty) continue;
    const ir::StringId name = fresh_name(fmt::format("{}.anon", ir::text(scope.instrs[i].op)));
    scope.instrs[i].name = name;
    named_.set(name, static_cast<ir::InstrId>(i));
  }
  return true;
}

std::optional<ir::InstrId> Parser::resolve(Scope& scope, const Use& use) {
  if (use.name != ir::StringId::empty) {
    if (const auto id = named_.find(use.name)) return id;
    if (module_.text(use.name).find('#') != std::string_view::npos) return element_of(scope, use);
  }
  if (!single_ || use.shape == kNoShape) return unknown_operand(scope, use), std::nullopt;
  ir::Instr parameter;
  parameter.name = use.name;
  parameter.shape = use.shape;
  parameter.offset = use.offset;
  parameter.number = counters_.made_parameters++;
  const auto id = static_cast<ir::InstrId>(scope.instrs.size());
  if (use.name != ir::StringId::empty) named_.set(use.name, id);
  scope.instrs.push_back(std::move(parameter));
  return id;
}

/// `t#1#0`: get-tuple-element of get-tuple-element of t, shared within the computation.
std::optional<ir::InstrId> Parser::element_of(Scope& scope, const Use& use) {
  const std::string path(module_.text(use.name));
  size_t hash = path.find('#');
  auto id = named_.find(module_.strings.intern(path.substr(0, hash)));
  if (!id) return unknown_operand(scope, {module_.strings.intern(path.substr(0, hash)), kNoShape, use.offset}), std::nullopt;
  while (hash != std::string::npos) {
    const size_t next = path.find('#', hash + 1);
    const ir::StringId prefix = module_.strings.intern(path.substr(0, next));
    const std::string index = path.substr(hash + 1, next == std::string::npos ? next : next - hash - 1);
    hash = next;
    if (const auto known = named_.find(prefix)) {
      id = known;
      continue;
    }
    ir::Instr element;
    element.op = ir::Op::get_tuple_element;
    element.shape = kNoShape;
    element.offset = use.offset;
    element.operands = {*id};
    element.attrs = {{module_.strings.intern("index"), module_.strings.intern(index)}};
    id = static_cast<ir::InstrId>(scope.instrs.size());
    named_.set(prefix, *id);
    scope.instrs.push_back(std::move(element));
    omitted_shape_ = true;
  }
  return id;
}

bool Parser::unknown_operand(const Scope& scope, const Use& use) {
  std::vector<std::string_view> names;
  for (const ir::Instr& instr : std::span(scope.instrs).first(std::min(scope.instrs.size(), kMaxCandidates))) {
    names.push_back(module_.text(instr.name));
  }
  return fail(use.offset, did_you_mean("instruction", module_.text(use.name), names));
}

/// `control-predecessors={a,b}` names instructions of the same computation.
bool Parser::resolve_predecessors(const Scope& scope, const ir::Instr& instr) {
  for (const ir::Attr& attr : instr.attrs) {
    if (module_.text(attr.key) != "control-predecessors") continue;
    const std::string names(module_.text(attr.text));
    Lexer lexer(names);
    for (lexer.take('{'); !lexer.take('}'); lexer.take(',')) {
      const std::string_view name = lexer.name();
      if (name.empty())
        return fail(instr.offset, fmt::format("control-predecessors={}: not names in braces, like {{a,b}}", base::escaped(names)));
      const ir::StringId id = module_.strings.intern(name);
      if (!named_.find(id)) return unknown_operand(scope, {id, kNoShape, instr.offset});
    }
  }
  return true;
}

bool Parser::order_instructions(Scope& scope) {
  bool sorted = true;
  for (size_t i = 0; i < scope.instrs.size() && sorted; ++i) {
    sorted = std::ranges::all_of(scope.instrs[i].operands, [i](ir::InstrId id) { return id < static_cast<ir::InstrId>(i); });
  }
  if (sorted) return true;
  const Order order = successors_first(
      scope.instrs.size(), [&](int32_t i) -> const auto& { return scope.instrs[static_cast<size_t>(i)].operands; });
  if (order.cycle_at >= 0) {
    const ir::Instr& instr = scope.instrs[static_cast<size_t>(order.cycle_at)];
    return fail(instr.offset, fmt::format("'{}' depends on its own result", module_.text(instr.name)));
  }
  const std::vector<int32_t> position = inverse(order.nodes);
  scope.instrs = permuted(std::move(scope.instrs), order.nodes);
  for (ir::Instr& instr : scope.instrs) {
    for (ir::InstrId& id : instr.operands) id = position[static_cast<size_t>(id)];
  }
  scope.root = position[static_cast<size_t>(scope.root)];
  return true;
}

/// Parameters are numbered 0, 1, … without a gap.
bool Parser::number_parameters(const Scope& scope, ir::Computation& comp) {
  for (size_t i = 0; i < scope.instrs.size(); ++i) {
    const ir::Instr& instr = scope.instrs[i];
    if (instr.op != ir::Op::parameter) continue;
    const auto number = static_cast<size_t>(instr.number);
    if (number >= scope.instrs.size()) return fail(instr.offset, fmt::format("parameter({}): the ones before are missing", number));
    if (number >= comp.parameters.size()) comp.parameters.resize(number + 1, -1);
    if (comp.parameters[number] >= 0) return fail(instr.offset, fmt::format("parameter({}) stands twice in this computation", number));
    comp.parameters[number] = static_cast<ir::InstrId>(i);
  }
  const auto gap = std::ranges::find(comp.parameters, -1);
  if (gap == comp.parameters.end()) return true;
  const size_t offset = scope.instrs[static_cast<size_t>(comp.parameters.back())].offset;
  return fail(offset, fmt::format("parameter({}) is missing in this computation", gap - comp.parameters.begin()));
}

bool Parser::resolve_calls() {
  std::unordered_map<ir::StringId, ir::CompId> by_name;
  module_.entry = entry_ >= 0 ? entry_ : static_cast<ir::CompId>(module_.computations.size()) - 1;
  if (entry_ < 0 && module_.computations.size() > 1) {
    notes_.add(comp_offsets_.back(), "no-entry", "no computation is marked ENTRY: the last one is taken");
  }
  for (size_t i = 0; i < module_.computations.size(); ++i) {
    const ir::StringId name = module_.computations[i].name;
    if (name == ir::StringId::empty || by_name.emplace(name, static_cast<ir::CompId>(i)).second) continue;
    return fail(comp_offsets_[i], fmt::format("computation '{}' is defined twice", module_.text(name)));
  }
  for (size_t c = 0; c < module_.computations.size(); ++c) {
    for (ir::Instr& instr : module_.computations[c].instrs) {
      if (!instr.calls.empty() && !resolve_calls_of(instr, by_name)) return false;
    }
  }
  return true;
}

bool Parser::resolve_calls_of(ir::Instr& instr, std::unordered_map<ir::StringId, ir::CompId>& by_name) {
  size_t next = 0;
  for (const ir::Attr& attr : instr.attrs) {
    for (int32_t i = 0; i < attr.calls; ++i, ++next) {
      const ir::CompId reference = instr.calls[next];
      if (reference < 0) {  // a body in place: named after its caller
        instr.calls[next] = ~reference;
        const std::string base = fmt::format("{}.{}", module_.text(instr.name), module_.text(attr.key));
        ir::StringId name = module_.strings.intern(base);
        while (!by_name.emplace(name, ~reference).second) name = module_.strings.intern(fmt::format("{}.{}", base, counters_.next_body++));
        module_.comp(~reference).name = name;
        continue;
      }
      const CallUse& use = call_uses_[static_cast<size_t>(reference)];
      const auto it = by_name.find(use.name);
      if (it == by_name.end()) return unknown_computation(use);
      instr.calls[next] = it->second;
    }
  }
  return true;
}

bool Parser::unknown_computation(const CallUse& use) {
  std::vector<std::string_view> names;
  for (const ir::Computation& comp : module_.computations) {
    if (names.size() < kMaxCandidates) names.push_back(module_.text(comp.name));
  }
  return fail(use.offset, did_you_mean("computation", module_.text(use.name), names));
}

bool Parser::order_computations() {
  std::vector<std::vector<int32_t>> callees(module_.computations.size());
  bool sorted = true;
  for (size_t c = 0; c < callees.size(); ++c) {
    for (const ir::Instr& instr : module_.computations[c].instrs) {
      callees[c].insert(callees[c].end(), instr.calls.begin(), instr.calls.end());
    }
    sorted = sorted && std::ranges::all_of(callees[c], [c](int32_t callee) { return callee < static_cast<int32_t>(c); });
  }
  const Order order = successors_first(
      callees.size(), [&](int32_t c) -> const auto& { return callees[static_cast<size_t>(c)]; });
  if (order.cycle_at >= 0) {
    return fail(comp_offsets_[static_cast<size_t>(order.cycle_at)],
                fmt::format("computation '{}' calls itself", module_.text(module_.comp(order.cycle_at).name)));
  }
  std::vector<int> depth(callees.size());
  for (const int32_t c : order.nodes) {
    for (const int32_t callee : callees[static_cast<size_t>(c)]) {
      depth[static_cast<size_t>(c)] = std::max(depth[static_cast<size_t>(c)], depth[static_cast<size_t>(callee)] + 1);
    }
    if (depth[static_cast<size_t>(c)] > kMaxCallDepth)
      return fail(comp_offsets_[static_cast<size_t>(c)], fmt::format("calls nest deeper than {}", kMaxCallDepth));
  }
  if (!sorted) reorder_computations(order.nodes);
  return true;
}

void Parser::reorder_computations(const std::vector<int32_t>& order) {
  const std::vector<int32_t> position = inverse(order);
  module_.computations = permuted(std::move(module_.computations), order);
  comp_offsets_ = permuted(std::move(comp_offsets_), order);
  declared_ = permuted(std::move(declared_), order);
  module_.entry = position[static_cast<size_t>(module_.entry)];
  for (ir::Computation& comp : module_.computations) {
    for (ir::Instr& instr : comp.instrs) {
      for (ir::CompId& callee : instr.calls) callee = position[static_cast<size_t>(callee)];
    }
  }
}

/// Tuples of tuples grow exponentially when their shapes need not be written: their number and depth are bounded.
bool Parser::has_room_for(const ir::Shape& shape, int depth) {
  if (!shape.elements.empty()) counters_.inferred_elements += static_cast<int64_t>(shape.elements.size());
  if (depth > kMaxDepth || counters_.inferred_elements > kMaxInferred) return false;
  return std::ranges::all_of(shape.elements, [&](const ir::Shape& element) { return has_room_for(element, depth + 1); });
}

bool Parser::infer_shape_of(const ir::Computation& comp, ir::Instr& instr) {
  const ir::Inferred inferred = ir::infer_shape(module_, comp, instr);
  if (inferred.how != ir::Inferred::follows) {
    const std::string why = inferred.how == ir::Inferred::written ? "write it" : inferred.what + misspelt_attribute(module_, instr);
    return fail(instr.offset, fmt::format("the shape of '{}' cannot be inferred: {}", module_.text(instr.name), why));
  }
  if (!has_room_for(inferred.shape, 0)) return fail(instr.offset, "the tuples whose shapes are left out are too large; write the shapes");
  instr.shape = module_.intern(inferred.shape);
  return true;
}

/// Result shapes that were left out, then the results that computations declare.
bool Parser::infer_shapes() {
  for (size_t c = 0; c < module_.computations.size(); ++c) {
    const ir::Computation& comp = module_.computations[c];
    for (size_t i = 0; omitted_shape_ && i < comp.instrs.size(); ++i) {
      ir::Instr& instr = module_.computations[c].instrs[i];
      if (instr.shape == kNoShape && !infer_shape_of(comp, instr)) return false;
    }
    const ir::Shape& result = module_.shape(comp.instrs[static_cast<size_t>(comp.root)]);
    if (declared_[c] && !ir::same_dims(*declared_[c], result)) {
      return fail(comp_offsets_[c],
                  fmt::format("'{}' declares {} and its root is {}", module_.text(comp.name),
                              ir::print(*declared_[c], ir::LayoutPrint::without), ir::print(result, ir::LayoutPrint::without)));
    }
  }
  return true;
}

}  // namespace importers::hlo
