// ImGui without a window: for pictures and tests.
#pragma once

#include "ui/raster.h"
#include "ui/session.h"
#include "ui/shell.h"

namespace ui {

/// A context of its own; one at a time. Frames take 1/60 s, whatever the clock says.
class Offscreen {
 public:
  Offscreen(int width, int height, const Theme& theme);
  ~Offscreen();
  Offscreen(const Offscreen&) = delete;
  Offscreen& operator=(const Offscreen&) = delete;

  /// What a person does before the next frame.
  struct Hand {
    ImVec2 mouse = {-1, -1};
    bool down[3] = {};
    float wheel = 0, wheel_x = 0;
    bool ctrl = false, shift = false;
    std::string text = {};  ///< typed into what has the focus
    std::vector<Session::Key> keys = {};
  };
  void frame(Shell& shell, Session& session, const Hand& hand);
  Picture picture() const;  ///< of the last frame

 private:
  Theme theme_;
  std::vector<Session::Key> down_;  ///< since the last frame
};

}  // namespace ui
