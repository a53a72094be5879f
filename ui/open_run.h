// What a panel draws that has no run to show.
#pragma once

#include <memory>

#include "ui/session.h"

namespace ui {

/// The selected run. nullptr where there is none, it cannot be read, or is not read yet: then the reason has been drawn.
std::shared_ptr<const RunData> open_run_or_reason(Session& session);

}  // namespace ui
