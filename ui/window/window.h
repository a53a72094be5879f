// The window: GLFW and OpenGL 3.
#pragma once

#include "src/base/result.h"
#include "ui/session.h"
#include "ui/shell.h"

namespace ui {

/// Runs until it is closed. Without a display an Error with exit status missing_capability.
base::Result<base::Exit> run_window(Session& session, Shell& shell, int width, int height);

}  // namespace ui
