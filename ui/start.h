// What stands in the window while no database is open: why, and what to do.
#pragma once

#include <string>
#include <vector>

namespace ui {

class Session;

/// No database has been opened, and none is being opened for the first time.
bool shows_start(Session& session);
void draw_start(Session& session);
/// A line for each database that could not be opened, or holds no run.
std::vector<std::string> complaints(Session& session);

}  // namespace ui
