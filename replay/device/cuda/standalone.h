// One step of a plan as a program of its own.
#pragma once

#include <string>

#include "replay/plan.h"
#include "src/base/result.h"

namespace replay::cuda {

/// CUDA C++ for nvcc: the step's kernels, and a main that makes its operands, launches and times it. Error: a step that launches nothing,
/// or an op that has no kernel.
base::Result<std::string> standalone_program(const Plan& plan, const Step& step);

}  // namespace replay::cuda
