// Operators in order, each with what its operands hold at that point. A variable that is read before anything has written it is a parameter
// of the module; one that persists and is written takes the parameter's memory back at the end. Shapes follow from the operands: where a
// declaration says something else, the declaration is noted and left.
#include "importers/paddle/lowering.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "importers/paddle/attribute.h"
#include "importers/paddle/fold.h"
#include "src/base/text.h"
#include "src/ir/print.h"

namespace importers::paddle {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 40;

std::string braces(const Dims& dims) { return fmt::format("({})", fmt::join(dims, ", ")); }

std::string_view shown_name(const Operator& op) {
  for (const std::string_view attribute : {"parameter_name", "name"}) {
    if (const std::string_view name = text_of(op.attribute(attribute)); !name.empty()) return name;
  }
  return {};
}

}  // namespace

Lowering::Lowering(const Program& program, const Input& input, std::string_view name, std::vector<PlacedNote>& notes)
    : program_(program), notes_(notes), out_(name), sizes_(program, input.options), recipes_(program, sizes_) {
  if (const std::string scaled = sizes_.text(); !scaled.empty()) notes_.push_back({program.offset, "scaled", scaled});
  for (const Block& block : program.blocks) {
    for (const Variable& variable : block.variables) variables_.emplace(variable.name, &variable);
    for (const Variable& variable : block.missing) variables_.emplace(variable.name, &variable);
    for (const Operator& op : block.operators) {
      for (const Slot& slot : op.inputs) used_.insert(slot.arguments.begin(), slot.arguments.end());
    }
  }
  for (const Block& block : program.blocks) {
    for (const Operator& op : block.operators) find_spare(op);
  }
}

/// The half of a split that another rank works on is no result.
void Lowering::find_spare(const Operator& op) {
  const auto is_read = [&](std::string_view name) { return used_.contains(name); };
  for (const Slot& slot : op.outputs) {
    const bool parts =
        (program_.form == Form::readable || program_.form == Form::protobuf || op.type == "builtin.split") && slot.arguments.size() > 1;
    if (!parts || std::ranges::none_of(slot.arguments, is_read)) continue;
    for (const std::string_view name : slot.arguments) {
      if (!is_read(name)) spare_.insert(name);
    }
  }
}

const Variable* Lowering::declared(std::string_view name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : found->second;
}

