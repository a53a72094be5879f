// Names that HLO text can hold, functions of two scalars, and bodies of fusions, each written once: models repeat their layers.
#include "importers/lowering/builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "importers/lowering/key.h"
#include "src/base/math.h"
#include "src/base/text.h"
#include "src/ir/escape.h"
#include "src/ir/verify.h"

namespace importers::lowering {
namespace {

using ir::Op;

/// Characters of a name that HLO text can hold.
constexpr std::array<bool, 256> kIsWord = [] {
  std::array<bool, 256> is_word{};
  for (const char c : std::string_view("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-."))
    is_word[static_cast<size_t>(c)] = true;
  return is_word;
}();

constexpr std::string_view kEntry = "main";

/// What tells computations of one module apart but for the names in them.
std::string key_of(const ir::Computation& comp) {
  Key key;
  key.add(comp.root);
  for (const ir::Instr& instr : comp.instrs) {
    key.add(instr.op), key.add(instr.shape), key.add(instr.literal), key.add(instr.number);
    key.add(instr.operands), key.add(instr.calls), key.add(instr.attrs.size());
    for (const ir::Attr& attr : instr.attrs) key.add(attr.key), key.add(attr.text), key.add(attr.calls);
  }
  return key.take();
}

}  // namespace

Program::Program(std::string_view name) : entry_(*this) { module_.name = module_.strings.intern(spelled(name)); }

void Program::at(const At& at) {
  at_name_ = at.name;
  at_type_ = at.type;
  alike_.clear();
  ir::Origin origin;
  origin.op_type = module_.strings.intern(at.type);
  origin.op_name = module_.strings.intern(at.name);
  origin.source_file = module_.strings.intern(at.source_file);
  origin.source_line = at.source_line;
  origin_ = module_.intern(origin);
}

void Program::alike(std::string_view key) {
  alike_ = key;
  fusions_ = 0;
}

void Program::broke(std::string what) {
  if (!error_.empty()) return;
  error_ =
      at_type_.empty() ? std::move(what) : fmt::format("operator '{}' ({}): {}", base::escaped(at_name_), base::escaped(at_type_), what);
}

/// A name that HLO text can hold: letters, digits, '_', '.', '-'. Until the next one.
std::string& Program::spelled(std::string_view text) {
  const auto is_led_by = [](char c) { return c != '-' && c != '.' && kIsWord[static_cast<unsigned char>(c)]; };
  name_.clear();
  text.remove_prefix(static_cast<size_t>(std::ranges::find_if(text, is_led_by) - text.begin()));
  if (text.empty()) text = "value";
  if (text.front() >= '0' && text.front() <= '9') name_ += 'v';
  for (const char c : text) name_ += kIsWord[static_cast<unsigned char>(c)] ? c : '.';
  return name_;
}

ir::StringId Program::unique(std::string_view name) {
  spelled(name);
  const auto take = [&](ir::StringId id) {
    const auto at = static_cast<size_t>(id);
    if (at >= names_.size()) names_.resize(std::max(at + 1, module_.strings.size()));
    return std::exchange(names_[at], std::max(names_[at], uint32_t{1})) == 0;
  };
  const ir::StringId first = module_.strings.intern(name_);
  if (take(first)) return first;
  const size_t stem = name_.size();
  while (true) {
    name_.resize(stem);
    fmt::format_to(std::back_inserter(name_), ".{}", names_[static_cast<size_t>(first)]++);
    if (const ir::StringId id = module_.strings.intern(name_); take(id)) return id;
  }
}

Value Program::parameter(std::string_view name, const ir::Shape& shape, std::string_view input) {
  const Value value = entry_.parameter(name, shape);
  if (!input.empty()) {
    const std::string text = fmt::format("{{profile_input={}}}", ir::quoted(input));
    entry_.comp_.instrs.back().attrs.push_back({module_.strings.intern("frontend_attributes"), module_.strings.intern(text)});
  }
  return value;
}

ir::LiteralId Program::scalar(ir::Type type, double value) {
  const auto [known, fresh] = scalars_.try_emplace({type, std::bit_cast<uint64_t>(value)}, ir::LiteralId::none);
  const bool is_exact = ir::is_float(type) || ir::is_complex(type);
  if (fresh) known->second = module_.add(is_exact ? ir::scalar_literal(type, value) : ir::scalar_literal(type, base::saturated_int(value)));
  return known->second;
}

/// The computation, or one that was written before and does the same: models repeat their layers.
ir::CompId Program::shared(ir::Computation comp, Value root) {
  comp.root = root.id;
  const auto [known, fresh] = bodies_.try_emplace(key_of(comp), 0);
  if (fresh) known->second = add(std::move(comp), (at_type_.empty() ? at_name_ : at_type_) + ".body", root);
  return known->second;
}

/// Instructions of the entry have their names; those of other computations get them here, where it is known that they are kept.
ir::CompId Program::add(ir::Computation comp, std::string_view name, Value root) {
  const bool is_entry = name == kEntry;
  for (ir::Instr& instr : comp.instrs) {
    if (!is_entry) instr.name = unique(instr.name == ir::StringId::empty ? ir::text(instr.op) : module_.text(instr.name));
  }
  comp.name = unique(name);
  comp.root = root.id;
  module_.computations.push_back(std::move(comp));
  return static_cast<ir::CompId>(module_.computations.size()) - 1;
}

Values Program::fuse(std::span<const Value> operands, const WriteBody& write) {
  Values distinct;
  std::vector<uint32_t> places;  // of each operand among them
  for (const Value operand : operands) {
    const auto known = std::ranges::find(distinct, operand);
    places.push_back(static_cast<uint32_t>(known - distinct.begin()));
    if (known == distinct.end()) distinct.push_back(operand);
  }
  const Fused fused = alike_.empty() ? written(distinct, places, write) : written_once(distinct, places, write);
  const ir::Computation& body = module_.comp(fused.body);
  const ir::Shape& shape = module_.shape(body.instrs[static_cast<size_t>(body.root)]);
  const Value fusion = entry_.op(Op::fusion, distinct, {{"kind", "kLoop"}}, &shape, {{fused.body}}, "calls");
  if (fused.results == 1) return {fusion};
  Values results;
  for (size_t i = 0; i < fused.results; ++i) results.push_back(entry_.element(fusion, static_cast<int64_t>(i)));
  return results;
}

/// The body that was written for the same of an operator alike, or a new one.
Program::Fused Program::written_once(const Values& distinct, const std::vector<uint32_t>& places, const WriteBody& write) {
  key_.clear();
  key_.add(std::string_view(alike_)), key_.add(fusions_++), key_.add(places);
  for (const Value operand : distinct) key_.add(entry_.shape_id(operand));
  const auto [known, fresh] = fused_.try_emplace(key_.text());
  if (fresh) known->second = written(distinct, places, write);
  return known->second;
}

Program::Fused Program::written(const Values& distinct, const std::vector<uint32_t>& places, const WriteBody& write) {
  Body body(*this);
  Values inside;
  for (size_t i = 0; i < distinct.size(); ++i) body.parameter(fmt::format("p{}", i), entry_.shape(distinct[i]));
  for (const uint32_t place : places) inside.push_back({body.comp_.parameters[place]});
  const Values roots = write(body, inside);
  const Value root = roots.size() == 1 ? roots.front() : body.tuple(roots);
  return {shared(std::move(body.comp_), root), roots.size()};
}

Value Program::fuse1(std::span<const Value> operands, const std::function<Value(Body&, std::span<const Value>)>& write) {
  return fuse(operands, [&](Body& body, std::span<const Value> inside) { return Values{write(body, inside)}; }).front();
}

Values Program::unknown(std::string_view target, std::span<const Value> operands, std::span<const ir::Shape> results) {
  const ir::Shape shape = results.size() == 1 ? results.front() : ir::tuple_shape(std::vector<ir::Shape>(results.begin(), results.end()));
  const Value call = entry_.op(Op::custom_call, operands, {{"custom_call_target", ir::quoted(target)}}, &shape);
  if (results.size() == 1) return {call};
  Values values;
  for (size_t i = 0; i < results.size(); ++i) values.push_back(entry_.element(call, static_cast<int64_t>(i)));
  return values;
}

/// A computation of two scalars.
ir::CompId Program::scalar_function(std::string_view name, ir::Type type, const std::function<Value(Body&, Value, Value)>& write) {
  Body body(*this);
  const Value a = body.parameter("a", ir::array_shape(type, {})), b = body.parameter("b", ir::array_shape(type, {}));
  const Value root = write(body, a, b);
  return add(std::move(body.comp_), fmt::format("{}.{}", name, ir::text(type)), root);
}

ir::CompId Program::order(ir::Direction direction, ir::Type key, ir::Type value) {
  Body body(*this);
  const Value a = body.parameter("a", ir::array_shape(key, {})), b = body.parameter("b", ir::array_shape(key, {}));
  body.parameter("value_a", ir::array_shape(value, {})), body.parameter("value_b", ir::array_shape(value, {}));
  const Value root = body.compare(direction, a, b);
  return add(std::move(body.comp_), fmt::format("order.{}", ir::text(key)), root);
}

ir::CompId Program::reducer(Op op, ir::Type type) {
  const auto [known, fresh] = functions_.try_emplace({op, type}, 0);
  if (fresh) known->second = scalar_function(ir::text(op), type, [op](Body& body, Value a, Value b) { return body.op(op, {{a, b}}); });
  return known->second;
}

ir::CompId Program::greater_or_equal(ir::Type type) {
  const auto [known, fresh] = functions_.try_emplace({Op::compare, type}, 0);
  if (fresh)
    known->second = scalar_function("ge", type, [](Body& body, Value a, Value b) { return body.compare(ir::Direction::GE, a, b); });
  return known->second;
}

void Program::result(Value value) { results_.push_back({value, {}}); }

void Program::result_in_place(Value value, Value parameter) {
  const auto [known, fresh] = in_place_.try_emplace(parameter.id, results_.size());
  if (fresh) results_.push_back({value, parameter});
  results_[known->second].value = value;
}

std::string Program::aliases() const {
  std::vector<std::string> parts;
  for (size_t i = 0; i < results_.size(); ++i) {
    if (results_[i].parameter.id < 0) continue;
    const auto& parameter = entry_.comp_.instrs[static_cast<size_t>(results_[i].parameter.id)];
    parts.push_back(fmt::format("{{{}}}:({},{{}},may-alias)", i, parameter.number));
  }
  return parts.empty() ? "" : fmt::format("{{{}}}", fmt::join(parts, ","));
}

base::Result<ir::Module> Program::finish() {
  at_name_ = "results";
  at_type_.clear();
  origin_ = ir::OriginId::none;
  Values values;
  for (const Result& result : results_) values.push_back(result.value);
  const Value root = entry_.tuple(values);
  if (!error_.empty()) return base::Error{error_};
  if (const std::string text = aliases(); !text.empty())
    module_.attrs.push_back({module_.strings.intern("input_output_alias"), module_.strings.intern(text)});
  module_.entry = add(std::move(entry_.comp_), kEntry, root);
  for (const ir::Finding& finding : ir::judge(module_).broken) {
    const ir::Instr& instr = module_.instr(finding.at.comp, finding.at.instr);
    return base::Error{fmt::format("instruction '{}': {}", module_.name_of(instr), finding.what)};
  }
  return std::move(module_);
}

}  // namespace importers::lowering
