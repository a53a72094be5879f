// The table of all panels: sortable, filterable, with share bars, and copied as CSV, Markdown or SQL.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "src/model/store.h"
#include "ui/session.h"
#include "ui/theme.h"

namespace ui {

/// What a table shows beside its cells.
struct TableOptions {
  std::string_view share_column = {};    ///< drawn as a bar behind the number, 100 = full; "": none
  std::string_view verdict_column = {};  ///< coloured and marked: pays ▲, costs ▼, …; "": none
  int selected_row = -1;                 ///< in the rows as given
  const Session* keys = nullptr;  ///< whose keys move the cursor (Up, Down, J, K, Page Up, …) and choose its row (Enter); nullptr: none
};

/// Keeps filter and order between frames. Human units by column name, as in the terminal.
class RowTable {
 public:
  /// Returns the row (as given) that was clicked or chosen by Enter in this frame, or −1. `revision` changes where the rows have changed.
  /// Shows the first 64 columns, which is what ImGui can. A right click copies cell, column or row.
  int draw(const char* id, const model::Rows& rows, int revision, const Theme& theme, const TableOptions& options);
  /// A field to type a filter into; words are found in any cell, all must be.
  void draw_filter();
  /// Rows that pass the filter, in the order shown.
  const std::vector<int>& shown() const { return order_; }
  /// Brings a row (as given) into view in the next frame.
  void scroll_to(int row) { scroll_to_ = row; }

 private:
  void arrange(const model::Rows& rows, int revision);
  void read_order(int columns);
  bool draw_row(const model::Rows& rows, int row, const Theme& theme, const TableOptions& options);
  void draw_menu(const model::Rows& rows, int row);
  int move_cursor(const Session& session);
  void scroll(float row_height);
  std::string filter_, arranged_filter_;
  std::vector<int> order_;
  int cursor_ = -1;                             ///< row as given; −1: none
  int hovered_column_ = -1, menu_column_ = -1;  ///< under the mouse; where the right button was pressed
  int sort_column_ = -1, arranged_column_ = -2, revision_ = -1, scroll_to_ = -1;
  bool descending_ = true, arranged_descending_ = true;
};

/// A button with a menu: the rows as CSV or Markdown, or the SQL behind them, to the clipboard.
void draw_copy_button(const model::Rows& rows, std::string_view sql);

}  // namespace ui
