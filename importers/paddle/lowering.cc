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

std::string braces(std::span<const int64_t> dims) { return fmt::format("({})", fmt::join(dims, ", ")); }

std::string_view shown_name(const Operator& op) {
  for (const std::string_view attribute : {"parameter_name", "name"}) {
    if (const std::string_view name = text_of(op.attribute(attribute)); !name.empty()) return name;
  }
  return {};
}

}  // namespace

std::launch beside(const Program& program) {
  return program.blocks.empty() || program.blocks[0].operators.size() < kWorthThread ? std::launch::deferred : std::launch::async;
}

Lowering::Lowering(const Program& program, const Input& input, std::string_view name, std::vector<PlacedNote>& notes)
    : program_(program), notes_(notes), out_(name), sizes_(program, input.options) {
  auto recipes = std::async(beside(program), [&] { return Recipes(program_, sizes_); });
  if (const std::string scaled = sizes_.text(); !scaled.empty()) notes_.push_back({program.offset, "scaled", scaled});
  const auto declare = [&](const Variable& variable) {
    Held& name = held(variable.name);
    if (name.variable == nullptr) name.variable = &variable;
  };
  for (const Block& block : program.blocks) {
    constexpr size_t kAhead = 16;
    for (size_t k = 0; k < block.variables.size(); ++k) {
      if (k + kAhead < block.variables.size()) index_.prefetch(block.variables[k + kAhead].name);
      declare(block.variables[k]);
    }
    for (const Variable& variable : block.missing) declare(variable);
    for (const Operator& op : block.operators) {
      for (const Slot& slot : op.inputs) {
        for (const std::string_view name : slot.arguments) held(name).is_read = true;
      }
    }
  }
  for (const Block& block : program.blocks) {
    for (const Operator& op : block.operators) find_spare(op);
  }
  recipes_ = recipes.get();
}

/// The half of a split that another rank works on is no result.
void Lowering::find_spare(const Operator& op) {
  const auto is_read = [&](std::string_view name) { return held(name).is_read; };
  for (const Slot& slot : op.outputs) {
    const bool parts =
        (program_.form == Form::readable || program_.form == Form::protobuf || op.type == "builtin.split") && slot.arguments.size() > 1;
    if (!parts || std::ranges::none_of(slot.arguments, is_read)) continue;
    for (const std::string_view name : slot.arguments) held(name).is_spare = !is_read(name);
  }
}

/// In held_; -1: not there.
int64_t Lowering::place_of(std::string_view name) const {
  const auto is_named = [&](size_t k) { return held_[k].name == name; };
  if (name.starts_with('%')) return index_.find(name, is_named);
  uint32_t& recent = recent_[reinterpret_cast<uintptr_t>(name.data()) / 2 % recent_.size()];
  if (recent < held_.size() && is_named(recent)) return recent;
  const int64_t at = index_.find(name, is_named);
  if (at >= 0) recent = static_cast<uint32_t>(at);
  return at;
}

const Lowering::Held* Lowering::known(std::string_view name) const {
  const int64_t at = place_of(name);
  return at < 0 ? nullptr : &held_[static_cast<size_t>(at)];
}

Lowering::Held& Lowering::held(std::string_view name) {
  if (const int64_t at = place_of(name); at >= 0) return held_[static_cast<size_t>(at)];
  index_.find_or_add(name, held_.size(), [](size_t) { return false; });
  Held& fresh = held_.emplace_back();
  fresh.name = name;
  return fresh;
}

const Variable* Lowering::declared(std::string_view name) const {
  const Held* found = known(name);
  return found == nullptr ? nullptr : found->variable;
}

const Tensor* Lowering::find(std::string_view name) const {
  const Held* found = known(name);
  return found == nullptr || !found->tensor ? nullptr : &*found->tensor;
}

Tensor& Lowering::tensor(std::string_view name) {
  std::optional<Tensor>& tensor = held(name).tensor;
  return tensor ? *tensor : tensor.emplace();
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
  Held& into = held(name);
  const Variable* variable = into.variable;
  Tensor tensor;
  if (variable == nullptr || variable->type.kind != Type::Kind::tensor) {
    failure_ = fmt::format("{} is read, but nothing declares it as a tensor", base::escaped(name));
    tensor.value = out_.entry().constant(ir::Type::f32, 0);
  } else {
    tensor.value = out_.parameter(shown, shape_by_declaration(*variable), recipes_.of(name));
    tensor.parameter = tensor.value;
    if (into.parameter.id < 0) into.parameter = tensor.value;
  }
  return into.tensor.emplace(std::move(tensor));
}

Tensor& Lowering::read(std::string_view name) {
  std::optional<Tensor>& tensor = held(name).tensor;
  return tensor ? *tensor : make_parameter(name, name);
}

