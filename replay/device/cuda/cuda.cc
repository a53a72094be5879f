// The device: a runner over what prepare() has made. Built from tables that tests fill, it knows no library by itself.
#include "replay/device/cuda/cuda.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "replay/device/cuda/ceilings.h"
#include "replay/device/cuda/flush.h"
#include "replay/device/cuda/nvml.h"
#include "replay/device/cuda/own_kernels.h"
#include "replay/device/cuda/pristine.h"
#include "replay/device/cuda/routines.h"
#include "replay/device/cuda/step_counters.h"

namespace replay::cuda {
namespace {

using base::Error;
using base::Result;
using base::Status;

constexpr std::pair<std::string_view, Mode> kModes[] = {
    {"", Mode::stream}, {"stream", Mode::stream}, {"graph", Mode::graph}, {"events", Mode::events}};

Result<Mode> mode_of(const std::string& name) {
  const auto found = std::ranges::find(kModes, name, [](const auto& row) { return row.first; });
  if (found == std::end(kModes)) return Error{fmt::format("cuda: no mode '{}'; stream, graph or events", name), base::Exit::wrong_use};
  return found->second;
}

Result<Architecture> architecture_of(const Properties& gpu, const Compiler& compiler) {
  auto found = cuda::architecture_for(gpu.major, gpu.minor, compiler.architectures());
  if (!found.ok()) return Error{fmt::format("NVRTC {} {} ({})", compiler.version(), found.error().message, gpu.name), found.error().exit};
  return found;
}

class CudaDevice final : public Device {
 public:
  CudaDevice(const DeviceOptions& options, Mode mode, std::unique_ptr<Compiler> compiler, Result<Cupti*> cupti, std::unique_ptr<Gpu> gpu,
             Result<Nvml> nvml, const Architecture& architecture, const Opener& opener)
      : threads_(options.threads > 0 ? options.threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()))),
        mode_(mode),
        architecture_(architecture),
        compiler_(std::move(compiler)),
        cupti_(std::move(cupti)),
        gpu_(std::move(gpu)),
        nvml_(std::move(nvml)),
        libraries_(opener, options.autotune) {}

  model::DeviceRecord describe() const override;
  kernel::Target target() const override;
  Accepts accepts() const override { return cuda::accepts; }
  Arranges arranges() const override { return cuda::arranged; }
  Status prepare(const Plan& plan) override;
  PrepareTimes prepare_times() const override { return ready_ != nullptr ? ready_->times : PrepareTimes(); }
  std::vector<model::KernelRecord> kernels() const override {
    return ready_ != nullptr ? ready_->records : std::vector<model::KernelRecord>();
  }
  std::vector<int32_t> kernels_of(StepId step) const override { return has(step) ? of(step).records : std::vector<int32_t>(); }
  Class class_of(StepId step, Class planned) const override { return has(step) && planned != Class::skip ? of(step).cls : planned; }
  std::string precision_of(StepId step) const override { return has(step) ? of(step).precision : ""; }
  std::string why_not(StepId step) const override { return has(step) ? of(step).why : ""; }
  Status write(BufferId buffer, std::span<const std::byte> physical) override;
  Status read(BufferId buffer, std::span<std::byte> physical) override;
  Result<bool> keep(std::span<const BufferId> buffers) override;
  Status restore() override;
  Status start(StepId step, int executions) override;
  int64_t clock_ns() const override { return Runner::now_ns() - epoch_ns_; }
  Result<std::vector<model::Sample>> finish() override;
  Status measure_ceilings(model::DeviceRecord& record) override;
  Status begin_counting() override;
  Result<bool> end_counting() override { return counters_->end_pass(); }
  Result<model::Counters> counted() override { return counters_->read(); }
  std::optional<model::Clocks> clocks() const override { return nvml_.ok() ? std::optional(nvml_->read()) : std::nullopt; }
  bool lost() const override { return *gpu_->driver().lost != 0; }
  /// Steps are counted with these from now on.
  Status count_with(const Opener& opener, const std::string& names);
  /// The L2 is emptied before each execution of a step.
  Status make_cold();

