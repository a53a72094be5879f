// In graph mode starting a step only notes it; waiting turns what was noted into a graph, which is captured once for each sequence of
// steps. Steps that a loop's condition or a branch parts are waited for in between, so they come to lie in different graphs by themselves.
#include "replay/device/cuda/runner.h"

#include <fmt/format.h>
#include <time.h>

#include <utility>

namespace replay::cuda {

using base::Result;
using base::Status;

/// A sequence of steps as one launch.
struct Runner::Graph {
  explicit Graph(const Gpu& of) : gpu(of), events(of, EventTimer::Of::graph) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    if (instance != nullptr) gpu.driver().destroy_instance.address(instance);
  }
  const Gpu& gpu;
  void* instance = nullptr;
  EventTimer events;  ///< unless CUPTI times
  std::vector<Started> steps;
};

Runner::Runner(const Gpu& gpu, const Prepared& ready, const Guards& guards, Mode mode, const Around& around)
    : gpu_(gpu),
      ready_(ready),
      guards_(guards),
      mode_(mode),
      around_(around),
      cupti_(mode == Mode::events ? nullptr : around.cupti),
      seen_(ready.steps.size(), false),
      events_(gpu, EventTimer::Of::stream),
      origin_(gpu.driver()) {}
Runner::~Runner() = default;

