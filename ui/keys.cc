// A row says which presses it takes and what happens; rows that are told together share a line of help.
#include "ui/keys.h"

#include <algorithm>

#include "ui/shell.h"

namespace ui {
namespace {

using Key = Session::Key;
enum class With : uint8_t { nothing, ctrl, alt };

struct Row {
  int key;
  With with;
  void (*act)(Shell&, Session&, const Key&);
};

constexpr float kZoomStep = 1.1f;

void to_panel(Shell& shell, Session&, const Key& key) {
  const auto index = static_cast<size_t>(key.key - '1');
  if (index < panels().size()) shell.focus(panels()[index].name);
}
void zoom_in(Shell& shell, Session& session, const Key&) { shell.zoom(session, kZoomStep); }
void zoom_out(Shell& shell, Session& session, const Key&) { shell.zoom(session, 1 / kZoomStep); }
void zoom_back(Shell& shell, Session& session, const Key&) { shell.zoom(session, 0); }
void palette(Shell& shell, Session&, const Key&) { shell.open_palette(""); }
void help(Shell& shell, Session&, const Key&) { shell.toggle_help(); }

constexpr Row kRows[] = {
    {'1', With::nothing, to_panel},
    {'2', With::nothing, to_panel},
    {'3', With::nothing, to_panel},
    {'4', With::nothing, to_panel},
    {'5', With::nothing, to_panel},
    {'6', With::nothing, to_panel},
    {'7', With::nothing, to_panel},
    {'8', With::nothing, to_panel},
    {'9', With::nothing, to_panel},
    {Session::kTab, With::ctrl, [](Shell& shell, Session&, const Key& key) { shell.focus_next(key.shift ? -1 : 1); }},
    {'P', With::ctrl, palette},
    {'K', With::ctrl, palette},
    {':', With::nothing, palette},
    {Session::kLeft, With::alt, [](Shell&, Session& session, const Key&) { static_cast<void>(session.back()); }},
    {Session::kRight, With::alt, [](Shell&, Session& session, const Key&) { static_cast<void>(session.forward()); }},
    {'=', With::ctrl, zoom_in},
    {'+', With::ctrl, zoom_in},
    {'-', With::ctrl, zoom_out},
    {'0', With::ctrl, zoom_back},
    {'L', With::ctrl,
     [](Shell&, Session& session, const Key&) { session.theme.mode = session.theme.mode == Mode::dark ? Mode::light : Mode::dark; }},
    {'O', With::ctrl, [](Shell& shell, Session&, const Key&) { shell.ask_for_file(); }},
    {'R', With::ctrl, [](Shell&, Session& session, const Key&) { session.reload(); }},
    {'?', With::nothing, help},
    {Session::kF1, With::nothing, help},
    {'Q', With::ctrl, [](Shell& shell, Session&, const Key&) { shell.quit(); }},
};

constexpr KeyHelp kHelp[] = {
    {"1 … 9", "show the panel that has this number below, and give it the keys"},
    {"Ctrl+Tab, Ctrl+Shift+Tab", "give the keys to the next or previous panel that is seen"},
    {"Ctrl+P, Ctrl+K or :", "search: steps by name, panels, runs, actions"},
    {"Alt+Left, Alt+Right", "back and forward through what was selected"},
    {"Up, Down or K, J", "in a table: the row above or below; Page Up, Page Down, Home, End"},
    {"Enter", "in a table: select the row"},
    {"Ctrl++, Ctrl+-, Ctrl+0", "larger, smaller, normal text"},
    {"Ctrl+L", "dark or light"},
    {"Ctrl+O", "open a database"},
    {"Ctrl+R", "read everything again"},
    {"right click", "on a number or row: copy; on a tab: move it (or drag it)"},
    {"? or F1", "this list"},
    {"Escape", "close what is in front"},
    {"Ctrl+Q", "quit"},
};

bool takes(const Row& row, const Key& key) {
  return row.key == key.key && key.ctrl == (row.with == With::ctrl) && key.alt == (row.with == With::alt);
}

}  // namespace

bool take_global_key(Shell& shell, Session& session, const Key& key) {
  const auto* row = std::ranges::find_if(kRows, [&](const Row& each) { return takes(each, key); });
  if (row == std::end(kRows)) {
    if (key.key == Session::kEscape) shell.close_overlays();
    return false;
  }
  row->act(shell, session, key);
  return true;
}

std::span<const KeyHelp> global_keys() { return kHelp; }

}  // namespace ui
