// How much of the oracle's corpus agrees with XLA, on each device:
//   build/tests/corpus                                  every record, both devices
//   build/tests/corpus --device cpu --filter scatter    the records whose file name holds "scatter"
//   build/tests/corpus --programs                       those of ../shared/programs instead, before and after XLA's optimisation
// Every record runs in a process of its own, so a crash or a hang is one row. Rows go to --rows as JSON lines; stdout has a table by
// directory and the reasons of what failed, by count. Exit status 0 if every failure is explained in differences.tsv and no line of it is
// stale, 1 if not, 77 if there are no records on this machine.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/corpus/apart.h"
#include "tests/corpus/check.h"
#include "tests/corpus/differences.h"
#include "tests/corpus/programs.h"
#include "tests/corpus/table.h"

namespace {

using corpus::Row;
using oracle::Json;

struct Options {
  std::string device = "both", filter, list, rows, records, folder;
  std::string differences = SOURCE_DIR "/tests/corpus/differences.tsv";
  bool programs = false;
  std::vector<std::string> earlier;
  size_t every = 1, reasons = 60;
  int jobs = 2;
  double memory_gb = 4;
  corpus::Limits limits;
};

constexpr int kNoRecords = 77;  ///< what ctest takes as skipped

struct Task {
  size_t record;
  std::string device;
};

std::string shared_folder() {
  const char* given = std::getenv("PROFILE_SHARED");
  return given != nullptr ? given : SOURCE_DIR "/../shared";
}

/// Names of files, one a line; or "--rows" of an earlier run, whose failed files are taken.
std::set<std::string> names_in(const std::string& path) {
  std::set<std::string> names;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with('{')) {
      names.insert(line);
      continue;
    }
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_object() && json.value("stage", "") != "equal") names.insert(json.value("file", ""));
  }
  return names;
}

std::vector<Json> chosen_records(const Options& options) {
  const std::set<std::string> names = options.list.empty() ? std::set<std::string>() : names_in(options.list);
  std::vector<Json> chosen;
  size_t number = 0;
  for (Json& record : options.programs ? corpus::program_records(options.folder) : oracle::read_lines(options.records)) {
    if (!record.is_object() || !record.contains("file") || !record.contains("outputs")) continue;
    const std::string file = record.at("file").get<std::string>();
    if (file.find(options.filter) == std::string::npos || (!options.list.empty() && !names.contains(file))) continue;
    if (number++ % options.every == 0) chosen.push_back(std::move(record));
  }
  return chosen;
}

/// Records name files below the corpus, or below the folder that holds it.
std::string path_of(const Options& options, const std::string& file) {
  const std::string path = options.folder + "/" + file;
  return std::filesystem::exists(path) ? path : options.folder + "/../" + file;
}

void say(int to, const Json& json) {
  const std::string line = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  for (size_t done = 0; done < line.size();) {
    const ssize_t n = write(to, line.data() + done, line.size() - done);
    if (n <= 0) return;
    done += static_cast<size_t>(n);
  }
}

/// In the child: the stages as they begin, then the row.
void work(const Options& options, const Json& record, const std::string& device, int to) {
  Row row;
  row.file = record.at("file").get<std::string>(), row.device = device;
  const auto entered = [&](corpus::Stage stage) {
    row.stage = stage, row.kind = corpus::Kind::crash;
    say(to, corpus::to_json(row));
  };
  try {
    row = corpus::check(record, path_of(options, row.file), device, entered);
  } catch (const std::exception& error) {
    row.kind = corpus::Kind::crash, row.reason = std::string("exception: ") + error.what();
  }
  say(to, corpus::to_json(row));
}

/// The last whole line that a child said, corrected by how it ended.
Row row_of(const corpus::Ended& ended, const std::string& file, const std::string& device) {
  Row row;
  row.file = file, row.device = device, row.kind = corpus::Kind::crash;
  const size_t end = ended.output.rfind('\n');
  const size_t begin = end == std::string::npos || end == 0 ? std::string::npos : ended.output.rfind('\n', end - 1);
  if (end != std::string::npos) {
    const size_t first = begin == std::string::npos ? 0 : begin + 1;
    const Json json = Json::parse(ended.output.substr(first, end - first), nullptr, false);
    if (json.is_object()) row = corpus::from_json(json);
  }
  if (ended.timed_out) row.kind = corpus::Kind::hang, row.reason = "more time than --seconds";
  if (ended.signal != 0 && !ended.timed_out) row.kind = corpus::Kind::crash, row.reason = fmt::format("signal {}", ended.signal);
  if (row.kind == corpus::Kind::crash && row.reason.empty()) row.reason = "ended without an answer";
  row.seconds = ended.seconds;
  return row;
}