int64_t Runner::now_ns() {
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

base::Error Runner::at(const base::Error& error, const Sequence& steps) const {
  const auto name = [&](const auto& step) { return ready_.steps[static_cast<size_t>(step.first)].name; };
  if (steps.empty()) return error;
  if (steps.size() == 1) return {fmt::format("{}: {}", name(steps[0]), error.message)};
  return {fmt::format("one of {} steps from {} to {}: {}", steps.size(), name(steps.front()), name(steps.back()), error.message)};
}

Started Runner::described(StepId step, int executions) const {
  return {step, executions, operations_of(ready_.steps[static_cast<size_t>(step)]) * executions, 0};
}

Status Runner::start(StepId step, int executions) {
  const auto s = static_cast<size_t>(step);
  if (!ready_.steps[s].why.empty()) return base::Error{ready_.steps[s].why};
  const bool first = !seen_[s];
  if (mode_ == Mode::graph && !first) {
    pending_.emplace_back(step, executions);
    return {};
  }
  RETURN_IF_ERROR(launch_pending());
  running_.emplace_back(step, executions);
  if (Status launched = launch_all(step, executions); !launched.ok()) return at(launched.error(), {{step, executions}});
  if (!first) return {};
  seen_[s] = true;
  RETURN_IF_ERROR(wait());
  const Status whole = guards_.check();
  return whole.ok() ? whole : at(whole.error(), {{step, executions}});
}

/// Cold, each execution is a sample of its own.
Status Runner::launch_all(StepId step, int executions) {
  if (around_.flush == nullptr) return launch(described(step, executions));
  for (int i = 0; i < executions; ++i) {
    RETURN_IF_ERROR(around_.flush->run());
    RETURN_IF_ERROR(launch(described(step, 1)));
  }
  return {};
}

/// Nothing else may run in the range, so it begins when all before it has ended.
Status Runner::launch_counted(const Started& started) {
  RETURN_IF_ERROR(gpu_.wait());
  ASSIGN_OR_RETURN(const bool counts, around_.counters->push(started.step));
  const Status launched = run_all(started);
  const Status popped = counts ? around_.counters->pop() : Status();
  return launched.ok() ? popped : launched;
}

Status Runner::launch(const Started& started) {
  if (around_.counters != nullptr && around_.counters->counting()) return launch_counted(started);
  if (cupti_ == nullptr) {
    RETURN_IF_ERROR(set_origin());
    RETURN_IF_ERROR(events_.begin(started));
    RETURN_IF_ERROR(run_all(started));
    return events_.end();
  }
  recorded_.push_back(started);
  ASSIGN_OR_RETURN(recorded_.back().id, cupti_->push());
  const Status launched = run_all(started);
  const Status popped = cupti_->pop();  // whether it could be launched or not: the id would be of what comes next
  return launched.ok() ? popped : launched;
}

Status Runner::run_all(const Started& started) const {
  for (int i = 0; i < started.executions; ++i) RETURN_IF_ERROR(run(gpu_, ready_.steps[static_cast<size_t>(started.step)]));
  return {};
}

Status Runner::set_origin() {
  if (origin_ns_ != 0) return {};
  RETURN_IF_ERROR(origin_.record(gpu_.stream()));
  RETURN_IF_ERROR(gpu_.wait());
  origin_ns_ = now_ns();
  return {};
}

Status Runner::capture_steps(const Sequence& sequence, Graph& graph) {
  for (const auto& [step, executions] : sequence) {
    graph.steps.push_back(described(step, executions));
    if (cupti_ == nullptr) RETURN_IF_ERROR(graph.events.begin(graph.steps.back()));
    for (int i = 0; i < executions; ++i) {
      if (Status launched = run(gpu_, ready_.steps[static_cast<size_t>(step)]); !launched.ok())
        return at(launched.error(), {{step, executions}});
    }
    if (cupti_ == nullptr) RETURN_IF_ERROR(graph.events.end());
  }
  return {};
}

/// The capture ends whether its steps could be captured or not, and what it has made goes in any case.
Status Runner::capture(const Sequence& sequence, Graph& graph) {
  const Driver& d = gpu_.driver();
  RETURN_IF_ERROR(d.call(d.begin_capture, gpu_.stream(), kCaptureOfThread));
  const Status captured = capture_steps(sequence, graph);
  void* made = nullptr;
  const Status ended = d.call(d.end_capture, gpu_.stream(), &made);
  const bool whole = captured.ok() && ended.ok();
  const Status instantiated = whole ? d.call(d.instantiate, &graph.instance, made, 0ull) : Status();
  const Status destroyed = made != nullptr ? d.give_back(d.destroy_graph, made) : Status();
  for (const Status& status : {captured, ended, instantiated, destroyed}) RETURN_IF_ERROR(status);
  return d.call(d.upload_graph, graph.instance, gpu_.stream());
}

Result<Runner::Graph*> Runner::graph_of(const Sequence& sequence) {
  std::unique_ptr<Graph>& graph = graphs_[sequence];
  if (graph == nullptr) {
    auto made = std::make_unique<Graph>(gpu_);
    RETURN_IF_ERROR(capture(sequence, *made));
    graph = std::move(made);
  }
  return graph.get();
}

Status Runner::launch_pending() {
  if (pending_.empty()) return {};
  const Sequence sequence = std::exchange(pending_, {});
  if (cupti_ == nullptr) {
    if (const Status set = set_origin(); !set.ok()) return at(set.error(), sequence);
  }
  const auto graph = graph_of(sequence);
  if (!graph.ok()) return at(graph.error(), sequence);
  running_.insert(running_.end(), sequence.begin(), sequence.end());
  if (const Status launched = launch_graph(**graph); !launched.ok()) return at(launched.error(), sequence);
  return wait();
}

Status Runner::launch_graph(Graph& graph) {
  const Driver& d = gpu_.driver();
  if (cupti_ == nullptr) {
    launched_.push_back(&graph);
    return d.call(d.launch_graph, graph.instance, gpu_.stream());
  }
  ASSIGN_OR_RETURN(const uint64_t id, cupti_->push());
  for (Started step : graph.steps) step.id = id, recorded_.push_back(step);
  const Status launched = d.call(d.launch_graph, graph.instance, gpu_.stream());
  const Status popped = cupti_->pop();
  return launched.ok() ? popped : launched;
}

/// What events tell is asked at once: they are recorded anew.
Status Runner::wait() {
  if (running_.empty()) return {};
  const Sequence steps = std::exchange(running_, {});
  if (Status waited = gpu_.wait(); !waited.ok()) return at(waited.error(), steps);
  std::vector<EventTimer*> timers{&events_};
  for (Graph* graph : std::exchange(launched_, {})) timers.push_back(&graph->events);
  for (const EventTimer* timer : timers) {
    auto samples = timer->samples(origin_.handle());
    if (!samples.ok()) return at(samples.error(), steps);
    for (model::Sample& sample : *samples) {
      if (sample.begin_ns != 0) sample.begin_ns += origin_ns_;
      done_.push_back(sample);
    }
  }
  events_.clear();
  return {};
}

Status Runner::settle() {
  RETURN_IF_ERROR(launch_pending());
  return wait();
}

/// What CUPTI has recorded since the last time.
Status Runner::collect() {
  if (recorded_.empty()) return {};
  const std::vector<Started> started = std::exchange(recorded_, {});
  Sequence steps;
  for (const Started& step : started) steps.emplace_back(step.step, step.executions);
  const auto activity = cupti_->collect();
  if (!activity.ok()) return at(activity.error(), steps);
  ASSIGN_OR_RETURN(const auto samples, samples_of(*activity, started));
  done_.insert(done_.end(), samples.begin(), samples.end());
  return {};
}

Result<std::vector<model::Sample>> Runner::finish() {
  RETURN_IF_ERROR(settle());
  RETURN_IF_ERROR(collect());
  const int64_t now = now_ns();
  for (model::Sample& sample : done_)
    if (sample.begin_ns == 0) sample.begin_ns = now;  // launched nothing
  return std::exchange(done_, {});
}

}  // namespace replay::cuda
