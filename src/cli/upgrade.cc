// profile upgrade DB…
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "src/base/text.h"
#include "src/cli/command.h"
#include "src/cli/output.h"
#include "src/model/store.h"

namespace cli {
namespace {

base::Result<int64_t> version_of(const std::string& path) {
  ASSIGN_OR_RETURN(const model::Reader reader, model::Reader::open(path));
  ASSIGN_OR_RETURN(const model::Rows rows, reader.query("PRAGMA user_version"));
  return rows.rows.at(0).at(0).integer;
}

/// Every writer migrates what it opens; this one writes nothing else.
base::Status upgrade(const std::string& path) {
  ASSIGN_OR_RETURN(const int64_t before, version_of(path));
  { ASSIGN_OR_RETURN(const model::Store store, model::Store::open(path, model::OpenMode::append)); }
  ASSIGN_OR_RETURN(const int64_t after, version_of(path));
  return print_out(before == after ? fmt::format("{}: is up to date (schema {})\n", base::escaped(path), after)
                                   : fmt::format("{}: schema {} → {}\n", base::escaped(path), before, after));
}

}  // namespace

Action define_upgrade(CLI::App& app) {
  auto paths = std::make_shared<std::vector<std::string>>();
  app.add_option("DB", *paths, "databases that profile has made")->required();
  return [paths]() -> base::Result<base::Exit> {
    for (const std::string& path : *paths) RETURN_IF_ERROR(upgrade(path));
    return base::Exit::ok;
  };
}

}  // namespace cli
