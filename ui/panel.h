// Panels: one file and one row of the table each.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "ui/session.h"

namespace ui {

/// A line of the table of keys: {"W S", "zoom in and out"}.
struct KeyHelp {
  std::string_view keys, what;
};

/// Draws into the window that the shell has begun. State that outlives a frame is the panel's own; what it shows comes from reports and
/// queries by Latest. A panel without data says why.
class Panel {
 public:
  virtual ~Panel() = default;
  virtual void draw(Session& session) = 0;
  /// Its keys, for the table that `?` shows. session.keys holds them only while the panel has the focus.
  virtual std::span<const KeyHelp> keys() const { return {}; }
};

struct PanelKind {
  std::string_view name;   ///< of --panel and of the report behind it: "top"
  std::string_view title;  ///< on its tab
  std::string_view about;
  std::unique_ptr<Panel> (*make)();
};
std::span<const PanelKind> panels();
const PanelKind* find_panel(std::string_view name);

std::unique_ptr<Panel> make_timeline();
std::unique_ptr<Panel> make_top();
std::unique_ptr<Panel> make_details();
std::unique_ptr<Panel> make_overview();
std::unique_ptr<Panel> make_sql();
std::unique_ptr<Panel> make_fusions();
std::unique_ptr<Panel> make_source();
std::unique_ptr<Panel> make_compare();
std::unique_ptr<Panel> make_roofline();
std::unique_ptr<Panel> make_memory();
std::unique_ptr<Panel> make_graph();

}  // namespace ui
