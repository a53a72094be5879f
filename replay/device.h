// A device runs leaf steps. Four of them: cpu, null (virtual clock), reference, cuda.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/machine.h"
#include "replay/plan.h"
#include "src/base/result.h"
#include "src/model/records.h"

namespace replay {

struct DeviceOptions {
  int threads = 0;                 ///< 0: affinity mask and cgroup quota
  int64_t memory_limit_bytes = 0;  ///< plans that need more are refused; 0: what is free
  std::string cpu{};               ///< cpu: the processor to compile for, as LLVM names it ("haswell"); empty: this one
  std::string mode{};              ///< cuda: stream, graph or events; empty: stream
  int autotune = 0;                ///< cuda: choices of a library that are timed for each distinct call; 0: none, its first runs
  std::optional<Machine> as{};     ///< null: its clock predicts this machine
  int lanes = 0;                   ///< cpu: f32 elements of a vector register, 8 or 16; 0: what the processor has
  bool cold = false;               ///< cpu, cuda: caches are emptied before each execution, outside its time
  std::string counters{};          ///< cuda: opened to count these (counters_named()), not to time; empty: to time
};

/// How long prepare() took, in ns.
struct PrepareTimes {
  int64_t compile_ns = 0;  ///< kernels and library primitives
  int64_t memory_ns = 0;   ///< buffers: mapped and touched
};

class Device {
 public:
  virtual ~Device() = default;
  virtual model::DeviceRecord describe() const = 0;
  virtual kernel::Target target() const = 0;
  /// What it says of products and library ops, for PlanOptions; null: it has all.
  virtual Accepts accepts() const { return nullptr; }
  /// How it wants arrays of convolutions to lie, for PlanOptions; null: as they do.
  virtual Arranges arranges() const { return nullptr; }
  /// Compiles kernels, allocates buffers. The plan outlives the device's use of it. Fails before it allocates if memory does not suffice:
  /// "needs 6.9 GB, 3.1 GB free; try --isolated (each step alone), --computation NAME or --instruction NAME".
  virtual base::Status prepare(const Plan& plan) = 0;
  /// Of the last prepare(); zeros where a device does not say.
  virtual PrepareTimes prepare_times() const { return {}; }
  /// These three may be asked before prepare(), and then know nothing.
  /// What was compiled or asked of libraries: one record per Plan::kernels entry, then one per distinct product. `kernels_of` maps steps to
  /// them.
  virtual std::vector<model::KernelRecord> kernels() const = 0;
  virtual std::vector<int32_t> kernels_of(StepId step) const = 0;
  virtual std::string precision_of(StepId step) const = 0;
  /// What a step turned out to be when it was prepared: a product that no library runs is a kernel.
  virtual Class class_of(StepId step, Class planned) const {
    (void)step;
    return planned;
  }
  /// Of the last prepare(): why a step that a kernel was planned for can't be started after all, as when its compiler refuses the text;
  /// "": it can. replay::prepare() asks.
  virtual std::string why_not(StepId step) const {
    (void)step;
    return {};
  }
  virtual base::Status write(BufferId buffer, std::span<const std::byte> physical) = 0;
  virtual base::Status read(BufferId buffer, std::span<std::byte> physical) = 0;
  /// Keeps what buffers hold now, for restore(). False: it keeps nothing, or has no room.
  virtual base::Result<bool> keep(std::span<const BufferId> buffers) {
    (void)buffers;
    return false;
  }
  /// Brings back what was kept.
  virtual base::Status restore() { return {}; }
  /// Host memory of a buffer, for devices that have it there (cpu, reference); empty otherwise. Lets inputs be made in place and verify
  /// look without a copy.
  virtual std::span<std::byte> memory(BufferId buffer) {
    (void)buffer;
    return {};
  }
  /// The device's clock; by default the host's steady clock.
  virtual int64_t clock_ns() const;
  /// False: write and read do nothing (null); results can't be verified or dumped, and inputs need not be made.
  virtual bool keeps_values() const { return true; }
  /// True: runs steps of class reference itself (the reference device). For others the engine evaluates them on the host.
  virtual bool evaluates() const { return false; }
  /// Runs a step `executions` times as one sample; may return before it ends.
  virtual base::Status start(StepId step, int executions) = 0;
  /// Waits; samples since the last call, on the device's clock; `pass` is filled in by the engine.
  virtual base::Result<std::vector<model::Sample>> finish() = 0;
  /// These three are of a device that was opened to count. A pass over the program begins, in which the hardware counts while a step runs
  /// for the first time.
  virtual base::Status begin_counting() { return base::Error{"this device counts nothing"}; }
  /// It ends, and all that was started has been waited for. False: what is counted needs another pass.
  virtual base::Result<bool> end_counting() { return base::Error{"this device counts nothing"}; }
  /// After the last pass; `step` is a StepId, of fusions' parts too.
  virtual base::Result<model::Counters> counted() { return base::Error{"this device counts nothing"}; }
  /// What it says of its clocks now; nothing where it does not tell.
  virtual std::optional<model::Clocks> clocks() const { return std::nullopt; }
  /// True: after an error that stays, nothing can be run on it by this process.
  virtual bool lost() const { return false; }
  /// Ceilings measured now: triads, caches and large products. Zero where there is nothing to measure.
  virtual base::Status measure_ceilings(model::DeviceRecord& record) {
    (void)record;
    return {};
  }
};

struct DeviceKind {
  std::string_view name, about;
  base::Result<std::unique_ptr<Device>> (*open)(const DeviceOptions&);
};

}  // namespace replay
