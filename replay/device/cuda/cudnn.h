// Convolutions that cuDNN runs, by its graphs.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "replay/device/cuda/cudnn_engines.h"
#include "replay/device/cuda/cudnn_plan.h"
#include "replay/device/cuda/routine.h"

namespace replay::cuda {

/// Where the arrays of a convolution lie on the GPU; 0: not there.
struct ConvolutionMemory {
  Address x = 0, w = 0, y = 0, bias = 0, side = 0;
};

/// The library on a GPU whose context is current.
class Cudnn {
 public:
  /// Error: why there is none, in one sentence.
  static base::Result<std::unique_ptr<Cudnn>> open(const Opener& opener);
  /// Without a GPU: plans are made as for a device of this description (JSON), and nothing can be run.
  static base::Result<std::unique_ptr<Cudnn>> open_for(const Opener& opener, const std::string& device);
  ~Cudnn();
  Cudnn(const Cudnn&) = delete;
  Cudnn& operator=(const Cudnn&) = delete;

  /// By the first engine that the library's heuristics name which takes at most `workspace_bytes` and computes as precisely as the types
  /// say: no TF32, no Winograd. Error: there is none. What was chosen for one convolution is kept for others that are alike.
  base::Result<std::unique_ptr<Routine>> convolution(const ConvolutionGraph& graph, const ConvolutionMemory& memory,
                                                     int64_t workspace_bytes);
  std::string version() const;

 private:
  explicit Cudnn(const CudnnTable& table) : table_(table) {}

  CudnnTable table_;
  CudnnTarget target_;
  std::map<std::string, std::shared_ptr<Engines>> known_;  ///< by what was asked
};

}  // namespace replay::cuda
