// Prints the answer from the store: the same reports that `profile report` prints, cut to what fits a screen.
#include "src/cli/answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/text.h"
#include "src/cli/fusion_line.h"
#include "src/cli/output.h"
#include "src/report/units.h"

namespace cli {
namespace {

struct Part {
  std::string_view report, title;
  size_t rows;
  std::string_view predicted = {};  ///< the title over a prediction; empty: the same
};
constexpr Part kParts[] = {
    {"coverage", "Coverage by class", 20},
    {"top", "Where the time goes", 20, "Where the time would go (predicted)"},
    {"fusions", "What fusions buy: bytes saved against running their parts alone", 10},
    {"memory", "Peak memory", 10},
};

/// The limits of a kind: {"triad", 18.4e9}, …
base::Result<std::vector<std::pair<std::string, double>>> limits(const model::Reader& reader, int64_t run, std::string_view kind) {
  const model::Cell parameters[] = {{model::Cell::Kind::integer, run, 0, ""}, {model::Cell::Kind::text, 0, 0, std::string(kind)}};
  ASSIGN_OR_RETURN(const model::Rows found,
                   reader.query("SELECT name, per_s FROM run_limit WHERE run = ?1 AND limits = ?2 ORDER BY name", parameters));
  std::vector<std::pair<std::string, double>> list;
  for (const auto& row : found.rows) list.emplace_back(row[0].text, row[1].real);
  return list;
}

/// ": f32 160 GFLOP/s, f16 280 GFLOP/s": f32 first; of what a description has for other types the report `ceilings` tells.
std::string products_text(std::vector<std::pair<std::string, double>> products) {
  std::erase_if(products, [](const auto& p) {
    return !p.first.starts_with("f32×") && !p.first.starts_with("f16×") && !p.first.starts_with("bf16×");
  });
  std::ranges::stable_partition(products, [](const auto& p) { return p.first.starts_with("f32×"); });
  std::string text;
  for (const auto& [name, per_s] : products) {
    const bool large = per_s >= 1e13;
    text += fmt::format("{} {} {:.0f} {}FLOP/s", text.empty() ? ":" : ",", base::escaped(name.substr(0, name.find("×"))),
                        per_s / (large ? 1e12 : 1e9), large ? "T" : "G");
  }
  return text;
}

/// "Machine: Xeon, 2 threads; triad 18.4 GB/s (streaming stores 27.5 GB/s); products: f32 160 GFLOP/s, f16 280 GFLOP/s"
base::Result<std::string> machine_line(const model::Reader& reader, int64_t run) {
  const model::Cell id{model::Cell::Kind::integer, run, 0, ""};
  ASSIGN_OR_RETURN(const model::Rows found,
                   reader.query("SELECT d.model, r.kind FROM run r JOIN device d ON d.id = r.device WHERE r.id = ?1", {{id}}));
  if (found.rows.empty()) return std::string();
  ASSIGN_OR_RETURN(const auto memory, limits(reader, run, "memory"));
  ASSIGN_OR_RETURN(const auto compute, limits(reader, run, "compute"));
  std::string line = base::escaped(found.rows[0][0].text);
  for (const auto& [name, per_s] : memory) {
    if (name == "triad") line += fmt::format("; triad {}/s", base::human_bytes(per_s));
    if (name == "triad, streaming stores") line += fmt::format(" (streaming stores {}/s)", base::human_bytes(per_s));
    if (name == "memory") line += fmt::format("; memory {}/s as published", base::human_bytes(per_s));
  }
  if (!compute.empty()) line += "; products" + products_text(compute);
  return fmt::format("{}{}\n", found.rows[0][1].text == "predicted" ? "Predicted, not measured, for the machine: " : "Machine: ", line);
}

std::string total_line(const RunResult& result, bool predicts) {
  if (result.distinct > 0)
    return fmt::format("Total: {} a pass (sum of all steps; measured alone: {} distinct)\n", base::human_seconds(result.pass_seconds),
                       result.distinct);
  if (result.passes == 0) return "Total: no pass was completed\n";
  if (predicts) return fmt::format("Total: {} a pass, predicted: nothing was run or measured\n", base::human_seconds(result.pass_seconds));
  return fmt::format("Total: {} a pass ({}{}{})\n", base::human_seconds(result.pass_seconds),
                     result.passes == 1 ? "1 pass" : fmt::format("median of {} passes", result.passes), result.ended.empty() ? "" : ": ",
                     result.ended);
}

/// "Verified: 24 of 24 steps agree with the reference; worst error 6.5 % of what is tolerated, in fusion.7"; nothing without --verify.
base::Result<std::string> verified_line(const model::Reader& reader, int64_t run) {
  const model::Cell id{model::Cell::Kind::integer, run, 0, ""};
  ASSIGN_OR_RETURN(const model::Rows found,
                   reader.query("SELECT sum(worst_error <= 1), count(*), max(worst_error), name FROM step WHERE run = ?1", {{id}}));
  const auto& cells = found.rows.at(0);
  if (cells[2].kind == model::Cell::Kind::null) return std::string();
  return fmt::format("Verified: {} of {} steps agree with the reference; worst error {:.3g} % of what is tolerated, in {}\n",
                     cells[0].integer, cells[1].integer, 100 * cells[2].real, base::escaped(cells[3].text));
}

/// "Counters: 6 counters of GH100 in 1 pass …", or why there are none; nothing without --counters.
base::Result<std::string> counters_line(const model::Reader& reader, int64_t run, const std::string& database) {
  const model::Cell id{model::Cell::Kind::integer, run, 0, ""};
  ASSIGN_OR_RETURN(const model::Rows found,
                   reader.query("SELECT o.value, (SELECT count(*) FROM counter_value v WHERE v.run = o.run) FROM run_option o "
                                "WHERE o.run = ?1 AND o.name = 'counters_how'",
                                {{id}}));
  if (found.rows.empty()) return std::string();
  const auto& cells = found.rows[0];
  const std::string where = cells[1].integer > 0 ? fmt::format(": profile report counters {}", base::escaped(database)) : "";
  return fmt::format("Counters: {}{}\n", base::escaped(cells[0].text), where);
}

/// "Look first at custom-call.53 and 1 more like it, far from its roof: 1.51 s of a pass (6.5 %), at most 790 ms to win; computes at …":
/// what the report `findings` begins with.
base::Result<std::string> first_findings(const model::Reader& reader, int64_t run) {
  constexpr size_t kShown = 2;
  ASSIGN_OR_RETURN(const model::Rows found, report::run(reader, *report::find("findings"), run));
  std::string lines;
  for (const auto& row : std::span(found.rows).first(std::min(kShown, found.rows.size()))) {
    const auto shown = [&](size_t column) { return report::human(row[column], found.columns[column]); };
    if (row[2].kind == model::Cell::Kind::null) continue;
    lines += fmt::format("{} {} ({}): {} a pass ({}){}; {}\n", lines.empty() ? "Look first at" : "          and at", shown(1), shown(0),
                         shown(2), shown(3), row[4].kind == model::Cell::Kind::null ? "" : ", at most " + shown(4) + " to win", shown(5));
  }
  return lines;
}

std::string status_line(const RunResult& result, const std::string& database) {
  const std::string where = fmt::format("run {} in {}", result.run, base::escaped(database));
  if (result.status == model::RunStatus::interrupted)
    return result.distinct > 0 ? fmt::format("Interrupted: {} distinct steps were kept as {}\n", result.distinct, where)
                               : fmt::format("Interrupted: {} complete passes were kept as {}\n", result.passes, where);
  if (result.status == model::RunStatus::failed) return fmt::format("Verification failed: kept as {}\n", where);
  return fmt::format("Kept as {}\n", where);
}

base::Status print_json(const model::Reader& reader, const std::string& account, const RunResult& result, bool predicts) {
  std::vector<model::Rows> rows;
  std::vector<report::Section> sections;
  rows.reserve(std::size(kParts) + 1);
  model::Rows run;
  run.columns = {"run", "import", "passes", "pass_seconds", "ended", "failure", "basis"};
  using Kind = model::Cell::Kind;
  run.rows = {{{Kind::integer, result.run, 0, ""},
               {Kind::text, 0, 0, account},
               {Kind::integer, result.passes, 0, ""},
               {Kind::real, 0, result.pass_seconds, ""},
               {Kind::text, 0, 0, result.ended},
               {Kind::text, 0, 0, result.failure},
               {Kind::text, 0, 0, predicts ? "predicted" : "measured"}}};
  rows.push_back(std::move(run));
  sections.push_back({"run", &rows.back()});
  for (const Part& part : kParts) {
    ASSIGN_OR_RETURN(model::Rows found, report::run(reader, *report::find(part.report), result.run));
    rows.push_back(std::move(found));
    sections.push_back({part.report, &rows.back()});
  }
  const bool partial = result.status != model::RunStatus::complete || result.skipped_share > 0;
  const std::string reason = result.status == model::RunStatus::interrupted ? "interrupted"
                             : !result.failure.empty()                      ? result.failure
                             : partial                                      ? "some steps were skipped"
                                                                            : "";
  return print_out(report::render_json(sections, partial ? "partial" : "ok", reason, 1 - result.skipped_share));
}

}  // namespace

base::Status print_answer(const std::string& database, const std::string& account, const RunResult& result, const ReplayOptions& options) {
  ASSIGN_OR_RETURN(const report::Format format, report::format_named(options.output.format));
  ASSIGN_OR_RETURN(const model::Reader reader, model::Reader::open(database));
  if (format == report::Format::json) return print_json(reader, account, result, options.predicts());
  const bool titled = format == report::Format::table || format == report::Format::md;
  if (titled) {
    ASSIGN_OR_RETURN(const std::string machine, machine_line(reader, result.run));
    RETURN_IF_ERROR(print_out(account + "\n" + machine));
  }
  for (const Part& part : kParts) {
    if (titled && result.passes == 0 && result.distinct == 0 && part.report == "top") continue;
    ASSIGN_OR_RETURN(model::Rows rows, report::run(reader, *report::find(part.report), result.run));
    const size_t all = rows.rows.size();
    if (titled) rows = report::without_unknown(std::move(rows), *report::find(part.report));
    if (titled && all > part.rows) rows.rows.resize(part.rows);
    const std::string more =
        rows.rows.size() < all ? fmt::format(" ({} of {}; all: profile report {} {})", part.rows, all, part.report, base::escaped(database))
                               : "";
    if (titled)
      RETURN_IF_ERROR(print_out(fmt::format("\n{}{}{}\n{}", format == report::Format::md ? "## " : "",
                                            options.predicts() && !part.predicted.empty() ? part.predicted : part.title, more,
                                            format == report::Format::md ? "\n" : "")));
    RETURN_IF_ERROR(print_out(report::render(rows, format, style_of_stdout())));
    if (!titled) RETURN_IF_ERROR(print_out("\n"));
  }
  if (!titled) return {};
  ASSIGN_OR_RETURN(const std::string verified, verified_line(reader, result.run));
  ASSIGN_OR_RETURN(const std::string fusions, fusion_line(reader, result.run));
  ASSIGN_OR_RETURN(const std::string counters, counters_line(reader, result.run, database));
  ASSIGN_OR_RETURN(const std::string findings, first_findings(reader, result.run));
  return print_out("\n" + findings + (findings.empty() ? "" : "\n") + total_line(result, options.predicts()) + fusions + counters +
                   verified + status_line(result, database));
}

}  // namespace cli
