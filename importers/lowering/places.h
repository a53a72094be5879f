// Elements by the number of their place, and what goes back to it: what all gathers and scatters of the frameworks come to.
#pragma once

#include "importers/lowering/builder.h"

namespace importers::lowering {

/// Slices of `x` along `axis` by number: index [i…] → x with i… in place of the axis. The first `batch` dimensions go along in both.
Value take(Body& b, Value x, Value index, int64_t axis, int64_t batch = 0);
/// Slices along `axis` put to, or added to, those of `base`: index [i…], updates as `take` gives them. `how`: of two scalars, the old and
/// the new.
Value give(Body& b, Value base, Value index, Value updates, int64_t axis, ir::CompId how);
/// Index [i…, r] into the first r dimensions of x: [i…, x's others].
Value take_deep(Body& b, Value x, Value index);
Value give_deep(Body& b, Value base, Value index, Value updates, ir::CompId how);
/// Elements by number along `axis`: index [d₀, …], each not larger than x there → index's dimensions.
Value take_along(Body& b, Value x, Value index, int64_t axis);
Value give_along(Body& b, Value base, Value index, Value updates, int64_t axis, ir::CompId how);
/// Of two scalars the second: what is put replaces what was there.
ir::CompId second_of(Program& program, ir::Type type);

}  // namespace importers::lowering
