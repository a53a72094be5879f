// Only visible rows are drawn; sorting and filtering happen when something changes. Cells are compared as numbers where they are numbers.
#include "ui/table.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/report/report.h"
#include "src/report/units.h"
#include "ui/run_data.h"
#include "ui/text.h"

namespace ui {
namespace {

constexpr int kMostColumns = 64;    // of a table of ImGui 1.86
constexpr size_t kMostShown = 300;  // bytes of a cell

bool contains(std::string_view text, std::string_view word) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return !std::ranges::search(text, word, same).empty() || word.empty();
}

bool passes(const std::vector<model::Cell>& row, std::string_view filter) {
  while (!filter.empty()) {
    const size_t end = std::min(filter.find(' '), filter.size());
    const std::string_view word = filter.substr(0, end);
    if (!std::ranges::any_of(row, [&](const model::Cell& cell) { return contains(cell.text, word); })) return false;
    filter.remove_prefix(std::min(end + 1, filter.size()));
  }
  return true;
}

/// NULL last, whatever the direction.
bool before(const model::Cell& a, const model::Cell& b, bool descending) {
  using Kind = model::Cell::Kind;
  if (a.kind == Kind::null || b.kind == Kind::null) return a.kind != Kind::null && b.kind == Kind::null;
  if (a.kind == Kind::text || b.kind == Kind::text) return descending ? b.text < a.text : a.text < b.text;
  return descending ? number(b) < number(a) : number(a) < number(b);
}

bool is_number(const model::Cell& cell) { return cell.kind == model::Cell::Kind::integer || cell.kind == model::Cell::Kind::real; }

void draw_share(const model::Cell& cell, const Theme& theme) {
  const double share = std::clamp(number(cell) / 100, 0.0, 1.0);
  if (!std::isfinite(share)) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + width * static_cast<float>(share), at.y + ImGui::GetTextLineHeight()},
                                            with_alpha(good_color(theme), 0.35f));
}

struct Mark {
  std::string_view word, mark;
  ImU32 (*color)(const Theme&);
};
constexpr Mark kMarks[] = {
    {"pays", "▲ ", good_color},  {"costs", "▼ ", bad_color},   {"faster", "▲ ", good_color},     {"faster?", "▲ ", good_color},
    {"slower", "▼ ", bad_color}, {"slower?", "▼ ", bad_color}, {"neutral", "= ", neutral_color}, {"same", "= ", neutral_color},
};

void draw_verdict(const model::Cell& cell, const Theme& theme) {
  const auto* mark = std::ranges::find(kMarks, cell.text, &Mark::word);
  if (mark == std::end(kMarks)) return ImGui::TextUnformatted(one_line(cell.text, kMostShown).c_str());
  ImGui::PushStyleColor(ImGuiCol_Text, mark->color(theme));
  ImGui::TextUnformatted((std::string(mark->mark) + cell.text).c_str());
  ImGui::PopStyleColor();
}

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

void RowTable::draw_filter() {
  ImGui::SetNextItemWidth(ImGui::GetFontSize() * 14);
  ImGui::InputTextWithHint("##filter", "filter", &filter_);
}

void RowTable::arrange(const model::Rows& rows, int revision) {
  if (revision == revision_ && filter_ == arranged_filter_ && sort_column_ == arranged_column_ && descending_ == arranged_descending_)
    return;
  if (revision != revision_) cursor_ = -1;
  revision_ = revision, arranged_filter_ = filter_, arranged_column_ = sort_column_, arranged_descending_ = descending_;
  order_.clear();
  for (size_t i = 0; i < rows.rows.size(); ++i) {
    if (passes(rows.rows[i], filter_)) order_.push_back(static_cast<int>(i));
  }
  if (sort_column_ < 0 || sort_column_ >= static_cast<int>(rows.columns.size())) return;
  const auto column = static_cast<size_t>(sort_column_);
  std::ranges::stable_sort(order_, [&](int a, int b) {
    return before(rows.rows[static_cast<size_t>(a)][column], rows.rows[static_cast<size_t>(b)][column], descending_);
  });
}

void RowTable::read_order(int columns) {
  ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
  if (specs == nullptr || !specs->SpecsDirty) return;
  sort_column_ = specs->SpecsCount > 0 && specs->Specs[0].ColumnIndex < columns ? specs->Specs[0].ColumnIndex : -1;
  descending_ = specs->SpecsCount > 0 && specs->Specs[0].SortDirection == ImGuiSortDirection_Descending;
  specs->SpecsDirty = false;
}

void RowTable::draw_menu(const model::Rows& rows, int row) {
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
    for (const int each : order_) some.rows.push_back({rows.rows[static_cast<size_t>(each)][column]});
    csv(some);
  }
  ImGui::EndPopup();
}

