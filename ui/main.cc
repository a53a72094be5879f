// The program `profile-view`: arguments, then a window or a picture.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <string>
#include <vector>

#include "src/base/text.h"
#include "ui/offscreen.h"
#include "ui/window/window.h"

namespace {

struct Arguments {
  std::vector<std::string> databases;
  std::string screenshot, panel, size = "1280x800";
  bool light = false;
};

base::Result<std::pair<int, int>> size_of(const std::string& text) {
  int width = 0, height = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%dx%d%c", &width, &height, &rest) != 2 || width < 64 || height < 64 || width > 16384 || height > 16384)
    return base::Error{"--size '" + base::escaped(text) + "': write it as WIDTHxHEIGHT, 64 to 16384 each, like 1280x800",
                       base::Exit::wrong_use};
  return std::pair{width, height};
}

base::Result<base::Exit> take_picture(ui::Session& session, ui::Shell& shell, const Arguments& arguments, int width, int height) {
  session.theme.scale = height > 1200 ? 1.5f : 1.f;
  ui::Offscreen offscreen(width, height, session.theme);
  for (int i = 0; i < 4; ++i) offscreen.frame(shell, session, {});  // tables and tabs settle late
  RETURN_IF_ERROR(ui::write_png(offscreen.picture(), arguments.screenshot));
  return base::Exit::ok;
}

base::Result<base::Exit> run(const Arguments& arguments) {
  ASSIGN_OR_RETURN(const auto size, size_of(arguments.size));
  const bool picture = !arguments.screenshot.empty();
  ui::Session session(picture ? ui::Loader::Mode::here : ui::Loader::Mode::worker);
  if (arguments.light) session.theme.mode = ui::Mode::light;
  for (const std::string& path : arguments.databases) session.open(path);
  ui::Shell shell;
  shell.only(arguments.panel);
  return picture ? take_picture(session, shell, arguments, size.first, size.second)
                 : ui::run_window(session, shell, size.first, size.second);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Shows what `profile --replay` has measured: timelines, fusion costs, roofline, memory and source.", "profile-view");
  Arguments arguments;
  app.set_version_flag("--version", std::string("profile-view ") + PROFILE_VERSION);
  app.add_option("DB", arguments.databases, "databases that profile --replay has written")->required();
  app.add_option("--screenshot", arguments.screenshot, "write a picture (PNG) instead of opening a window; needs no display");
  app.add_option("--panel", arguments.panel, "show this panel alone");
  app.add_option("--size", arguments.size, "of the window or picture")->capture_default_str();
  app.add_flag("--light", arguments.light, "dark text on a light ground");
  CLI11_PARSE(app, argc, argv);
  const auto result = run(arguments);
  if (result.ok()) return static_cast<int>(*result);
  std::fputs(("profile-view: " + base::escaped(result.error().message) + "\n").c_str(), stderr);
  return static_cast<int>(result.error().exit);
}
