// Asks for the path of a database.
#pragma once

#include <string>

namespace ui {

class Session;
/// `path` is what is typed, `open` becomes false when the question is answered or dropped.
void draw_open_file(Session& session, std::string& path, bool& open);

}  // namespace ui
