// What a library has prepared: a call of it with everything but the stream and the workspace.
#pragma once

#include <cstdint>
#include <string>

#include "replay/device/cuda/driver.h"
#include "src/base/result.h"

namespace replay::cuda {

class Routine {
 public:
  virtual ~Routine() = default;
  /// Puts the call into the stream; `workspace` holds workspace_bytes().
  virtual base::Status run(void* stream, Address workspace) const = 0;
  virtual int64_t workspace_bytes() const = 0;
  /// The library, its version, and what it chose: "cuBLASLt 13.1, algorithm 66, tile 20, …".
  virtual std::string implementation() const = 0;
  /// The next best choice, if there is one. False: there is none, and the choice stays.
  virtual bool next() = 0;
  /// Back to a choice that was taken before: 0 is the first.
  virtual void take(int rank) = 0;
};

}  // namespace replay::cuda
