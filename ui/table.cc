// Only visible rows are drawn; they are sorted on the loader's thread. Cells are compared as numbers where they are numbers.
#include "ui/table.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/report/report.h"
#include "src/report/units.h"
#include "ui/grid.h"
#include "ui/run_data.h"
#include "ui/text.h"

namespace ui {
namespace {

constexpr int kMostColumns = 64;    // of a table of ImGui 1.86
constexpr size_t kMostShown = 300;  // bytes of a cell

/// NULL last, whatever the direction.
bool before(const model::Cell& a, const model::Cell& b, bool descending) {
  using Kind = model::Cell::Kind;
  if (a.kind == Kind::null || b.kind == Kind::null) return a.kind != Kind::null && b.kind == Kind::null;
  if (a.kind == Kind::text || b.kind == Kind::text) return descending ? b.text < a.text : a.text < b.text;
  return descending ? number(b) < number(a) : number(a) < number(b);
}

bool is_number(const model::Cell& cell) { return cell.kind == model::Cell::Kind::integer || cell.kind == model::Cell::Kind::real; }

void draw_cell(const model::Cell& cell, std::string_view column) {
  if (cell.kind == model::Cell::Kind::text) return ImGui::TextUnformatted(one_line(cell.text, kMostShown).c_str());
  const std::string text = report::human(cell, column);
  if (is_number(cell)) {
    const float room = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(text.c_str()).x;
    if (room > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room);
  }
  ImGui::TextUnformatted(text.c_str());
}

}  // namespace

std::vector<int> sorted_rows(const model::Rows& rows, const RowOrder& by) {
  std::vector<int> order(rows.rows.size());
  std::iota(order.begin(), order.end(), 0);
  if (by.column < 0 || by.column >= static_cast<int>(rows.columns.size())) return order;
  const auto column = static_cast<size_t>(by.column);
  std::ranges::stable_sort(order, [&](int a, int b) {
    return before(rows.rows[static_cast<size_t>(a)][column], rows.rows[static_cast<size_t>(b)][column], by.descending);
  });
  return order;
}

const std::vector<int>* RowTable::sorted(const std::shared_ptr<const model::Rows>& rows, int revision, Loader& loader) {
  if (revision != revision_) cursor_ = -1;
  revision_ = revision;
  sorted_.want(loader, fmt::format("{}/{}/{}", revision, by_.column, by_.descending),
               [rows, by = by_, revision](const model::Reader&) -> base::Result<Sorted> {
                 return Sorted{revision, sorted_rows(*rows, by)};
               });
  const Sorted* answer = sorted_.value();
  return answer == nullptr || answer->revision != revision ? nullptr : &answer->order;
}

void RowTable::read_order(int columns) {
  ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
  if (specs == nullptr || !specs->SpecsDirty) return;
  by_.column = specs->SpecsCount > 0 && specs->Specs[0].ColumnIndex < columns ? specs->Specs[0].ColumnIndex : -1;
  by_.descending = specs->SpecsCount > 0 && specs->Specs[0].SortDirection == ImGuiSortDirection_Descending;
  specs->SpecsDirty = false;
}

void RowTable::draw_menu(const model::Rows& rows, std::span<const int> order, int row) {
  if (!ImGui::BeginPopupContextItem("copy")) return;
  if (ImGui::IsWindowAppearing()) menu_column_ = hovered_column_;
  const std::vector<model::Cell>& cells = rows.rows[static_cast<size_t>(row)];
  const auto column = static_cast<size_t>(std::clamp(menu_column_, 0, static_cast<int>(cells.size()) - 1));
  const auto csv = [&](const model::Rows& some) { ImGui::SetClipboardText(report::render(some, report::Format::csv, {}).c_str()); };
  if (ImGui::MenuItem("Copy the cell")) ImGui::SetClipboardText(report::human(cells[column], rows.columns[column]).c_str());
  if (ImGui::MenuItem("Copy all its digits")) csv({{rows.columns[column]}, {{cells[column]}}});
  if (ImGui::MenuItem("Copy the row")) csv({rows.columns, {cells}});
  if (ImGui::MenuItem("Copy the column")) {
    model::Rows some{{rows.columns[column]}, {}};
    for (const int each : order) some.rows.push_back({rows.rows[static_cast<size_t>(each)][column]});
    csv(some);
  }
  ImGui::EndPopup();
}

/// True: it was clicked.
bool RowTable::draw_row(const model::Rows& rows, std::span<const int> order, int row, const Theme& theme) {
  const std::vector<model::Cell>& cells = rows.rows[static_cast<size_t>(row)];
  const int columns = std::min(static_cast<int>(rows.columns.size()), kMostColumns);
  bool clicked = false;
  ImGui::TableNextRow();
  if (row == cursor_) ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg1, with_alpha(good_color(theme), 0.25f));
  ImGui::PushID(row);
  for (int c = 0; c < columns; ++c) {
    const bool visible = ImGui::TableSetColumnIndex(c);
    if (c == 0) {
      clicked = ImGui::Selectable("##row", false, ImGuiSelectableFlags_SpanAllColumns);
      draw_menu(rows, order, row);
      ImGui::SameLine(0, 0);
    }
    if (!visible) continue;
    draw_cell(cells[static_cast<size_t>(c)], rows.columns[static_cast<size_t>(c)]);
  }
  ImGui::PopID();
  return clicked;
}

