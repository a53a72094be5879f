// A text that can be read, selected and copied, and not changed.
#pragma once

#include <imgui.h>

#include <string>

namespace ui {

class TextView {
 public:
  /// In the font for code. `revision` changes where the text has changed; the view then begins at its top again.
  void draw(const char* id, const std::string& text, int revision, ImVec2 size);

 private:
  std::string shown_;
  int revision_ = -1;
};

}  // namespace ui
