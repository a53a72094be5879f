// The GPU of tests/support/fake_gpu as the libraries of a device, and a program replayed on it.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "importers/hlo/hlo.h"
#include "replay/device/cuda/cuda.h"
#include "replay/engine.h"

namespace replay::cuda {

/// Opens NVIDIA's names as the fake, and nothing else.
const Opener& fake_opener();
/// What happens from now on (fake_gpu/gpu.h); forgets all that was before.
void plan_fake(const std::string& words);
/// Calls by function, and what was not given back.
std::string fake_report();
/// Its lines about what was not given back.
std::string left_behind(const std::string& report);
/// Of one function, since plan_fake().
int64_t fake_calls(const std::string& report, const std::string& function);

/// Passes kept, as a store would.
struct Kept : Observer {
  std::vector<model::Sample> samples;
  std::vector<model::Pass> told;
  int passes = 0;
  base::Status keep(const model::Pass& pass, std::span<const model::Sample> some) override {
    samples.insert(samples.end(), some.begin(), some.end());
    told.push_back(pass);
    ++passes;
    return {};
  }
};

/// A product, a fusion with a row reduction, an update in place, a copy of another layout, a loop with a condition to read.
extern const char* const kProgram;

struct OnFake {
  ir::Module module;
  std::optional<Plan> plan;
  std::unique_ptr<Device> device;
};
/// Opens a device and plans for it.
base::Result<std::unique_ptr<OnFake>> plan_on_fake(const std::string& text, DeviceOptions options, ChooseParts parts = {});

struct Replayed {
  std::optional<base::Error> error;
  Outcome outcome;
  Kept kept;
  std::vector<model::KernelRecord> kernels;
  model::DeviceRecord device;
  std::vector<std::string> names, skipped;  ///< of steps; why: "" where it is not
  std::vector<Class> classes;               ///< of steps
};

struct Request {
  std::string mode = "stream";
  bool verify = true;
  int passes = 2;
  int autotune = 0;
  bool cold = false;
};
/// "": a call taken apart has the values that it has as a whole (decompose.h), by the reference; else what differs, or fails.
std::string apart_and_whole(const std::string& text);
/// Plans, prepares, fills, verifies and measures; the device is closed when this returns.
Replayed replay_on_fake(const std::string& text, const Request& request);

}  // namespace replay::cuda
