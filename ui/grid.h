// A table whose cells a panel paints itself: columns with widths, sorting by a click on the heading, and only visible lines are touched.
// What the lines are and their order is the panel's business, prepared off the UI thread.
#pragma once

#include <imgui.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "ui/session.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace ui {

struct GridColumn {
  std::string heading;
  float width_em = 6;
  enum class Kind : uint8_t { text, number } kind = Kind::text;  ///< numbers sort downwards first
  bool hidden = false;                                           ///< at first; the menu of the heading shows it
  bool operator==(const GridColumn&) const = default;
};

struct GridSort {
  int column = -1;  ///< −1: as they come
  bool descending = true;
  bool operator==(const GridSort&) const = default;
};

class Grid {
 public:
  enum class Headings : uint8_t { sort, plain };
  explicit Grid(GridSort first = {}, Headings headings = Headings::sort) : sort_(first), first_(first), headings_(headings) {}

  struct Event {
    int clicked = -1;         ///< line
    int opened = -1;          ///< line that was clicked twice
    int first = 0, last = 0;  ///< visible lines, half open
  };
  /// `paint(line, column)` fills the cell at ImGui's cursor. `size` as of ImGui's children: 0 is what is left. A right click copies what a
  /// cell or the row says by the functions below.
  Event draw(const char* id, std::span<const GridColumn> columns, int lines, int selected, ImVec2 size,
             const std::function<void(int, int)>& paint);
  const GridSort& sort() const { return sort_; }
  /// Brings a line into view in the next frame, if it is not.
  void scroll_to(int line) { scroll_to_ = line; }

 private:
  void set_up(std::span<const GridColumn> columns, float room);
  void draw_line(std::span<const GridColumn> columns, int line, int selected, const std::function<void(int, int)>& paint, Event& event);
  void draw_menu(std::span<const GridColumn> columns, std::span<const std::string> texts);
  void take_sort();
  void take_scroll(float line_height);
  GridSort sort_, first_;
  Headings headings_ = Headings::sort;
  int scroll_to_ = -1;
  int hovered_column_ = 0, menu_column_ = 0;  ///< under the mouse; where the menu was opened
};

/// Where the keys of this frame (Up, Down, J, K, Page Up, …) move the cursor from `line`; −1: it stays.
int moved_line(const Session& session, int line, int lines);

// --- what cells are painted with

/// A text of any bytes; cut where the cell ends, whole (up to 2,000 bytes) in a tip. Empty: a dash.
void cell_text(std::string_view text);
/// At the right end of the cell.
void cell_number(std::string_view text);
/// The number with its unit as in the terminal; what is not finite is a dash.
void cell_number(double value, std::string_view unit);
/// A bar behind what comes next in the cell. `share` of 0 to 1.
void cell_bar(double share, ImU32 color);
/// A bar from a zero line in the middle of the cell: to the right where value > 0. `most` is the value of a full half; `low`, `high`:
/// whiskers, NaN: none.
struct SignedBar {
  double value = 0, low = 0, high = 0, most = 1;
  float alpha = 1;               ///< estimates are paler
  bool larger_is_worse = false;  ///< colours change sides
  bool root = false;             ///< lengths are square roots, so that small values are seen beside large ones
};
void cell_signed_bar(const SignedBar& bar, const Theme& theme);
/// A word with its mark and colour: pays ▲, costs ▼, slower, faster, …
void cell_verdict(std::string_view verdict, const Theme& theme);

}  // namespace ui
