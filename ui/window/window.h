// The window: GLFW and OpenGL 3.
#pragma once

#include <functional>

#include "src/base/result.h"
#include "ui/session.h"

namespace ui {

enum class Frames : uint8_t { more, no_more };
/// Draws a frame between ImGui's NewFrame and Render.
using Draw = std::function<Frames()>;

/// Runs until it is closed, or `draw` says so. Without a display an Error with exit status missing_capability.
base::Result<base::Exit> run_window(Session& session, int width, int height, const Draw& draw);

}  // namespace ui
