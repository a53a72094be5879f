// Steps that launch nothing take no time and get no events.
#include "replay/device/cuda/timer.h"

#include <cmath>

namespace replay::cuda {
namespace {

int64_t ns(float ms) { return std::llround(static_cast<double>(ms) * 1e6); }

}  // namespace

EventTimer::~EventTimer() {
  for (void* event : events_) gpu_.driver().destroy_event.address(event);
}

base::Status EventTimer::record(size_t event) {
  const Driver& d = gpu_.driver();
  while (events_.size() <= event) {
    void* made = nullptr;
    RETURN_IF_ERROR(d.call(d.create_event, &made, 0u));
    events_.push_back(made);
  }
  return d.call(d.record_event, events_[event], gpu_.stream(), of_ == Of::graph ? kNodeOfGraph : 0u);
}

base::Status EventTimer::begin(const Started& step) {
  steps_.push_back(step);
  return step.operations > 0 ? record(2 * steps_.size() - 2) : base::Status();
}

base::Status EventTimer::end() { return steps_.back().operations > 0 ? record(2 * steps_.size() - 1) : base::Status(); }

base::Result<std::vector<model::Sample>> EventTimer::samples(void* origin) const {
  const Driver& d = gpu_.driver();
  std::vector<model::Sample> samples;
  for (size_t k = 0; k < steps_.size(); ++k) {
    model::Sample sample{.step = steps_[k].step, .executions = steps_[k].executions};
    if (steps_[k].operations > 0) {
      float since_ms = 0, for_ms = 0;
      RETURN_IF_ERROR(d.call(d.elapsed_ms, &since_ms, origin, events_[2 * k]));
      RETURN_IF_ERROR(d.call(d.elapsed_ms, &for_ms, events_[2 * k], events_[2 * k + 1]));
      sample.begin_ns = ns(since_ms);
      sample.duration_ns = ns(for_ms);
    }
    samples.push_back(sample);
  }
  return samples;
}

Event::~Event() {
  if (handle_ != nullptr) driver_.destroy_event.address(handle_);
}

base::Status Event::record(void* stream) {
  if (handle_ == nullptr) RETURN_IF_ERROR(driver_.call(driver_.create_event, &handle_, 0u));
  return driver_.call(driver_.record_event, handle_, stream, 0u);
}

}  // namespace replay::cuda
