// Views of a step's operands and results for the reference.
#include "replay/verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/base/hash.h"

namespace replay {
namespace {

/// More elements than the fixed sample are looked at for this long: a program of 300 steps is verified within a minute or two.
constexpr double kSecondsPerLeaf = 0.1;

const ir::Instr& instruction(const Plan& plan, const Step& step) { return plan.module->instr(step.instr.comp, step.instr.instr); }

/// The buffer whose memory it is.
BufferId owner(const Plan& plan, BufferId id) {
  const BufferId alias = plan.buffers[static_cast<size_t>(id)].alias_of;
  return alias >= 0 ? alias : id;
}

uint64_t hash_of(std::span<const std::byte> bytes) { return base::hash64({reinterpret_cast<const char*>(bytes.data()), bytes.size()}); }

bool overwritten(const Step& step, BufferId operand) {
  return std::any_of(step.in_place.begin(), step.in_place.end(), [&](const InPlace& pair) { return pair.operand == operand; });
}

/// Array leaves only, in the order of Step::out.
std::vector<ir::Leaf> array_leaves(const ir::Shape& shape) {
  std::vector<ir::Leaf> leaves = ir::leaves(shape);
  std::erase_if(leaves, [](const ir::Leaf& leaf) { return !leaf.shape->is_array(); });
  return leaves;
}

const Tensor& leaf_of(const Tensor& tensor, const std::vector<int64_t>& path) {
  const Tensor* at = &tensor;
  for (const int64_t index : path) at = &at->elements[static_cast<size_t>(index)];
  return *at;
}

}  // namespace

base::Result<reference::View> OperandViews::view(const ir::Shape& shape, const Step& step, size_t& next, Keep keep) {
  reference::View view;
  view.shape = &shape;
  if (shape.is_tuple()) {
    for (const ir::Shape& element : shape.elements) {
      ASSIGN_OR_RETURN(reference::View inner, this->view(element, step, next, keep));
      view.elements.push_back(std::move(inner));
    }
    return view;
  }
  if (!shape.is_array()) return view;
  if (next >= step.in.size())
    return base::Error{fmt::format("{}: an operand has no values (the context of an asynchronous start?)", step.name)};
  const BufferId buffer = step.in[next++];
  auto storage = std::make_unique<std::vector<std::byte>>();
  ASSIGN_OR_RETURN(auto bytes, host_bytes(plan_, device_, buffer, *storage));
  if (storage->empty() && keep == Keep::copy_what_is_overwritten && overwritten(step, buffer)) {
    storage->assign(bytes.begin(), bytes.end());
    bytes = *storage;
  }
  view.data = bytes.data();
  storage_.push_back(std::move(storage));
  return view;
}

base::Status OperandViews::load(const Step& step, Keep keep) {
  views_.clear();
  storage_.clear();
  size_t next = 0;
  for (const ir::InstrId operand : instruction(plan_, step).operands) {
    const ir::Shape& shape = plan_.module->shape(plan_.module->instr(step.instr.comp, operand));
    ASSIGN_OR_RETURN(reference::View made, view(shape, step, next, keep));
    views_.push_back(std::move(made));
  }
  return {};
}

StepEvaluator::StepEvaluator(const Plan& plan, Device& device) : plan_(plan), device_(device), reference_(*plan.module, plan.rounding) {}

base::Status StepEvaluator::evaluate(const Step& step) {
  OperandViews operands(plan_, device_);
  RETURN_IF_ERROR(operands.load(step, OperandViews::Keep::borrow));
  ASSIGN_OR_RETURN(const Tensor result, reference_.run(step.instr, operands.views()));
  const auto leaves = array_leaves(plan_.module->shape(instruction(plan_, step)));
  for (size_t i = 0; i < leaves.size(); ++i) {
    std::vector<std::byte> physical(static_cast<size_t>(ir::bytes(*leaves[i].shape)));
    to_physical(*leaves[i].shape, leaf_of(result, leaves[i].path).data, physical);
    RETURN_IF_ERROR(device_.write(step.out[i], physical));
  }
  return {};
}

Verifier::Verifier(const Plan& plan, Device& device, uint64_t seed)
    : plan_(plan),
      device_(device),
      seed_(seed),
      reference_(*plan.module, plan.rounding),
      operands_(plan, device),
      verdicts_(startable(plan).size()) {}

bool Verifier::skips(const Step& step) const {
  return step.cls == Class::reference || step.cls == Class::skip || verdicts_[static_cast<size_t>(step.id)].elements > 0;
}

void Verifier::fail(const Step& step, std::string place) {
  Verdict& verdict = verdicts_[static_cast<size_t>(step.id)];
  verdict.worst = INFINITY;
  verdict.place = std::move(place);
  if (failed_step_ < 0) failed_step_ = step.id;
}

base::Status Verifier::remember(std::span<const BufferId> buffers) {
  for (const BufferId id : buffers) {
    std::vector<std::byte> storage;
    ASSIGN_OR_RETURN(const auto bytes, host_bytes(plan_, device_, id, storage));
    hashes_[owner(plan_, id)] = hash_of(bytes);
  }
  return {};
}

void Verifier::forget(std::span<const BufferId> buffers) {
  for (const BufferId id : buffers) hashes_.erase(owner(plan_, id));
}

base::Status Verifier::check_unchanged(const Step& step, std::span<const BufferId> buffers) {
  for (const BufferId id : buffers) {
    std::vector<std::byte> storage;
    ASSIGN_OR_RETURN(const auto bytes, host_bytes(plan_, device_, id, storage));
    const auto [known, first_seen] = hashes_.emplace(owner(plan_, id), hash_of(bytes));
    if (first_seen || known->second == hash_of(bytes)) continue;
    fail(step, fmt::format("{}: its operand {} changed since it was written; two live buffers share memory", step.name,
                           plan_.buffers[static_cast<size_t>(id)].name));
  }
  return {};
}

base::Status Verifier::before(const Step& step) {
  RETURN_IF_ERROR(check_unchanged(step, step.in));
  if (skips(step) || step.moves_state) return {};
  return operands_.load(step, OperandViews::Keep::copy_what_is_overwritten);
}

base::Status Verifier::after(const Step& step) {
  RETURN_IF_ERROR(remember(step.out));
  if (skips(step)) return {};
  if (step.moves_state || step.cls == Class::stand_in) return judge_copies(step);
  const auto leaves = array_leaves(plan_.module->shape(instruction(plan_, step)));
  const bool is_fusion = plan_.module->instr(step.instr.comp, step.instr.instr).op == ir::Op::fusion;
  const bool workspace = step.cls == Class::library && leaves.size() > 1;  // behind the results: scratch of the library
  const size_t judged = !workspace ? leaves.size() : is_fusion ? leaves.size() - 1 : 1;
  for (size_t i = 0; i < judged; ++i) RETURN_IF_ERROR(judge_leaf(step, leaves[i].path, step.out[i]));
  return {};
}

base::Status Verifier::judge_copies(const Step& step) {
  Verdict& verdict = verdicts_[static_cast<size_t>(step.id)];
  verdict.worst = 0;
  for (size_t i = 0; i < step.launches.size(); ++i) {
    const auto* copy = std::get_if<Copy>(&step.launches[i]);
    if (copy == nullptr) continue;
    std::vector<std::byte> from_storage, to_storage;
    ASSIGN_OR_RETURN(const auto from, host_bytes(plan_, device_, copy->from, from_storage));
    ASSIGN_OR_RETURN(const auto to, host_bytes(plan_, device_, copy->to, to_storage));
    // A source that a later copy of this step overwrites can't be compared any more; its staged value was.
    const bool gone =
        std::any_of(step.out.begin(), step.out.end(), [&](BufferId out) { return owner(plan_, out) == owner(plan_, copy->from); });
    verdict.elements += ir::elements(plan_.buffers[static_cast<size_t>(copy->to)].shape);
    if (gone || std::equal(from.begin(), from.end(), to.begin(), to.end())) continue;
    fail(step, fmt::format("{}: a copy differs from its source", step.name));
  }
  return {};
}

base::Status Verifier::judge_leaf(const Step& step, const std::vector<int64_t>& path, BufferId buffer) {
  std::vector<std::byte> storage;
  ASSIGN_OR_RETURN(const auto bytes, host_bytes(plan_, device_, buffer, storage));
  reference::View device;
  device.shape = &plan_.buffers[static_cast<size_t>(buffer)].shape;
  device.data = bytes.data();
  reference::JudgeOptions options;
  options.seed = seed_;
  options.seconds = kSecondsPerLeaf;
  auto judged = reference::judge(reference_, step.instr, operands_.views(), path, device, options);
  if (!judged.ok()) return base::Error{fmt::format("verify {}: {}", step.name, judged.error().message)};
  note(step, *judged, path);
  return {};
}

void Verifier::note(const Step& step, const reference::Judged& judged, const std::vector<int64_t>& path) {
  Verdict& verdict = verdicts_[static_cast<size_t>(step.id)];
  verdict.elements += judged.elements;
  if (!(judged.worst > verdict.worst)) return;  // NaN is reported by judge() as infinity
  verdict.worst = judged.worst;
  const std::string leaf = path.empty() ? "" : "." + ir::path_text(path);
  verdict.place = !judged.why.empty() ? fmt::format("{}{}: {}", step.name, leaf, judged.why)
                                      : fmt::format("{}{}[{}] is {:.9g}, the reference has {:.9g} ± {:.3g}", step.name, leaf, judged.index,
                                                    judged.device, judged.reference, judged.tolerance);
  if (judged.worst > 1 && failed_step_ < 0) failed_step_ = step.id;
}

}  // namespace replay
