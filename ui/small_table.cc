// Cells as reports print them, longer ones wrapped in the last column.
#include "ui/small_table.h"

#include <imgui.h>

#include <algorithm>

#include "src/report/units.h"
#include "ui/text.h"

namespace ui {
namespace {

constexpr int kMostColumns = 64;

/// Texts stand left, numbers right.
void draw_cell(const model::Cell& cell, std::string_view column, bool last) {
  const std::string text = one_line(report::human(cell, column), 300);
  if (last && cell.kind == model::Cell::Kind::text) return ImGui::TextWrapped("%s", text.c_str());
  ImGui::TextUnformatted(text.c_str());
}

}  // namespace

int draw_small_table(const char* id, const model::Rows& rows, size_t most, std::string_view clickable) {
  const auto hidden = static_cast<size_t>(std::ranges::find(rows.columns, clickable) - rows.columns.begin());
  const size_t columns = rows.columns.size() - (hidden < rows.columns.size() ? 1 : 0);
  if (columns == 0 || columns > kMostColumns) return -1;
  if (!ImGui::BeginTable(id, static_cast<int>(columns), ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_RowBg)) return -1;
  size_t shown = 0;
  for (size_t c = 0; c < rows.columns.size(); ++c) {
    if (c != hidden)
      ImGui::TableSetupColumn(report::heading(rows.columns[c]).c_str(), ++shown == columns ? ImGuiTableColumnFlags_WidthStretch : 0);
  }
  ImGui::TableHeadersRow();
  int clicked = -1;
  for (size_t r = 0; r < std::min(rows.rows.size(), most); ++r) {
    const std::vector<model::Cell>& row = rows.rows[r];
    ImGui::TableNextRow();
    ImGui::PushID(static_cast<int>(r));
    for (size_t c = 0, at = 0; c < row.size(); ++c) {
      if (c == hidden) continue;
      ImGui::TableNextColumn();
      if (at == 0 && hidden < row.size() && row[hidden].kind != model::Cell::Kind::null) {
        if (ImGui::Selectable("##row", false, ImGuiSelectableFlags_SpanAllColumns)) clicked = static_cast<int>(r);
        ImGui::SameLine(0, 0);
      }
      draw_cell(row[c], rows.columns[c], ++at == columns);
    }
    ImGui::PopID();
  }
  ImGui::EndTable();
  if (rows.rows.size() > most) ImGui::TextDisabled("and %zu more", rows.rows.size() - most);
  return clicked;
}

}  // namespace ui
