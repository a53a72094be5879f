// Options of `profile replay`: spelling, defaults, and what the store keeps of them.
#include "src/cli/replay_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <set>

#include "replay/device/cuda/counters.h"
#include "replay/device/cuda/cuda.h"
#include "replay/machine.h"
#include "replay/predict.h"
#include "src/base/file.h"
#include "src/base/text.h"
#include "src/cli/import_file.h"
#include "src/cli/values.h"

namespace cli {

namespace {

std::vector<std::string_view> counter_names(bool usual_only) {
  std::vector<std::string_view> names;
  for (const replay::cuda::Counter& counter : replay::cuda::all_counters())
    if (counter.usual || !usual_only) names.push_back(counter.name);
  return names;
}

}  // namespace

/// Where it runs, and by which arithmetic.
void ReplayOptions::define_device(CLI::App& app) {
  app.add_option("--device", device,
                 "cpu, cuda (not yet run on a GPU but in tests on the host: see doctor), null (virtual clock), reference; auto: cuda where "
                 "there is a GPU with driver and NVRTC, else cpu")
      ->check(CLI::IsMember({"cpu", "cuda", "null", "reference", "auto"}))
      ->capture_default_str();
  app.add_option(
         "--mode", mode,
         "of the device cuda: stream (step by step, timed by CUPTI), graph (as CUDA graphs), events (step by step, timed by events)")
      ->check(CLI::IsMember({"stream", "graph", "events"}));
  app.add_option("--autotune", autotune,
                 "of the device cuda: time the first N choices of cuBLASLt and cuDNN for each distinct product and convolution before the "
                 "passes, and run the fastest (table kernel_trial); 0: what the library ranks first")
      ->check(whole_number(0, 100))
      ->capture_default_str();
  app.add_flag("--counters{default}", counters,
               fmt::format("of the device cuda: what the hardware counts of each step, in passes of their own before the timed ones; "
                           "--counters=NAME,…: of {} (alone: {})",
                           fmt::join(counter_names(false), ", "), fmt::join(counter_names(true), ", ")));
  app.add_flag("--cold", cold, "empty the caches before each execution, outside its time: the last level of cpu, the L2 of cuda");
  app.add_option("--require", required, "gpu, counters: exit 6 at once where they are missing")
      ->delimiter(',')
      ->check(CLI::IsMember({"gpu", "counters"}));
  app.add_option("--threads", threads, "threads; 0: affinity mask and cgroup quota")->check(whole_number(0, 1024))->capture_default_str();
  app.add_option("--rounding", rounding,
                 "border: small floats are rounded where a fusion ends; each: after every instruction (default: border on cpu)")
      ->check(CLI::IsMember({"border", "each"}));
}

void ReplayOptions::define(CLI::App& app) {
  app.add_option("FILE", files, "program dumps (- is stdin; FILE=RECIPE gives one a recipe of its own), or a database of imported programs")
      ->required();
  output_option = app.add_option("-o,--output", database, "database; it is appended to")->capture_default_str();
  app.add_flag("-f,--fresh", fresh, "replace an existing database");
  define_device(app);
  app.add_option("--repeats", repeats, "exactly this many passes; 0: until the median is stable or the budget is spent")
      ->check(whole_number(0, 1000000))
      ->capture_default_str();
  app.add_option("--warmup", warm_up, "passes before the measured ones")->check(whole_number(0, 1000))->capture_default_str();
  app.add_option("--budget", budget_s, "seconds for the measured passes")->check(number(0, 1e6))->capture_default_str();
  app.add_option("--chain", chain, "this many passes, each fed with the outputs of the one before that alias parameters")
      ->check(whole_number(0, 1000000));
  app.add_flag("--verify", verify, "compare every step's results with the reference; exit 1 names the step that differs");
  app.add_option("--computation", computation, "replay this computation alone, its parameters as inputs")->check(not_empty("a name"));
  app.add_option("--instruction", instruction, "replay this instruction alone, its operands as inputs")->check(not_empty("a name"));
  app.add_flag("--isolated", isolated,
               "measure every distinct step alone, on generated operands: for programs that need more memory than there is");
  app.add_option("--module", module, "of several modules, this one")->check(not_empty("a name"));
  app.add_option("--steps", steps, "time only the steps whose name matches this regular expression")
      ->check(not_empty("a regular expression"));
  app.add_flag("--unfused", unfused,
               "measure each fusion also as its parts, in turns: one launch per operation, as a framework without fusion would; broadcasts "
               "and iotas are read where they are used, reshapes that keep the order of elements are free");
  app.add_option("--defuse", defuse, "the same for fusions whose name matches this regular expression; may be given several times")
      ->check(not_empty("a regular expression"))
      ->allow_extra_args(false);
  app.add_option(
         "--fuse", fuse,
         "A,B: put step B and step A, whose result it reads, together as one fusion, and measure it and both apart in turns; may be "
         "given several times")
      ->check(not_empty("two names"))
      ->allow_extra_args(false);
  app.add_flag("--against-itself", against_itself)->group("");  // A/A: what --unfused says of a fusion beside the same fusion
  app.add_flag("--list-steps", list_steps, "print the steps of the plan and stop");
  seed_option = app.add_option("--seed", seed, "of the input generator")->check(unsigned_number())->capture_default_str();
  app.add_option("--inputs", recipe, "recipe file (JSON): how each parameter is filled")->check(not_empty("a file"));
  app.add_option("--input", inputs, "NAME=FILE.npy: a captured array for one parameter; may be given several times")
      ->allow_extra_args(false);
  app.add_option("--dump-outputs", dump_folder, "write outputs.json and one .npy for each output into this folder")
      ->check(not_empty("a folder"));
  app.add_option("--max-loss", max_loss_percent, "exit 5 if more than this share of the steps is skipped, in percent")
      ->check(number(0, 100))
      ->capture_default_str();
  define_program_options(app, program);
  define_machines(app);
  app.add_option("--link-gbps", link_gbps, "Gbit/s of the link that the times of collectives are modelled for")
      ->check(number(0, 1e6))
      ->capture_default_str();
  app.add_flag("-q,--quiet", quiet, "no progress");
  app.add_flag("-v,--verbose", verbose, "every note of the import");
  output.define(app);
}

/// One spelling for what a file is read as and for the machine that a run is predicted as: their words differ.
void ReplayOptions::define_machines(CLI::App& app) {
  const auto sort = [this](const std::string& word) {
    const auto formats = format_names();
    (std::ranges::find(formats, word) != formats.end() ? program.as : as) = word;
  };
  app.add_option_function<std::vector<std::string>>(
         "--as", [sort](const std::vector<std::string>& words) { std::ranges::for_each(words, sort); },
         fmt::format("{}; or predict the times on this machine with --device null: {}, or a description file.json (profile devices)",
                     format_help(), fmt::join(replay::names(replay::known_machines()), ", ")))
      ->check(not_empty("a format or a machine"))
      ->allow_extra_args(false);
  app.add_option("--published", published,
                 "keep the published limits of this machine, or of a description file.json, beside the measured ones; known devices have "
                 "theirs without it")
      ->check(not_empty("a name"));
}

/// Words of --as that are no format must be machines.
base::Status ReplayOptions::check_machines() const {
  const std::string_view format = base::nearest(as, format_names());
  if (predicts() && !format.empty() && !replay::machine_named(as).ok())
    return base::Error{fmt::format("--as {}: no such format; did you mean '{}'?", base::escaped(as), format), base::Exit::wrong_use};
  if (predicts()) RETURN_IF_ERROR(replay::machine_named(as));
  if (!published.empty()) RETURN_IF_ERROR(replay::machine_named(published));
  const auto wrong = [](std::string what) { return base::Error{std::move(what), base::Exit::wrong_use}; };
  if (!predicts()) return {};
  if (device_name() != "null")
    return wrong(fmt::format("--as {}: a prediction runs nothing; use --device null, or leave one out", base::escaped(as)));
  if (chain > 0 || isolated || unfused || !defuse.empty() || !fuse.empty() || !published.empty())
    return wrong(
        "--as: a prediction has one pass and no measurement; leave out --chain, --isolated, --unfused, --defuse, --fuse, --published");
  return {};
}

bool ReplayOptions::database_given() const { return output_option != nullptr && output_option->count() > 0; }

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
    const std::string shown = base::escaped(pair);
    if (equals == std::string::npos || equals == 0 || equals + 1 == pair.size())
      return base::Error{fmt::format("--input {}: expected NAME=FILE.npy", shown), base::Exit::wrong_use};
    const std::string name = pair.substr(pair.starts_with('%') ? 1 : 0, equals - (pair.starts_with('%') ? 1 : 0));
    if (!options.npy_files.emplace(name, pair.substr(equals + 1)).second)
      return base::Error{fmt::format("--input {}: this parameter has a file already; give one for each", shown), base::Exit::wrong_use};
  }
  return options;
}

