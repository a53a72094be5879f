// A field for a path and the databases of the folder it names: a system's own file dialog would be one more library.
#include "ui/open_file.h"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "ui/input.h"
#include "ui/session.h"
#include "ui/text.h"

namespace ui {
namespace {

namespace fs = std::filesystem;
constexpr size_t kMostFiles = 200;

/// Folders and *.db of the folder that `path` is or lies in, by name.
std::vector<fs::path> around(const std::string& path) {
  std::error_code failed;
  fs::path folder = path.empty() ? fs::path(".") : fs::path(path);
  if (!fs::is_directory(folder, failed)) folder = folder.parent_path().empty() ? fs::path(".") : folder.parent_path();
  std::vector<fs::path> files;
  for (fs::directory_iterator it(folder, fs::directory_options::skip_permission_denied, failed), end;
       !failed && it != end && files.size() < kMostFiles; it.increment(failed)) {
    std::error_code unknown;
    if (it->path().extension() == ".db" || it->is_directory(unknown)) files.push_back(it->path());
  }
  std::ranges::sort(files);
  return files;
}

/// True: a database was chosen.
bool draw_files(std::string& path) {
  bool chosen = false;
  for (const fs::path& file : around(path)) {
    std::error_code unknown;
    const bool folder = fs::is_directory(file, unknown);
    ImGui::PushID(file.c_str());
    if (ImGui::Selectable("##file")) path = file.lexically_normal().string() + (folder ? "/" : ""), chosen = !folder;
    ImGui::SameLine(0, 0);
    ImGui::TextUnformatted((one_line(file.filename().string()) + (folder ? "/" : "")).c_str());
    ImGui::PopID();
    if (chosen) break;
  }
  return chosen;
}

}  // namespace

void draw_open_file(Session& session, std::string& path, bool& open) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float em = ImGui::GetFontSize();
  ImGui::SetNextWindowPos({display.x / 2, em * 4}, ImGuiCond_Always, {0.5f, 0});
  ImGui::SetNextWindowSize({std::min(em * 44, display.x), std::min(em * 28, display.y)});
  constexpr ImGuiWindowFlags kFlags = ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoCollapse;
  bool chosen = false;
  if (ImGui::Begin("Open a database", &open, kFlags)) {
    if (ImGui::IsWindowAppearing()) focus_next_item();
    ImGui::SetNextItemWidth(-1);
    chosen = ImGui::InputTextWithHint("##path", "path of a database", &path, ImGuiInputTextFlags_EnterReturnsTrue);
    if (ImGui::BeginChild("files")) chosen = draw_files(path) || chosen;
    ImGui::EndChild();
  }
  ImGui::End();
  if (!chosen || path.empty()) return;
  session.open(path);
  path.clear();
  open = false;
}

}  // namespace ui
