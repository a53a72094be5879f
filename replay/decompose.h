// Library calls of GPU compilers as the operations that they stand for.
#pragma once

#include <memory>

#include "src/base/result.h"
#include "src/ir/module.h"

namespace replay {

/// What becomes of a product or convolution with an epilogue: it and a fusion behind it, or one fusion, which keeps the call's target and
/// backend_config for devices that have a function for the whole.
enum class Products : uint8_t { apart, whole };

/// The same program with custom calls that compute more than a product or a convolution taken apart: cuBLASLt's epilogues, cuDNN's
/// bias, side input and activation, its fused attention without dropout; and where a program is cut for one device. What follows the
/// product is one fusion, computed in f32 as the libraries do. Instructions keep their ids. Null where there is nothing to take apart;
/// calls in a form that is not known stay.
std::shared_ptr<const ir::Module> with_calls_as_ops(const ir::Module& module, Products products = Products::apart);

}  // namespace replay
