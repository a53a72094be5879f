// profile compare DB [RUN [RUN]] | DB [RUN] DB [RUN] | DB:RUN DB:RUN
//
// Words are read from left to right: a number is a run of the database before it, so that what other tools write (`old new`, `FILE:RUN`)
// and what is short here (`DB 1 3`) are the same rule.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>

#include "src/base/text.h"
#include "src/cli/command.h"
#include "src/cli/output.h"
#include "src/report/compare.h"
#include "src/report/display.h"
#include "src/report/query.h"
#include "src/report/units.h"

namespace cli {
namespace {

constexpr std::string_view kDefaultDatabase = "profile.db";

struct Side {
  std::string database;
  int64_t run = 0;  ///< 0: not named
};

std::optional<int64_t> run_number(std::string_view word) {
  int64_t run = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), run);
  if (error != std::errc() || end != word.data() + word.size() || run < 1) return std::nullopt;
  return run;
}

bool is_there(const std::string& path) {
  std::error_code unreadable;
  return std::filesystem::exists(path, unreadable);
}

/// "a.db:3" is run 3 of a.db, unless there is a file of that name.
Side side_of(const std::string& word) {
  const size_t colon = word.rfind(':');
  if (colon != std::string::npos && colon > 0 && !is_there(word)) {
    if (const auto run = run_number(std::string_view(word).substr(colon + 1))) return {word.substr(0, colon), *run};
  }
  return {word, 0};
}

base::Error wrong_sides() {
  return {"compare takes two runs: profile compare DB RUN RUN, DB DB, or DB:RUN DB:RUN; one RUN, or none: against the run before it",
          base::Exit::wrong_use};
}

/// One or two sides.
base::Result<std::vector<Side>> sides_of(const std::vector<std::string>& words) {
  std::vector<Side> sides;
  bool open = false;  // does the last side still wait for its number?
  for (const std::string& word : words) {
    const auto run = is_there(word) ? std::nullopt : run_number(word);
    if (!run) {
      sides.push_back(side_of(word));
      open = sides.back().run == 0;
    } else if (open) {
      sides.back().run = *run;
      open = false;
    } else {
      sides.push_back({sides.empty() ? std::string(kDefaultDatabase) : sides.back().database, *run});
    }
  }
  if (sides.empty()) sides.push_back({std::string(kDefaultDatabase), 0});
  if (sides.size() > 2) return wrong_sides();
  return sides;
}

base::Error in_database(const std::string& database, base::Error error) {
  return {fmt::format("{}: {}", base::escaped(database), error.message), error.exit};
}

base::Error nothing_before(const std::string& database, int64_t run) {
  return {fmt::format("{}: there is no run before run {} of the same program on the same device; name two runs: profile compare {} RUN RUN",
                      base::escaped(database), run, base::escaped(database)),
          base::Exit::cannot_judge};
}

/// "Before: run 1 of a.db: jit_f on cpu"
base::Result<std::string> line_of(const char* when, const model::Reader& reader, const std::string& database, int64_t run) {
  ASSIGN_OR_RETURN(const model::Rows rows, report::ask(reader, "runs"));
  for (const auto& row : rows.rows) {
    if (row[0].integer != run) continue;
    return fmt::format("{} run {} of {}: {}{}{}{}\n", when, run, base::escaped(database),
                       base::escaped(row[4].text.empty() ? row[5].text : row[4].text), row[6].text.empty() ? "" : " on ",
                       base::escaped(row[6].text), row[1].text == "predicted" ? " (predicted, not measured)" : "");
  }
  return std::string();
}

/// What differs apart from what the lines above say; long values are cut.
std::string differences_line(const model::Rows& differences) {
  constexpr size_t kShown = 60;
  std::string line;
  for (const auto& row : differences.rows) {
    const auto value = [&](size_t column) {
      return row[column].text.empty() ? std::string("none") : report::cut_middle(report::displayable(row[column].text), kShown);
    };
    line += fmt::format("{}{}: {} / {}", line.empty() ? "They differ in " : "; ", report::displayable(row[0].text), value(1), value(2));
  }
  return line.empty() ? "" : line + "\n";
}

