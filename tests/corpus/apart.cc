// One loop over the pipes of the running children; a child whose time is over is killed, one whose pipe closes is reaped.
#include "tests/corpus/apart.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <vector>

namespace corpus {
namespace {

constexpr double kWallPerProcessor = 10;  ///< a child that sleeps is stopped after so many times its processor time

using Clock = std::chrono::steady_clock;

struct Child {
  size_t task;
  pid_t pid;
  int read_end;
  Clock::time_point begin;
  Ended ended;
};

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// What goes wrong on the way out of a child must not reach this terminal: it is in the signal.
void silence() {
  const int nothing = open("/dev/null", O_WRONLY);
  if (nothing >= 0) dup2(nothing, STDERR_FILENO);
}

[[noreturn]] void be_child(size_t task, int write_end, const Limits& limits, const std::function<void(size_t, int)>& work) {
  silence();
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const auto seconds = static_cast<rlim_t>(std::ceil(limits.seconds));
  const rlimit time{seconds, seconds + 1};
  setrlimit(RLIMIT_CPU, &time);
  if (limits.memory_bytes > 0) {
    const rlimit memory{static_cast<rlim_t>(limits.memory_bytes), static_cast<rlim_t>(limits.memory_bytes)};
    setrlimit(RLIMIT_AS, &memory);
  }
  work(task, write_end);
  _exit(0);
}

/// -1 for the pid where no process could be made.
Child start(size_t task, const Limits& limits, const std::function<void(size_t, int)>& work) {
  int ends[2];
  if (pipe(ends) != 0) return {task, -1, -1, Clock::now(), {}};
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    be_child(task, ends[1], limits, work);
  }
  close(ends[1]);
  return {task, pid, ends[0], Clock::now(), {}};
}

/// False when the pipe is closed: the child has ended, or is about to.
bool take_output(Child& child) {
  char buffer[65536];
  const ssize_t n = read(child.read_end, buffer, sizeof buffer);
  if (n > 0) child.ended.output.append(buffer, static_cast<size_t>(n));
  return n > 0;
}

void reap(Child& child) {
  close(child.read_end);
  int status = 0;
  waitpid(child.pid, &status, 0);
  if (WIFSIGNALED(status)) child.ended.signal = WTERMSIG(status);
  if (child.ended.signal == SIGXCPU) child.ended.timed_out = true;
  child.ended.seconds = seconds_since(child.begin);
}

void wait_for_any(std::vector<Child>& children, const Limits& limits, const std::function<void(size_t, const Ended&)>& done) {
  std::vector<pollfd> ends;
  const double wall = limits.seconds * kWallPerProcessor;
  double least = wall;
  for (const Child& child : children) {
    ends.push_back({child.read_end, POLLIN, 0});
    least = std::min(least, wall - seconds_since(child.begin));
  }
  poll(ends.data(), ends.size(), static_cast<int>(std::max(0.0, least) * 1000) + 1);
  for (size_t i = children.size(); i-- > 0;) {
    Child& child = children[i];
    const bool late = !child.ended.timed_out && seconds_since(child.begin) > wall;
    if (late) {
      child.ended.timed_out = true;
      kill(child.pid, SIGKILL);
    }
    if (ends[i].revents == 0 || take_output(child)) continue;
    reap(child);
    done(child.task, child.ended);
    children.erase(children.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace

void run_apart(size_t count, int jobs, const Limits& limits, const std::function<void(size_t, int)>& work,
               const std::function<void(size_t, const Ended&)>& done) {
  std::vector<Child> children;
  size_t next = 0;
  while (next < count || !children.empty()) {
    while (next < count && static_cast<int>(children.size()) < jobs) {
      Child child = start(next, limits, work);
      if (child.pid > 0) {
        children.push_back(std::move(child));
      } else {
        done(next, {"", SIGABRT, false, 0});
      }
      ++next;
    }
    if (!children.empty()) wait_for_any(children, limits, done);
  }
}

}  // namespace corpus
