// A program at smaller sizes: the same instructions on arrays that a test can run quickly.
#pragma once

#include <cstdint>

#include "src/ir/module.h"

namespace support {

/// Sizes that must agree stay equal, products and sums of sizes hold (reshape, concatenate, pad), and a size n becomes one with the same
/// remainder by 32, so that vectors, tails and borders of tiles stay what they are. Large arrays lose their slow dimensions first, until
/// each has at most `most_elements`. What an operation fixes stays: windows, array constants, parts cut out of an array, operations
/// without a rule here. Attributes that repeat a size follow it.
ir::Module shrunk(const ir::Module& module, int64_t most_elements);
/// Elements of the largest array in the entry.
int64_t largest_array(const ir::Module& module);

}  // namespace support
