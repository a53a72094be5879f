// Names come last but for the layout, and on one line.
#include "ui/state.h"

#include <fmt/format.h>
#include <imgui.h>

#include "ui/session.h"
#include "ui/shell.h"
#include "ui/text.h"

namespace ui {

std::string state_line(Session& session, const Shell& shell) {
  const Selection& selection = session.selection();
  const StepInfo* step = session.step();
  return fmt::format("panel={} document={} run={} step={} theme={} zoom={:.2f} busy={} typing={} source={}:{} name={} layout={}",
                     shell.focused(), selection.document, selection.run, selection.step,
                     session.theme.mode == Mode::dark ? "dark" : "light", session.theme.zoom, session.busy() ? 1 : 0,
                     ImGui::GetIO().WantTextInput ? 1 : 0, one_line(selection.file, 80), selection.line,
                     step == nullptr ? "" : one_line(step->name, 80), print(shell.layout()));
}

}  // namespace ui
