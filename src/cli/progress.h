// Progress on stderr: one line rewritten on a terminal, a line every 30 s elsewhere; and Ctrl-C.
#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "replay/engine.h"

namespace cli {

enum class Verbosity { quiet, normal, verbose };

/// Set by the first SIGINT, SIGTERM or SIGHUP, which also says so on stderr; the second one ends the process as usual. A signal that the
/// process was started to ignore stays ignored.
const std::atomic<bool>& stop_requested();
void catch_interrupts(Verbosity verbosity);

class ProgressLine {
 public:
  explicit ProgressLine(Verbosity verbosity);
  ~ProgressLine();
  void show(const replay::Progress& progress);
  /// A line of its own: what happens next. Not shown when quiet.
  void say(const std::string& text);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  Verbosity verbosity_;
  bool terminal_, drawn_ = false;
  Clock::time_point last_ = Clock::now();
};

}  // namespace cli