/// True: it was clicked.
bool RowTable::draw_row(const model::Rows& rows, int row, const Theme& theme, const TableOptions& options) {
  const std::vector<model::Cell>& cells = rows.rows[static_cast<size_t>(row)];
  const int columns = std::min(static_cast<int>(rows.columns.size()), kMostColumns);
  bool clicked = false;
  ImGui::TableNextRow();
  if (row == cursor_) ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg1, with_alpha(good_color(theme), 0.25f));
  ImGui::PushID(row);
  for (int c = 0; c < columns; ++c) {
    const bool visible = ImGui::TableSetColumnIndex(c);
    if (c == 0) {
      clicked = ImGui::Selectable("##row", row == options.selected_row, ImGuiSelectableFlags_SpanAllColumns);
      draw_menu(rows, row);
      ImGui::SameLine(0, 0);
    }
    if (!visible) continue;
    const model::Cell& cell = cells[static_cast<size_t>(c)];
    const std::string& column = rows.columns[static_cast<size_t>(c)];
    if (column == options.share_column) draw_share(cell, theme);
    column == options.verdict_column ? draw_verdict(cell, theme) : draw_cell(cell, column);
  }
  ImGui::PopID();
  return clicked;
}

/// The row that Enter has chosen, or −1.
int RowTable::move_cursor(const Session& session) {
  if (order_.empty()) return cursor_ = -1;
  constexpr std::pair<int, int> kMoves[] = {{Session::kDown, 1},      {'J', 1},
                                            {Session::kUp, -1},       {'K', -1},
                                            {Session::kPageDown, 20}, {Session::kPageUp, -20},
                                            {Session::kEnd, 1 << 28}, {Session::kHome, -(1 << 28)}};
  int by = 0;
  for (const auto& [key, rows] : kMoves) by += std::min(session.pressed(key), 1) * rows;
  if (by != 0) {
    const auto here = std::ranges::find(order_, cursor_);
    const int last = static_cast<int>(order_.size()) - 1;
    const int at = here == order_.end() ? (by > 0 ? -1 : last + 1) : static_cast<int>(here - order_.begin());
    cursor_ = scroll_to_ = order_[static_cast<size_t>(std::clamp(at + by, 0, last))];
  }
  return session.pressed(Session::kEnter) > 0 ? cursor_ : -1;
}

void RowTable::scroll(float row_height) {
  if (scroll_to_ < 0) return;
  const auto found = std::ranges::find(order_, scroll_to_);
  scroll_to_ = -1;
  if (found == order_.end()) return;
  const float at = static_cast<float>(found - order_.begin()) * row_height, height = ImGui::GetWindowHeight();
  const bool seen = at > ImGui::GetScrollY() && at + 3 * row_height < ImGui::GetScrollY() + height;
  if (!seen) ImGui::SetScrollY(std::max(0.f, at - height / 2));
}

int RowTable::draw(const char* id, const model::Rows& rows, int revision, const Theme& theme, const TableOptions& options) {
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_ScrollX | ImGuiTableFlags_RowBg | ImGuiTableFlags_Resizable |
                                     ImGuiTableFlags_Reorderable | ImGuiTableFlags_Hideable | ImGuiTableFlags_Sortable |
                                     ImGuiTableFlags_SortTristate | ImGuiTableFlags_BordersInnerV;
  const int columns = std::min(static_cast<int>(rows.columns.size()), kMostColumns);
  if (columns == 0 || !ImGui::BeginTable(id, columns, kFlags)) return -1;
  ImGui::TableSetupScrollFreeze(1, 1);
  for (int c = 0; c < columns; ++c)
    ImGui::TableSetupColumn(
        fmt::format("{}##{}", report::heading(rows.columns[static_cast<size_t>(c)]), c).c_str(),  // several may be called the same
        ImGuiTableColumnFlags_PreferSortDescending);
  ImGui::TableHeadersRow();
  read_order(columns);
  arrange(rows, revision);
  hovered_column_ = -1;
  for (int c = 0; c < columns; ++c) {
    if ((ImGui::TableGetColumnFlags(c) & ImGuiTableColumnFlags_IsHovered) != 0) hovered_column_ = c;
  }
  int chosen = options.keys == nullptr ? -1 : move_cursor(*options.keys);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(order_.size()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const int row = order_[static_cast<size_t>(i)];
      if (draw_row(rows, row, theme, options)) chosen = cursor_ = row;
    }
  }
  scroll(ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().CellPadding.y);
  ImGui::EndTable();
  return chosen;
}

void draw_copy_button(const model::Rows& rows, std::string_view sql) {
  if (ImGui::Button("Copy")) ImGui::OpenPopup("copy");
  if (!ImGui::BeginPopup("copy")) return;
  if (ImGui::MenuItem("CSV")) ImGui::SetClipboardText(report::render(rows, report::Format::csv, {}).c_str());
  if (ImGui::MenuItem("Markdown")) ImGui::SetClipboardText(report::render(rows, report::Format::md, {}).c_str());
  if (ImGui::MenuItem("SQL")) ImGui::SetClipboardText(std::string(sql).c_str());
  ImGui::EndPopup();
}

}  // namespace ui
