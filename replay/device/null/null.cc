// A step takes max(flops / rate, bytes / bandwidth) + a fixed start: round figures, so that expected numbers can be worked out by hand.
// Where a machine is described it takes what is predicted for that (predict.h).
#include "replay/device/null/null.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "replay/predict.h"
#include "src/ir/cost.h"

namespace replay::null {
namespace {

constexpr double kBytesPerSecond = 10e9, kFlopsPerSecond = 100e9;
constexpr int64_t kStart_ns = 1000;

class NullDevice : public Device {
 public:
  explicit NullDevice(const DeviceOptions& options) : threads_(options.threads > 0 ? options.threads : 1), as_(options.as) {}

  model::DeviceRecord describe() const override {
    model::DeviceRecord record;
    record.name = as_ ? as_->name : "null";
    record.threads = threads_;
    if (as_) {
      describe(*as_, record);
    } else {
      record.model = "virtual clock: 10 GB/s, 100 GFLOP/s, 1 µs a start";
      record.triad_bytes_per_s = record.triad_streaming_bytes_per_s = kBytesPerSecond;
      record.product_flops_per_s = kFlopsPerSecond;
    }
    return record;
  }
  kernel::Target target() const override { return {}; }

  base::Status prepare(const Plan& plan) override {
    plan_ = &plan;
    durations_ns_.clear();
    steps_ = startable(plan);
    for (const Step* step : steps_) durations_ns_.push_back(duration_ns(*step));
    for (const Variant& variant : plan.variants) {
      if (!variant.why.empty()) continue;
      int64_t& whole_ns = durations_ns_[static_cast<size_t>(variant.whole.id)] = 0;
      for (const Step& part : variant.parts) whole_ns += durations_ns_[static_cast<size_t>(part.id)];
    }
    return {};
  }
  std::vector<model::KernelRecord> kernels() const override {
    std::vector<model::KernelRecord> records;
    if (plan_ == nullptr) return records;
    records.reserve(plan_->kernels.size());
    for (const kernel::Kernel& k : plan_->kernels)
      records.push_back({k.key, k.name, std::string(text(k.language)), "not compiled", k.code, 0, 0});
    return records;
  }
  std::vector<int32_t> kernels_of(StepId step) const override {
    std::vector<int32_t> indices;
    if (!has(step)) return indices;
    for (const Launch& launch : steps_[static_cast<size_t>(step)]->launches) {
      if (const auto* call = std::get_if<KernelCall>(&launch)) indices.push_back(call->kernel);
    }
    return indices;
  }
  std::string precision_of(StepId step) const override {
    return as_ && has(step) ? predicted_precision(*steps_[static_cast<size_t>(step)]) : "none";
  }
  base::Status write(BufferId, std::span<const std::byte>) override { return {}; }
  base::Status read(BufferId, std::span<std::byte> physical) override {
    std::fill(physical.begin(), physical.end(), std::byte{0});
    return {};
  }
  base::Status start(StepId step, int executions) override {
    const int64_t duration = durations_ns_[static_cast<size_t>(step)] * executions;
    samples_.push_back({step, 0, 0, clock_ns_, duration, executions});
    clock_ns_ += duration;
    return {};
  }
  base::Result<std::vector<model::Sample>> finish() override { return std::exchange(samples_, {}); }
  int64_t clock_ns() const override { return clock_ns_; }
  bool keeps_values() const override { return false; }

 private:
  static void describe(const Machine& machine, model::DeviceRecord& record) {
    record.model = machine.model;
    record.driver = "none: predicted from a description";
    record.ceilings = published_ceilings(machine);
    for (const NamedFigure& f : figures_of(machine))
      record.details.push_back({f.name, fmt::format("{:g}: {}", f.figure.value, f.figure.source)});
    record.details.push_back({"formula", std::string(kPredictionFormula)});
  }

  int64_t duration_ns(const Step& step) const {
    if (as_) return std::llround(predict(*plan_, step, *as_).total_ns());
    if (step.moves_state) return kStart_ns;
    const ir::Cost nominal = ir::cost(*plan_->module, step.instr, ir::CostMethod::nominal);
    const ir::Cost traffic = ir::cost(*plan_->module, step.instr, ir::CostMethod::traffic);
    const double seconds = std::max(nominal.flops / kFlopsPerSecond, traffic.bytes() / kBytesPerSecond);
    return kStart_ns + std::llround(seconds * 1e9);
  }

  int threads_;
  std::optional<Machine> as_;
  bool has(StepId step) const { return step >= 0 && static_cast<size_t>(step) < steps_.size(); }

  const Plan* plan_ = nullptr;
  std::vector<const Step*> steps_;
  std::vector<int64_t> durations_ns_;
  std::vector<model::Sample> samples_;
  int64_t clock_ns_ = 0;
};

}  // namespace

base::Result<std::unique_ptr<Device>> open(const DeviceOptions& options) {
  return std::unique_ptr<Device>(std::make_unique<NullDevice>(options));
}

}  // namespace replay::null
