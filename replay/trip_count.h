// How often a while runs its body, where the text tells.
#pragma once

#include <cstdint>
#include <optional>

#include "src/ir/module.h"

namespace replay {

/// From `known_trip_count` in its backend_config; else from the pattern of a counter: the condition compares one integer of the state with
/// one that the body leaves alone, both start as constants, the body adds or subtracts a constant. Nothing where running alone tells.
std::optional<int64_t> trip_count(const ir::Module& module, ir::InstrRef loop);

/// The condition is the constant true, or compares a counter that the body leaves alone and that has not arrived.
bool never_ends(const ir::Module& module, ir::InstrRef loop);

/// The body gives back every element of the state as it got it: any number of trips is none.
bool leaves_its_state_alone(const ir::Module& module, ir::InstrRef loop);

}  // namespace replay