std::string noise_line(const model::Cell& alike, const model::Cell& noise) {
  if (noise.kind == model::Cell::Kind::null) return "Between the runs: too few steps to tell noise from change; verdicts are guesses\n";
  return fmt::format(
      "Between the runs: all steps moved by {:+.1f} % alike, and each by up to {:.1f} % more or less; what goes far beyond is called\n",
      alike.real, noise.real);
}

std::string total_line(const model::Rows& total) {
  const auto& c = total.rows.at(0);
  const auto shown = [&](size_t column) { return report::human(c[column], total.columns[column]); };
  std::string line = fmt::format("Total: {} → {} a pass", shown(0), shown(1));
  if (c[2].kind != model::Cell::Kind::null)
    line += fmt::format(", {:+.1f} % ({:+.1f} to {:+.1f} %): {}", c[2].real, c[3].real, c[4].real, c[6].text);
  return line +
         fmt::format("; steps matched: {} ({} slower, {} faster, {} same, {} not judged), new: {}, gone: {}\n", c[7].integer, c[8].integer,
                     c[9].integer, c[10].integer, c[11].integer, c[12].integer, c[13].integer) +
         noise_line(c[14], c[15]);
}

base::Status print_json(const report::Comparison& comparison) {
  const model::Rows runs{{"before_run", "after_run"}, {{report::cell(comparison.before), report::cell(comparison.after)}}};
  const report::Section sections[] = {
      {"runs", &runs}, {"differences", &comparison.differences}, {"total", &comparison.total}, {"steps", &comparison.steps}};
  return print_out(report::render_json(sections, "ok", "", 1));
}

class Compare {
 public:
  Compare(std::vector<Side> sides, const OutputOptions& output) : sides_(std::move(sides)), output_(output) {}

  base::Status run() {
    ASSIGN_OR_RETURN(const report::Format format, report::format_named(output_.format));
    const Side& last = sides_.back();
    ASSIGN_OR_RETURN(const model::Reader after, model::Reader::open(last.database));
    auto run = report::existing_run(after, last.run);
    if (!run.ok()) return in_database(last.database, run.error());
    if (sides_.size() == 2 && sides_[0].database != last.database) {
      ASSIGN_OR_RETURN(const model::Reader before, model::Reader::open(sides_[0].database));
      return print({before, sides_[0].run}, {after, *run}, format);
    }
    Side before = sides_[0];
    if (sides_.size() == 1) {
      ASSIGN_OR_RETURN(before.run, report::run_before(after, *run));
      if (before.run == 0) return nothing_before(last.database, *run);
      sides_.insert(sides_.begin(), before);
    }
    return print({after, before.run}, {after, *run}, format);
  }

 private:
  base::Status print(report::RunOf before, report::RunOf after, report::Format format) {
    ASSIGN_OR_RETURN(const report::Comparison comparison, report::compare(before, after));
    if (format == report::Format::json) return print_json(comparison);
    const bool titled = format == report::Format::table || format == report::Format::md;
    if (!titled) return print_rows(comparison.steps, output_);
    ASSIGN_OR_RETURN(const std::string first, line_of("Before:", before.reader, sides_[0].database, comparison.before));
    ASSIGN_OR_RETURN(const std::string second, line_of("After: ", after.reader, sides_[1].database, comparison.after));
    RETURN_IF_ERROR(print_out(first + second + differences_line(comparison.differences) + "\n"));
    RETURN_IF_ERROR(print_rows(comparison.steps, output_));
    return print_out("\n" + total_line(comparison.total));
  }

  std::vector<Side> sides_;
  const OutputOptions& output_;
};

}  // namespace

Action define_compare(CLI::App& app) {
  struct Options {
    std::vector<std::string> words;
    OutputOptions output;
  };
  auto options = std::make_shared<Options>();
  app.add_option(
      "RUN", options->words,
      "runs to compare, the older first: DB RUN RUN, DB DB (the newest run of each), DB:RUN DB:RUN; DB RUN or DB: against the run "
      "before it");
  options->output.define(app);
  return [options]() -> base::Result<base::Exit> {
    ASSIGN_OR_RETURN(std::vector<Side> sides, sides_of(options->words));
    RETURN_IF_ERROR(Compare(std::move(sides), options->output).run());
    return base::Exit::ok;
  };
}

}  // namespace cli
