// The program `profile-view`: arguments, then a window or a picture.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <string>
#include <vector>

#include "src/base/text.h"
#include "ui/arguments.h"
#include "ui/offscreen.h"
#include "ui/settings.h"
#include "ui/start.h"
#include "ui/state.h"
#include "ui/window/window.h"

namespace {

constexpr int kPictureFrames = 6;  // tables, tabs and tooltips settle late

void say(const std::string& line) { std::fputs(("profile-view: " + base::escaped(line) + "\n").c_str(), stderr); }

void arrange(ui::Session& session, ui::Shell& shell, const ui::Arguments& arguments) {
  if (arguments.light || arguments.theme == "light") session.theme.mode = ui::Mode::light;
  if (arguments.theme == "dark") session.theme.mode = ui::Mode::dark;
  if (!arguments.layout.empty()) {
    auto layout = ui::parse_layout(arguments.layout);
    for (size_t i = 0; i < ui::presets().size(); ++i) {
      if (ui::presets()[i].name == arguments.layout) shell.use_preset(i);
    }
    if (layout.ok()) shell.set_layout(*std::move(layout));
  }
  shell.only(arguments.screenshot.empty() ? arguments.panel : "");
  if (arguments.run != 0 || !arguments.select.empty()) session.select_later(arguments.run, arguments.select);
}

base::Result<base::Exit> take_picture(ui::Session& session, ui::Shell& shell, const ui::Arguments& arguments, int width, int height) {
  session.theme.scale = height > 1200 ? 1.5f : 1.f;
  ui::Offscreen offscreen(width, height, session.theme);
  std::vector<std::string> complaints;
  for (const ui::Shot& shot : ui::shots_of(arguments)) {
    shell.only(shot.panel);
    for (int i = 0; i < kPictureFrames; ++i) offscreen.frame(shell, session, {});
    complaints = ui::complaints(session);
    if (!session.message.empty()) return base::Error{session.message, base::Exit::wrong_use};
    RETURN_IF_ERROR(ui::write_png(offscreen.picture(), shot.path));
  }
  for (const std::string& complaint : complaints) say(complaint);
  return complaints.empty() ? base::Exit::ok : base::Exit::failed;
}

/// What a person has set is kept when it changes, not while the mouse still drags it.
class Keeper {
 public:
  Keeper(ui::Session& session, ui::Shell& shell) : path_(ui::settings_path()), kept_(ui::load_settings(path_)) {
    session.theme.mode = kept_.mode;
    session.theme.zoom = kept_.zoom;
    shell.set_layout(kept_.layout);
    kept_.layout = shell.layout();
  }
  void keep(const ui::Session& session, const ui::Shell& shell) {
    const ui::Settings now = {session.theme.mode, session.theme.zoom, shell.layout()};
    if (now == kept_ || path_.empty()) return;
    kept_ = now;
    const auto saved = ui::save_settings(now, path_);
    if (saved.ok() || told_) return;
    say(saved.error().message);
    told_ = true;
  }

 private:
  std::string path_;
  ui::Settings kept_;
  bool told_ = false;
};

base::Result<base::Exit> show_window(ui::Session& session, ui::Shell& shell, const ui::Arguments& arguments, int width, int height) {
  Keeper keeper(session, shell);
  arrange(session, shell, arguments);
  std::string state;
  return ui::run_window(session, width, height, [&] {
    shell.draw(session);
    if (!ImGui::IsMouseDown(0)) keeper.keep(session, shell);
    if (arguments.trace_state && ui::state_line(session, shell) != state) {
      state = ui::state_line(session, shell);
      std::puts(state.c_str());
      std::fflush(stdout);
    }
    return shell.wants_quit() ? ui::Frames::no_more : ui::Frames::more;
  });
}

base::Result<base::Exit> run(ui::Arguments arguments) {
  RETURN_IF_ERROR(ui::check(arguments));
  ASSIGN_OR_RETURN(const auto size, ui::parse_size(arguments.size));
  const bool picture = !arguments.screenshot.empty();
  ui::Session session(picture ? ui::Loader::Mode::here : ui::Loader::Mode::worker);
  if (!arguments.range.empty()) {
    ASSIGN_OR_RETURN(session.show_range, ui::parse_range(arguments.range));
  }
  arguments.databases = ui::databases_or_default(arguments);
  if (picture && arguments.databases.empty())
    return base::Error{"no database is named, and here is no profile.db; make one with `profile --replay FILE`", base::Exit::wrong_use};
  for (const std::string& path : arguments.databases) session.open(path);
  ui::Shell shell;
  if (!picture) return show_window(session, shell, arguments, size.first, size.second);
  arrange(session, shell, arguments);
  return take_picture(session, shell, arguments, size.first, size.second);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Shows what `profile --replay` has measured: timelines, fusion costs, roofline, memory and source.", "profile-view");
  ui::Arguments arguments;
  arguments.size = "1280x800";
  app.set_version_flag("--version", std::string("profile-view ") + PROFILE_VERSION);
  app.add_option("DB", arguments.databases, "databases that profile --replay has written (default: profile.db)");
  app.add_option("--screenshot", arguments.screenshot, "write a picture (PNG) instead of opening a window; needs no display");
  app.add_option("--panel", arguments.panel, "show this panel alone; all: with --screenshot, a picture of each");
  app.add_option("--layout", arguments.layout, "a layout by its name, or as a text");
  app.add_option("--run", arguments.run, "show this run (default: the newest)");
  app.add_option("--select", arguments.select, "select a step, by its name or number");
  app.add_option("--range", arguments.range, "of the timeline, like 10ms..25ms");
  app.add_option("--size", arguments.size, "of the window or picture")->capture_default_str();
  app.add_option("--theme", arguments.theme, "dark or light");
  app.add_flag("--light", arguments.light, "the same as --theme light");
  app.add_flag("--trace-state", arguments.trace_state, "print a line whenever what is shown or selected changes, for tests");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? app.exit(error) : (say(error.what()), static_cast<int>(base::Exit::wrong_use));
  }
  const auto result = run(std::move(arguments));
  if (result.ok()) return static_cast<int>(*result);
  say(result.error().message);
  return static_cast<int>(result.error().exit);
}
