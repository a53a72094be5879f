// What a row's function sees of its operator.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "importers/paddle/attribute.h"
#include "importers/paddle/lowering.h"
#include "src/base/math.h"

namespace importers::paddle {
namespace {

constexpr int64_t kMostSize = 9'000'000'000'000'000;  ///< what a double holds exactly, and sums of some of them fit in 64 bits

}  // namespace

lowering::Program& Call::program() { return lowering_.out_; }
Body& Call::entry() { return lowering_.out_.entry(); }

const Slot* Call::slot_of(std::span<const Slot> slots, std::string_view name) const {
  const auto found = std::ranges::find(slots, name, &Slot::name);
  return found == slots.end() ? nullptr : &*found;
}

bool Call::has(std::string_view slot) const {
  const Slot* found = slot_of(op_.inputs, slot);
  return found != nullptr && !found->arguments.empty() && !found->arguments[0].empty();
}

/// PIR gives every result a name; one that is not wanted has no type.
bool Call::wants(std::string_view slot) const {
  const Slot* found = slot_of(op_.outputs, slot);
  if (found == nullptr || found->arguments.empty()) return false;
  const Variable* variable = lowering_.declared(found->arguments[0]);
  return lowering_.program_.form == Form::readable || variable == nullptr || variable->type.kind != Type::Kind::absent;
}

size_t Call::count(std::string_view slot) const {
  const Slot* found = slot_of(op_.inputs, slot);
  return found == nullptr ? 0 : found->arguments.size();
}

Value Call::in(std::string_view slot, size_t k) {
  const Slot* found = slot_of(op_.inputs, slot);
  if (found == nullptr || k >= found->arguments.size()) {
    fail(fmt::format("has no operand {}", slot));
    return entry().constant(ir::Type::f32, 0);
  }
  const Tensor& tensor = lowering_.read(found->arguments[k]);
  if (tensor.value.id >= 0) return tensor.value;
  fail(fmt::format("{} holds no data", slot));
  return entry().constant(ir::Type::f32, 0);
}

Values Call::all(std::string_view slot) {
  Values values;
  const Slot* found = slot_of(op_.inputs, slot);
  if (found == nullptr) return values;
  for (const std::string_view name : found->arguments) lowering_.spread(lowering_.read(name), values);
  if (std::ranges::any_of(values, [](Value value) { return value.id < 0; })) {
    fail(fmt::format("{} holds no data", slot));
    std::erase_if(values, [](Value value) { return value.id < 0; });
  }
  return values;
}

Dims Call::dims(std::string_view slot, size_t k) {
  const Slot* found = slot_of(op_.inputs, slot);
  if (found == nullptr || k >= found->arguments.size()) return {};
  const Tensor& tensor = lowering_.read(found->arguments[k]);
  return tensor.value.id >= 0 ? entry().dims(tensor.value) : tensor.dims;
}

ir::Type Call::type(std::string_view slot, size_t k) { return entry().type(in(slot, k)); }

Known Call::known(std::string_view slot, size_t k) {
  const Slot* found = slot_of(op_.inputs, slot);
  if (found == nullptr || k >= found->arguments.size() || found->arguments[k].empty()) return nullptr;
  return lowering_.read(found->arguments[k]).known;
}

std::optional<Dims> Call::sizes(std::string_view attribute, std::initializer_list<std::string_view> slots) {
  for (const std::string_view slot : slots) {
    if (!has(slot)) continue;
    const auto told = told_by(slot);
    if (!told) return std::nullopt;
    Dims sizes;
    for (const double value : *told) sizes.push_back(std::clamp(base::saturated_int(value), -kMostSize, kMostSize));
    return sizes;
  }
  const std::string_view written = text(attribute);
  if (written.empty()) return std::nullopt;
  auto sizes = integers_of(written);
  if (!sizes) return sizes;
  for (int64_t& size : *sizes) size = std::clamp(size, -kMostSize, kMostSize);
  if (attribute == "shape" || attribute == "out_shape" || attribute == "ends" || attribute == "starts" || attribute == "sections") {
    for (int64_t& size : *sizes) size = lowering_.sizes_.scaled(size);
  }
  return sizes;
}

double Call::number(std::string_view attribute, double otherwise, std::string_view slot) {
  if (const Known value = slot.empty() ? nullptr : known(slot); value && value->size() == 1) return value->front();
  if (!slot.empty() && has(slot)) fail(fmt::format("{} is known at run time only", slot));
  return number_of(text(attribute)).value_or(otherwise);
}

int64_t Call::integer(std::string_view attribute, int64_t otherwise, std::string_view slot) {
  const double value = number(attribute, static_cast<double>(otherwise), slot);
  return std::fabs(value) <= static_cast<double>(kMostSize) ? static_cast<int64_t>(value) : otherwise;
}

std::vector<double> Call::numbers(std::string_view attribute, std::string_view slot) {
  if (has(slot)) return told_by(slot).value_or(std::vector<double>());
  std::vector<double> all;
  const std::string_view written = text(attribute);
  if (const auto one = number_of(written)) return {*one};
  for (const std::string_view item : items_of(written)) all.push_back(number_of(item).value_or(0));
  return all;
}

bool Call::flag(std::string_view attribute, bool otherwise) { return flag_of(text(attribute)).value_or(otherwise); }

double Call::scaled(double value) const {
  const bool whole = value == std::trunc(value) && std::fabs(value) < 9e15;
  return whole ? static_cast<double>(lowering_.sizes_.scaled(static_cast<int64_t>(value))) : value;
}

std::string_view Call::text(std::string_view attribute) const { return text_of(op_.attribute(attribute)); }

std::optional<ir::Type> Call::named_type(std::string_view attribute) const { return ir_type(dtype_name(text(attribute))); }

void Call::set(std::string_view slot, Value value, size_t k) {
  const Slot* found = slot_of(op_.outputs, slot);
  if (found == nullptr || k >= found->arguments.size() || found->arguments[k].empty()) return;
  if (k == 0 && !wants(slot)) return;
  Tensor tensor;
  tensor.value = value;
  lowering_.bind(found->arguments[k], std::move(tensor));
}

Value Call::as_declared(std::string_view slot, Value value) {
  const Slot* found = slot_of(op_.outputs, slot);
  const Variable* variable = found == nullptr || found->arguments.empty() ? nullptr : lowering_.declared(found->arguments[0]);
  if (variable == nullptr || variable->type.kind != Type::Kind::tensor) return value;
  const Dims dims = lowering_.sizes_.assumed(variable->type.dims);
  return elements_of(dims) == elements_of(entry().dims(value)) ? entry().reshape(value, dims) : value;
}

void Call::set_list(std::string_view slot, const Values& values) {
  const Slot* found = slot_of(op_.outputs, slot);
  if (found == nullptr || found->arguments.empty()) return;
  const Variable* variable = lowering_.declared(found->arguments[0]);
  const bool is_list = variable != nullptr && variable->type.kind == Type::Kind::list;
  if (!is_list) {
    for (size_t k = 0; k < std::min(values.size(), found->arguments.size()); ++k) set(slot, values[k], k);
    return;
  }
  Tensor list;
  list.is_list = true;
  for (const Value value : values) list.list.push_back({value, {}, {}, false, {}, nullptr});
  lowering_.bind(found->arguments[0], std::move(list));
}

void Call::set_known(std::string_view slot, std::vector<double> values) {
  const Slot* found = slot_of(op_.outputs, slot);
  if (found == nullptr || found->arguments.empty()) return;
  lowering_.told_[found->arguments[0]] = std::make_shared<const std::vector<double>>(std::move(values));
}

void Call::join_known(std::string_view slot) {
  auto told = told_by("X");
  if (told && told->size() <= kMostKnown) set_known(slot, *std::move(told));
}

std::optional<std::vector<double>> Call::told_by(std::string_view slot) {
  std::vector<double> all;
  const auto add = [&](const Tensor& tensor) {
    const bool fits = tensor.known && (tensor.value.id < 0 || entry().rank(tensor.value) <= 1);
    if (fits) all.insert(all.end(), tensor.known->begin(), tensor.known->end());
    return fits;
  };
  const Slot* found = slot_of(op_.inputs, slot);
  if (found == nullptr) return std::nullopt;
  for (const std::string_view name : found->arguments) {
    const Tensor& tensor = lowering_.read(name);
    if (!(tensor.is_list ? std::ranges::all_of(tensor.list, add) : add(tensor))) return std::nullopt;
  }
  return all;
}

void Call::set_sizes(std::string_view slot, const Dims& dims) {
  const Slot* found = slot_of(op_.outputs, slot);
  if (found == nullptr || found->arguments.empty()) return;
  Tensor tensor;
  tensor.dims = dims;
  lowering_.bind(found->arguments[0], std::move(tensor));
}

Value Call::fuse1(std::initializer_list<Value> operands, const std::function<Value(Body&, std::span<const Value>)>& write) {
  return program().fuse1(std::span<const Value>(operands.begin(), operands.size()), write);
}

bool Call::pair_fits(int64_t axis) {
  const Dims x = dims("X"), y = aligned(dims("Y"), x.size(), axis);
  if (broadcast_fits(x, y)) return true;
  fail(fmt::format("({}) and ({}) do not broadcast", fmt::join(x, ", "), fmt::join(y, ", ")));
  return false;
}

void Call::fail(std::string why) {
  if (lowering_.failure_.empty()) lowering_.failure_ = std::move(why);
}
bool Call::failed() const { return !lowering_.failure_.empty(); }
void Call::note(std::string code, std::string text) { lowering_.note(std::move(code), fmt::format("{}: {}", op_.type, text)); }

}  // namespace importers::paddle