 private:
  bool has(StepId step) const { return ready_ != nullptr && step >= 0 && static_cast<size_t>(step) < ready_->steps.size(); }
  const ReadyStep& of(StepId step) const { return ready_->steps[static_cast<size_t>(step)]; }
  Status check(BufferId buffer, size_t bytes) const;
  std::string timer() const;

  int threads_;
  Mode mode_;
  Architecture architecture_;
  std::unique_ptr<Compiler> compiler_;
  Result<Cupti*> cupti_;
  std::unique_ptr<Gpu> gpu_;
  std::unique_ptr<StepCounters> counters_;
  std::unique_ptr<Flush> flush_;
  Result<Nvml> nvml_;
  Libraries libraries_;
  const Plan* plan_ = nullptr;
  std::unique_ptr<Prepared> ready_;
  std::unique_ptr<Guards> guards_;
  std::unique_ptr<Pristine> pristine_;
  std::unique_ptr<Runner> runner_;
  int64_t epoch_ns_ = Runner::now_ns();  ///< begin_ns of samples counts from the end of prepare()
};

std::string CudaDevice::timer() const {
  if (mode_ == Mode::events) return "CUDA events";
  return cupti_.ok() ? "CUPTI activity records" : "CUDA events: " + cupti_.error().message;
}

model::DeviceRecord CudaDevice::describe() const {
  const Properties& gpu = gpu_->properties();
  model::DeviceRecord record;
  record.name = "cuda";
  record.model = fmt::format("{}, {} multiprocessors", gpu.name, gpu.multiprocessors);
  record.driver = fmt::format("CUDA {}.{}", gpu.driver_version / 1000, gpu.driver_version % 1000 / 10);
  record.libraries = fmt::format("NVRTC {}{}", compiler_->version(), cupti_.ok() ? fmt::format(", CUPTI {}", (*cupti_)->version()) : "");
  if (const std::string more = libraries_.text(); !more.empty()) record.libraries += ", " + more;
  record.threads = 1;
  const auto add = [&](const char* name, std::string value) { record.details.push_back({name, std::move(value)}); };
  add("mode", std::string(std::ranges::find(kModes + 1, std::end(kModes), mode_, &std::pair<std::string_view, Mode>::second)->first));
  add("timer", timer());
  add("compute_capability", fmt::format("{}.{}", gpu.major, gpu.minor));
  add("machine_code", architecture_.text() + (architecture_.ptx ? ", compiled by the driver" : ""));
  add("machine_code_kept_in", cache_folder());
  add("memory_bytes", std::to_string(gpu.memory_bytes));
  add("l2_bytes", std::to_string(gpu.l2_bytes));
  if (flush_ != nullptr) add("flushed_bytes", std::to_string(flush_->bytes()));
  add("clock_khz", std::to_string(gpu.clock_khz));
  add("memory_clock_khz", std::to_string(gpu.memory_clock_khz));
  add("memory_bus_bits", std::to_string(gpu.bus_bits));
  add("clocks", nvml_.ok() ? "read by NVML around each pass" : "not recorded: " + nvml_.error().message);
  if (nvml_.ok() && nvml_->most_mhz() > 0) add("highest_clock_mhz", std::to_string(nvml_->most_mhz()));
  return record;
}

kernel::Target CudaDevice::target() const {
  kernel::Target target;
  target.language = kernel::Language::cuda;
  target.multiprocessors = gpu_->properties().multiprocessors;
  if (gpu_->properties().l2_bytes > 0) target.l2_bytes = gpu_->properties().l2_bytes;
  return target;
}

