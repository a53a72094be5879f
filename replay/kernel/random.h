// Random bits: functions of a key, a counter and the place of an element.
#pragma once

#include "replay/kernel/evaluate.h"

namespace kernel {

/// An element of an rng-bit-generator: of the new state (path {0}) or of the bits.
base::Result<NodeId> random_bits(Evaluator& evaluator, Ref ref, const std::vector<int64_t>& path, const Place& place);

}  // namespace kernel
