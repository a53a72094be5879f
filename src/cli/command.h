// Commands: one row of a table and one file each.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"

namespace CLI {
class App;
}

namespace cli {

using Action = std::function<base::Result<base::Exit>()>;

/// `define` adds options to `app`, which live as long as the action that it returns.
struct Command {
  std::string_view name, about;
  Action (*define)(CLI::App& app);
};
std::span<const Command> commands();

Action define_fuse(CLI::App& app);
Action define_import(CLI::App& app);
Action define_replay(CLI::App& app);
Action define_report(CLI::App& app);
Action define_compare(CLI::App& app);
Action define_devices(CLI::App& app);
Action define_export(CLI::App& app);
Action define_extract(CLI::App& app);
Action define_query(CLI::App& app);
Action define_schema(CLI::App& app);
Action define_upgrade(CLI::App& app);
Action define_list(CLI::App& app);
Action define_print(CLI::App& app);
Action define_view(CLI::App& app);
Action define_doctor(CLI::App& app);

/// Runs a command line (without the program's name). Help and version print to stdout and are a success.
base::Result<base::Exit> run(std::vector<std::string> arguments);

}  // namespace cli
