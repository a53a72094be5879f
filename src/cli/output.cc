// Output of results: terminal width, colour and pipes.
#include "src/cli/output.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cli {

void OutputOptions::define(CLI::App& app) {
  app.add_option("--format", format, "table, json, jsonl, csv or md")
      ->check(CLI::IsMember({"table", "json", "jsonl", "csv", "md"}))
      ->capture_default_str();
}

report::Style style_of_stdout() {
  report::Style style;
  if (isatty(STDOUT_FILENO) == 0) return style;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) style.width = size.ws_col;
  const char* no_color = std::getenv("NO_COLOR");
  style.color = no_color == nullptr || *no_color == '\0';
  return style;
}

base::Status print_out(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (written) return {};
  if (errno == EPIPE) {
    std::clearerr(stdout);
    return {};
  }
  return base::Error{fmt::format("<stdout>: cannot write: {}", std::strerror(errno))};
}

void print_err(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

base::Status print_rows(const model::Rows& rows, const OutputOptions& options) {
  ASSIGN_OR_RETURN(const report::Format format, report::format_named(options.format));
  return print_out(report::render(rows, format, style_of_stdout()));
}

}  // namespace cli
