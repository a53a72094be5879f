// The programs that a command runs: of a dump, or of a database.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/base/result.h"
#include "src/cli/replay_options.h"
#include "src/cli/replay_run.h"
#include "src/model/store.h"

namespace cli {

/// Programs of one FILE argument, imported now or kept in a database.
struct Programs {
  std::string account;            ///< what was imported, and lost
  bool stored = false;            ///< in the database already
  model::Imported imported;       ///< of a database: its modules
  std::vector<Subject> subjects;  ///< one a module, in order; point into `imported` after select_module
};

/// FILE or FILE=RECIPE. A file whose own name has a '=' is taken whole.
std::pair<std::string, std::string> split_recipe(const std::string& argument);
base::Result<Programs> load_database(const std::string& path);
base::Result<Programs> load_file(const std::string& path, const ReplayOptions& options);
/// Imports them, where they are not stored yet.
base::Status keep(model::Store& store, Programs& programs);
/// `name` "": all.
base::Status select_module(const std::string& name, Programs& programs);

}  // namespace cli
