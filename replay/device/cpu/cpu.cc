// The cpu device. prepare() compiles and resolves everything, so that start() only walks a table of addresses between two readings of the
// clock; a step that needs the reference never arrives here.
#include "replay/device/cpu/cpu.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "replay/device/cpu/arena.h"
#include "replay/device/cpu/cache_ceilings.h"
#include "replay/device/cpu/ceilings.h"
#include "replay/device/cpu/dnnl.h"
#include "replay/device/cpu/host.h"
#include "replay/device/cpu/jit.h"
#include "replay/device/cpu/prepare.h"
#include "replay/device/cpu/threads.h"
#include "replay/device/cpu/walk.h"
#include "replay/device/cpu/winograd.h"
#include "src/base/text.h"

namespace replay::cpu {
namespace {

using base::Error;
using base::Result;
using base::Status;

constexpr int64_t kLargestSharedCache = 32 << 20;  ///< bytes: a guest sees all of a cache that it shares with others

int64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

kernel::Target target_of(const Jit& jit, int threads) {
  const Caches sizes = caches();
  kernel::Target target;
  target.lanes = jit.lanes();
  target.registers = jit.has_avx512() ? 32 : 16;
  target.threads = threads;
  if (sizes.l1_bytes > 0) target.l1_bytes = sizes.l1_bytes;
  if (sizes.l2_bytes > 0) target.l2_bytes = sizes.l2_bytes;
  if (sizes.l3_bytes > 0) target.l3_bytes = std::min(sizes.l3_bytes, kLargestSharedCache);
  return target;
}

class CpuDevice final : public Device {
 public:
  CpuDevice(DeviceOptions options, int threads, std::unique_ptr<Jit> jit)
      : options_(std::move(options)), threads_(threads), jit_(std::move(jit)), target_(target_of(*jit_, threads)) {
    if (options_.cold) walk_.emplace(threads);
  }

  model::DeviceRecord describe() const override;
  kernel::Target target() const override { return target_; }
  Status prepare(const Plan& plan) override;
  PrepareTimes prepare_times() const override { return ready_.times; }
  std::vector<model::KernelRecord> kernels() const override { return ready_.records; }
  std::vector<int32_t> kernels_of(StepId step) const override { return has(step) ? of(step).records : std::vector<int32_t>(); }
  std::string precision_of(StepId step) const override { return has(step) ? of(step).precision : ""; }
  Status write(BufferId buffer, std::span<const std::byte> physical) override;
  Status read(BufferId buffer, std::span<std::byte> physical) override;
  std::span<std::byte> memory(BufferId buffer) override {
    return ready_.arena.has(buffer) ? ready_.arena.memory(buffer) : std::span<std::byte>();
  }
  Status start(StepId step, int executions) override;
  int64_t clock_ns() const override { return now_ns() - epoch_ns_; }
  Result<std::vector<model::Sample>> finish() override { return std::exchange(samples_, {}); }
  Status measure_ceilings(model::DeviceRecord& record) override;

 private:
  bool has(StepId step) const { return step >= 0 && static_cast<size_t>(step) < ready_.steps.size(); }
  const ReadyStep& of(StepId step) const { return ready_.steps[static_cast<size_t>(step)]; }
  Result<std::span<std::byte>> checked(BufferId buffer, size_t bytes);
  void time_step(StepId id, const ReadyStep& step, int executions);