base::Status ReplayOptions::check() const {
  const auto wrong = [](std::string what) { return base::Error{std::move(what), base::Exit::wrong_use}; };
  if (chain > 0 && repeats > 0) return wrong("--chain and --repeats both say how many passes; give one");
  if (!computation.empty() && !instruction.empty()) return wrong("--computation and --instruction both say what to replay; give one");
  if (isolated && (chain > 0 || !dump_folder.empty() || !recipe.empty() || !inputs.empty()))
    return wrong("--isolated: no values flow between steps; leave out --chain, --dump-outputs, --inputs and --input");
  RETURN_IF_ERROR(check_machines());
  if (autotune > 0 && device_name() != "cuda") return wrong("--autotune: only the device cuda has libraries that offer a choice");
  if (device_name() == "null" && verify) return wrong("--verify: the device null computes no values; choose another --device");
  if (device_name() == "null" && !dump_folder.empty())
    return wrong("--dump-outputs: the device null computes no values; choose another --device");
  if (files.size() > 1 && !recipe.empty()) return wrong("--inputs: of several programs each has a recipe of its own; write FILE=RECIPE");
  RETURN_IF_ERROR(check_device());
  for (const std::string& pair : fuse) RETURN_IF_ERROR(pair_of(pair));
  RETURN_IF_ERROR(pattern_of("--steps", steps));
  for (const std::string& name : defuse) RETURN_IF_ERROR(pattern_of("--defuse", name));
  ASSIGN_OR_RETURN(const replay::InputOptions arrays, input_options(""));
  for (const auto& [name, file] : arrays.npy_files) RETURN_IF_ERROR(base::check_readable(file));
  return {};
}

