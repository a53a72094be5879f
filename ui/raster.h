// Pictures without a display: a software rasteriser of ImGui's draw lists.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/result.h"

namespace ui {

/// RGB, 3 bytes a pixel, the top row first.
struct Picture {
  int width = 0, height = 0;
  std::vector<uint8_t> rgb;
};

/// Draws onto `ground`. Needs the font atlas of the current context; the same bytes on every machine.
Picture rasterise(const ImDrawData& data, ImU32 ground);
/// Errors: the file cannot be written.
base::Status write_png(const Picture& picture, const std::string& path);

}  // namespace ui
