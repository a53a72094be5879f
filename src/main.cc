// The program `profile`: hands its arguments to the command table, and is the only place that turns an Error into stderr and an exit
// status.
#include <fmt/format.h>

#include <new>
#include <string>
#include <utility>
#include <vector>

#include "src/cli/command.h"
#include "src/cli/output.h"

namespace {

base::Result<base::Exit> run(std::vector<std::string> arguments) {
  try {
    return cli::run(std::move(arguments));
  } catch (const std::bad_alloc&) {  // everything of a run that was committed is in the database
    return base::Error{"not enough memory; free some, raise the limit (ulimit -v), or try --computation NAME"};
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto result = run(std::vector<std::string>(argv + 1, argv + argc));
  if (result.ok()) return static_cast<int>(*result);
  cli::print_err(fmt::format("profile: {}\n", result.error().message));
  return static_cast<int>(result.error().exit);
}
