// profile report [NAME] [DB]
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "src/base/text.h"
#include "src/cli/command.h"
#include "src/cli/output.h"
#include "src/cli/values.h"

namespace cli {
namespace {

model::Rows report_list() {
  model::Rows rows;
  rows.columns = {"report", "about"};
  const auto text = [](std::string_view value) {
    model::Cell cell;
    cell.kind = model::Cell::Kind::text;
    cell.text = value;
    return cell;
  };
  for (const report::Report& r : report::reports()) rows.rows.push_back({text(r.name), text(r.about)});
  return rows;
}

std::string report_names() {
  std::vector<std::string_view> names;
  for (const report::Report& r : report::reports()) names.push_back(r.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

base::Error no_report(const std::string& name) {
  std::vector<std::string_view> names;
  for (const report::Report& r : report::reports()) names.push_back(r.name);
  const std::string_view near = base::nearest(name, names);
  const std::string hint = near.empty() ? "profile report lists them" : fmt::format("did you mean '{}'?", near);
  return {fmt::format("no report '{}'; {}", base::escaped(name), hint), base::Exit::wrong_use};
}

}  // namespace

Action define_report(CLI::App& app) {
  struct Options {
    std::string name, database = "profile.db";
    int64_t run = 0;
    OutputOptions output;
  };
  auto options = std::make_shared<Options>();
  app.add_option("NAME", options->name, fmt::format("{}; without it they are listed with what they show", report_names()));
  app.add_option("DB", options->database, "database")->capture_default_str();
  app.add_option("--run", options->run, "id of the run; the newest if not given")->check(whole_number(1, INT64_MAX));
  options->output.define(app);
  return [options]() -> base::Result<base::Exit> {
    if (options->name.empty()) {
      RETURN_IF_ERROR(print_rows(report_list(), options->output));
      return base::Exit::ok;
    }
    const report::Report* found = report::find(options->name);
    if (found == nullptr) return no_report(options->name);
    ASSIGN_OR_RETURN(const model::Reader reader, model::Reader::open(options->database));
    ASSIGN_OR_RETURN(const model::Rows rows, report::run(reader, *found, options->run));
    RETURN_IF_ERROR(print_rows(rows, options->output));
    return base::Exit::ok;
  };
}

}  // namespace cli
