#include "ui/input.h"

namespace ui {

void feed_pointer(const Pointer& pointer) {
  ImGuiIO& io = ImGui::GetIO();
#if IMGUI_VERSION_NUM >= 18700
  io.AddMousePosEvent(pointer.position.x, pointer.position.y);
  for (int i = 0; i < 3; ++i) io.AddMouseButtonEvent(i, pointer.down[i]);
  if (pointer.wheel != 0 || pointer.wheel_x != 0) io.AddMouseWheelEvent(pointer.wheel_x, pointer.wheel);
  io.AddKeyEvent(ImGuiMod_Ctrl, pointer.ctrl);
  io.AddKeyEvent(ImGuiMod_Shift, pointer.shift);
#else
  io.MousePos = pointer.position;
  for (int i = 0; i < 3; ++i) io.MouseDown[i] = pointer.down[i];
  io.MouseWheel = pointer.wheel;
  io.MouseWheelH = pointer.wheel_x;
  io.KeyCtrl = pointer.ctrl;
  io.KeyShift = pointer.shift;
#endif
}

}  // namespace ui
