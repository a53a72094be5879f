// Okabe, Ito: Color Universal Design (2008), https://jfly.uni-koeln.de/color/.
#include "ui/theme.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

namespace ui {
namespace {

constexpr const char* kSans = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";
constexpr const char* kMono = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf";
constexpr float kFontPixels = 15, kLeastFontPixels = 6, kMostFontPixels = 90;  // larger ones make an atlas that old cards cannot hold

constexpr std::array<ImU32, 8> kSeries = {
    IM_COL32(0x56, 0xB4, 0xE9, 255), IM_COL32(0xE6, 0x9F, 0x00, 255), IM_COL32(0x00, 0x9E, 0x73, 255), IM_COL32(0xCC, 0x79, 0xA7, 255),
    IM_COL32(0xD5, 0x5E, 0x00, 255), IM_COL32(0xF0, 0xE4, 0x42, 255), IM_COL32(0x00, 0x72, 0xB2, 255), IM_COL32(0x99, 0x99, 0x99, 255),
};
constexpr size_t kYellow = 5, kGrey = 7;
constexpr ImU32 kDarkYellow = IM_COL32(0xA8, 0x9A, 0x10, 255);  // yellow vanishes on white

/// Of a word; grey: of none.
size_t series_of(std::string_view word) {
  uint32_t hash = 2166136261u;  // FNV-1a: the same on every machine
  for (const char c : word) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return word.empty() ? kGrey : hash % kGrey;
}

ImFont* add_font(const char* path, float pixels) {
  static const ImWchar ranges[] = {0x20, 0xff, 0x370, 0x3ff, 0x2010, 0x2027, 0x2190, 0x22ff, 0x2500, 0x25ff, 0};
  std::error_code ignored;
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  return std::filesystem::exists(path, ignored) ? atlas.AddFontFromFileTTF(path, pixels, nullptr, ranges) : nullptr;
}

}  // namespace

void load_fonts(const Theme& theme) {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  atlas.Clear();
  const float pixels = std::clamp(std::round(kFontPixels * theme.scale * theme.zoom), kLeastFontPixels, kMostFontPixels);
  if (add_font(kSans, pixels) == nullptr) atlas.AddFontDefault();
  add_font(kMono, pixels);
}

ImFont* mono_font() { return ImGui::GetIO().Fonts->Fonts.back(); }

void apply(const Theme& theme) {
  ImGuiStyle style;
  if (theme.mode == Mode::dark) {
    ImGui::StyleColorsDark(&style);
    style.Colors[ImGuiCol_WindowBg] = {0.09f, 0.10f, 0.11f, 1};
    style.Colors[ImGuiCol_ChildBg] = {0, 0, 0, 0};
    style.Colors[ImGuiCol_FrameBg] = {0.16f, 0.18f, 0.21f, 1};
    style.Colors[ImGuiCol_TextDisabled] = {0.55f, 0.55f, 0.55f, 1};
  } else {
    ImGui::StyleColorsLight(&style);
    style.Colors[ImGuiCol_WindowBg] = {0.98f, 0.98f, 0.98f, 1};
    style.Colors[ImGuiCol_TableHeaderBg] = {0.88f, 0.90f, 0.93f, 1};
    style.Colors[ImGuiCol_TextDisabled] = {0.43f, 0.43f, 0.43f, 1};  // ImGui's own is too pale to read
    style.Colors[ImGuiCol_CheckMark] = {0.10f, 0.38f, 0.72f, 1};
  }
  style.WindowPadding = {6, 6};
  style.FramePadding = {6, 3};
  style.CellPadding = {6, 2};
  style.ItemSpacing = {8, 4};
  style.WindowBorderSize = 0;
  style.FrameBorderSize = theme.mode == Mode::light ? 1.f : 0.f;  // white fields on white
  style.FrameRounding = 3;
  style.TabRounding = 3;
  style.ScaleAllSizes(theme.scale * theme.zoom);
  ImGui::GetStyle() = style;
}

Change follow(const Theme& wanted, Theme& applied) {
  if (wanted == applied) return Change::nothing;
  const bool larger = wanted.scale != applied.scale || wanted.zoom != applied.zoom;
  applied = wanted;
  apply(wanted);
  if (larger) load_fonts(wanted);
  return larger ? Change::fonts : Change::colors;
}

ImU32 series_color(const Theme& theme, size_t index) {
  const size_t i = index % kSeries.size();
  return i == kYellow && theme.mode == Mode::light ? kDarkYellow : kSeries[i];
}

ImU32 color_of(const Theme& theme, std::string_view word) { return series_color(theme, series_of(word)); }

std::vector<ImU32> colors_of(const Theme& theme, std::span<const std::string_view> words) {
  std::array<bool, kGrey> taken{};
  std::vector<ImU32> colors;
  for (const std::string_view word : words) {
    size_t series = series_of(word);
    for (size_t tries = 0; series < kGrey && taken[series] && tries < kGrey; ++tries) series = (series + 1) % kGrey;
    if (series < kGrey && taken[series]) series = series_of(word);
    if (series < kGrey) taken[series] = true;
    colors.push_back(series_color(theme, series));
  }
  return colors;
}

ImU32 text_on(ImU32 ground) {
  const ImVec4 c = ImGui::ColorConvertU32ToFloat4(ground);
  const auto linear = [](float part) { return std::pow(part, 2.2f); };
  const float luminance = 0.2126f * linear(c.x) + 0.7152f * linear(c.y) + 0.0722f * linear(c.z);
  constexpr float kBlackIsBetter = 0.179f;  // where (1 + 0.05) / (L + 0.05) = (L + 0.05) / 0.05: contrast of WCAG 2.1
  return luminance > kBlackIsBetter ? IM_COL32(0, 0, 0, 255) : IM_COL32(255, 255, 255, 255);
}

ImU32 roof_color(double share) { return mixed(kSeries[4], kSeries[0], static_cast<float>(std::clamp(share, 0.0, 1.0))); }

ImU32 good_color(const Theme& theme) { return theme.mode == Mode::dark ? kSeries[0] : kSeries[6]; }
ImU32 bad_color(const Theme& theme) { return theme.mode == Mode::dark ? kSeries[1] : kSeries[4]; }
ImU32 neutral_color(const Theme&) { return kSeries[7]; }
ImU32 with_alpha(ImU32 color, float alpha) {
  return (color & ~IM_COL32_A_MASK) | (static_cast<ImU32>(alpha * 255 + 0.5f) << IM_COL32_A_SHIFT);
}

ImU32 mixed(ImU32 from, ImU32 to, float t) {
  const ImVec4 a = ImGui::ColorConvertU32ToFloat4(from), b = ImGui::ColorConvertU32ToFloat4(to);
  return ImGui::ColorConvertFloat4ToU32({a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t, a.z + (b.z - a.z) * t, a.w});
}

}  // namespace ui
