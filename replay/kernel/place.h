// Places of elements: one index a logical dimension, and the single number that a layout makes of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "replay/kernel/index.h"
#include "src/ir/shape.h"

namespace kernel {

using Place = std::vector<Index>;

/// Sums over dims · coefficients, and back. Sizes and places in the same order, outermost first.
Index linearise(std::span<const int64_t> sizes, const Place& place);
Place delinearise(Terms& terms, std::span<const int64_t> sizes, const Index& linear);
/// Logical place of element `linear` in physical order, and back.
Place place_of(Terms& terms, const ir::Shape& shape, const Index& linear);
Index element_of(const ir::Shape& shape, const Place& place);

}  // namespace kernel
