// Work in child processes, several at once: a crash, a hang or memory without bound ends one child and is an answer like others.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace corpus {

struct Limits {
  double seconds = 20;               ///< wall time; then the child is killed
  int64_t memory_bytes = 4ll << 30;  ///< address space; 0: no limit (sanitizers need terabytes of it)
};

/// How a child ended, and what it wrote until then.
struct Ended {
  std::string output;
  int signal = 0;  ///< 0: it exited by itself
  bool timed_out = false;
  double seconds = 0;
};

/// Runs work(i, write_end) for i in [0, count) in a child each, `jobs` at a time; done(i, ended) in this process, in the order of ending.
void run_apart(size_t count, int jobs, const Limits& limits, const std::function<void(size_t, int)>& work,
               const std::function<void(size_t, const Ended&)>& done);

}  // namespace corpus
