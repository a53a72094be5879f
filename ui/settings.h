// What a person has set and finds again the next time: theme, zoom and layout. A small text in the folder for settings.
#pragma once

#include <string>
#include <string_view>

#include "src/base/result.h"
#include "ui/layout.h"
#include "ui/theme.h"

namespace ui {

struct Settings {
  Mode mode = Mode::dark;
  float zoom = 1;  ///< of the text, times the monitor's scale
  Node layout;
  bool operator==(const Settings&) const = default;
};

Settings default_settings();
std::string print(const Settings& settings);
/// Lines that are not understood leave what default_settings() has: an old or damaged file never keeps the program from starting.
Settings parse_settings(std::string_view text);

/// $XDG_CONFIG_HOME/profile/view.conf, else ~/.config/…; "": neither is known.
std::string settings_path();
Settings load_settings(const std::string& path);
/// Writes beside it and renames: another viewer never reads half a file.
base::Status save_settings(const Settings& settings, const std::string& path);

}  // namespace ui
