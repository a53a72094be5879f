// The page is a frame with three texts put in: style, script, and the run as JSON. Nothing of a database is ever written as markup: the
// script makes text nodes of it. The policy names script and style by their hashes, so that nothing else could run even if it got in.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "embedded/report_page.h"
#include "src/base/hash.h"
#include "src/report/display.h"
#include "src/report/export.h"
#include "src/report/page_timeline.h"
#include "src/report/query.h"
#include "src/report/report.h"

namespace report {
namespace {

using model::Cell;
using nlohmann::json;

constexpr size_t kLongestText = 300;    ///< columns of a name in the page; longer ones are cut in the middle
constexpr size_t kCurvePoints = 4'000;  ///< of the memory curve
constexpr size_t kPlainRows = 20;       ///< of the table for browsers that run no script
constexpr std::string_view kScripts[] = {"format", "table", "timeline", "plots", "page"};
/// The tables of the page beside the steps: reports of these names.
constexpr std::string_view kTables[] = {"findings", "coverage", "fusions", "layers", "ops",  "optypes",
                                        "phases",   "memory",   "kernels", "source", "gaps", "notes"};

std::string_view part(std::string_view name) {
  const auto* found = std::ranges::find(page::embedded::kFiles, name, &page::embedded::File::name);
  return found == std::end(page::embedded::kFiles) ? std::string_view() : found->text;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k) out += i + k <= bytes.size() ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

/// As a policy names an inline text: 'sha256-…'.
std::string policy_hash(std::string_view text) {
  const std::string hex = base::sha256_hex(text);
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return "'sha256-" + base64(bytes) + "'";
}

std::string markup_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

/// Plain ASCII in which no tag can begin or end.
std::string script_json(const json& value) {
  std::string out;
  for (const char c : value.dump(-1, ' ', true, json::error_handler_t::replace)) {
    if (c == '<')
      out += "\\u003c";
    else if (c == '>')
      out += "\\u003e";
    else if (c == '&')
      out += "\\u0026";
    else
      out += c;
  }
  return out;
}

/// Six digits are more than any timing has.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10, 5 - std::floor(std::log10(std::fabs(value))));
  return std::isfinite(scale) && scale != 0 ? std::round(value * scale) / scale : value;
}

json json_of(const Cell& cell) {
  switch (cell.kind) {
    case Cell::Kind::null:
      return nullptr;
    case Cell::Kind::integer:
      return cell.integer;
    case Cell::Kind::real:
      return cell.real == std::trunc(cell.real) && std::fabs(cell.real) < 1e15 ? json(static_cast<int64_t>(cell.real))
                                                                               : json(rounded(cell.real));
    case Cell::Kind::text:
      return cut_middle(displayable(cell.text), kLongestText);
    case Cell::Kind::blob:
      return fmt::format("({} bytes)", cell.text.size());
  }
  return nullptr;
}

json json_of(const std::vector<Cell>& row) {
  json list = json::array();
  for (const Cell& cell : row) list.push_back(json_of(cell));
  return list;
}

/// {"columns": […], "rows": [[…], …], "more": rows that were left out}
json json_of(const model::Rows& rows, size_t limit) {
  json list = json::array();
  for (size_t i = 0; i < std::min(limit, rows.rows.size()); ++i) list.push_back(json_of(rows.rows[i]));
  return {{"columns", rows.columns}, {"rows", std::move(list)}, {"more", rows.rows.size() - std::min(limit, rows.rows.size())}};
}

json tables(const model::Reader& reader, int64_t run, const PageLimits& limits) {
  json all = json::object();
  for (const std::string_view name : kTables) {
    const Report* report = find(name);
    const base::Result<model::Rows> rows = report::run(reader, *report, run);
    json table = json_of(rows.ok() ? *rows : model::Rows{}, limits.rows);
    table["about"] = report->about;
    table["empty"] = rows.ok() ? std::string(report->empty) : rows.error().message;  // of a file of an older version: what is missing
    all[std::string(name)] = std::move(table);
  }
  return all;
}

/// The longest steps in plan order, the time of all steps, and how many there are.
base::Result<json> steps_json(const model::Reader& reader, const Cell& run, size_t limit) {
  ASSIGN_OR_RETURN(model::Cursor cursor, start(reader, "steps", std::span(&run, 1)));
  const auto time_column = static_cast<size_t>(std::ranges::find(cursor.columns(), "pass_ns") - cursor.columns().begin());
  std::vector<std::pair<double, std::vector<Cell>>> kept;  // a heap: the shortest first
  const auto longer = [](const auto& a, const auto& b) { return a.first > b.first; };
  double pass_ns = 0;
  size_t steps = 0;
  for (;; ++steps) {
    ASSIGN_OR_RETURN(auto row, cursor.next());
    if (!row) break;
    const double time_ns = row->at(time_column).real;
    pass_ns += time_ns;
    kept.emplace_back(time_ns, *std::move(row));
    std::ranges::push_heap(kept, longer);
    if (kept.size() <= limit) continue;
    std::ranges::pop_heap(kept, longer);
    kept.pop_back();
  }
  std::ranges::sort(kept, {}, [](const auto& step) { return step.second[0].integer; });
  json rows = json::array();
  for (const auto& [time_ns, row] : kept) rows.push_back(json_of(row));
  return json{{"columns", cursor.columns()}, {"rows", std::move(rows)}, {"more", steps - kept.size()}, {"pass_ns", rounded(pass_ns)}};
}

/// [[step, bytes], …]: of each stretch of steps the one with the most.
base::Result<json> memory_curve(const model::Reader& reader, const Cell& run) {
  ASSIGN_OR_RETURN(const model::Rows live, ask(reader, "live_bytes", std::span(&run, 1)));
  const size_t stretch = std::max<size_t>(1, (live.rows.size() + kCurvePoints - 1) / kCurvePoints);
  json points = json::array();
  for (size_t i = 0; i < live.rows.size(); i += stretch) {
    const auto part = std::span(live.rows).subspan(i, std::min(stretch, live.rows.size() - i));
    const auto most = std::ranges::max_element(part, {}, [](const auto& row) { return row[1].integer; });
    points.push_back({(*most)[0].integer, (*most)[1].integer});
  }
  return points;
}

base::Result<json> header(const model::Reader& reader, const Cell& run) {
  json facts = json::object();
  for (const std::string_view query : {"run_facts", "page_environment"}) {
    ASSIGN_OR_RETURN(const model::Rows rows, ask(reader, query, std::span(&run, 1)));
    for (const auto& row : rows.rows) facts[displayable(row[0].text)] = json_of(row[1]);
  }
  ASSIGN_OR_RETURN(const model::Rows runs, report::run(reader, *find("runs"), run.integer));
  for (const auto& row : runs.rows) {
    if (row[0].integer != run.integer) continue;
    for (size_t c = 0; c < runs.columns.size(); ++c) facts[runs.columns[c]] = json_of(row[c]);
  }
  return facts;
}

base::Result<json> page_data(const model::Reader& reader, int64_t run, const PageLimits& limits) {
  const Cell id = cell(run);
  ASSIGN_OR_RETURN(json facts, header(reader, id));
  ASSIGN_OR_RETURN(json steps, steps_json(reader, id, limits.steps));
  json all_tables = tables(reader, run, limits);
  ASSIGN_OR_RETURN(json curve, memory_curve(reader, id));
  ASSIGN_OR_RETURN(const model::Rows ceilings, ask(reader, "page_ceilings", std::span(&id, 1)));
  ASSIGN_OR_RETURN(const PageTimeline timeline, page_timeline(reader, run, limits.records));
  json lanes = json::array();
  for (const PageLane& lane : timeline.lanes)
    lanes.push_back({{"level", lane.level}, {"begin", lane.begin}, {"length", lane.length}, {"step", lane.step}, {"busy", lane.busy}});
  ASSIGN_OR_RETURN(const model::Rows passes, ask(reader, "timeline_passes", std::span(&id, 1)));
  return json{{"run", run},
              {"facts", std::move(facts)},
              {"steps", std::move(steps)},
              {"tables", std::move(all_tables)},
              {"memory", std::move(curve)},
              {"ceilings", json_of(ceilings, limits.rows)},
              {"timeline", {{"lanes", std::move(lanes)}, {"more", timeline.more_lanes}}},
              {"passes", json_of(passes, limits.rows)}};
}

/// What a browser without scripts shows.
std::string plain_tables(const model::Reader& reader, int64_t run) {
  std::string out;
  for (const std::string_view name : {"findings", "top"}) {
    const Report* report = find(name);
    const base::Result<model::Rows> rows = report::run(reader, *report, run);
    if (rows.ok()) out += fmt::format("{}\n\n{}\n", report->about, render(*rows, Format::table, {false, 0, kPlainRows}));
  }
  return markup_text(out);
}

/// The frame cut at its marks @NAME@; a piece and what stands after it.
struct Piece {
  std::string_view mark;
  std::string text;
};

base::Status fill(std::string_view frame, const std::vector<Piece>& pieces, const Sink& sink) {
  for (const Piece& piece : pieces) {
    const size_t at = frame.find(piece.mark);
    if (at == std::string_view::npos) continue;
    RETURN_IF_ERROR(sink(frame.substr(0, at)));
    RETURN_IF_ERROR(sink(piece.text));
    frame.remove_prefix(at + piece.mark.size());
  }
  return sink(frame);
}

}  // namespace

base::Status export_html(const model::Reader& reader, int64_t run, const PageLimits& limits, const Sink& sink) {
  ASSIGN_OR_RETURN(run, existing_run(reader, run));
  ASSIGN_OR_RETURN(const json data, page_data(reader, run, limits));
  std::string plain = plain_tables(reader, run);
  std::string script = "'use strict';\n(() => {\n";
  for (const std::string_view name : kScripts) script += part(name);
  script += "})();\n";
  const std::string style(part("style"));
  const json& module = data["facts"]["module"];
  const std::string title = fmt::format("{} – run {}", module.is_string() ? module.get<std::string>() : "", run);
  return fill(part("frame"),
              {{"@SCRIPT_HASH@", policy_hash(script)},
               {"@STYLE_HASH@", policy_hash(style)},
               {"@TITLE@", markup_text(title)},
               {"@STYLE@", style},
               {"@PLAIN@", std::move(plain)},
               {"@DATA@", script_json(data)},
               {"@SCRIPT@", script}},
              sink);
}

}  // namespace report