Tensor* Lowering::find(std::string_view name) {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

ir::Shape Lowering::shape_by_declaration(const Variable& variable) {
  const bool open = std::ranges::any_of(variable.type.dims, [](int64_t dim) { return dim < 0; });
  Dims dims = sizes_.assumed(variable.type.dims);
  if (open)
    note("assumed-size", fmt::format("{} is declared {}: taken as {}; --batch says another", base::escaped(variable.name),
                                     braces(variable.type.dims), braces(dims)));
  if (elements_of(dims) > kMostElements) {
    failure_ = fmt::format("{} has more elements than a machine holds", base::escaped(variable.name));
    dims.clear();
  }
  return ir::array_shape(ir_type(variable.type.dtype).value_or(ir::Type::f32), std::move(dims));
}

Tensor& Lowering::make_parameter(std::string_view name, std::string_view shown) {
  const Variable* variable = declared(name);
  Tensor tensor;
  if (variable == nullptr || variable->type.kind != Type::Kind::tensor) {
    failure_ = fmt::format("{} is read, but nothing declares it as a tensor", base::escaped(name));
    tensor.value = out_.entry().constant(ir::Type::f32, 0);
  } else {
    tensor.value = out_.parameter(shown, shape_by_declaration(*variable), recipes_.of(name));
    tensor.parameter = tensor.value;
    parameters_.emplace(name, tensor.value);
  }
  return tensors_[name] = std::move(tensor);
}

Tensor& Lowering::read(std::string_view name) {
  if (Tensor* known = find(name)) return *known;
  return make_parameter(name, name);
}

void Lowering::flatten(const Tensor& tensor, Values& values) const {
  if (!tensor.is_list) return values.push_back(tensor.value);
  for (const Tensor& element : tensor.list) flatten(element, values);
}

// ---------------------------------------------------------------- what an operator makes

void Lowering::bound(std::string_view name, const Tensor& tensor) {
  const Variable* variable = declared(name);
  if (variable == nullptr || !variable->persistable || tensor.value.id < 0) return;
  const auto parameter = parameters_.find(name);
  if (parameter == parameters_.end()) return written_.push_back(name);
  tensors_[name].parameter = parameter->second;
  states_.emplace_back(parameter->second, tensor.value);
}

void Lowering::bind(std::string_view name, Tensor tensor) {
  if (!tensors_.contains(name)) made_.push_back(name);
  Tensor& held = tensors_[name] = std::move(tensor);
  if (program_.form == Form::readable || program_.form == Form::protobuf) bound(name, Tensor(held));
}

/// PIR tells of memory by the operator alone: its result is the operand's new state.
void Lowering::bind_aliases(const Normal& normal) {
  const auto argument = [](const std::vector<Slot>& slots, std::string_view name) -> std::string_view {
    const auto slot = std::ranges::find(slots, name, &Slot::name);
    return slot == slots.end() || slot->arguments.empty() ? std::string_view() : slot->arguments[0];
  };
  for (const auto& [out, in] : normal.aliases) {
    Tensor* made = find(argument(normal.op().outputs, out));
    const Tensor* given = find(argument(normal.op().inputs, in));
    if (made == nullptr || given == nullptr || given->parameter.id < 0 || made->value.id < 0) continue;
    made->parameter = given->parameter;
    states_.emplace_back(given->parameter, made->value);
  }
}

/// Shapes that follow are believed; a declaration that says something else is noted.
void Lowering::compare(std::string_view name, std::string_view slot, const Tensor& tensor) {
  const Variable* variable = declared(name);
  if (variable == nullptr || variable->type.kind != Type::Kind::tensor || tensor.value.id < 0 || slot == "XShape") return;
  const ir::Shape shape = out_.entry().shape(tensor.value);
  const Dims& said = variable->type.dims;
  bool same = said.size() == shape.dims.size();
  for (size_t i = 0; same && i < said.size(); ++i)
    same = said[i] < 0 || sizes_.scaled(said[i]) == shape.dims[i] || said[i] == shape.dims[i];
  if (!same)
    note("shape-conflict", fmt::format("{} is declared {}, but follows as {}", base::escaped(name), braces(said), braces(shape.dims)));
  const auto type = ir_type(variable->type.dtype);
  if (type && *type != shape.type)
    note("type-conflict",
         fmt::format("{} is declared {}, but follows as {}", base::escaped(name), variable->type.dtype, ir::text(shape.type)));
}

/// A call by the operator's name, with the shapes that its results are declared with: a replay skips it and says so.
void Lowering::call_by_name(const Operator& op, std::string_view why) {
  ++unknown_;
  note("not-lowered", fmt::format("{}: {}", base::escaped(op.type), why));
  Values operands;
  for (const Slot& slot : op.inputs) {
    for (const std::string_view name : slot.arguments) {
      if (!name.empty() && (find(name) != nullptr || declared(name) != nullptr)) flatten(read(name), operands);
    }
  }
  std::erase_if(operands, [](Value value) { return value.id < 0; });
  std::vector<ir::Shape> shapes;
  std::vector<std::string_view> names;
  for (const Slot& slot : op.outputs) {
    for (const std::string_view name : slot.arguments) {
      const Variable* variable = declared(name);
      if (variable == nullptr || variable->type.kind != Type::Kind::tensor) continue;
      const Tensor* before = find(name);
      const bool keeps = before != nullptr && before->value.id >= 0;
      shapes.push_back(keeps ? out_.entry().shape(before->value) : shape_by_declaration(*variable));
      names.push_back(name);
    }
  }
  if (shapes.empty()) return;
  const Values results = out_.unknown(fmt::format("paddle.{}", op.type), operands, shapes);
  for (size_t i = 0; i < results.size(); ++i) bind(names[i], {results[i], {}, {}, false, {}, nullptr});
}

void Lowering::run(const Names& names) {
  names_ = &names;
  run(program_.blocks[0]);
}

void Lowering::run(const Block& block) {
  for (const Operator& op : block.operators) run(op);
}

void Lowering::run(const Operator& given) {
  const auto name = names_->find(&given);
  offset_ = given.offset;
  failure_.clear();
  const std::string_view type = shown_type(given);
  const auto line = static_cast<int32_t>(std::clamp<int64_t>(given.file_line, 0, INT32_MAX));
  out_.at({name == names_->end() ? type : std::string_view(name->second), type, given.file, line});
  lower(normal(given, program_.form));
}

void Lowering::lower(const Normal& normal) {
  const Operator& op = normal.op();
  if (const Structural function = structural(op.type)) return (this->*function)(op);
  const Row* row = find_row(op.type);
  if (row == nullptr || !op.blocks.empty()) return call_by_name(op, op.blocks.empty() ? "has no lowering" : "control flow has no lowering");
  Call call(*this, op);
  for (std::string_view needs = row->needs; !needs.empty();) {
    const std::string_view slot = needs.substr(0, needs.find(' '));
    if (!call.has(slot)) return call_by_name(op, fmt::format("has no operand {}", slot));
    needs.remove_prefix(std::min(needs.size(), slot.size() + 1));
  }
  told_.clear();
  row->lower(call);
  if (failure_.empty()) fold(call);
  for (auto& [result, known] : told_) tensors_[result].known = std::move(known);
  if (!failure_.empty()) return call_by_name(op, std::string(failure_));
  for (const Slot& slot : op.outputs) {
    for (const std::string_view result : slot.arguments) {
      const Tensor* tensor = find(result);
      if (tensor != nullptr) compare(result, slot.name, *tensor);
    }
  }
  bind_aliases(normal);
}

// ---------------------------------------------------------------- PIR's own operators

Lowering::Structural Lowering::structural(std::string_view type) {
  static constexpr std::pair<std::string_view, Structural> kTable[] = {
      {"builtin.combine", &Lowering::combine},
      {"builtin.constant", &Lowering::constant},
      {"builtin.get_parameter", &Lowering::parameter},
      {"builtin.parameter", &Lowering::parameter},
      {"builtin.set_parameter", &Lowering::give},
      {"builtin.shadow_output", &Lowering::give},
      {"builtin.slice", &Lowering::index},
      {"builtin.split", &Lowering::take_apart},
      {"cf.yield", &Lowering::yield},
      {"data", &Lowering::parameter},
      {"feed", &Lowering::parameter},
      {"group", &Lowering::group},
      {"if", &Lowering::branch},
      {"while", &Lowering::loop},
      {"conditional_block", &Lowering::conditional_block},
      {"select_input", &Lowering::select_input},
  };
  const auto found = std::ranges::find(kTable, type, &std::pair<std::string_view, Structural>::first);
  return found == std::end(kTable) ? nullptr : found->second;
}

/// In the old IR the tensor is a column of the feed list; in PIR the operator is the feed.
void Lowering::parameter(const Operator& op) {
  for (const Slot& slot : op.outputs) {
    for (const std::string_view name : slot.arguments) {
      const std::string_view shown = shown_name(op);
      make_parameter(name, shown.empty() ? name : shown);
      made_.push_back(name);
    }
  }
}

void Lowering::combine(const Operator& op) {
  Tensor list;
  list.is_list = true;
  for (const Slot& slot : op.inputs) {
    for (const std::string_view name : slot.arguments) {
      if (!name.empty()) list.list.push_back(read(name));
    }
  }
  if (!op.outputs.empty() && !op.outputs[0].arguments.empty()) bind(op.outputs[0].arguments[0], std::move(list));
}

void Lowering::take_apart(const Operator& op) {
  const std::string_view from = op.inputs.empty() || op.inputs[0].arguments.empty() ? std::string_view() : op.inputs[0].arguments[0];
  const Tensor* list = find(from);
  if (list == nullptr || !list->is_list || op.outputs.empty()) return call_by_name(op, "the list is not known");
  const std::vector<Tensor> elements = list->list;
  for (size_t k = 0; k < std::min(elements.size(), op.outputs[0].arguments.size()); ++k) bind(op.outputs[0].arguments[k], elements[k]);
}

void Lowering::index(const Operator& op) {
  const std::string_view from = op.inputs.empty() || op.inputs[0].arguments.empty() ? std::string_view() : op.inputs[0].arguments[0];
  const Tensor* list = find(from);
  const auto k = integer_of(op.attribute("index"));
  if (list == nullptr || !list->is_list || !k || *k < 0 || static_cast<size_t>(*k) >= list->list.size() || op.outputs.empty())
    return call_by_name(op, "the list is not known");
  bind(op.outputs[0].arguments[0], Tensor(list->list[static_cast<size_t>(*k)]));
}

void Lowering::give(const Operator& op) {
  for (const Slot& slot : op.inputs) {
    for (const std::string_view name : slot.arguments) {
      if (!name.empty() && read(name).value.id >= 0) out_.result(read(name).value);
    }
  }
}

/// `builtin.constant` of 2023: numbers for another operator.
void Lowering::constant(const Operator& op) {
  const auto values = integers_of(op.attribute("value"));
  if (!values || op.outputs.empty()) return call_by_name(op, "the value is not known");
  ir::Literal literal;
  Tensor tensor;
  std::vector<double> known;
  for (const int64_t value : *values) {
    const ir::Literal one = ir::scalar_literal(ir::Type::s64, value);
    literal.data.insert(literal.data.end(), one.data.begin(), one.data.end());
    known.push_back(static_cast<double>(value));
  }
  tensor.value = out_.entry().constant(ir::array_shape(ir::Type::s64, {static_cast<int64_t>(values->size())}), std::move(literal));
  tensor.known = std::make_shared<const std::vector<double>>(std::move(known));
  tensors_[op.outputs[0].arguments[0]] = std::move(tensor);
}

// ---------------------------------------------------------------- the end

std::string Lowering::shape_of(const Operator& op) {
  std::vector<std::string> shapes;
  for (const Slot& slot : op.outputs) {
    if (slot.name == "XShape") continue;
    for (const std::string_view name : slot.arguments) {
      const auto found = tensors_.find(name);
      if (found == tensors_.end()) continue;
      Values values;
      flatten(found->second, values);
      for (const Value value : values) {
        if (value.id >= 0) shapes.push_back(ir::print(out_.entry().shape(value), ir::LayoutPrint::without));
      }
    }
  }
  return shapes.empty() ? "" : shapes.size() == 1 ? shapes[0] : fmt::format("({})", fmt::join(shapes, ", "));
}

/// State in place; what nobody reads is what the program was run for.
void Lowering::add_results() {
  for (const auto& [parameter, value] : states_) {
    if (value != parameter) out_.result_in_place(value, parameter);
  }
  std::ranges::sort(written_);
  const auto twice = std::ranges::unique(written_);
  written_.erase(twice.begin(), twice.end());
  for (const std::string_view name : written_) out_.result(tensors_[name].value);
  for (const std::string_view name : made_) {
    const Tensor& tensor = tensors_[name];
    const Variable* variable = declared(name);
    if (tensor.value.id < 0 || used_.contains(name) || spare_.contains(name) || parameters_.contains(name) ||
        (variable != nullptr && variable->persistable))
      continue;
    if (tensor.parameter.id < 0) out_.result(tensor.value);
  }
}

base::Result<ir::Module> Lowering::finish() {
  add_results();
  return out_.finish();
}

}  // namespace importers::paddle
