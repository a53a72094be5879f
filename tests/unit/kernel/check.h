// A kernel compiled and run for both vector widths, against the reference.
#pragma once

#include <string>
#include <string_view>

#include "replay/rounding.h"

namespace kernel {

/// Expects the root of the entry to give what the reference gives, on generated inputs, and bytes behind the arrays to stay.
void check(const std::string& text, replay::Rounding rounding = replay::Rounding::border);
/// A module whose entry is one fusion: parameters "f32[2];s32[]" become p0, p1 of the body, whose root is called r.
std::string fused(std::string_view parameters, std::string_view body);

}  // namespace kernel