/// What a GPU alone can do, and what its absence forbids; caches.
base::Status ReplayOptions::check_device() const {
  const auto wrong = [](std::string what) { return base::Error{std::move(what), base::Exit::wrong_use}; };
  const std::string name = device_name();
  for (const std::string& capability : required) {
    const std::string why = capability == "gpu" ? replay::cuda::why_no_gpu() : replay::cuda::why_no_counters();
    if (!why.empty())
      return base::Error{fmt::format("--require {}: {}; see profile doctor", capability, why), base::Exit::missing_capability};
  }
  if (!counters.empty() && name != "cuda")
    return wrong(fmt::format("--counters: it is a GPU that counts; use --device cuda{}", choice().empty() ? "" : " (" + choice() + ")"));
  if (!counters.empty() && isolated) return wrong("--counters: steps are counted within the program; leave out --isolated");
  if (const auto named = replay::cuda::counters_named(counters.empty() ? "default" : counters); !named.ok())
    return wrong("--counters: " + named.error().message);
  if (!cold) return {};
  if (name != "cpu" && name != "cuda") return wrong(fmt::format("--cold: the device {} has no caches; use --device cpu or cuda", name));
  if (mode == "graph") return wrong("--cold: a graph runs its steps without a gap in which to empty a cache; use --mode stream or events");
  if (unfused || !defuse.empty() || !fuse.empty())
    return wrong("--cold: fusions and their parts run in turns on warm caches; leave out --unfused, --defuse and --fuse");
  return {};
}

void ReplayOptions::choose_device() {
  if (device != "auto" || !as.empty()) return;
  why_chosen = replay::cuda::why_not_usable();
  chosen = why_chosen.empty() ? "cuda" : "cpu";
  if (why_chosen.empty()) why_chosen = "there is a GPU, with driver and NVRTC";
}

std::string ReplayOptions::choice() const { return why_chosen.empty() ? "" : fmt::format("device {}: {}", chosen, why_chosen); }

