// The line above the panels and the one below them.
#pragma once

namespace ui {

class Session;
class Shell;

void draw_bar(Shell& shell, Session& session);
/// What is selected, what is being read, what there is to say.
void draw_status(Session& session);

}  // namespace ui
