// What the caches of this machine give at most: over 100 % of the memory roof is no riddle where these stand beside it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/device/cpu/jit.h"
#include "src/base/result.h"
#include "src/model/records.h"

namespace replay::cpu {

enum class Moves : uint8_t { read, copy };

/// Goes `repeats` times over the elements [begin, end) of f32 as LLVM IR, function "sweep" with args {from, to, &repeats (i64), sink}:
/// reads `from`, or copies it to `to`. Both are 64-byte aligned, the range is a multiple of 8 vectors; `sink` has 8 vectors for each
/// thread.
std::string sweep_ir(int lanes, Moves moves);

/// Rates of L1, L2 and L3 of all threads together, "L1 read", "L1 copy", …: each thread sweeps over a part of its own that fits into half
/// of the cache and not into the next smaller one. A copy counts the bytes that it reads and those that it writes. Caches that the system
/// does not tell of are left out. Takes about 0.1 s.
base::Result<std::vector<model::CeilingRecord>> measure_caches(Jit& jit, int threads);

}  // namespace replay::cpu
