#include "ui/open_run.h"

#include <imgui.h>

namespace ui {

std::shared_ptr<const RunData> open_run_or_reason(Session& session) {
  Document* open = session.document();
  if (open == nullptr || session.selection().run == 0) {
    ImGui::TextDisabled("No run is open.");
    return nullptr;
  }
  std::shared_ptr<const RunData> run = session.shared_data();
  if (run != nullptr) return run;
  if (const base::Error* error = open->data.error())
    ImGui::TextWrapped("%s", error->message.c_str());
  else
    ImGui::TextDisabled("Reading…");
  return nullptr;
}

}  // namespace ui
