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

#include <cctype>
#include <string>
#include <utility>
#include <vector>

namespace ui {
namespace {

constexpr int kSettleFrames = 4;
constexpr double kSleep_s = 0.25;

/// What has come since the last frame; GLFW's callbacks have no other place than the window's user pointer.
struct Inbox {
  std::vector<Session::Key> presses;
  std::vector<std::string> dropped;  ///< paths of files
  float scale = 0;                   ///< of a monitor that the window has moved to; 0: none
};
Inbox& inbox(GLFWwindow* window) { return *static_cast<Inbox*>(glfwGetWindowUserPointer(window)); }

constexpr std::pair<int, int> kNames[] = {
    {GLFW_KEY_ESCAPE, Session::kEscape},
    {GLFW_KEY_ENTER, Session::kEnter},
    {GLFW_KEY_LEFT, Session::kLeft},
    {GLFW_KEY_RIGHT, Session::kRight},
    {GLFW_KEY_UP, Session::kUp},
    {GLFW_KEY_DOWN, Session::kDown},
    {GLFW_KEY_F1, Session::kF1},
    {GLFW_KEY_DELETE, Session::kDelete},
    {GLFW_KEY_TAB, Session::kTab},
    {GLFW_KEY_PAGE_UP, Session::kPageUp},
    {GLFW_KEY_PAGE_DOWN, Session::kPageDown},
    {GLFW_KEY_HOME, Session::kHome},
    {GLFW_KEY_END, Session::kEnd},
    {GLFW_KEY_KP_ENTER, Session::kEnter},
    {GLFW_KEY_BACKSPACE, Session::kBackspace},
};

/// Named keys, and what the layout of the keyboard writes on it where Ctrl or Alt is held; 0: a character, which comes by on_character.
int session_key(int key, int scancode, int mods) {
  for (const auto& [glfw, ours] : kNames) {
    if (glfw == key) return ours;
  }
  if ((mods & (GLFW_MOD_CONTROL | GLFW_MOD_ALT)) == 0) return 0;
  const char* name = glfwGetKeyName(key, scancode);
  const bool known = name != nullptr && name[0] > ' ' && name[0] < 127 && name[1] == 0;
  return known ? std::toupper(static_cast<unsigned char>(name[0])) : 0;
}

void take(GLFWwindow* window, const Session::Key& key) {
  if (ImGui::GetIO().WantTextInput && Session::edits_text(key)) return;
  inbox(window).presses.push_back(key);
}

void on_key(GLFWwindow* window, int key, int scancode, int action, int mods) {
  ImGui_ImplGlfw_KeyCallback(window, key, scancode, action, mods);
  const int known = session_key(key, scancode, mods);
  if (known == 0 || action == GLFW_RELEASE) return;
  take(window, {known, (mods & GLFW_MOD_CONTROL) != 0, (mods & GLFW_MOD_SHIFT) != 0, (mods & GLFW_MOD_ALT) != 0});
}

/// '?' and ':' lie elsewhere on every keyboard: a shortcut is the character, not the place. Letters are told as capitals.
void on_character(GLFWwindow* window, unsigned character) {
  ImGui_ImplGlfw_CharCallback(window, character);
  if (character < ' ' || character > 126) return;
  const bool capital = character >= 'A' && character <= 'Z';
  take(window, {std::toupper(static_cast<int>(character)), false, capital, false});
}

void on_drop(GLFWwindow* window, int count, const char** paths) {
  for (int i = 0; i < count; ++i) inbox(window).dropped.emplace_back(paths[i]);
}

void on_scale(GLFWwindow* window, float scale, float) { inbox(window).scale = scale; }

void render(GLFWwindow* window) {
  int width = 0, height = 0;
  glfwGetFramebufferSize(window, &width, &height);
  glViewport(0, 0, width, height);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  glfwSwapBuffers(window);
}

void empty_inbox(GLFWwindow* window, Session& session) {
  Inbox news = std::exchange(inbox(window), {});
  session.keys = std::move(news.presses);
  for (std::string& path : news.dropped) session.open(std::move(path));
  if (news.scale > 0) session.theme.scale = news.scale;
}

void loop(GLFWwindow* window, Session& session, const Draw& draw) {
  Theme applied = session.theme;
  for (int settle = kSettleFrames; glfwWindowShouldClose(window) == 0; --settle) {
    const double before = glfwGetTime();
    settle > 0 ? glfwPollEvents() : glfwWaitEventsTimeout(kSleep_s);
    if (settle <= 0 && glfwGetTime() - before < kSleep_s * 0.96) settle = kSettleFrames;
    empty_inbox(window, session);
    if (follow(session.theme, applied) == Change::fonts) {
      ImGui_ImplOpenGL3_DestroyFontsTexture();
      ImGui_ImplOpenGL3_CreateFontsTexture();
    }
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    ImGui::NewFrame();
    const Frames next = draw();
    ImGui::Render();
    render(window);
    if (next == Frames::no_more) return;
  }
}

}  // namespace

base::Result<base::Exit> run_window(Session& session, int width, int height, const Draw& draw) {
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
  ImGui::GetIO().LogFilename = nullptr;
  load_fonts(session.theme);
  apply(session.theme);
  Inbox news;
  glfwSetWindowUserPointer(window, &news);
  ImGui_ImplGlfw_InitForOpenGL(window, true);
  glfwSetKeyCallback(window, on_key);
  glfwSetCharCallback(window, on_character);
  glfwSetDropCallback(window, on_drop);
  glfwSetWindowContentScaleCallback(window, on_scale);
  ImGui_ImplOpenGL3_Init("#version 330 core");
  session.on_done(glfwPostEmptyEvent);
  loop(window, session, draw);
  session.on_done(nullptr);
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
  glfwDestroyWindow(window);
  glfwTerminate();
  return base::Exit::ok;
}

}  // namespace ui
