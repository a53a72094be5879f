// Elements by the number of their place, and what goes back to it: what rows of gathers and scatters share.
#pragma once

#include "importers/paddle/lower.h"

namespace importers::paddle {

/// Slices of `x` along `axis` by number: index [n] → x with n in place of its size there.
Value take(Body& b, Value x, Value index, int64_t axis);
/// Slices along `axis` put to, or added to, those of `base`: index [n], updates as `take` gives them. `how`: of two scalars, the old and
/// the new.
Value give(Body& b, Value base, Value index, Value updates, int64_t axis, ir::CompId how);
/// Elements by number along `axis`: index [d₀, …], each not larger than x there → index's dimensions.
Value take_along(Body& b, Value x, Value index, int64_t axis);
Value give_along(Body& b, Value base, Value index, Value updates, int64_t axis, ir::CompId how);
/// Index [a…, r] into the first r dimensions of x: [a…, x's others].
Value take_deep(Body& b, Value x, Value index);
Value give_deep(Body& b, Value base, Value index, Value updates, ir::CompId how);
/// Of two scalars the second: what is put replaces what was there.
ir::CompId second_of(Call& c, ir::Type type);

}  // namespace importers::paddle
