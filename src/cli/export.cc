// profile export DB --chrome | --html [--run N] [-o FILE] [-f]
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>

#include "src/base/text.h"
#include "src/cli/command.h"
#include "src/cli/output.h"
#include "src/cli/output_file.h"
#include "src/cli/values.h"
#include "src/report/export.h"
#include "src/report/report.h"

namespace cli {
namespace {

struct ExportOptions {
  std::string database = "profile.db", output;
  std::vector<int64_t> runs;
  bool chrome = false, html = false, force = false;
};

/// runs/bert.db → bert.html: in the folder where one works, which can be written more often than that of the database.
std::string default_output(const ExportOptions& options) {
  return std::filesystem::path(options.database).stem().string() + (options.chrome ? ".trace.json" : ".html");
}

base::Result<std::vector<int64_t>> chosen_runs(const model::Reader& reader, const ExportOptions& options) {
  std::vector<int64_t> runs = options.runs;
  if (runs.empty()) runs.push_back(0);
  if (runs.size() > 1 && options.html) return base::Error{"--html shows one run; give one --run", base::Exit::wrong_use};
  for (int64_t& run : runs) {
    ASSIGN_OR_RETURN(run, report::existing_run(reader, run));
  }
  return runs;
}

base::Status write(const ExportOptions& options) {
  ASSIGN_OR_RETURN(const model::Reader reader, model::Reader::open(options.database));
  ASSIGN_OR_RETURN(const std::vector<int64_t> runs, chosen_runs(reader, options));
  const std::string path = options.output.empty() ? default_output(options) : options.output;
  ASSIGN_OR_RETURN(OutputFile file, OutputFile::create(path, options.force ? Existing::replace : Existing::keep));
  const report::Sink sink = [&](std::string_view bytes) { return file.write(bytes); };
  RETURN_IF_ERROR(options.chrome ? report::export_chrome(reader, runs, sink) : report::export_html(reader, runs[0], {}, sink));
  RETURN_IF_ERROR(file.finish());
  if (path == "-") return {};
  print_err(fmt::format("wrote {}{}\n", base::escaped(path), options.chrome ? "; ui.perfetto.dev or chrome://tracing opens it" : ""));
  return {};
}

}  // namespace

Action define_export(CLI::App& app) {
  auto options = std::make_shared<ExportOptions>();
  app.add_option("DB", options->database, "database")->capture_default_str();
  app.add_option("--run", options->runs, "id of the run; the newest if not given; --chrome takes several")
      ->check(whole_number(1, INT64_MAX));
  CLI::Option* chrome = app.add_flag("--chrome", options->chrome, "a trace for Perfetto and chrome://tracing");
  app.add_flag("--html", options->html, "one page with timeline, tables and plots that any browser opens, without a network")
      ->excludes(chrome);
  app.add_option("-o,--output", options->output, "file to write, - for stdout; DB with .html or .trace.json in this folder if not given")
      ->check(not_empty("a file"));
  app.add_flag("-f,--force", options->force, "replace the file if it exists");
  return [options]() -> base::Result<base::Exit> {
    if (!options->chrome && !options->html) return base::Error{"export needs --html or --chrome", base::Exit::wrong_use};
    RETURN_IF_ERROR(within_memory([&] { return write(*options); }));
    return base::Exit::ok;
  };
}

}  // namespace cli
