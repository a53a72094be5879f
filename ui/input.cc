#include "ui/input.h"

#include <algorithm>

#include "ui/session.h"

namespace ui {
namespace {

struct Name {
  int key;
  ImGuiKey imgui;
};
constexpr Name kNames[] = {
    {Session::kEscape, ImGuiKey_Escape},
    {Session::kEnter, ImGuiKey_Enter},
    {Session::kLeft, ImGuiKey_LeftArrow},
    {Session::kRight, ImGuiKey_RightArrow},
    {Session::kUp, ImGuiKey_UpArrow},
    {Session::kDown, ImGuiKey_DownArrow},
    {Session::kDelete, ImGuiKey_Delete},
    {Session::kTab, ImGuiKey_Tab},
    {Session::kBackspace, ImGuiKey_Backspace},
    {Session::kPageUp, ImGuiKey_PageUp},
    {Session::kHome, ImGuiKey_Home},
    {Session::kEnd, ImGuiKey_End},
    {Session::kPageDown, ImGuiKey_PageDown},
    {'A', ImGuiKey_A},
    {'C', ImGuiKey_C},
    {'V', ImGuiKey_V},
    {'X', ImGuiKey_X},
    {'Y', ImGuiKey_Y},
    {'Z', ImGuiKey_Z},
};

}  // namespace

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

void feed_key(int key, bool down) {
  const auto* name = std::ranges::find(kNames, key, &Name::key);
  if (name == std::end(kNames)) return;
#if IMGUI_VERSION_NUM >= 18700
  ImGui::GetIO().AddKeyEvent(name->imgui, down);
#else
  const int native = ImGui::GetIO().KeyMap[name->imgui];
  if (native >= 0) ImGui::GetIO().KeysDown[native] = down;
#endif
}

void focus_next_item() {
  ImGui::SetWindowFocus();  // 1.90.1 (Debian 13) finds the item only in the window that had the focus before; the next version mends it
  ImGui::SetKeyboardFocusHere();
}

void name_keys() {
#if IMGUI_VERSION_NUM < 18700
  for (const Name& name : kNames) ImGui::GetIO().KeyMap[name.imgui] = name.key;
#endif
}

}  // namespace ui
