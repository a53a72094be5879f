// A result as bars or a line.
#pragma once

#include "src/model/store.h"
#include "ui/theme.h"

namespace ui {

class SqlChart {
 public:
  /// Two choices of a column, bars or line, and the plot of the rows in their order. `revision` as in RowTable.
  void draw(const model::Rows& rows, int revision, const Theme& theme);

 private:
  int revision_ = -1, x_ = -1, y_ = -1;  ///< x −1: the number of the row
  bool line_ = false;
};

}  // namespace ui
