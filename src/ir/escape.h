// Strings of HLO text.
#pragma once

#include <string>
#include <string_view>

namespace ir {

/// With quotes; quotes, backslashes and control characters as C escapes.
std::string quoted(std::string_view text);
/// Appends the same.
void append_quoted(std::string& out, std::string_view text);
/// Content of a string literal: its quotes removed, its C escapes undone. A text without quotes is taken whole.
std::string unescaped(std::string_view quoted);

}  // namespace ir
