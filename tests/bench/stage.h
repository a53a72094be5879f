// One panel alone in a window as large as the display, with the loader's thread at work as in the viewer; and how long its frames take.
#pragma once

#include <imgui.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "ui/input.h"
#include "ui/panel.h"

namespace bench {

inline double wall_ms() { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
/// Of the calling thread.
inline double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

class Stage {
 public:
  Stage(const std::string& path, ImVec2 size) {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = size;
    io.DeltaTime = 1.f / 60;
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    ui::load_fonts({});
    ui::apply({});
    unsigned char* pixels = nullptr;
    int w = 0, h = 0;
    io.Fonts->GetTexDataAsAlpha8(&pixels, &w, &h);
    session_.open(path);
  }
  ~Stage() { ImGui::DestroyContext(); }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  void frame(ui::Panel& panel, const ui::Pointer& pointer, std::vector<ui::Session::Key> keys) {
    ui::feed_pointer(pointer);
    session_.keys = std::move(keys);
    ImGui::NewFrame();
    session_.update();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
    ImGui::Begin("stage", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
    panel.draw(session_);
    ImGui::End();
    ImGui::Render();
  }

 private:
  ui::Session session_;
};

struct Times {
  std::vector<double> ms;
  /// Of the sorted times the one below which `share` of them lie; 0 if there are none.
  double at(double share) const {
    std::vector<double> sorted = ms;
    std::ranges::sort(sorted);
    return sorted.empty() ? 0 : sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
  }
};

}  // namespace bench