Status CudaDevice::prepare(const Plan& plan) {
  runner_.reset();  // the memory of an earlier plan goes first
  pristine_.reset();
  ready_.reset();
  ASSIGN_OR_RETURN(ready_, cuda::prepare(plan, *gpu_, {compiler_.get(), architecture_, threads_, Cache(cache_folder())}, libraries_));
  plan_ = &plan;
  guards_ = std::make_unique<Guards>(plan, *ready_, *gpu_);
  RETURN_IF_ERROR(during("filling memory before its first use", guards_->set()));
  runner_ =
      std::make_unique<Runner>(*gpu_, *ready_, *guards_, mode_, Around{cupti_.ok() ? *cupti_ : nullptr, flush_.get(), counters_.get()});
  epoch_ns_ = Runner::now_ns();
  return {};
}

Status CudaDevice::check(BufferId buffer, size_t bytes) const {
  const bool there = ready_ != nullptr && buffer >= 0 && static_cast<size_t>(buffer) < ready_->layout.places.size();
  if (there && static_cast<size_t>(ready_->bytes(buffer)) == bytes) return {};
  return Error{fmt::format("cuda: no buffer {} of {} bytes; report it as a bug", buffer, bytes)};
}

Status CudaDevice::write(BufferId buffer, std::span<const std::byte> physical) {
  RETURN_IF_ERROR(check(buffer, physical.size()));
  RETURN_IF_ERROR(runner_->settle());
  if (physical.empty()) return {};
  const Driver& d = gpu_->driver();
  const Status done = d.call(d.to_device, ready_->address(buffer), static_cast<const void*>(physical.data()), physical.size());
  if (!done.ok()) return Error{fmt::format("{}: {}", plan_->buffers[static_cast<size_t>(buffer)].name, done.error().message)};
  return {};
}

Status CudaDevice::read(BufferId buffer, std::span<std::byte> physical) {
  RETURN_IF_ERROR(check(buffer, physical.size()));
  RETURN_IF_ERROR(runner_->settle());
  if (physical.empty()) return {};
  const Driver& d = gpu_->driver();
  const Status done = d.call(d.to_host, static_cast<void*>(physical.data()), ready_->address(buffer), physical.size());
  if (!done.ok()) return Error{fmt::format("{}: {}", plan_->buffers[static_cast<size_t>(buffer)].name, done.error().message)};
  return {};
}

Result<bool> CudaDevice::keep(std::span<const BufferId> buffers) {
  RETURN_IF_ERROR(runner_->settle());
  pristine_ = std::make_unique<Pristine>(*gpu_, *ready_);
  auto kept = pristine_->keep(buffers);
  if (!kept.ok()) return during("keeping what a pass overwrites", kept.error()).error();
  return kept;
}

Status CudaDevice::restore() {
  RETURN_IF_ERROR(runner_->settle());
  return during("restoring what a pass has overwritten", pristine_->restore());
}

Status CudaDevice::start(StepId step, int executions) {
  if (!has(step)) return Error{fmt::format("cuda: no step {}; report it as a bug", step)};
  return runner_->start(step, executions);
}

Result<std::vector<model::Sample>> CudaDevice::finish() {
  if (runner_ == nullptr) return std::vector<model::Sample>();
  ASSIGN_OR_RETURN(std::vector<model::Sample> samples, runner_->finish());
  for (model::Sample& sample : samples) sample.begin_ns -= epoch_ns_;
  return samples;
}

Status CudaDevice::count_with(const Opener& opener, const std::string& names) {
  ASSIGN_OR_RETURN(std::vector<Counter> wanted, counters_named(names));
  ASSIGN_OR_RETURN(counters_, StepCounters::open(opener, *gpu_, std::move(wanted)));
  return {};
}

Status CudaDevice::make_cold() {
  flush_ = std::make_unique<Flush>(*gpu_);
  return during("making room to flush the L2 cache", flush_->allocate());
}

