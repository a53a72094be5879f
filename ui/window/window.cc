// Draws on input, not at 60 Hz: a frame costs nothing while nobody looks. After a wake a few frames settle what ImGui does late.
//
// Keys for shortcuts come from a callback of our own: ImGui 1.86 loses a press that is released before the next frame, and 1.87 gives each
// press and release a frame of its own, behind which clicks wait.
#define GLFW_INCLUDE_NONE
#include "ui/window/window.h"

#include <GL/gl.h>
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <array>
#include <utility>

namespace ui {
namespace {

constexpr int kSettleFrames = 4;
constexpr double kSleep_s = 0.25;

/// Presses since the last frame; GLFW's callbacks have no other place than the window's user pointer.
struct Keyboard {
  std::vector<Session::Key> presses;
};

constexpr std::pair<int, int> kNames[] = {
    {GLFW_KEY_ESCAPE, Session::kEscape}, {GLFW_KEY_ENTER, Session::kEnter},   {GLFW_KEY_LEFT, Session::kLeft},
    {GLFW_KEY_RIGHT, Session::kRight},   {GLFW_KEY_UP, Session::kUp},         {GLFW_KEY_DOWN, Session::kDown},
    {GLFW_KEY_F1, Session::kF1},         {GLFW_KEY_DELETE, Session::kDelete},
};

int session_key(int key) {
  for (const auto& [glfw, ours] : kNames) {
    if (glfw == key) return ours;
  }
  return key >= GLFW_KEY_SPACE && key <= GLFW_KEY_GRAVE_ACCENT ? key : 0;
}

void on_key(GLFWwindow* window, int key, int scancode, int action, int mods) {
  ImGui_ImplGlfw_KeyCallback(window, key, scancode, action, mods);
  const int known = session_key(key);
  if (known == 0 || action == GLFW_RELEASE || ImGui::GetIO().WantTextInput) return;
  static_cast<Keyboard*>(glfwGetWindowUserPointer(window))
      ->presses.push_back({known, (mods & GLFW_MOD_CONTROL) != 0, (mods & GLFW_MOD_SHIFT) != 0, (mods & GLFW_MOD_ALT) != 0});
}

void render(GLFWwindow* window) {
  int width = 0, height = 0;
  glfwGetFramebufferSize(window, &width, &height);
  glViewport(0, 0, width, height);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  glfwSwapBuffers(window);
}

void loop(GLFWwindow* window, Keyboard& keyboard, Session& session, Shell& shell) {
  for (int settle = kSettleFrames; glfwWindowShouldClose(window) == 0 && !shell.wants_quit(); --settle) {
    const double before = glfwGetTime();
    settle > 0 ? glfwPollEvents() : glfwWaitEventsTimeout(kSleep_s);
    if (settle <= 0 && glfwGetTime() - before < kSleep_s * 0.96) settle = kSettleFrames;
    session.keys = std::exchange(keyboard.presses, {});
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    ImGui::NewFrame();
    shell.draw(session);
    ImGui::Render();
    render(window);
  }
}

}  // namespace

base::Result<base::Exit> run_window(Session& session, Shell& shell, int width, int height) {
  if (glfwInit() == 0)
    return base::Error{"no display: is DISPLAY or WAYLAND_DISPLAY set? Without one use --screenshot FILE.png",
                       base::Exit::missing_capability};
  for (const auto& [hint, value] : {std::pair{GLFW_CONTEXT_VERSION_MAJOR, 3}, std::pair{GLFW_CONTEXT_VERSION_MINOR, 3},
                                    std::pair{GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE}, std::pair{GLFW_SCALE_TO_MONITOR, GLFW_TRUE}})
    glfwWindowHint(hint, value);
  GLFWwindow* window = glfwCreateWindow(width, height, "profile", nullptr, nullptr);
  if (window == nullptr) {
    glfwTerminate();
    return base::Error{"no OpenGL 3.3 on this display; use --screenshot FILE.png", base::Exit::missing_capability};
  }
  glfwMakeContextCurrent(window);
  glfwGetWindowContentScale(window, &session.theme.scale, nullptr);
  ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;
  load_fonts(session.theme.scale);
  apply(session.theme);
  Keyboard keyboard;
  glfwSetWindowUserPointer(window, &keyboard);
  ImGui_ImplGlfw_InitForOpenGL(window, true);
  glfwSetKeyCallback(window, on_key);
  ImGui_ImplOpenGL3_Init("#version 330 core");
  session.on_done(glfwPostEmptyEvent);
  loop(window, keyboard, session, shell);
  session.on_done(nullptr);
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
  glfwDestroyWindow(window);
  glfwTerminate();
  return base::Exit::ok;
}

}  // namespace ui
