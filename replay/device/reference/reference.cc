// Steps are evaluated between the plan's buffers in host memory: one block for what the plan packs into its arena, one for each parameter
// and constant.
#include "replay/device/reference/reference.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "replay/tensor.h"
#include "replay/verifier.h"
#include "src/base/text.h"

namespace replay::reference {
namespace {

int64_t free_bytes() { return static_cast<int64_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<int64_t>(sysconf(_SC_PAGESIZE)); }

class ReferenceDevice : public Device {
 public:
  explicit ReferenceDevice(const DeviceOptions& options) : options_(options) {}

  model::DeviceRecord describe() const override {
    model::DeviceRecord record;
    record.name = "reference";
    record.model = "evaluates every step in f64; its times say nothing about machines";
    record.threads = 1;
    return record;
  }
  kernel::Target target() const override { return {}; }
  base::Status prepare(const Plan& plan) override;
  std::vector<model::KernelRecord> kernels() const override { return {}; }
  std::vector<int32_t> kernels_of(StepId) const override { return {}; }
  std::string precision_of(StepId) const override {
    return plan_ == nullptr ? "" : plan_->rounding == Rounding::each ? "f64, each" : "f64, border";
  }
  base::Status write(BufferId buffer, std::span<const std::byte> physical) override;
  base::Status read(BufferId buffer, std::span<std::byte> physical) override;
  std::span<std::byte> memory(BufferId buffer) override;
  bool evaluates() const override { return true; }
  base::Status start(StepId step, int executions) override;
  base::Result<std::vector<model::Sample>> finish() override { return std::exchange(samples_, {}); }

 private:
  base::Status execute(const Step& step);
  base::Status copy(const Copy& launch);
  base::Status rearrange(const LibraryCall& call);

  DeviceOptions options_;
  const Plan* plan_ = nullptr;
  std::unique_ptr<StepEvaluator> evaluator_;
  std::vector<std::byte> arena_;
  std::vector<std::vector<std::byte>> own_;  ///< by buffer: parameters and constants
  std::vector<model::Sample> samples_;
  int64_t epoch_ns_ = 0;
};

bool in_arena(const Buffer& buffer) { return buffer.kind == Buffer::Kind::temporary || buffer.kind == Buffer::Kind::scratch; }

/// The buffer in whose memory this one lives; -1: a circle, or no buffer.
BufferId root_of(const Plan& plan, BufferId id) {
  for (size_t steps = 0; steps <= plan.buffers.size() && id >= 0; ++steps) {
    const BufferId next = plan.buffers[static_cast<size_t>(id)].alias_of;
    if (next < 0) return id;
    id = next;
  }
  return -1;
}

base::Status ReferenceDevice::prepare(const Plan& plan) {
  const int64_t needed = plan.arena_bytes + plan.parameter_bytes;
  const int64_t free = options_.memory_limit_bytes > 0 ? options_.memory_limit_bytes : free_bytes();
  if (needed > free) {
    return base::Error{fmt::format("memory: needs {}, {} free; try --isolated (each step alone), --computation NAME or --instruction NAME",
                                   base::human_bytes(static_cast<double>(needed)), base::human_bytes(static_cast<double>(free)))};
  }
  plan_ = &plan;
  evaluator_ = std::make_unique<StepEvaluator>(plan, *this);
  arena_.assign(static_cast<size_t>(plan.arena_bytes), std::byte{0});
  own_.assign(plan.buffers.size(), {});
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    if (buffer.alias_of < 0 && !in_arena(buffer)) own_[i].resize(static_cast<size_t>(buffer.bytes));
  }
  samples_.clear();
  epoch_ns_ = clock_ns();
  return {};
}

std::span<std::byte> ReferenceDevice::memory(BufferId id) {
  const BufferId root = root_of(*plan_, id);
  if (root < 0) return {};
  const Buffer& buffer = plan_->buffers[static_cast<size_t>(root)];
  const auto bytes = static_cast<size_t>(plan_->buffers[static_cast<size_t>(id)].bytes);
  if (!in_arena(buffer)) return std::span(own_[static_cast<size_t>(root)]).first(bytes);
  if (bytes == 0 || buffer.offset < 0 || static_cast<size_t>(buffer.offset) + bytes > arena_.size()) return {};
  return std::span(arena_).subspan(static_cast<size_t>(buffer.offset), bytes);
}

base::Status ReferenceDevice::write(BufferId buffer, std::span<const std::byte> physical) {
  const auto to = memory(buffer);
  if (to.size() != physical.size())
    return base::Error{fmt::format("reference: buffer {} has {} bytes, not {}", buffer, to.size(), physical.size())};
  if (!to.empty()) std::memmove(to.data(), physical.data(), to.size());
  return {};
}

base::Status ReferenceDevice::read(BufferId buffer, std::span<std::byte> physical) {
  const auto from = memory(buffer);
  if (from.size() != physical.size())
    return base::Error{fmt::format("reference: buffer {} has {} bytes, not {}", buffer, from.size(), physical.size())};
  if (!from.empty()) std::memmove(physical.data(), from.data(), from.size());
  return {};
}

/// The same elements in the layout of the result: the only library call that moves state.
base::Status ReferenceDevice::rearrange(const LibraryCall& call) {
  const BufferId from = call.in.at(0), to = call.out.at(0);
  std::vector<std::byte> logical(memory(from).size()), physical(logical.size());
  to_logical(plan_->buffers[static_cast<size_t>(from)].shape, memory(from), logical);
  to_physical(plan_->buffers[static_cast<size_t>(to)].shape, logical, physical);
  return write(to, physical);
}

base::Status ReferenceDevice::copy(const Copy& launch) { return write(launch.to, memory(launch.from)); }

/// Steps that move a loop's state are copies; all others are what their instruction says.
base::Status ReferenceDevice::execute(const Step& step) {
  if (!step.moves_state) return evaluator_->evaluate(step);
  for (const Launch& launch : step.launches) {
    if (const auto* moved = std::get_if<Copy>(&launch)) RETURN_IF_ERROR(copy(*moved));
    if (const auto* call = std::get_if<LibraryCall>(&launch)) RETURN_IF_ERROR(rearrange(*call));
  }
  return {};
}

base::Status ReferenceDevice::start(StepId id, int executions) {
  const Step& step = *plan_->steps[static_cast<size_t>(id)];
  const int64_t begin = clock_ns();
  for (int i = 0; i < executions; ++i) RETURN_IF_ERROR(execute(step));
  samples_.push_back({.step = id, .begin_ns = begin - epoch_ns_, .duration_ns = clock_ns() - begin, .executions = executions});
  return {};
}

}  // namespace

base::Result<std::unique_ptr<Device>> open(const DeviceOptions& options) {
  return std::unique_ptr<Device>(std::make_unique<ReferenceDevice>(options));
}

}  // namespace replay::reference
