// Fusions that run as their parts too, in a run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace model {

/// One launch of a fusion that was taken apart.
struct FusionPart {
  std::string name, opcode;  ///< instruction in the fusion
  std::string cls;           ///< kernel, library, copy
  double flops = 0, bytes = 0;
  int32_t kernel = -1;      ///< index into Run::kernels; -1: a copy
  double median_ns = 0;     ///< of one execution, run alone; 0: not measured
  double worst_error = -1;  ///< of --verify, as StepRecord::worst_error
};

struct FusionRecord {
  int32_t step = 0;
  bool tried = false;  ///< the program has the parts apart
  double bytes = 0;    ///< traffic of the parts as they run
  int64_t scratch_bytes = 0;
  double extra_flops = 0;
  std::string why;  ///< why there are no parts; "" if there are
  std::vector<FusionPart> parts;
};

}  // namespace model
