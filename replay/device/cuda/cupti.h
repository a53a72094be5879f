// CUPTI's activity records, collected while steps run.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "replay/device/cuda/activity.h"
#include "replay/device/cuda/libraries.h"
#include "src/base/result.h"

namespace replay::cuda {

/// One a process, never destroyed: CUPTI's threads call back until the very end. Turned on before modules are loaded, and left on.
class Cupti {
 public:
  /// Error: what CUPTI says, and why ("another tool has it"): times must come from elsewhere then.
  static base::Result<Cupti*> open(const Opener& opener);
  /// It traces what this process runs: from the first open() on, for ever.
  static bool traces() { return opened_ != nullptr; }

  /// An id that no other call of this process has: what is launched until pop() is of it.
  base::Result<uint64_t> push();
  base::Status pop() const;
  /// All records so far. The GPU must have been waited for: records of what still runs are lost.
  base::Result<Activity> collect();
  uint32_t version() const { return version_; }

 private:
  struct Functions;
  struct Buffers;
  Cupti(std::unique_ptr<Functions> functions, uint32_t version);
  base::Status start();
  base::Error failure(const char* symbol, int code) const;

  static Cupti* opened_;
  std::unique_ptr<Functions> functions_;
  uint32_t version_;
  uint64_t last_id_ = 0;
};

}  // namespace replay::cuda