/// The row that Enter has chosen, or −1.
int RowTable::move_cursor(const Session& session, std::span<const int> order) {
  if (order.empty()) return cursor_ = -1;
  const auto here = std::ranges::find(order, cursor_);
  const int line = here == order.end() ? -1 : static_cast<int>(here - order.begin());
  if (const int moved = moved_line(session, line, static_cast<int>(order.size())); moved >= 0)
    cursor_ = scroll_to_ = order[static_cast<size_t>(moved)];
  return session.pressed(Session::kEnter) > 0 ? cursor_ : -1;
}

void RowTable::scroll(std::span<const int> order, float row_height) {
  if (scroll_to_ < 0) return;
  const auto found = std::ranges::find(order, scroll_to_);
  scroll_to_ = -1;
  if (found == order.end()) return;
  const float at = static_cast<float>(found - order.begin()) * row_height, height = ImGui::GetWindowHeight();
  const bool seen = at > ImGui::GetScrollY() && at + 3 * row_height < ImGui::GetScrollY() + height;
  if (!seen) ImGui::SetScrollY(std::max(0.f, at - height / 2));
}

int RowTable::draw(const char* id, const std::shared_ptr<const model::Rows>& shown, int revision, Session& session, Loader& loader) {
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_ScrollX | ImGuiTableFlags_RowBg | ImGuiTableFlags_Resizable |
                                     ImGuiTableFlags_Reorderable | ImGuiTableFlags_Hideable | ImGuiTableFlags_Sortable |
                                     ImGuiTableFlags_SortTristate | ImGuiTableFlags_BordersInnerV;
  const model::Rows& rows = *shown;
  const int columns = std::min(static_cast<int>(rows.columns.size()), kMostColumns);
  if (columns == 0 || !ImGui::BeginTable(id, columns, kFlags)) return -1;
  ImGui::TableSetupScrollFreeze(1, 1);
  for (int c = 0; c < columns; ++c)
    ImGui::TableSetupColumn(fmt::format("{}##{}", report::heading(rows.columns[static_cast<size_t>(c)], rows.columns), c)
                                .c_str(),  // several may be called the same
                            ImGuiTableColumnFlags_PreferSortDescending);
  ImGui::TableHeadersRow();
  read_order(columns);
  const std::vector<int>* sorted_now = sorted(shown, revision, loader);
  const std::span<const int> order = sorted_now == nullptr ? std::span<const int>() : *sorted_now;
  hovered_column_ = -1;
  for (int c = 0; c < columns; ++c) {
    if ((ImGui::TableGetColumnFlags(c) & ImGuiTableColumnFlags_IsHovered) != 0) hovered_column_ = c;
  }
  int chosen = move_cursor(session, order);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(order.size()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const int row = order[static_cast<size_t>(i)];
      if (draw_row(rows, order, row, session.theme)) chosen = cursor_ = row;
    }
  }
  scroll(order, ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().CellPadding.y);
  ImGui::EndTable();
  return chosen;
}

void draw_copy_button(const std::function<model::Rows()>& rows, std::string_view sql) {
  if (ImGui::Button("Copy")) ImGui::OpenPopup("copy");
  if (!ImGui::BeginPopup("copy")) return;
  if (ImGui::MenuItem("CSV")) ImGui::SetClipboardText(report::render(rows(), report::Format::csv, {}).c_str());
  if (ImGui::MenuItem("Markdown")) ImGui::SetClipboardText(report::render(rows(), report::Format::md, {}).c_str());
  if (ImGui::MenuItem("SQL")) ImGui::SetClipboardText(std::string(sql).c_str());
  ImGui::EndPopup();
}

}  // namespace ui
