// The table of any query's rows: sorted by a click on a heading, copied by cell, column or row.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "src/model/store.h"
#include "ui/session.h"

namespace ui {

struct RowOrder {
  int column = -1;  ///< −1: as they come
  bool descending = true;
};
/// Indexes of the rows in that order; NULL last, whatever the direction.
std::vector<int> sorted_rows(const model::Rows& rows, const RowOrder& by);

/// Keeps order and cursor between frames. Human units by column name, as in the terminal.
class RowTable {
 public:
  /// Returns the row (as given) that was clicked or chosen by Enter in this frame, or −1. `revision` changes where the rows have changed;
  /// they are sorted by `loader`, and shown when they are. Keys (Up, Down, J, K, Page Up, …) move the cursor. Shows the first 64 columns,
  /// which is what ImGui can. A right click copies cell, column or row.
  int draw(const char* id, const std::shared_ptr<const model::Rows>& rows, int revision, Session& session, Loader& loader);

 private:
  struct Sorted {
    int revision = -1;
    std::vector<int> order;
  };
  const std::vector<int>* sorted(const std::shared_ptr<const model::Rows>& rows, int revision, Loader& loader);
  void read_order(int columns);
  bool draw_row(const model::Rows& rows, std::span<const int> order, int row, const Theme& theme);
  void draw_menu(const model::Rows& rows, std::span<const int> order, int row);
  int move_cursor(const Session& session, std::span<const int> order);
  void scroll(std::span<const int> order, float row_height);

  Latest<Sorted> sorted_;
  RowOrder by_;
  int cursor_ = -1;                             ///< row as given; −1: none
  int hovered_column_ = -1, menu_column_ = -1;  ///< under the mouse; where the right button was pressed
  int revision_ = -1, scroll_to_ = -1;
};

/// A button with a menu: the rows as CSV or Markdown, or the SQL behind them, to the clipboard. `rows` is called when they are wanted.
void draw_copy_button(const std::function<model::Rows()>& rows, std::string_view sql);

}  // namespace ui
