// The table of commands and what is common to all: parsing, help, version, suggestions.
#include "src/cli/command.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "src/base/text.h"
#include "src/cli/output.h"

namespace cli {
namespace {

constexpr Command kCommands[] = {
    {"replay", "import programs, re-execute every kernel, time it, print where the time goes (also: profile --replay FILE…)",
     define_replay},
    {"fuse", "suggest pairs of steps whose fusion is predicted to pay, and try the best of them", define_fuse},
    {"devices", "list the devices that run programs, and the machines that times can be predicted for (replay --as)", define_devices},
    {"import", "import programs into a database without running them", define_import},
    {"report", "print a report of a database; without a name, list the reports", define_report},
    {"compare", "compare two runs step by step, of one database or of two", define_compare},
    {"export", "write a run as one HTML page, or as a trace for Perfetto", define_export},
    {"extract", "write one step as a CUDA program that makes its operands, launches and times it", define_extract},
    {"query", "answer an SQL query (read-only)", define_query},
    {"list", "list what a database holds: sources, modules, runs", define_list},
    {"view", "look at databases in a window: timeline, fusion costs, roofline, memory, source (profile-view)", define_view},
    {"print", "print programs as HLO text", define_print},
    {"schema", "print the schema of a database, every table and view with a sentence", define_schema},
    {"upgrade", "bring databases of older versions of profile up to date", define_upgrade},
    {"doctor", "list the libraries of a GPU run: versions, what is missing, and what that costs", define_doctor},
};

constexpr std::string_view kFooter =
    "Exit status: 0 done; 1 failed; 2 wrong use; 4 cannot judge (compare); 5 finished but partial (see --max-loss, Ctrl-C); "
    "6 a required capability is missing.\n"
    "First steps: profile --replay samples/mnist_train_step.hlo.txt; profile report; profile query profile.db 'SELECT * FROM top'";

/// `profile --replay FILE…` is the verb `replay`, wherever the flag stands.
void spell_replay_as_verb(std::vector<std::string>& arguments) {
  const auto flag = std::find(arguments.begin(), arguments.end(), "--replay");
  const bool has_verb = !arguments.empty() &&
                        std::any_of(std::begin(kCommands), std::end(kCommands), [&](const Command& c) { return c.name == arguments[0]; });
  if (flag == arguments.end() || has_verb) return;
  arguments.erase(flag);
  arguments.insert(arguments.begin(), "replay");
}

base::Error unknown_verb(const std::string& word) {
  std::vector<std::string_view> names;
  for (const Command& command : kCommands) names.push_back(command.name);
  const std::string_view near = base::nearest(word, names);
  std::error_code unreadable;
  const std::string hint = !near.empty() ? fmt::format("did you mean '{}'?", near)
                           : std::filesystem::exists(word, unreadable)
                               ? fmt::format("to run that file: profile --replay {}", base::escaped(word))
                               : std::string("see profile --help");
  return {fmt::format("no command '{}'; {}", base::escaped(word), hint), base::Exit::wrong_use};
}

base::Result<base::Exit> parse_failure(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {  // help or version
    RETURN_IF_ERROR(print_out(error.get_name() == "CallForVersion" ? std::string(error.what()) + "\n"
                                                                   : app.help(app.get_parent() == nullptr ? "" : "profile")));
    return base::Exit::ok;
  }
  return base::Error{fmt::format("{}; see profile --help", base::escaped(error.what())), base::Exit::wrong_use};
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

base::Result<base::Exit> run(std::vector<std::string> arguments) {
  spell_replay_as_verb(arguments);
  CLI::App app("Where does the time of a program go? Replays compiler dumps kernel by kernel and answers in SQL.", "profile");
  app.set_version_flag("--version", std::string("profile ") + PROFILE_VERSION);
  app.footer(std::string(kFooter));
  app.require_subcommand(0, 1);
  std::vector<std::pair<CLI::App*, Action>> actions;
  for (const Command& command : kCommands) {
    CLI::App* verb = app.add_subcommand(std::string(command.name), std::string(command.about));
    actions.emplace_back(verb, command.define(*verb));
  }
  if (!arguments.empty() && arguments[0] == "help") {
    const bool names_command = arguments.size() > 1 && arguments[1] != "help" && arguments[1] != "--help";
    arguments = {names_command ? arguments[1] : "--help", "--help"};
  }
  if (!arguments.empty() && !arguments[0].starts_with("-") &&
      std::none_of(std::begin(kCommands), std::end(kCommands), [&](const Command& c) { return c.name == arguments[0]; })) {
    return unknown_verb(arguments[0]);
  }
  std::reverse(arguments.begin(), arguments.end());  // the order that CLI11 takes a vector in
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    const auto used = std::find_if(actions.begin(), actions.end(), [](const auto& pair) { return pair.first->parsed(); });
    return parse_failure(used == actions.end() ? app : *used->first, error);
  }
  for (const auto& [verb, action] : actions) {
    if (verb->parsed()) return action();
  }
  RETURN_IF_ERROR(print_out(app.help()));
  return base::Exit::wrong_use;
}

}  // namespace cli
