// ImGui shows any bytes but takes NUL for an end and lays out a million characters as willingly as ten.
#include "ui/text.h"

#include <imgui.h>

#include <algorithm>

#include "src/base/text.h"
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

size_t fitting(std::string_view text, float width) {
  size_t lo = 0, hi = text.size();
  while (lo < hi) {
    const size_t middle = (lo + hi + 1) / 2;
    ImGui::CalcTextSize(text.data(), text.data() + middle).x <= width ? lo = middle : hi = middle - 1;
  }
  return lo;
}

}  // namespace

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

void draw_cut(const std::string& text, float width) {
  if (ImGui::CalcTextSize(text.c_str()).x <= width) return ImGui::TextUnformatted(text.c_str());
  const float dots = ImGui::CalcTextSize("…").x;
  const std::string_view start = start_of(text, fitting(text, std::max(width - dots, 0.f)));
  const std::string cut = std::string(start) + "…";
  ImGui::TextUnformatted(cut.c_str());
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", text.c_str());
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