  DeviceOptions options_;
  int threads_;
  std::unique_ptr<Jit> jit_;
  kernel::Target target_;
  Prepared ready_;
  LaunchTable table_;
  std::optional<CacheWalk> walk_;  ///< before each execution; none: caches are as steps leave them
  std::vector<model::Sample> samples_;
  int64_t epoch_ns_ = now_ns();  ///< begin_ns of samples counts from the end of prepare()
};

model::DeviceRecord CpuDevice::describe() const {
  model::DeviceRecord record;
  record.name = "cpu";
  record.model = fmt::format("{}, {} thread{}", cpu_model(), threads_, threads_ == 1 ? "" : "s");
  record.driver = fmt::format("LLVM {} for {}", Jit::version(), jit_->cpu());
  record.libraries = fmt::format("{}, LLVM {}, OpenMP {}", dnnl_version_text(), Jit::version(), _OPENMP);
  record.threads = threads_;
  record.details = host_settings();
  record.details.push_back({"jit_cpu", jit_->cpu()});
  record.details.push_back({"jit_features", jit_->features()});
  record.details.push_back({"jit_passes", kPasses});
  record.details.push_back({"vector_lanes", fmt::format("{}", jit_->lanes())});
  if (walk_) record.details.push_back({"flushed_bytes", std::to_string(walk_->bytes())});
  record.details.push_back({"timer", "clock_gettime(CLOCK_MONOTONIC)"});
  return record;
}

Status CpuDevice::prepare(const Plan& plan) {
  omp_set_num_threads(threads_);
  ready_ = {};  // the memory of an earlier plan goes first
  const int64_t free = options_.memory_limit_bytes > 0 ? std::min(options_.memory_limit_bytes, available_bytes()) : available_bytes();
  ASSIGN_OR_RETURN(ready_, cpu::prepare(plan, *jit_, threads_, free));
  samples_ = {};
  samples_.reserve(plan.steps.size() * 2);
  epoch_ns_ = now_ns();
  return {};
}

Result<std::span<std::byte>> CpuDevice::checked(BufferId buffer, size_t bytes) {
  if (!ready_.arena.has(buffer)) return Error{fmt::format("cpu: no buffer {}; report it as a bug", buffer)};
  auto memory = ready_.arena.memory(buffer);
  if (memory.size() != bytes)
    return Error{fmt::format("cpu: buffer {} has {} bytes, not {}; report it as a bug", buffer, memory.size(), bytes)};
  return memory;
}

Status CpuDevice::write(BufferId buffer, std::span<const std::byte> physical) {
  ASSIGN_OR_RETURN(auto memory, checked(buffer, physical.size()));
  copy(memory.data(), physical.data(), static_cast<int64_t>(memory.size()), threads_);
  return {};
}

Status CpuDevice::read(BufferId buffer, std::span<std::byte> physical) {
  ASSIGN_OR_RETURN(auto memory, checked(buffer, physical.size()));
  copy(physical.data(), memory.data(), static_cast<int64_t>(memory.size()), threads_);
  return {};
}

Status CpuDevice::start(StepId id, int executions) {
  if (!has(id)) return Error{fmt::format("cpu: no step {}; report it as a bug", id)};
  const ReadyStep& step = of(id);
  if (!step.why.empty()) return Error{step.why};
  omp_set_num_threads(threads_);  // a library or another device on this thread may have changed it
  if (!walk_) {
    time_step(id, step, executions);
    return {};
  }
  for (int i = 0; i < executions; ++i) {
    walk_->run();
    time_step(id, step, 1);
  }
  return {};
}

void CpuDevice::time_step(StepId id, const ReadyStep& step, int executions) {
  table_.set(step.launches);
  const int64_t begin = now_ns();
  for (int i = 0; i < executions; ++i) table_.run(threads_);
  const int64_t end = now_ns();
  samples_.push_back({.step = id, .begin_ns = begin - epoch_ns_, .duration_ns = end - begin, .executions = executions});
}

Status CpuDevice::measure_ceilings(model::DeviceRecord& record) {
  omp_set_num_threads(threads_);
  ASSIGN_OR_RETURN(const Ceilings found, cpu::measure_ceilings(*jit_, threads_, available_bytes()));
  record.triad_bytes_per_s = found.triad_bytes_per_s;
  record.triad_streaming_bytes_per_s = found.triad_streaming_bytes_per_s;
  record.product_flops_per_s = found.product_flops_per_s;
  record.products = found.products;
  ASSIGN_OR_RETURN(std::vector<model::CeilingRecord> others, measure_caches(*jit_, threads_));
  // Before anything is prepared, as where steps run one by one, it is not known whether one will reach it.
  const auto reaches = [](const ReadyStep& step) { return step.precision.starts_with(kWinogradOperands); };
  if (ready_.steps.empty() || std::ranges::any_of(ready_.steps, reaches))
    others.push_back({model::CeilingRecord::Limits::compute, kWinogradOperands, kWinogradSaves * found.product_flops_per_s,
                      model::CeilingRecord::Provenance::measured,
                      fmt::format("{} times the large product of f32: so many multiplications become one", kWinogradSaves)});
  std::erase_if(record.ceilings, [](const model::CeilingRecord& c) { return c.provenance == model::CeilingRecord::Provenance::measured; });
  record.ceilings.insert(record.ceilings.end(), others.begin(), others.end());
  return {};
}

}  // namespace

Result<std::unique_ptr<Device>> open(const DeviceOptions& options) {
  if (options.threads < 0 || options.threads > kMaxThreads)
    return Error{fmt::format("cpu: {} threads; give 1 to {}, or 0 for all that this process may use", options.threads, kMaxThreads),
                 base::Exit::wrong_use};
  const int threads = options.threads > 0 ? options.threads : std::min(usable_threads(), kMaxThreads);
  RETURN_IF_ERROR(check_threads(threads));
  ASSIGN_OR_RETURN(auto jit, Jit::make({.cpu = options.cpu, .lanes = options.lanes}));
  return std::unique_ptr<Device>(std::make_unique<CpuDevice>(options, threads, std::move(jit)));
}

}  // namespace replay::cpu
