// Colours, fonts and scale. Panels take every colour from here or from ImGui's style, and every length as a multiple of the font's size.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ui {

enum class Mode : uint8_t { dark, light };

struct Theme {
  Mode mode = Mode::dark;
  float scale = 1;  ///< of the monitor
  float zoom = 1;   ///< that a person has chosen, kLeastZoom … kMostZoom
  bool operator==(const Theme&) const = default;
};
inline constexpr float kLeastZoom = 0.5f, kMostZoom = 4;

/// Sets ImGui's style for the theme.
void apply(const Theme& theme);
/// DejaVu where it is installed (Latin, Greek, arrows, mathematics, boxes), else ImGui's own 13 pixel font. The atlas is made again: its
/// texture too must be.
void load_fonts(const Theme& theme);
enum class Change : uint8_t { nothing, colors, fonts };
/// Makes style and fonts follow `wanted`; between two frames. `applied` is what holds now.
Change follow(const Theme& wanted, Theme& applied);
/// For code and numbers in columns.
ImFont* mono_font();

/// Okabe–Ito, distinct for the common forms of colour blindness; what would vanish on the ground of the mode is replaced.
ImU32 series_color(const Theme& theme, size_t index);
/// The same colour for the same word, in every panel.
ImU32 color_of(const Theme& theme, std::string_view word);
/// Of words that stand in one legend, the most important first: as color_of, but the first seven differ from each other.
std::vector<ImU32> colors_of(const Theme& theme, std::span<const std::string_view> words);
/// Black or white, whichever is read better on `ground`.
ImU32 text_on(ImU32 ground);
/// Of a share of the roof, 0 to 1: from orange (far from it) to blue (at it).
ImU32 roof_color(double share);

// Verdicts are blue and orange and never told by colour alone.
ImU32 good_color(const Theme& theme);
ImU32 bad_color(const Theme& theme);
ImU32 neutral_color(const Theme& theme);
ImU32 with_alpha(ImU32 color, float alpha);
/// From `from` (t = 0) towards `to` (1), with the alpha of `from`.
ImU32 mixed(ImU32 from, ImU32 to, float t);

}  // namespace ui
