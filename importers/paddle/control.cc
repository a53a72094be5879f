// Operators that run blocks. A condition that the text tells is decided: the branch that is taken is written, a loop is written out trip by
// trip. Where the run decides, both branches are written and chosen from, and a loop's body is written once; both are noted, because how
// often a loop goes is then the reader's to say.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "importers/paddle/lowering.h"
#include "src/base/text.h"

namespace importers::paddle {
namespace {

constexpr int kDeepestBlock = 64;
constexpr int64_t kMostTrips = 1024;
constexpr int64_t kMostRepeated = 20'000;  ///< operators that are written again, in loops and blocks that run twice

std::optional<bool> decided(const Tensor* condition) {
  if (condition == nullptr || !condition->known || condition->known->size() != 1) return std::nullopt;
  return condition->known->front() != 0;
}

}  // namespace

/// A block stands behind the one that runs it: a text that says otherwise goes in circles.
const Block* Lowering::inner(const Operator& op, size_t k) const {
  if (k >= op.blocks.size() || op.blocks[k] <= 0 || static_cast<size_t>(op.blocks[k]) >= program_.blocks.size() ||
      depth_ >= kDeepestBlock || repeated_ > kMostRepeated)
    return nullptr;
  return &program_.blocks[static_cast<size_t>(op.blocks[k])];
}

/// Lowers the region and gives what it yields.
std::vector<std::string_view> Lowering::run_region(const Block& block) {
  std::vector<std::string_view> outer = std::exchange(yields_, {});
  if (!ran_.insert(&block).second) repeated_ += static_cast<int64_t>(block.operators.size());
  ++depth_;
  run(block);
  --depth_;
  return std::exchange(yields_, std::move(outer));
}

void Lowering::yield(const Operator& op) {
  for (const Slot& slot : op.inputs) yields_.insert(yields_.end(), slot.arguments.begin(), slot.arguments.end());
}

/// CINN's groups are operators that it will fuse: what stands in one is lowered in place of it.
void Lowering::group(const Operator& op) {
  const Block* block = inner(op, 0);
  if (block == nullptr) return call_by_name(op, "has no region");
  const std::vector<std::string_view> results = run_region(*block);
  if (op.outputs.empty()) return;
  for (size_t k = 0; k < std::min(results.size(), op.outputs[0].arguments.size()); ++k) {
    if (const Tensor* tensor = find(results[k])) bind(op.outputs[0].arguments[k], Tensor(*tensor));
  }
}

/// One kernel that takes one or the other.
void Lowering::choose(std::string_view result, std::string_view condition, const Tensor& yes, const Tensor& no) {
  const Tensor& given = read(condition);
  if (given.value.id < 0 || yes.value.id < 0 || no.value.id < 0) return;
  Body& entry = out_.entry();
  if (entry.shape(yes.value) != entry.shape(no.value) || elements_of(entry.dims(given.value)) != 1) {
    note("one-branch", fmt::format("the branches give {} different shapes: that of the first is taken", base::escaped(result)));
    return bind(result, {yes.value, {}, {}, false, {}, nullptr});
  }
  const Value chosen = out_.fuse1({{given.value, yes.value, no.value}}, [](Body& b, In in) {
    const Value flag = b.reshape(b.convert(in[0], ir::Type::pred), {});
    return b.select(b.expand(flag, b.dims(in[1])), in[1], in[2]);
  });
  bind(result, {chosen, {}, {}, false, {}, nullptr});
}

/// PIR's `if`: a region for each way.
void Lowering::branch(const Operator& op) {
  const Block *yes = inner(op, 0), *no = inner(op, 1);
  const std::string_view condition = op.inputs.empty() || op.inputs[0].arguments.empty() ? std::string_view() : op.inputs[0].arguments[0];
  if (yes == nullptr || condition.empty()) return call_by_name(op, "has no region");
  const auto way = decided(&read(condition));
  std::vector<std::vector<std::string_view>> results;
  if (way.value_or(true)) results.push_back(run_region(*yes));
  if (!way.value_or(false) && no != nullptr) results.push_back(run_region(*no));
  offset_ = op.offset;
  if (!way) note("both-branches", "the run decides its condition: both branches are run and chosen from");
  const std::span<const std::string_view> wanted = op.outputs.empty() ? std::span<const std::string_view>() : op.outputs[0].arguments;
  for (size_t k = 0; k < wanted.size(); ++k) {
    std::vector<const Tensor*> given;
    for (const auto& names : results) given.push_back(k < names.size() ? find(names[k]) : nullptr);
    if (given.size() == 2 && given[0] != nullptr && given[1] != nullptr)
      choose(wanted[k], condition, Tensor(*given[0]), Tensor(*given[1]));
    else if (!given.empty() && given[0] != nullptr)
      bind(wanted[k], Tensor(*given[0]));
  }
}

/// The old IR's: a block that runs or not; `select_input` chooses afterwards.
void Lowering::conditional_block(const Operator& op) {
  const Block* block = inner(op, 0);
  const std::string_view condition = first_argument(op.inputs, "Cond");
  if (block == nullptr || condition.empty()) return call_by_name(op, "has no block");
  const auto way = decided(&read(condition));
  if (!way) note("both-branches", "the run decides its condition: it is run in any case");
  if (way.value_or(true)) run_region(*block);
}

/// Mask 0 takes the first operand, 1 the second.
void Lowering::select_input(const Operator& op) {
  const std::string_view mask = first_argument(op.inputs, "Mask"), result = first_argument(op.outputs, "Out");
  const auto slot = std::ranges::find(op.inputs, "X", &Slot::name);
  if (mask.empty() || result.empty() || slot == op.inputs.end() || slot->arguments.size() != 2)
    return call_by_name(op, "does not choose between two");
  const Tensor *no = find(slot->arguments[0]), *yes = find(slot->arguments[1]);
  if (const auto way = decided(&read(mask))) {
    const Tensor* taken = *way ? yes : no;
    if (taken == nullptr || taken->value.id < 0) return call_by_name(op, "what it takes was not made");
    return bind(result, {out_.entry().unary(ir::Op::copy, taken->value), {}, {}, false, {}, taken->known});
  }
  if (no == nullptr || yes == nullptr) return call_by_name(op, "what it takes was not made");
  choose(result, mask, Tensor(*yes), Tensor(*no));
}

/// Whether the loop is written once more. What the run decides is written once.
bool Lowering::another_trip(std::string_view condition, int64_t trips) {
  const auto way = decided(find(condition));
  if (!way) return trips == 0;
  if (*way && (trips >= kMostTrips || repeated_ > kMostRepeated)) {
    note("trips", fmt::format("written out for {} trips; it goes on", trips));
    return false;
  }
  return *way;
}

/// The old IR's `while`: its block works on variables of the outer one.
void Lowering::loop(const Operator& op) {
  if (program_.form == Form::pir || program_.form == Form::python) return loop_of_region(op);
  const Block* block = inner(op, 0);
  const std::string_view condition = first_argument(op.inputs, "Condition");
  if (block == nullptr || condition.empty()) return call_by_name(op, "has no block");
  if (!decided(&read(condition))) note("trips", "the run decides how often it goes: its body is run once");
  for (int64_t trips = 0; another_trip(condition, trips); ++trips) {
    run_region(*block);
    offset_ = op.offset;
    if (!decided(find(condition))) return;
  }
}

/// PIR's: block arguments take the inputs, the yield gives the next condition and the next inputs. Names of arguments begin again in every
/// region: the outer ones come back at the end.
void Lowering::loop_of_region(const Operator& op) {
  const Block* block = inner(op, 0);
  const std::string_view condition = first_argument(op.inputs, "cond");
  const auto inputs = std::ranges::find(op.inputs, "inputs", &Slot::name);
  if (block == nullptr || condition.empty() || inputs == op.inputs.end()) return call_by_name(op, "has no region");
  std::vector<Tensor> state;
  for (const std::string_view name : inputs->arguments) state.push_back(read(name));
  if (!decided(&read(condition))) note("trips", "the run decides how often it goes: its body is run once");
  std::vector<std::pair<std::string_view, Tensor>> outer;
  for (const Variable& variable : block->variables) {
    if (const Tensor* held = find(variable.name); held != nullptr && variable.name.starts_with("%arg"))
      outer.emplace_back(variable.name, *held);
  }
  std::string_view next = condition;
  for (int64_t trips = 0; another_trip(next, trips); ++trips) {
    for (size_t k = 0; k < std::min(state.size(), block->variables.size()); ++k) {
      if (block->variables[k].name.starts_with("%arg")) tensor(block->variables[k].name) = state[k];
    }
    const std::vector<std::string_view> results = run_region(*block);
    offset_ = op.offset;
    if (results.empty()) break;
    next = results[0];
    for (size_t k = 1; k < std::min(results.size(), state.size() + 1); ++k) {
      if (const Tensor* tensor = find(results[k])) state[k - 1] = *tensor;
    }
    if (!decided(find(next))) break;
  }
  for (auto& [name, held] : outer) tensor(name) = std::move(held);
  if (op.outputs.empty()) return;
  for (size_t k = 0; k < std::min(state.size(), op.outputs[0].arguments.size()); ++k) bind(op.outputs[0].arguments[k], state[k]);
}

}  // namespace importers::paddle