base::Result<std::regex> pattern_of(const char* option, const std::string& text) {
  try {
    return std::regex(text);
  } catch (const std::regex_error& error) {
    return base::Error{fmt::format("{} {}: {}", option, base::escaped(text), error.what()), base::Exit::wrong_use};
  }
}

base::Result<bool> matches(const std::regex& expression, const char* option, std::string_view name) {
  constexpr size_t kMatched = 1000;  // bytes of the name: std::regex recurses once per byte
  name = name.substr(0, kMatched);
  try {
    return std::regex_search(name.begin(), name.end(), expression);
  } catch (const std::regex_error& error) {
    return base::Error{fmt::format("{}: {}", option, error.what()), base::Exit::wrong_use};
  }
}

base::Result<std::pair<std::string, std::string>> pair_of(const std::string& names) {
  const size_t comma = names.find(',');
  const auto plain = [](const std::string& name) { return name.starts_with('%') ? name.substr(1) : name; };
  if (comma == std::string::npos || comma == 0 || comma + 1 == names.size() || names.find(',', comma + 1) != std::string::npos)
    return base::Error{fmt::format("--fuse {}: expected A,B", base::escaped(names)), base::Exit::wrong_use};
  return std::pair(plain(names.substr(0, comma)), plain(names.substr(comma + 1)));
}

replay::ChooseParts ReplayOptions::parts() const {
  if (!unfused && defuse.empty() && fuse.empty()) return {};
  std::vector<std::regex> patterns;
  for (const std::string& text : defuse) {
    if (auto pattern = pattern_of("--defuse", text); pattern.ok()) patterns.push_back(*std::move(pattern));  // check() has told of others
  }
  std::set<std::string, std::less<>> tried;
  for (const std::string& pair : fuse) {
    if (const auto names = pair_of(pair); names.ok()) tried.insert(names->first + "+" + names->second);
  }
  return [all = unfused, patterns, tried, apart = against_itself ? replay::Parts::itself : replay::Parts::ops](std::string_view fusion) {
    if (tried.contains(fusion)) return replay::Parts::calls;
    const auto chosen = [&](const std::regex& pattern) {
      const auto matched = matches(pattern, "--defuse", fusion);
      return matched.ok() && *matched;
    };
    return all || std::ranges::any_of(patterns, chosen) ? apart : replay::Parts::none;
  };
}

std::vector<model::Setting> ReplayOptions::settings() const {
  const auto text = [](bool value) { return std::string(value ? "yes" : "no"); };
  const bool fixed = chain > 0 || repeats > 0;
  return {{"tool", std::string("profile ") + PROFILE_VERSION},
          {"device", device_name()},
          {"rounding", rounding_mode() == replay::Rounding::each ? "each" : "border"},
          {"threads", std::to_string(threads)},
          {"repeats", std::to_string(repeats)},
          {"warmup", std::to_string(warm_up)},
          {"autotune", std::to_string(autotune)},
          {"budget_s", fmt::format("{:g}", budget_s)},
          {"chain", std::to_string(chain)},
          {"link_gbps", fmt::format("{:g}", link_gbps)},
          {"verify", text(verify)},
          {"isolated", text(isolated)},
          {"computation", computation},
          {"instruction", instruction},
          {"steps", steps},
          {"fuse", fmt::format("{}", fmt::join(fuse, " "))},
          {"unfused", unfused ? "yes" : fmt::format("{}", fmt::join(defuse, " "))},
          {"recipe", recipe},
          {"as", as},
          {"published", published},
          {"criterion", predicts() ? "one pass: a prediction"
                        : fixed    ? "fixed number of passes"
                                   : "median within 0.5 % and at least 10 passes, or the budget; at least 3"},
          {"cache", predicts() ? "not modelled"
                    : cold     ? "cold: emptied before each execution"
                               : "as the program leaves it; steps under 20 us run repeatedly: warm"},
          {"cold", text(cold)},
          {"counters", counters},
          {"device_auto", choice()},
          {"timer", predicts()                ? std::string("none: ") + std::string(replay::kPredictionFormula)
                    : device_name() == "cuda" ? "of the device"
                                              : "clock_gettime(CLOCK_MONOTONIC)"}};
}

}  // namespace cli
