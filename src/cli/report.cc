// profile report [NAME] [DB]
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "src/base/text.h"
#include "src/cli/command.h"
#include "src/cli/fusion_line.h"
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

std::vector<std::string_view> report_names() {
  std::vector<std::string_view> names;
  for (const report::Report& r : report::reports()) names.push_back(r.name);
  return names;
}

base::Error no_report(const std::string& name) {
  const std::string_view near = base::nearest(name, report_names());
  const std::string hint = near.empty() ? "profile report lists them" : fmt::format("did you mean '{}'?", near);
  return {fmt::format("no report '{}'; {}", base::escaped(name), hint), base::Exit::wrong_use};
}

/// "Predicted for NVIDIA H100 SXM5 80 GB, not measured" of a run that is a prediction; else nothing.
base::Result<std::string> basis_of(const model::Reader& reader, int64_t run) {
  const model::Cell id{model::Cell::Kind::integer, run, 0, ""};
  ASSIGN_OR_RETURN(const model::Rows found, reader.query("SELECT r.kind, d.model FROM run r LEFT JOIN device d ON d.id = r.device "
                                                         "WHERE r.id = CASE WHEN ?1 = 0 THEN (SELECT max(id) FROM run) ELSE ?1 END",
                                                         {{id}}));
  if (found.rows.empty() || found.rows[0][0].text != "predicted") return std::string();
  return fmt::format("Predicted for {}, not measured\n", base::escaped(found.rows[0][1].text));
}

/// "Run 3 of 5: jit_step on cpu" where a database holds several runs and none was named; else nothing.
base::Result<std::string> which_run(const model::Reader& reader) {
  ASSIGN_OR_RETURN(
      const model::Rows found,
      reader.query(
          "SELECT r.id, (SELECT count(*) FROM run), coalesce(m.name, s.path), d.name FROM run r LEFT JOIN module m ON m.id = r.module "
          "LEFT JOIN source s ON s.id = r.source LEFT JOIN device d ON d.id = r.device ORDER BY r.id DESC LIMIT 1"));
  if (found.rows.empty() || found.rows[0][1].integer < 2) return std::string();
  const auto& cells = found.rows[0];
  return fmt::format("Run {} of {}: {} on {} (--run N shows another; profile list)\n", cells[0].integer, cells[1].integer,
                     base::escaped(cells[2].text), base::escaped(cells[3].text));
}

}  // namespace

Action define_report(CLI::App& app) {
  struct Options {
    std::string name, database = "profile.db";
    int64_t run = 0;
    OutputOptions output;
  };
  auto options = std::make_shared<Options>();
  app.add_option("NAME", options->name, fmt::format("{}; without it they are listed with what they show", fmt::join(report_names(), ", ")));
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
    ASSIGN_OR_RETURN(model::Rows rows, report::run(reader, *found, options->run));
    const bool for_people = options->output.format == "table" || options->output.format == "md";
    if (for_people) rows = report::without_unknown(std::move(rows), *found);
    if (options->run == 0 && options->output.format == "table") {
      ASSIGN_OR_RETURN(const std::string which, which_run(reader));
      RETURN_IF_ERROR(print_out(which));
    }
    if (found->sql.find("?1") != std::string_view::npos) {
      ASSIGN_OR_RETURN(const std::string basis, basis_of(reader, options->run));
      if (for_people) RETURN_IF_ERROR(print_out(basis));
      if (!for_people && !basis.empty()) print_err(fmt::format("{}: {}", found->name, basis));
    }
    RETURN_IF_ERROR(print_rows(rows, options->output));
    if (for_people && found->name == "fusions") {
      ASSIGN_OR_RETURN(const std::string line, fusion_line(reader, options->run));
      RETURN_IF_ERROR(print_out(line));
    }
    if (rows.rows.empty()) print_err(fmt::format("{}: {}\n", found->name, found->empty));
    return base::Exit::ok;
  };
}

}  // namespace cli
