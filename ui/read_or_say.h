// What a panel shows while its answer is on the way, or where there is none.
#pragma once

#include <imgui.h>

#include "ui/loader.h"
#include "ui/text.h"

namespace ui {

/// `kept`: the answer before is shown until the next one is there; `hidden`: it is of another run, or in another order.
enum class OldAnswer : uint8_t { kept, hidden };
/// nullptr: why is drawn in its place.
template <typename T>
const T* read_or_say(Latest<T>& latest, OldAnswer old = OldAnswer::kept, const char* meanwhile = "Reading…") {
  if (const base::Error* error = latest.error()) {
    ImGui::TextWrapped("%s", one_line(error->message, 2000).c_str());
    return nullptr;
  }
  const T* answer = latest.value();
  if (answer != nullptr && (old == OldAnswer::kept || !latest.waiting())) return answer;
  ImGui::TextDisabled("%s", meanwhile);
  return nullptr;
}

}  // namespace ui
