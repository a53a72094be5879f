// The engine: walks a plan's blocks on a device by the measuring protocol (architecture §8), and tells an observer what it saved.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "replay/device.h"
#include "replay/inputs.h"
#include "replay/measure/criterion.h"
#include "replay/plan.h"
#include "src/base/result.h"
#include "src/model/records.h"

namespace replay {

struct Progress {
  enum class Stage { warm_up, verify, measure } stage = Stage::warm_up;
  int32_t step = 0, steps = 0;  ///< within the pass
  int pass = 0;
  double left_s = 0;  ///< estimate; 0: unknown
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void progress(const Progress&) {}
  /// A pass is complete: keep it. An Error ends the run.
  virtual base::Status keep(const model::Pass& pass, std::span<const model::Sample> samples) = 0;
};

struct EngineOptions {
  int warm_up = 1;
  bool verify = false;
  bool repeat_short = true;          ///< steps under 20 µs run several times within a sample
  bool chain = false;                ///< feed outputs that alias parameters back instead of starting every pass from the same inputs
  int64_t most_trips = 100'000'000;  ///< of one loop; one that would go on is an Error
  uint64_t seed = 1;                 ///< picks the elements that are verified
  std::vector<bool> timed;           ///< by step; empty: all
  InputOptions inputs = {};          ///< what the parameters were loaded with: those that a pass overwrites get it again
};

/// How far one step's results were from the reference.
struct Verdict {
  double worst = -1;
  int64_t elements = 0;
  std::string place;
};

struct Outcome {
  model::RunStatus status = model::RunStatus::complete;
  int passes = 0;
  std::vector<std::vector<double>> seconds;       ///< [step][pass]: one execution
  std::vector<std::vector<double>> executions;    ///< [step][pass] per pass of the program (trips of a loop's step), repeats not counted
  std::vector<double> pass_seconds;               ///< wall time of a pass less the repeats of short steps
  std::vector<Verdict> verdicts;                  ///< by id of whatever can be started, parts of fusions included; empty without verify
  int failed_step = -1;                           ///< the first step that failed verification
  std::string error;                              ///< not empty: what ended the run after the passes that were kept
  std::vector<std::vector<double>> part_seconds;  ///< [variant][part]: medians of each run alone; 0: not run
};

class Engine {
 public:
  Engine(Plan& plan, Device& device, EngineOptions options, const std::atomic<bool>& stop);
  ~Engine();
  /// Warm-up passes, one verifying pass if asked for, then passes until the criterion is done. Interrupted: what was complete is kept.
  base::Result<Outcome> run(measure::Criterion& criterion, Observer& observer);
  /// On a device that was opened to count: a warm-up pass, then passes as long as the counters need more. False: interrupted.
  base::Result<bool> count();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// An Error where a captured array names no parameter, or two name the same.
base::Status check_inputs(const Plan& plan, const InputOptions& options);
/// What each parameter and elided constant was filled with: for the store. Returns early where `stop` becomes true.
base::Result<std::vector<model::Setting>> load_inputs(const Plan& plan, Device& device, const InputOptions& options,
                                                      const std::atomic<bool>* stop = nullptr);
/// The parameters that a pass overwrites get their values of the beginning again.
base::Status restore_inputs(const Plan& plan, Device& device, const InputOptions& options);
base::Status make_folder(const std::string& folder);
/// outputs.json and one .npy a leaf (logical row-major) into `folder`, which is made if needed.
base::Status dump_outputs(const Plan& plan, Device& device, const std::string& folder);
/// Host bytes of a buffer in physical order: the device's own memory, or a copy in `storage`.
base::Result<std::span<const std::byte>> host_bytes(const Plan& plan, Device& device, BufferId buffer, std::vector<std::byte>& storage);

}  // namespace replay
