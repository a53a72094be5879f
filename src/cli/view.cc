// profile view DB…: becomes profile-view, which is a program of its own so that this one needs no graphics libraries.
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "src/cli/command.h"

namespace cli {
namespace {

constexpr const char* kViewer = "profile-view";

/// Beside this program, else wherever PATH has it.
std::string viewer() {
  std::error_code unknown;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const std::filesystem::path beside = self.parent_path() / kViewer;
  return !unknown && std::filesystem::exists(beside, unknown) ? beside.string() : kViewer;
}

}  // namespace

Action define_view(CLI::App& app) {
  app.prefix_command();
  app.footer("All arguments go to profile-view; its own help: profile-view --help");
  return [&app]() -> base::Result<base::Exit> {
    std::string program = viewer();
    std::vector<std::string> arguments = app.remaining();
    std::vector<char*> raw = {program.data()};
    for (std::string& argument : arguments) raw.push_back(argument.data());
    raw.push_back(nullptr);
    std::fflush(nullptr);
    ::execvp(program.c_str(), raw.data());
    if (errno != ENOENT) return base::Error{program + ": cannot be started; is it a program that you may execute?"};
    return base::Error{
        "profile-view is not installed: build with libimgui-dev and libglfw3-dev (cmake -DPROFILE_UI=ON) and put it beside profile or on "
        "PATH",
        base::Exit::missing_capability};
  };
}

}  // namespace cli
