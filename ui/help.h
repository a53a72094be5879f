// The list of all keys.
#pragma once

namespace ui {

class Shell;
/// `open` becomes false where it is closed.
void draw_help(const Shell& shell, bool& open);

}  // namespace ui
