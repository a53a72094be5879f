// Samples come from the store pass by pass in the order of their begins, so that lanes and scopes are known as they pass by and nothing is
// kept. Scopes are begun and ended (B, E) because how long one lasts is not known when it begins.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/base/json_text.h"
#include "src/report/export.h"
#include "src/report/json.h"
#include "src/report/query.h"
#include "src/report/report.h"
#include "src/timeline/timeline.h"

namespace report {
namespace {

constexpr size_t kPiece = 256 << 10;  ///< bytes that are handed on together
constexpr int kPassThread = 1, kFirstLaneThread = 10;

struct ChromeStep {
  std::string name, arguments;      ///< as JSON; arguments without the closing brace
  std::vector<std::string> scopes;  ///< as JSON, outermost first
  int64_t live_bytes = -1;
};

/// "model/layer_0" → {"\"model\"", "\"layer_0\""}
std::vector<std::string> parts_of(std::string_view scope) {
  std::vector<std::string> parts;
  while (!scope.empty()) {
    const size_t slash = std::min(scope.find('/'), scope.size());
    parts.push_back(base::json_text(scope.substr(0, slash)));
    scope.remove_prefix(std::min(slash + 1, scope.size()));
  }
  return parts;
}

constexpr std::string_view kArguments[] = {"step",      "opcode",    "kind",       "class", "op_name", "phase",        "calls",
                                           "median_ns", "ci_low_ns", "ci_high_ns", "flops", "bytes",   "roof_percent", "flags"};

ChromeStep step_of(const std::vector<std::string>& columns, const std::vector<model::Cell>& row) {
  const auto at = [&](std::string_view column) -> const model::Cell& {
    return row[static_cast<size_t>(std::ranges::find(columns, column) - columns.begin())];
  };
  ChromeStep step{base::json_text(at("name").text), "{", parts_of(at("scope").text), -1};
  for (const std::string_view argument : kArguments) {
    const model::Cell& cell = at(argument);
    if (cell.kind == model::Cell::Kind::null || (cell.kind == model::Cell::Kind::text && cell.text.empty())) continue;
    fmt::format_to(std::back_inserter(step.arguments), "\"{}\":{},", argument, json_cell(cell));
  }
  return step;
}

using ChromeSteps = std::unordered_map<int64_t, ChromeStep>;  ///< by number

base::Result<ChromeSteps> read_steps(const model::Reader& reader, const model::Cell& run) {
  ChromeSteps steps;
  ASSIGN_OR_RETURN(model::Cursor cursor, start(reader, "steps", std::span(&run, 1)));
  while (true) {
    ASSIGN_OR_RETURN(const auto row, cursor.next());
    if (!row) break;
    steps.emplace(row->at(0).integer, step_of(cursor.columns(), *row));
  }
  ASSIGN_OR_RETURN(const model::Rows live, ask(reader, "live_bytes", std::span(&run, 1)));
  for (const auto& row : live.rows) {
    if (const auto step = steps.find(row[0].integer); step != steps.end()) step->second.live_bytes = row[1].integer;
  }
  return steps;
}

std::string microseconds(int64_t ns) { return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", std::abs(ns / 1000), std::abs(ns % 1000)); }

/// Writes one run's events.
class Trace {
 public:
  Trace(const model::Reader& reader, int64_t run, const Sink& sink, std::string& ready)
      : reader_(reader), run_(run), sink_(sink), ready_(ready) {}

  base::Status write() {
    const model::Cell id = cell(run_);
    ASSIGN_OR_RETURN(steps_, read_steps(reader_, id));
    ASSIGN_OR_RETURN(const model::Rows facts, ask(reader_, "run_facts", std::span(&id, 1)));
    const auto predicted = [](const std::vector<model::Cell>& row) { return row[0].text == "kind" && row[1].text == "predicted"; };
    name_process(std::ranges::any_of(facts.rows, predicted) ? ", predicted" : "");
    name_thread(kPassThread, "passes");
    ASSIGN_OR_RETURN(const model::Rows passes, ask(reader_, "timeline_passes", std::span(&id, 1)));
    for (const auto& pass : passes.rows) RETURN_IF_ERROR(write_pass(pass[0].integer, pass[1].integer, pass[2].integer));
    return {};
  }

 private:
  struct Lane {
    std::vector<std::string> scopes;  ///< that are open
    int64_t end_ns = 0;               ///< of the last step
  };

  base::Status write_pass(int64_t pass, int64_t begin_ns, int64_t end_ns) {
    complete(kPassThread, begin_ns, end_ns - begin_ns, fmt::format("\"pass {}\"", pass), "pass", fmt::format("{{\"pass\":{}}}", pass));
    const model::Cell parameters[] = {cell(run_), cell(pass)};
    ASSIGN_OR_RETURN(model::Cursor cursor, start(reader_, "pass_samples", parameters));
    while (true) {
      ASSIGN_OR_RETURN(const auto row, cursor.next());
      if (!row) break;
      write_sample(pass, *row);
      if (ready_.size() >= kPiece) RETURN_IF_ERROR(hand_on());
    }
    for (size_t lane = 0; lane < open_.size(); ++lane) change_scopes(lane, {}, 0);
    return hand_on();
  }

  void write_sample(int64_t pass, const std::vector<model::Cell>& row) {
    static const ChromeStep kUnknown{"\"(not described)\"", "{", {}, -1};
    const auto found = steps_.find(row[0].integer);
    const ChromeStep& step = found == steps_.end() ? kUnknown : found->second;
    const int64_t begin_ns = row[1].integer, duration_ns = std::max<int64_t>(0, row[2].integer), variant = row[4].integer;
    const size_t lane = lane_of(variant, begin_ns, begin_ns + duration_ns);
    change_scopes(lane, step.scopes, begin_ns);
    open_[lane].end_ns = begin_ns + duration_ns;
    if (variant == 0 && step.live_bytes >= 0 && step.live_bytes != live_bytes_) count_live(begin_ns, step.live_bytes);
    complete(thread_of(lane) + 1, begin_ns, duration_ns, step.name, variant == 0 ? "step" : "parts of a fusion",
             fmt::format("{}\"pass\":{},\"executions\":{}}}", step.arguments, pass, row[3].integer));
  }

  /// Other variants of steps have lanes of their own, as in src/timeline.
  size_t lane_of(int64_t variant, int64_t begin_ns, int64_t end_ns) {
    const bool parts = variant != 0;
    const size_t place = (parts ? part_lanes_ : lanes_).place(begin_ns, end_ns);
    const auto [lane, fresh] = numbers_.try_emplace({parts, place}, numbers_.size());
    if (fresh)
      name_lane(lane->second, fmt::format("{}{}", parts ? " of fusions' parts" : "", place == 0 ? "" : fmt::format(", lane {}", place)));
    return lane->second;
  }

  /// Ends the open scopes that `scopes` has not, begins those that are not open.
  void change_scopes(size_t lane, const std::vector<std::string>& scopes, int64_t begin_ns) {
    auto& open = open_[lane].scopes;
    const auto common = static_cast<size_t>(std::ranges::mismatch(open, scopes).in1 - open.begin());
    for (; open.size() > common; open.pop_back()) event("E", thread_of(lane), open_[lane].end_ns, "");
    for (size_t i = common; i < scopes.size(); ++i) {
      event("B", thread_of(lane), begin_ns, fmt::format(",\"name\":{},\"cat\":\"scope\"", scopes[i]));
      open.push_back(scopes[i]);
    }
  }

  void count_live(int64_t begin_ns, int64_t bytes) {
    live_bytes_ = bytes;
    event("C", kPassThread, begin_ns, fmt::format(",\"name\":\"live memory\",\"args\":{{\"bytes\":{}}}", bytes));
  }

  void complete(int thread, int64_t begin_ns, int64_t duration_ns, std::string_view name, std::string_view category,
                std::string_view arguments) {
    event("X", thread, begin_ns,
          fmt::format(",\"dur\":{},\"name\":{},\"cat\":\"{}\",\"args\":{}", microseconds(duration_ns), name, category, arguments));
  }

  void event(std::string_view phase, int thread, int64_t at_ns, std::string_view rest) {
    fmt::format_to(std::back_inserter(ready_), ",\n{{\"ph\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{}{}}}", phase, run_, thread,
                   microseconds(at_ns), rest);
  }

  void meta(std::string_view what, int thread, std::string_view arguments) {
    fmt::format_to(std::back_inserter(ready_), ",\n{{\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":\"{}\",\"args\":{{{}}}}}", run_, thread,
                   what, arguments);
  }
  void name_process(std::string_view basis) {
    meta("process_name", 0, fmt::format("\"name\":\"run {}{}\"", run_, basis));
    meta("process_sort_index", 0, fmt::format("\"sort_index\":{}", run_));
  }
  void name_thread(int thread, std::string_view name) {
    meta("thread_name", thread, fmt::format("\"name\":\"{}\"", name));
    meta("thread_sort_index", thread, fmt::format("\"sort_index\":{}", thread));
  }
  void name_lane(size_t lane, std::string_view which) {
    open_.resize(lane + 1);
    name_thread(thread_of(lane), fmt::format("scopes{}", which));
    name_thread(thread_of(lane) + 1, fmt::format("steps{}", which));
  }
  static int thread_of(size_t lane) { return kFirstLaneThread + 2 * static_cast<int>(lane); }

  base::Status hand_on() {
    RETURN_IF_ERROR(sink_(ready_));
    ready_.clear();
    return {};
  }

  const model::Reader& reader_;
  int64_t run_;
  const Sink& sink_;
  std::string& ready_;
  ChromeSteps steps_;
  timeline::LaneAllocator lanes_, part_lanes_;
  std::map<std::pair<bool, size_t>, size_t> numbers_;  ///< of lanes, by kind and place
  std::vector<Lane> open_;
  int64_t live_bytes_ = -1;
};

/// What ran where, as the trace's "otherData".
base::Result<std::string> facts_json(const model::Reader& reader, std::span<const int64_t> runs) {
  std::string out;
  for (const int64_t run : runs) {
    const model::Cell id = cell(run);
    ASSIGN_OR_RETURN(const model::Rows facts, ask(reader, "run_facts", std::span(&id, 1)));
    for (const auto& row : facts.rows) {
      if (row[1].text.empty()) continue;
      out += fmt::format("{}{}:{}", out.empty() ? "" : ",", base::json_text(fmt::format("run {} {}", run, row[0].text)),
                         base::json_text(row[1].text));
    }
  }
  return out;
}

}  // namespace

base::Status export_chrome(const model::Reader& reader, std::span<const int64_t> runs, const Sink& sink) {
  ASSIGN_OR_RETURN(const std::string facts, facts_json(reader, runs));
  // The first event needs no comma before it: this one always is.
  std::string ready = fmt::format("{{\"displayTimeUnit\":\"ns\",\"otherData\":{{{}}},\"traceEvents\":[\n", facts) +
                      "{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"process_labels\",\"args\":{\"labels\":\"profile\"}}";
  for (const int64_t run : runs) RETURN_IF_ERROR(Trace(reader, run, sink, ready).write());
  return sink(ready + "\n]}\n");
}

}  // namespace report
