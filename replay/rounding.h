// Where small floats (f16, bf16, f8…) are rounded to their type.
#pragma once

#include <cstdint>

namespace replay {

/// border: where a fusion ends; inside it they are computed in f32. each: after every instruction, as the text says.
enum class Rounding : uint8_t { border, each };

}  // namespace replay
