// Texts of any bytes and length, drawn safely: on one line, cut to a width, to be selected and copied.
#pragma once

#include <string>
#include <string_view>

namespace ui {

/// Controls become spaces, NUL and bytes that are no UTF-8 '?'; longer ones are cut to `most` bytes with an ellipsis.
std::string one_line(std::string_view text, size_t most = 500);
/// The whole text, whatever its bytes.
void put_line(const std::string& text);
/// "12.3 ms": report::human for a number; the unit as a column's name ends. Shares below 0.1 % keep a digit: in a long pass most steps are
/// that small.
std::string human(double value, std::string_view unit);
/// Is it a name with scopes ("net/layer_1/MatMul", or with points), not a sentence? Such names begin alike; what tells them apart stands at
/// their end.
bool has_scopes(std::string_view text);
/// At most `width` pixels, with "…" in the middle; of names with scopes more is kept of the end. Of one_line.
std::string cut_to(const std::string& text, float width);
/// On the current line, at most `width` pixels; what is cut is told by a tooltip.
void draw_cut(const std::string& text, float width);
/// A line that can be selected with the mouse and copied. `id` as in ImGui.
void draw_selectable(const char* id, const std::string& text, float width);
/// Many lines, the same. More than a quarter of a megabyte is cut, and says so.
void draw_code(const char* id, const std::string& text, float height);

}  // namespace ui
