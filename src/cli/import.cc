// profile import FILE… [-o DB]
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <optional>

#include "src/cli/command.h"
#include "src/cli/import_file.h"
#include "src/cli/output.h"
#include "src/model/store.h"

namespace cli {

Action define_import(CLI::App& app) {
  struct Options {
    std::vector<std::string> files;
    std::string database = "profile.db";
    bool fresh = false;
  };
  auto options = std::make_shared<Options>();
  app.add_option("FILE", options->files, "program dumps; - is stdin")->required();
  app.add_option("-o,--output", options->database, "database; it is appended to")->capture_default_str();
  app.add_flag("-f,--fresh", options->fresh, "replace an existing database");
  return [options]() -> base::Result<base::Exit> {
    std::optional<model::Store> store;  // opened once there is something to keep: a wrong path leaves no empty database
    for (const std::string& path : options->files) {
      ASSIGN_OR_RETURN(const model::Imported imported, read_program(path));
      if (!store) {
        ASSIGN_OR_RETURN(store, model::Store::open(options->database, options->fresh ? model::OpenMode::fresh : model::OpenMode::append));
      }
      ASSIGN_OR_RETURN(const model::ImportIds ids, store->add(imported));
      RETURN_IF_ERROR(print_out(import_account(imported) + (ids.existed ? " (already in the database)\n" : "\n")));
    }
    return base::Exit::ok;
  };
}

}  // namespace cli
