// Steps of a prepared plan started one after another, waited for together, with a sample each: one by one in a stream, or collected and
// launched as CUDA graphs.
#pragma once

#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "replay/device/cuda/flush.h"
#include "replay/device/cuda/guards.h"
#include "replay/device/cuda/prepare.h"
#include "replay/device/cuda/step_counters.h"
#include "replay/device/cuda/timer.h"

namespace replay::cuda {

enum class Mode : uint8_t {
  stream,  ///< step by step, timed by CUPTI
  graph,   ///< what lies between two waits as one launch
  events,  ///< step by step, timed by events
};

/// What runs around steps; each may be null.
struct Around {
  Cupti* cupti = nullptr;            ///< its records are the times; null: events are, in all modes
  const Flush* flush = nullptr;      ///< before each execution
  StepCounters* counters = nullptr;  ///< what is counted is not timed
};

class Runner {
 public:
  Runner(const Gpu& gpu, const Prepared& ready, const Guards& guards, Mode mode, const Around& around);
  ~Runner();
  /// A step's first run is waited for, so that a fault is named with the step that makes it, and what it wrote beyond a parameter.
  base::Status start(StepId step, int executions);
  /// Times on the clock of now_ns().
  base::Result<std::vector<model::Sample>> finish();
  /// For what reads or writes memory: all that was started has ended. Its samples come with the next finish().
  base::Status settle();
  /// CLOCK_REALTIME, as CUPTI's.
  static int64_t now_ns();

 private:
  struct Graph;
  using Sequence = std::vector<std::pair<StepId, int>>;

  Started described(StepId step, int executions) const;
  base::Status launch_all(StepId step, int executions);
  base::Status launch(const Started& started);
  base::Status launch_counted(const Started& started);
  base::Status run_all(const Started& started) const;
  base::Status launch_graph(Graph& graph);
  base::Status launch_pending();
  base::Result<Graph*> graph_of(const Sequence& sequence);
  base::Status capture(const Sequence& sequence, Graph& graph);
  base::Status capture_steps(const Sequence& sequence, Graph& graph);
  base::Status wait();
  base::Status collect();
  base::Status set_origin();
  base::Error at(const base::Error& error, const Sequence& steps) const;

  const Gpu& gpu_;
  const Prepared& ready_;
  const Guards& guards_;
  Mode mode_;
  Around around_;
  Cupti* cupti_;  ///< null: events
  std::vector<bool> seen_;
  Sequence pending_;               ///< of a graph that is not launched yet
  Sequence running_;               ///< since the last wait
  std::vector<Started> recorded_;  ///< whose records CUPTI has or will have
  std::vector<model::Sample> done_;
  EventTimer events_;
  Event origin_;
  int64_t origin_ns_ = 0;  ///< now_ns() when `origin_` was recorded; 0: not yet
  std::map<Sequence, std::unique_ptr<Graph>> graphs_;
  std::vector<Graph*> launched_;
};

}  // namespace replay::cuda
