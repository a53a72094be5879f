// profile fuse FILE|DB: which neighbouring steps would gain by being one kernel, on paper, and with --try measured: the fused program runs,
// each new fusion in turns with the two steps that it is made of.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "replay/fuse.h"
#include "src/base/text.h"
#include "src/cli/command.h"
#include "src/cli/fusion_line.h"
#include "src/cli/import_file.h"
#include "src/cli/output.h"
#include "src/cli/programs.h"
#include "src/cli/replay_run.h"
#include "src/cli/values.h"
#include "src/report/query.h"

namespace cli {
namespace {

using Cells = std::vector<model::Cell>;

std::string_view name_of(const ir::Module& module, ir::CompId comp, ir::InstrId id) { return module.name_of(module.instr(comp, id)); }

model::Rows suggestion_rows(const ir::Module& module, const std::vector<replay::Suggestion>& found) {
  model::Rows rows;
  rows.columns = {"producer", "consumer", "calls", "saved_bytes", "extra_flops", "predicted_saved_ns"};
  for (const replay::Suggestion& s : found) {
    rows.rows.push_back({report::cell(name_of(module, s.pair.comp, s.pair.producer)),
                         report::cell(name_of(module, s.pair.comp, s.pair.consumer)), report::cell(s.calls), report::cell(s.saved_bytes),
                         report::cell(s.extra_flops), report::cell(s.saved_ns * s.calls)});
  }
  return rows;
}

/// Predicted against measured, of the pairs that a run tried.
constexpr std::string_view kTried =
    "SELECT name AS fusion, calls, fused_ns, unfused_ns AS apart_ns, predicted_saved_ns, measured_saved_ns, measured_saved_low_ns, "
    "measured_saved_high_ns, measured_saved_percent AS saved_share_percent, pairs, verdict, nullif(why, '') AS why FROM fusion_cost WHERE "
    "run = ?1 AND tried = 1 "
    "ORDER BY predicted_saved_ns DESC, name";

class Fuse {
 public:
  Fuse(ReplayOptions options, int tries) : options_(std::move(options)), tries_(tries), line_(options_.verbosity()) {}

  base::Result<base::Exit> run() {
    RETURN_IF_ERROR(options_.check());
    if (options_.predicts()) return base::Error{"--as: fuse measures what it suggests; leave it out", base::Exit::wrong_use};
    catch_interrupts(options_.verbosity());
    if (const std::string choice = options_.choice(); !choice.empty()) line_.say(choice);
    for (const std::string& path : options_.files) {
      RETURN_IF_ERROR(file(path));
      if (stop_requested()) return base::Exit::partial;
    }
    return base::Exit::ok;
  }

 private:
  base::Status file(const std::string& path) {
    const bool from_database = is_database(path);
    ASSIGN_OR_RETURN(Programs programs, from_database ? load_database(path) : load_file(path, options_));
    RETURN_IF_ERROR(select_module(options_.module, programs));
    const std::string database = from_database ? path : options_.database;
    const bool given = !options_.fuse.empty();
    bool stored = programs.stored;
    for (size_t i = 0; i < programs.subjects.size() && !stop_requested(); ++i) {
      ReplayOptions own = options_;
      if (!given) {
        ASSIGN_OR_RETURN(own.fuse, suggest(programs.subjects[i]));
      }
      if (own.fuse.empty()) continue;
      {
        const bool fresh = options_.fresh && !from_database && std::exchange(fresh_, false);
        ASSIGN_OR_RETURN(model::Store store, model::Store::open(database, fresh ? model::OpenMode::fresh : model::OpenMode::append));
        if (!std::exchange(stored, true)) RETURN_IF_ERROR(keep(store, programs));
        ASSIGN_OR_RETURN(result_, replay_module(programs.subjects[i], own, store, line_));
      }
      RETURN_IF_ERROR(print_tried(database));
    }
    return {};
  }

