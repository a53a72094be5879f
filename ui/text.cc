// ImGui shows any bytes but takes NUL for an end and lays out a million characters as willingly as ten.
#include "ui/text.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "src/base/text.h"
#include "src/report/display.h"
#include "src/report/units.h"
#include "ui/theme.h"

namespace ui {
namespace {

constexpr size_t kMostCode = size_t{256} << 10;

/// The longest start of `text` that is at most `bytes` long and ends between characters.
std::string_view start_of(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

float width_of(const std::string& text) { return ImGui::CalcTextSize(text.data(), text.data() + text.size()).x; }

}  // namespace

std::string human(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "–";
  if (std::abs(value) >= 1e21) return fmt::format("{:.3g}", value);
  if (unit.ends_with("_percent") && std::abs(value) >= 0.0005 && std::abs(value) < 0.1) return fmt::format("{:.1g} %", value);
  return report::human(model::Cell{model::Cell::Kind::real, 0, value, {}}, unit);
}

std::string one_line(std::string_view text, size_t most) {
  std::string out(start_of(text, most));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = c == '\0' ? '?' : ' ';
  }
  out = base::escaped(out);
  if (text.size() > most) out += "…";
  return out;
}

void put_line(const std::string& text) { ImGui::TextUnformatted(text.data(), text.data() + text.size()); }

bool has_scopes(std::string_view text) {
  return text.find(' ') == std::string_view::npos && std::ranges::count_if(text, [](char c) { return c == '/' || c == '.'; }) >= 2;
}

std::string cut_to(const std::string& text, float width) {
  float wide = width_of(text);
  if (wide <= width) return text;
  size_t columns = report::display_width(text);
  const size_t part = has_scopes(text) ? 4 : 2;
  std::string cut = text;
  while (columns > 1 && wide > width) {  // columns are about as wide as each other: a step or two
    const auto fewer = static_cast<size_t>(static_cast<float>(columns) * std::max(width, 0.f) / wide);
    columns = std::clamp(fewer, size_t{1}, columns - 1);
    cut = report::cut_middle(text, columns, columns / part);
    wide = width_of(cut);
  }
  return cut;
}

void draw_cut(const std::string& text, float width) {
  const std::string cut = cut_to(text, width);
  put_line(cut);
  if (cut != text && ImGui::IsItemHovered()) ImGui::SetTooltip("%s", text.c_str());
}

void draw_selectable(const char* id, const std::string& text, float width) {
  ImGui::PushStyleColor(ImGuiCol_FrameBg, ImVec4(0, 0, 0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(0, 0));
  ImGui::SetNextItemWidth(width);
  // Read-only: ImGui does not write into it.
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0);
  ImGui::InputText(id, const_cast<char*>(text.c_str()), text.size() + 1, ImGuiInputTextFlags_ReadOnly);
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor();
  const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
  if (ImGui::IsItemActive() || ImGui::CalcTextSize(text.c_str()).x <= max.x - min.x) return;
  const ImVec2 dots = ImGui::CalcTextSize("…");
  ImGui::GetWindowDrawList()->AddRectFilled({max.x - dots.x, min.y}, max, ImGui::GetColorU32(ImGuiCol_WindowBg));
  ImGui::GetWindowDrawList()->AddText({max.x - dots.x, min.y}, ImGui::GetColorU32(ImGuiCol_Text), "…");
}

void draw_code(const char* id, const std::string& text, float height) {
  const bool cut = text.size() > kMostCode;
  const std::string shown = cut ? std::string(start_of(text, kMostCode)) : std::string();
  const std::string& whole = cut ? shown : text;
  ImGui::PushFont(mono_font());
  ImGui::InputTextMultiline(id, const_cast<char*>(whole.c_str()), whole.size() + 1, {-1, height}, ImGuiInputTextFlags_ReadOnly);
  ImGui::PopFont();
  if (cut) ImGui::TextDisabled("The first 256 KB are shown; Copy has all.");
}

}  // namespace ui
