// The one place that knows how ImGui is told of input: before 1.87 by fields, since then by events.
#pragma once

#include <imgui.h>

namespace ui {

struct Pointer {
  ImVec2 position;
  bool down[3];
  float wheel, wheel_x;
  bool ctrl, shift;
};
void feed_pointer(const Pointer& pointer);

/// A key goes down or up, for what edits texts: Session's names of keys and the letters of Ctrl+A, C, V, X, Y, Z. Others are dropped.
void feed_key(int key, bool down);
/// A context without a window's backend knows no keys before 1.87.
void name_keys();

/// What is typed goes to the item of this window that comes next, whatever has the focus now; popups over the window close. In place of
/// ImGui::SetKeyboardFocusHere, which does not do it in every version.
void focus_next_item();

}  // namespace ui
