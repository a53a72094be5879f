// Comparators that compare one function of both sides: see sort_keys.cc.
#pragma once

#include <optional>

#include "replay/reference/interpreter.h"

namespace replay::reference {

/// A number for every place of the operands of a sort, so that its comparator puts a before b where a's number is less. Nothing if the
/// comparator has no such form, or if its keys have no order (NaN) or none that is known (bounds, zeros of both signs).
std::optional<std::vector<uint64_t>> sort_keys(const Call& call, const std::vector<Batch>& arrays, const Indices& places);

}  // namespace replay::reference
