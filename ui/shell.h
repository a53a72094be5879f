// The frame around the panels: bar, panels in a tree of splits, status line, and the keys that work everywhere.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ui/layout.h"
#include "ui/palette.h"
#include "ui/panel.h"
#include "ui/settings.h"

namespace ui {

class Shell {
 public:
  Shell();
  /// One frame over the whole display. The keys of the frame go to the shell first, what is left to the panel with the focus.
  void draw(Session& session);
  /// Shows this panel alone, as large as the window; "" shows the layout again.
  void only(std::string name) { only_ = std::move(name); }

  // --- what keys, menus and the palette do
  void focus(std::string_view panel);  ///< brings it to the front and gives it the keys
  void focus_next(int by);             ///< among the panels that are seen
  void use_preset(size_t index);
  void zoom(Session& session, float factor) const;  ///< 0: back to 1
  void open_palette(std::string text) { palette_.open(std::move(text)); }
  void toggle_help() { help_ = !help_; }
  void ask_for_file() { ask_for_file_ = true; }
  void close_overlays();
  void quit() { quit_ = true; }
  bool wants_quit() const { return quit_; }

  const std::string& focused() const { return focused_; }
  const Node& layout() const { return layout_; }
  void set_layout(Node layout);
  const std::vector<std::unique_ptr<Panel>>& panels() const { return panels_; }  ///< by row of ui::panels()

 private:
  void take_keys(Session& session);
  void draw_body(Session& session);
  void draw_node(Session& session, Node& node, const Rect& rect, int id);
  void draw_tabs(Session& session, Node& leaf, const Rect& rect, int id);
  void draw_tab_menu(const Node& leaf, const std::string& panel);
  void draw_panel(Session& session, const std::string& name, const Rect& rect);
  void draw_drop(const Node& leaf, const Rect& rect);
  void draw_overlays(Session& session);

  std::vector<std::unique_ptr<Panel>> panels_;
  Node layout_;
  Palette palette_;
  std::string only_, focused_, wants_focus_;
  std::string dragged_;  ///< panel whose tab is held
  struct Move {
    std::string panel, target;
    Side side = Side::middle;
  };
  std::vector<Move> moves_;  ///< of this frame; the tree does not change while it is drawn
  std::vector<Session::Key> keys_;
  std::string file_;
  bool help_ = false, ask_for_file_ = false, quit_ = false;
};

}  // namespace ui