  /// Prints what is predicted; returns the pairs to try.
  base::Result<std::vector<std::string>> suggest(const Subject& subject) {
    ASSIGN_OR_RETURN(const ir::Module module, selected(*subject.module, options_));
    ASSIGN_OR_RETURN(const auto device, device_for(options_));
    model::DeviceRecord record = device->describe();
    RETURN_IF_ERROR(device->measure_ceilings(record));
    const replay::Roof roof{std::max(record.triad_bytes_per_s, record.triad_streaming_bytes_per_s), record.product_flops_per_s};
    predicted_.clear();
    const replay::Suggestions found = replay::suggestions(module, roof, options_.rounding_mode(), device->target());
    RETURN_IF_ERROR(print_rows(suggestion_rows(module, found.paying), options_.output));
    if (found.paying.empty()) print_err("fuse: no pair of neighbouring steps is predicted to gain by being one kernel\n");
    if (found.within_noise > 0)
      print_err(fmt::format("fuse: {} more would save less than noise hides: below 1 % of what they take, or 10 ns\n", found.within_noise));
    for (const replay::Suggestion& s : found.paying) predicted_[s.name] = s.saved_ns * s.calls;
    return best(module, found.paying);
  }

  /// Those that can all be fused in one program.
  std::vector<std::string> best(const ir::Module& module, const std::vector<replay::Suggestion>& found) const {
    std::vector<replay::Neighbours> pairs;
    std::vector<std::string> names;
    for (const replay::Suggestion& s : found) {
      if (names.size() >= static_cast<size_t>(tries_)) break;
      pairs.push_back(s.pair);
      if (!replay::with_fused(module, pairs).ok()) {
        pairs.pop_back();
        continue;
      }
      names.push_back(fmt::format("{},{}", name_of(module, s.pair.comp, s.pair.producer), name_of(module, s.pair.comp, s.pair.consumer)));
    }
    return names;
  }

  base::Status print_tried(const std::string& database) {
    ASSIGN_OR_RETURN(const model::Reader reader, model::Reader::open(database));
    const model::Cell run{model::Cell::Kind::integer, result_.run, 0, ""};
    ASSIGN_OR_RETURN(model::Rows rows, reader.query(kTried, {{run}}));
    const std::optional<double> predicted = put_predicted(rows);
    const bool table = options_.output.format == "table" || options_.output.format == "md";
    if (table) RETURN_IF_ERROR(print_out("\nTried: fused in turns with both apart\n"));
    RETURN_IF_ERROR(print_rows(rows, options_.output));
    if (!table) return {};
    ASSIGN_OR_RETURN(const std::string line, fusion_line(reader, result_.run, predicted));
    return print_out(fmt::format("{}Kept as run {} in {}\n", line, result_.run, base::escaped(database)));
  }

  /// What the suggestions say in place of what traffic alone does; their sum, where there are any.
  std::optional<double> put_predicted(model::Rows& rows) const {
    if (predicted_.empty()) return std::nullopt;
    const auto column = static_cast<size_t>(std::ranges::find(rows.columns, "predicted_saved_ns") - rows.columns.begin());
    double sum = 0;
    for (auto& row : rows.rows) {
      const auto known = predicted_.find(row.at(0).text);
      if (known == predicted_.end()) continue;
      row.at(column) = report::cell(known->second);
      sum += known->second;
    }
    std::ranges::stable_sort(rows.rows, std::greater<>(), [&](const auto& row) { return row.at(column).real; });
    return sum;
  }

  ReplayOptions options_;
  int tries_;
  ProgressLine line_;
  RunResult result_;
  bool fresh_ = true;
  std::map<std::string, double, std::less<>> predicted_;  ///< saved in a pass, by the name of the fusion, of this module
};

}  // namespace

Action define_fuse(CLI::App& app) {
  auto options = std::make_shared<ReplayOptions>();
  auto tries = std::make_shared<int>(0);
  options->define(app);
  app.add_option("--try", *tries, "build the best N, run each in turns with its two steps, and compare with what was predicted")
      ->check(whole_number(0, 10000))
      ->capture_default_str();
  return [options, tries] {
    options->choose_device();
    return Fuse(*options, *tries).run();
  };
}

}  // namespace cli