std::vector<Row> run(const Options& options, const std::vector<Json>& records, corpus::Differences& differences) {
  std::vector<Task> tasks;
  for (size_t i = 0; i < records.size(); ++i) {
    for (const char* device : {"reference", "cpu"}) {
      if (options.device == "both" || options.device == device) tasks.push_back({i, device});
    }
  }
  std::ofstream lines(options.rows);
  std::vector<Row> rows;
  corpus::run_apart(
      tasks.size(), options.jobs, options.limits, [&](size_t i, int to) { work(options, records[tasks[i].record], tasks[i].device, to); },
      [&](size_t i, const corpus::Ended& ended) {
        rows.push_back(row_of(ended, records[tasks[i].record].at("file").get<std::string>(), tasks[i].device));
        differences.explain(rows.back());
        if (lines) lines << corpus::to_json(rows.back()).dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
        if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r{} of {}", rows.size(), tasks.size());
      });
  return rows;
}

/// Adds rows of earlier runs, the later file first, for what has none yet.
void add_earlier(const Options& options, std::vector<Row>& rows, corpus::Differences& differences) {
  std::set<std::pair<std::string, std::string>> known;
  for (const Row& row : rows) known.emplace(row.device, row.file);
  for (auto path = options.earlier.rbegin(); path != options.earlier.rend(); ++path) {
    std::vector<Row> more;
    std::ifstream in(*path);
    for (std::string line; std::getline(in, line);) {
      const Json json = Json::parse(line, nullptr, false);
      if (json.is_object()) more.push_back(corpus::from_json(json));
    }
    for (Row& row : more) {
      if (!known.emplace(row.device, row.file).second) continue;
      differences.explain(row);
      rows.push_back(std::move(row));
    }
  }
}

int report(const Options& options, const std::vector<Row>& rows, const corpus::Differences& differences) {
  size_t failed = 0;
  double seconds = 0;
  for (const Row& row : rows) {
    failed += row.stage != corpus::Stage::equal && row.explained.empty() ? 1 : 0;
    seconds += row.seconds;
  }
  for (const char* device : {"reference", "cpu"}) {
    if (options.device != "both" && options.device != device) continue;
    fmt::print("{}\n", corpus::table(rows, device));
    if (const std::string why = corpus::reasons(rows, device, options.reasons); !why.empty()) fmt::print("{}\n", why);
  }
  const auto stale = differences.stale();
  for (const std::string& line : stale) fmt::print("stale: {}\n", line);
  fmt::print("{} rows, {} failed without explanation, {} stale; {:.0f} s of processes\n", rows.size(), failed, stale.size(), seconds);
  return failed == 0 && stale.empty() ? 0 : 1;
}

int add_options(CLI::App& app, Options& options, int argc, char** argv) {
  options.records = shared_folder() + "/oracle/corpus.jsonl";
  options.folder = shared_folder() + "/corpus";
  app.add_option("--device", options.device, "reference, cpu or both")->check(CLI::IsMember({"reference", "cpu", "both"}));
  app.add_option("--filter", options.filter, "only files whose name holds this");
  app.add_option("--list", options.list, "only the files named in this file; or the failed ones of an earlier run's --rows");
  app.add_option("--every", options.every, "every N-th record of those")->check(CLI::PositiveNumber);
  app.add_option("--jobs", options.jobs, "processes at once")->check(CLI::PositiveNumber);
  app.add_option("--seconds", options.limits.seconds, "processor time of one record on one device");
  app.add_option("--memory", options.memory_gb, "address space of a process in GB; 0: no limit");
  app.add_option("--with", options.earlier, "rows of earlier runs, for files that this one does not run; later ones count");
  app.add_option("--rows", options.rows, "write the rows here as JSON lines");
  app.add_option("--records", options.records, "records to check");
  app.add_option("--folder", options.folder, "where their files are");
  app.add_option("--differences", options.differences, "differences that are explained");
  app.add_option("--reasons", options.reasons, "how many reasons to print");
  app.add_flag("--programs", options.programs, "take the programs' records, their folder and their list of differences");
  CLI11_PARSE(app, argc, argv);
  options.limits.memory_bytes = static_cast<int64_t>(options.memory_gb * 1e9);
  if (options.programs) {
    options.folder = options.records = shared_folder() + "/programs";
    options.differences = SOURCE_DIR "/tests/corpus/programs.tsv";
  }
  return -1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Replays the modules of the oracle's corpus and compares the outputs with XLA's");
  Options options;
  if (const int status = add_options(app, options, argc, argv); status >= 0) return status;
  if (!std::filesystem::exists(options.records)) {
    fmt::print("no records at {}: skipped\n", options.records);
    return kNoRecords;
  }
  auto differences = corpus::Differences::read(options.differences);
  if (!differences.ok()) return fmt::print(stderr, "corpus: {}\n", differences.error().message), 2;
  const std::vector<Json> records = chosen_records(options);
  if (records.empty()) return fmt::print(stderr, "corpus: no record fits --filter and --list\n"), 2;
  std::vector<Row> rows = run(options, records, *differences);
  add_earlier(options, rows, *differences);
  return report(options, rows, *differences);
}
