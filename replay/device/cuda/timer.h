// When steps ran and for how long: by CUPTI's records of what ran on the GPU, or by events before and after, which see the gaps too.
#pragma once

#include <memory>
#include <vector>

#include "replay/device/cuda/activity.h"
#include "replay/device/cuda/cupti.h"
#include "replay/device/cuda/gpu.h"
#include "src/model/records.h"

namespace replay::cuda {

/// A pair of events a step. While a stream is captured they become nodes of the graph, and tell of its last launch.
class EventTimer {
 public:
  enum class Of : uint8_t { stream, graph };
  EventTimer(const Gpu& gpu, Of of) : gpu_(gpu), of_(of) {}
  EventTimer(const EventTimer&) = delete;
  EventTimer& operator=(const EventTimer&) = delete;
  ~EventTimer();
  base::Status begin(const Started& step);
  base::Status end();
  /// Since clear(); the GPU has been waited for. Begins count from `origin`, an event that was recorded before.
  base::Result<std::vector<model::Sample>> samples(void* origin) const;
  void clear() { steps_.clear(); }

 private:
  base::Status record(size_t event);

  const Gpu& gpu_;
  Of of_;
  std::vector<void*> events_;  ///< begin and end by turns; used again after clear()
  std::vector<Started> steps_;
};

/// An event by itself.
class Event {
 public:
  explicit Event(const Driver& driver) : driver_(driver) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event();
  base::Status record(void* stream);
  void* handle() const { return handle_; }

 private:
  const Driver& driver_;
  void* handle_ = nullptr;
};

}  // namespace replay::cuda
