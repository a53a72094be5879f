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
#include <utility>

namespace cli {
namespace {

constexpr size_t kPrintedBytes = 64 << 10;  ///< written at once: a call a row would cost more than the row

}  // namespace

void OutputOptions::define(CLI::App& app) {
  app.add_option("--format", format, "table, json, jsonl, csv or md")
      ->check(CLI::IsMember({"table", "json", "jsonl", "csv", "md"}))
      ->capture_default_str();
}

bool draws(int descriptor) {
  const char* kind = std::getenv("TERM");
  return isatty(descriptor) != 0 && kind != nullptr && *kind != '\0' && std::string_view(kind) != "dumb";
}

report::Style style_of_stdout() {
  report::Style style;
  if (isatty(STDOUT_FILENO) == 0) return style;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) style.width = size.ws_col;
  const char* no_color = std::getenv("NO_COLOR");
  style.color = draws(STDOUT_FILENO) && (no_color == nullptr || *no_color == '\0');
  return style;
}

base::Status print_out(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (written) return {};
  if (errno == EPIPE) return {};
  const bool space = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
  return base::Error{fmt::format("<stdout>: cannot write: {}; {}", std::strerror(errno),
                                 space ? "free some space, or send it elsewhere" : "send it elsewhere")};
}

bool reader_has_gone() { return std::ferror(stdout) != 0; }

void print_err(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

base::Status print_rows(const model::Rows& rows, const OutputOptions& options) {
  ASSIGN_OR_RETURN(const report::Format format, report::format_named(options.format));
  return print_out(report::render(rows, format, style_of_stdout()));
}

base::Status print_rows(model::Cursor& cursor, const OutputOptions& options) {
  ASSIGN_OR_RETURN(const report::Format format, report::format_named(options.format));
  const auto writer = report::row_writer(cursor.columns(), format, style_of_stdout());
  std::string ready;
  while (!reader_has_gone()) {
    ASSIGN_OR_RETURN(const auto row, cursor.next());
    ready += row ? writer->add(*row) : writer->end();
    if (row && ready.size() < kPrintedBytes) continue;
    RETURN_IF_ERROR(print_out(std::exchange(ready, "")));
    if (!row) break;
  }
  return {};
}

}  // namespace cli
