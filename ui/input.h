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

}  // namespace ui
