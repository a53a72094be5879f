// The program `profile`: hands its arguments to the command table, and is the only place that turns an Error into stderr and an exit
// status.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "src/base/text.h"
#include "src/cli/command.h"
#include "src/cli/output.h"

namespace {

const std::thread::id kMainThread = std::this_thread::get_id();

base::Result<base::Exit> run(std::vector<std::string> arguments) {
  try {
    return cli::run(std::move(arguments));
  } catch (const std::bad_alloc&) {  // everything of a run that was committed is in the database
    return base::Error{std::string(cli::kNoMemory)};
  }
}

/// Called where `new` finds nothing. The main thread unwinds to run(); a thread of a pool or of the compiler cannot, and would abort.
void on_no_memory() {
  if (std::this_thread::get_id() == kMainThread) throw std::bad_alloc();
  for (const std::string_view part : {std::string_view("profile: "), cli::kNoMemory, std::string_view("\n")}) {
    if (::write(STDERR_FILENO, part.data(), part.size()) < 0) break;
  }
  ::_exit(static_cast<int>(base::Exit::failed));
}

/// What the shell closed (>&-) is opened so that using it fails: the next file would get its number, and our messages in it.
void occupy_closed_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    if (::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
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
  occupy_closed_descriptors();
  std::signal(SIGPIPE, SIG_IGN);  // a reader that has seen enough (| head) ends neither a run nor the files after it; see print_out
  std::signal(SIGXFSZ, SIG_IGN);  // `ulimit -f` is then a write that fails
  std::set_new_handler(on_no_memory);
  const auto result = run(std::vector<std::string>(argv + 1, argv + argc));
  if (result.ok()) return static_cast<int>(*result);
  cli::print_err("profile: " + safe_lines(result.error().message));
  return static_cast<int>(result.error().exit);
}
