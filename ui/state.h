// What the viewer shows, as one line: tests of the window assert on it, not on pixels.
#pragma once

#include <string>

namespace ui {

class Session;
class Shell;

/// "panel=top run=1 step=12 theme=dark zoom=1.00 busy=0 typing=0 source=net.py:12 name=fusion.3 layout=(…)"
std::string state_line(Session& session, const Shell& shell);

}  // namespace ui
