// profile replay FILE…, also spelled profile --replay FILE…
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "src/base/file.h"
#include "src/base/text.h"
#include "src/cli/answer.h"
#include "src/cli/command.h"
#include "src/cli/import_file.h"
#include "src/cli/output.h"
#include "src/cli/programs.h"
#include "src/cli/replay_run.h"

namespace cli {
namespace {

base::Exit worst(base::Exit a, base::Exit b) {
  const auto rank = [](base::Exit e) { return e == base::Exit::failed ? 2 : e == base::Exit::ok ? 0 : 1; };
  return rank(b) > rank(a) ? b : a;
}

class Replay {
 public:
  explicit Replay(const ReplayOptions& options) : options_(options), line_(options.verbosity()) {}

  base::Result<base::Exit> run() {
    RETURN_IF_ERROR(options_.check());
    RETURN_IF_ERROR(check_files());
    catch_interrupts(options_.verbosity());
    if (const std::string choice = options_.choice(); !choice.empty()) line_.say(choice);
    for (const std::string& argument : options_.files) {
      RETURN_IF_ERROR(replay_file(argument));
      if (stop_requested()) break;
    }
    return exit_;
  }

 private:
  /// A mistyped second name is told before the first program has run for minutes.
  base::Status check_files() const {
    int from_stdin = 0;
    for (const std::string& argument : options_.files) {
      const auto [path, recipe] = split_recipe(argument);
      RETURN_IF_ERROR(base::check_readable(path));
      if (!recipe.empty()) RETURN_IF_ERROR(options_.input_options(recipe));
      if (is_database(path)) RETURN_IF_ERROR(check_place(path));
      if (path == "-" && ++from_stdin > 1) return base::Error{"-: stdin can be read only once", base::Exit::wrong_use};
    }
    return {};
  }

  /// Runs of a database are kept in it.
  base::Status check_place(const std::string& path) const {
    const std::string shown = base::escaped(path);
    const auto wrong = [](std::string what) { return base::Error{std::move(what), base::Exit::wrong_use}; };
    if (options_.fresh) return wrong(fmt::format("-f: would replace the programs of {} that are to be replayed; leave it out", shown));
    std::error_code unknown;
    if (!options_.database_given() || std::filesystem::equivalent(path, options_.database, unknown)) return {};
    return wrong(fmt::format("-o {}: runs of a database are kept in it; leave -o out, or copy {} there first",
                             base::escaped(options_.database), shown));
  }

  base::Status replay_file(const std::string& argument) {
    const auto [path, recipe] = split_recipe(argument);
    const bool from_database = is_database(path);
    ASSIGN_OR_RETURN(Programs programs, from_database ? load_database(path) : load_file(path, options_));
    if (options_.list_steps) return list(programs, recipe);
    const std::string database = from_database ? path : options_.database;
    {
      const bool fresh = options_.fresh && !from_database && !opened_;
      ASSIGN_OR_RETURN(model::Store store, model::Store::open(database, fresh ? model::OpenMode::fresh : model::OpenMode::append));
      opened_ = true;
      RETURN_IF_ERROR(keep(store, programs));
      RETURN_IF_ERROR(select_module(options_.module, programs));
      for (Subject& subject : programs.subjects) {
        subject.recipe_file = recipe;
        ASSIGN_OR_RETURN(const RunResult result, replay_module(subject, options_, store, line_));
        results_.push_back(result);
        if (stop_requested()) break;
      }
    }
    return answer(database, programs.account);
  }

  base::Status list(Programs& programs, const std::string& recipe) {
    RETURN_IF_ERROR(select_module(options_.module, programs));
    for (Subject& subject : programs.subjects) {
      subject.recipe_file = recipe;
      RETURN_IF_ERROR(list_steps(subject, options_));
    }
    return {};
  }

  base::Status answer(const std::string& database, const std::string& account) {
    for (const RunResult& result : std::exchange(results_, {})) {
      const base::Status printed = print_answer(database, account, result, options_);
      if (!printed.ok())
        return base::Error{fmt::format("{}; run {} is kept in {}", printed.error().message, result.run, base::escaped(database))};
      if (!result.failure.empty()) {
        print_err(fmt::format("profile: verification failed: {}\n", base::escaped(result.failure)));  // also when quiet
        exit_ = worst(exit_, base::Exit::failed);
      }
      const bool lost = 100 * result.skipped_share > options_.max_loss_percent;
      if (lost || result.status == model::RunStatus::interrupted) exit_ = worst(exit_, base::Exit::partial);
    }
    return {};
  }

  const ReplayOptions& options_;
  ProgressLine line_;
  std::vector<RunResult> results_;
  base::Exit exit_ = base::Exit::ok;
  bool opened_ = false;
};

}  // namespace

Action define_replay(CLI::App& app) {
  auto options = std::make_shared<ReplayOptions>();
  options->define(app);
  return [options] {
    options->choose_device();
    return Replay(*options).run();
  };
}

}  // namespace cli
