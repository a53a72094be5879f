// Only what an operator did counts: kernels on streams and kernels of the executor's threads. Steps, scopes, the runtime's own spans and
// sums of kernels cover the same time again and are passed over.
#include "importers/tensorflow/profile_events.h"

#include <fmt/format.h>

#include <algorithm>

#include "importers/tensorflow/step_stats.h"

namespace importers::tensorflow {
namespace {

constexpr std::string_view kAccelerator = "/device:";
/// Lines that the profiler derives: they say again what kernels did.
constexpr std::string_view kDerived[] = {"Steps",        "TensorFlow Name Scope", "Framework Name Scope", "XLA Modules",  "Source code",
                                         "Launch Stats", "XLA TraceMe",           "Sparse Core Steps",    "Framework Ops"};
constexpr std::string_view kSums = "TensorFlow Ops";
constexpr std::string_view kProfileEventsWhy =
    "a profile tells names, types and times, but neither shapes nor inputs; give a GraphDef of the run to replay it";

bool is_derived(std::string_view line) { return std::ranges::find(kDerived, line) != std::end(kDerived); }

bool is_copy(std::string_view kernel) { return kernel.starts_with("Memcpy") || kernel.starts_with("Memset"); }

/// "dense/MatMul:MatMul" where it is an operator's; node empty: none ("ExecutorState::Process").
TimelineLabel operator_label(std::string_view text) {
  const TimelineLabel label = kernel_label(text);
  return label.node.ends_with(':') ? TimelineLabel() : label;
}

}  // namespace

void ProfileEvents::add_line(std::string_view plane, std::string_view line) {
  bool& kernels = kernels_.try_emplace(std::string(plane), false).first->second;
  kernels |= plane.starts_with(kAccelerator) && line != kSums && !is_derived(line);
}

int32_t ProfileEvents::operator_of(const ProfileEvent& event, bool accelerator) {
  TimelineLabel label = operator_label(event.annotation);
  if (label.node.empty() && !accelerator) label = operator_label(event.name);
  std::string_view name = label.node, type = label.type;
  if (name.empty()) name = event.hlo;
  if (name.empty() && accelerator) {
    name = event.name;
    type = is_copy(name) ? "Memcpy" : "";
  }
  if (name.empty()) return -1;
  const int32_t known = log_.find(name);
  if (known >= 0) {
    if (accelerator) log_[known].device = event.plane;
    return known;
  }
  const int32_t op = log_.op(name, type, event.plane, 0);
  if (!type.empty()) return op;
  log_[op].note = event.hlo.empty() ? "a kernel without an operator" : "an instruction of an XLA module";
  log_[op].type.clear();
  log_[op].type_from = model::Known::no;
  log_[op].launches = model::Launches::device;
  return op;
}

void ProfileEvents::add(const ProfileEvent& event) {
  const auto kernels = kernels_.find(event.plane);
  const bool has_kernels = kernels != kernels_.end() && kernels->second;
  const bool accelerator = event.plane.starts_with(kAccelerator);
  const bool again = is_derived(event.line) || (event.line == kSums && has_kernels);
  const int32_t op = again ? -1 : operator_of(event, accelerator);
  if (op < 0) return ++passed_over_, log_.pass_over();
  log_.keep();
  const int32_t pass = passes_.try_emplace(std::string(event.group), static_cast<int32_t>(passes_.size())).first->second;
  log_.time(event.plane, accelerator ? "profile: kernels on the device" : "profile: operators on the host",
            {op, pass, event.begin_ns, event.duration_ns});
}

base::Result<model::Imported> ProfileEvents::finish() {
  if (passed_over_ > 0)
    log_.note("passed-over", fmt::format("{} events (steps, scopes, sums, the runtime) are of no operator", passed_over_));
  return log_.finish(kProfileEventsWhy);
}

}  // namespace importers::tensorflow
