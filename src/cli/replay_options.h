// Options of `profile replay`.
#pragma once

#include <cstdint>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "importers/importer.h"
#include "replay/defuse.h"
#include "replay/inputs.h"
#include "replay/rounding.h"
#include "src/base/result.h"
#include "src/cli/output.h"
#include "src/cli/progress.h"
#include "src/model/records.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cli {

struct ReplayOptions {
  std::vector<std::string> files;  ///< programs, FILE=RECIPE, or databases
  std::string database = "profile.db";
  bool fresh = false;
  std::string device = "auto";
  std::string chosen = "cpu", why_chosen;  ///< what auto is here, and why: choose_device()
  std::string mode;                        ///< of the device cuda; "": stream
  std::vector<std::string> required;       ///< "gpu", "counters"
  std::string counters;                    ///< of the device cuda: names, or "default"; "": none
  bool cold = false;
  std::string as, published;  ///< names of machines, or description files
  std::string rounding;       ///< "": border on cpu, each elsewhere
  uint64_t seed = 1;
  int repeats = 0, warm_up = 1, threads = 0, chain = 0, autotune = 0;
  double budget_s = 30, max_loss_percent = 100, link_gbps = 400;
  bool verify = false, isolated = false, list_steps = false, quiet = false, verbose = false;
  std::string computation, instruction, module, steps, recipe, dump_folder;
  bool unfused = false, against_itself = false;
  std::vector<std::string> defuse;  ///< regular expressions
  std::vector<std::string> fuse;    ///< "A,B": two steps as one fusion, beside both
  std::vector<std::string> inputs;  ///< NAME=FILE.npy
  importers::Options program;       ///< what a program leaves open
  OutputOptions output;
  CLI::Option *seed_option = nullptr, *output_option = nullptr;

  void define(CLI::App& app);
  void define_device(CLI::App& app);
  void define_machines(CLI::App& app);
  bool database_given() const;  ///< by -o
  /// Looks once whether there is a GPU, where the device is to be chosen.
  void choose_device();
  std::string device_name() const { return device != "auto" ? device : as.empty() ? chosen : "null"; }
  /// "device cpu: no NVIDIA driver (…)"; "" where it was named.
  std::string choice() const;
  /// Short steps run several times within a sample.
  bool repeats_short() const { return chain == 0 && !predicts() && !cold; }
  bool predicts() const { return !as.empty(); }
  replay::Rounding rounding_mode() const;
  Verbosity verbosity() const { return quiet ? Verbosity::quiet : verbose ? Verbosity::verbose : Verbosity::normal; }
  /// Which fusions run as their parts too; empty: none.
  replay::ChooseParts parts() const;
  /// What can be known to be wrong before a program is read: patterns, pairs, recipes, files that are missing, options that exclude each
  /// other.
  base::Status check() const;
  base::Status check_machines() const;
  base::Status check_device() const;
  /// Recipes and captured arrays. `recipe_file` "" → --inputs.
  base::Result<replay::InputOptions> input_options(const std::string& recipe_file) const;
  /// Everything that was chosen, for the store.
  std::vector<model::Setting> settings() const;
};

/// A regular expression that an option gives.
base::Result<std::regex> pattern_of(const char* option, const std::string& text);
/// "A,B" of --fuse, without '%'.
base::Result<std::pair<std::string, std::string>> pair_of(const std::string& names);
/// Does it match a step's name somewhere? An Error where some pattern tells only while it matches that it needs too much.
base::Result<bool> matches(const std::regex& expression, const char* option, std::string_view name);

}  // namespace cli