/// Ranges are of steps and of parts of fusions, that launch something.
Status CudaDevice::begin_counting() {
  std::vector<bool> ranges(ready_->steps.size(), false);
  const auto add = [&](StepId step) { ranges[static_cast<size_t>(step)] = operations_of(of(step)) > 0 && of(step).why.empty(); };
  for (const Step* step : plan_->steps) add(step->id);
  for (const Variant& variant : plan_->variants)
    for (const Step& part : variant.parts) add(part.id);
  return counters_->begin_pass(ranges);
}

/// Products have none: the kernels are ours, and say nothing of what the card can do.
Status CudaDevice::measure_ceilings(model::DeviceRecord& record) {
  const auto copied = copy_bytes_per_s(*gpu_);
  if (!copied.ok()) return during("measuring the memory's bandwidth", copied.error());
  record.triad_bytes_per_s = *copied;
  record.triad_streaming_bytes_per_s = record.triad_bytes_per_s;
  record.details.push_back({"memory_ceiling", fmt::format("cuMemcpyDtoDAsync of {} MiB, best of 5, read and written", kCopiedBytes >> 20)});
  return {};
}

}  // namespace

std::string why_no_gpu(const Opener& opener) {
  const Presence driver = look_at(Library::driver, opener);
  if (driver.usable()) return "";
  return driver.file.empty() ? fmt::format("no NVIDIA driver ({})", driver.why)
                             : fmt::format("NVIDIA's driver {} is of no use: {}", driver.file, driver.why);
}

std::string why_not_usable(const Opener& opener) {
  if (std::string why = why_no_gpu(opener); !why.empty()) return why;
  const Presence compiler = look_at(Library::nvrtc, opener);
  return compiler.usable() ? "" : fmt::format("there is a GPU, but no NVRTC ({})", compiler.why);
}

std::string why_no_counters(const Opener& opener) {
  if (std::string why = why_no_gpu(opener); !why.empty()) return why;
  const auto gpu = Gpu::open(opener);
  if (!gpu.ok()) return gpu.error().message;
  const auto counters = StepCounters::open(opener, **gpu, *counters_named("default"));
  return counters.ok() ? "" : counters.error().message;
}

bool traces() { return Cupti::traces(); }

/// CUPTI is turned on before the context is made and modules are loaded.
Result<std::unique_ptr<Device>> open_with(const DeviceOptions& options, const Opener& opener) {
  ASSIGN_OR_RETURN(const Mode mode, mode_of(options.mode));
  const auto refused = [](const Error& error) {
    return Error{fmt::format("device cuda: {}; use --device cpu, or see profile doctor", error.message), error.exit};
  };
  if (const auto driver = open_driver(opener); !driver.ok()) return refused(driver.error());
  auto compiler = Compiler::open(opener);
  if (!compiler.ok()) return refused(compiler.error());
  const bool timed = mode != Mode::events && options.counters.empty();
  Result<Cupti*> cupti = timed ? Cupti::open(opener) : Result<Cupti*>(Error{"not asked for"});
  auto gpu = Gpu::open(opener);
  if (!gpu.ok()) return refused(gpu.error());
  const auto architecture = architecture_of((*gpu)->properties(), **compiler);
  if (!architecture.ok()) return refused(architecture.error());
  Result<Nvml> nvml = Nvml::open(opener, (*gpu)->properties().pci_bus_id);
  auto device = std::make_unique<CudaDevice>(options, options.counters.empty() ? mode : Mode::events, *std::move(compiler),
                                             std::move(cupti), *std::move(gpu), std::move(nvml), *architecture, opener);
  if (!options.counters.empty()) RETURN_IF_ERROR(device->count_with(opener, options.counters));
  if (options.cold) RETURN_IF_ERROR(device->make_cold());
  return std::unique_ptr<Device>(std::move(device));
}

Result<std::unique_ptr<Device>> open(const DeviceOptions& options) { return open_with(options, system_opener()); }

}  // namespace replay::cuda
