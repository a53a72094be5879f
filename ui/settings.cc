// One setting a line: "theme dark", "zoom 1.1", "layout (…)".
#include "ui/settings.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "src/base/file.h"
#include "src/base/text.h"

namespace ui {
namespace {

namespace fs = std::filesystem;

void read_theme(std::string_view value, Settings& settings) {
  if (value == "light") settings.mode = Mode::light;
  if (value == "dark") settings.mode = Mode::dark;
}

void read_zoom(std::string_view value, Settings& settings) {
  float zoom = 0;
  if (std::from_chars(value.data(), value.data() + value.size(), zoom).ec == std::errc() && std::isfinite(zoom))
    settings.zoom = std::clamp(zoom, kLeastZoom, kMostZoom);
}

void read_layout(std::string_view value, Settings& settings) {
  auto layout = parse_layout(value);
  if (layout.ok()) settings.layout = *std::move(layout);
}

struct Line {
  std::string_view name;
  void (*read)(std::string_view value, Settings& settings);
};
constexpr Line kLines[] = {{"theme", read_theme}, {"zoom", read_zoom}, {"layout", read_layout}};

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

base::Error cannot(const std::string& path) {
  return {fmt::format("{}: cannot be written: {}", base::escaped(path), std::strerror(errno))};
}

}  // namespace

Settings default_settings() {
  Settings settings;
  settings.layout = *parse_layout(presets()[0].text);
  return settings;
}

std::string print(const Settings& settings) {
  return fmt::format("theme {}\nzoom {:.4g}\nlayout {}\n", settings.mode == Mode::light ? "light" : "dark", settings.zoom,
                     print(settings.layout));
}

Settings parse_settings(std::string_view text) {
  Settings settings = default_settings();
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const size_t space = std::min(line.find(' '), line.size());
    const auto* known = std::ranges::find(kLines, line.substr(0, space), &Line::name);
    if (known != std::end(kLines)) known->read(line.substr(std::min(space + 1, line.size())), settings);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return settings;
}

std::string settings_path() {
  const std::string folder = from_environment("XDG_CONFIG_HOME"), home = from_environment("HOME");
  if (folder.empty() && home.empty()) return "";
  return (folder.empty() ? fs::path(home) / ".config" : fs::path(folder)) / "profile" / "view.conf";
}

Settings load_settings(const std::string& path) {
  const auto text = base::read_file(path);
  return text.ok() ? parse_settings(*text) : default_settings();
}

base::Status save_settings(const Settings& settings, const std::string& path) {
  std::error_code unmade;
  fs::create_directories(fs::path(path).parent_path(), unmade);
  const std::string own = fmt::format("{}.{}", path, ::getpid());
  errno = 0;
  std::ofstream file(own, std::ios::binary);
  file << print(settings);
  file.close();
  if (!file) return cannot(own);
  std::error_code failed;
  fs::rename(own, path, failed);
  if (!failed) return {};
  errno = failed.value();
  return cannot(path);
}

}  // namespace ui
