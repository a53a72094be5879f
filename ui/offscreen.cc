// The renderer's part of ImGui is missing here: the atlas must be made by hand, and RendererHasVtxOffset promised, or a window with more
// than 16,384 rectangles aborts.
#include "ui/offscreen.h"

#include "ui/input.h"

namespace ui {
namespace {

void make_atlas() {
  unsigned char* pixels = nullptr;
  int w = 0, h = 0;
  ImGui::GetIO().Fonts->GetTexDataAsAlpha8(&pixels, &w, &h);
}

}  // namespace

Offscreen::Offscreen(int width, int height, const Theme& theme) : theme_(theme) {
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
  io.DeltaTime = 1.f / 60;
  io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
#if IMGUI_VERSION_NUM >= 18700
  io.ConfigInputTrickleEventQueue = false;  // a hand's input counts in its frame, as before 1.87: keys and text are not spread over several
#endif
  name_keys();
  load_fonts(theme);
  apply(theme);
  make_atlas();
}

Offscreen::~Offscreen() { ImGui::DestroyContext(); }

void Offscreen::frame(Shell& shell, Session& session, const Hand& hand) {
  if (follow(session.theme, theme_) == Change::fonts) make_atlas();
  feed_pointer({hand.mouse, {hand.down[0], hand.down[1], hand.down[2]}, hand.wheel, hand.wheel_x, hand.ctrl, hand.shift});
  for (const char c : hand.text) ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(c));
  for (const Session::Key& key : down_) feed_key(key.key, false);
  for (const Session::Key& key : hand.keys) feed_key(key.key, true);
  down_ = session.keys = hand.keys;
  if (ImGui::GetIO().WantTextInput) std::erase_if(session.keys, Session::edits_text);
  ImGui::NewFrame();
  shell.draw(session);
  ImGui::Render();
  session.keys.clear();
}

Picture Offscreen::picture() const { return rasterise(*ImGui::GetDrawData(), ImGui::GetColorU32(ImGuiCol_WindowBg)); }

}  // namespace ui
