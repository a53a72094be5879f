// The program `profile`: hands its arguments to the command table, and is the only place that turns an Error into stderr and an exit
// status.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "src/cli/command.h"

int main(int argc, char** argv) {
  const auto result = cli::run(std::vector<std::string>(argv + 1, argv + argc));
  if (result.ok()) return static_cast<int>(*result);
  fmt::print(stderr, "profile: {}\n", result.error().message);
  return static_cast<int>(result.error().exit);
}
