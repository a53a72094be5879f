// Cells as reports print them, longer ones wrapped in the last column.
#include "ui/small_table.h"

#include <imgui.h>

#include <algorithm>

#include "src/report/display.h"
#include "src/report/units.h"
#include "ui/text.h"

namespace ui {
namespace {

constexpr size_t kMostOfImGui = 64;
constexpr size_t kMostWidth = 44;  ///< of a cell: a long path leaves room for what stands beside it

void draw_cell(const model::Cell& cell, std::string_view column, bool last) {
  const std::string text = one_line(report::human(cell, column), 300);
  if (last && cell.kind == model::Cell::Kind::text) return ImGui::TextWrapped("%s", text.c_str());
  ImGui::TextUnformatted(report::cut_middle(text, kMostWidth).c_str());
}

}  // namespace

void draw_small_table(const char* id, const model::Rows& rows, size_t most) {
  const size_t columns = rows.columns.size();
  if (columns == 0 || columns > kMostOfImGui) return;
  if (!ImGui::BeginTable(id, static_cast<int>(columns), ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_RowBg)) return;
  for (size_t c = 0; c < columns; ++c)
    ImGui::TableSetupColumn(report::heading(rows.columns[c], rows.columns).c_str(),
                            c + 1 == columns ? ImGuiTableColumnFlags_WidthStretch : 0);
  ImGui::TableHeadersRow();
  for (size_t r = 0; r < std::min(rows.rows.size(), most); ++r) {
    ImGui::TableNextRow();
    for (size_t c = 0; c < columns; ++c) {
      ImGui::TableNextColumn();
      draw_cell(rows.rows[r][c], rows.columns[c], c + 1 == columns);
    }
  }
  ImGui::EndTable();
  if (rows.rows.size() > most) ImGui::TextDisabled("and %zu more", rows.rows.size() - most);
}

}  // namespace ui
