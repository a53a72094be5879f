// The program `profile`: hands its arguments to the command table, and is the only place that turns an Error into stderr and an exit
// status.
#include <algorithm>
#include <csignal>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/text.h"
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

/// Names in messages come from strangers' files: what would move the cursor is shown as an escape. Newlines are ours (place and caret).
std::string safe_lines(std::string_view message) {
  std::string out;
  for (size_t begin = 0; begin <= message.size();) {
    const size_t end = std::min(message.find('\n', begin), message.size());
    out += base::escaped(message.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that has seen enough (| head) ends neither a run nor the files after it; see print_out
  const auto result = run(std::vector<std::string>(argv + 1, argv + argc));
  if (result.ok()) return static_cast<int>(*result);
  cli::print_err("profile: " + safe_lines(result.error().message));
  return static_cast<int>(result.error().exit);
}
