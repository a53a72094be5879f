// Convolutions of dilated operands by phase: see convolution_phases.cc.
#pragma once

#include <memory>

#include "replay/device/cpu/native.h"

namespace replay::cpu {

/// Is an operand dilated in few enough ways to take its phases one by one?
bool has_phases(const Convolution& op);
/// Of a convolution that has_phases().
base::Result<std::unique_ptr<Native>> make_phases(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch);

}  // namespace replay::cpu
