// Numbers for operands.
#pragma once

#include <cstdint>
#include <vector>

/// `count` numbers between -1 and 1, the same for the same state.
inline std::vector<float> drawn(int64_t count, uint32_t state) {
  std::vector<float> out(static_cast<size_t>(count));
  for (float& value : out) {
    state = state * 1664525 + 1013904223;
    value = static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31F;
  }
  return out;
}
