// Numbers that look random, from the place of an element: a replay must give the same every time.
#pragma once

#include "importers/paddle/lower.h"

namespace importers::paddle {

/// 32 bits for each element (u32); another `salt` gives others.
Value random_bits(Body& b, const Dims& dims, int64_t salt = 0);

}  // namespace importers::paddle
