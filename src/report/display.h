// Text in columns of a terminal: how wide it is, and how it is cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace report {

/// What a stranger's file may put on a terminal: no controls, no broken UTF-8, nothing that turns the direction of writing.
std::string displayable(std::string_view text);
/// Columns that a displayable text takes: East Asian wide characters take two, combining ones none.
size_t display_width(std::string_view text);
/// At most `width` columns, with "…" after the first `head` of them; kHalf: in the middle, for names differ at both ends.
inline constexpr size_t kHalf = SIZE_MAX;
std::string cut_middle(std::string_view text, size_t width, size_t head = kHalf);
enum class Align { left, right };
std::string padded(std::string_view text, size_t width, Align align);

}  // namespace report
