// A database that could not be opened is looked at again every second: it may be one that is being made.
#include "ui/start.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "ui/session.h"
#include "ui/text.h"

namespace ui {

bool shows_start(Session& session) {
  return std::ranges::all_of(session.documents(), [](const auto& open) { return open->runs.error() != nullptr; });
}

std::vector<std::string> complaints(Session& session) {
  std::vector<std::string> lines;
  for (const auto& open : session.documents()) {
    const auto* runs = open->runs.value();
    if (const base::Error* error = open->runs.error()) lines.push_back(error->message);
    if (runs != nullptr && runs->empty()) {
      const std::string path = open->loader.path();
      lines.push_back(fmt::format("{}: holds no run yet; replay a program into it: profile --replay FILE -o {}", path, path));
    }
  }
  return lines;
}

void draw_start(Session& session) {
  for (const std::string& line : complaints(session)) ImGui::TextWrapped("%s", one_line(line).c_str());
  if (!session.documents().empty()) ImGui::NewLine();
  ImGui::TextWrapped("No database is open. Measure a program and look at it:");
  ImGui::TextUnformatted("  profile --replay program.hlo.txt -o run.db\n  profile-view run.db");
  ImGui::TextWrapped(
      "Ctrl+O opens a database; one can also be dropped onto this window. What cannot be opened is tried again every second.");
}

}  // namespace ui
