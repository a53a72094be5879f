// profile list DB
#include <CLI/CLI.hpp>
#include <memory>

#include "src/cli/command.h"
#include "src/cli/output.h"

namespace cli {
namespace {

constexpr std::string_view kSources = "SELECT id AS source, path, format, bytes, kept AS records, dropped FROM source ORDER BY id";

}  // namespace

Action define_list(CLI::App& app) {
  struct Options {
    std::string database = "profile.db";
    OutputOptions output;
  };
  auto options = std::make_shared<Options>();
  app.add_option("DB", options->database, "database")->capture_default_str();
  options->output.define(app);
  return [options]() -> base::Result<base::Exit> {
    ASSIGN_OR_RETURN(const report::Format format, report::format_named(options->output.format));
    ASSIGN_OR_RETURN(const model::Reader reader, model::Reader::open(options->database));
    ASSIGN_OR_RETURN(const model::Rows sources, reader.query(kSources));
    ASSIGN_OR_RETURN(const model::Rows runs, report::run(reader, *report::find("runs"), 0));
    if (format == report::Format::json) {
      const report::Section sections[] = {{"sources", &sources}, {"runs", &runs}};
      RETURN_IF_ERROR(print_out(report::render_json(sections, "ok", "", 1)));
    } else {
      RETURN_IF_ERROR(print_rows(sources, options->output));
      RETURN_IF_ERROR(print_out("\n"));
      RETURN_IF_ERROR(print_rows(runs, options->output));
    }
    return base::Exit::ok;
  };
}

}  // namespace cli