void Lowering::flatten(const Tensor& tensor, Values& values) const {
  if (!tensor.is_list) return values.push_back(tensor.value);
  for (const Tensor& element : tensor.list) values.push_back(element.value);
}

/// A short text can use a long list again and again.
void Lowering::spread(const Tensor& tensor, Values& values) {
  constexpr size_t kMostSpread = size_t{1} << 22;  // elements of lists, in all operators together
  if (spread_ > kMostSpread) return static_cast<void>(failure_ = "the lists that operators read hold too many elements together");
  spread_ += tensor.list.size();
  flatten(tensor, values);
}

// ---------------------------------------------------------------- what an operator makes

/// State is written back where it came from.
void Lowering::keep_state(Held& name) {
  if (name.variable == nullptr || !name.variable->persistable || name.tensor->value.id < 0) return;
  if (name.parameter.id < 0) return written_.push_back(name.name);
  name.tensor->parameter = name.parameter;
  states_.emplace_back(name.parameter, name.tensor->value);
}

void Lowering::bind(std::string_view name, Tensor tensor) {
  Held& into = held(name);
  if (!into.tensor) made_.push_back(name);
  into.tensor = std::move(tensor);
  if (program_.form == Form::readable || program_.form == Form::protobuf) keep_state(into);
}

/// PIR tells of memory by the operator alone: its result is the operand's new state.
void Lowering::bind_aliases(const Normal& normal) {
  const auto argument = [](std::span<const Slot> slots, std::string_view name) -> std::string_view {
    const auto slot = std::ranges::find(slots, name, &Slot::name);
    return slot == slots.end() || slot->arguments.empty() ? std::string_view() : slot->arguments[0];
  };
  for (const auto& [out, in] : normal.aliases) {
    std::optional<Tensor>& made = held(argument(normal.op().outputs, out)).tensor;
    const Tensor* given = find(argument(normal.op().inputs, in));
    if (!made || given == nullptr || given->parameter.id < 0 || made->value.id < 0) continue;
    made->parameter = given->parameter;
    states_.emplace_back(given->parameter, made->value);
  }
}

/// Shapes that follow are believed; a declaration that says something else is noted.
void Lowering::compare(std::string_view name, std::string_view slot, const Tensor& tensor) {
  const Variable* variable = declared(name);
  if (variable == nullptr || variable->type.kind != Type::Kind::tensor || tensor.value.id < 0 || slot == "XShape") return;
  const ir::Shape& shape = out_.entry().held(tensor.value);
  const std::span<const int64_t> said = variable->type.dims;
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
      if (!name.empty() && (find(name) != nullptr || declared(name) != nullptr)) spread(read(name), operands);
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

void Lowering::run(const Names& names, const std::function<void(size_t)>& done) {
  names_ = &names;
  size_t count = 0;
  for (const Operator& op : program_.blocks[0].operators) run(op), done(++count);
}

void Lowering::run(const Block& block) {
  for (const Operator& op : block.operators) run(op);
}

void Lowering::run(const Operator& given) {
  const std::string_view name = (*names_)[given.number];
  offset_ = given.offset;
  failure_.clear();
  const std::string_view type = shown_type(given);
  const auto line = static_cast<int32_t>(std::clamp<int64_t>(given.file_line, 0, INT32_MAX));
  out_.at({name.empty() ? type : name, type, given.file, line});
  Normal normal = paddle::normal(given, program_.form);
  lower(normal);
  last_ = std::move(normal);
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
  const std::string_view key = key_of(op);
  if (failed_.empty() || !failed_.contains(std::string(key))) out_.alike(key);
  row->lower(call);
  if (failure_.empty()) fold(call);
  for (auto& [result, known] : told_) tensor(result).known = std::move(known);
  if (!failure_.empty()) return failed_.emplace(key), call_by_name(op, std::string(failure_));
  for (const Slot& slot : op.outputs) {
    for (const std::string_view result : slot.arguments) {
      const Tensor* tensor = find(result);
      if (tensor != nullptr) compare(result, slot.name, *tensor);
    }
  }
  bind_aliases(normal);
}

/// All that a row's function sees of an operator (Call) but for the values that its operands are; "" where that is much. Labels tell
/// nothing about what it does. Until the next one.
std::string_view Lowering::key_of(const Operator& op) {
  key_.clear();
  return make_key(op) ? std::string_view(key_.text()) : std::string_view();
}

/// False: there is more than keys are made of.
bool Lowering::make_key(const Operator& op) {
  static constexpr std::string_view kLabels[] = {"op_role", "op_role_var", "op_namescope", "op_device", "op_callstack", "struct_name"};
  key_.add(op.type);
  for (const Attribute& attribute : op.attributes) {
    if (std::ranges::find(kLabels, attribute.name) == std::end(kLabels)) key_.add(attribute.name), key_.add(attribute.value);
  }
  for (const Slot& slot : op.inputs) {
    key_.add(slot.name), key_.add(slot.arguments.size());
    for (const std::string_view name : slot.arguments) {
      if (!add(key_, name)) return false;
    }
  }
  for (const Slot& slot : op.outputs) {
    key_.add(slot.name), key_.add(slot.arguments.size());
    for (const std::string_view name : slot.arguments) {
      const Variable* variable = declared(name);
      key_.add(name.empty()), key_.add(variable == nullptr ? Type::Kind::other : variable->type.kind);
    }
  }
  return true;
}

/// False: there is more than keys are made of.
bool Lowering::add(lowering::Key& key, std::string_view operand) {
  const Held* name = known(operand);
  const Tensor* tensor = name == nullptr || !name->tensor ? nullptr : &*name->tensor;
  const Variable* variable = name == nullptr ? nullptr : name->variable;
  key.add(tensor != nullptr), key.add(variable != nullptr);
  if (tensor != nullptr) return add(key, *tensor);
  if (variable != nullptr) key.add(variable->type.kind), key.add(variable->type.dtype), key.add(variable->type.dims);
  return true;
}

bool Lowering::add(lowering::Key& key, const Tensor& tensor) const {
  constexpr size_t kMost = 64;  // numbers, elements of a list
  if ((tensor.known != nullptr && tensor.known->size() > kMost) || tensor.list.size() > kMost) return false;
  key.add(tensor.value.id >= 0), key.add(tensor.is_list), key.add(tensor.dims), key.add(tensor.known != nullptr);
  if (tensor.value.id >= 0) key.add(out_.entry().shape_id(tensor.value));
  if (tensor.known != nullptr) key.add(*tensor.known);
  key.add(tensor.list.size());
  return std::ranges::all_of(tensor.list, [&](const Tensor& element) { return add(key, element); });
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
      if (name.empty()) continue;
      if (read(name).is_list) return call_by_name(op, "a list of lists has no lowering");
      list.list.push_back(read(name));
    }
  }
  if (!op.outputs.empty() && !op.outputs[0].arguments.empty()) bind(op.outputs[0].arguments[0], std::move(list));
}

