// The frame around the panels: run chooser, tabs in a tree of splits, status line, keys that work everywhere.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ui/panel.h"

namespace ui {

class Shell {
 public:
  Shell();
  /// One frame over the whole display.
  void draw(Session& session);
  /// Shows this panel alone, as large as the window; "" shows the layout again.
  void only(std::string name) { only_ = std::move(name); }
  bool wants_quit() const { return quit_; }

 private:
  void draw_bar(Session& session);
  void draw_panel(Session& session, size_t index);

  std::vector<std::unique_ptr<Panel>> panels_;  ///< by row of panels()
  std::string only_;
  bool quit_ = false;
};

}  // namespace ui
