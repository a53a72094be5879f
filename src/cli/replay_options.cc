// Options of `profile replay`: spelling, defaults, and what the store keeps of them.
#include "src/cli/replay_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "src/base/file.h"

namespace cli {

void ReplayOptions::define(CLI::App& app) {
  app.add_option("FILE", files, "program dumps (- is stdin; FILE=RECIPE gives one a recipe of its own), or a database of imported programs")
      ->required();
  app.add_option("-o,--output", database, "database; it is appended to")->capture_default_str();
  app.add_flag("-f,--fresh", fresh, "replace an existing database");
  app.add_option("--device", device, "cpu, null (virtual clock), reference, auto")
      ->check(CLI::IsMember({"cpu", "null", "reference", "auto"}))
      ->capture_default_str();
  app.add_option("--threads", threads, "threads; 0: affinity mask and cgroup quota")->check(CLI::Range(0, 1024))->capture_default_str();
  app.add_option("--rounding", rounding,
                 "border: small floats are rounded where a fusion ends; each: after every instruction (default: border on cpu)")
      ->check(CLI::IsMember({"border", "each"}));
  app.add_option("--repeats", repeats, "exactly this many passes; 0: until the median is stable or the budget is spent")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_option("--warmup", warm_up, "passes before the measured ones")->check(CLI::Range(0, 1000))->capture_default_str();
  app.add_option("--budget", budget_s, "seconds for the measured passes")->check(CLI::Range(0.0, 1e6))->capture_default_str();
  app.add_option("--chain", chain, "this many passes, each fed with the outputs of the one before that alias parameters")
      ->check(CLI::Range(0, 1000000));
  app.add_flag("--verify", verify, "compare every step's results with the reference; exit 1 names the step that differs");
  app.add_option("--computation", computation, "replay this computation alone, its parameters as inputs");
  app.add_option("--instruction", instruction, "replay this instruction alone, its operands as inputs");
  app.add_option("--module", module, "of several modules, this one");
  app.add_option("--steps", steps, "time only the steps whose name matches this regular expression");
  app.add_flag("--list-steps", list_steps, "print the steps of the plan and stop");
  seed_option = app.add_option("--seed", seed, "of the input generator")->capture_default_str();
  app.add_option("--inputs", recipe, "recipe file (JSON): how each parameter is filled");
  app.add_option("--input", inputs, "NAME=FILE.npy: a captured array for one parameter");
  app.add_option("--dump-outputs", dump_folder, "write outputs.json and one .npy for each output into this folder");
  app.add_option("--max-loss", max_loss_percent, "exit 5 if more than this share of the steps is skipped, in percent")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  app.add_flag("-q,--quiet", quiet, "no progress");
  app.add_flag("-v,--verbose", verbose, "every note of the import");
  output.define(app);
}

replay::Rounding ReplayOptions::rounding_mode() const {
  if (!rounding.empty()) return rounding == "each" ? replay::Rounding::each : replay::Rounding::border;
  return device_name() == "cpu" || device_name() == "null" ? replay::Rounding::border : replay::Rounding::each;
}

base::Result<replay::InputOptions> ReplayOptions::input_options(const std::string& recipe_file) const {
  replay::InputOptions options;
  const std::string& file = recipe_file.empty() ? recipe : recipe_file;
  if (!file.empty()) {
    ASSIGN_OR_RETURN(const std::string json, base::read_file(file));
    ASSIGN_OR_RETURN(options.recipes, replay::parse_recipes(json, file));
  }
  if (seed_option != nullptr && seed_option->count() > 0) {
    options.recipes.seed = seed;
    options.seed_given = true;
  }
  for (const std::string& pair : inputs) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos) return base::Error{fmt::format("--input {}: expected NAME=FILE.npy", pair), base::Exit::wrong_use};
    options.npy_files[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return options;
}

std::vector<model::Setting> ReplayOptions::settings() const {
  const auto text = [](bool value) { return std::string(value ? "yes" : "no"); };
  return {{"tool", std::string("profile ") + PROFILE_VERSION},
          {"device", device_name()},
          {"rounding", rounding_mode() == replay::Rounding::each ? "each" : "border"},
          {"threads", std::to_string(threads)},
          {"repeats", std::to_string(repeats)},
          {"warmup", std::to_string(warm_up)},
          {"budget_s", fmt::format("{:g}", budget_s)},
          {"chain", std::to_string(chain)},
          {"verify", text(verify)},
          {"computation", computation},
          {"instruction", instruction},
          {"steps", steps},
          {"recipe", recipe},
          {"criterion",
           chain > 0 || repeats > 0 ? "fixed number of passes" : "median within 0.5 % and at least 10 passes, or the budget; at least 3"},
          {"cache", "as the program leaves it; steps under 20 us run repeatedly: warm"},
          {"timer", "clock_gettime(CLOCK_MONOTONIC)"}};
}

}  // namespace cli