void Lowering::take_apart(const Operator& op) {
  const std::string_view from = op.inputs.empty() || op.inputs[0].arguments.empty() ? std::string_view() : op.inputs[0].arguments[0];
  const Tensor* list = find(from);
  if (list == nullptr || !list->is_list || op.outputs.empty()) return call_by_name(op, "the list is not known");
  const auto count = static_cast<std::ptrdiff_t>(std::min(list->list.size(), op.outputs[0].arguments.size()));
  const std::vector<Tensor> elements(list->list.begin(), list->list.begin() + count);  // a result may have the list's name
  for (size_t k = 0; k < elements.size(); ++k) bind(op.outputs[0].arguments[k], elements[k]);
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
  this->tensor(op.outputs[0].arguments[0]) = std::move(tensor);
}

// ---------------------------------------------------------------- the end

std::string Lowering::shape_of(const Operator& given) {
  const auto text = [&](Value value) -> const std::string& {
    const auto id = static_cast<size_t>(out_.entry().shape_id(value));
    if (id >= shape_texts_.size()) shape_texts_.resize(id + 1);
    if (shape_texts_[id].empty()) shape_texts_[id] = ir::print(out_.entry().held(value), ir::LayoutPrint::without);
    return shape_texts_[id];
  };
  std::vector<std::string_view> shapes;
  Values values;
  if (last_.given != &given) last_ = normal(given, program_.form);
  for (const Slot& slot : last_.op().outputs) {
    if (slot.name == "XShape") continue;
    for (const std::string_view name : slot.arguments) {
      const Tensor* found = find(name);
      if (found == nullptr) continue;
      values.clear();
      flatten(*found, values);
      for (const Value value : values) {
        if (value.id >= 0) shapes.push_back(text(value));
      }
    }
  }
  return shapes.empty() ? "" : shapes.size() == 1 ? std::string(shapes[0]) : fmt::format("({})", fmt::join(shapes, ", "));
}

/// State in place; what nobody reads is what the program was run for.
void Lowering::add_results() {
  for (const auto& [parameter, value] : states_) {
    if (value != parameter) out_.result_in_place(value, parameter);
  }
  std::ranges::sort(written_);
  const auto twice = std::ranges::unique(written_);
  written_.erase(twice.begin(), twice.end());
  for (const std::string_view name : written_) out_.result(tensor(name).value);
  for (const std::string_view name : made_) {
    const Held& made = held(name);
    const bool persists = made.variable != nullptr && made.variable->persistable;
    if (made.is_read || made.is_spare || made.parameter.id >= 0 || persists || !made.tensor || made.tensor->value.id < 0) continue;
    if (made.tensor->parameter.id < 0) out_.result(made.tensor->value);
  }
}

base::Result<ir::Module> Lowering::finish() {
  add_results();
  return out_.finish();
}

}  // namespace importers::paddle
