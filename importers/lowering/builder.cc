// Instructions are appended one by one and get the shape that XLA's rules infer. An operator that breaks a rule (a program may say
// anything) leaves the first such finding, and what follows works on a scalar, so that lowering functions need no checks of their own.
#include "importers/lowering/builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "src/base/text.h"
#include "src/ir/escape.h"
#include "src/ir/infer.h"
#include "src/ir/verify.h"

namespace importers::lowering {
namespace {

using ir::Op;

std::string braces(const Dims& dims) { return fmt::format("{{{}}}", fmt::join(dims, ",")); }

Dims counting(int64_t n) {
  Dims dims(static_cast<size_t>(std::max<int64_t>(n, 0)));
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

ir::Shape with(const ir::Shape& shape, ir::Type type) { return ir::array_shape(type, shape.dims); }

/// "size=3x3 stride=2x2 pad=1_1x0_0", without what is as by default.
std::string window_text(std::span<const ir::WindowDim> window) {
  struct Field {
    std::string_view name;
    std::string (*text)(const ir::WindowDim&);
    std::string_view usual;
  };
  static constexpr Field kFields[] = {
      {"size", [](const ir::WindowDim& d) { return fmt::format("{}", d.size); }, ""},
      {"stride", [](const ir::WindowDim& d) { return fmt::format("{}", d.stride); }, "1"},
      {"pad", [](const ir::WindowDim& d) { return fmt::format("{}_{}", d.pad_low, d.pad_high); }, "0_0"},
      {"lhs_dilate", [](const ir::WindowDim& d) { return fmt::format("{}", d.base_dilation); }, "1"},
      {"rhs_dilate", [](const ir::WindowDim& d) { return fmt::format("{}", d.window_dilation); }, "1"},
      {"rhs_reversal", [](const ir::WindowDim& d) { return fmt::format("{}", d.reversed ? 1 : 0); }, "0"},
  };
  std::string text;
  for (const Field& field : kFields) {
    std::vector<std::string> parts;
    for (const ir::WindowDim& dim : window) parts.push_back(field.text(dim));
    if (std::ranges::all_of(parts, [&](const std::string& part) { return part == field.usual; })) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", field.name, fmt::join(parts, "x"));
  }
  return "{" + text + "}";
}

std::string_view word(ir::Direction direction) {
  constexpr std::string_view kWords[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  return kWords[static_cast<size_t>(direction)];
}

/// What leaves every value as it is.
double neutral(Op op, ir::Type type) {
  const bool is_floating = ir::is_float(type);
  const double greatest =
      is_floating ? std::numeric_limits<double>::infinity() : std::ldexp(1.0, std::min(ir::info(type).significant_bits, 62) - 1);
  switch (op) {
    case Op::multiply:
    case Op::and_:
      return 1;
    case Op::maximum:
      return -greatest;
    case Op::minimum:
      return greatest;
    default:
      return 0;
  }
}

/// Characters of a name that HLO text can hold.
constexpr std::array<bool, 256> kIsWord = [] {
  std::array<bool, 256> is_word{};
  for (const char c : std::string_view("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-."))
    is_word[static_cast<size_t>(c)] = true;
  return is_word;
}();

}  // namespace

Dims joined(const Dims& a, const Dims& b) {
  Dims both(std::max(a.size(), b.size()), 1);
  for (const Dims* side : {&a, &b}) {
    for (size_t i = 0; i < side->size(); ++i) {
      int64_t& size = both[both.size() - side->size() + i];
      if (size == 1) size = (*side)[i];
    }
  }
  return both;
}

// ---------------------------------------------------------------- Body

const ir::Shape& Body::held(Value value) const { return program_.module_.shape(comp_.instrs[static_cast<size_t>(value.id)]); }
ir::Shape Body::shape(Value value) const { return held(value); }

Value Body::add(ir::Instr instr) {
  instr.name = program_.unique(ir::text(instr.op));
  comp_.instrs.push_back(std::move(instr));
  return {static_cast<ir::InstrId>(comp_.instrs.size()) - 1};
}

Value Body::parameter(std::string_view name, const ir::Shape& shape) {
  ir::Instr instr;
  instr.op = Op::parameter;
  instr.number = static_cast<int64_t>(comp_.parameters.size());
  instr.shape = program_.module_.intern(shape);
  const Value value = add(std::move(instr));
  comp_.instrs.back().name = program_.unique(name);
  comp_.parameters.push_back(value.id);
  return value;
}

Value Body::op(Op op, std::span<const Value> operands, const Attrs& attrs, const ir::Shape* shape, std::span<const ir::CompId> calls,
               std::string_view calls_key) {
  ir::Module& module = program_.module_;
  ir::Instr instr;
  instr.op = op;
  for (const Value value : operands) instr.operands.push_back(value.id);
  instr.calls.assign(calls.begin(), calls.end());
  for (const auto& [key, text] : attrs) instr.attrs.push_back({module.strings.intern(key), module.strings.intern(text)});
  if (!calls.empty()) instr.attrs.push_back({module.strings.intern(calls_key), {}, static_cast<int32_t>(calls.size()), false});
  instr.shape = ir::kNoShape;
  if (this == &program_.entry_) instr.origin = program_.origin_;
  if (shape == nullptr) {
    const ir::Inferred inferred = ir::infer_shape(module, comp_, instr);
    if (inferred.how == ir::Inferred::broken) program_.broke(inferred.what);
    instr.shape = module.intern(inferred.how == ir::Inferred::follows ? inferred.shape : ir::array_shape(ir::Type::f32, {}));
  } else {
    instr.shape = module.intern(*shape);
  }
  const Value value = add(std::move(instr));
  if (this == &program_.entry_) comp_.instrs.back().name = program_.unique(program_.at_name_);
  return value;
}

Value Body::constant(const ir::Shape& shape, ir::Literal literal) {
  ir::Instr instr;
  instr.op = Op::constant;
  instr.shape = program_.module_.intern(shape);
  instr.literal = program_.module_.add(std::move(literal));
  return add(std::move(instr));
}

Value Body::constant(ir::Type type, double value) {
  const bool is_exact = ir::is_float(type) || ir::is_complex(type);
  return constant(ir::array_shape(type, {}),
                  is_exact ? ir::scalar_literal(type, value) : ir::scalar_literal(type, static_cast<int64_t>(value)));
}

Value Body::fill(ir::Type type, const Dims& dims, double value) { return broadcast(constant(type, value), dims, {}); }

Value Body::iota(ir::Type type, const Dims& dims, int64_t dimension) {
  const ir::Shape shape = ir::array_shape(type, dims);
  return op(Op::iota, {}, {{"iota_dimension", std::to_string(dimension)}}, &shape);
}

Value Body::convert(Value value, ir::Type type) {
  if (this->type(value) == type) return value;
  const ir::Shape shape = with(this->shape(value), type);
  return op(Op::convert, {{value}}, {}, &shape);
}

Value Body::unary(Op op, Value value) { return this->op(op, {{value}}); }

std::pair<Value, Value> Body::alike(Value a, Value b) {
  if (held(a).dims == held(b).dims) return {a, b};
  const Dims both = joined(dims(a), dims(b));
  const Value left = expand(a, both);  // in this order: instructions are numbered as they are made
  return {left, expand(b, both)};
}

Value Body::binary(Op op, Value a, Value b) {
  const auto [left, right] = alike(a, b);
  return this->op(op, {{left, right}});
}

Value Body::compare(ir::Direction direction, Value a, Value b) {
  return op(Op::compare, {{a, b}}, {{"direction", std::string(word(direction))}});
}

Value Body::select(Value condition, Value yes, Value no) { return op(Op::select, {{condition, yes, no}}); }

Value Body::broadcast(Value value, const Dims& dims, const Dims& at) {
  if (dims == held(value).dims && at == counting(rank(value))) return value;
  const ir::Shape shape = ir::array_shape(type(value), dims);
  return op(Op::broadcast, {{value}}, {{"dimensions", braces(at)}}, &shape);
}

Value Body::expand(Value value, const Dims& to) {
  if (held(value).dims == to) return value;
  const Dims from = dims(value);
  if (from.size() > to.size()) {
    program_.broke(fmt::format("[{}] does not broadcast to [{}]", fmt::join(from, ","), fmt::join(to, ",")));
    return value;
  }
  Dims kept, at;
  for (size_t i = 0; i < from.size(); ++i) {
    const size_t d = to.size() - from.size() + i;
    if (from[i] != to[d] && from[i] != 1) {
      program_.broke(fmt::format("[{}] does not broadcast to [{}]", fmt::join(from, ","), fmt::join(to, ",")));
      return value;
    }
    if (from[i] == to[d]) kept.push_back(from[i]), at.push_back(static_cast<int64_t>(d));
  }
  return broadcast(reshape(value, kept), to, at);
}

Value Body::reshape(Value value, const Dims& dims) {
  if (dims == held(value).dims) return value;
  const ir::Shape shape = ir::array_shape(type(value), dims);
  if (ir::elements(shape) != ir::elements(this->shape(value))) {
    program_.broke(fmt::format("[{}] does not reshape to [{}]", fmt::join(this->dims(value), ","), fmt::join(dims, ",")));
    return value;
  }
  return op(this == &program_.entry_ ? Op::bitcast : Op::reshape, {{value}}, {}, &shape);
}

Value Body::transpose(Value value, const Dims& permutation) {
  if (permutation == counting(rank(value))) return value;
  return op(Op::transpose, {{value}}, {{"dimensions", braces(permutation)}});
}

Value Body::slice(Value value, const std::vector<ir::SliceDim>& dims) {
  std::vector<std::string> parts;
  for (const ir::SliceDim& dim : dims) {
    parts.push_back(dim.stride == 1 ? fmt::format("[{}:{}]", dim.start, dim.limit)
                                    : fmt::format("[{}:{}:{}]", dim.start, dim.limit, dim.stride));
  }
  return op(Op::slice, {{value}}, {{"slice", fmt::format("{{{}}}", fmt::join(parts, ","))}});
}

Value Body::pad(Value value, Value with, const std::vector<ir::PadDim>& dims) {
  std::vector<std::string> parts;
  for (const ir::PadDim& dim : dims) {
    parts.push_back(dim.interior == 0 ? fmt::format("{}_{}", dim.low, dim.high) : fmt::format("{}_{}_{}", dim.low, dim.high, dim.interior));
  }
  return op(Op::pad, {{value, with}}, {{"padding", fmt::format("{}", fmt::join(parts, "x"))}});
}

Value Body::reverse(Value value, const Dims& dimensions) { return op(Op::reverse, {{value}}, {{"dimensions", braces(dimensions)}}); }

Value Body::concatenate(std::span<const Value> values, int64_t dimension) {
  if (values.size() == 1) return values.front();
  return op(Op::concatenate, values, {{"dimensions", braces({dimension})}});
}

Value Body::reduce(Op op, Value value, const Dims& dimensions) {
  if (dimensions.empty()) return value;
  const ir::Type of = type(value);
  const ir::CompId reducer = program_.reducer(op, of);
  return this->op(Op::reduce, {{value, constant(of, neutral(op, of))}}, {{"dimensions", braces(dimensions)}}, nullptr, {{reducer}});
}

Value Body::reduce_keep(Op op, Value value, const Dims& dimensions) {
  Dims kept = dims(value);
  for (const int64_t d : dimensions) kept[static_cast<size_t>(d)] = 1;
  return reshape(reduce(op, value, dimensions), kept);
}

Value Body::reduce_window(Op op, Value value, std::span<const ir::WindowDim> window) {
  const ir::Type of = type(value);
  const ir::CompId reducer = program_.reducer(op, of);
  return this->op(Op::reduce_window, {{value, constant(of, neutral(op, of))}}, {{"window", window_text(window)}}, nullptr, {{reducer}});
}

Value Body::select_and_scatter(Value operand, std::span<const ir::WindowDim> window, Value source) {
  const ir::Type of = type(operand);
  const ir::CompId select = program_.greater_or_equal(of), scatter = program_.reducer(Op::add, of);
  ir::Module& module = program_.module_;
  const ir::Shape result = shape(operand);
  const Value value = op(Op::select_and_scatter, {{operand, source, constant(of, 0)}}, {{"window", window_text(window)}}, &result,
                         {{select, scatter}}, "select");
  std::vector<ir::Attr>& attrs = comp_.instrs.back().attrs;
  attrs.back().calls = 1;
  attrs.push_back({module.strings.intern("scatter"), {}, 1, false});
  return value;
}

Value Body::tuple(std::span<const Value> values) { return op(Op::tuple, values); }

Value Body::element(Value tuple, int64_t index) { return op(Op::get_tuple_element, {{tuple}}, {{"index", std::to_string(index)}}); }

Value Body::dot(Value a, Value b, const ir::DotDims& dims, std::optional<ir::Type> result) {
  Attrs attrs;
  if (!dims.lhs_batch.empty()) attrs.emplace_back("lhs_batch_dims", braces(dims.lhs_batch));
  attrs.emplace_back("lhs_contracting_dims", braces(dims.lhs_contracting));
  if (!dims.rhs_batch.empty()) attrs.emplace_back("rhs_batch_dims", braces(dims.rhs_batch));
  attrs.emplace_back("rhs_contracting_dims", braces(dims.rhs_contracting));
  const Value value = op(Op::dot, {{a, b}}, attrs);
  if (result) comp_.instrs.back().shape = program_.module_.intern(with(shape(value), *result));
  return value;
}

Value Body::convolution(Value input, Value filter, const Convolution& convolution) {
  Attrs attrs{{"window", window_text(convolution.window)}, {"dim_labels", convolution.labels}};
  if (convolution.feature_groups != 1) attrs.emplace_back("feature_group_count", std::to_string(convolution.feature_groups));
  if (convolution.batch_groups != 1) attrs.emplace_back("batch_group_count", std::to_string(convolution.batch_groups));
  return op(Op::convolution, {{input, filter}}, attrs);
}

// ---------------------------------------------------------------- Program

Program::Program(std::string_view name) : entry_(*this) { module_.name = module_.strings.intern(spelled(name)); }

void Program::at(const At& at) {
  at_name_ = at.name;
  at_type_ = at.type;
  ir::Origin origin;
  origin.op_type = module_.strings.intern(at.type);
  origin.op_name = module_.strings.intern(at.name);
  origin.source_file = module_.strings.intern(at.source_file);
  origin.source_line = at.source_line;
  origin_ = module_.intern(origin);
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

ir::CompId Program::add(ir::Computation comp, std::string_view name, Value root) {
  comp.name = unique(name);
  comp.root = root.id;
  module_.computations.push_back(std::move(comp));
  return static_cast<ir::CompId>(module_.computations.size()) - 1;
}

Values Program::fuse(std::span<const Value> operands, const std::function<Values(Body&, std::span<const Value>)>& write) {
  Body body(*this);
  Values inside, distinct;
  for (const Value operand : operands) {
    const auto known = std::ranges::find(distinct, operand);
    if (known == distinct.end()) {
      distinct.push_back(operand);
      inside.push_back(body.parameter(fmt::format("p{}", distinct.size() - 1), entry_.shape(operand)));
    } else {
      inside.push_back({body.comp_.parameters[static_cast<size_t>(known - distinct.begin())]});
    }
  }
  const Values roots = write(body, inside);
  const Value root = roots.size() == 1 ? roots.front() : body.tuple(roots);
  const ir::Shape shape = body.shape(root);
  const ir::CompId callee = add(std::move(body.comp_), at_name_ + ".body", root);
  const Value fusion = entry_.op(Op::fusion, distinct, {{"kind", "kLoop"}}, &shape, {{callee}}, "calls");
  if (roots.size() == 1) return {fusion};
  Values results;
  for (size_t i = 0; i < roots.size(); ++i) results.push_back(entry_.element(fusion, static_cast<int64_t>(i)));
  return results;
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
  for (Result& result : results_) {
    if (result.parameter == parameter) return static_cast<void>(result.value = value);
  }
  results_.push_back({value, parameter});
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
  module_.entry = add(std::move(entry_.comp_), "main", root);
  for (const ir::Finding& finding : ir::judge(module_).broken) {
    const ir::Instr& instr = module_.instr(finding.at.comp, finding.at.instr);
    return base::Error{fmt::format("instruction '{}': {}", module_.name_of(instr), finding.what)};
  }
  return std::move(module_);
}

}  // namespace importers::lowering
