// Instructions are appended one by one and get the shape that XLA's rules infer. An operator that breaks a rule (a program may say
// anything) leaves the first such finding, and what follows works on a scalar, so that lowering functions need no checks of their own.
#include "importers/lowering/body.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "importers/lowering/builder.h"
#include "src/ir/infer.h"

namespace importers::lowering {
namespace {

using ir::Op;

std::string braces(const Dims& dims) { return fmt::format("{{{}}}", fmt::join(dims, ",")); }

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

/// What leaves every value as it is: a scalar.
ir::Literal neutral(Op op, ir::Type type) {
  if (op == Op::maximum) return ir::least_literal(type);
  if (op == Op::minimum) return ir::greatest_literal(type);
  return ir::scalar_literal(type, op == Op::multiply ? int64_t{1} : op == Op::and_ ? int64_t{-1} : int64_t{0});
}

}  // namespace

Dims counting(int64_t from, int64_t to) {
  Dims dims(static_cast<size_t>(std::max<int64_t>(to - from, 0)));
  std::iota(dims.begin(), dims.end(), from);
  return dims;
}

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

const ir::Shape& Body::held(Value value) const { return program_.module_.shape(comp_.instrs[static_cast<size_t>(value.id)]); }
ir::Shape Body::shape(Value value) const { return held(value); }
ir::ShapeId Body::shape_id(Value value) const { return comp_.instrs[static_cast<size_t>(value.id)].shape; }
bool Body::is_entry() const { return this == &program_.entry_; }

Value Body::add(ir::Instr instr) {
  if (is_entry() && instr.name == ir::StringId::empty) instr.name = program_.unique(ir::text(instr.op));
  comp_.instrs.push_back(std::move(instr));
  return {static_cast<ir::InstrId>(comp_.instrs.size()) - 1};
}

Value Body::parameter(std::string_view name, const ir::Shape& shape) {
  ir::Instr instr;
  instr.op = Op::parameter;
  instr.number = static_cast<int64_t>(comp_.parameters.size());
  instr.shape = program_.module_.intern(shape);
  instr.name = is_entry() ? program_.unique(name) : program_.module_.strings.intern(name);
  const Value value = add(std::move(instr));
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
  if (is_entry()) instr.origin = program_.origin_;
  if (shape == nullptr) {
    const ir::Inferred inferred = ir::infer_shape(module, comp_, instr);
    if (inferred.how == ir::Inferred::broken) program_.broke(inferred.what);
    instr.shape = module.intern(inferred.how == ir::Inferred::follows ? inferred.shape : ir::array_shape(ir::Type::f32, {}));
  } else {
    instr.shape = module.intern(*shape);
  }
  if (is_entry()) instr.name = program_.unique(program_.at_name_);
  return add(std::move(instr));
}

Value Body::constant(const ir::Shape& shape, ir::Literal literal) {
  ir::Instr instr;
  instr.op = Op::constant;
  instr.shape = program_.module_.intern(shape);
  instr.literal = program_.module_.add(std::move(literal));
  return add(std::move(instr));
}

Value Body::constant(ir::Type type, double value) {
  ir::Instr instr;
  instr.op = Op::constant;
  instr.shape = program_.module_.intern(ir::array_shape(type, {}));
  instr.literal = program_.scalar(type, value);
  return add(std::move(instr));
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
  if (dims == held(value).dims && at == counting(0, rank(value))) return value;
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
  return op(is_entry() ? Op::bitcast : Op::reshape, {{value}}, {}, &shape);
}

Value Body::transpose(Value value, const Dims& permutation) {
  if (permutation == counting(0, rank(value))) return value;
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

Value Body::part(Value value, int64_t dimension, int64_t from, int64_t to) {
  std::vector<ir::SliceDim> dims;
  for (const int64_t size : this->dims(value)) dims.push_back({0, size, 1});
  dims[static_cast<size_t>(dimension)] = {from, to, 1};
  return slice(value, dims);
}

Value Body::roll(Value value, int64_t dimension, int64_t places) {
  const int64_t size = dims(value)[static_cast<size_t>(dimension)], moved = size == 0 ? 0 : (places % size + size) % size;
  if (moved == 0) return value;
  const Value last = part(value, dimension, size - moved, size);
  return concatenate({{last, part(value, dimension, 0, size - moved)}}, dimension);
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
  return this->op(Op::reduce, {{value, constant(ir::array_shape(of, {}), neutral(op, of))}}, {{"dimensions", braces(dimensions)}}, nullptr,
                  {{reducer}});
}

Value Body::reduce_keep(Op op, Value value, const Dims& dimensions) {
  Dims kept = dims(value);
  for (const int64_t d : dimensions) kept[static_cast<size_t>(d)] = 1;
  return reshape(reduce(op, value, dimensions), kept);
}

Value Body::reduce_window(Op op, Value value, std::span<const ir::WindowDim> window) {
  const ir::Type of = type(value);
  const ir::CompId reducer = program_.reducer(op, of);
  return this->op(Op::reduce_window, {{value, constant(ir::array_shape(of, {}), neutral(op, of))}}, {{"window", window_text(window)}},
                  nullptr, {{reducer}});
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

}  // namespace importers::lowering
