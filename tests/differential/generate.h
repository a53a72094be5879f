// Random small modules that are valid by construction: the same seed gives the same text.
#pragma once

#include <cstdint>
#include <string>

namespace differential {

/// HLO text of a module with 1 to 4 parameters and up to about 20 operations, bare in the entry or inside one fusion.
std::string random_module(uint64_t seed);

}  // namespace differential
